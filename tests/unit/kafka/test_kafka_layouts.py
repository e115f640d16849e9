"""The layouts of Kafka are the tables of kafka.md, and what is derived from them are its figures."""

import re
from typing import Final

import pytest
from folders import SUPPORT, TOP

from wireproof.kafka import size_and_magic
from wireproof.kafka.files import index_file
from wireproof.kafka.layouts import (
    ABORTED_TRANSACTION,
    BATCH,
    BATCH_FLAGS,
    BY_MAGIC,
    LOG,
    MESSAGE_V0,
    MESSAGE_V1,
    OFFSET_ENTRY,
    RECORD,
    TIME_ENTRY,
    UNUSED_BITS,
    UNUSED_BITS_OF_MESSAGES,
)
from wireproof.schema.layout import Layout, OneOf, Repeated, all_layouts, bits_of, named_bits, width_of

TEXT: Final = (TOP / "reference/docs/kafka.md").read_text(encoding="utf-8")
CLOSED: Final = SUPPORT / "segments" / "closed"
BASE: Final = 1000


def rows(heading: str) -> list[list[str]]:
    """The rows of the first table under a heading of the document."""
    _, _, section = TEXT.partition(f"\n### {heading}")
    table = re.search(r"(?:^\|.*\n)+", section, re.MULTILINE)
    assert table is not None
    return [[cell.strip() for cell in line.strip("|\n").split("|")] for line in table[0].splitlines()[2:]]


@pytest.mark.parametrize(("magic", "layout"), [(0, MESSAGE_V0), (1, MESSAGE_V1)])
def test_a_message_is_the_table_of_the_document(magic: int, layout: Layout) -> None:
    stated = [(at, size, name) for at, size, name, *_ in rows("2.1") if magic or name != "timestamp"]
    parts = list({part.name: part for part in layout.parts}.values())
    assert [part.name for part in parts] == [name for _, _, name in stated]
    for part, (at, size, name) in zip(parts, stated, strict=True):
        assert str(width_of(part) or "") == size
        if found := re.search(rf"v{magic}: (\d+)|^(\d+)$", at):
            assert layout.offset(name) == int(found[1] or found[2])


def test_the_bits_without_a_name_are_those_of_no_flag() -> None:
    assert named_bits(BATCH_FLAGS) == 0x7F == ~UNUSED_BITS
    assert UNUSED_BITS_OF_MESSAGES == (~0x07, ~0x0F)


def test_the_smallest_sizes_are_those_of_the_document() -> None:
    assert [layout.least_size for layout in (*BY_MAGIC, RECORD)] == [26, 34, 61, 7]
    assert len(BATCH.numbers) == 10, "all but length, checksum and count"
    assert size_and_magic.MIN_SIZE_BY_MAGIC == (14, 22, 49)
    assert (size_and_magic.LOG_OVERHEAD, size_and_magic.HEADER_SIZE_UP_TO_MAGIC) == (12, 17)
    assert size_and_magic.SIZE_FIELD == ("size", "size", "batchLength")
    assert [(at, algorithm.label) for at, algorithm in size_and_magic.CHECKSUM] == [
        (12, "crc32"),
        (12, "crc32"),
        (17, "crc32c"),
    ]


def test_the_magic_selects_the_layout_of_an_entry_and_of_an_inner_message() -> None:
    (entries,) = LOG.parts
    assert isinstance(entries, Repeated)
    (entry,) = entries.of.parts
    assert isinstance(entry, OneOf)
    assert (entry.number, entry.number_at, dict(entry.layouts)) == ("magic", 16, dict(enumerate(BY_MAGIC)))
    inner = [layout for layout in all_layouts(MESSAGE_V1) if layout.name == "InnerMessage"]
    assert [part.number_at for layout in inner for part in layout.parts if isinstance(part, OneOf)] == [16]


@pytest.mark.parametrize(
    ("layout", "kind"),
    [(OFFSET_ENTRY, ".index"), (TIME_ENTRY, ".timeindex"), (ABORTED_TRANSACTION, ".txnindex")],
)
def test_the_entries_of_an_index_file_are_its_fields_one_after_another(layout: Layout, kind: str) -> None:
    """Read field by field, at the positions of the layout, from the files that Kafka wrote."""
    data = next(CLOSED.glob(f"*{kind}")).read_bytes()
    assert layout.least_size == layout.fixed_size == {".index": 8, ".timeindex": 12, ".txnindex": 34}[kind]
    places = [(layout.offset(part.name), bits_of(part.kind) // 8) for part in layout.numbers]
    declared = [
        [int.from_bytes(data[at + place : at + place + size], signed=True) for place, size in places]
        for at in range(0, len(data), layout.fixed_size)
    ]
    assert declared
    match kind:
        case ".index":
            found = [[one.relative, one.position] for one in index_file.OFFSET_INDEX.read(data, BASE).entries]
        case ".timeindex":
            found = [[one.timestamp, one.relative] for one in index_file.TIME_INDEX.read(data, BASE).entries]
        case _:
            entries_ = index_file.TRANSACTION_INDEX.read(data, BASE).entries
            found = [[one.version, one.producer, one.first, one.last, one.stable] for one in entries_]
    assert found == declared
