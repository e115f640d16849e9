"""The batch in segment files of server 0.2.5 to 0.4.x (crate 0.2.7 to 0.6.x): iggy.md, section 7.

The header has 24 bytes. Then come messages, each preceded by its length, which does not include itself. The
payload has no length: it is the rest of the message.
"""

from typing import Final

from attrs import evolve, frozen

from wireproof.iggy.fixed_fields import iggy_runs
from wireproof.iggy.message import STORED_27, STORED_RULES_27, PolledMessage40, read_message, write_message
from wireproof.wire.layout import REST, Layout, Length, Number, Repeated
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer


@frozen(kw_only=True)
class RetainedBatch:
    """A batch with its messages."""

    base_offset: int
    last_offset_delta: int
    max_timestamp: int
    messages: tuple[PolledMessage40, ...]


MESSAGE: Final = evolve(STORED_27, parts=(Length("length", "uint32le", of=REST), *STORED_27.parts))

LAYOUT: Final = Layout(
    "RetainedBatch",
    (
        Number("base_offset", "uint64le", meaning="offset of the first message, or 0"),
        Length("length", "uint32le", of="messages"),
        Number("last_offset_delta", "uint32le", meaning="last offset minus base_offset"),
        Number("max_timestamp", "uint64le", meaning="microseconds"),
        Repeated("messages", of=MESSAGE),
    ),
    value=RetainedBatch,
    cites="iggy.md §7",
)

FIRST_OFFSET_AT: Final = LAYOUT.fixed_size + MESSAGE.offset("offset")
"""The position of the offset of the first message; `base_offset` is 0 in most batches of server 0.4.300."""

(_HEADER,) = iggy_runs(LAYOUT)
(_LENGTH, *_) = iggy_runs(MESSAGE, "length")


def read_batch(reader: Reader) -> RetainedBatch:
    """Read one batch."""
    fields = _HEADER.read_fields(reader)
    length = fields.pop("length")
    reader.cover("length", "length", reader.pos, reader.pos + length)
    window = reader.window("messages", length)
    messages: list[PolledMessage40] = []
    while window.left:
        window.enter("messages", len(messages))
        messages.append(_read_message(window))
        window.leave()
    return RetainedBatch(**fields, messages=tuple(messages))


def _read_message(reader: Reader) -> PolledMessage40:
    (length,) = _LENGTH.read(reader)
    reader.cover("length", "length", reader.pos, reader.pos + length)
    window = reader.window("payload", length)
    message: PolledMessage40 = read_message(window, STORED_RULES_27)
    return message


def write_batch(writer: Writer, value: RetainedBatch) -> None:
    """Write one batch."""
    at = writer.pos
    _HEADER.write_fields(writer, value)
    first = writer.pos
    for index, message in enumerate(value.messages):
        writer.enter("messages", index)
        _write_message(writer, message)
        writer.leave()
    writer.patch("length", "uint32le", at + LAYOUT.offset("length"), writer.pos - first)
    writer.cover("length", "length", first, writer.pos)


def _write_message(writer: Writer, message: PolledMessage40) -> None:
    at = writer.pos
    _LENGTH.write(writer, (0,))
    first = writer.pos
    write_message(writer, STORED_RULES_27, message)
    writer.patch("length", "uint32le", at, writer.pos - first)
    writer.cover("length", "length", first, writer.pos)
