"""A case by a short name: a finding of the last run, of a stream, of a fuzzer."""

import sys
from pathlib import Path

import pytest
from attrs import evolve
from command_line import Command
from goldens import load

from tests.mutants.registry import spec_of
from wireproof.cases.case import Data
from wireproof.fuzz.findings import Findings, finding_name
from wireproof.judge.signature import Signature
from wireproof.judge.verdicts import Verdict
from wireproof.run.exit_codes import Exit

pytestmark = pytest.mark.usefixtures("own_memory")

MUTANT = spec_of("mutant:iggy-identifier-unchecked")
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
    done = wireproof("shrink", f"{stream}#2", MUTANT, "--in-process")
    assert done.code == Exit.CONFORMS
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
    assert isinstance(case.input, Data)
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


def test_a_damaged_memory_of_the_last_check_is_one_line(wireproof: Command, tmp_path: Path) -> None:
    wireproof("check", MUTANT, "--run", "iggy.identifier/0.0.30/**", "--no-families", "--in-process")
    (stored,) = (tmp_path / "cache" / "runs").glob("*/last.json")
    stored.write_text("[[")
    done = wireproof("replay", "#1", MUTANT)
    assert (done.code, "last.json" in done.one_line()) == (Exit.USAGE, True)
