"""The progress of a run and of an exchange, and drivers that are built before it."""

import io

import pytest
from attrs import evolve
from rich.console import Console
from small_runs import event

from wireproof.adapters.registry.registry import entries
from wireproof.cli.check import run as check_run
from wireproof.cli.common.progress import progress_bars

pytestmark = pytest.mark.usefixtures("own_memory")


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
