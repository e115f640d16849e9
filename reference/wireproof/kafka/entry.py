"""One entry of a log, whichever format its magic names: kafka.md §1.4 step 8, §2.4."""

from collections.abc import Callable
from typing import Final

from wireproof.kafka import batch, message, produce
from wireproof.kafka.frame import MOST, Frame, measure
from wireproof.kafka.values import Entry, Message, RecordBatch
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer

_READ: Final[tuple[Callable[[Reader, Frame], Entry], ...]] = (message.read, message.read, batch.read)
"""By magic."""


def read(reader: Reader, frame: Frame, options: Options) -> Entry:
    """The whole entry that begins where `reader` stands, which steps over it; checked by the profile.

    Raises:
        Rejected: as the codec of the magic does; in profile `produce` also `not-permitted`.
    """
    start = reader.pos
    entry = _READ[frame.magic](reader, frame)
    if options.profile == "produce":
        produce.check(reader, entry, start)
    return entry


def decode(reader: Reader, options: Options, magic: int) -> Entry:
    """`kafka.batch`: exactly one entry of this magic; what follows it is not looked at.

    Raises:
        Rejected: `truncated` if it is not whole, `bad-magic` for another format's entry, and as `read`.
    """
    frame = measure(reader, most(options))
    if frame is None:
        raise reader.reject("truncated", "", f"an entry is not whole in {reader.left} bytes", at=reader.end)
    if frame.magic != magic:
        text = f"magic {frame.magic}, wanted {magic}"
        raise reader.reject("bad-magic", "magic", text, at=reader.pos + 16, detail="BAD_MAGIC")
    return read(reader, frame, options)


def most(options: Options) -> int:
    """The largest size of an entry that is read: §1.4 step 3."""
    return MOST if options.max_message is None else options.max_message


def write(writer: Writer, entry: Entry) -> None:
    """The entry; raises `Rejected` (`invalid-value`)."""
    match entry:
        case RecordBatch():
            batch.write(writer, entry)
        case Message():
            message.write(writer, entry)


def encode(writer: Writer, value: Entry, _: Options, magic: int) -> None:
    """`kafka.batch`: one entry of this magic; raises `Rejected` (`invalid-value`)."""
    if value.magic != magic:
        raise writer.invalid("magic", f"magic {value.magic}, wanted {magic}")
    write(writer, value)
