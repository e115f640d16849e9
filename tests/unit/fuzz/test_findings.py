"""Findings: what differs has a finding of its own, and a repaired codec has mended ones."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from attrs import evolve
from command_line import Command
from each import each
from folders import TOP
from goldens import load
from machine import needs

from wireproof.adapters.contract import Hello
from wireproof.cases.case import Accept, Case, Data
from wireproof.cases.outcome import Accepted
from wireproof.derive.examples import Examples, with_expectation
from wireproof.derive.mutate.draws import MAX_SIZE
from wireproof.formats import FORMATS
from wireproof.fuzz.corpus import copy_inputs, input_files, left_out
from wireproof.fuzz.findings import (
    MAX_INPUTS,
    MOST_WAYS,
    Finding,
    Findings,
    case_of_token,
    failures_of,
    finding_name,
    read_findings,
    signature_of_finding,
)
from wireproof.fuzz.rejudge import judge_again, known_ways, shrink_findings
from wireproof.judge.differences import MISSING, ValueDifference, differences, shape_of
from wireproof.judge.judge import judge, judge_ways
from wireproof.judge.signature import Signature, shape_of_finding
from wireproof.judge.verdicts import Verdict
from wireproof.run.baselines.known_failures import Baseline
from wireproof.run.engine import Engine

ROW = FORMATS["iggy.identifier/0.0.30"]
SIGNATURE = Signature("x", ROW.format_id, "decode", "fail:wrong-value", "", "value")
VERDICT = Verdict("fail", "wrong-value", path="value", shape="cut")


def case_of(data: bytes) -> Case:
    return Examples(ROW, (), ("decode",)).decode_case(data)


@each("want, got, shape", [
    (None, "", "empty for null"), ("", None, "null for empty"), ("61", None, "null for str"),
    (MISSING, "61", "str for nothing"), ([], None, "null for empty"), (True, False, "false for true"),
    ("5", "-5", "sign"), ("5", "-6", "sign"), ("300", "44", "off by 2^8"), ("5", "6", "off by 2^0"),
    ("70000", "4464", "off by 2^16"), ("1048575", "-1", "modulo 2^16"), ("2147483648", "0", "modulo 2^16"),
    ("36028797018963967", "-1", "modulo 2^32"), ("12884901893", "5", "modulo 2^32"),
    ("5", "90", "another number"),
    ("6a6b6c", "6a6b", "cut"), ("6a6b6c", "6b6c", "shorter"), ("6a6b", "6a6b6c", "longer"),
    ("6a", "6b", "other"),
])  # fmt: skip
def test_the_shape_of_a_difference_does_not_depend_on_the_values(
    want: object, got: object, shape: str
) -> None:
    assert shape_of(ValueDifference("value", want, got)) == shape


@each("stderr, shape", [
    ("", "SIGABRT"), ("out of luck 17", "SIGABRT"),
    ("thread 'main' panicked at src/batch.rs:91:5: / index", "SIGABRT < batch.rs:91"),
    ("#0 0x4f in varint a.c:3 / #1 0x5a in batch b.c:9", "SIGABRT < varint < batch"),
    ('File "/x/mine.py", line 7 in decode', "SIGABRT < mine.py decode"),
    ("main.(*A).int(0xc0000b2000) / main.run({0xc0, 0x9})", "SIGABRT < main.(*A).int < main.run"),
    ("at com.x.Batch.read(Batch.java:31) / at com.x.Main.main(Main.java:3)",
     "SIGABRT < com.x.Batch.read < com.x.Main.main"),
])  # fmt: skip
def test_two_crashes_differ_in_their_top_frames(stderr: str, shape: str) -> None:
    text = f"died with SIGABRT; stderr ends: {stderr}"
    assert shape_of_finding(Verdict("crash", text=text)) == shape


def test_each_shape_has_a_finding_and_each_facet_an_input(tmp_path: Path) -> None:
    findings = Findings(tmp_path, "w0")
    for size, shape, codec in (
        (9, "cut", "gzip"),
        (5, "sign", "gzip"),
        (7, "cut", "zstd"),
        (8, "cut", "zstd"),
    ):
        case = evolve(case_of(bytes(size)), needs=(f"codec:{codec}",))
        findings.add(SIGNATURE, evolve(VERDICT, shape=shape), case, bytes(size))
    cut, sign = sorted(read_findings(tmp_path), key=lambda one: one.shape)
    assert [(one.facets, one.size) for one in cut.inputs] == [(("codec:zstd",), 7), (("codec:gzip",), 9)]
    assert (cut.count, len(sign.inputs), str(sign)) == (3, 1, f"{SIGNATURE} · sign")
    assert (tmp_path / f"{cut.name}.bin").read_bytes() == bytes(7)
    for number in range(MAX_INPUTS + 2):
        case = evolve(case_of(bytes(20 + number)), needs=(f"feature:{number}",))
        findings.add(SIGNATURE, VERDICT, case, bytes(20 + number))
    (cut,) = (one for one in read_findings(tmp_path) if one.shape == "cut")
    assert [one.size for one in cut.inputs] == [7, 9, 20, 21]
    findings.add(SIGNATURE, VERDICT, evolve(case_of(b"\1"), needs=("feature:x",)), b"\1")
    (cut,) = (one for one in read_findings(tmp_path) if one.shape == "cut")
    assert [one.size for one in cut.inputs] == [1, 7, 9, 20]


def test_a_wrong_field_hides_no_other() -> None:
    case = with_expectation(case_of(b"\2\5lmnop"))
    assert isinstance(case.expect, Accept)
    right = case.expect.value
    assert isinstance(right, dict)
    hello = Hello("mine", "1")
    ways = judge_ways(case, Accepted({**right, "kind": "numeric", "value": "6c6d"}, 7), hello=hello)
    assert [(one.path, one.shape) for one in ways] == [("kind", "longer"), ("value", "cut")]
    assert [one.text for one in ways] == ["", "the answer differs first in kind (longer)"]
    assert [one.passing for one in judge_ways(case, Accepted(right, 7), hello=hello)] == [True]


@each("got, paths", [
    (["x", "2", "3"], ["[0]", ".length"]),  # the end is cut off
    (["1", "2", "3"], [".length"]),
    (["x", "2", "y"], ["[0]", "[2]", ".length"]),
    (["x", "3", "4"], ["[0]"]),  # the second is left out, and what follows has moved
    (["1", "0", "2", "3", "4"], ["[1]"]),
    ([], [".length"]),
])  # fmt: skip
def test_a_cut_list_hides_no_wrong_element(got: list[str], paths: list[str]) -> None:
    want = ["1", "2", "3", "4"]
    assert [one.path for one in differences(want, got, every=True)] == paths
    assert [one.path for one in differences(want, got)] == paths[:1]


def test_each_of_many_bugs_is_found_and_a_lost_reader_once(tmp_path: Path) -> None:
    data, hello, store = b"\2\5lmnop", Hello("mine", "1"), Findings(tmp_path, "w0")
    case = with_expectation(case_of(data))
    assert isinstance(case.expect, Accept)
    assert isinstance(case.expect.value, dict)

    def found(*fields: int) -> list[str]:
        """Store what an answer with these fields more is a finding for, and return the paths."""
        value = {**case.expect.value, **{f"field {number}": "1" for number in fields}}
        failures = store.separate(failures_of(hello, case, case, Accepted(value, len(data))))
        for one in failures:
            store.add(one.signature, one.verdict, case, data)
        return [one.signature.path for one in failures]

    every = range(MOST_WAYS + 2)
    assert found(*every) == found(*every) == ["field 0"]
    assert found(3, 4) == ["field 3", "field 4"]
    assert found(*every) == [f"field {number}" for number in every]
    assert len(read_findings(tmp_path)) == len(every)


# --- judged again ---

CODEC = """
import os
from pathlib import Path
from attrs import evolve
from wireproof.adapters.contract import Claim
from wireproof.adapters.reference import Reference
from wireproof.cases.outcome import Accepted

class Mine(Reference):
    name, version = "mine", "1"
    revisions = {"iggy.identifier/0.0.30": Claim(("decode",))}

    def decode(self, request):
        bugs, found = Path(__file__).with_name("bugs").read_text().split(), super().decode(request)
        if "abort" in bugs and request.data[2:3] == b"*":
            os.abort()
        if not isinstance(found, Accepted) or found.value["kind"] != "string":
            return found
        kind, value = "numeric" if "kind" in bugs else "string", found.value["value"]
        followed = "rest" in bugs and len(request.data) > 2 + request.data[1]
        if followed or ("cut" in bugs and len(value) > 8):
            value = value[:-2]
        elif "lower" in bugs and value.startswith("5a"):
            value = "7a" + value[2:]
        return evolve(found, value={**found.value, "kind": kind, "value": value})
"""
INPUTS = {"cut": b"\2\5lmnop", "lower": b"\2\2Zz", "abort": b"\1\4*\0\0\0"}
ADAPTER = "py:mine:Mine"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The findings of a codec with three bugs, two of them in one field."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(CODEC, encoding="utf-8")
    monkeypatch.delitem(sys.modules, "mine", raising=False)  # that of another test, which ran in this process
    (tmp_path / "bugs").write_text(" ".join(INPUTS), encoding="utf-8")
    folder = tmp_path / "wireproof-fuzz" / "findings" / "py-mine-Mine"
    store = Findings(folder, "w0")
    with Engine(ADAPTER) as engine:
        for data in INPUTS.values():
            case = with_expectation(case_of(data))
            (ran,) = engine.run([case])
            verdict = judge(ran.case, ran.outcome, hello=engine.hello)
            sign = signature_of_finding("mine", case, verdict, ran.outcome)
            assert sign is not None
            store.add(sign, verdict, case, data)
    store.close()
    return folder


def states(folder: Path) -> dict[str, str]:
    return {one.shape: one.state for one in read_findings(folder)}


def bugs(folder: Path, *names: str) -> None:
    (folder.parents[2] / "bugs").write_text(" ".join(names), encoding="utf-8")


def stored_ways(folder: Path, data: bytes) -> None:
    """Store each way in which an input fails with a bug in each of two fields."""
    bugs(folder, "lower", "kind")
    case, store = with_expectation(case_of(data)), Findings(folder, "w1")
    with Engine(ADAPTER) as engine:
        (ran,) = engine.run([case])
        for verdict in judge_ways(ran.case, ran.outcome, hello=engine.hello):
            sign = signature_of_finding("mine", case, verdict, ran.outcome)
            assert sign is not None
            store.add(sign, verdict, case, data)
    store.close()


def test_replay_and_shrink_keep_to_a_finding_behind_another(folder: Path, wireproof: Command) -> None:
    for path in folder.glob("*.json"):
        path.unlink()
    stored_ways(folder, b"\2\3Zzz")
    for found in read_findings(folder):
        name = f"wireproof-fuzz#{found.name}"
        done = wireproof("replay", name, ADAPTER)
        assert f"  wrong-value {found.signature.path}  must" in done.out, done.out
        assert f"want {found.want}; got {found.got}" in done.out.splitlines()[-1]
        lines = wireproof("shrink", name, ADAPTER, "--in-process").out.splitlines()
        assert lines[0] == str(found.signature)
        assert lines[1].startswith("5 bytes became 3: ")
        assert (lines[2][-2:] == "5a") is (found.signature.path == "value")
    bugs(folder, "kind")
    assert "wrong-value kind  must" in wireproof("replay", name, ADAPTER).out, "what is left of it"


def test_new_findings_are_made_smaller_each_in_its_way(folder: Path) -> None:
    for path in folder.glob("*.json"):
        path.unlink()
    stored_ways(folder, b"\2\6Zzzzzz")
    before = read_findings(folder)
    shrink_findings(folder, ADAPTER, before, 0.0)
    assert read_findings(folder) == before, "no time, and nothing is lost"
    shrink_findings(folder, ADAPTER, before, 60.0)
    for found in read_findings(folder):
        data = (folder / f"{found.name}.bin").read_bytes()
        assert (len(data), data[2:] == b"Z") == (3, found.signature.path == "value")
        assert case_of_token(folder, found.token).input == Data(data)
        assert found.origin.endswith(", shrunk")
    assert [one.way for one in read_findings(folder)] == [one.way for one in before]
    assert judge_again(folder, ADAPTER) == []


def test_what_another_bug_precedes_is_mended_by_itself(folder: Path) -> None:
    stored_ways(folder, INPUTS["lower"])
    for on, expected in (
        (("lower", "kind"), {"longer": "open", "other": "open"}),
        (("kind",), {"longer": "open", "other": "mended"}),
        (("lower",), {"longer": "mended", "other": "open"}),
    ):
        bugs(folder, *on)
        judge_again(folder, ADAPTER)
        found = states(folder)
        assert {shape: found[shape] for shape in expected} == expected, on


def test_a_finding_is_mended_when_its_bug_is_and_opens_again_with_it(folder: Path) -> None:
    assert judge_again(folder, ADAPTER) == []
    assert states(folder) == {"cut": "open", "other": "open", "SIGABRT": "open"}
    bugs(folder, "lower")
    assert {one.shape for one in judge_again(folder, ADAPTER)} == {"cut", "SIGABRT"}
    assert states(folder) == {"cut": "mended", "other": "open", "SIGABRT": "mended"}
    assert judge_again(folder, ADAPTER) == []
    assert sum(one.is_open_at("must") for one in read_findings(folder)) == 1
    bugs(folder, "cut")
    assert [one.shape for one in judge_again(folder, ADAPTER)] == ["other"]
    assert states(folder)["cut"] == "open"


def test_a_mended_finding_opens_with_any_input(folder: Path) -> None:
    bugs(folder)
    judge_again(folder, ADAPTER)
    (mended,) = (one for one in read_findings(folder) if one.shape == "cut")
    larger = with_expectation(case_of(b"\2\6lmnopq"))
    Findings(folder, "w1").add(mended.signature, VERDICT, larger, b"\2\6lmnopq")
    (found,) = (one for one in read_findings(folder) if one.shape == "cut")
    assert (found.state, found.size, found.first, found.count) == ("open", 8, mended.first, 2)


def test_a_finding_of_an_earlier_version_gets_its_shape(folder: Path) -> None:
    """The files of that version have no shape, and their names are made without one."""
    (cut,) = (one for one in read_findings(folder) if one.shape == "cut")
    old = finding_name(cut.signature)
    text = (
        (folder / f"{cut.name}.json")
        .read_text()
        .replace(cut.name, old)
        .replace('"shape": "cut"', '"shape": ""')
    )
    (folder / f"{old}.json").write_text(text)
    for suffix in ("json", "bin"):
        (folder / f"{cut.name}.{suffix}").unlink()
    assert judge_again(folder, ADAPTER) == []
    assert states(folder)["cut"] == "open"
    assert not (folder / f"{old}.json").exists()


def known(folder: Path, shape: str) -> Finding:
    """Write into the file of a finding that it is known, as the user does."""
    (found,) = (one for one in read_findings(folder) if one.shape == shape)
    path = folder / f"{found.name}.json"
    path.write_text(path.read_text().replace('"state": "open"', '"state": "known"'))
    return found


@needs("[fuzz]")
def test_a_run_without_new_inputs_says_what_is_mended_and_ends_well(folder: Path, wireproof: Command) -> None:
    """Of what is left, a crash comes first; what is known fails no run."""
    words = ("fuzz", ADAPTER, "--minutes", "0")
    done = wireproof(*words)
    assert done.code == 1
    assert 0 < done.out.index("· crash · SIGABRT") < done.out.index("wrong-value · value · cut")
    known(folder, "cut")
    bugs(folder, "cut")
    done = wireproof(*words)
    assert (done.code, done.out.count("mended: ")) == (0, 2)
    assert "0 distinct failures, 0 permitted differences, 1 known, 2 mended" in done.out
    bugs(folder)
    done = wireproof(*words)
    assert (done.code, "mended: mine · iggy.identifier/0.0.30 · decode" in done.out) == (0, True)


# --- a corpus of somebody else ---


@pytest.fixture
def strange(tmp_path: Path) -> Path:
    """A corpus of one input, a folder, a file of 1 GiB, and one that cannot be read."""
    (tmp_path / "corpus" / "folder").mkdir(parents=True)
    (tmp_path / "corpus" / "input").write_bytes(INPUTS["lower"] + bytes(MAX_SIZE))
    (tmp_path / "corpus" / "gone").symlink_to("/nosuch/file")
    with (tmp_path / "corpus" / "huge").open("wb") as file:
        file.truncate(1 << 30)
    return tmp_path / "corpus"


STRANGE = (
    "not read as inputs: folder (a folder), gone (No such file or directory), "
    "huge (1,073,741,824 bytes, at most 1,048,576 are read)"
)


def test_what_is_no_input_of_a_corpus_is_named_and_the_rest_is_used(strange: Path) -> None:
    assert [one.name for one in input_files([strange])] == ["input"]
    assert left_out(strange) == f"{strange}: {STRANGE}"
    (copied,) = copy_inputs([strange], strange.with_name("copied")).iterdir()
    assert copied.read_bytes() == (INPUTS["lower"] + bytes(MAX_SIZE))[:MAX_SIZE]
    assert left_out(copied.parent) == ""
    for number in range(9):
        (copied.parent / f"{number}").mkdir()
    assert left_out(copied.parent).endswith("2 (a folder), 3 (a folder), and 5 more")


# --- a baseline ---

BASELINE = """
[[known-failure]]
id = "{id}"
kind = "fail:wrong-value"
class = ""
reason = "The last byte is lost."
owner = "me"
expires = {year}-01-01
"""


def test_what_the_cases_of_a_baseline_show_is_known(folder: Path) -> None:
    bugs(folder, "cut", "rest")
    shown = evolve(SIGNATURE, implementation="mine")
    for name, year, expected in (
        (f"{ROW.format_id}/identifier/string-255", 2999, True),
        (f"{ROW.format_id}/identifier/string-255", 2001, False),
        (f"{ROW.format_id}/identifier/numeric", 2999, False),  # it passes
        ("iggy.*/**~append:*", 2999, True),
        (f"{ROW.format_id}/property/decode~*", 2999, True),
        (f"{ROW.format_id}/property/encode~*", 2999, False),
    ):
        baseline = Baseline.of(BASELINE.format(id=name, year=year), "known.toml")
        known = known_ways(ADAPTER, baseline, load(), (ROW.format_id,))
        assert known.has(shown) is expected, name
        assert not known.has(evolve(shown, kind="crash"))


@pytest.mark.campaigns
def test_inputs_of_another_corpus_are_read_too(folder: Path, strange: Path, wireproof: Command) -> None:
    """Nothing of it becomes an input of the campaign; in its own corpus, a folder is named too."""
    bugs(folder)
    done = wireproof("fuzz", ADAPTER, "--runs", "300")
    assert (done.code, f"{ROW.format_id}   300 executions in " in done.out) == (0, True), done
    (own,) = (folder.parents[1] / "corpus" / folder.name).iterdir()
    (own / "folder").mkdir()
    before = sorted(own.iterdir())
    bugs(folder, "lower")
    (strange / "input").write_bytes(b"\2\3Zzz")
    name = f"{ROW.format_id}/property/decode~*"
    for year, code in ((2001, 1), (2999, 0)):
        Path("known.toml").write_text(BASELINE.format(id=name, year=year), encoding="utf-8")
        done = wireproof("fuzz", ADAPTER, "--minutes", "0", "--corpus", strange, "--baseline", "known.toml")
        assert (done.code, "wrong-value · value · other" in done.out) == (code, bool(code)), done
        assert done.err.splitlines()[0] == f"wireproof: {strange}: {STRANGE}"
        assert done.err.splitlines()[1].endswith("not read as inputs: folder (a folder)")
        assert sorted(own.iterdir()) == before
    Path("known.toml").write_text("[[", encoding="utf-8")
    assert "known.toml" in wireproof("fuzz", ADAPTER, "--baseline", "known.toml").err.splitlines()[-1]


# --- libFuzzer's own target ---


def target(folder: Path, *words: object) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(TOP / "fuzz/target.py"), *map(str, words)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)


@needs("[fuzz]")
def test_a_target_runs_with_libfuzzer_s_own_flags_and_passes_what_is_right(tmp_path: Path) -> None:
    assert os.access(TOP / "fuzz/target.py", os.X_OK)
    done = target(tmp_path, ROW.format_id, "reference", "-runs=200")
    assert (done.returncode, "Done 200 runs" in done.stderr) == (0, True)
    for words, said in (((), "usage: "), (("iggy.identifer/0.0.30", "reference"), "iggy.identifier/0.0.30")):
        done = target(tmp_path, *words)
        assert (done.returncode, said in done.stderr, done.stderr.count("\n")) == (1, True, 1)


@needs("[fuzz]")
def test_a_target_ends_at_a_failure_with_its_signature_and_a_file(folder: Path) -> None:
    """An input that was found before fails too, and one that ends the process leaves its file."""
    room = folder.parents[2]
    for bug, said in (("lower", "wrong-value · value · other: want value = "), ("abort", "deadly signal")):
        (room / bug).write_bytes(INPUTS[bug])
        done = target(room, ROW.format_id, ADAPTER, "-runs=1", bug)
        assert done.returncode != 0
        assert said in done.stdout + done.stderr  # atheris prints exceptions to the former
    done = target(room, ROW.format_id, ADAPTER, "-seed=1", "-runs=20000")
    assert done.returncode != 0
    (crash,) = room.glob("crash-*")
    assert target(room, ROW.format_id, ADAPTER, crash).returncode != 0
    bugs(folder)
    assert target(room, ROW.format_id, ADAPTER, crash).returncode == 0
