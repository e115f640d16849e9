"""The response of PollMessages (code 100): iggy.md, sections 3.3, 5 and 6.

The Rust client stops at a message that does not fit and drops the remaining bytes. So it loses a last message
that is truncated or has an empty payload (sections 3.3 and 11.1, R10). Silent loss is never right: this
reader refuses remaining bytes and delivers a message with an empty payload.
"""

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, Final

from attrs import frozen

from wireproof.iggy import batch
from wireproof.iggy.batch import BatchHeader, BatchHeader111, BatchMessage, BatchRules
from wireproof.iggy.fixed_fields import iggy_runs
from wireproof.iggy.message import (
    POLLED_RULES_30,
    POLLED_RULES_40,
    POLLED_RULES_70,
    POLLED_RULES_80,
    POLLED_RULES_90,
    MessageRules,
    PolledMessage30,
    PolledMessage40,
    PolledMessage70,
    PolledMessage90,
    read_message,
    write_message,
)
from wireproof.iggy.revision import Revision
from wireproof.wire.json_values import to_json
from wireproof.wire.layout import Count, Layout, Number, Part, Repeated
from wireproof.wire.layout_codec import FixedRun
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer


@frozen(kw_only=True)
class Poll30:
    """The value of a poll response of 0.0.30."""

    messages: tuple[PolledMessage30, ...]


@frozen(kw_only=True)
class Poll40:
    """The value of a poll response of 0.0.40."""

    messages: tuple[PolledMessage40, ...]


@frozen(kw_only=True)
class Poll60:
    """The value of a poll response since 0.0.60."""

    partition_id: int
    current_offset: int
    messages: tuple[PolledMessage40, ...]


@frozen(kw_only=True)
class Poll70:
    """The value of a poll response since 0.7.0."""

    partition_id: int
    current_offset: int
    messages: tuple[PolledMessage70, ...]


@frozen(kw_only=True)
class Poll90:
    """The value of a poll response since 0.9.0."""

    partition_id: int
    current_offset: int
    messages: tuple[PolledMessage90, ...]


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


@frozen
class PollBody:
    """The layout of the messages after the count: the functions that read and write them."""

    read: Callable[["PollRevision", Reader, int], dict[str, Any]]
    write: Callable[["PollRevision", Writer, Any], None]


def _read_plain(revision: "PollRevision", reader: Reader, count: int) -> dict[str, Any]:
    start, messages = reader.pos, list[Any]()
    reader.cover("count", "count", start, reader.end)
    while reader.left:
        _expect_no_more(reader, messages, count)
        reader.enter("messages", len(messages))
        messages.append(read_message(reader, revision.message))
        reader.leave()
    remark_order(revision, reader, messages, start)
    return {"messages": tuple(messages)}


def _write_plain(revision: "PollRevision", writer: Writer, value: Any) -> None:  # noqa: ANN401 - see `encode`
    for index, message in enumerate(value.messages):
        writer.enter("messages", index)
        write_message(writer, revision.message, message)
        writer.leave()


def _read_batches(rules: BatchRules, _: "PollRevision", reader: Reader, count: int) -> dict[str, Any]:
    start, batches, messages = reader.pos, list[Any](), list[BatchMessage]()
    header: type[Any] = BatchHeader111 if rules.producers else BatchHeader
    while reader.left:
        _expect_no_more(reader, messages, count)
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


def _write_batches(rules: BatchRules, _: "PollRevision", writer: Writer, value: Any) -> None:  # noqa: ANN401 - see `encode`
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


def _expect_no_more(reader: Reader, messages: Sequence[Any], count: int) -> None:
    """Report bytes after the last counted message as trailing data, not as truncated."""
    if len(messages) >= count:
        reader.short = "trailing-data"


PLAIN_BODY: Final = PollBody(_read_plain, _write_plain)
BATCHED_BODY: Final = PollBody(
    partial(_read_batches, batch.POLL_RULES), partial(_write_batches, batch.POLL_RULES)
)
PRODUCER_BODY: Final = PollBody(
    partial(_read_batches, batch.POLL_RULES_111), partial(_write_batches, batch.POLL_RULES_111)
)


@frozen
class PollRevision(Revision):
    """A revision of the poll response.

    Attributes:
        message: the rules of a message.
        sorted: whether the Rust client of the revision sorts messages by offset.
        body: reads and writes the messages after the count.
    """

    message: MessageRules
    sorted: bool = False
    body: PollBody = PLAIN_BODY

    @cached_property
    def fields(self) -> FixedRun:
        """Return the fields before the messages."""
        return iggy_runs(self.layout)[0]

    @cached_property
    def numbers(self) -> tuple[Number, ...]:
        """Return the numbers that the value has beside the messages."""
        return tuple(part for part in self.layout.parts if isinstance(part, Number))


_PREFIX: Final = (
    Number("partition_id", "uint32le"),
    Number("current_offset", "uint64le", meaning="the last offset of the partition"),
)
_COUNT: Final = Count("count", "uint32le", of="messages", advisory=True)
_CONTEXT: Final = (
    Number("incarnation", "uint64le"),
    Number("owner_generation", "uint64le"),
    Number("metadata_op", "uint64le"),
)
"""The partition that served the poll: section 6.1."""


def _polled(value: type[Any], *parts: Part, cites: str) -> Layout:
    return Layout("PolledMessages", parts, value=value, cites=cites)


def _plain(
    value: type[Any], message: MessageRules, *prefix: Part, cites: str = "iggy.md §5", sorts: bool = False
) -> PollRevision:
    messages = Repeated("messages", of=message.layout)
    return PollRevision(_polled(value, *prefix, _COUNT, messages, cites=cites), message, sorts)


def _batched(
    value: type[Any], header: type[Any], rules: BatchRules, body: PollBody, *context: Part
) -> PollRevision:
    batches = Repeated("batches", of=batch.batch_layout(header, producers=rules.producers, joined=True))
    layout = _polled(value, *_PREFIX, _COUNT, *context, batches, cites="iggy.md §6")
    return PollRevision(layout, rules.frame, body=body)


REVISIONS: Final[dict[str, PollRevision]] = {
    "0.0.30": _plain(Poll30, POLLED_RULES_30, cites="iggy.md §3.3", sorts=True),
    "0.0.40": _plain(Poll40, POLLED_RULES_40, cites="iggy.md §3.3", sorts=True),
    "0.0.60": _plain(Poll60, POLLED_RULES_40, *_PREFIX, cites="iggy.md §3.3", sorts=True),
    "0.7": _plain(Poll70, POLLED_RULES_70, *_PREFIX),
    "0.8": _plain(Poll70, POLLED_RULES_80, *_PREFIX),
    "0.9": _plain(Poll90, POLLED_RULES_90, *_PREFIX),
    "0.11": _batched(Poll110, BatchHeader, batch.POLL_RULES, BATCHED_BODY),
    "0.11.1-edge": _batched(Poll111, BatchHeader111, batch.POLL_RULES_111, PRODUCER_BODY, *_CONTEXT),
}
"""Revision to its row."""


def decode(revision: PollRevision, reader: Reader, _: Options) -> Any:  # noqa: ANN401 - the revision's value class
    """Read the prefix, the count, and messages up to the end of the body."""
    start, fields = reader.pos, revision.fields.read_fields(reader)
    count = fields.pop("count")
    parts = revision.body.read(revision, reader, count)
    check_count(reader, count, len(parts["messages"]), start + revision.layout.offset("count"))
    return revision.value(**fields, **parts)


def check_count(reader: Reader, count: int, found: int, at: int) -> None:
    """Check the count, read at `at`, against the number of messages: section 3.3, R9.

    No client compares them. Fewer messages than the count are refused: messages are lost, for example because
    the body was cut between two messages, and nothing else shows it. More messages than the count are only
    remarked, because all were delivered.
    """
    if count > found:
        raise reader.reject("count-mismatch", "count", f"{count}, but {found} messages follow", at=at)
    if count < found:
        reader.remark("iggy-message-count", "count", at=at)


def remark_order(revision: PollRevision, reader: Reader, messages: list[Any], start: int) -> None:
    """Remark messages out of order, which the Rust client sorts up to 0.6.x: sections 3.3 and 5."""
    ordered = sorted(messages, key=lambda message: message.offset)
    if revision.sorted and ordered != messages:
        others = (reader.other("sorted-by-offset", "messages", to_json(tuple(ordered), with_derived=True)),)
        reader.remark("iggy-message-order", "messages", at=start, others=others)


def encode(revision: PollRevision, writer: Writer, value: Any, _: Options) -> None:  # noqa: ANN401 - see `decode`
    """Write the prefix, the count and the messages."""
    revision.fields.write_fields(writer, value, count=len(value.messages))
    revision.body.write(revision, writer, value)
