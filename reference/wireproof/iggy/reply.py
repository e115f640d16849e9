"""The reply to a request: iggy.md, sections 2.1 and 6.

Up to 0.10.x a reply has the classic framing. Since 0.11.0 the framing of a reply is in `frame`; this module
has the body of a reply to SendMessages, which confirms each batch. The body may be empty. The Rust client
reads a body that is truncated or too long as one without confirmations, because committed messages must not
be sent again; this reader refuses it.
"""

from collections.abc import Callable
from typing import Any, Final

from attrs import frozen

from wireproof.iggy.fixed_fields import iggy_runs
from wireproof.iggy.revision import Revision
from wireproof.wire.layout import Count, Layout, Length, Number, Octets, Repeated
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
class ReplyRevision(Revision):
    """A revision of the reply.

    Attributes:
        read: reads a reply.
        write: writes a reply.
        delimited: whether a reply has its own length.
    """

    read: Callable[[Reader], Any]
    write: Callable[[Writer, Any], None]
    delimited: bool


CLASSIC: Final = Layout(
    "Reply",
    (
        Number("status", "uint32le", meaning="0 is success, other numbers are error codes"),
        Length("length", "uint32le", of="body"),
        Octets("body"),
    ),
    value=ClassicReply,
    cites="iggy.md §2.1",
)

CONFIRMATION: Final = Layout(
    "SendConfirmation",
    (
        Number("stream_id", "uint32le"),
        Number("topic_id", "uint32le"),
        Number("partition_id", "uint32le"),
        Number("base_offset", "uint64le", meaning="where the server stored the batch"),
    ),
    value=SendConfirmation,
    cites="iggy.md §6",
)
"""The fields of a confirmation, in bytes as in JSON."""

SENT: Final = Layout(
    "SendReply",
    (
        Count("count", "uint32le", of="confirmations", meaning="absent in an empty body"),
        Repeated("confirmations", of=CONFIRMATION),
    ),
    value=SendReply,
    cites="iggy.md §6",
)

(_STATUS,) = iggy_runs(CLASSIC)
(_COUNT,) = iggy_runs(SENT)
(_CONFIRMATION,) = iggy_runs(CONFIRMATION)


def decode(revision: ReplyRevision, reader: Reader, _: Options) -> Any:  # noqa: ANN401 - the revision's value class
    """Read one reply."""
    return revision.read(reader)


def encode(revision: ReplyRevision, writer: Writer, value: Any, _: Options) -> None:  # noqa: ANN401 - see `decode`
    """Write one reply."""
    revision.write(writer, value)


def _read_classic(reader: Reader) -> ClassicReply:
    status, length = _STATUS.read(reader)
    start = reader.pos
    reader.cover("length", "length", start, start + length)
    body = reader.take("body", length)
    if length == 1:  # section 2.1: clients read it as an empty body
        reader.remark("iggy-short-body", "body", at=start, others=(reader.other("empty", "body", ""),))
    return ClassicReply(status=status, body=body)


def _write_classic(writer: Writer, value: ClassicReply) -> None:
    _STATUS.write_fields(writer, value, length=len(value.body))
    writer.put("body", value.body)


def _read_confirmations(reader: Reader) -> SendReply:
    if not reader.left:
        return SendReply(confirmations=())
    (count,) = _COUNT.read(reader)
    reader.cover("count", "count", reader.pos, reader.end)
    confirmations: list[SendConfirmation] = []
    while len(confirmations) < count:
        reader.enter("confirmations", len(confirmations))
        confirmations.append(SendConfirmation(**_CONFIRMATION.read_fields(reader)))
        reader.leave()
    if reader.left:
        raise reader.reject("trailing-data", "confirmations", f"{reader.left} bytes after {count}")
    return SendReply(confirmations=tuple(confirmations))


def _write_confirmations(writer: Writer, value: SendReply) -> None:
    _COUNT.write(writer, (len(value.confirmations),))
    for index, confirmation in enumerate(value.confirmations):
        writer.enter("confirmations", index)
        _CONFIRMATION.write_fields(writer, confirmation)
        writer.leave()


REVISIONS: Final[dict[str, ReplyRevision]] = {
    "0.0.30": ReplyRevision(CLASSIC, _read_classic, _write_classic, delimited=True),
    "0.11": ReplyRevision(SENT, _read_confirmations, _write_confirmations, delimited=False),
}
"""Revision to its row."""
