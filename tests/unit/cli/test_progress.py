"""The progress of a run and of an exchange, and drivers that are built before it."""

import io
from pathlib import Path

import pytest
from attrs import evolve
from rich.console import Console
from small_runs import event

from tests.mutants.registry import spec_of
from wireproof.adapters.registry import entries
from wireproof.cli import check_run
from wireproof.cli.progress import progress_bars
from wireproof.runner.interop import InteropSettings, run_interop

MUTANT = spec_of("mutant:iggy-identifier-unchecked")


@pytest.fixture(autouse=True)
def _own_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WIREPROOF_CACHE", str(tmp_path / "cache"))


def test_a_driver_that_has_to_be_built_is_announced(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = next(one for one in entries().values() if one.prepare is not None)
    monkeypatch.setattr(check_run, "ready", lambda _: type("Ready", (), {"state": "not built"}))
    check_run.announce_builds([entry.name, "reference", "exec:something"])
    assert capsys.readouterr().err == (
        f"{entry.name}: building its driver, which is done once and may take minutes\n"
    )


def test_a_bar_has_a_total_and_reaches_it_when_the_last_family_does() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=160)
    with progress_bars(console, ["one", "two"]) as shown:
        shown.expect(0, 2, families=True)
        first, second = event(0, "a/one"), event(1, "a/two")
        reached = []
        for one in (
            first,
            second,
            evolve(first, id=f"{first.id}~cut:1"),
            evolve(second, id=f"{second.id}~cut:1"),
        ):
            shown.seen(0, [one])
            reached.append(shown.progress.tasks[0].completed)
        assert (reached, shown.progress.tasks[0].total) == ([1, 2, 3, 4], 4)
        assert shown.progress.tasks[1].fields["said"] == "waiting for its hello"
        shown.end(0)


def test_the_steps_of_an_exchange_are_counted() -> None:
    steps: list[tuple[str, int, int]] = []
    run_interop(
        ("reference", MUTANT),
        InteropSettings(1, 0, frozenset({"iggy.identifier/0.8"})),
        report_progress=lambda *step: steps.append(step),
    )
    assert [done for _, done, _ in steps] == [0, 1, 0, 1, 2, 3]
    assert {total for _, _, total in steps[2:]} == {4}
