"""One entry of a log: its magic selects the codec. kafka.md §1.4 step 8, §2.4."""

from contextlib import suppress
from functools import partial
from typing import Final, cast

from attrs import evolve

from wireproof.kafka import append, message
from wireproof.kafka.batch import BATCH
from wireproof.kafka.layouts import HEADERS, HEADS, build_message
from wireproof.kafka.size_and_magic import MAGIC_AT, MAX_SIZE, SizeAndMagic, peek_whole_entry
from wireproof.kafka.values import LogEntry, Message, RecordBatch
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.writer import Writer

V2: Final = 2
"""The magic of a batch."""

WITHOUT_RECORDS: Final = evolve(
    HEADERS[V2],
    rules=tuple(rule for rule in BATCH.rules if rule.guards == "crc"),
    build=partial(RecordBatch, records=()),
)
"""A batch whose records nobody looks at; only the CRC is checked."""


def read(reader: Reader, prefix: SizeAndMagic, options: Options) -> LogEntry:
    """Read the entry at the current position; all its bytes must be there.

    Raises:
        Rejected: what was decoded so far is `before`, if it has a record or a message. In profile `produce`
            also as `append.check_entry`.
    """
    start = reader.pos
    entry: LogEntry
    if prefix.magic == V2:
        entry = BATCH.codec.read(_window(reader, "batch", prefix))
    else:
        entry = message.read(_window(reader, "message", prefix), prefix.magic)
    if options.profile == "produce":
        append.check_entry(reader, entry, start)
    return entry


def _window(reader: Reader, name: str, prefix: SizeAndMagic) -> Reader:
    """Return a reader of an entry, in which each class of remarks is noted once."""
    entry = reader.window(name, prefix.total)
    entry.noted = set()
    return entry


def read_without_records(reader: Reader, prefix: SizeAndMagic) -> RecordBatch:
    """Read the header of a batch whose records nobody looks at; only the CRC is checked.

    Raises:
        Rejected: `crc-mismatch`.
    """
    entry = reader.window("batch", prefix.total)
    header = cast("RecordBatch", WITHOUT_RECORDS.codec.read(entry))
    entry.cover("recordsCount", "count", entry.pos, entry.end)
    entry.region("records", "ignored", entry.pos, entry.end)
    return header


def peek_batch(data: bytes | bytearray, at: int = 0) -> RecordBatch:
    """Return the batch at a position without its records; nothing is checked."""
    return RecordBatch(**HEADS[V2].fields(data, at), records=())


def peek_header(data: bytes | bytearray) -> LogEntry:
    """Return the entry that begins with the bytes without its records, key and value; nothing is checked."""
    magic = data[MAGIC_AT]
    return peek_batch(data) if magic == V2 else build_message(key=None, **HEADS[magic].fields(data))


def decode(reader: Reader, options: Options, magic: int) -> LogEntry:
    """Decode format `kafka.batch`: one entry of this magic; bytes after it are ignored.

    Raises:
        Rejected: `truncated` if the entry is cut, `bad-magic` for another magic, and as `read`.
    """
    start = reader.pos
    try:
        prefix = peek_whole_entry(reader, max_entry_size(options))
    except Rejected as rejected:
        refused = rejected
    else:
        if prefix is not None and prefix.magic == magic:
            return read(reader, prefix, options)
        if prefix is None:
            text = f"the entry is cut after {reader.left} bytes"
            refused = reader.reject("truncated", "", text, at=reader.end)
        else:
            text = f"magic {prefix.magic}, expected {magic}"
            refused = reader.reject("bad-magic", "magic", text, at=start + MAGIC_AT, detail="BAD_MAGIC")
    if reader.tracing:
        # The fields of the header, as far as they are there. Of an entry of another magic only that is
        # recorded: what stands around it is not known.
        with suppress(Rejected):
            if reader.data[start + MAGIC_AT : start + MAGIC_AT + 1] == bytes([magic]):
                HEADERS[magic].codec.read(reader)
            else:
                reader.pos += MAGIC_AT
                reader.int8("magic")
        reader.pos = start
    raise refused


def max_entry_size(options: Options) -> int:
    """Return the largest size of an entry that `options` allow: §1.4 step 3."""
    return MAX_SIZE if options.max_message is None else options.max_message


def write(writer: Writer, entry: LogEntry) -> None:
    """Write an entry.

    Raises:
        Rejected: `invalid-value`.
    """
    match entry:
        case RecordBatch():
            BATCH.codec.write(writer, entry)
        case Message():
            message.write(writer, entry)


def encode(writer: Writer, value: LogEntry, _: Options, magic: int) -> None:
    """Encode format `kafka.batch`: one entry of this magic.

    Raises:
        Rejected: `invalid-value`.
    """
    if value.magic != magic:
        raise writer.invalid("magic", f"magic {value.magic}, expected {magic}")
    write(writer, value)
