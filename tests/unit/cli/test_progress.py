"""The progress of a run and of an exchange, and drivers that are built before it."""

import io

import pytest
from attrs import evolve
from rich.console import Console
from small_runs import event

from tests.mutants.registry import spec_of
from wireproof.adapters.registry.registry import entries
from wireproof.cli.check import run as check_run
from wireproof.cli.common.progress import progress_bars
from wireproof.run.interop import InteropSettings, run_interop

pytestmark = pytest.mark.usefixtures("own_memory")

MUTANT = spec_of("mutant:iggy-identifier-unchecked")


def test_a_driver_that_has_to_be_built_is_announced(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = next(one for one in entries().values() if one.prepare is not None)
    monkeypatch.setattr(check_run, "ready", lambda _: type("Ready", (), {"state": "not built"}))
    check_run.announce_builds([entry.name, "reference", "exec:something"])
    assert capsys.readouterr().err == (
        f"{entry.name}: building its driver, which is done once and may take minutes\n"
    )


def test_a_bar_has_a_total_and_reaches_it() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=160)
    with progress_bars(console, ["one", "two"]) as shown:
        assert shown.progress.tasks[0].fields["said"] == "queued"
        shown.says(0, "waiting for its hello")
        shown.expect(0, 7)
        golden = event(0, "a/one")
        for events, done in (([golden], 2), ([evolve(golden, id="a/one~cut:1")], 0), ([], 5)):
            shown.seen(0, events, done)
        task = shown.progress.tasks[0]
        assert (task.completed, task.total) == (7, 7)
        assert task.fields["said"].startswith("2 cases, ")
        shown.end(0)
        assert [one.description for one in shown.progress.tasks] == ["two"]


def test_the_steps_of_an_exchange_are_counted() -> None:
    steps: list[tuple[str, int, int]] = []
    run_interop(
        ("reference", MUTANT),
        InteropSettings(1, 0, frozenset({"iggy.identifier/0.8"})),
        lambda _: "",
        report_progress=lambda *step: steps.append(step),
    )
    assert [done for _, done, _ in steps] == [0, 1, 0, 1, 2, 3]
    assert {total for _, _, total in steps[2:]} == {4}
