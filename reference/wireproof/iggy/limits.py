"""The size limits of a send, for the binary body and for JSON: iggy.md, sections 3.1, 5 and 9.

Up to 0.6.x the limits apply to the sum over all messages of a request, and only the values of headers count.
Since 0.7.0 they apply to each message, and the whole header block counts.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from wireproof.iggy.headers import block_size
from wireproof.iggy.message import HEADED
from wireproof.schema.rules import Fault, remarked
from wireproof.schema.struct import Struct

if TYPE_CHECKING:
    from wireproof.iggy import values

HEADERS_30, PAYLOADS_30 = 100 * 1024, 10 * 1024**2
"""The limits up to 0.6.x, in bytes."""

LOWERED_HEADERS, LOWERED_PAYLOADS = 100 * 1000, 10 * 1000**2
"""Those of servers since 0.0.116."""

HEADERS: Final = 100 * 1000
"""The limit of the header block of a message since 0.7.0, in bytes."""

PAYLOAD_70, PAYLOAD_80 = 10 * 1000**2, 64 * 1000**2
"""The limits of the payload of a message since 0.7.0 and since 0.8.0, in bytes."""


def _over(name: str, size: int, most: int, lowered: int, detail: str) -> Fault | None:
    if size > most:
        return Fault("limit-exceeded", f"{size} bytes of {name}, {most} allowed", detail=detail)
    return remarked("iggy-lowered-limit") if size > lowered else None


def no_messages(messages: Sequence["values.SentMessage"]) -> Fault | None:
    """Refuse a send without messages."""
    return None if messages else Fault("count-mismatch", "none", detail="InvalidMessagesCount")


def header_values(messages: Sequence["values.SentMessage"]) -> Fault | None:
    """Limit the header values of a request. Keys do not count; the blog states the opposite (section 0)."""
    maps = (message.headers for message in messages)
    size = sum(len(value.value) for one in maps if isinstance(one, tuple) for _, value in one)
    return _over("headers", size, HEADERS_30, LOWERED_HEADERS, "TooBigHeadersPayload")


def all_payloads(messages: Sequence["values.SentMessage"]) -> Fault | None:
    """Limit the payloads of a request."""
    size = sum(len(message.payload) for message in messages)
    return _over("payload", size, PAYLOADS_30, LOWERED_PAYLOADS, "TooBigMessagePayload")


def header_block(messages: Sequence["values.SentMessage"]) -> Fault | None:
    """Limit the header block of each message."""
    size = max((block_size(message.headers) for message in messages), default=0)
    return _over("headers", size, HEADERS, HEADERS, "TooBigUserHeaders")


def _payload_limit(most: int) -> Any:  # noqa: ANN401 - a check
    def payload(messages: Sequence["values.SentMessage"]) -> Fault | None:
        size = max((len(message.payload) for message in messages), default=0)
        return _over("payload", size, most, most, "TooBigMessagePayload")

    return payload


def limit_messages(send: Struct) -> None:
    """Add the limits of all revisions to a send."""
    send.rule("messages", "iggy.send.count")(no_messages)
    send.rule("messages", "iggy.send.limit.headers", until=HEADED)(header_values)
    send.rule("messages", "iggy.send.limit.payload", until=HEADED)(all_payloads)
    send.rule("messages", "iggy.send.headed.limits", since=HEADED)(header_block)
    send.rule("messages", "iggy.send.headed.limits", since=HEADED, until="0.8")(_payload_limit(PAYLOAD_70))
    send.rule("messages", "iggy.send.headed.limits", since="0.8")(_payload_limit(PAYLOAD_80))
