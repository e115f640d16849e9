"""Kafka codecs with a bug of a public tracker in records and their headers: `bugs.toml`."""

from collections.abc import Callable
from typing import Final

from tests.mutants.base import JsonObject, in_codec, mutant, patched, walk
from tests.mutants.kafka.helpers import PatchedKafka, misreading, records, replacing
from wireproof.adapters.contract import Request
from wireproof.kafka import log, message, record
from wireproof.kafka.batch import RECORD_BATCH
from wireproof.kafka.record import BatchContext
from wireproof.kafka.values import LogEntry, Message, Record, RecordBatch, RecordHeader
from wireproof.wire.json_values import Json
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected

# --- records: kafka.md, sections 1.3, 1.5 and 4 ---

VARINT_BYTES: Final = 5


@misreading(PatchedKafka, "varint", "tracker-varint-cut")
def _open_varint(self: Reader, name: str) -> int:
    """Reads a varint that the end of the bytes cuts as if it were whole, as KafkaJS does."""
    left = self.data[self.pos : self.end][:VARINT_BYTES]
    if 0 < len(left) < VARINT_BYTES and min(left) > 0x7F:
        raw = sum((byte & 0x7F) << 7 * number for number, byte in enumerate(left))
        self.pos = self.end
        return raw >> 1 ^ -(raw & 1)
    return Reader.varint(self, name)


_header, _headers, _read = record._header, record._headers, record._read  # noqa: SLF001 - the parts that are wrong in the mutants


def _is_text(data: bytes | None) -> bool:
    try:
        (data or b"").decode()
    except UnicodeDecodeError:
        return False
    return True


@replacing(record, "_header", "tracker-header-value-as-text")
def _header_of_text(reader: Reader) -> RecordHeader:
    """Refuses a header value that is no UTF-8, though it is but bytes, as FastStream does."""
    key, held = _header(reader)
    if not _is_text(held):
        raise reader.reject("bad-utf8", "value")
    return key, held


@replacing(record, "_headers", "tracker-header-keys-unique")
def _headers_once(reader: Reader, count: int, at: int) -> tuple[RecordHeader, ...]:
    """Refuses a record with two headers of one key."""
    found = _headers(reader, count, at)
    if len(dict(found)) < len(found):
        raise reader.reject("duplicate-field", "headers", at=at)
    return found


_read_message = message.read


def _record_with_text_key(reader: Reader, context: BatchContext, end: int) -> Record:
    found = _read(reader, context, end)
    if not _is_text(found.key):
        raise reader.reject("bad-utf8", "key")
    return found


def _message_with_text_key(reader: Reader, magic: int) -> Message:
    found = _read_message(reader, magic)
    if not all(_is_text(one.key) for one in (found, *(found.messages or ()))):
        raise reader.reject("bad-utf8", "key")
    return found


def each_record(value: Json, change: Callable[[JsonObject], JsonObject]) -> Json:
    """Return the value with every record passed through `change`."""
    for part in walk(value):
        if "records" in part:
            part["records"] = [change(one) for one in part["records"]]
    return value


def _filled(one: JsonObject) -> JsonObject:
    headers = [[key, held or ""] for key, held in one["headers"]]
    return {**one, "key": one["key"] or "", "value": one["value"] or "", "headers": headers}


class NullIsEmptyBothWays(PatchedKafka):
    """Reads null as empty and writes it as empty, so that its own round trips hide it."""

    name = "tracker-null-is-empty-both-ways"

    def spoil(self, entry: JsonObject, raw: bytes) -> None:
        """Fill keys, values and header values that are read."""
        del raw
        each_record(entry, _filled)

    def patch_value_to_write(self, value: Json, request: Request) -> Json:
        return each_record(value, _filled)


ELSEWHERE: Final = frozenset({"decompress-failed", "limit-exceeded", "bad-control"})
"""The rejections that do not come from the fields of a record."""


def _records_to_fault(reader: Reader, **fields: int) -> tuple[Record, ...]:
    try:
        return record.read_region(reader, **fields)
    except Rejected as rejected:
        if rejected.cls in ELSEWHERE:
            raise
        return rejected.before or ()


_read_all = log._read_all  # noqa: SLF001 - as above


class _NoEmptyPair(list[LogEntry]):
    def append(self, one: LogEntry) -> None:
        before = self[-1:]
        super().append(one)
        if before and all(isinstance(each, RecordBatch) and not each.records for each in (*before, one)):
            raise Rejected("count-mismatch", text="no record after the second header")


@replacing(log, "_read_all", "tracker-empty-batches-in-a-row")
def _read_all_but_empty_pairs(reader: Reader, options: Options, entries: list[LogEntry]) -> None:
    """Reads past one batch that compaction emptied, but fails at the second in a row."""
    seen = _NoEmptyPair()
    try:
        _read_all(reader, options, seen)
    finally:
        entries.extend(seen)


def _low_word_signed(number: int) -> int:
    low = number & 0xFFFF_FFFF
    return low - (1 << 32) if low >> 31 else number


@mutant(PatchedKafka, "patch_value", "tracker-offset-low-word-signed")
def offset_low_word_signed(value: Json) -> None:
    """Joins the two halves of an offset without clearing the sign of the lower one, as kafka-php did."""
    for part in walk(value):
        for field in {"offset", "baseOffset"} & part.keys():
            part[field] = str(_low_word_signed(int(part[field])))


@mutant(PatchedKafka, "spoil", "tracker-sequence-wraps-negative")
def sequence_wraps_negative(entry: JsonObject) -> None:
    """Counts sequences past 2147483647 into the negative ones, where 0 comes next, as Kafka's client did."""
    base = int(entry.get("baseSequence", -1))
    for one in records(entry) if base >= 0 else ():
        number = base + int(one["offsetDelta"])
        one["sequence"] = str((number + (1 << 31)) % (1 << 32) - (1 << 31))


# --- other parts in the modules of the reference ---

patched(
    PatchedKafka,
    {
        "tracker-key-as-text": (
            "Refuses a key that is no UTF-8, as Mage does even where it is told to leave the bytes alone.",
            ((record, "_read", _record_with_text_key), (message, "read", _message_with_text_key)),
        ),
        "tracker-malformed-record-ends-batch": (
            "Takes a malformed record for the end of its batch and drops it and those after it.",
            in_codec(RECORD_BATCH, read_records=lambda _: _records_to_fault),
        ),
    },
)
