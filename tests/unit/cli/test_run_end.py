"""The last lines of `check`: the exit code, its reason, and commands that can be pasted."""

import re
import shlex
from pathlib import Path

import pytest
from command_line import Command

from tests.mutants.registry import spec_of
from wireproof.runner.exit_codes import Exit

MUTANT = spec_of("mutant:iggy-identifier-unchecked")
CHECK = ("check", MUTANT, "--run", "iggy.identifier/**", "--no-families", "--in-process")


@pytest.fixture(autouse=True)
def _own_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WIREPROOF_CACHE", str(tmp_path / "cache"))


def test_check_ends_with_its_exit_code_the_reason_and_commands_that_can_be_pasted(
    wireproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = wireproof(*CHECK).out
    assert f"exit code 1: does not conform: {MUTANT}" in text
    commands = [
        line.partition("  #")[0].strip() for line in text.splitlines() if line.startswith("  wireproof")
    ]
    assert commands == [
        "wireproof replay '#1'", "wireproof report last", "wireproof report last --html page.html"
    ]  # fmt: skip
    assert [wireproof(*shlex.split(command)[1:]).code for command in commands] == [1, 0, 0]
    assert (tmp_path / "page.html").exists()


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
    name = MUTANT.partition("[")[2].removesuffix("]")
    assert text.index("FAIL  iggy.identifier") < text.index(f"{name}: does not conform")
    assert "4 kinds of failure in 11 cases:" in text
    assert re.search(r"^    #1 +fail:\S+ +iggy\.identifier/\S+  and \d+ more like it$", text, re.MULTILINE)


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


def test_a_second_run_of_the_same_codec_is_to_be_compared_with_the_first(
    wireproof: Command, tmp_path: Path
) -> None:
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    assert "wireproof diff" not in wireproof(*CHECK, "--out", one).out
    assert f"wireproof diff {one} {two}" in wireproof(*CHECK, "--out", two).out
    (stored,) = (tmp_path / "cache" / "runs").glob("*/last.json")
    stored.write_text(stored.read_text().replace('"0.', '"9.'))
    assert "compare 9." in wireproof(*CHECK, "--out", one).out


def test_a_damaged_list_of_earlier_runs_does_not_matter(wireproof: Command, tmp_path: Path) -> None:
    wireproof(*CHECK)
    (stored,) = (tmp_path / "cache" / "runs").glob("*/last.json")
    for text in ("[[", "[1]", '{"a": 1}', "null"):
        stored.write_text(text)
        assert wireproof(*CHECK, "--out", tmp_path / "run.jsonl").code == 1


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
