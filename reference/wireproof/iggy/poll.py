"""The response of PollMessages (code 100), 0.0.30 to 0.6.x: iggy.md, section 3.3.

The Rust client stops where a message does not fit and drops what is left, and with it a last message
that is torn or has an empty payload (sections 3.3 and 11.1, R10). Loss without a word is never right:
here what is left over is refused, and an empty payload delivered.
"""

from typing import Any, Final

from attrs import frozen

from wireproof.iggy.layout import Fixed, Layout
from wireproof.iggy.message import (
    POLLED_30,
    POLLED_40,
    Polled30,
    Polled40,
    read_fixed,
    read_message,
    write_fixed,
    write_message,
)
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.values import to_json
from wireproof.wire.writer import Writer


@frozen(kw_only=True)
class Poll30:
    """The value of a poll response of 0.0.30."""

    messages: tuple[Polled30, ...]


@frozen(kw_only=True)
class Poll40:
    """The value of a poll response of 0.0.40."""

    messages: tuple[Polled40, ...]


@frozen(kw_only=True)
class Poll60:
    """The value of a poll response from 0.0.60 on."""

    partition_id: int
    current_offset: int
    messages: tuple[Polled40, ...]


@frozen
class Edition:
    """A row: the fields before the count, the layout of a message, the class of the value."""

    prefix: tuple[Fixed, ...]
    message: Layout
    value: type[Any]


EDITIONS: Final[dict[str, Edition]] = {
    "0.0.30": Edition((), POLLED_30, Poll30),
    "0.0.40": Edition((), POLLED_40, Poll40),
    "0.0.60": Edition(
        (Fixed("partition_id", "uint32le"), Fixed("current_offset", "uint64le")), POLLED_40, Poll60
    ),
}
"""By revision."""


def decode(edition: Edition, reader: Reader, _: Options) -> Any:  # noqa: ANN401 - the edition's value class
    """Read prefix, count, and messages to the end of the body."""
    prefix = {part.name: read_fixed(reader, part) for part in edition.prefix}
    at = reader.pos
    count = reader.uint32le("count")
    reader.cover("count", "count", reader.pos, reader.end)
    start, messages = reader.pos, list[Any]()
    while reader.left:
        if len(messages) >= count:  # what does not fit now is no torn message but bytes too many
            reader.short = "trailing-data"
        reader.enter("messages", len(messages))
        messages.append(read_message(reader, edition.message))
        reader.leave()
    check_count(reader, count, len(messages), at)
    remark_order(reader, messages, start)
    return edition.value(**prefix, messages=tuple(messages))


def check_count(reader: Reader, count: int, found: int, at: int) -> None:
    """Hold the count that stands at `at` against the messages: section 3.3, R9.

    No client compares them. Fewer messages than counted are messages lost, as in a body cut between two,
    which nothing else tells; with more than counted all were delivered.
    """
    if count > found:
        raise reader.reject("count-mismatch", "count", f"{count}, {found} messages follow", at=at)
    if count < found:
        reader.remark("iggy-message-count", "count", at=at)


def remark_order(reader: Reader, messages: list[Any], start: int) -> None:
    """The Rust client sorts by offset to 0.6.x, and keeps the order of the wire later: sections 3.3 and 5."""
    ordered = sorted(messages, key=lambda message: message.offset)
    if ordered != messages:
        others = (reader.other("sorted-by-offset", "messages", to_json(tuple(ordered))),)
        reader.remark("iggy-message-order", "messages", at=start, others=others)


def encode(edition: Edition, writer: Writer, value: Any, _: Options) -> None:  # noqa: ANN401 - see `decode`
    """Write prefix, count and messages."""
    for part in edition.prefix:
        write_fixed(writer, part, getattr(value, part.name))
    writer.uint32le("count", len(value.messages))
    for index, message in enumerate(value.messages):
        writer.enter("messages", index)
        write_message(writer, edition.message, message)
        writer.leave()
