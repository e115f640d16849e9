"""The reply to FetchMessages (code 109): iggy.md, section 6.2.

It has a table with an entry for each section, then the batches of all sections in the order of the table. A
section whose status is not 0 has no batches: its partition could not be read.
"""

from typing import Any, Final

from wireproof.iggy.batch import BATCHES, add_up
from wireproof.iggy.poll import CONTEXT, lost, uncounted
from wireproof.iggy.requests import LARGEST_PARTITIONS
from wireproof.iggy.revision import EDGE, Revision
from wireproof.iggy.revision import REVISIONS as ALL
from wireproof.schema.compiling import report
from wireproof.schema.layout import Count, Layout, Length, Number, Repeated
from wireproof.schema.struct import Struct, many
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer

_PARTITION: Final = (
    Number("partition_id", "uint32le"),
    Number("status", "uint32le", meaning="0 is success, other numbers are error codes"),
    Number("current_offset", "uint64le"),
)
_NEXT: Final = Number("next_offset", "uint64le", meaning="where the next request starts")

_BODY: Final = Struct("Section", many("batches", BATCHES["poll"]), revisions=ALL, cites="iggy.md §6.2")

_BODY.rule("batches", "iggy.poll.encode", unread=True)(add_up)

SECTION: Final = Struct(
    "FetchSection", *_PARTITION, *CONTEXT, _NEXT, *_BODY.fields, revisions=ALL, cites="iggy.md §6.2"
)
"""What was read of a partition: the value of an entry of the table and of its batches."""

REPLY: Final = Struct("FetchReply", many("sections", SECTION), revisions=ALL, cites="iggy.md §6.2")

FetchSection: Final = SECTION.at(EDGE).type
FetchReply: Final = REPLY.at(EDGE).type
"""The classes of the values."""

_NUMBERS: Final = (
    *_PARTITION,
    Count("messages_count", "uint32le", of="messages"),
    *CONTEXT,
    _NEXT,
    Length("records_len", "uint32le", of="batches"),
)

ENTRY: Final = Layout("SectionEntry", _NUMBERS, value=FetchSection, cites="iggy.md §6.2")
"""An entry of the table."""

LAYOUT: Final = Layout(
    "FetchedMessages",
    (
        Count("sections_count", "uint32le", of="sections"),
        Repeated("sections", of=ENTRY, meaning="the table"),
        Repeated("sections", of=_BODY.at(EDGE), meaning="the batches of each section"),
    ),
    value=FetchReply,
    cites="iggy.md §6.2",
)

REVISIONS: Final = {EDGE: Revision(LAYOUT)}
"""Revision to its row."""


def decode(_: Revision, reader: Reader, __: Options) -> Any:  # noqa: ANN401 - a `FetchReply`
    """Read the table, and the batches to the end of the body."""
    at, count = reader.pos, reader.uint32le("sections_count")
    if count > LARGEST_PARTITIONS:
        text = f"{count} sections, {LARGEST_PARTITIONS} allowed"
        raise reader.reject("limit-exceeded", "sections_count", text, at=at)
    reader.cover("sections_count", "count", reader.pos, reader.pos + count * ENTRY.fixed_size)
    entries: list[tuple[int, dict[str, int]]] = []
    while len(entries) < count:
        reader.enter("sections", len(entries))
        at = reader.pos
        fields = {part.name: getattr(reader, part.kind)(part.name) for part in _NUMBERS}
        if fields["status"] and fields["records_len"]:
            text = f"{fields['records_len']} bytes in a section of status {fields['status']}"
            raise reader.reject("invalid-value", "records_len", text, at=at + ENTRY.offset("records_len"))
        entries.append((at, fields))
        reader.leave()
    sections = [_read_section(reader, index, *entry) for index, entry in enumerate(entries)]
    if reader.left:
        raise reader.reject("trailing-data", "sections", f"{reader.left} bytes after the last section")
    return FetchReply(sections=tuple(sections))


def _read_section(reader: Reader, index: int, entry_at: int, fields: dict[str, int]) -> Any:  # noqa: ANN401 - a `FetchSection`
    """Read the batches of a section."""
    count, length = (fields.pop(name) for name in ("messages_count", "records_len"))
    reader.enter("sections", index)
    reader.cover("records_len", "length", reader.pos, reader.pos + length)
    window = reader.window("records", length)
    read, batches, messages = BATCHES["poll"].at(EDGE).inner_codec.read, list[Any](), list[Any]()
    while window.left:
        if len(messages) >= count:  # what follows is no message that was cut
            window.short = "trailing-data"
        window.enter("batches", len(batches))
        batch, joined = read(window, first=len(messages))
        window.leave()
        batches.append(batch)
        messages += joined
    if (fault := lost(count, messages) or uncounted(count, messages)) is not None:
        report(window, "count", entry_at + ENTRY.offset("messages_count"), fault)
    reader.leave()
    return FetchSection(**fields, batches=tuple(batches), messages=tuple(messages))


def encode(_: Revision, writer: Writer, value: Any, __: Options) -> None:  # noqa: ANN401 - a `FetchReply`
    """Write the table, then the batches of each section."""
    if len(value.sections) > LARGEST_PARTITIONS:
        raise writer.invalid("sections", f"{len(value.sections)}, {LARGEST_PARTITIONS} allowed")
    writer.uint32le("sections_count", len(value.sections))
    starts: list[int] = []
    for index, section in enumerate(value.sections):  # the lengths of records are 0 until these are written
        starts.append(writer.pos)
        writer.enter("sections", index)
        if section.status and section.messages:
            raise writer.invalid("status", f"{section.status} in a section with messages")
        computed = {"messages_count": len(section.messages), "records_len": 0}
        for part in _NUMBERS:
            number = computed[part.name] if part.name in computed else getattr(section, part.name)
            getattr(writer, part.kind)(part.name, number)
        writer.leave()
    write = _BODY.at(EDGE).codec.write
    for index, (section, at) in enumerate(zip(value.sections, starts, strict=True)):
        writer.enter("sections", index)
        first = writer.pos
        write(writer, section)
        writer.patch("records_len", "uint32le", at + ENTRY.offset("records_len"), writer.pos - first)
        writer.leave()
