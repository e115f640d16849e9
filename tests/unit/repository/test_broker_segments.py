"""The scripts around a real broker, without one: the plans of clients, and the output of Kafka's tool."""

import sys
from pathlib import Path

from each import each
from folders import TESTS

from wireproof import formats
from wireproof.cases.outcome import Accepted
from wireproof.cases.reference_answers import decode_answer
from wireproof.wire.options import DEFAULT_OPTIONS

BROKER = TESTS / "broker"
sys.path.insert(0, str(BROKER))
import compare_explain  # noqa: E402 - a script of tests/broker
import dump  # noqa: E402 - likewise
import explain_lines  # noqa: E402 - likewise
import plan  # noqa: E402 - likewise

W01 = bytes.fromhex(
    "00000000000000000000003a0000000002e99b8dd80000000000000000018bcf"
    "e568000000018bcfe56800ffffffffffffffffffffffffffff00000001100000"
    "00026b027600"
)
"""kafka.md §6 E01: one record, k to v."""

PRINTED = """\
Dumping /logs/x-0/00000000000000000000.log
Log starting offset: 0
baseOffset: 0 lastOffset: 0 count: 1 baseSequence: -1 lastSequence: -1 producerId: -1 producerEpoch: -1 \
partitionLeaderEpoch: 0 isTransactional: false isControl: false deleteHorizonMs: OptionalLong.empty \
position: 0 CreateTime: 1700000000000 size: 70 magic: 2 compresscodec: none crc: 3919285720 isvalid: true
| offset: 0 CreateTime: 1700000000000 keySize: 1 valueSize: 1 sequence: -1 headerKeys: [] key: k payload: v
"""
"""The same batch, as `DumpLogSegments --deep-iteration --print-data-log` prints one."""


def test_each_client_sends_more_than_fifty_batches_in_each_codec_and_mode() -> None:
    kept = [step for step in plan.steps("x") if step["topic"] == "x-kept"]
    assert sum(len(step["batches"]) for step in kept) == 55
    assert {(step["codec"], step["mode"]) for step in kept} == {
        (codec, mode) for codec in plan.CODECS for mode, _ in plan.MODES
    }


def test_a_plan_holds_nulls_empties_tombstones_and_headers() -> None:
    records = [record for step in plan.steps("x") for batch in step["batches"] for record in batch]
    shapes = {(record["key"], record["value"]) for record in records}
    assert {("gone", None), (None, plan.LONG), ("", "")} <= shapes
    assert ["none", None] in [header for record in records for header in record["headers"]]


def test_the_lines_of_the_tool_and_of_the_reference_are_the_same() -> None:
    outcome = decode_answer(formats.get("kafka.log", "mixed"), W01, DEFAULT_OPTIONS).outcome
    assert isinstance(outcome, Accepted)
    assert dump.expected(W01, outcome.value) == dump.parsed(PRINTED)["x-0/00000000000000000000.log"]


def test_explain_prints_the_lines_of_the_tool(tmp_path: Path) -> None:
    path = tmp_path / "x-0" / "00000000000000000000.log"
    path.parent.mkdir()
    path.write_bytes(W01)
    (trees,) = explain_lines.explained([path])
    lines = [line for _, line in explain_lines.lines(trees)]
    assert lines == dump.parsed(PRINTED)["x-0/00000000000000000000.log"]
    assert list(compare_explain.tool_lines(PRINTED.splitlines()[1:])) == lines


def test_a_value_of_several_lines_is_one_record_of_the_tool() -> None:
    text = (
        "| offset: 7 CreateTime: 5 keySize: 1 valueSize: 9 sequence: -1 headerKeys: [] key: k payload: a: b"
    )
    (line,) = compare_explain.tool_lines([text, "c: d"])
    assert (line["offset"], line["key"], line["payload"]) == ("7", "k", "a: b\nc: d")


@each(
    "text, told",
    [
        ("keySize: -1 valueSize: 0 headerKeys: [] payload: ", {"valueSize": "0", "payload": ""}),
        ("keySize: 0 valueSize: -1 headerKeys: [a,b] key: ", {"headerKeys": "[a,b]", "key": ""}),
        ("keySize: -1 valueSize: -1 headerKeys: []", {"keySize": "-1"}),
        ("headerKeys: [] endTxnMarker: ABORT coordinatorEpoch: 0", {"endTxnMarker": "ABORT"}),
    ],
)
def test_the_tool_prints_null_and_empty_differently(text: str, told: dict[str, str]) -> None:
    (line,) = dump.parsed(f"Dumping x/a.log\n| offset: 3 CreateTime: 5 {text}\n")["x/a.log"]
    assert {key: line[key] for key in told} == told
    assert ("key" in line, "payload" in line) == (" key: " in text, " payload: " in text)


def test_a_line_that_the_tool_does_not_print_is_no_agreement() -> None:
    assert dump.parsed("Dumping x/a.log\nfound 3 invalid bytes\n") == {
        "x/a.log": [{"unread": "found 3 invalid bytes"}]
    }
