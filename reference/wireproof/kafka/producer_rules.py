"""The rules for entries that a producer sends, as a broker checks them: kafka.md §1.7, profile `produce`.

They are checked after those of an ordinary reader. Rules of §1.7 that need the broker's configuration, its
clock or its producer state are not here. Values that a broker accepts although no producer should write them
get a remark (the broker stores or clears them, or recompresses the batch): a decoder may reject them, an
encoder must not write them.
"""

from typing import Final

from wireproof.kafka.attribute_bits import CODEC_MASK, CONTROL, DELETE_HORIZON, LOG_APPEND_TIME
from wireproof.kafka.layouts import BATCH, MESSAGE_V0, MESSAGE_V1
from wireproof.kafka.values import LogEntry, Message, RecordBatch
from wireproof.wire import snappy
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected

SNAPPY: Final = 2
"""The codec: §1.2."""

WRAPPER_CRC: Final = "wrapper-crc"
"""The remark that an ordinary reader adds if the CRC of a wrapper is wrong."""


def check_entry(reader: Reader, entry: LogEntry, start: int) -> None:
    """Check the entry that was read at position `start`: §1.7.

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
    append = batch.attributes & LOG_APPEND_TIME
    checks = (
        (batch.base_offset != 0, "baseOffset", "it must be 0 in a batch of a producer"),
        (count == 0, "recordsCount", "no records"),
        (last + 1 != count, "lastOffsetDelta", f"{last}, but {count} records"),  # KAFKA-6554
        (batch.attributes & CONTROL, "attributes", "a producer cannot send a control batch"),
        (batch.producer_id > -1 and batch.base_sequence < 0, "baseSequence", "no sequence"),
        (append and batch.max_timestamp == -1, "maxTimestamp", "LogAppendTime without a timestamp"),
    )
    for wrong, name, text in checks:
        if wrong:
            raise _not_permitted(reader, name, start + BATCH.offset(name), text)
    attributes_at = start + BATCH.offset("attributes")
    if append:
        reader.remark("produce-append-time", "attributes", at=attributes_at)
    if batch.attributes & DELETE_HORIZON:
        reader.remark("produce-delete-horizon", "attributes", at=attributes_at)
    _remark_framing(reader, batch.attributes, start + BATCH.offset("records"))


def _check_message(reader: Reader, message: Message, start: int) -> None:
    """Check a message or wrapper: unlike a consumer, a broker checks a wrapper's CRC and the inner magic."""
    if any(remark.cls == WRAPPER_CRC for remark in reader.remarks):
        at = start + MESSAGE_V1.offset("crc")
        raise reader.reject("crc-mismatch", "crc", "of a wrapper", at=at, detail="CRC_MISMATCH")
    if any(inner.magic != message.magic for inner in message.messages or ()):
        raise _not_permitted(reader, "messages", start, "inner magic differs from the wrapper's")
    if message.magic and message.attributes & LOG_APPEND_TIME and message.timestamp == -1:
        at = start + MESSAGE_V1.offset("timestamp")
        raise _not_permitted(reader, "timestamp", at, "LogAppendTime without a timestamp")
    _remark_message(reader, message, start)


def _remark_message(reader: Reader, message: Message, start: int) -> None:
    """Add remarks where a producer should write other values: §2.2.

    Inner offsets are 0, 1, 2, … Under CreateTime the timestamp of a wrapper is the latest inner one.
    """
    append = message.magic and message.attributes & LOG_APPEND_TIME
    if append:
        reader.remark("produce-append-time", "attributes", at=start + MESSAGE_V1.offset("attributes"))
    if message.messages is None:
        return
    key_at = start + (MESSAGE_V1 if message.magic else MESSAGE_V0).offset("keyLength") + 4
    _remark_framing(reader, message.attributes, key_at + len(message.key or b"") + 4)
    if [inner.offset for inner in message.messages] != list(range(len(message.messages))):
        reader.remark("produce-inner-offsets", "offset", at=start)
    latest = max(inner.timestamp for inner in message.messages)
    if message.magic and not append and message.timestamp != latest:
        reader.remark("max-timestamp", "timestamp", at=start + MESSAGE_V1.offset("timestamp"))


def _remark_framing(reader: Reader, attributes: int, at: int) -> None:
    """Add a remark where snappy that begins at `at` has no framing, which some readers need: §3.2."""
    if attributes & CODEC_MASK == SNAPPY and not reader.data.startswith(snappy.MAGIC, at):
        reader.remark("snappy-unframed", "records", at=at)


def check_request(reader: Reader, entries: list[LogEntry]) -> None:
    """Check the entries of one request: §1.7, "Request level".

    All have the same magic, and a v2 batch or a wrapper is the only entry. The broker's LogValidator takes
    the first batch of a compressed set and rejects a second one.

    Raises:
        Rejected: `not-permitted`.
    """
    magics = {entry.magic for entry in entries}
    if len(magics) > 1:
        raise _not_permitted(reader, "batches", reader.pos, "batches of different magic")
    if magics == {2} and len(entries) > 1:
        raise _not_permitted(reader, "batches", reader.pos, "more than one batch")
    wrapped = any(isinstance(entry, Message) and entry.messages is not None for entry in entries)
    if wrapped and len(entries) > 1:
        raise _not_permitted(reader, "batches", reader.pos, "a wrapper must be the only entry")


def _not_permitted(reader: Reader, name: str, at: int, text: str) -> Rejected:
    return reader.reject("not-permitted", name, text, at=at)
