"""The `.log` file of a segment, one record a message, to server 0.2.6: iggy.md, section 7.

The file has no header and its records no magic. A record whose lengths run past the end is the torn
tail of a file that was being written; one whose lengths hold and whose content does not is garbage as
long as those lengths say.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from attrs import frozen

from wireproof.iggy.layout import Layout
from wireproof.iggy.message import STORED_30, STORED_40, Polled40, Stored30, read_message, write_message
from wireproof.wire.items import Item
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejected import Rejected
from wireproof.wire.writer import Writer


@frozen(kw_only=True)
class Log30:
    """The value of a segment file of 0.0.30."""

    messages: tuple[Stored30, ...]


@frozen(kw_only=True)
class Log40:
    """The value of a segment file of 0.0.40, whose records are messages of a poll response."""

    messages: tuple[Polled40, ...]


@frozen
class Edition:
    """A row: the layout of a record and the class of the value."""

    message: Layout
    value: type[Any]


EDITIONS: Final[dict[str, Edition]] = {
    "0.0.30": Edition(STORED_30, Log30),
    "0.0.40": Edition(STORED_40, Log40),
}
"""By revision."""


def decode(edition: Edition, reader: Reader, _: Options) -> Any:  # noqa: ANN401 - the edition's value class
    """Read whole records; a torn tail is left unread, and a refusal bears the records before it."""
    messages: list[Any] = []
    while reader.left and _whole(edition, reader.data, reader.pos):
        reader.enter("messages", len(messages))
        try:
            messages.append(read_message(reader, edition.message))
        except Rejected as rejected:
            raise rejected.delivering(edition.value(messages=tuple(messages))) from None
        reader.leave()
    return edition.value(messages=tuple(messages))


def _whole(edition: Edition, data: bytes, pos: int) -> bool:
    size, known = edition.message.extent(data, pos)
    return known and pos + size <= len(data)


def encode(edition: Edition, writer: Writer, value: Any, _: Options) -> None:  # noqa: ANN401 - see `decode`
    """Write the records."""
    for index, message in enumerate(value.messages):
        writer.enter("messages", index)
        write_message(writer, edition.message, message)
        writer.leave()


def scan(edition: Edition, chunks: Iterable[bytes], _: Options) -> Iterator[Item]:
    """Every byte as a record, garbage or the tail; holds one record at a time.

    `wanted` spares a look at the lengths for each of the chunks that a long record may come in.
    """
    held, at, wanted = bytearray(), 0, 1
    for chunk in chunks:
        held += chunk
        while len(held) >= wanted:
            size, known = edition.message.extent(held)
            if not known or size > len(held):
                wanted = size
                break
            yield _item(edition, bytes(held[:size]), at)
            del held[:size]
            at, wanted = at + size, 1
    if held:
        yield Item("tail", at, len(held))


def _item(edition: Edition, record: bytes, at: int) -> Item:
    reader = Reader(record)
    try:
        value = read_message(reader, edition.message)
    except Rejected as rejected:
        return Item("garbage", at, len(record), cls=rejected.cls)
    return Item("frame", at, len(record), value, remarks=tuple(reader.remarks))
