"""The lines of a client program."""

import json

import pytest
from each import each

from wireproof.kafka.family.client_program.program import Delivered, Failed, StoredRecord, parse_line
from wireproof.kafka.family.client_program.regroup_records import SeenRecord

ROW = {
    "offset": "5",
    "timestamp": "1700000000000",
    "timestampType": "LogAppendTime",
    "key": None,
    "value": "00ff",
    "headers": [["name", "01"], ["name", None]],
}


def line(row: object) -> bytes:
    return json.dumps(row).encode() + b"\n"


def test_a_record_has_all_fields() -> None:
    headers = ((b"name", b"\x01"), (b"name", None))
    record = SeenRecord(5, 1_700_000_000_000, None, b"\x00\xff", headers, "log-append")
    assert parse_line(line(ROW)) == Delivered(record, frozenset(ROW))


def test_a_field_that_is_left_out_is_not_shown() -> None:
    found = parse_line(line({"offset": "5", "value": "76"}))
    assert found == Delivered(SeenRecord(5, -1, None, b"v"), frozenset({"offset", "value"}))


def test_a_time_beyond_64_bits_is_the_librarys_fault_and_not_the_programs() -> None:
    found = parse_line(line(ROW | {"timestamp": "585684126040278263808"}))
    assert isinstance(found, Delivered)
    assert found.record.timestamp == 585_684_126_040_278_263_808


def test_no_timestamp_type_is_that_of_v0() -> None:
    found = parse_line(line(ROW | {"timestampType": None}))
    assert isinstance(found, Delivered)
    assert found.record.timestamp_type == "none"


def test_an_error_and_an_answer_to_a_producer() -> None:
    assert parse_line(line({"error": "bad CRC"})) == Failed("bad CRC")
    assert parse_line(line({"offset": "7"})) == StoredRecord(7)


@each(
    "text",
    [
        b"",
        b"INFO started\n",
        b"[1]\n",
        line(ROW | {"offset": 5}),
        line(ROW | {"offset": "five"}),
        line(ROW | {"offset": None}),
        line(ROW | {"timestampType": "create"}),
        line(ROW | {"value": "0"}),
        line(ROW | {"value": 5}),
        line(ROW | {"headers": {"a": "00"}}),
        line(ROW | {"headers": [["a"]]}),
        line(ROW | {"partition": "0"}),
        b"[" * 100_000,
    ],
)
def test_anything_else_breaks_the_contract(text: bytes) -> None:
    with pytest.raises((ValueError, RecursionError)):
        parse_line(text)
