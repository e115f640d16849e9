"""The verb `interop`: its matrix, its exit codes and its replay lines."""

import re
import shlex
from pathlib import Path

import pytest
from command_line import Command
from each import each

from tests.mutants.registry import spec_of
from wireproof.run.events import read_events


@pytest.fixture(autouse=True)
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current folder, in which tokens of long inputs are stored."""
    monkeypatch.chdir(tmp_path)


READER = spec_of("mutant:legacy-timestamp-ignored")
REPLAY = re.compile(r"replay  wireproof (replay .+)")


INTEROP = ("--timeout-scale", 10, "interop")


def test_the_verb_shows_the_matrix_and_a_replay_line_that_does_it_again(
    wireproof: Command, tmp_path: Path
) -> None:
    out, page = tmp_path / "x.jsonl", tmp_path / "x.html"
    done = wireproof(
        *INTEROP, "reference", READER, "--count", 6, "--seed", 3, "--format", "kafka.batch", "--out", out,
        "--html", page,
    )  # fmt: skip
    assert done.code == 1
    assert f"{READER}: FAIL  kafka.batch/v1/interop/" in done.out
    assert "  title   decode of what reference wrote" in done.out
    assert re.search(r"want    timestamp = .*\n  got     timestamp = ", done.out)
    line = next(iter(REPLAY.findall(done.out)))
    again = wireproof(*shlex.split(line), "--in-process")
    assert again.code == 1
    assert "fail:wrong-value" in again.out
    streams = read_events(out)
    assert [stream.run.spec for stream in streams] == ["reference", READER]
    assert all(stream.complete for stream in streams)
    text = page.read_text(encoding="utf-8")
    assert "decode of what reference wrote" in text
    assert "legacy-timestamp-ignored" in text
    assert "Who reads what others wrote" in text
    assert re.search(r'<td class="bad" title="\d+ read, \d+ of them wrong', text)
    assert wireproof("report", out, "--quiet").code == 1


def test_codecs_that_agree_end_with_0(wireproof: Command, tmp_path: Path) -> None:
    done = wireproof(*INTEROP, spec_of("mutant:crc-skip"), "--count", 2, "--format", "kafka.batch/v2")
    assert done.code == 0, done.out
    assert "FAIL" not in done.out
    assert list(tmp_path.iterdir()) == []


@each(
    "words, code, said",
    [
        (("reference", "--count", 1), 2, "no format that one of them writes"),
        (("reference", "kio", "--format", "heka.*", "--count", 1), 2, "no format that one of them writes"),
        (("--format", "nosuch"), 2, "no format is called nosuch"),
        (("nosuch", "--count", 1), 2, "unknown adapter nosuch"),
    ],
)
def test_what_cannot_be_exchanged_is_a_line(
    wireproof: Command, words: tuple[object, ...], code: int, said: str
) -> None:
    done = wireproof("interop", *words)
    assert done.code == code
    assert said in done.err


def test_one_that_does_not_start_leaves_the_others_at_it(wireproof: Command) -> None:
    done = wireproof(
        *INTEROP, "reference", spec_of("mutant:crc-skip"), "exec:no-such-program", "--count", 1,
        "--format", "kafka.batch/v2",
    )  # fmt: skip
    assert done.code == 4
    assert "no-such-program" in done.one_line()
    assert "kafka.batch/v2, read by" in done.out
