"""The response of PollMessages (code 100): iggy.md, sections 3.3, 5 and 6.

The Rust client stops at a message that does not fit and drops the remaining bytes. So it loses a last message
that is truncated or has an empty payload (sections 3.3 and 11.1, R10). Silent loss is never right: this
reader refuses remaining bytes and delivers a message with an empty payload.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from wireproof.iggy.batch import BATCHES, add_up
from wireproof.iggy.message import HEADED, POLLED
from wireproof.iggy.revision import EDGE, REVISIONS
from wireproof.schema.layout import Count, Number
from wireproof.schema.rules import Fault, remarked
from wireproof.schema.struct import Struct, many, since, until
from wireproof.wire.json_values import to_json

if TYPE_CHECKING:
    from wireproof.iggy import values

_PREFIX: Final = (
    Number("partition_id", "uint32le"),
    Number("current_offset", "uint64le", meaning="the last offset of the partition"),
)
CONTEXT: Final = (
    Number("incarnation", "uint64le"),
    Number("owner_generation", "uint64le"),
    Number("metadata_op", "uint64le"),
)
"""The partition that served the poll: section 6.1."""

POLL: Final = Struct(
    "PolledMessages",
    *(since("0.0.60", part) for part in _PREFIX),
    Count("count", "uint32le", of="messages", advisory=True),
    *(since(EDGE, part) for part in CONTEXT),
    until("0.11", many("messages", POLLED)),
    since("0.11", many("batches", BATCHES["poll"])),
    revisions=REVISIONS,
    cites="iggy.md §3.3, §5, §6",
)

POLL_REVISIONS: Final = ("0.0.30", "0.0.40", "0.0.60", HEADED, "0.8", "0.9", "0.11", EDGE)
"""The revisions that began with a new layout of it."""


@POLL.rule("messages", "iggy.poll.order", until=HEADED)
def _unordered(messages: tuple["values.PolledMessage", ...]) -> Fault | None:
    """Remark messages out of order, which the Rust client sorts up to 0.6.x: sections 3.3 and 5."""
    ordered = tuple(sorted(messages, key=lambda message: message.offset))
    if ordered == messages:
        return None
    others = (("sorted-by-offset", to_json(ordered, with_derived=True)),)
    return remarked("iggy-message-order", others=others)


@POLL.rule("", "iggy.poll.count", until="0.11")
@POLL.rule("", "iggy.poll.batch.messages-count", since="0.11")
def lost(count: int, messages: Sequence[object]) -> Fault | None:
    """Refuse fewer messages than the count: section 3.3, R9.

    Messages are lost, for example because the body was cut between two messages, and nothing else shows it.
    """
    if count <= len(messages):
        return None
    return Fault("count-mismatch", f"{count}, but {len(messages)} messages follow", path="count")


@POLL.rule("", "iggy.poll.count.more", until="0.11")
@POLL.rule("", "iggy.poll.batch.messages-count", since="0.11")
def uncounted(count: int, messages: Sequence[object]) -> Fault | None:
    """Remark more messages than the count: all were delivered, and no client compares the two."""
    return remarked("iggy-message-count", path="count") if count < len(messages) else None


POLL.rule("batches", "iggy.poll.encode", since="0.11", unread=True)(add_up)
