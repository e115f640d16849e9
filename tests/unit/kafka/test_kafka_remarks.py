"""Remarks on Kafka bytes: the other answers that they name, and how often. Golden cases have each remark."""

from kafka_bytes import V2, accepted, batch, record, remarks

from wireproof.wire.remark_classes import REMARK_CLASSES

TOP = (1 << 63) - 1
HEADER = "0000 00 026b 0276"


NEVER_REFUSED = {"snappy-version", "snappy-unframed"}
"""Remarks on what every reader has to take."""


def test_the_remarks_that_excuse_no_refusal_are_two() -> None:
    mine = {name: row for name, row in REMARK_CLASSES.items() if row.source.startswith("kafka.md")}
    assert {name for name, row in mine.items() if not row.rejectable} == NEVER_REFUSED


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
