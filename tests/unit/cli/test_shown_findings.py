"""Which findings a screen shows, in which order, and that words, ids and commands stay whole."""

import io
import re
from pathlib import Path

import pytest
from attrs import evolve
from command_line import Command
from each import each
from rich.console import Console
from small_runs import PASS, RUN, event, stream

from tests.mutants.registry import spec_of
from wireproof.report import terminal
from wireproof.report.failure_groups import failure_groups_of
from wireproof.report.terminal import FindingPrinter, RunView, print_run
from wireproof.run.events import CaseEvent, EventStream

pytestmark = pytest.mark.usefixtures("own_memory")

MUTANT = spec_of("mutant:iggy-identifier-unchecked")
CHECK = ("check", MUTANT, "--run", "iggy.identifier/**", "--no-families", "--in-process")


def printed(run: EventStream, width: int, height: int | None = None, view: RunView | None = None) -> str:
    file = io.StringIO()
    console = Console(file=file, width=width, height=height, color_system=None, force_terminal=bool(height))
    print_run(run, console, view)
    return re.sub(r"\x1b\[[0-9;]*m", "", file.getvalue())


def failing(count: int) -> list[CaseEvent]:
    return [event(n, f"topic/c{n}", "fail", "wrong-value", path=f"p{n}") for n in range(10, 10 + count)]


def test_crashes_are_first_then_security_then_must_then_should_and_larger_groups_before_smaller() -> None:
    should = event(3, "a/should", "fail", "wrong-value", level="should", path="s")
    must = event(4, "a/must", "fail", "wrong-value", path="m")
    often = [event(n, f"a/often{n}", "fail", "wrong-value", path="o") for n in (5, 6)]
    security = event(7, "a/security", "fail", "wrong-accept", level="should", flags=("security",))
    faulty = event(8, "a/faulty", "adapter-error")
    crash = event(9, "a/crash", "crash")
    run = stream(PASS, should, must, *often, security, faulty, crash, run=evolve(RUN, level="should"))
    order = [group.first.id.rpartition("/")[2] for group in failure_groups_of(run)]
    assert order == ["crash", "faulty", "security", "often5", "must", "should"]


@pytest.mark.parametrize(("height", "expected"), [(24, 1), (60, 12)])
def test_a_screen_shows_as_many_findings_as_fit_and_cuts_none(height: int, expected: int) -> None:
    text = printed(stream(PASS, *failing(30)), 100, height)
    assert text.count("\n  replay") == text.count("FAIL ") == expected
    assert len(text.splitlines()) < max(height, 26)


def test_all_findings_are_shown_if_they_are_asked_for() -> None:
    assert printed(stream(PASS, *failing(30)), 100, 24, RunView(every=True)).count("\n  replay") == 30
    assert printed(stream(PASS, *failing(30)), 100).count("\n  replay") == 20


def test_all_lifts_the_limit_of_check_and_of_report(
    wireproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LINES", "24")
    out = tmp_path / "run.jsonl"
    monkeypatch.setattr(terminal, "MAX_FINDINGS", 1)
    few = wireproof(*CHECK, "--out", out).out
    assert (few.count("\n  replay"), few.count("\nFAIL ")) == (1, 4)
    few = wireproof("report", out).out
    assert (few.count("\n  replay"), "4 kinds of failure, 1 shown" in few) == (1, True)
    for words in ((*CHECK, "--all"), ("report", out, "--all")):
        text = wireproof(*words).out
        assert (text.count("\n  replay"), "4 kinds of failure" in text) == (4, True)


def test_a_severe_failure_is_printed_whole_however_many_came_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "MAX_FINDINGS", 1)
    file = io.StringIO()
    printer = FindingPrinter(Console(file=file, width=100), RunView())
    printer.add(RUN, [*failing(2), event(30, "topic/c30", "crash"), event(31, "topic/c31", "crash")])
    assert [line for line in file.getvalue().splitlines() if re.match("FAIL|CRASH|  replay", line)] == [
        "FAIL  toy.frame/v1/topic/c10  wrong-value p10  must reader  #1",
        "  replay  wireproof replay toy.frame/v1/topic/c10 py:some:thing",
        "FAIL  toy.frame/v1/topic/c11  wrong-value p11  must reader  #2",
        "CRASH toy.frame/v1/topic/c30  must reader  #3",
        "  replay  wireproof replay toy.frame/v1/topic/c30 py:some:thing",
    ]


VERDICTS = ("pass", "pass-unclassified", "undocumented", "lenient", "info", "fail", "crash", "timeout",
            "resource", "stalled", "unsupported", "adapter-error", "not-run")  # fmt: skip


def everything() -> EventStream:
    names = enumerate(VERDICTS)
    cases = [event(n, f"a/case{n}", name, "same-as" if name == "not-run" else "") for n, name in names]
    other = [evolve(one, id=f"x{one.id}", format="long.format.name") for one in cases]
    return stream(*cases, *other)


@each("width", [40, 60, 80, 100, 160, 10_000])
def test_a_table_never_breaks_a_word_and_says_what_it_leaves_out(width: int) -> None:
    text = printed(everything(), width)
    table = text[text.index("some 1.2") :]
    words = set(re.findall(r"[a-z][a-z.-]+", re.split("some:|below the level", table)[0]))
    allowed = {*VERDICTS, "some", "all", "other", "toy.frame", "long.format.name"}
    assert words <= allowed
    assert all(name in table for name in VERDICTS), "in the table or in the line below it"
    head = next(line for line in table.splitlines() if "fail" in line)
    assert len(head.rstrip()) <= max(width, 60)
    if width < 160:
        assert re.search(r"^other: \d+ ", table, re.MULTILINE)
