"""Requests and answers: plan and budget without a process, the verb `serve`, and what is recorded."""

import io
import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import toy_codecs
from attrs import evolve
from command_line import Command
from each import each
from folders import SUPPORT

from wireproof.adapters import requests
from wireproof.adapters.contract import Claim, Hello
from wireproof.adapters.message_framing import Most, Packet
from wireproof.adapters.process import recording
from wireproof.adapters.process.recording import LimitedFile, Recorder
from wireproof.adapters.requests import (
    MAX_FAULTS,
    MAX_SIGNATURES,
    DerivedSample,
    FailureBudget,
    SeededOrder,
    prepare_case,
    request_for,
)
from wireproof.adapters.serve import serve
from wireproof.cases.case import Accept, Case, Data, Limits, Value
from wireproof.cases.outcome import Crashed, Faulty, Outcome, Unsupported
from wireproof.formats import FORMATS, Format
from wireproof.wire.options import DEFAULT_OPTIONS, Options

BATCH = Case(
    "kafka.batch/v2/t/n", "kafka.batch", "v2", Data(b"0123"), Accept({"magic": "2", "nextOffset": "8"}, 4)
)


def hello(**revisions: Claim) -> Hello:
    return Hello("x", "1", {name.replace("__", ".").replace("_", "/"): c for name, c in revisions.items()})


# --- plan ---


def test_orders_and_names_follow_the_seed_and_names_never_repeat() -> None:
    first, second, other = SeededOrder(1), SeededOrder(1), SeededOrder(2)
    assert first.order(50) == second.order(50) != other.order(50)
    names = [first.name() for _ in range(5000)]
    assert names == [second.name() for _ in range(5000)]
    assert len(set(names)) == 5000
    assert names[:3] != [other.name() for _ in range(3)]


def test_a_request_holds_nothing_of_what_is_expected() -> None:
    case = evolve(BATCH, profile="produce", options=Options(max_message=5), limits=Limits(ms=9))
    request = request_for(case, "x1", "digest")
    assert (request.id, request.data, request.answer) == ("x1", b"0123", "digest")
    assert request.options == Options("produce", max_message=5)
    assert request.limits.ms == 9
    assert case.id not in repr(request)
    assert request_for(BATCH, "x").options is DEFAULT_OPTIONS


@each(
    "claim, case, lack",
    [
        (Claim(), BATCH, ""),
        (Claim(("decode",), ("none",), ("reader",), (), ()), BATCH, ""),
        (Claim(("encode",)), BATCH, "claims no decode of kafka.batch/v2"),
        (
            Claim(codecs=("none",)),
            evolve(BATCH, needs=("codec:lz4",)),
            "claims no codec:lz4 for kafka.batch/v2",
        ),
        (Claim(codecs=("lz4",)), evolve(BATCH, needs=("codec:lz4",)), ""),
        (Claim(codecs=("lz4",)), evolve(BATCH, needs=("feature:x",)), ""),
        (Claim(features=()), evolve(BATCH, needs=("feature:x",)), "claims no feature:x for kafka.batch/v2"),
        (
            Claim(profiles=("reader",)),
            evolve(BATCH, profile="produce"),
            "claims no profile:produce for kafka.batch/v2",
        ),
    ],
)
def test_a_claim_decides_what_is_asked(claim: Claim, case: Case, lack: str) -> None:
    expected = Unsupported(lack) if lack else case
    assert prepare_case(case, hello(kafka__batch_v2=claim)) == expected


def _never(*_: object) -> None:
    raise AssertionError("a plan runs no codec")


@pytest.fixture
def row(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Format("kafka.batch", "v2", object, _never, _never, wrapped_by=("kafka.log", "mixed", "batches"))
    monkeypatch.setattr(requests, "FORMATS", {**FORMATS, made.format_id: made})


@pytest.mark.usefixtures("row")
def test_a_case_of_one_entry_is_wrapped_for_a_reader_of_logs() -> None:
    log = Claim(("decode",), ("none",))
    for claims in (
        hello(kafka__log_mixed=log),
        hello(kafka__log_mixed=log, kafka__batch_v2=Claim(("encode",))),
    ):
        asked = prepare_case(BATCH, claims)
        assert isinstance(asked, Case)
        assert (asked.format_id, asked.expect) == (
            "kafka.log/mixed",
            Accept({"batches": [{"magic": "2", "nextOffset": "8"}], "nextOffset": "8"}, 4),
        )
        lz4 = prepare_case(evolve(BATCH, needs=("codec:lz4",)), claims)
        assert lz4 == Unsupported("claims no codec:lz4 for kafka.log/mixed")
    assert prepare_case(BATCH, hello(kafka__log_mixed=log, kafka__batch_v2=Claim())) is BATCH
    encode = evolve(BATCH, op="encode", input=Value(None))
    assert prepare_case(encode, hello(kafka__log_mixed=Claim())) == Unsupported(
        "claims no encode of kafka.batch/v2"
    )


def test_a_sample_keeps_every_golden_case_and_the_same_derived_ones_each_time() -> None:
    derived = [evolve(BATCH, id=f"{BATCH.id}~flip:{n}", parent=BATCH.id, family="flip") for n in range(1600)]
    sample = DerivedSample(16)
    kept = list(sample.of([BATCH, *derived]))
    assert kept[0] is BATCH
    assert (sample.kept, sample.seen) == (len(kept) - 1, 1600)
    assert 60 <= sample.kept <= 140
    assert list(DerivedSample(16).of(reversed(derived))) == kept[:0:-1]


# --- deaths ---


def family(mother: str, number: int) -> Case:
    return evolve(BATCH, id=f"{mother}~flip:{number}", parent=mother, family="flip")


def why(deaths: FailureBudget, case: Case) -> str:
    left_out = deaths.verdict(case)
    return left_out.text if left_out else ""


def test_three_deaths_of_one_kind_close_a_family() -> None:
    deaths = FailureBudget()
    for number in range(3):
        assert why(deaths, family("a/b/c/d", 9)) == ""
        deaths.add(family("a/b/c/d", number), Crashed(), f"SIGSEGV: at 0x7f{number:04x}")
    assert why(deaths, family("a/b/c/d", 9)) == "same as a/b/c/d~flip:0"
    assert why(deaths, evolve(BATCH, id="a/b/c/d")) == "same as a/b/c/d~flip:0"
    assert why(deaths, family("a/b/c/other", 9)) == ""


def test_the_budget_counts_signatures_and_not_deaths() -> None:
    deaths = FailureBudget()
    for number in range(500):
        deaths.add(evolve(BATCH, id=f"a/b/c/m{number}"), Crashed(), f"SIGSEGV: line {number}")
    assert why(deaths, BATCH) == ""
    for number in range(MAX_SIGNATURES - 1):
        deaths.add(evolve(BATCH, id=f"a/b/c/m{number}"), Crashed(), "x" * number + "!")
    assert "different ways to die" in why(deaths, BATCH)
    assert deaths.count == 500 + MAX_SIGNATURES - 1


@pytest.mark.parametrize(("outcome", "alone"), [(Faulty(), True), (Crashed(), False)])
def test_faults_of_the_adapter_itself_are_soon_enough(outcome: Outcome, alone: bool) -> None:
    deaths = FailureBudget()
    for number in range(MAX_FAULTS):
        assert why(deaths, BATCH) == ""
        deaths.add(evolve(BATCH, id=f"a/b/c/m{number}"), outcome, "noise", alone=alone)
    last = f"the last at a/b/c/m{MAX_FAULTS - 1}"
    assert why(deaths, BATCH) == f"{MAX_FAULTS} faults of the adapter itself, {last}"


# --- the verb `serve` ---


FAULTY = f"exec:{sys.executable} -S -E {SUPPORT / 'faulty_adapter.py'}"


def served(spec: str, *lines: dict[str, Any]) -> list[Any]:
    return _served(b"".join(json.dumps(line).encode() + b"\n" for line in lines), spec)


HELLO = {"hello": {"protocol": 1}}


def toy_line(name: str, data: bytes) -> dict[str, Any]:
    return {"id": name, "op": "decode", "format": "toy", "revision": "v1", "hex": data.hex()}


def test_serve_speaks_the_lines_of_the_design() -> None:
    hello, answer = served("py:toy_codecs:Toy", HELLO, toy_line("7", b"rejected"))
    assert hello["hello"]["name"] == "toy"
    assert hello["hello"]["revisions"] == {"toy/v1": {"ops": ["decode"], "observes": ["a", "list[].x"]}}
    assert answer == {
        "id": "7",
        "outcome": "refused",
        "class": "crc-mismatch",
        "at": "61>3",
        "path": "crc",
        "detail": "CRC",
        "text": "wants 1",
        "before": {"batches": []},
    }


def test_serve_answers_a_request_that_is_none_and_goes_on() -> None:
    _, bad, good = served("py:toy_codecs:Toy", HELLO, {"id": "1", "op": "x"}, toy_line("2", b"unsupported"))
    assert bad["outcome"] == "faulty"
    assert good == {"id": "2", "outcome": "unsupported", "text": "not here"}


@each(
    "bad",
    [b"hello", b"[]", b"\xff", b"{}", b'{"id": 7}', b'{"id": "1", "hex": "0"}', b"[" * 100_000, b"a\rb"],
    ids=lambda bad: repr(bad[:12]),
)
def test_serve_answers_a_bad_line_and_goes_on(bad: bytes) -> None:
    good = json.dumps(toy_line("2", b"unsupported")).encode()
    first, second = _served(bad + b"\n" + good + b"\n")
    assert (first["id"], first["outcome"], first["text"][:12]) == ("", "faulty", "no request: ")
    assert second["outcome"] == "unsupported"


def test_serve_leaves_out_the_rest_of_a_line_that_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wireproof.adapters.message_framing.Most", partial(Most, 1000))
    monkeypatch.setattr("wireproof.adapters.serve.READ", 100)
    first, second = _served(b"x" * 5000 + b"\n" + json.dumps(toy_line("2", b"unsupported")).encode() + b"\n")
    assert first["text"].startswith("no request: line 1: a message of 3100 bytes or more")
    assert second["outcome"] == "unsupported"


def _served(data: bytes, spec: str = "py:toy_codecs:Toy") -> list[Any]:
    stdout = io.BytesIO()
    serve(spec, "jsonl", io.BytesIO(data), stdout)
    return [json.loads(line) for line in stdout.getvalue().splitlines()]


def test_serve_relays_a_process_and_outlives_it() -> None:
    hello, first, second = served(
        f"{FAULTY} obeys-bytes", HELLO, toy_line("1", b"segfault"), toy_line("2", b"ok")
    )
    assert hello["hello"]["name"] == "faulty"
    assert (first["outcome"], "SIGSEGV" in first["text"]) == ("crashed", True)
    assert second["value"] == {"hex": b"ok".hex()}


def test_a_module_in_the_working_directory_is_found_as_by_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The installed command has its own folder on the search path, not the one where it is typed."""
    (tmp_path / "served_from_here.py").write_text("from toy_codecs import Toy\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    (hello,) = served("py:served_from_here:Toy", HELLO)
    assert hello["hello"]["name"] == toy_codecs.Toy().name


# --- `check --trace` and `check --keep-stderr` ---


RECORDED = tuple(
    f"iggy.identifier/0.0.30/identifier/{name}"
    for name in ("numeric", "numeric-bytes", "numeric-max", "numeric-8-bytes", "string-utf8")
)
ONLY = (*(word for name in RECORDED for word in ("--run", name)), "--no-families")
"""Few cases: the adapter of these tests dies at the last two, and starting it takes most of the time."""

TALKS = """
import os, sys
from wireproof.adapters import (Accepted, Refused)

class Talks:
    name, version = "talks", "1"
    revisions = {"iggy.identifier/0.0.30": {"ops": ["decode"]}}

    def decode(self, request):
        print("decoding", request.data.hex(), file=sys.stderr)
        if request.data[:2] != b"\\x01\\x04":
            os._exit(3)
        return Accepted(value={"kind": "numeric", "value": request.data[2:6].hex()}, consumed=6)
"""


@pytest.fixture
def talks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "talks.py").write_text(TALKS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return "py:talks:Talks"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def messages(rows: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [row[kind] for row in rows if kind in row]


@pytest.mark.usefixtures("fixtures_read_once")
@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.sweeps)])
def test_a_trace_has_the_messages_of_every_adapter_in_order(
    wireproof: Command, talks: str, tmp_path: Path, jobs: int
) -> None:
    trace = tmp_path / "trace.jsonl"
    wireproof("check", talks, "reference", *ONLY, "--trace", trace, "--jobs", jobs)
    rows = lines(trace)
    assert list(dict.fromkeys(row["adapter"] for row in rows)) == [talks, "reference"]
    mine = [row for row in rows if row["adapter"] == "reference"]
    assert [*mine[0]] == ["adapter", "start"]
    assert [*mine[1]["request"]] == ["hello"]
    assert mine[2]["answer"]["hello"]["name"] == "reference"
    asked = messages(mine, "request")[1:]
    answers = messages(mine, "answer")[1:]
    assert {one["id"] for one in asked} == {one["id"] for one in answers}
    assert {"id", "op", "format", "revision", "hex"} == asked[0].keys() - {"limits", "value"}
    places = {row["answer"].get("id"): at for at, row in enumerate(mine) if "answer" in row}
    assert all(at < places[row["request"]["id"]] for at, row in enumerate(mine[2:], 2) if "request" in row)
    assert sorted(path.name for path in tmp_path.iterdir() if "trace" in path.name) == ["trace.jsonl"]


@pytest.mark.usefixtures("fixtures_read_once")
def test_stderr_is_kept_whole_through_every_start(wireproof: Command, talks: str, tmp_path: Path) -> None:
    wireproof("check", talks, *ONLY, "--keep-stderr", tmp_path / "err", "--trace", tmp_path / "t")
    (path,) = (tmp_path / "err").iterdir()
    assert path.name == "1-py_talks_Talks.txt"
    text = path.read_text("utf-8")
    seen = [one["hex"] for one in messages(lines(tmp_path / "t"), "request") if "hex" in one]
    starts = [row for row in lines(tmp_path / "t") if "start" in row]
    assert len(starts) > 1
    assert f"--- wireproof: start {len(starts)} of the adapter ---" in text
    assert {line.split()[1] for line in text.splitlines() if line.startswith("decoding ")} <= set(seen)
    assert text.count("decoding") > 5


@pytest.mark.usefixtures("fixtures_read_once")
def test_what_a_killed_adapter_printed_last_is_kept(wireproof: Command, tmp_path: Path) -> None:
    script = tmp_path / "silent.py"
    hello = {
        "hello": {"protocol": 1, "name": "s", "version": "1", "revisions": {"iggy.identifier/0.0.30": {}}}
    }
    script.write_text(
        f"import sys, time\nprint({json.dumps(json.dumps(hello))}, flush=True)\nsys.stdin.readline()\n"
        "sys.stdin.readline()\nsys.stderr.write('x' * 5000 + 'the end')\nsys.stderr.flush()\ntime.sleep(60)\n"
    )
    spec = f"jsonl:{sys.executable} {script}"
    case = "iggy.identifier/0.0.30/identifier/string-empty"
    wireproof("--timeout-scale", "0.2", "check", spec, "--run", case, "--no-families",
              "--keep-stderr", tmp_path / "err")  # fmt: skip
    (path,) = (tmp_path / "err").iterdir()
    assert "x" * 5000 + "the end" in path.read_text()


@pytest.mark.usefixtures("fixtures_read_once")
def test_a_full_disk_is_an_error_that_names_the_file() -> None:
    path = Path("trace.jsonl")
    with Path("/dev/full").open("wb", buffering=0) as file, pytest.raises(OSError, match=r"'trace\.jsonl'"):
        LimitedFile(file, 10, b"", path).write(b"x")


def test_a_file_has_a_limit_and_says_so() -> None:
    file = io.BytesIO()
    limited = LimitedFile(file, 10, b"(cut)", Path("some"))
    for data in (b"12345", b"678901234", b"more"):
        limited.write(data)
    assert file.getvalue() == b"1234567890(cut)"
    file = io.BytesIO()
    limited = LimitedFile(file, 10, b"(cut)", Path("some"))
    for data in (b"12345\n", b"67890\n", b"1\n"):
        limited.write(data, whole=True)
    assert file.getvalue() == b"12345\n(cut)", "a line is not cut in two"


@pytest.mark.usefixtures("fixtures_read_once")
def test_a_long_message_leaves_only_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "MAX_LINE", 100)
    file = io.BytesIO()
    recorder = Recorder("x", LimitedFile(file, 10_000, b"", Path("some")), None)
    recorder._note("answer", Packet({"id": "7"}, blob=bytes(100)))
    (row,) = map(json.loads, file.getvalue().splitlines())
    assert row == {"adapter": "x", "answer": {"id": "7", "bytes": row["answer"]["bytes"]}, "left_out": True}
