"""Bytes that Kafka's reader accepts although no conforming writer makes them: kafka.md §5, "IMPL class"."""

import gzip
import struct

import cramjam
import pytest
from each import each
from kafka_bytes import (
    LOG,
    NOW,
    PLAIN,
    SECOND,
    V0,
    V1,
    V2,
    accepted,
    batch,
    message,
    octets,
    raw_message,
    record,
    remarks,
    wrapper,
)

from wireproof import formats
from wireproof.cases.reference_answers import decode_answer
from wireproof.wire import snappy
from wireproof.wire.options import Options
from wireproof.wire.remark_classes import REMARK_CLASSES

TOP = (1 << 63) - 1
KRAFT = "000000 0800000005 0a 0000000100 00"
KRAFT_NEXT = "000002 0800000005 0a 0000000100 00"
HEADER = "0000 00 026b 0276"
PAIR = message(1) + message(1, b"l", offset=1)
MARKER = record("000000 0800000001 0c000000000005 00")
PRODUCER = {"producer": 1000, "epoch": 0}

TABLE = [
    ("unknown-attr-bits", V2, batch(attributes=0x80)),
    ("unknown-attr-bits", V0, message(0, attributes=8)),
    ("unknown-attr-bits", V1, message(1, attributes=-128)),
    ("record-attrs", V2, batch(record("ff00 00 026b 0276 00"))),
    ("varint-overlong", V2, batch(record("008000 00 026b 0276 00"))),
    ("varint-dropped-bits", V2, batch(record("0000 8080808010 026b 0276 00"))),
    ("length-below-minus1", V2, batch(record("0000 00 03 0276 00"))),
    ("length-below-minus1", V2, batch(record(f"{HEADER}02 0268 03"))),
    ("length-below-minus1", V0, raw_message(0, struct.pack(">i", -2) + octets(b"v"))),
    ("header-key-utf8", V2, batch(record(f"{HEADER}02 02ff 0278"))),
    ("offset-delta", V2, batch(record("0000 01 026b 0276 00"))),
    ("offset-delta", V2, batch(PLAIN * 2, 2)),
    ("offset-delta", V2, batch(record("0000 04 026b 0276 00"), last=1)),
    ("last-offset-delta", V2, batch(PLAIN + SECOND, 2, last=0, max_time=NOW + 1)),
    ("last-offset-delta", V2, batch(last=-1)),
    ("offset-negative", V2, batch(base=-1)),
    ("offset-negative", V0, message(0, offset=-1)),
    ("offset-overflow", V2, batch(PLAIN + SECOND, 2, base=TOP, max_time=NOW + 1)),
    ("max-timestamp", V2, batch(max_time=NOW - 1)),
    ("producer-fields", V2, batch(producer=1000)),
    ("producer-fields", V2, batch(producer=1000, epoch=0)),
    ("producer-fields", V2, batch(attributes=0x10)),
    ("producer-fields", V2, batch(producer=-2)),
    ("negative-timestamp", V2, batch(base_time=-5, max_time=-5)),
    ("negative-timestamp", V2, batch(attributes=8, max_time=-1)),
    ("negative-timestamp", V1, message(1, time=-2)),
    ("timestamp-overflow", V2, batch(record("0001 00 026b 0276 00"), base_time=-(1 << 63), max_time=TOP)),
    ("count-zero-with-bytes", V2, batch(count=0)),
    ("compressed-empty-batch", V2, batch(b"", 0, attributes=1)),
    ("compressed-empty-batch", V2, batch(b"zz", 0, attributes=4)),
    (
        "control-record-count",
        V2,
        batch(MARKER + record("000002 0800000001 0c000000000005 00"), 2, attributes=0x30, **PRODUCER),
    ),
    ("control-not-transactional", V2, batch(MARKER, attributes=0x20, **PRODUCER)),
    ("control-compressed", V2, batch(gzip.compress(MARKER), attributes=0x31, **PRODUCER)),
    ("control-value", V2, batch(record("000000 0800000005 0200 00"), attributes=0x20)),
    ("legacy-extra-bytes", V0, raw_message(0, octets(b"k") + octets(b"v") + b"zz")),
    ("wrapper-key", V1, message(1, b"k", gzip.compress(PAIR), attributes=1, offset=1)),
    ("wrapper-crc", V1, wrapper(1, PAIR, offset=1, crc=0)),
    ("inner-magic", V1, wrapper(1, message(0), offset=1)),
    ("inner-magic", V0, wrapper(0, message(1), offset=1)),
    ("inner-truncated", V1, wrapper(1, PAIR + bytes(11), offset=1)),
    ("inner-offsets", V1, wrapper(1, message(1) * 2, offset=1)),
    ("inner-offsets", V0, wrapper(0, message(0) * 2, offset=1)),
    ("inner-ts-type", V1, wrapper(1, message(1, attributes=8))),
    ("offsets-not-monotonic", LOG, batch(base=5) + batch()),
    ("size-overflow", LOG, batch()[:8] + struct.pack(">i", (1 << 31) - 1) + batch()[12:]),
]


@each("cls, row, data", [pytest.param(*line, id=f"{line[0]}-{n}") for n, line in enumerate(TABLE)])
def test_an_open_place_is_accepted_under_its_remark_alone(cls: str, row: formats.Format, data: bytes) -> None:
    assert remarks(row, data) == [cls]
    assert REMARK_CLASSES[cls].rejectable


@each(
    "data",
    [
        pytest.param(batch(sequence=0), id="a sequence of 0 without a producer: brokers, aiokafka"),
        pytest.param(batch(epoch=0, sequence=0), id="an epoch of 0 too: kafkajs"),
        pytest.param(batch(attributes=0x48), id="append time and delete horizon, of the log cleaner"),
        pytest.param(
            batch(bytes(cramjam.snappy.compress_raw(PLAIN)), attributes=2),
            id="raw snappy: librdkafka",
        ),
        pytest.param(
            batch(record(KRAFT) + record(KRAFT_NEXT), 2, attributes=0x20), id="KRaft's control batch"
        ),
    ],
)
def test_what_brokers_and_clients_write_has_no_remark(data: bytes) -> None:
    assert remarks(V2, data) == []


def test_every_remark_that_is_not_of_a_compressed_frame_has_a_row() -> None:
    frames = ("section 3", "section 2.3")
    mine = {name for name, row in REMARK_CLASSES.items() if row.source.startswith("kafka.md")}
    of_frames = {name for name in mine if any(section in REMARK_CLASSES[name].source for section in frames)}
    of_produce = {name for name in mine if name.startswith("produce-")}  # what only a broker's check remarks
    assert {line[0] for line in TABLE} == mine - of_frames - of_produce


@each(
    "fields, found",
    [
        ({"sequence": 0}, []),
        ({"epoch": 0}, []),
        ({"epoch": 0, "sequence": 0}, []),
        ({"attributes": 0x10}, ["producer-fields"]),
        ({"producer": 1000, "sequence": 0}, ["producer-fields"]),
        ({"producer": -2}, ["producer-fields"]),
    ],
)
def test_a_producer_without_an_id_may_write_any_epoch_and_sequence(
    fields: dict[str, int], found: list[str]
) -> None:
    """Clients that want idempotence must set them: the guide to the protocol says nothing of others."""
    options = Options(profile="produce")
    answer = decode_answer(formats.get("kafka.batch", "v2"), batch(**fields), options)
    assert [remark.cls for remark in answer.remarks] == found


RAW_PAIR = bytes(cramjam.snappy.compress_raw(PAIR))
FRAMED_PAIR = snappy.compress(PAIR)


@each(
    "row, data, found",
    [
        (V2, batch(bytes(cramjam.snappy.compress_raw(PLAIN)), attributes=2), ["snappy-unframed"]),
        (V2, batch(snappy.compress(PLAIN), attributes=2), []),
        (V1, message(1, None, RAW_PAIR, attributes=2, offset=1), ["snappy-unframed"]),
        (V1, message(1, b"key", RAW_PAIR, attributes=2, offset=1), ["wrapper-key", "snappy-unframed"]),
        (V1, message(1, b"key", FRAMED_PAIR, attributes=2, offset=1), ["wrapper-key"]),
    ],
)
def test_only_a_producer_gets_a_remark_for_raw_snappy(
    row: formats.Format, data: bytes, found: list[str]
) -> None:
    answer = decode_answer(row, data, Options(profile="produce"))
    assert [remark.cls for remark in answer.remarks] == found
    assert "snappy-unframed" not in remarks(row, data)


def test_a_timestamp_that_wraps_is_what_64_bits_hold() -> None:
    data = batch(record("0001 00 026b 0276 00"), base_time=-(1 << 63), max_time=TOP)
    assert accepted(V2, data).value.records[0].timestamp == TOP


def test_dropped_bits_name_the_value_that_keeps_them() -> None:
    found = accepted(V2, batch(record("0000 8080808010 026b 0276 00")))
    assert found.value.records[0].offset_delta == 0
    (remark,) = found.remarks
    assert [(other.name, other.path, other.value) for other in remark.others] == [
        ("kept-bits", "records[0].offsetDelta", str(1 << 31)),
        ("kept-bits", "records[0].offset", str(1 << 31)),
    ]


def test_a_header_key_that_is_no_utf8_keeps_its_bytes_and_names_the_replacement() -> None:
    found = accepted(V2, batch(record(f"{HEADER}02 02ff 0278")))
    assert found.value.records[0].headers == ((b"\xff", b"x"),)
    assert found.remarks[0].others[0].value == "\ufffd".encode().hex()


def test_a_remark_is_listed_once_however_often_it_applies() -> None:
    assert remarks(V2, batch(record("ff00 00 026b 0276 00") * 500, 500)).count("record-attrs") == 1


@pytest.mark.parametrize("data", [b"", batch(b"", 0, last=3, **PRODUCER, sequence=4, base_time=-1)])
def test_a_compacted_log_has_nothing_to_remark(data: bytes) -> None:
    later = batch(record("0000 02 026b 0276 00") + record("0000 06 026b 0276 00"), 2, last=5, base=10)
    assert remarks(LOG, data + data + later) == []
