"""The `.log` file of a segment, records back to back: iggy.md, section 7.

To server 0.2.6 a record is a message, from crate 0.2.7 to 0.6.x and from 0.11.0 on a batch of some. The file
has no header and its records no magic. A record whose lengths run past the end is the torn tail of a file
that was being written; one whose lengths hold and whose content does not is garbage as long as those lengths
say.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Final

from attrs import frozen

from wireproof.iggy import batch, retained
from wireproof.iggy.batch import Batch
from wireproof.iggy.layout import Layout
from wireproof.iggy.message import (
    STORED_30,
    STORED_40,
    STORED_70,
    STORED_80,
    STORED_90,
    Polled40,
    Polled70,
    Polled90,
    Stored30,
    read_message,
    write_message,
)
from wireproof.iggy.retained import Retained
from wireproof.wire.checksums import BATCH_HEAD
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


@frozen(kw_only=True)
class Log27:
    """The value of a segment file of 0.2.7."""

    batches: tuple[Retained, ...]


@frozen(kw_only=True)
class Log70:
    """The value of a segment file of 0.7 and 0.8, whose records are messages of a poll response again."""

    messages: tuple[Polled70, ...]


@frozen(kw_only=True)
class Log90:
    """The value of a segment file of 0.9."""

    messages: tuple[Polled90, ...]


@frozen(kw_only=True)
class Log110:
    """The value of a segment file of 0.11."""

    batches: tuple[Batch, ...]


@frozen
class Record:
    """How a record lies.

    Attributes:
        name: what the list of records is called.
        extent: the bytes that a record needs, as far as the data tells, and whether that is all.
        read, write: of one.
    """

    name: str
    extent: Callable[..., tuple[int, bool]]
    read: Callable[[Reader], Any]
    write: Callable[[Writer, Any], None]


def _read_message(row: Layout, reader: Reader) -> Any:  # noqa: ANN401 - the row's value class
    return read_message(reader, row)


def _write_message(row: Layout, writer: Writer, message: Any) -> None:  # noqa: ANN401 - as above
    write_message(writer, row, message)


def _message(row: Layout) -> Record:
    return Record("messages", row.extent, partial(_read_message, row), partial(_write_message, row))


def _batch_extent(data: bytes | bytearray, pos: int = 0) -> tuple[int, bool]:
    """A length below that of the header is no length: what it stands in is garbage as long as a header."""
    if pos + BATCH_HEAD > len(data):
        return BATCH_HEAD, False
    at = pos + batch.LENGTH_AT
    return max(BATCH_HEAD, int.from_bytes(data[at : at + 8], "little")), True


def _read_batch(reader: Reader) -> Batch:
    head = batch.read_head(reader, batch.STORED)
    messages = batch.read_frames(reader, head, batch.STORED)
    batch.check(reader, "", head, len(messages), batch.STORED)
    return Batch(**head.fields, batch_checksum=head.checksum, messages=tuple(messages))


def _write_batch(writer: Writer, value: Batch) -> None:
    at = batch.write_head(writer, value, len(value.messages))
    batch.write_frames(writer, value.messages, batch.STORED)
    batch.seal(writer, "", at)


@frozen
class Edition:
    """A row: how a record lies, and the class of the value."""

    record: Record
    value: type[Any]


EDITIONS: Final[dict[str, Edition]] = {
    "0.0.30": Edition(_message(STORED_30), Log30),
    "0.0.40": Edition(_message(STORED_40), Log40),
    "0.2.7": Edition(Record("batches", retained.extent, retained.read, retained.write), Log27),
    "0.7": Edition(_message(STORED_70), Log70),
    "0.8": Edition(_message(STORED_80), Log70),
    "0.9": Edition(_message(STORED_90), Log90),
    "0.11": Edition(Record("batches", _batch_extent, _read_batch, _write_batch), Log110),
}
"""By revision."""


def decode(edition: Edition, reader: Reader, _: Options) -> Any:  # noqa: ANN401 - the edition's value class
    """Read whole records; a torn tail is left unread, and a refusal bears the records before it."""
    name, records = edition.record.name, list[Any]()
    while reader.left and _whole(edition, reader.data, reader.pos):
        reader.enter(name, len(records))
        try:
            records.append(edition.record.read(reader))
        except Rejected as rejected:
            raise rejected.delivering(edition.value(**{name: tuple(records)})) from None
        reader.leave()
    return edition.value(**{name: tuple(records)})


def _whole(edition: Edition, data: bytes, pos: int) -> bool:
    size, known = edition.record.extent(data, pos)
    return known and pos + size <= len(data)


def encode(edition: Edition, writer: Writer, value: Any, _: Options) -> None:  # noqa: ANN401 - see `decode`
    """Write the records."""
    for index, record in enumerate(getattr(value, edition.record.name)):
        writer.enter(edition.record.name, index)
        edition.record.write(writer, record)
        writer.leave()


def scan(edition: Edition, chunks: Iterable[bytes], _: Options) -> Iterator[Item]:
    """Every byte as a record, garbage or the tail; holds one record at a time.

    `wanted` spares a look at the lengths for each of the chunks that a long record may come in.
    """
    held, at, wanted = bytearray(), 0, 1
    for chunk in chunks:
        held += chunk
        while len(held) >= wanted:
            size, known = edition.record.extent(held)
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
        value = edition.record.read(reader)
    except Rejected as rejected:
        return Item("garbage", at, len(record), cls=rejected.cls)
    return Item("frame", at, len(record), value, remarks=tuple(reader.remarks))
