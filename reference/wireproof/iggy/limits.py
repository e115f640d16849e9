"""How much one send may carry: iggy.md, sections 3.1 and 9. The sums go over all its messages."""

from collections.abc import Callable, Sequence
from typing import Final, NoReturn

from attrs import frozen

from wireproof.iggy.message import Sent
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer


def _header_bytes(message: Sent) -> int:
    """Value bytes only: the keys do not count, whatever the blog says (section 0)."""
    return sum(len(value.value) for _, value in message.headers)


def _payload_bytes(message: Sent) -> int:
    return len(message.payload)


@frozen
class Limit:
    """A row: what is counted, the bytes allowed at 0.0.30 and since 0.0.116, and the server's error."""

    name: str
    count: Callable[[Sent], int]
    most: int
    lowered: int
    detail: str


LIMITS: Final = (
    Limit("headers", _header_bytes, 100 * 1024, 100 * 1000, "TooBigHeadersPayload"),
    Limit("payload", _payload_bytes, 10 * 1024**2, 10 * 1000**2, "TooBigMessagePayload"),
)


def check_read(reader: Reader, messages: Sequence[Sent], start: int) -> None:
    """Refuse a send over a limit; remark one that only a later server of this edition refuses."""
    if not messages:
        raise reader.reject("count-mismatch", "messages", "none", at=start, detail="InvalidMessagesCount")
    for limit in LIMITS:
        total = sum(map(limit.count, messages))
        if total > limit.most:
            text = f"{total} bytes of {limit.name}, {limit.most} allowed"
            raise reader.reject("limit-exceeded", "messages", text, at=start, detail=limit.detail)
        if total > limit.lowered:
            reader.remark("iggy-lowered-limit", "messages", at=start)


def check_written(writer: Writer, messages: Sequence[Sent]) -> None:
    """The same for a producer, who keeps to 0.0.30's own limits."""
    if not messages:
        raise writer.invalid("messages", "none")
    for limit in LIMITS:
        total = sum(map(limit.count, messages))
        if total > limit.most:
            _refuse(writer, f"{total} bytes of {limit.name}, {limit.most} allowed")


def _refuse(writer: Writer, text: str) -> NoReturn:
    raise writer.invalid("messages", text)
