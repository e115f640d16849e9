"""What a producer may not send, as far as bytes show it: kafka.md §1.7, profile `produce`.

The broker's configuration, its clock and its producer state are not in the bytes; rows of §1.7 that need
them are not here. What an ordinary reader refuses is refused before this is asked. What a broker takes and
no producer should write (it stores it as it is, clears it or packs the batch again) leaves a remark: a
decoder may refuse it, an encoder may not write it.
"""

from typing import Final

from wireproof.kafka.arithmetic import APPEND_TIME, CONTROL, HORIZON
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
    if append:
        reader.remark("produce-append-time", "attributes", at=start + 21)
    if batch.attributes & HORIZON:
        reader.remark("produce-delete-horizon", "attributes", at=start + 21)


def _check_message(reader: Reader, message: Message, start: int) -> None:
    """v0 and v1 sets: a broker checks the wrapper's CRC and the magic of what is inside."""
    if any(remark.cls == UNSEALED for remark in reader.remarks):
        raise reader.reject("crc-mismatch", "crc", "of a wrapper", at=start + 12, detail="CRC_MISMATCH")
    if any(inner.magic != message.magic for inner in message.messages or ()):
        raise _refusal(reader, "messages", start, "inner magic differs from the wrapper's")
    if message.magic and message.attributes & APPEND_TIME and message.timestamp == -1:
        raise _refusal(reader, "timestamp", start + 18, "LogAppendTime without a time")
    _remark_message(reader, message, start)


def _remark_message(reader: Reader, message: Message, start: int) -> None:
    """§2.2: inner offsets 0, 1, 2, …, and under create time the wrapper's timestamp is the latest of them."""
    append = message.magic and message.attributes & APPEND_TIME
    if append:
        reader.remark("produce-append-time", "attributes", at=start + 17)
    if message.messages is None:
        return
    if [inner.offset for inner in message.messages] != list(range(len(message.messages))):
        reader.remark("produce-inner-offsets", "offset", at=start)
    latest = max(inner.timestamp for inner in message.messages)
    if message.magic and not append and message.timestamp != latest:
        reader.remark("max-timestamp", "timestamp", at=start + 18)


def check_log(reader: Reader, entries: list[Entry]) -> None:
    """A request: one batch if it is v2 or compressed, and one magic throughout: §1.7, "Request level".

    That a compressed set is one wrapper is asked by the broker's LogValidator, which takes the first batch
    and refuses a second one.

    Raises:
        Rejected: `not-permitted`.
    """
    magics = {entry.magic for entry in entries}
    if len(magics) > 1:
        raise _refusal(reader, "batches", reader.pos, "batches of different magic")
    if magics == {2} and len(entries) > 1:
        raise _refusal(reader, "batches", reader.pos, "more than one batch")
    wrapped = any(isinstance(entry, Message) and entry.messages is not None for entry in entries)
    if wrapped and len(entries) > 1:
        raise _refusal(reader, "batches", reader.pos, "a wrapper is not alone")


def _refusal(reader: Reader, name: str, at: int, text: str) -> Rejected:
    return reader.reject("not-permitted", name, text, at=at)
