"""The 33 worked examples of kafka.md §6: what Kafka's own reader delivered, and the same bytes again."""

import pytest
from each import each
from kafka_bytes import LOG
from kafka_examples import WORKED, Worked

from wireproof import formats
from wireproof.kafka.values import Message, Record
from wireproof.wire.json_values import to_json

CODEC = 7
EXAMPLES = [pytest.param(row, id=f"{row.example}-{row.vector}") for row in WORKED]

REMARKED = {"Z01": ["max-timestamp"]}
"""The header of Z01 gives a maximum that is 1 ms below its second record."""


def text(data: bytes | None) -> str:
    return "null" if data is None else f"x{data.hex()}"


def shown(row: Record | Message) -> str:
    """A record in the notation of the format document."""
    if isinstance(row, Record) and row.control is not None:
        return f"CTL@{row.offset}"
    pairs = row.headers if isinstance(row, Record) else ()
    headers = "".join(f"{key.decode()}={text(value)}," for key, value in pairs)
    return f"{row.offset}/{row.timestamp}/{text(row.key)}/{text(row.value)}/{headers}"


def delivered(log: formats.Decoded) -> tuple[str, ...]:
    rows: list[str] = []
    for entry in log.value.batches:
        inner = (entry.messages or (entry,)) if isinstance(entry, Message) else entry.records
        rows += [shown(row) for row in inner]
    return tuple(rows)


@each("row", EXAMPLES)
def test_a_worked_example_reads_as_kafka_read_it(row: Worked) -> None:
    data = row.data
    assert len(data) == row.size
    log = formats.decode(LOG, data)
    assert delivered(log) == row.reads
    assert log.consumed == row.size
    assert [remark.cls for remark in log.remarks] == REMARKED.get(row.vector, [])


@each("row", EXAMPLES)
def test_a_worked_example_is_written_as_it_was_read(row: Worked) -> None:
    data = row.data
    log = formats.decode(LOG, data)
    again = formats.encode(LOG, to_json(log.value))
    assert formats.decode(LOG, again).value == log.value
    if not any(entry.attributes & CODEC for entry in log.value.batches):
        assert again == data


def test_all_33_examples_are_here() -> None:
    assert [row.example for row in WORKED] == [f"E{number:02d}" for number in range(1, 34)]
