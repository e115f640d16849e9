"""What the reference writes a peer reads, and what a peer writes the reference reads, as the same value.

Values are those that a producer sends. A comparison is over the fields that the peer claims to show.
"""

from itertools import chain
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from peer_adapters import python_adapter
from subjects import FORMATS, valued, written

from tests.independent.derived_fields import bare
from wireproof import formats
from wireproof.adapters.contract import Request
from wireproof.adapters.python_object import Caller
from wireproof.cases.observable_fields import observed_tree
from wireproof.cases.outcome import Accepted
from wireproof.formats import Format
from wireproof.heka.message import HekaMessage
from wireproof.kafka.attribute_bits import CODEC_MASK
from wireproof.kafka.values import Log, RecordBatch
from wireproof.strategies import values
from wireproof.wire.json_values import Json, to_json
from wireproof.wire.observed_fields import project

V2 = FORMATS["kafka.batch/v2"]
LOG = FORMATS["kafka.log/mixed"]
HEKA = FORMATS["heka.message/0.10"]

PRODUCED = values("kafka.batch", "v2", profile="produce")

PLAIN = values("kafka.batch", "v2", profile="produce", codecs="none")

KAFKA_PYTHON, AIOKAFKA, KIO, PROTOBUF = map(
    python_adapter, ("kafka-python", "aiokafka", "kio", "protobuf-upb")
)

RECORD_SETS = pytest.mark.parametrize("peer", [KAFKA_PYTHON, AIOKAFKA], ids=lambda peer: peer.name)


def textual(batch: RecordBatch) -> bool:
    """Header keys are text to the clients in Python; kafka.batch/v2/headers/key-invalid-utf8 is none."""
    return all(_is_text(key) for record in batch.records for key, _ in record.headers)


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def all_text(message: HekaMessage) -> bool:
    """protobuf writes no string that is not UTF-8: heka.message/0.10/text/no-utf8."""
    named = (message.type, message.logger, message.payload, message.env_version, message.hostname)
    inner = [(one.name, one.representation, *one.value_string) for one in message.fields]
    return all(_is_text(part) for part in (*named, *chain.from_iterable(inner)) if part is not None)


def whole_seconds(batch: RecordBatch) -> bool:
    """kio cuts timestamps to whole seconds, as its binding says of itself."""
    return all(record.timestamp_delta % 1000 == 0 for record in batch.records)


def seen(peer: Any, row: Format, value: Json) -> Json:
    """The part of a value that the peer claims to show of a format."""
    return bare(project(value, observed_tree(row.format_id, peer.revisions[row.format_id].observes)))


def peer_reads(peer: Any, row: Format, data: bytes) -> Json:
    outcome = Caller(peer).answer(Request("1", "decode", row.name, row.revision, data))
    assert isinstance(outcome, Accepted), outcome
    return seen(peer, row, outcome.value)


def peer_writes(peer: Any, row: Format, value: Json) -> bytes:
    outcome = Caller(peer).answer(Request("1", "encode", row.name, row.revision, value=value))
    assert isinstance(outcome, Accepted), outcome
    assert outcome.data is not None
    return outcome.data


def reference_reads(row: Format, data: bytes) -> Json:
    return to_json(formats.decode(row, data).value)


@RECORD_SETS
def test_a_client_in_python_reads_what_the_reference_writes(peer: Any) -> None:
    @given(st.lists(PRODUCED.filter(textual), max_size=3))
    def holds(batches: list[RecordBatch]) -> None:
        log = Log(tuple(batches))
        assert peer_reads(peer, LOG, written(LOG, log)) == seen(peer, LOG, to_json(log))

    holds()


@RECORD_SETS
def test_the_reference_reads_what_a_client_in_python_writes(peer: Any) -> None:
    @given(PRODUCED.filter(textual).map(_begins_at_its_first))
    def holds(batch: RecordBatch) -> None:
        read = reference_reads(V2, peer_writes(peer, V2, to_json(batch)))
        assert free_of_codec(seen(peer, V2, read)) == free_of_codec(seen(peer, V2, to_json(batch)))

    holds()


def free_of_codec(tree: Any) -> Any:
    """A writer may leave a batch as it is that compression makes longer; kafka-python does."""
    return tree | {"attributes": int(tree["attributes"]) & ~CODEC_MASK}


def _begins_at_its_first(batch: RecordBatch) -> RecordBatch:
    """The builders count from the first record's time."""
    first = evolve(batch, records=(evolve(batch.records[0], timestamp_delta=0), *batch.records[1:]))
    latest = max(record.timestamp_delta for record in first.records)
    first = evolve(first, max_timestamp=first.base_timestamp + latest)
    again: RecordBatch = formats.decode(V2, written(V2, first)).value
    return again


def _in_seconds(batch: RecordBatch) -> RecordBatch:
    records = (evolve(row, timestamp_delta=row.timestamp_delta // 1000 * 1000) for row in batch.records)
    return _begins_at_its_first(evolve(batch, records=tuple(records)))


@pytest.mark.parametrize("way", ["reads", "writes"])
def test_kio_and_the_reference_agree_on_batches_without_a_codec(way: str) -> None:
    @given(
        values("kafka.batch", "v2", profile="produce", codecs="none")
        .filter(textual)
        .map(_in_seconds)
        .filter(whole_seconds)
    )
    def holds(batch: RecordBatch) -> None:
        tree = to_json(batch)
        if way == "reads":
            assert peer_reads(KIO, V2, written(V2, batch)) == seen(KIO, V2, tree)
        else:
            read = reference_reads(V2, peer_writes(KIO, V2, tree))
            assert seen(KIO, V2, read) == seen(KIO, V2, tree)

    holds()


@pytest.mark.parametrize("way", ["reads", "writes"])
def test_protobuf_and_the_reference_agree_on_messages_of_heka(way: str) -> None:
    @given(valued(HEKA) if way == "reads" else valued(HEKA).filter(all_text))
    def holds(message: Any) -> None:
        tree = to_json(message)
        if way == "reads":
            assert peer_reads(PROTOBUF, HEKA, written(HEKA, message)) == tree
        else:
            assert reference_reads(HEKA, peer_writes(PROTOBUF, HEKA, tree)) == tree

    holds()
