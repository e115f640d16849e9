"""The response of PollMessages (code 100): iggy.md, sections 3.3, 5 and 6.

The Rust client stops at a message that does not fit and drops the remaining bytes. So it loses a last message
that is truncated or has an empty payload (sections 3.3 and 11.1, R10). Silent loss is never right: this
reader refuses remaining bytes and delivers a message with an empty payload.
"""

from functools import cached_property
from typing import Any, Final

from attrs import frozen

from wireproof.iggy import batch
from wireproof.iggy.batch import BatchHeader, BatchHeader111, BatchMessage, BatchRules
from wireproof.iggy.fixed_fields import iggy_runs
from wireproof.iggy.message import HEADED, POLLED
from wireproof.iggy.revision import REVISIONS as ALL
from wireproof.iggy.revision import Revision
from wireproof.schema.compiling import report
from wireproof.schema.rules import Fault, remarked
from wireproof.schema.struct import Struct, many, since
from wireproof.wire.json_values import to_json
from wireproof.wire.layout import Count, Layout, Number, Part, Repeated
from wireproof.wire.layout_codec import FixedRun
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer

# --- messages behind a count: up to 0.10.x ---

_PREFIX: Final = (
    Number("partition_id", "uint32le"),
    Number("current_offset", "uint64le", meaning="the last offset of the partition"),
)
_COUNT: Final = Count("count", "uint32le", of="messages", advisory=True)

POLL: Final = Struct(
    "PolledMessages",
    *(since("0.0.60", part) for part in _PREFIX),
    _COUNT,
    many("messages", POLLED),
    revisions=ALL,
    cites="iggy.md §3.3, §5",
)

POLL_REVISIONS: Final = ("0.0.30", "0.0.40", "0.0.60", HEADED, "0.8", "0.9")
"""The revisions that began with a new layout of it."""


@POLL.rule("messages", "iggy.poll.order", until=HEADED)
def _unordered(messages: tuple[Any, ...]) -> Fault | None:
    """Remark messages out of order, which the Rust client sorts up to 0.6.x: sections 3.3 and 5."""
    ordered = tuple(sorted(messages, key=lambda message: message.offset))
    if ordered == messages:
        return None
    others = (("sorted-by-offset", to_json(ordered, with_derived=True)),)
    return remarked("iggy-message-order", others=others)


@POLL.rule("", "iggy.poll.count")
def lost(count: int, messages: tuple[Any, ...]) -> Fault | None:
    """Refuse fewer messages than the count: section 3.3, R9.

    Messages are lost, for example because the body was cut between two messages, and nothing else shows it.
    """
    if count <= len(messages):
        return None
    return Fault("count-mismatch", f"{count}, but {len(messages)} messages follow", path="count")


@POLL.rule("", "iggy.poll.count.more")
def uncounted(count: int, messages: tuple[Any, ...]) -> Fault | None:
    """Remark more messages than the count: all were delivered, and no client compares the two."""
    return remarked("iggy-message-count", path="count") if count < len(messages) else None


@frozen(kw_only=True)
class Poll110:
    """The value of a poll response since 0.11.0.

    The messages of all batches are in one list, as clients return them. Each batch has its `message_count` as
    it was read, also where another number of messages follows.
    """

    partition_id: int
    current_offset: int
    batches: tuple[BatchHeader, ...]
    messages: tuple[BatchMessage, ...]


@frozen(kw_only=True)
class Poll111:
    """The value of a poll response since 0.11.1-edge.

    The numbers after the offset identify the partition that served the poll: section 6.1.
    """

    partition_id: int
    current_offset: int
    incarnation: int
    owner_generation: int
    metadata_op: int
    batches: tuple[BatchHeader111, ...]
    messages: tuple[BatchMessage, ...]


# --- batches ---


def read_batches(reader: Reader, rules: BatchRules, count: int) -> dict[str, Any]:
    """Read batches to the end of the window; `count` messages are expected."""
    start, batches, messages = reader.pos, list[Any](), list[BatchMessage]()
    header: type[Any] = BatchHeader111 if rules.producers else BatchHeader
    while reader.left:
        if len(messages) >= count:  # what follows is no message that was cut
            reader.short = "trailing-data"
        reader.enter("batches", len(batches))
        head = batch.read_header(reader, rules)
        reader.leave()
        found = batch.read_frames(reader, head, rules, len(messages))
        batch.check_count_and_checksum(reader, f"batches[{len(batches)}]", head, len(found), rules)
        batches.append(header(**head.fields, message_count=head.count, batch_checksum=head.checksum))
        messages += found
    # If a batch is empty, the covered bytes hold more than the counted messages.
    if all(head.message_count for head in batches):
        reader.cover("count", "count", start, reader.pos)
    return {"batches": tuple(batches), "messages": tuple(messages)}


def write_batches(writer: Writer, rules: BatchRules, value: Any) -> None:  # noqa: ANN401 - with batches and messages
    """Write the batches of a value."""
    if sum(head.message_count for head in value.batches) != len(value.messages):
        raise writer.invalid("batches", f"their counts do not add up to {len(value.messages)} messages")
    first = 0
    for index, head in enumerate(value.batches):
        writer.enter("batches", index)
        at = batch.write_header(writer, head, head.message_count, rules)
        writer.leave()
        batch.write_frames(writer, value.messages[first : first + head.message_count], rules, first)
        batch.write_length_and_checksum(writer, f"batches[{index}]", at)
        first += head.message_count


@frozen
class PollRevision(Revision):
    """A revision of the poll response since 0.11.0: the rules of its batches."""

    rules: BatchRules

    @cached_property
    def fields(self) -> FixedRun:
        """Return the fields before the batches."""
        return iggy_runs(self.layout)[0]


_CONTEXT: Final = (
    Number("incarnation", "uint64le"),
    Number("owner_generation", "uint64le"),
    Number("metadata_op", "uint64le"),
)
"""The partition that served the poll: section 6.1."""


def _batched(value: type[Any], header: type[Any], rules: BatchRules, *context: Part) -> PollRevision:
    batches = Repeated("batches", of=batch.batch_layout(header, producers=rules.producers, joined=True))
    parts = (*_PREFIX, _COUNT, *context, batches)
    return PollRevision(Layout("PolledMessages", parts, value=value, cites="iggy.md §6"), rules)


REVISIONS: Final[dict[str, PollRevision]] = {
    "0.11": _batched(Poll110, BatchHeader, batch.POLL_RULES),
    "0.11.1-edge": _batched(Poll111, BatchHeader111, batch.POLL_RULES_111, *_CONTEXT),
}
"""Revision to its row."""


def decode(revision: PollRevision, reader: Reader, _: Options) -> Any:  # noqa: ANN401 - the revision's value class
    """Read the prefix, the count, and batches up to the end of the body."""
    start, fields = reader.pos, revision.fields.read_fields(reader)
    count = fields.pop("count")
    parts = read_batches(reader, revision.rules, count)
    check_count(reader, count, parts["messages"], "count", start + revision.layout.offset("count"))
    return revision.value(**fields, **parts)


def check_count(reader: Reader, count: int, messages: tuple[Any, ...], name: str, at: int) -> None:
    """Check the count `name`, read at `at`, against the number of messages."""
    if (fault := lost(count, messages) or uncounted(count, messages)) is not None:
        report(reader, name, at, fault)


def encode(revision: PollRevision, writer: Writer, value: Any, _: Options) -> None:  # noqa: ANN401 - see `decode`
    """Write the prefix, the count and the batches."""
    revision.fields.write_fields(writer, value, count=len(value.messages))
    write_batches(writer, revision.rules, value)
