"""How values of Kafka are written, and control values read: kafka.md §1.8 to §1.10, §2.2."""

import gzip

import pytest
from each import each
from hypothesis import settings
from kafka_bytes import LOG, PLAIN, V0, V1, V2, accepted, batch, message, wrapper
from property_profile import given

from wireproof import formats
from wireproof.kafka import control_record
from wireproof.kafka.family import strategies
from wireproof.wire.json_values import Json, to_json
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected

# --- writing ---


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(strategies.producer_batches())
def test_what_a_producer_writes_may_be_produced(value: object) -> None:
    data = formats.encode(V2, to_json(value))
    assert accepted(V2, data, profile="produce").value == value


def tree(row: formats.Format, data: bytes) -> dict[str, Json]:
    value = to_json(accepted(row, data).value)
    assert isinstance(value, dict)
    return value


BATCH = tree(V2, batch())
MESSAGE = tree(V1, message(1))
WRAPPER = tree(V1, wrapper(1, message(1, offset=11), offset=11))
OLD = tree(V0, message(0))
RECORD = {
    "attributes": "0",
    "timestampDelta": "0",
    "offsetDelta": "0",
    "key": None,
    "value": None,
    "headers": [],
}


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


NUMBERS = [
    *(
        (V2, BATCH, name, bits)
        for name, bits in (("baseOffset", 64), ("partitionLeaderEpoch", 32), ("magic", 8))
    ),
    *((V2, BATCH, name, bits) for name, bits in (("attributes", 16), ("lastOffsetDelta", 32))),
    *(
        (V2, BATCH, name, bits)
        for name, bits in (("baseTimestamp", 64), ("maxTimestamp", 64), ("producerId", 64))
    ),
    *((V2, BATCH, name, bits) for name, bits in (("producerEpoch", 16), ("baseSequence", 32))),
    *((V2, BATCH, f"records[0].{name}", bits) for name, bits in (("attributes", 8), ("timestampDelta", 64))),
    (V2, BATCH, "records[0].offsetDelta", 32),
    *((V0, OLD, name, bits) for name, bits in (("offset", 64), ("magic", 8), ("attributes", 8))),
    *((V1, MESSAGE, name, bits) for name, bits in (("offset", 64), ("magic", 8), ("attributes", 8))),
    (V1, MESSAGE, "timestamp", 64),
]
"""Each number of a batch and of a message that a value has, with its bits."""


@each("row, base, path, bits", NUMBERS)
def test_a_number_beside_its_range_is_refused_by_its_path(
    row: formats.Format, base: dict[str, Json], path: str, bits: int
) -> None:
    name = path.rpartition(".")[2]
    for number in (1 << bits - 1, -(1 << bits - 1) - 8, 1 << bits):  # each with codec 0 in its lowest bits
        other = {name: str(number)}
        value = base | ({"records": [RECORD | other]} if "." in path else other)
        with pytest.raises(Rejected) as caught:
            formats.encode(row, value)
        assert (caught.value.cls, caught.value.path) == ("invalid-value", path)


@each(
    "row, base, path, other",
    [
        (*number[:3], other)
        for number in NUMBERS
        for other in (None, True, 1, 1.5, "", "0x1", "1.0", "1e3", "one", ["1"])
    ],
    ids=lambda row: f"{row[0].format_id} {row[2]} {row[3]!r}",
)
def test_what_is_no_number_is_refused_by_its_path(
    row: formats.Format, base: dict[str, Json], path: str, other: Json
) -> None:
    name = path.rpartition(".")[2]
    value = base | ({"records": [RECORD | {name: other}]} if "." in path else {name: other})
    with pytest.raises(Rejected) as caught:
        formats.encode(row, value)
    assert (caught.value.cls, caught.value.path) == ("invalid-value", path)


def test_computed_fields_are_not_looked_at() -> None:
    plain = formats.encode(V2, BATCH)
    assert plain == batch()
    (row,) = tree(V2, batch())["records"]  # type: ignore[misc] # one record
    assert isinstance(row, dict)
    assert formats.encode(V2, BATCH | {"records": [row | {"offset": "77", "timestamp": "1"}]}) == plain


def test_gzip_records_are_the_plain_ones() -> None:
    value = tree(V2, batch()) | {"attributes": "1"}
    assert gzip.decompress(formats.encode(V2, value)[61:]) == PLAIN


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
