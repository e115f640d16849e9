"""How much one send may carry: iggy.md, sections 3.1, 5 and 9.

To 0.6.x the sums go over all messages of a request, and of headers only values count; from 0.7.0 on each
message is held to the limits, and the whole block counts.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from attrs import field, frozen

from wireproof.iggy.headers import Tlv
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer


def _value_bytes(message: Any, _: Tlv) -> int:  # noqa: ANN401 - a message of a send
    """Value bytes only: the keys do not count, whatever the blog says (section 0)."""
    return sum(len(value.value) for _, value in message.headers)


def _block_bytes(message: Any, tlv: Tlv) -> int:  # noqa: ANN401 - as above
    return tlv.size(message.headers)


def _payload_bytes(message: Any, _: Tlv) -> int:  # noqa: ANN401 - as above
    return len(message.payload)


@frozen
class Limit:
    """A row: what is counted, the bytes allowed, what a later server of the edition allows, and its error."""

    name: str
    count: Callable[[Any, Tlv], int]
    most: int
    detail: str
    lowered: int = field()

    @lowered.default
    def _never(self) -> int:
        return self.most


@frozen
class Limits:
    """The limits of an edition, on each message or on the sum of all."""

    each: bool
    rows: tuple[Limit, ...]

    def totals(self, limit: Limit, messages: Sequence[Any], tlv: Tlv) -> list[int]:
        """What is held to `limit`, in bytes."""
        sizes = [limit.count(message, tlv) for message in messages]
        return sizes if self.each else [sum(sizes)]


_HEADERS_70: Final = Limit("headers", _block_bytes, 100 * 1000, "TooBigUserHeaders")

LIMITS_30: Final = Limits(
    each=False,
    rows=(
        Limit("headers", _value_bytes, 100 * 1024, "TooBigHeadersPayload", 100 * 1000),
        Limit("payload", _payload_bytes, 10 * 1024**2, "TooBigMessagePayload", 10 * 1000**2),
    ),
)
"""The lower ones since 0.0.116."""

LIMITS_70: Final = Limits(
    each=True, rows=(_HEADERS_70, Limit("payload", _payload_bytes, 10 * 1000**2, "TooBigMessagePayload"))
)
LIMITS_80: Final = Limits(
    each=True, rows=(_HEADERS_70, Limit("payload", _payload_bytes, 64 * 1000**2, "TooBigMessagePayload"))
)


def check_read(reader: Reader, messages: Sequence[Any], start: int, limits: Limits, tlv: Tlv) -> None:
    """Refuse a send over a limit; remark one that only a later server of this edition refuses."""
    if not messages:
        raise reader.reject("count-mismatch", "messages", "none", at=start, detail="InvalidMessagesCount")
    for limit in limits.rows:
        most = max(limits.totals(limit, messages, tlv))
        if most > limit.most:
            text = f"{most} bytes of {limit.name}, {limit.most} allowed"
            raise reader.reject("limit-exceeded", "messages", text, at=start, detail=limit.detail)
        if most > limit.lowered:
            reader.remark("iggy-lowered-limit", "messages", at=start)


def check_written(writer: Writer, messages: Sequence[Any], limits: Limits, tlv: Tlv) -> None:
    """The same for a producer, who keeps to the edition's own limits."""
    if not messages:
        raise writer.invalid("messages", "none")
    for limit in limits.rows:
        most = max(limits.totals(limit, messages, tlv))
        if most > limit.most:
            raise writer.invalid("messages", f"{most} bytes of {limit.name}, {limit.most} allowed")
