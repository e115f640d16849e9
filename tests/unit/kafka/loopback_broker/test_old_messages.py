"""Batches as messages for old versions of Fetch: kafka.md §1.16."""

from itertools import product

import pytest
from attrs import evolve
from each import each

pytest.importorskip("kafka", reason="pip install 'wireproof[broker]'")

from tests.live.mock_broker.variants import ConvertingPartition, of_batch, written
from wireproof import formats
from wireproof.kafka.append import TopicSettings
from wireproof.kafka.attribute_bits import CONTROL, LOG_APPEND_TIME
from wireproof.kafka.values import Log, Message, Record, RecordBatch
from wireproof.live.loopback_broker.append_rules import (
    AppendRefused,
    ErrorCode,
    Form,
    finished,
    settings_of,
    written_records,
)

GZIP, ZSTD = 1, 4
TIME = 1_700_000_000_000

RECORDS = (
    Record(0, 0, 0, b"k", b"a", ((b"h", b"1"),), 10, TIME),
    Record(0, 5, 1, None, None, (), 11, TIME + 5),
    Record(0, 2, 2, b"", b"", (), 12, TIME + 2),
)
BATCH = RecordBatch(10, 0, 2, 0, 2, TIME, TIME + 5, 7, 0, 0, RECORDS)

V1 = [
    Message(10, 1, 0, TIME, b"k", b"a", None),
    Message(11, 1, 0, TIME + 5, None, None, None),
    Message(12, 1, 0, TIME + 2, b"", b"", None),
]
V0 = [evolve(one, magic=0, timestamp=-1) for one in V1]


def test_each_record_is_a_message_of_the_format() -> None:
    assert of_batch(BATCH, 0, 1) == V1
    assert of_batch(BATCH, 0, 0) == V0


def test_an_offset_inside_a_batch_leaves_out_what_is_before_it() -> None:
    assert of_batch(BATCH, 11, 1) == V1[1:]


def test_append_time_is_a_bit_of_v1_alone() -> None:
    stamped = evolve(BATCH, attributes=LOG_APPEND_TIME)
    assert {one.attributes for one in of_batch(stamped, 0, 1)} == {LOG_APPEND_TIME}
    assert of_batch(stamped, 0, 0) == V0


@pytest.mark.parametrize(("magic", "inner"), [(0, V0), (1, V1)])
def test_a_compressed_batch_is_a_wrapper_from_every_offset(magic: int, inner: list[Message]) -> None:
    time = TIME + 5 if magic else -1
    wrapper = Message(12, magic, GZIP, time, None, None, tuple(inner))
    assert of_batch(evolve(BATCH, attributes=GZIP), 11, magic) == [wrapper]


@each("codec, magic", product([0, GZIP], [0, 1]))
def test_a_reader_reads_the_messages_that_are_written(magic: int, codec: int) -> None:
    messages = of_batch(evolve(BATCH, attributes=codec), 0, magic)
    assert formats.decode(formats.get("kafka.log", "mixed"), written(messages)).value == Log(tuple(messages))


def test_a_control_batch_is_left_out() -> None:
    assert of_batch(evolve(BATCH, attributes=CONTROL), 0, 1) == []


def test_zstd_is_refused() -> None:
    with pytest.raises(AppendRefused) as refused:
        of_batch(evolve(BATCH, attributes=ZSTD), 0, 1)
    assert refused.value.code == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE


def test_a_topic_may_forbid_it() -> None:
    data = finished(Form(BATCH, written_records(BATCH)))
    settings = settings_of({"message.downconversion.enable": "false"})
    assert ConvertingPartition(TopicSettings()).read_old(data, 0, 1) == written(V1)
    with pytest.raises(AppendRefused) as refused:
        ConvertingPartition(settings).read_old(data, 0, 1)
    assert refused.value.code == ErrorCode.UNSUPPORTED_VERSION
