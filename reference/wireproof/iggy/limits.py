"""The size limits of a send: iggy.md, sections 3.1, 5 and 9.

Up to 0.6.x the limits apply to the sum over all messages of a request, and only the values of headers count.
Since 0.7.0 they apply to each message, and the whole header block counts.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from attrs import field, frozen

from wireproof.iggy.headers import TlvRules
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer


def _value_bytes(message: Any, _: TlvRules) -> int:  # noqa: ANN401 - a message of a send
    """Return the size of the header values. Keys do not count; the blog states the opposite (section 0)."""
    return sum(len(value.value) for _, value in message.headers)


def _block_bytes(message: Any, tlv: TlvRules) -> int:  # noqa: ANN401 - as above
    return tlv.size(message.headers)


def _payload_bytes(message: Any, _: TlvRules) -> int:  # noqa: ANN401 - as above
    return len(message.payload)


@frozen
class Limit:
    """A size limit.

    Attributes:
        name: of what is limited.
        count: returns the size of a message that counts for the limit.
        most: the limit, in bytes.
        detail: the server's error.
        lowered: the limit of later servers of the revision.
    """

    name: str
    count: Callable[[Any, TlvRules], int]
    most: int
    detail: str
    lowered: int = field()

    @lowered.default
    def _never(self) -> int:
        return self.most


@frozen
class RevisionLimits:
    """The limits of a revision. `each`: whether they apply to each message or to the sum of all messages."""

    each: bool
    rows: tuple[Limit, ...]

    def totals(self, limit: Limit, messages: Sequence[Any], tlv: TlvRules) -> list[int]:
        """Return the sizes to which `limit` applies, in bytes."""
        sizes = [limit.count(message, tlv) for message in messages]
        return sizes if self.each else [sum(sizes)]


_HEADERS_70: Final = Limit("headers", _block_bytes, 100 * 1000, "TooBigUserHeaders")

LIMITS_30: Final = RevisionLimits(
    each=False,
    rows=(
        Limit("headers", _value_bytes, 100 * 1024, "TooBigHeadersPayload", 100 * 1000),
        Limit("payload", _payload_bytes, 10 * 1024**2, "TooBigMessagePayload", 10 * 1000**2),
    ),
)
"""The lowered limits apply since 0.0.116."""

LIMITS_70: Final = RevisionLimits(
    each=True, rows=(_HEADERS_70, Limit("payload", _payload_bytes, 10 * 1000**2, "TooBigMessagePayload"))
)
LIMITS_80: Final = RevisionLimits(
    each=True, rows=(_HEADERS_70, Limit("payload", _payload_bytes, 64 * 1000**2, "TooBigMessagePayload"))
)


def check_read(
    reader: Reader, messages: Sequence[Any], start: int, limits: RevisionLimits, tlv: TlvRules
) -> None:
    """Refuse a send over a limit, and remark one that only later servers of the revision refuse."""
    if not messages:
        raise reader.reject("count-mismatch", "messages", "none", at=start, detail="InvalidMessagesCount")
    for limit in limits.rows:
        size = max(limits.totals(limit, messages, tlv))
        if size > limit.most:
            text = f"{size} bytes of {limit.name}, {limit.most} allowed"
            raise reader.reject("limit-exceeded", "messages", text, at=start, detail=limit.detail)
        if size > limit.lowered:
            reader.remark("iggy-lowered-limit", "messages", at=start)


def check_written(writer: Writer, messages: Sequence[Any], limits: RevisionLimits, tlv: TlvRules) -> None:
    """Refuse to write a send without messages or over a limit of its revision."""
    if not messages:
        raise writer.invalid("messages", "none")
    for limit in limits.rows:
        size = max(limits.totals(limit, messages, tlv))
        if size > limit.most:
            raise writer.invalid("messages", f"{size} bytes of {limit.name}, {limit.most} allowed")
