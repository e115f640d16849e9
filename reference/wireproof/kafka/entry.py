"""One entry of a log: its magic selects the codec. kafka.md §1.4 step 8, §2.4."""

from collections.abc import Callable
from contextlib import suppress
from typing import Final

from wireproof.kafka import batch, message, producer_rules
from wireproof.kafka.size_and_magic import MAGIC_AT, MAX_SIZE, SizeAndMagic, peek_whole_entry
from wireproof.kafka.values import LogEntry, Message, RecordBatch
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.writer import Writer

_READ: Final[tuple[Callable[[Reader, SizeAndMagic], LogEntry], ...]] = (
    message.read,
    message.read,
    batch.read,
)
"""The codecs by magic."""

_HEADERS: Final = (*message.HEADS, batch.HEADER)


def read(reader: Reader, prefix: SizeAndMagic, options: Options) -> LogEntry:
    """Read the entry at the current position; all its bytes must be there.

    Raises:
        Rejected: as the codec of the magic; in profile `producer_rules` also as `producer_rules.check_entry`.
    """
    start = reader.pos
    entry = _READ[prefix.magic](reader, prefix)
    if options.profile == "produce":
        producer_rules.check_entry(reader, entry, start)
    return entry


def decode(reader: Reader, options: Options, magic: int) -> LogEntry:
    """Decode format `kafka.batch`: one entry of this magic; bytes after it are ignored.

    Raises:
        Rejected: `truncated` if the entry is cut, `bad-magic` for another magic, and as `read`.
    """
    try:
        prefix = peek_whole_entry(reader, max_entry_size(options))
    except Rejected:
        _trace_header(reader, magic)
        raise
    if prefix is None:
        _trace_header(reader, magic)
        raise reader.reject("truncated", "", f"the entry is cut after {reader.left} bytes", at=reader.end)
    if prefix.magic != magic:
        _trace_header(reader, magic)
        text = f"magic {prefix.magic}, expected {magic}"
        raise reader.reject("bad-magic", "magic", text, at=reader.pos + MAGIC_AT, detail="BAD_MAGIC")
    return read(reader, prefix, options)


def _trace_header(reader: Reader, magic: int) -> None:
    """Record the fields of a header whose size is wrong, as far as they are there, and do not move.

    Of an entry of another magic only that is recorded: what stands around it is not known.
    """
    start = reader.pos
    if not reader.tracing:
        return
    with suppress(Rejected):
        if reader.data[start + MAGIC_AT : start + MAGIC_AT + 1] == bytes([magic]):
            _HEADERS[magic].read(reader)
        else:
            reader.pos += MAGIC_AT
            reader.int8("magic")
    reader.pos = start


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
            batch.write(writer, entry)
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
