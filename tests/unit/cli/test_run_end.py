"""The end of a run: which findings a screen shows, the table of verdicts, and the last lines of `check`."""

import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from attrs import evolve
from command_line import Command
from rich.console import Console
from small_runs import PASS, RUN, event, stream

from tests.mutants.registry import spec_of
from wireproof.adapters.registry import entries
from wireproof.cli import build_notice
from wireproof.cli.progress import progress_bars
from wireproof.report.failure_groups import failure_groups_of
from wireproof.report.terminal import RunView, print_run, wrap_words
from wireproof.runner.event_files import EventStream
from wireproof.runner.events import CaseEvent
from wireproof.runner.interop import InteropSettings, run_interop

MUTANT = spec_of("mutant:iggy-identifier-unchecked")
CHECK = ("check", MUTANT, "--run", "iggy.identifier/**", "--no-families", "--in-process")
WIREPROOF = (sys.executable, "-m", "wireproof")


@pytest.fixture(autouse=True)
def _own_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WIREPROOF_CACHE", str(tmp_path / "cache"))


def printed(run: EventStream, width: int, height: int | None = None, view: RunView | None = None) -> str:
    file = io.StringIO()
    console = Console(file=file, width=width, height=height, color_system=None, force_terminal=bool(height))
    print_run(run, console, view)
    return re.sub(r"\x1b\[[0-9;]*m", "", file.getvalue())


def failing(count: int) -> list[CaseEvent]:
    return [event(n, f"topic/c{n}", "fail", "wrong-value", path=f"p{n}") for n in range(10, 10 + count)]


# --- which findings ---


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


def test_each_finding_has_the_number_that_replay_takes() -> None:
    assert re.findall(r"#(\d+)$", printed(stream(PASS, *failing(3)), 100), re.MULTILINE) == ["1", "2", "3"]


def test_all_lifts_the_limit_of_check_and_of_report(
    wireproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LINES", "24")
    out = tmp_path / "run.jsonl"
    few = wireproof(*CHECK, "--out", out).out
    assert (few.count("\n  replay"), "4 kinds of failure, 1 shown" in few) == (1, True)
    for words in ((*CHECK, "--all"), ("report", out, "--all")):
        text = wireproof(*words).out
        assert (text.count("\n  replay"), "4 kinds of failure\n" in text) == (4, True)


# --- words, ids and commands stay whole ---

VERDICTS = ("pass", "pass-unclassified", "undocumented", "lenient", "info", "fail", "crash", "timeout",
            "resource", "stalled", "unsupported", "adapter-error", "not-run")  # fmt: skip


def everything() -> EventStream:
    names = enumerate(VERDICTS)
    cases = [event(n, f"a/case{n}", name, "same-as" if name == "not-run" else "") for n, name in names]
    other = [evolve(one, id=f"x{one.id}", format="long.format.name") for one in cases]
    return stream(*cases, *other)


@pytest.mark.parametrize("width", [40, 60, 80, 100, 160, 10_000])
def test_a_table_never_breaks_a_word_and_says_what_it_leaves_out(width: int) -> None:
    text = printed(everything(), width)
    table = text[text.index("some 1.2") :]
    words = set(re.findall(r"[a-z][a-z.-]+", table.partition("some:")[0]))
    allowed = {*VERDICTS, "some", "all", "other", "toy.frame", "long.format.name"}
    assert words <= allowed
    assert all(name in table for name in VERDICTS), "in the table or in the line below it"
    head = next(line for line in table.splitlines() if "fail" in line)
    assert len(head.rstrip()) <= max(width, 60)
    if width < 160:
        assert re.search(r"^other: \d+ ", table, re.MULTILINE)


def test_lines_are_broken_between_words_only() -> None:
    text = "kafka.batch/v2: not compared: batches[].records[].timestampDelta, batches[].magic"
    lines = wrap_words(text, 40)
    assert " ".join(line.strip() for line in lines) == text
    assert wrap_words(text, 200) == [text]


def test_nothing_is_wrapped_in_a_pipe() -> None:
    done = _run(*CHECK)
    assert "4 kinds of failure\nexit code 1: does not conform: " + MUTANT + "\n" in done
    assert (
        "iggy-identifier-unchecked · iggy.identifier/0.0.30 · decode · fail:wrong-accept · bad-length" in done
    )


def test_doctor_breaks_no_command(wireproof: Command) -> None:
    rows = json.loads(wireproof("doctor", "--format", "json").out)
    fixes = {row["fix"] for row in rows if row["fix"]}
    for width in (40, 80):
        assert fixes <= {line.strip() for line in wireproof("doctor", width=width).out.splitlines()}


def _run(*words: str) -> str:
    kept = {name: text for name, text in os.environ.items() if name not in ("COLUMNS", "LINES")}
    done = subprocess.run(
        [*WIREPROOF, *words], capture_output=True, text=True, check=False, timeout=120, env=kept
    )
    return done.stdout


# --- the last lines ---


def test_check_ends_with_its_exit_code_the_reason_and_commands_that_can_be_pasted(
    wireproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = wireproof(*CHECK).out
    assert f"exit code 1: does not conform: {MUTANT}" in text
    commands = [
        line.partition("  #")[0].strip() for line in text.splitlines() if line.startswith("  wireproof")
    ]
    assert commands[0] == shlex.join(("wireproof", "replay", "#1", MUTANT))
    assert commands[1] == shlex.join(("wireproof", *CHECK, "--out", "run.jsonl", "--html", "matrix.html"))
    assert wireproof(*shlex.split(commands[1])[1:]).code == 1
    assert (tmp_path / "matrix.html").exists()


def test_a_run_that_conforms_says_so(wireproof: Command) -> None:
    text = wireproof("check", "reference", *CHECK[2:]).out
    assert "reference: conforms\nexit code 0: conforms\n" in text


def test_a_second_run_of_the_same_codec_is_to_be_compared_with_the_first(
    wireproof: Command, tmp_path: Path
) -> None:
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    assert "wireproof diff" not in wireproof(*CHECK, "--out", one).out
    assert f"wireproof diff {one} {two}" in wireproof(*CHECK, "--out", two).out
    rows = (tmp_path / "cache" / "runs.json").read_text().replace('"0.', '"9.')
    (tmp_path / "cache" / "runs.json").write_text(rows)
    assert "compare 9." in wireproof(*CHECK, "--out", one).out


def test_a_damaged_list_of_earlier_runs_does_not_matter(wireproof: Command, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    for text in ("[[", "[1]", '{"a": 1}', "null"):
        (tmp_path / "cache" / "runs.json").write_text(text)
        assert wireproof(*CHECK, "--out", tmp_path / "run.jsonl").code == 1


def test_a_report_names_the_command_that_replays_a_finding_of_its_file(
    wireproof: Command, tmp_path: Path
) -> None:
    out = tmp_path / "run.jsonl"
    wireproof(*CHECK, "--out", out)
    assert shlex.join(("wireproof", "replay", f"{out}#1", MUTANT)) in wireproof("report", out).out


# --- an interrupt ---


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("stored", [True, False])
def test_an_interrupt_prints_the_findings_so_far_and_where_they_are(tmp_path: Path, *, stored: bool) -> None:
    words = ["check", spec_of("mutant:crc-skip"), "--run", "kafka.batch/**", "--jobs", "1"]
    words += ["--out", "run.jsonl"] if stored else []
    with subprocess.Popen(
        [*WIREPROOF, *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True, env={**os.environ, "FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": "200"},
    ) as running:  # fmt: skip
        assert running.stdout is not None
        until = time.monotonic() + 100
        while time.monotonic() < until and not re.search(r"[1-9]\d* findings", running.stdout.readline(400)):
            pass
        time.sleep(2)
        os.killpg(running.pid, signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "wireproof replay kafka.batch/" in out
    assert re.search(r"interrupted after [\d,]+ cases", err)
    assert ("wireproof report run.jsonl" if stored else "add `--out run.jsonl`") in err


# --- drivers that have to be built ---


def test_a_driver_that_has_to_be_built_is_announced(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = next(one for one in entries().values() if one.prepare is not None)
    monkeypatch.setattr(build_notice, "ready", lambda _: type("Ready", (), {"state": "not built"}))
    build_notice.announce_builds([entry.name, "reference", "exec:something"])
    assert capsys.readouterr().err == (
        f"{entry.name}: building its driver, which is done once and may take minutes\n"
    )


# --- progress ---


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
