"""What a run of `check` prints: findings and their names, progress, the exit code and its reason."""

import io
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
from each import each
from goldens import load
from rich.console import Console
from small_runs import PASS, RUN, event, stream

from tests.mutants.registry import spec_of
from wireproof.adapters.registry.registry import entries
from wireproof.cases.case import Data
from wireproof.cli.check import run as check_run
from wireproof.cli.common.last_run import own_events
from wireproof.cli.common.progress import progress_bars
from wireproof.files import open_locked
from wireproof.fuzz.findings import Findings, finding_name
from wireproof.judge.signature import Signature
from wireproof.judge.verdicts import Verdict
from wireproof.report import terminal
from wireproof.report.failure_groups import failure_groups_of
from wireproof.report.terminal import FindingPrinter, RunView, print_run
from wireproof.run.events import CaseEvent, EventStream
from wireproof.run.exit_codes import Exit

pytestmark = pytest.mark.usefixtures("own_memory")


MUTANT = spec_of("mutant:iggy-identifier-unchecked")
CHECK = ("check", MUTANT, "--run", "iggy.identifier/**", "--no-families", "--in-process")


def test_check_ends_with_its_exit_code_the_reason_and_commands_that_can_be_pasted(
    wireproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = wireproof(*CHECK).out
    assert f"exit code 1: does not conform: {MUTANT}" in text
    commands = commands_after(text)
    assert commands == [
        "wireproof replay '#1'", "wireproof report last", "wireproof report last --html page.html"
    ]  # fmt: skip
    assert [wireproof(*shlex.split(command)[1:]).code for command in commands] == [1, 1, 1]
    assert (tmp_path / "page.html").exists()


def commands_after(text: str) -> list[str]:
    return [line.partition("  #")[0].strip() for line in text.splitlines() if line.startswith("  wireproof ")]


def test_the_previous_run_is_of_this_project_and_named_from_the_current_folder(
    wireproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other"
    for folder in (mine, other):
        (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(mine)
    wireproof(*CHECK, "--out", "one.jsonl")
    monkeypatch.chdir(other)
    assert "wireproof diff" not in wireproof(*CHECK, "--out", "two.jsonl").out
    monkeypatch.chdir(mine)
    commands = commands_after(wireproof(*CHECK, "--out", "two.jsonl").out)
    assert commands[1] == "wireproof diff one.jsonl two.jsonl"
    assert wireproof(*shlex.split(commands[1])[1:]).code == 0


def test_report_last_shows_every_finding_with_the_number_that_check_gave_it(
    wireproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = re.compile(r"^FAIL +(\S+) .*#(\d+)$", re.MULTILINE)
    printed = dict(found.findall(wireproof(*CHECK).out))
    assert len(printed) == 4
    assert dict(found.findall(wireproof("report", "last", "--all").out)) == printed
    name, number = next(iter(printed.items()))
    assert name in wireproof("replay", f"#{number}").out
    other = tmp_path / "other"
    (other / ".git").mkdir(parents=True)
    monkeypatch.chdir(other)
    assert "no run of this project is stored" in wireproof("report", "last").one_line()


def test_findings_are_printed_as_they_are_judged_and_the_answer_counts_them(wireproof: Command) -> None:
    text = wireproof(*CHECK).out
    name = "iggy-identifier-unchecked"
    assert text.index("FAIL  iggy.identifier") < text.index(f"{name}: does not conform")
    assert "4 kinds of failure in 11 cases:" in text
    kind = r"^    #1 +fail:\S+ [a-z-]+ +iggy\.identifier/\S+  and \d+ more like it$"
    assert re.search(kind, text, re.MULTILINE)


def test_the_page_names_findings_by_the_numbers_that_check_printed(
    wireproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = wireproof(*CHECK, "--html", "page.html").out
    printed = re.findall(r"^    #(\d+)", text, re.MULTILINE)
    assert sorted(printed) == ["1", "2", "3", "4"]
    assert printed != sorted(printed), "severe ones first, but numbered as they were judged"
    wireproof("report", "last", "--html", "again.html")
    for name in ("page.html", "again.html"):
        shown = re.findall(r"iggy-identifier-unchecked[^<#]* #(\d+)", (tmp_path / name).read_text())
        assert shown == printed


def test_the_findings_are_those_of_this_run_even_if_another_one_writes_the_events(wireproof: Command) -> None:
    wireproof("check", MUTANT, "--run", "iggy.identifier/0.8/**", "--no-families", "--in-process")
    with open_locked(own_events()):
        text = wireproof(*CHECK).out
    assert "wireproof report last" not in text
    name, number = re.findall(r"^FAIL +(\S+) .*#(1)$", text, re.MULTILINE)[0]
    assert name.startswith("iggy.identifier/0.0.30/")
    assert name in wireproof("replay", f"#{number}").out
    assert "no run of this project is stored" in wireproof("report", "last").one_line()


@pytest.mark.parametrize("more", [(), ("--large",)])
def test_large_cases_run_only_if_they_are_asked_for_and_their_entries_are_never_stale(
    wireproof: Command, tmp_path: Path, more: tuple[str, ...]
) -> None:
    large, small = "kafka.batch/v2/size/none-records-131071", "kafka.batch/v2/size/none-records-6"
    baseline = tmp_path / "known.toml"
    baseline.write_text(
        f"""[[known-failure]]
id = "{large}"
kind = "fail:wrong-value"
class = ""
reason = "a test"
owner = "somebody"
expires = 2999-01-01
"""
    )
    runs = ("--run", "kafka.batch/v2/size/none-records-*", "--no-families", "--baseline", baseline)
    done = wireproof(
        "check", "columnar", "--in-process", *runs, *more, code=Exit.BASELINE if more else Exit.CONFORMS
    )
    left_out = "columnar: conforms; 1 large case left out"
    advice = "1 large case left out, all must: add --large"
    assert (left_out in done.out, advice in done.out) == (not more, not more)
    assert wireproof("check", "columnar", "--in-process", "--run", large).code == Exit.CONFORMS
    assert wireproof("check", "columnar", "--run", small, "--in-process").code == Exit.CONFORMS


def test_a_run_that_conforms_says_so(wireproof: Command) -> None:
    text = wireproof("check", "reference", *CHECK[2:]).out
    assert text.startswith("\nreference: conforms\n")
    assert "\n\nexit code 0: conforms\n" in text


def test_a_report_names_the_command_that_replays_a_finding_of_its_file(
    wireproof: Command, tmp_path: Path
) -> None:
    out = tmp_path / "run.jsonl"
    wireproof(*CHECK, "--out", out)
    assert "wireproof replay '#1'" in wireproof("report", out).out
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(out.read_bytes())
    command = shlex.join(("wireproof", "replay", f"{copy}#1"))
    assert command in wireproof("report", copy).out
    assert wireproof(*shlex.split(command)[1:]).code == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no file that is always full")
def test_a_result_is_printed_though_its_events_cannot_be_written(
    wireproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = wireproof(*CHECK, "--out", "/dev/full")
    assert f"exit code 1: does not conform: {MUTANT}" in done.out
    assert (done.code, done.err) == (
        Exit.USAGE,
        "wireproof: [Errno 28] No space left on device: '/dev/full'\n",
    )


# --- which findings a screen shows, and in which order ---


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


# --- short names ---


ONLY = ("--run", "iggy.identifier/0.0.30/**", "--no-families", "--in-process")
CASE = "iggy.identifier/0.0.30/identifier/kind-0"
VERDICT = Verdict("fail", "wrong-accept", "bad-kind", "kind")


def test_a_number_names_a_finding_that_the_last_check_printed(wireproof: Command) -> None:
    printed = wireproof("check", MUTANT, *ONLY).out
    ids = [line.split()[1] for line in printed.splitlines() if line.startswith("FAIL")]
    assert len(ids) > 1
    for number, name in enumerate(ids, 1):
        done = wireproof("replay", f"#{number}", MUTANT, "--in-process")
        assert (done.code, name in done.out) == (Exit.FAILS, True)
    wireproof("check", "reference", *ONLY)  # nothing is found, and so nothing is named
    assert "#1: there is no finding" in wireproof("replay", "#1", MUTANT).one_line()


def test_a_number_behind_a_stream_names_what_its_report_prints(wireproof: Command, tmp_path: Path) -> None:
    stream = tmp_path / "run.jsonl"
    wireproof("check", MUTANT, *ONLY, "--out", stream)
    printed = wireproof("report", stream).out
    ids = [line.split()[1] for line in printed.splitlines() if line.startswith("FAIL")]
    wireproof("shrink", f"{stream}#2", MUTANT, "--in-process", code=Exit.CONFORMS)
    assert ids[1] in wireproof("replay", f"{stream}#2", MUTANT, "--in-process").out


def test_a_number_that_no_finding_has_is_one_line(wireproof: Command, tmp_path: Path) -> None:
    stream = tmp_path / "run.jsonl"
    wireproof("check", MUTANT, *ONLY, "--out", stream)
    for word in ("0", "-1", "x", "", "99", "9" * 5000, "1.0", "²"):
        for place in ("", stream):
            done = wireproof("replay", f"{place}#{word}", MUTANT)
            assert (done.code, f"there are {place}#1 to " in done.one_line()) == (Exit.USAGE, True)


def _kept(root: Path, kind: str, last: int) -> Signature:
    case = load().by_id[CASE]
    data = case.input.data[:-1] + bytes([last])
    signature = Signature("codec", case.format_id, "decode", f"fail:{kind}", "bad-kind", "kind")
    findings = Findings(root / "findings" / "codec", "w0")
    findings.add(signature, VERDICT, evolve(case, id=f"{case.format_id}/fuzz/{kind}", input=Data(data)), data)
    findings.close()
    return signature


def test_a_finding_of_a_fuzzer_is_named_by_its_directory_and_name(wireproof: Command, tmp_path: Path) -> None:
    root = tmp_path / "wireproof-fuzz"
    name = finding_name(_kept(root, "wrong-accept", 7))
    _kept(root, "wrong-reject", 8)
    for place in (root, root / "findings" / "codec"):
        for word in (name, name[:6], "wrong-accept"):
            done = wireproof("replay", f"{place}#{word}", MUTANT, "--in-process")
            assert (done.code, "fuzz/wrong-accept" in done.out) == (Exit.FAILS, True)


@pytest.mark.parametrize(
    "verb", [("replay", MUTANT), ("shrink", MUTANT), ("promote",)], ids=lambda verb: verb[0]
)
def test_a_word_that_names_no_one_finding_is_one_line(
    wireproof: Command, tmp_path: Path, verb: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = load()
    monkeypatch.setattr("wireproof.cli.promote.load", lambda _: suite)
    root = tmp_path / "wireproof-fuzz"
    signatures = [_kept(root, kind, 7) for kind in ("wrong-accept", "wrong-reject")]
    for word, said in (("", "nothing names no"), ("nosuch", "nosuch names no"), ("fail", "fail names 2")):
        done = wireproof(verb[0], f"{root}#{word}", *verb[1:])
        assert (done.code, f"{said} finding" in done.one_line()) == (Exit.USAGE, True)
        assert all(f"{finding_name(one)} ({one})" in done.err for one in signatures)


def test_a_finding_of_a_fuzzer_wants_no_packages_of_spark(
    wireproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "wireproof-fuzz"
    name = finding_name(_kept(root, "wrong-accept", 7))
    monkeypatch.setitem(sys.modules, "wireproof.spark.sample_case", None)
    assert wireproof("replay", f"{root}#{name}", MUTANT, "--in-process").code == Exit.FAILS
    assert "[spark]" in wireproof("replay", f"{tmp_path}#x", MUTANT).one_line()


def test_a_damaged_memory_of_the_last_check_is_one_line_and_no_matter_to_a_report_of_a_file(
    wireproof: Command, tmp_path: Path
) -> None:
    out = tmp_path / "run.jsonl"
    wireproof("check", MUTANT, *ONLY, "--out", out)
    (stored,) = (tmp_path / "cache" / "runs").glob("*/last.json")
    stored.write_text("[[")
    done = wireproof("replay", "#1", MUTANT)
    assert (done.code, "last.json" in done.one_line()) == (Exit.USAGE, True)
    assert wireproof("report", out).code == 1


# --- progress ---


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


# --- an interrupt ---


WIREPROOF = (sys.executable, "-m", "wireproof")


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("stored", [True, False])
def test_an_interrupt_prints_the_findings_so_far_and_where_they_are(tmp_path: Path, *, stored: bool) -> None:
    words = ["check", spec_of("mutant:crc-skip"), "--run", "kafka.batch/**", "--jobs", "1"]
    words += ["--out", "run.jsonl"] if stored else []
    with subprocess.Popen(
        [*WIREPROOF, *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True, env={**os.environ, "FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": "200"},
    ) as running:  # fmt: skip
        until = time.monotonic() + 100
        before = ""
        while time.monotonic() < until and not re.search(r"[1-9]\d* findings", before):
            before += running.stdout.readline(400)
        time.sleep(2)
        os.killpg(running.pid, signal.SIGINT)
        out, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "wireproof replay kafka.batch/" in before + out, "printed when it was found"
    assert "crc-skip: " in out, "the answer so far"
    assert re.search(r"interrupted after [\d,]+ cases", err)
    assert f"wireproof report {'run.jsonl' if stored else 'last'}`" in err
