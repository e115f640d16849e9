"""What a request is answered with: iggy.md, sections 2.1 and 6.

Classic, to 0.10.x: `status u32 | length u32 | body`. From 0.11.0 on the frame of a reply is one of `frame`,
and what is new is the body of a reply to SendMessages: `count u32`, then where each batch came to lie. It may
be empty. The Rust client takes a body that is cut, or too long, for one without confirmations, for what was
committed must not be sent again; here it is refused.
"""

from collections.abc import Callable
from typing import Any, Final

from attrs import frozen

from wireproof.iggy.layout import Fixed
from wireproof.iggy.message import read_fixed, write_fixed
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer


@frozen(kw_only=True)
class Reply30:
    """A response in the classic framing; `status` 0 is success, else an error code of section 9."""

    status: int
    body: bytes


@frozen(kw_only=True)
class Confirmation:
    """Where the messages of a send came to lie."""

    stream_id: int
    topic_id: int
    partition_id: int
    base_offset: int


@frozen(kw_only=True)
class Reply110:
    """The body of a reply to SendMessages."""

    confirmations: tuple[Confirmation, ...]


@frozen
class Edition:
    """A row: what reads a reply, what writes it, the class of the value, whether it tells its own length."""

    read: Callable[[Reader], Any]
    write: Callable[[Writer, Any], None]
    value: type[Any]
    delimited: bool


_PLACE: Final = (
    *(Fixed(name, "uint32le") for name in ("stream_id", "topic_id", "partition_id")),
    Fixed("base_offset", "uint64le"),
)


def decode(edition: Edition, reader: Reader, _: Options) -> Any:  # noqa: ANN401 - the edition's value class
    """Read one reply."""
    return edition.read(reader)


def encode(edition: Edition, writer: Writer, value: Any, _: Options) -> None:  # noqa: ANN401 - see `decode`
    """Write one reply."""
    edition.write(writer, value)


def _read_classic(reader: Reader) -> Reply30:
    status, length = reader.uint32le("status"), reader.uint32le("length")
    start = reader.pos
    reader.cover("length", "length", start, start + length)
    body = reader.take("body", length)
    if length == 1:  # section 2.1: clients take it for an empty one
        reader.remark("iggy-short-body", "body", at=start, others=(reader.other("empty", "body", ""),))
    return Reply30(status=status, body=body)


def _write_classic(writer: Writer, value: Reply30) -> None:
    writer.uint32le("status", value.status)
    writer.uint32le("length", len(value.body))
    writer.put("body", value.body)


def _read_confirmed(reader: Reader) -> Reply110:
    if not reader.left:
        return Reply110(confirmations=())
    count = reader.uint32le("count")
    reader.cover("count", "count", reader.pos, reader.end)
    found: list[Confirmation] = []
    while len(found) < count:
        reader.enter("confirmations", len(found))
        found.append(Confirmation(**{part.name: read_fixed(reader, part) for part in _PLACE}))
        reader.leave()
    if reader.left:
        raise reader.reject("trailing-data", "confirmations", f"{reader.left} bytes behind {count}")
    return Reply110(confirmations=tuple(found))


def _write_confirmed(writer: Writer, value: Reply110) -> None:
    writer.uint32le("count", len(value.confirmations))
    for index, one in enumerate(value.confirmations):
        writer.enter("confirmations", index)
        for part in _PLACE:
            write_fixed(writer, part, getattr(one, part.name))
        writer.leave()


EDITIONS: Final[dict[str, Edition]] = {
    "0.0.30": Edition(_read_classic, _write_classic, Reply30, delimited=True),
    "0.11": Edition(_read_confirmed, _write_confirmed, Reply110, delimited=False),
}
"""By revision."""
