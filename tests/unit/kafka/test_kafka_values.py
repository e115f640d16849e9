"""Values of Kafka: how they are written, control values, other answers of remarks, derived fields."""

from typing import Any

import cramjam
import pytest
from each import each
from goldens import load
from hypothesis import settings
from kafka_bytes import LOG, PLAIN, V0, V1, V2, accepted, batch, message, record, remarks, wrapper
from property_profile import given

from wireproof import formats
from wireproof.cases.case import Accept, Case, Data
from wireproof.cases.outcome import Refused
from wireproof.cases.reference_answers import decode_answer
from wireproof.kafka import control_record
from wireproof.kafka.values import add_to_records
from wireproof.strategies import values
from wireproof.wire.compression import snappy
from wireproof.wire.json_values import Json, to_json
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.remark_classes import REMARK_CLASSES

# --- writing, and control values: kafka.md §1.8 to §1.10, §2.2 ---


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(values("kafka.batch", "v2", profile="produce"))
def test_what_a_producer_writes_may_be_produced(value: object) -> None:
    data = formats.encode(V2, to_json(value))
    assert accepted(V2, data, profile="produce").value == value


def tree(row: formats.Format, data: bytes) -> dict[str, Json]:
    value = to_json(accepted(row, data).value)
    assert isinstance(value, dict)
    return value


BATCH = tree(V2, batch())
WRAPPER = tree(V1, wrapper(1, message(1, offset=11), offset=11))
OLD = tree(V0, message(0))


@each(
    "row, base, change",
    [
        (V2, BATCH, {"magic": "1"}),
        (V2, BATCH, {"records": None}),
        (V0, OLD, {"headers": []}),
        (V1, WRAPPER, {"messages": []}),
        (V1, WRAPPER, {"value": "00"}),
        (V1, WRAPPER, {"attributes": "9", "timestamp": "1"}),
    ],
)
def test_a_value_that_cannot_be_written_is_refused(
    row: formats.Format, base: dict[str, Json], change: dict[str, Json]
) -> None:
    assert formats.decode(row, formats.encode(row, base)).value
    with pytest.raises(Rejected) as caught:
        formats.encode(row, base | change)
    assert caught.value.cls == "invalid-value"


def test_computed_fields_are_not_looked_at() -> None:
    plain = formats.encode(V2, BATCH)
    assert plain == batch()
    (row,) = tree(V2, batch())["records"]  # type: ignore[misc] # one record
    assert isinstance(row, dict)
    assert formats.encode(V2, BATCH | {"records": [row | {"offset": "77", "timestamp": "1"}]}) == plain


def test_a_log_is_written_entry_by_entry() -> None:
    data = message(0) + message(1, offset=1) + batch(base=2)
    assert formats.encode(LOG, to_json(accepted(LOG, data).value)) == data


@each(
    "kind, value, is_read",
    [
        (4, "0000 8080808000", True),
        (4, "0000 8080808010", True),  # the bits above 32 are dropped
        (4, "0000 808080808000", False),
        (4, "0000 80808080808080808000", False),
        (4, "0000 8080808008", False),  # a negative count
        (4, "0000 02 05 01 61 03 01 62", True),
        (4, "0000 01 ffffffff0f 01 61", True),  # a tag has no sign
        (4, "0000 01 00 ffffffff0f 61", False),
        (2, "0000 00000007 00 01 00", False),  # its lists may not be null
        (2, "0000 00000007 01 00 00", False),
        (2, "0000 00000007 8180808010 01 00", True),
        (2, "0000 00000007 01 01 00 aabb", True),
    ],
)
def test_varints_and_tagged_fields_of_control_values_are_read_as_kafkas_classes_read_them(
    kind: int, value: str, *, is_read: bool
) -> None:
    # The answers are those of SnapshotFooterRecord and LeaderChangeMessage of kafka-clients 4.4.0.
    key, data = kind.to_bytes(4, "big"), bytes.fromhex(value)
    reader = Reader(key + data)
    found = control_record.parse(reader, key, 0, data, len(key))
    assert found is not None
    assert (found.version is not None) == is_read
    assert ("control-value" in {remark.cls for remark in reader.remarks}) == (not is_read)


# --- other answers of remarks, which golden cases do not compare ---


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


def test_dropped_bits_in_a_log_name_the_next_offset_that_goes_with_them() -> None:
    (remark,) = accepted(LOG, batch(record("0000 8080808010 026b 0276 00"))).remarks
    last = remark.others[-1]
    assert (last.name, last.path, last.value) == ("after-last-record", "nextOffset", str((1 << 31) + 1))


RAW, FRAMED = bytes(cramjam.snappy.compress_raw(PLAIN)), snappy.compress(PLAIN)


@each("data, found", [(batch(RAW, attributes=2), ["snappy-unframed"]), (batch(FRAMED, attributes=2), [])])
def test_only_a_producer_gets_a_remark_for_raw_snappy(data: bytes, found: list[str]) -> None:
    answer = decode_answer(V2, data, Options(profile="produce"))
    assert [remark.cls for remark in answer.remarks] == found
    assert remarks(V2, data) == []


def test_a_header_key_that_is_no_utf8_keeps_its_bytes_and_names_the_replacement() -> None:
    found = accepted(V2, batch(record(f"{HEADER}02 02ff 0278")))
    assert found.value.records[0].headers == ((b"\xff", b"x"),)
    assert found.remarks[0].others[0].value == "\ufffd".encode().hex()


def test_a_remark_is_listed_once_however_often_it_applies() -> None:
    assert remarks(V2, batch(record("ff00 00 026b 0276 00") * 500, 500)).count("record-attrs") == 1


# --- derived fields: adapter-contract.md#values ---


@each(
    "base, delta, sequence",
    [(-1, 3, -1), (0, 0, 0), (7, 2, 9), ((1 << 31) - 1, 0, (1 << 31) - 1), ((1 << 31) - 1, 1, 0)],
)
def test_a_sequence_goes_on_with_0_after_the_largest(base: int, delta: int, sequence: int) -> None:
    records: list[dict[str, Any]] = [{}]
    add_to_records(records, 0, base, [delta])
    assert records == [{"sequence": str(sequence), "timestampType": "create"}]


def value_of(case: Case) -> Any:
    assert isinstance(case.expect, Accept)
    assert isinstance(case.input, Data)
    return case.expect.value


def test_a_consumer_goes_on_after_an_aborted_transaction_of_which_it_delivers_nothing() -> None:
    value = value_of(load().by_id["kafka.log/mixed/delivered/aborted-gzip"])
    assert value == {"batches": [], "nextOffset": "2"}


@each("topic", [{"compression.type": "zip"}, {"max.message.bytes": "-1"}, {"cleanup.policy": "none"}])
def test_a_topic_that_cannot_be_is_refused_in_one_line(topic: dict[str, str]) -> None:
    options = Options(profile="produce", topic=topic)
    found = decode_answer(formats.get("kafka.log", "mixed"), batch(record(f"{HEADER} 00")), options).outcome
    assert isinstance(found, Refused)
    assert (found.cls, found.path) == ("invalid-value", "options.topic")
    ((name, text),) = topic.items()
    assert found.text == f"a topic cannot have {name}={text}"
