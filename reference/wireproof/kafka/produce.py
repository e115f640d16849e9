"""What a producer may not send, as far as bytes show it: kafka.md §1.7, profile `produce`.

The broker's configuration, its clock and its producer state are not in the bytes; rows of §1.7 that need
them are not here. What an ordinary reader refuses is refused before this is asked.
"""

from typing import Final

from wireproof.kafka.arithmetic import APPEND_TIME, CONTROL
from wireproof.kafka.values import Entry, Message, RecordBatch
from wireproof.wire.reader import Reader
from wireproof.wire.rejected import Rejected

UNSEALED: Final = "wrapper-crc"


def check(reader: Reader, entry: Entry, start: int) -> None:
    """Hold the entry that was read at `start` of the wire to §1.7.

    Raises:
        Rejected: `not-permitted`; `crc-mismatch` for a wrapper's CRC, which only a broker checks.
    """
    match entry:
        case RecordBatch():
            _check_batch(reader, entry, start)
        case Message():
            _check_message(reader, entry, start)


def _check_batch(reader: Reader, batch: RecordBatch, start: int) -> None:
    count, last = len(batch.records), batch.last_offset_delta
    append = batch.attributes & APPEND_TIME
    rows = (
        (batch.base_offset != 0, "baseOffset", 0, "a producer's baseOffset is 0"),
        (count == 0, "recordsCount", 57, "no records"),
        (last + 1 != count, "lastOffsetDelta", 23, "the offset range is not the count"),  # KAFKA-6554
        (batch.attributes & CONTROL, "attributes", 21, "a control batch"),
        (batch.producer_id > -1 and batch.base_sequence < 0, "baseSequence", 53, "no sequence"),
        (append and batch.max_timestamp == -1, "maxTimestamp", 35, "LogAppendTime without a time"),
    )
    for wrong, name, offset, text in rows:
        if wrong:
            raise _refusal(reader, name, start + offset, text)


def _check_message(reader: Reader, message: Message, start: int) -> None:
    """v0 and v1 sets: a broker checks the wrapper's CRC and the magic of what is inside."""
    if any(remark.cls == UNSEALED for remark in reader.remarks):
        raise reader.reject("crc-mismatch", "crc", "of a wrapper", at=start + 12, detail="CRC_MISMATCH")
    if any(inner.magic != message.magic for inner in message.messages or ()):
        raise _refusal(reader, "messages", start, "inner magic differs from the wrapper's")
    if message.magic and message.attributes & APPEND_TIME and message.timestamp == -1:
        raise _refusal(reader, "timestamp", start + 18, "LogAppendTime without a time")


def check_log(reader: Reader, entries: list[Entry]) -> None:
    """A request: one batch if it is v2, and one magic throughout: §1.7, "Request level".

    Raises:
        Rejected: `not-permitted`.
    """
    magics = {entry.magic for entry in entries}
    if len(magics) > 1:
        raise _refusal(reader, "batches", reader.pos, "batches of different magic")
    if magics == {2} and len(entries) > 1:
        raise _refusal(reader, "batches", reader.pos, "more than one batch")


def _refusal(reader: Reader, name: str, at: int, text: str) -> Rejected:
    return reader.reject("not-permitted", name, text, at=at)
