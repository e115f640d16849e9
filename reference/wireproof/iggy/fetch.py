"""The reply to FetchMessages (code 109): iggy.md, section 6.2.

It has a table with an entry for each section, then the batches of all sections in the order of the table. A
section whose status is not 0 has no batches: its partition could not be read.
"""

from typing import Any, Final

from attrs import frozen

from wireproof.iggy.batch import POLL_RULES_111, BatchHeader111, BatchMessage, batch_layout
from wireproof.iggy.fixed_fields import iggy_runs
from wireproof.iggy.poll import check_count, read_batches, write_batches
from wireproof.iggy.requests import LARGEST_PARTITIONS
from wireproof.iggy.revision import Revision
from wireproof.wire.layout import Count, Layout, Length, Number, Repeated
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer


@frozen(kw_only=True)
class FetchSection:
    """A section: what was read of a partition. `status` 0 means success, other numbers are error codes.

    `next_offset` is where the next request for this partition starts.
    """

    partition_id: int
    status: int
    current_offset: int
    incarnation: int
    owner_generation: int
    metadata_op: int
    next_offset: int
    batches: tuple[BatchHeader111, ...]
    messages: tuple[BatchMessage, ...]


@frozen(kw_only=True)
class FetchReply:
    """The value of a reply."""

    sections: tuple[FetchSection, ...]


ENTRY: Final = Layout(
    "SectionEntry",
    (
        Number("partition_id", "uint32le"),
        Number("status", "uint32le", meaning="0 is success, other numbers are error codes"),
        Number("current_offset", "uint64le"),
        Count("messages_count", "uint32le", of="messages"),
        Number("incarnation", "uint64le"),
        Number("owner_generation", "uint64le"),
        Number("metadata_op", "uint64le"),
        Number("next_offset", "uint64le", meaning="where the next request starts"),
        Length("records_len", "uint32le", of="batches"),
    ),
    value=FetchSection,
    cites="iggy.md §6.2",
)
"""An entry of the table."""

_BATCHES: Final = Repeated("batches", of=batch_layout(BatchHeader111, producers=True, joined=True))

LAYOUT: Final = Layout(
    "FetchedMessages",
    (
        Count("sections_count", "uint32le", of="sections"),
        Repeated("sections", of=ENTRY, meaning="the table"),
        Repeated("sections", of=Layout("Section", (_BATCHES,)), meaning="the batches of each section"),
    ),
    value=FetchReply,
    cites="iggy.md §6.2",
)

(_ENTRY,) = iggy_runs(ENTRY)

COUNTED: Final = ("messages_count", "records_len")
"""The fields that the writer computes."""


REVISIONS: Final = {"0.11.1-edge": Revision(LAYOUT)}
"""Revision to its row."""


@frozen
class _Entry:
    """An entry of the table, and its position."""

    at: int
    fields: dict[str, int]


def decode(revision: Revision, reader: Reader, _: Options) -> FetchReply:
    """Read the table, and the batches to the end of the body."""
    sections = [_read_section(reader, index, entry) for index, entry in enumerate(_read_table(reader))]
    if reader.left:
        raise reader.reject("trailing-data", "sections", f"{reader.left} bytes after the last section")
    value: FetchReply = revision.value(sections=tuple(sections))
    return value


def _read_table(reader: Reader) -> list[_Entry]:
    at, count = reader.pos, reader.uint32le("sections_count")
    if count > LARGEST_PARTITIONS:
        text = f"{count} sections, {LARGEST_PARTITIONS} allowed"
        raise reader.reject("limit-exceeded", "sections_count", text, at=at)
    reader.cover("sections_count", "count", reader.pos, reader.pos + count * ENTRY.fixed_size)
    entries: list[_Entry] = []
    while len(entries) < count:
        reader.enter("sections", len(entries))
        entries.append(_read_entry(reader))
        reader.leave()
    return entries


def _read_entry(reader: Reader) -> _Entry:
    at = reader.pos
    fields = _ENTRY.read_fields(reader)
    if fields["status"] and fields["records_len"]:
        text = f"{fields['records_len']} bytes in a section of status {fields['status']}"
        raise reader.reject("invalid-value", "records_len", text, at=at + ENTRY.offset("records_len"))
    return _Entry(at, fields)


def _read_section(reader: Reader, index: int, entry: _Entry) -> FetchSection:
    """Read the batches of a section."""
    count, length = (entry.fields[name] for name in COUNTED)
    reader.enter("sections", index)
    reader.cover("records_len", "length", reader.pos, reader.pos + length)
    window = reader.window("records", length)
    parts = read_batches(window, POLL_RULES_111, count)
    check_count(window, count, parts["messages"], "count", entry.at + ENTRY.offset("messages_count"))
    reader.leave()
    rest: dict[str, Any] = {name: part for name, part in entry.fields.items() if name not in COUNTED}
    return FetchSection(**rest, **parts)


def encode(_: Revision, writer: Writer, value: FetchReply, __: Options) -> None:
    """Write the table, then the batches of each section."""
    if len(value.sections) > LARGEST_PARTITIONS:
        raise writer.invalid("sections", f"{len(value.sections)}, {LARGEST_PARTITIONS} allowed")
    writer.uint32le("sections_count", len(value.sections))
    starts = [_write_entry(writer, index, section) for index, section in enumerate(value.sections)]
    for index, (section, at) in enumerate(zip(value.sections, starts, strict=True)):
        writer.enter("sections", index)
        first = writer.pos
        write_batches(writer, POLL_RULES_111, section)
        writer.patch("records_len", "uint32le", at + ENTRY.offset("records_len"), writer.pos - first)
        writer.cover("records_len", "length", first, writer.pos)
        writer.leave()


def _write_entry(writer: Writer, index: int, section: FetchSection) -> int:
    """Write an entry with a length of 0, and return its position."""
    at = writer.pos
    writer.enter("sections", index)
    if section.status and section.messages:
        raise writer.invalid("status", f"{section.status} in a section with messages")
    _ENTRY.write_fields(writer, section, messages_count=len(section.messages))
    writer.leave()
    return at
