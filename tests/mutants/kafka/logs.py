"""Kafka codecs with one fault in how they go over the entries of a log."""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Final

from tests.mutants.base import (
    Failed,
    JsonObject,
    Panic,
    ReferenceCodec,
    mutant,
    with_options,
)
from tests.mutants.kafka.helpers import MAGIC, V2, KafkaMutant, PatchedKafka, frames, replacing
from wireproof import formats
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Accepted, Outcome, Refused
from wireproof.formats import Format
from wireproof.kafka import append, control_types, log
from wireproof.kafka import entry as kafka_entry
from wireproof.kafka.attribute_bits import CODEC_MASK, CONTROL
from wireproof.kafka.size_and_magic import LOG_OVERHEAD, MAX_SIZE, SizeAndMagic, peek_whole_entry
from wireproof.kafka.values import LogEntry, Message, RecordBatch
from wireproof.wire.json_values import Json
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.scan_items import Item

# --- logs: kafka.md, section 2.4 ---


@mutant(KafkaMutant, "patch_answer", "partial-tail-raises")
def partial_tail_raises(outcome: Accepted, request: Request) -> Outcome:
    """Refuses a log that ends in a torn entry."""
    if not _torn(outcome, request):
        return outcome
    return Refused("truncated", outcome.consumed, "batches", before=outcome.value)


def _torn(outcome: Accepted, request: Request) -> bool:
    stream = request.op == "decode" and request.format == "kafka.log"
    return stream and outcome.consumed is not None and outcome.consumed < len(request.data)


@mutant(KafkaMutant, "patch_input", "first-magic-for-all")
def first_magic_for_all(data: bytes) -> bytes:
    """Reads every entry of a log in the format of the first."""
    out = bytearray(data)
    spans = list(frames(data))
    for start, _ in spans:
        out[start + MAGIC] = data[MAGIC]
    return bytes(out)


@mutant(KafkaMutant, "patch_entry", "magic-255-accepted")
def magic_255_accepted(entry: bytes) -> bytes:
    """Takes every magic of 2 and more, unsigned, for a v2 batch."""
    return entry[:MAGIC] + b"\2" + entry[MAGIC + 1 :] if entry[MAGIC] > 2 else entry


@mutant(KafkaMutant, "items", "scan-stops-at-damage", "kafka.log/mixed/scan/zeros-then-v0")
def scan_stops_at_damage(row: Format, chunks: Iterable[bytes], options: Options) -> Iterator[Item]:
    """Gives up a stream at the first entry that is damaged."""
    found = list(formats.scan(row, chunks, options))
    whole = sum(item.length for item in found)
    for item in found:
        if item.kind != "frame":
            yield Item("tail", item.at, whole - item.at)
            return
        yield item


@mutant(KafkaMutant, "items", "scan-per-chunk", "kafka.log/mixed/scan/two-frames-in-pieces")
def scan_per_chunk(row: Format, chunks: Iterable[bytes], options: Options) -> Iterator[Item]:
    """Reads each piece of a stream as if it were whole."""
    at = 0
    for chunk in chunks:
        for item in formats.scan(row, (chunk,), options):
            yield Item(item.kind, at + item.at, item.length, item.value, item.cls, item.remarks)
        at += len(chunk)


DELIVERED: Final = log.delivered_entries
READ_ENTRY: Final = kafka_entry.read


# --- batches one after the other ---


@replacing(kafka_entry, "read", "platformatic-kafka-123-compressed-batch-takes-rest")
def _rest_taken(reader: Reader, prefix: SizeAndMagic, options: Options) -> LogEntry:
    """Loses every batch behind a compressed one, whose region it reads to the end of the log."""
    value = READ_ENTRY(reader, prefix, options)
    if isinstance(value, RecordBatch) and value.attributes & CODEC_MASK:
        reader.pos = reader.end
    return value


def _reads_record_of_none(data: bytes) -> bool:
    """Return True if the reader looks for a record where there is none.

    It reads a header when it starts, one for each message, and one more if that batch is empty.
    """
    limit, run = 3, 0
    for start, end in frames(data):
        empty = data[start + MAGIC] == V2 and data[start + 57 : start + 61] == bytes(4)
        run = run + 1 if empty else 0
        if run == limit and len(data) > end + 6:
            return True
        limit = limit if empty else 2
    return False


class EmptyBatchesPanic(PatchedKafka):
    """Ends its process at two empty batches one behind the other."""

    name = "kafka-go-1107-empty-batches-panic"
    killed_by = ("kafka.log/mixed/entries/data-empty-empty-data",)

    def decode(self, request: Request) -> Outcome:
        if request.format == "kafka.log" and _reads_record_of_none(request.data):
            raise Panic("markRead: negative count")
        return super().decode(request)

    def scan(self, request: Request) -> Outcome:
        if _reads_record_of_none(b"".join(request.chunks)):
            raise Panic("markRead: negative count")
        return super().scan(request)


# --- what a consumer gets ---


@replacing(log, "delivered_entries", "kafka-7467-empty-control-batch")
def _first_of_control(entries: list[LogEntry], options: Options) -> list[LogEntry]:
    """Fails under read_committed on a control batch whose marker was cleaned away."""
    for one in entries if options.isolation == "read_committed" else ():
        if isinstance(one, RecordBatch) and one.attributes & CONTROL and not one.records:
            raise Failed(str(one.base_offset))
    return DELIVERED(entries, options)


@replacing(log, "delivered_entries", "kafkajs-312-null-key-in-filter")
def _key_of_each(entries: list[LogEntry], options: Options) -> list[LogEntry]:
    """Fails on a record without a key when it looks for the markers of aborted transactions."""
    looks = options.isolation == "read_committed" and options.aborted
    for one in entries if looks else ():
        if isinstance(one, RecordBatch) and any(inner.key is None for inner in one.records):
            raise Failed(str(one.base_offset))
    return DELIVERED(entries, options)


@replacing(log, "delivered_entries", "sarama-1005-offset-behind-compacted-records")
def _first_batch_fetched(entries: list[LogEntry], options: Options) -> list[LogEntry]:
    """Refuses a log from an offset on whose record is compacted away at the end of its batch."""
    fetch, first = options.fetch_offset, entries[0] if entries else None
    if fetch is not None and isinstance(first, RecordBatch) and first.records:
        last = first.base_offset + first.last_offset_delta
        if last >= fetch > max(one.offset for one in first.records):
            raise Rejected("other", None, "batches[0]", "incomplete response")
    return DELIVERED(entries, options)


# --- the end of a log: kafka.md, section 1.4 ---


@replacing(log, "peek_whole_entry", "tracker-few-last-bytes-refused")
def _peek_twelve_bytes(reader: Reader, max_size: int = MAX_SIZE) -> SizeAndMagic | None:
    """Refuses a log with fewer than 12 bytes after its last whole entry, as PyKafka did."""
    if 0 < reader.left < LOG_OVERHEAD:
        raise reader.reject("truncated", "", f"needs {LOG_OVERHEAD} bytes, {reader.left} left")
    return peek_whole_entry(reader, max_size)


@replacing(log, "peek_whole_entry", "tracker-cut-batch-refused")
def _peek_never_cut(reader: Reader, max_size: int = MAX_SIZE) -> SizeAndMagic | None:
    """Fails at a last batch that the byte limit of a fetch cut, where the log ends."""
    prefix = peek_whole_entry(reader, max_size)
    if prefix is None and reader.left >= LOG_OVERHEAD:
        raise reader.reject("truncated", "", "the last entry is cut")
    return prefix


# --- transactions: kafka.md, section 1.9 ---


@replacing(log, "AbortedTransactions", "tracker-aborted-ends-at-any-marker")
class _EndsAtAnyMarker(log.AbortedTransactions):
    """Takes the first marker of a producer for the end of its aborted transaction, as brod did."""

    def _close(self, marker: RecordBatch) -> None:
        self._open.discard(marker.producer_id)
        self._ahead = deque(pair for pair in self._ahead if pair[0] != marker.producer_id)


@replacing(log, "AbortedTransactions", "tracker-aborted-pops-at-any-abort")
class _PopsAtAnyAbort(log.AbortedTransactions):
    """Takes the next entry of the aborted list at an ABORT marker that is not in it."""

    def _close(self, marker: RecordBatch) -> None:
        was_open = marker.producer_id in self._open
        super()._close(marker)
        following = next((pair for pair in self._ahead if pair[0] == marker.producer_id), None)
        if following and not was_open and _is_abort(marker):
            self._ahead.remove(following)


def _is_abort(marker: RecordBatch) -> bool:
    control = marker.records[0].control if marker.records else None
    return control is not None and control.type == control_types.ABORT


@replacing(log, "AbortedTransactions", "tracker-aborted-start-must-exist")
class _ExactStart(log.AbortedTransactions):
    """Looks for the batch where an aborted transaction begins, which compaction may remove."""

    def hides(self, entry: LogEntry) -> bool:
        """As the reference, but that a transaction begins only with the batch that has its first offset."""
        while isinstance(entry, RecordBatch) and self._ahead and self._ahead[0][1] < entry.base_offset:
            self._ahead.popleft()
        return super().hides(entry)


@replacing(log, "AbortedTransactions", "tracker-aborted-start-at-marker")
class _StartsBeforeMarker(log.AbortedTransactions):
    """Leaves an aborted transaction open that begins and ends at its marker, as librdkafka did."""

    def __init__(self, transactions: tuple[tuple[int, int], ...]) -> None:
        super().__init__(transactions)
        self._listed = frozenset(transactions)

    def _close(self, marker: RecordBatch) -> None:
        if (marker.producer_id, marker.base_offset) not in self._listed:
            super()._close(marker)


class _MarkersKnown(log.AbortedTransactions):
    def _close(self, marker: RecordBatch) -> None:
        typed = marker.records[0].control if marker.records else None
        aborts = typed is not None and typed.type == control_types.ABORT
        if aborts and marker.producer_id not in self._open:
            raise Rejected("bad-control", text="a marker of no aborted transaction")
        super()._close(marker)


class UnknownMarkerRefused(PatchedKafka):
    """Fails at an ABORT marker whose transaction is not in the list of aborted ones, as Platformatic did."""

    name = "tracker-unknown-marker-refused"
    patches = ((log, "AbortedTransactions", _MarkersKnown),)

    def decode(self, request: Request) -> Outcome:
        committed = request.options.isolation == "read_committed"
        return super().decode(request) if committed else ReferenceCodec.decode(self, request)


@replacing(log, "AbortedTransactions", "tracker-markers-delivered")
class _MarkersDelivered(log.AbortedTransactions):
    """Delivers transaction markers, with a key of 4 bytes and a value of 6, as kafka-go does."""

    def hides(self, entry: LogEntry) -> bool:
        """As the reference, but that control batches are delivered."""
        control = isinstance(entry, RecordBatch) and bool(entry.attributes & CONTROL)
        return super().hides(entry) and not control


@mutant(PatchedKafka, "options", "tracker-aborted-list-ignored")
def aborted_list_ignored(request: Request) -> Options:
    """Delivers aborted records under read_committed, since it never looks at the list, as kafka-go does."""
    return with_options(request, aborted=())


# --- the fetch offset: kafka.md, section 1.9 ---

_drop_earlier = log._drop_earlier  # noqa: SLF001 - the part that is wrong in the mutant


@replacing(log, "_drop_earlier", "tracker-fetch-offset-skips-batches")
def _whole_batches(entry: LogEntry, fetch: int | None) -> LogEntry | None:
    """Delivers a whole batch of which a part is below the fetch offset, as Dekaf did."""
    if isinstance(entry, RecordBatch):
        return entry if entry.records else None
    return _drop_earlier(entry, fetch)


def _kept(items: list[JsonObject], expected: int) -> tuple[list[Json], int]:
    """Return the items whose offsets follow `expected` without a gap, and the offset after them."""
    kept: list[Json] = []
    for one in items:
        if int(one["offset"]) == expected:
            kept.append(one)
            expected += 1
    return kept, expected


@mutant(
    PatchedKafka,
    "patch_value",
    "tracker-gaps-skip-the-rest",
)
def gaps_skip_the_rest(value: Json, request: Request) -> Json:
    """Waits for the next offset and skips all others, so that a gap hides the rest, as kafka-python did."""
    expected = request.options.fetch_offset
    if expected is None or not isinstance(value, dict) or "batches" not in value:
        return value
    entries: list[Json] = []
    for entry in _objects(value["batches"]):
        part = "records" if "records" in entry else "messages"
        held, expected = _kept([entry] if entry[part] is None else entry[part], expected)
        if held:
            entries.append(entry if entry[part] is None else {**entry, part: held})
    return {**value, "batches": entries}


def _objects(tree: Json) -> list[JsonObject]:
    return [one for one in tree if isinstance(one, dict)] if isinstance(tree, list) else []


@mutant(PatchedKafka, "patch_value", "tracker-stuck-below-fetch-offset")
def stuck_below_fetch_offset(value: Json, request: Request) -> Json:
    """Stays at the fetch offset if every record of the batches is below it, as kafka-go did."""
    fetch = request.options.fetch_offset
    nothing = isinstance(value, dict) and value.get("batches") == [] and value.get("nextOffset")
    return {**value, "nextOffset": str(fetch)} if isinstance(value, dict) and nothing and fetch else value


# --- what a broker takes: kafka.md, section 1.7 ---

_remark_message = append._remark_message  # noqa: SLF001 - as above


@replacing(append, "_remark_message", "tracker-inner-offsets-must-count")
def _refuse_offsets(reader: Reader, one: Message, start: int) -> None:
    """Refuses a producer's v1 wrapper whose offsets do not count from 0."""
    if one.magic and one.messages is not None:
        offsets = [inner.offset for inner in one.messages]
        if offsets != list(range(len(offsets))):
            raise reader.reject("not-permitted", "messages", "offsets of v1 do not count from 0", at=start)
    _remark_message(reader, one, start)


@replacing(append, "check_request", "tracker-several-batches-taken")
def _check_magic_only(reader: Reader, entries: list[LogEntry]) -> None:
    """Takes a produce request with several batches, and so numbers only the first."""
    if len({entry.magic for entry in entries}) > 1:
        raise reader.reject("not-permitted", "batches", "batches of different magic")


# --- other parts in the modules of the reference ---
