"""One case in the commands: replayed by id or token, shown and listed."""

from pathlib import Path

from attrs import evolve
from command_line import Command
from goldens import load
from machine import needs

from tests.mutants.registry import spec_of
from wireproof.cases.token import to_token
from wireproof.cli.replay import answer_line
from wireproof.cli.show import hex_text
from wireproof.derive.derived import derived_cases
from wireproof.run.events import CaseEvent

SMALL = "kafka.batch/v2/crc/*"
LENIENT = spec_of("mutant:crc-skip")
"""A codec that does not conform, for it does not look at checksums."""


def test_the_last_line_of_a_replay_has_each_text_once() -> None:
    event = CaseEvent(
        seq=0, id="x", format="f", revision="1", op="decode", level="must", verdict="stalled",
        want="accept", got="stalled: no answer", text="no answer",
    )  # fmt: skip
    assert answer_line(event) == "stalled: want accept; got stalled: no answer"
    assert answer_line(evolve(event, text="")) == answer_line(event)
    assert answer_line(evolve(event, text="a trace")).endswith("; got stalled: no answer a trace")


def test_a_case_is_replayed_by_its_id_by_a_derived_id_and_by_a_token(wireproof: Command) -> None:
    parent = "kafka.batch/v2/crc/leader-epoch-outside"
    flip = next(case for case in derived_cases(load().by_id[parent]) if case.family == "flip")
    for name in ("kafka.batch/v2/crc/zero", flip.id, to_token(flip)):
        good, bad = (wireproof("replay", name, spec, "--in-process") for spec in ("reference", LENIENT))
        assert (good.code, bad.code) == (0, 1), name
        assert "pass" in good.out
        assert "fail:wrong-accept" in bad.out


@needs("[peers]")
def test_a_case_that_the_adapter_does_not_claim_is_said_to_be_so(wireproof: Command) -> None:
    done = wireproof("replay", "iggy.identifier/0.0.30/identifier/numeric", "kio")
    assert done.code == 2
    assert "unsupported: " in done.out


def test_long_bytes_are_whole_in_a_pipe_and_begun_on_a_terminal() -> None:
    data = bytes(range(256)) * 4
    assert hex_text(data, terminal=False) == data.hex()
    assert hex_text(data, terminal=True) == f"{data[:512].hex()}… 512 more; a pipe or a file gets all"
    assert hex_text(data[:512], terminal=True) == data[:512].hex()


def test_the_cases_are_listed_by_pattern(wireproof: Command) -> None:
    done = wireproof("cases", SMALL)
    assert len(done.out.splitlines()) == 8
    assert done.err == "8 cases\n"
    assert len(wireproof("cases").out.splitlines()) == len(load().cases)


def test_patterns_are_read_from_a_file_with_comments(wireproof: Command, tmp_path: Path) -> None:
    path = tmp_path / "patterns"
    path.write_text(f"# some\n{SMALL}  # crc\n\n", encoding="utf-8")
    words = ("--no-families", "--in-process", "--min-cases", 8)
    done = wireproof("check", "reference", *words, "--run", f"@{path}")
    assert done.code == 0
