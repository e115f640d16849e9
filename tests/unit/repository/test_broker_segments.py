"""The scripts around a real broker, without one: the plans of clients, and the output of Kafka's tool."""

import sys
from pathlib import Path

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
