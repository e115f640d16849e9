"""The kernels read the fields of an entry where its layout has them: every field, of every case."""

from collections.abc import Iterator
from itertools import product

import numpy as np
from each import each
from goldens import stored_cases

from wireproof.cases.case import Data
from wireproof.columnar.basic_kernels import numpy_dtype
from wireproof.kafka.columnar import entry_kernels as kernels
from wireproof.kafka.columnar.columns import arrow_fields
from wireproof.kafka.columnar.entry_kernels import BATCH_HEADER, HEADER, MAGIC_AT, OVERHEAD, THROUGH_MAGIC
from wireproof.kafka.layouts import BATCH, BY_MAGIC, HEADS, MESSAGE_V0, MESSAGE_V1
from wireproof.kafka.size_and_magic import peek_whole_entry
from wireproof.schema.layout import Layout, Length, Number, attribute_of
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected

OF_MESSAGES = {"offset": "base_offset", "timestamp": "max_timestamp"}
"""The fields of a message that another field of a batch has the column of."""


def entries() -> Iterator[bytes]:
    """Yield each whole entry of the cases of Kafka, valid or not, from its first byte on."""
    for case in stored_cases("kafka."):
        reader = Reader(case.input.data if isinstance(case.input, Data) else b"")
        try:
            while (prefix := peek_whole_entry(reader)) is not None:
                yield reader.take("entry", prefix.total)
        except Rejected:
            continue


def by_layout(data: bytes) -> dict[str, int]:
    head = HEADS[data[16]]
    numbers = zip(head.parts, head.peek(data), strict=True)
    return {
        OF_MESSAGES.get(part.name, attribute_of(part.name)): number
        for part, number in numbers
        if not isinstance(part, Length) and not (isinstance(part, Number) and part.const is not None)
    }


def by_kernels(data: bytes) -> dict[str, int]:
    rows = np.zeros(1, HEADER)
    magic = np.array([data[16]], np.uint8)
    kernels.read_entry_headers(np.frombuffer(data, np.uint8), np.zeros(1, np.uint64), magic, rows)
    return dict(zip(HEADER.names or (), rows[0].tolist(), strict=True))


def test_every_field_of_every_case_is_read_as_the_layout_has_it() -> None:
    seen = [0, 0, 0]
    for data in entries():
        found, declared = by_kernels(data), by_layout(data)
        assert {name: found[name] for name in declared} == declared, data.hex()
        seen[data[16]] += 1
    assert min(seen) > 50, seen


@each("layout, step", product(BY_MAGIC, [1, 7, 129]))
def test_fields_of_different_bytes_are_read_as_the_layout_has_them(layout: Layout, step: int) -> None:
    """A field at another position, or of another width, has another number."""
    data = bytearray(at * step % 251 + 2 & 0xFF for at in range(layout.least_size))
    data[layout.offset("magic")] = BY_MAGIC.index(layout)
    found, declared = by_kernels(bytes(data)), by_layout(bytes(data))
    assert {name: found[name] for name in declared} == declared
    assert len(declared) == {0: 3, 1: 4, 2: 11}[BY_MAGIC.index(layout)]


def test_the_columns_are_all_fields_of_a_batch_but_length_and_magic() -> None:
    assert set(HEADER.names or ()) | {"batch_length", "magic"} == set(map(attribute_of, HEADS[2].names))
    assert HEADER.itemsize + 4 + 1 == BATCH.fixed_size


def test_positions_are_those_of_the_layouts() -> None:
    size_at, magic_at = BATCH.offset("batchLength"), BATCH.offset("magic")
    assert (int(OVERHEAD), int(MAGIC_AT), int(THROUGH_MAGIC)) == (size_at + 4, magic_at, magic_at + 1)
    assert int(BATCH_HEADER) == BATCH.fixed_size
    assert {layout.offset("magic") for layout in BY_MAGIC} == {magic_at}
    keys = [MESSAGE_V0.offset("keyLength"), MESSAGE_V1.offset("keyLength")]
    assert keys == [18, 26], "the positions in `entry_kernels.read_message` and `checked_entries`"


def test_types_of_columns_are_those_of_the_fields() -> None:
    run = HEADS[2]
    dtype, fields = numpy_dtype(run.parts), arrow_fields(run.parts)
    for part in run.parts:
        name = attribute_of(part.name)
        assert dtype[name].itemsize == fields[name].type.bit_width // 8
        assert str(dtype[name]) == str(fields[name].type) == part.kind
    assert str(arrow_fields(run.parts, 32)["attributes"].type) == "int32"
