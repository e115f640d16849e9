"""Values of Kafka: control values, other answers of remarks, topics that cannot be."""

import cramjam
import pytest
from each import each
from kafka_bytes import LOG, PLAIN, V0, V1, V2, accepted, batch, message, record, remarks, wrapper

from wireproof import formats
from wireproof.cases.outcome import Refused
from wireproof.cases.reference_answers import decode_answer
from wireproof.kafka import control_record
from wireproof.wire.compression import snappy
from wireproof.wire.json_values import Json, to_json
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected

# --- writing, and control values: kafka.md §1.8 to §1.10, §2.2 ---


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


HEADER = "0000 00 026b 0276"


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


# --- derived fields: adapter-contract.md#values ---


@each("topic", [{"compression.type": "zip"}, {"max.message.bytes": "-1"}, {"cleanup.policy": "none"}])
def test_a_topic_that_cannot_be_is_refused_in_one_line(topic: dict[str, str]) -> None:
    options = Options(profile="produce", topic=topic)
    found = decode_answer(formats.get("kafka.log", "mixed"), batch(record(f"{HEADER} 00")), options).outcome
    assert isinstance(found, Refused)
    assert (found.cls, found.path) == ("invalid-value", "options.topic")
    ((name, text),) = topic.items()
    assert found.text == f"a topic cannot have {name}={text}"
