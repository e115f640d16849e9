"""One refusal, at least, for every INVALID class of kafka.md §5; each has an accepted neighbour."""

import gzip
import struct

import pytest
from each import each
from kafka_bytes import (
    LOG,
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
    refused,
    wrapper,
)

from wireproof import formats
from wireproof.wire.reject_classes import REJECT_CLASSES

GOOD = batch()
INNER = message(1) + message(1, b"l", offset=1)
HEADER = "0000 00 026b 0276"  # attributes, deltas, key k, value v; then the header count
CONTROL = {"attributes": 0x30, "producer": 1000, "epoch": 0}


def control(key: str, value: str) -> bytes:
    """A marker: kafka.md §1.9; a dash is null."""
    parts = ("01" if part == "-" else bytes([len(part)]).hex() + part for part in (key, value))
    return batch(record(f"000000{''.join(parts)}00"), **CONTROL)


TABLE = [
    # --- framing: §1.4 ---
    ("SIZE_TOO_SMALL", "bad-length", 8, V2, GOOD[:8] + struct.pack(">i", 13) + GOOD[12:]),
    ("SIZE_TOO_SMALL", "bad-length", 8, V2, GOOD[:8] + struct.pack(">i", -1) + GOOD[12:]),
    ("SIZE_TOO_SMALL", "bad-length", 8, V2, bytes(12)),
    ("BATCH_TOO_SMALL", "bad-length", 8, V2, (GOOD[:8] + struct.pack(">i", 48) + GOOD[12:])[:60]),
    (
        "LEGACY_TOO_SMALL",
        "bad-length",
        8,
        V1,
        raw_message(1, b"")[:8] + struct.pack(">i", 21) + bytes(4) + b"\1" * 17,
    ),
    ("BAD_MAGIC", "bad-magic", 16, V2, batch(magic=3)),
    ("BAD_MAGIC", "bad-magic", 16, V2, batch(magic=-1)),
    ("BAD_MAGIC", "bad-magic", 16, V2, message(1)),
    ("BAD_MAGIC", "bad-magic", 16, LOG, GOOD[:16] + b"\3"),
    # --- header: §1.5 ---
    ("CRC_MISMATCH", "crc-mismatch", 17, V2, GOOD[:-2] + b"w\0"),
    ("CRC_MISMATCH", "crc-mismatch", 12, V0, message(0, crc=0)),
    ("UNKNOWN_CODEC", "unknown-codec", 21, V2, batch(attributes=5)),
    ("UNKNOWN_CODEC", "unknown-codec", 17, V1, message(1, attributes=7)),
    ("LEGACY_ZSTD", "unknown-codec", 17, V0, message(0, attributes=4)),
    ("COUNT_NEGATIVE", "negative-length", 57, V2, batch(count=-1)),
    ("COUNT_NEGATIVE", "negative-length", 57, V2, batch(gzip.compress(PLAIN), -1, attributes=1)),
    # --- records: §1.5 ---
    ("DECOMPRESS_FAILED", "decompress-failed", "61", V2, batch(attributes=1)),
    ("TRAILING_BYTES", "trailing-data", 70, V2, batch(PLAIN + b"\0")),
    ("TRAILING_BYTES", "trailing-data", "61>9", V2, batch(gzip.compress(PLAIN + SECOND), attributes=1)),
    ("PREMATURE_EOF", "count-mismatch", 70, V2, batch(count=2)),
    ("PREMATURE_EOF", "count-mismatch", 61, V2, batch(b"")),
    ("RECORD_LENGTH_NEGATIVE", "negative-length", 61, V2, batch(b"\x01" + PLAIN[1:])),
    ("RECORD_LENGTH_NEGATIVE", "negative-length", "61>0", V2, batch(gzip.compress(b"\x01"), attributes=1)),
    ("RECORD_TOO_SHORT", "bad-length", 61, V2, batch(b"\0")),
    ("RECORD_PAST_END", "length-past-end", 61, V2, batch(b"\x12" + PLAIN[1:])),
    (
        "RECORD_PAST_END",
        "length-past-end",
        "61>0",
        V2,
        batch(gzip.compress(b"\x12" + PLAIN[1:]), attributes=1),
    ),
    ("RECORD_LENGTH_MISMATCH", "length-mismatch", 61, V2, batch(record(f"{HEADER}00", 7))),
    ("RECORD_LENGTH_MISMATCH", "length-mismatch", 61, V2, batch(record(f"{HEADER}0000"))),
    ("FIELD_PAST_END", "length-past-end", 66, V2, batch(record("000000 206b 027600"))),
    (
        "FIELD_PAST_END",
        "length-past-end",
        "61>8",
        V2,
        batch(gzip.compress(record(f"{HEADER}00", 7) + b"\0"), attributes=1),
    ),
    ("VARINT_TOO_LONG", "bad-varint", 61, V2, batch(b"\x80" * 5 + b"\0")),
    ("VARINT_TOO_LONG", "bad-varint", 64, V2, batch(record("0000 808080808000 01 01 00"))),
    ("VARINT_TOO_LONG", "bad-varint", 63, V2, batch(record("00 8080808080808080808000 00 01 01 00"))),
    ("HEADER_COUNT_NEGATIVE", "negative-length", 69, V2, batch(record(f"{HEADER}01"))),
    ("HEADER_COUNT_EXCESSIVE", "count-mismatch", 69, V2, batch(record(f"{HEADER}02"))),
    ("HEADER_COUNT_EXCESSIVE", "count-mismatch", 69, V2, batch(record(f"{HEADER}feffffff0f"))),
    ("HEADER_KEY_NULL", "null-not-allowed", 70, V2, batch(record(f"{HEADER}02 01 0278"))),
    ("FIELD_PAST_END", "length-past-end", None, V2, batch(record(f"{HEADER}04 0268 0231"))),
    # --- legacy: §2 ---
    (
        "FIELD_PAST_END",
        "length-past-end",
        None,
        V0,
        raw_message(0, octets(b"k") + struct.pack(">i", 2) + b"v"),
    ),
    ("WRAPPER_NULL_VALUE", "null-not-allowed", 30, V1, message(1, None, None, attributes=1)),
    ("WRAPPER_EMPTY", "decompress-failed", 30, V1, message(1, None, b"", attributes=1)),
    ("WRAPPER_EMPTY", "count-mismatch", "34>0", V1, wrapper(1, b"")),
    ("NESTED_COMPRESSION", "bad-nesting", "34>17", V1, wrapper(1, wrapper(1, INNER))),
    ("NESTED_COMPRESSION", "bad-nesting", "34>16", V1, wrapper(1, GOOD)),
    ("WRAPPER_OFFSET", "bad-offset", None, V1, wrapper(1, message(1, offset=3), offset=1)),
    ("WRAPPER_OFFSET", "bad-offset", None, V1, wrapper(1, INNER, offset=-1)),
    ("SIZE_TOO_SMALL", "bad-length", f"34>{len(INNER) + 8}", V1, wrapper(1, INNER + bytes(12), offset=1)),
    # --- control records: §1.9 ---
    ("CONTROL_KEY_NULL", "bad-control", None, V2, control("-", "000000000005")),
    ("CONTROL_KEY_SHORT", "bad-control", None, V2, control("0000", "000000000005")),
    ("CONTROL_VERSION_NEGATIVE", "bad-control", None, V2, control("ffff0001", "000000000005")),
    ("CONTROL_VALUE_SHORT", "bad-control", None, V2, control("00000001", "0000000000")),
    ("CONTROL_VALUE_SHORT", "bad-control", None, V2, control("00000000", "-")),
    ("CONTROL_VALUE_VERSION", "bad-control", None, V2, control("00000001", "ffff00000005")),
]

INVALID = {
    "SIZE_TOO_SMALL", "BATCH_TOO_SMALL", "LEGACY_TOO_SMALL", "BAD_MAGIC", "CRC_MISMATCH", "UNKNOWN_CODEC",
    "LEGACY_ZSTD", "DECOMPRESS_FAILED", "COUNT_NEGATIVE", "TRAILING_BYTES", "PREMATURE_EOF",
    "RECORD_LENGTH_NEGATIVE", "RECORD_TOO_SHORT", "RECORD_PAST_END", "RECORD_LENGTH_MISMATCH",
    "FIELD_PAST_END",
    "VARINT_TOO_LONG", "HEADER_COUNT_NEGATIVE", "HEADER_COUNT_EXCESSIVE", "HEADER_KEY_NULL",
    "WRAPPER_NULL_VALUE", "WRAPPER_EMPTY", "NESTED_COMPRESSION", "WRAPPER_OFFSET", "CONTROL_KEY_NULL",
    "CONTROL_KEY_SHORT", "CONTROL_VERSION_NEGATIVE", "CONTROL_VALUE_SHORT", "CONTROL_VALUE_VERSION",
}  # fmt: skip
"""kafka.md §5, table "INVALID class", but for RESOURCE_LIMIT, which has a test of its own."""


@each(
    "detail, cls, at, row, data",
    [pytest.param(*line, id=f"{line[0]}-{number}") for number, line in enumerate(TABLE)],
)
def test_an_invalid_class_is_refused_by_its_name(
    detail: str, cls: str, at: int | str | None, row: formats.Format, data: bytes
) -> None:
    found = refused(row, data)
    assert (found.detail, found.cls) == (detail, cls)
    assert found.cls in REJECT_CLASSES
    if at == "61":  # the codec's own business where in the region
        assert found.at >= 61
    elif at is not None:
        assert found.at == at


def test_every_invalid_class_of_the_rule_book_has_a_row() -> None:
    assert {line[0] for line in TABLE} == INVALID


def test_what_the_rows_were_made_from_is_accepted() -> None:
    neighbours = [
        (V2, GOOD),
        (V2, batch(gzip.compress(PLAIN), attributes=1)),
        (V2, batch(record(f"{HEADER}02 0268 0278"))),
        (V2, control("00000001", "000000000005")),
        (V2, control("00000000", "000000000005")),
        (V1, wrapper(1, INNER, offset=1)),
        (V1, message(1)),
        (V0, message(0)),
    ]
    for row, data in neighbours:
        found = accepted(row, data)
        assert found.consumed == len(data)
        assert found.remarks == ()


def test_a_size_above_the_limit_is_refused_before_it_is_read() -> None:
    found = refused(V2, GOOD, max_message=57)
    assert (found.cls, found.detail, found.at) == ("limit-exceeded", "RESOURCE_LIMIT", 8)
    assert accepted(V2, GOOD, max_message=58).consumed == 70


def test_a_region_above_the_output_limit_is_refused() -> None:
    big = batch(gzip.compress(record(f"{HEADER}00") * 100), 100, attributes=1)
    assert refused(V2, big, max_output=899).cls == "limit-exceeded"
    assert len(accepted(V2, big, max_output=900).value.records) == 100


@each("cut", [0, 11, 12, 16, 17, 60, 69])
def test_a_batch_of_which_bytes_are_missing_is_truncated(cut: int) -> None:
    assert refused(V2, GOOD[:cut]).cls == "truncated"
    assert accepted(LOG, GOOD + GOOD[:cut]).consumed == 70


def test_the_first_wrong_thing_in_the_order_of_precedence_is_named() -> None:
    everything = {"attributes": 5, "count": -1}
    assert refused(V2, batch(b"\0", crc=0, magic=3, **everything)).detail == "BAD_MAGIC"
    assert refused(V2, batch(b"\0", crc=0, **everything)).detail == "CRC_MISMATCH"
    assert refused(V2, batch(b"\0", **everything)).detail == "UNKNOWN_CODEC"
    assert refused(V2, batch(b"\0", count=-1)).detail == "COUNT_NEGATIVE"


def test_the_records_before_the_bad_one_are_delivered() -> None:
    early = refused(V2, batch(PLAIN + SECOND, 3)).before  # N04 yields 2
    assert [record.value for record in early.records] == [b"v", b"2"]
    late = refused(V2, batch(PLAIN + SECOND + b"\0", 2)).before  # N11 yields 1
    assert [record.value for record in late.records] == [b"v"]
    assert refused(V2, batch(b"\0")).before is None


def test_a_defect_behind_the_last_record_of_a_stream_keeps_that_record_back() -> None:
    stream = bytearray(gzip.compress(PLAIN + SECOND, mtime=0))
    stream[-8] ^= 1  # the CRC of the member: Z60
    found = refused(V2, batch(bytes(stream), 2, attributes=1))
    assert found.cls == "decompress-failed"
    assert [record.value for record in found.before.records] == [b"v"]


def test_messages_before_a_bad_inner_crc_are_delivered() -> None:
    inner = message(1) + message(1, b"l", offset=1, crc=0)
    found = refused(V1, wrapper(1, inner, offset=11))
    assert (found.cls, found.at) == ("crc-mismatch", f"34>{len(message(1)) + 12}")
    assert [(one.offset, one.key) for one in found.before.messages] == [(10, b"k")]


@pytest.mark.parametrize("attributes", [1, 5])
def test_messages_before_a_compressed_one_are_delivered(attributes: int) -> None:
    """Kafka looks at the codec of a message when it hands it over: AbstractLegacyRecordBatch, line 408."""
    inner = message(1) + message(1, b"l", offset=1, attributes=attributes) + message(1, b"m", offset=2)
    found = refused(V1, wrapper(1, inner, offset=12))
    assert (found.cls, found.at) == ("bad-nesting", f"34>{len(message(1)) + 17}")
    assert [(one.offset, one.key) for one in found.before.messages] == [(10, b"k")]


def test_a_wrong_inner_crc_before_a_compressed_message_is_the_fault() -> None:
    inner = message(1, crc=0) + message(1, b"l", offset=1, attributes=1)
    assert refused(V1, wrapper(1, inner, offset=11)).cls == "crc-mismatch"


def test_a_log_delivers_the_entries_before_and_the_batch_as_far_as_it_goes() -> None:
    found = refused(LOG, GOOD + batch(PLAIN + SECOND, 3, base=1))
    assert found.path == "batches[1].records[2].length"
    assert [len(entry.records) for entry in found.before.batches] == [1, 2]
    assert refused(LOG, batch(crc=0) + GOOD).before.batches == ()
