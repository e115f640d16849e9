"""A batch of messages, as it lies on the wire and on disk from 0.11.0 on: iggy.md, section 6.

A header of 256 bytes, then a frame for each message: 48 bytes, payload, headers. Offsets and times stand once
in the header, and as deltas in the frames. The checksum of a batch is over its fields and the checksums of
its frames. What is torn, and what a producer leaves to the server, is told by the row of each use.
"""

from collections.abc import Sequence
from typing import Any, Final

from attrs import evolve, field, frozen

from wireproof.iggy.headers import WIRE_10
from wireproof.iggy.kinds import HeaderValue
from wireproof.iggy.layout import XXH3, Answer, Block, Checksum, Fixed, Layout, Length, Zero
from wireproof.iggy.message import read_message, write_message
from wireproof.wire.checksums import BATCH_HEAD, iggy_batch
from wireproof.wire.reader import Reader
from wireproof.wire.writer import MASK64, Writer


@frozen(kw_only=True)
class Framed:
    """A message inside a batch; the last three are computed from the deltas and the batch."""

    checksum: int = field(default=0)
    id: int
    offset_delta: int
    timestamp_delta: int
    headers: tuple[tuple[HeaderValue, HeaderValue], ...] | bytes
    payload: bytes
    offset: int = field(default=0)
    timestamp: int = field(default=0)
    origin_timestamp: int = field(default=0)


@frozen(kw_only=True)
class Head:
    """What stands before the frames of a batch, where the messages of several are one list."""

    partition_id: int
    base_offset: int
    base_timestamp: int
    origin_timestamp: int
    message_count: int
    batch_checksum: int = field(default=0)


@frozen(kw_only=True)
class Batch:
    """A batch with its messages, as a record of a file."""

    partition_id: int
    base_offset: int
    base_timestamp: int
    origin_timestamp: int
    batch_checksum: int = field(default=0)
    messages: tuple[Framed, ...]


def _frame(wrong: Answer, empty: Answer, *, filled: bool = False) -> Layout:
    deltas = (Fixed("offset_delta", "uint32le"), Fixed("timestamp_delta", "uint32le"))
    lengths = (
        Length("user_headers_length", "uint32le", "headers"),
        Length("payload_length", "uint32le", "payload"),
    )
    parts = (
        Checksum("checksum", "uint64le", wrong, XXH3, over="rest"),
        Fixed("id", "uint128le"),
        *deltas,
        *lengths,
        Zero("reserved", "uint64le", "reject"),
        Block("payload"),
        Block("headers"),
    )
    return Layout(parts, Framed, empty, WIRE_10, filled=filled, kept=True, sealed=True)


@frozen
class Rules:
    """A row: the frame, what becomes of a checksum or count that is wrong, what the writer leaves at 0."""

    frame: Layout
    wrong: Answer
    unset: Answer


SENT: Final = Rules(_frame("reject", "remark", filled=True), "reject", "remark")
"""The server verifies all of it, and sets partition, base offset and base timestamp."""
POLLED: Final = Rules(_frame("remark", "take"), "remark", "take")
"""No client compares a checksum or a count: section 6."""
STORED: Final = Rules(_frame("reject", "take"), "reject", "take")

SET: Final = ("partition_id", "base_offset", "base_timestamp")
"""What a producer leaves at 0."""

LENGTH_AT: Final = 32
"""Where the length of a batch stands in it."""


@frozen
class Read:
    """A header that was read: its fields, and where it begins."""

    at: int
    fields: dict[str, int]
    length: int
    checksum: int
    count: int

    @property
    def checksum_at(self) -> int:
        """Where the checksum stands."""
        return self.at + 40

    @property
    def count_at(self) -> int:
        """Where the count stands."""
        return self.at + 48


def read_head(reader: Reader, rules: Rules) -> Read:
    """The 256 bytes before the frames."""
    at, fields = reader.pos, dict[str, int]()
    for name in SET:
        start = reader.pos
        fields[name] = reader.uint64le(name)
        if rules.unset == "remark" and fields[name]:
            reader.remark("iggy-unset-field", name, at=start)
    fields["origin_timestamp"] = reader.uint64le("origin_timestamp")
    length = reader.uint64le("batch_length")
    reader.cover("batch_length", "length", at, at + length)
    if length < BATCH_HEAD:
        raise reader.reject("bad-length", "batch_length", f"{length}", at=at + LENGTH_AT)
    checksum, count = reader.uint64le("batch_checksum"), reader.uint32le("message_count")
    start = reader.pos
    if any(reader.take("reserved", BATCH_HEAD - (start - at))):
        detail = "InvalidReservedField"
        raise reader.reject("reserved-nonzero", "reserved", "not 0", at=start, detail=detail)
    return Read(at, fields, length, checksum, count)


def read_frames(reader: Reader, head: Read, rules: Rules, first: int = 0) -> list[Framed]:
    """The frames that fill the batch, numbered from `first` on."""
    window = reader.window("messages", head.length - BATCH_HEAD)
    found: list[Framed] = []
    while window.left:
        start = window.pos
        window.enter("messages", first + len(found))
        one = read_message(window, rules.frame)
        if rules.unset == "remark":
            _check_sent(window, one, len(found), start)
        found.append(_placed(head, one))
        window.leave()
    return found


def _check_sent(reader: Reader, one: Framed, index: int, start: int) -> None:
    """A producer counts its messages, and mints their ids: sections 2.5 and 6. The server does not look."""
    if not one.id:
        reader.remark("iggy-unminted-id", "id", at=start + 8)
    if one.offset_delta != index:
        reader.remark("iggy-offset-delta", "offset_delta", at=start + 24)


def _placed(head: Read, one: Framed) -> Framed:
    """The message with what its deltas come to; the batch has one timestamp for all."""
    return evolve(
        one,
        offset=head.fields["base_offset"] + one.offset_delta & MASK64,
        timestamp=head.fields["base_timestamp"],
        origin_timestamp=head.fields["origin_timestamp"] + one.timestamp_delta & MASK64,
    )


def check(reader: Reader, name: str, head: Read, found: int, rules: Rules) -> None:
    """Hold count and checksum of the batch `name`, which ends here, against its frames: §6, §11.1 R9."""
    dot = f"{name}." if name else ""
    frames = head.at + BATCH_HEAD
    if rules.wrong == "reject":
        reader.cover(f"{dot}message_count", "count", frames, reader.pos)
        reader.cover(f"{dot}batch_checksum", "iggy-batch", head.at, reader.pos)
    if head.count != found:
        text = f"{head.count}, {found} frames follow"
        if rules.wrong == "reject":
            raise reader.reject("count-mismatch", f"{dot}message_count", text, at=head.count_at)
        reader.remark("iggy-batch-count", f"{dot}message_count", at=head.count_at)
    right = iggy_batch(reader.data[head.at : reader.pos])
    if head.checksum != right:
        text = f"{head.checksum:x}, and {right:x} is right"
        if rules.wrong == "reject":
            detail = "InvalidBatchChecksum"
            raise reader.reject(
                "crc-mismatch", f"{dot}batch_checksum", text, at=head.checksum_at, detail=detail
            )
        reader.remark("iggy-batch-checksum", f"{dot}batch_checksum", at=head.checksum_at)


def write_head(writer: Writer, value: Any, count: int) -> int:  # noqa: ANN401 - a Head or a Batch
    """Write the 256 bytes, length and checksum still at 0; gives where they begin."""
    at = writer.pos
    for name in (*SET, "origin_timestamp"):
        writer.uint64le(name, getattr(value, name))
    writer.uint64le("batch_length", 0)
    writer.uint64le("batch_checksum", 0)
    writer.uint32le("message_count", count)
    writer.put("reserved", bytes(at + BATCH_HEAD - writer.pos))
    return at


def write_frames(writer: Writer, messages: Sequence[Framed], rules: Rules, first: int = 0) -> None:
    """Write the frames, numbered from `first` on."""
    for index, message in enumerate(messages, first):
        writer.enter("messages", index)
        write_message(writer, rules.frame, message)
        writer.leave()


def seal(writer: Writer, name: str, at: int) -> None:
    """Write length and checksum of the batch `name` that begins at `at` and ends here."""
    dot = f"{name}." if name else ""
    writer.patch(f"{dot}batch_length", "uint64le", at + LENGTH_AT, writer.pos - at)
    writer.cover(f"{dot}batch_length", "length", at, writer.pos)
    writer.patch(f"{dot}batch_checksum", "uint64le", at + 40, iggy_batch(bytes(writer.data[at:])))
