"""The reply to a request: iggy.md, sections 2.1 and 6.

Classic framing, up to 0.10.x: `status u32 | length u32 | body`. Since 0.11.0 the framing of a reply is in
`frame`; this module has the body of a reply to SendMessages: `count u32`, then the stream, topic, partition
and base offset of each batch. The body may be empty. The Rust client reads a body that is truncated or too
long as one without confirmations, because committed messages must not be sent again; this reader refuses it.
"""

from collections.abc import Callable
from typing import Any, Final

from attrs import frozen

from wireproof.iggy.layout import FixedField
from wireproof.iggy.message import read_fixed, write_fixed
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer


@frozen(kw_only=True)
class ClassicReply:
    """A reply in the classic framing. `status` 0 means success, other numbers are error codes: section 9."""

    status: int
    body: bytes


@frozen(kw_only=True)
class SendConfirmation:
    """The partition and the base offset at which the server stored a batch."""

    stream_id: int
    topic_id: int
    partition_id: int
    base_offset: int


@frozen(kw_only=True)
class SendReply:
    """The body of a reply to SendMessages."""

    confirmations: tuple[SendConfirmation, ...]


@frozen
class ReplyRevision:
    """A revision of the reply.

    Attributes:
        read: reads a reply.
        write: writes a reply.
        value: the class of the value.
        delimited: whether a reply has its own length.
    """

    read: Callable[[Reader], Any]
    write: Callable[[Writer, Any], None]
    value: type[Any]
    delimited: bool


CONFIRMATION: Final = (
    *(FixedField(name, "uint32le") for name in ("stream_id", "topic_id", "partition_id")),
    FixedField("base_offset", "uint64le"),
)
"""The fields of a confirmation, in bytes as in JSON."""


def decode(revision: ReplyRevision, reader: Reader, _: Options) -> Any:  # noqa: ANN401 - the revision's value class
    """Read one reply."""
    return revision.read(reader)


def encode(revision: ReplyRevision, writer: Writer, value: Any, _: Options) -> None:  # noqa: ANN401 - see `decode`
    """Write one reply."""
    revision.write(writer, value)


def _read_classic(reader: Reader) -> ClassicReply:
    status, length = reader.uint32le("status"), reader.uint32le("length")
    start = reader.pos
    reader.cover("length", "length", start, start + length)
    body = reader.take("body", length)
    if length == 1:  # section 2.1: clients read it as an empty body
        reader.remark("iggy-short-body", "body", at=start, others=(reader.other("empty", "body", ""),))
    return ClassicReply(status=status, body=body)


def _write_classic(writer: Writer, value: ClassicReply) -> None:
    writer.uint32le("status", value.status)
    writer.uint32le("length", len(value.body))
    writer.put("body", value.body)


def _read_confirmations(reader: Reader) -> SendReply:
    if not reader.left:
        return SendReply(confirmations=())
    count = reader.uint32le("count")
    reader.cover("count", "count", reader.pos, reader.end)
    confirmations: list[SendConfirmation] = []
    while len(confirmations) < count:
        reader.enter("confirmations", len(confirmations))
        confirmations.append(
            SendConfirmation(**{part.name: read_fixed(reader, part) for part in CONFIRMATION})
        )
        reader.leave()
    if reader.left:
        raise reader.reject("trailing-data", "confirmations", f"{reader.left} bytes after {count}")
    return SendReply(confirmations=tuple(confirmations))


def _write_confirmations(writer: Writer, value: SendReply) -> None:
    writer.uint32le("count", len(value.confirmations))
    for index, confirmation in enumerate(value.confirmations):
        writer.enter("confirmations", index)
        for part in CONFIRMATION:
            write_fixed(writer, part, getattr(confirmation, part.name))
        writer.leave()


REVISIONS: Final[dict[str, ReplyRevision]] = {
    "0.0.30": ReplyRevision(_read_classic, _write_classic, ClassicReply, delimited=True),
    "0.11": ReplyRevision(_read_confirmations, _write_confirmations, SendReply, delimited=False),
}
"""Revision to its row."""
