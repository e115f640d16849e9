"""The last lines of `check`: the exit code, its reason, and commands that can be pasted."""

import re
import shlex
from pathlib import Path

import pytest
from command_line import Command

from tests.mutants.registry import spec_of
from wireproof.cli.common.last_run import own_events
from wireproof.files import open_locked
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


def test_the_findings_are_those_of_this_run_even_if_another_one_writes_the_events(
    wireproof: Command,
) -> None:
    wireproof("check", MUTANT, "--run", "iggy.identifier/0.8/**", "--no-families", "--in-process")
    with open_locked(own_events()):
        text = wireproof(*CHECK).out
    assert "wireproof report last" not in text
    name, number = re.findall(r"^FAIL +(\S+) .*#(1)$", text, re.MULTILINE)[0]
    assert name.startswith("iggy.identifier/0.0.30/")
    assert name in wireproof("replay", f"#{number}").out
    assert "no run of this project is stored" in wireproof("report", "last").one_line()


def test_a_damaged_memory_does_not_matter_to_a_report_of_a_file(wireproof: Command, tmp_path: Path) -> None:
    out = tmp_path / "run.jsonl"
    wireproof(*CHECK, "--out", out)
    (stored,) = (tmp_path / "cache" / "runs").glob("*/last.json")
    stored.write_text("[[")
    assert wireproof("report", out).code == 1


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
    done = wireproof("check", "columnar", "--in-process", *runs, *more)
    assert done.code == (Exit.BASELINE if more else Exit.CONFORMS)
    left_out = "columnar: conforms; 1 large case left out"
    advice = "1 large case left out, all must: add --large"
    assert (left_out in done.out, advice in done.out) == (not more, not more)
    assert wireproof("check", "columnar", "--in-process", "--run", large).code == Exit.CONFORMS
    assert wireproof("check", "columnar", "--run", small, "--in-process").code == Exit.CONFORMS


def test_a_selection_of_large_cases_alone_says_what_to_add(wireproof: Command) -> None:
    done = wireproof("check", "reference", "--run", "kafka.batch/v2/size/none-records-1310*")
    assert (done.code, "every selected case is large: add --large" in done.err) == (Exit.USAGE, True)


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
