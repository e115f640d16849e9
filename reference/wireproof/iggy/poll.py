"""The response of PollMessages (code 100): iggy.md, sections 3.3, 5 and 6.

The Rust client stops at a message that does not fit and drops the remaining bytes. So it loses a last message
that is truncated or has an empty payload (sections 3.3 and 11.1, R10). Silent loss is never right: this
reader refuses remaining bytes and delivers a message with an empty payload.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from attrs import frozen

from wireproof.iggy import batch
from wireproof.iggy.batch import BatchHeader, BatchHeader111, BatchMessage, BatchRules
from wireproof.iggy.layout import FixedField, MessageLayout
from wireproof.iggy.message import (
    POLLED_30,
    POLLED_40,
    POLLED_70,
    POLLED_80,
    POLLED_90,
    PolledMessage30,
    PolledMessage40,
    PolledMessage70,
    PolledMessage90,
    read_fixed,
    read_message,
    write_fixed,
    write_message,
)
from wireproof.wire.json_values import to_json
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
class PollRevision:
    """A revision of the poll response.

    Attributes:
        prefix: the fields before the count.
        message: the layout of a message.
        value: the class of the value.
        sorted: whether the Rust client of the revision sorts messages by offset.
        body: the layout of the messages after the count.
        context: the fields between the count and the messages.
    """

    prefix: tuple[FixedField, ...]
    message: MessageLayout
    value: type[Any]
    sorted: bool = False
    body: PollBody = PLAIN_BODY
    context: tuple[FixedField, ...] = ()


_PREFIX: Final = (FixedField("partition_id", "uint32le"), FixedField("current_offset", "uint64le"))
_CONTEXT: Final = tuple(
    FixedField(name, "uint64le") for name in ("incarnation", "owner_generation", "metadata_op")
)
"""The partition that served the poll: section 6.1."""

REVISIONS: Final[dict[str, PollRevision]] = {
    "0.0.30": PollRevision((), POLLED_30, Poll30, sorted=True),
    "0.0.40": PollRevision((), POLLED_40, Poll40, sorted=True),
    "0.0.60": PollRevision(_PREFIX, POLLED_40, Poll60, sorted=True),
    "0.7": PollRevision(_PREFIX, POLLED_70, Poll70),
    "0.8": PollRevision(_PREFIX, POLLED_80, Poll70),
    "0.9": PollRevision(_PREFIX, POLLED_90, Poll90),
    "0.11": PollRevision(_PREFIX, batch.POLL_RULES.frame, Poll110, body=BATCHED_BODY),
    "0.11.1-edge": PollRevision(
        _PREFIX, batch.POLL_RULES.frame, Poll111, body=PRODUCER_BODY, context=_CONTEXT
    ),
}
"""Revision to its row."""


def decode(revision: PollRevision, reader: Reader, _: Options) -> Any:  # noqa: ANN401 - the revision's value class
    """Read the prefix, the count, and messages up to the end of the body."""
    prefix = {part.name: read_fixed(reader, part) for part in revision.prefix}
    at = reader.pos
    count = reader.uint32le("count")
    prefix |= {part.name: read_fixed(reader, part) for part in revision.context}
    parts = revision.body.read(revision, reader, count)
    check_count(reader, count, len(parts["messages"]), at)
    return revision.value(**prefix, **parts)


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
    for part in revision.prefix:
        write_fixed(writer, part, getattr(value, part.name))
    writer.uint32le("count", len(value.messages))
    for part in revision.context:
        write_fixed(writer, part, getattr(value, part.name))
    revision.body.write(revision, writer, value)
