"""Kafka mutants after bugs of public issue trackers: logs, the consumer's view, and the broker's rules.

See `tracker_base`. Each docstring says what is wrong, where it was so, and which bytes or options show it.
"""

from collections import deque
from collections.abc import Mapping
from typing import Final

from tests.mutants.base import JsonObject, ReferenceCodec, with_options
from tests.mutants.tracker_base import KafkaFromTracker
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Outcome
from wireproof.kafka import consumer_view, control_types, log, producer_rules
from wireproof.kafka.attribute_bits import CONTROL
from wireproof.kafka.size_and_magic import LOG_OVERHEAD, MAX_SIZE, SizeAndMagic, peek_whole_entry
from wireproof.kafka.values import LogEntry, Message, RecordBatch
from wireproof.wire.json_values import Json
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected

# --- the end of a log: kafka.md, section 1.4 ---


def _peek_twelve_bytes(reader: Reader, max_size: int = MAX_SIZE) -> SizeAndMagic | None:
    if 0 < reader.left < LOG_OVERHEAD:
        raise reader.reject("truncated", "", f"needs {LOG_OVERHEAD} bytes, {reader.left} left")
    return peek_whole_entry(reader, max_size)


class FewLastBytesRefused(KafkaFromTracker):
    """Refuses a log with fewer than 12 bytes after its last whole entry, as PyKafka did.

    Trigger: a message and four bytes of the next one.
    """

    name = "tracker-few-last-bytes-refused"
    link = "https://github.com/Parsely/pykafka/issues/155"
    patches = ((log, "peek_whole_entry", _peek_twelve_bytes),)


def _peek_never_cut(reader: Reader, max_size: int = MAX_SIZE) -> SizeAndMagic | None:
    prefix = peek_whole_entry(reader, max_size)
    if prefix is None and reader.left >= LOG_OVERHEAD:
        raise reader.reject("truncated", "", "the last entry is cut")
    return prefix


class CutBatchRefused(KafkaFromTracker):
    """Fails at a last batch that the byte limit of a fetch cut, where the log ends, as Platformatic did.

    Trigger: a batch and the first 20 bytes of another.
    """

    name = "tracker-cut-batch-refused"
    link = "https://github.com/platformatic/kafka/pull/125"
    patches = ((log, "peek_whole_entry", _peek_never_cut),)


# --- transactions: kafka.md, section 1.9 ---


class _EndsAtAnyMarker(consumer_view.AbortedTransactions):
    def _close(self, marker: RecordBatch) -> None:
        self._open.discard(marker.producer_id)
        self._ahead = deque(pair for pair in self._ahead if pair[0] != marker.producer_id)


class AbortedEndsAtAnyMarker(KafkaFromTracker):
    """Takes the first marker of a producer for the end of its aborted transaction, as brod did.

    Trigger: a committed transaction before the aborted one of the same producer.
    """

    name = "tracker-aborted-ends-at-any-marker"
    link = "https://github.com/kafka4beam/brod/pull/659"
    patches = ((consumer_view, "AbortedTransactions", _EndsAtAnyMarker),)


class _PopsAtAnyAbort(consumer_view.AbortedTransactions):
    def _close(self, marker: RecordBatch) -> None:
        was_open = marker.producer_id in self._open
        super()._close(marker)
        following = next((pair for pair in self._ahead if pair[0] == marker.producer_id), None)
        if following and not was_open and _is_abort(marker):
            self._ahead.remove(following)


def _is_abort(marker: RecordBatch) -> bool:
    control = marker.records[0].control if marker.records else None
    return control is not None and control.type == control_types.ABORT


class AbortedPopsAtAnyAbort(KafkaFromTracker):
    """Takes the next entry of the aborted list at an ABORT marker that is not in it, as librdkafka did.

    Trigger: an ABORT marker that is not listed, then an aborted transaction of the same producer.
    """

    name = "tracker-aborted-pops-at-any-abort"
    link = "https://github.com/confluentinc/librdkafka/pull/3369"
    patches = ((consumer_view, "AbortedTransactions", _PopsAtAnyAbort),)


class _ExactStart(consumer_view.AbortedTransactions):
    def hides(self, entry: LogEntry) -> bool:
        """As the reference, but that a transaction begins only with the batch that has its first offset."""
        while isinstance(entry, RecordBatch) and self._ahead and self._ahead[0][1] < entry.base_offset:
            self._ahead.popleft()
        return super().hides(entry)


class AbortedStartMustExist(KafkaFromTracker):
    """Looks for the batch where an aborted transaction begins, which compaction may remove, as brod did.

    Trigger: an aborted transaction whose first offset is before the first batch that is left of it.
    """

    name = "tracker-aborted-start-must-exist"
    link = "https://github.com/kafka4beam/brod/pull/329"
    patches = ((consumer_view, "AbortedTransactions", _ExactStart),)


class _StartsBeforeMarker(consumer_view.AbortedTransactions):
    def __init__(self, transactions: tuple[tuple[int, int], ...]) -> None:
        super().__init__(transactions)
        self._listed = frozenset(transactions)

    def _close(self, marker: RecordBatch) -> None:
        if (marker.producer_id, marker.base_offset) not in self._listed:
            super()._close(marker)


class AbortedStartAtMarker(KafkaFromTracker):
    """Leaves an aborted transaction open that begins and ends at its marker, as librdkafka did.

    Trigger: an aborted transaction with the offset of its ABORT marker, and data of the producer after it.
    """

    name = "tracker-aborted-start-at-marker"
    link = "https://github.com/confluentinc/librdkafka/pull/2498"
    patches = ((consumer_view, "AbortedTransactions", _StartsBeforeMarker),)


class _MarkersKnown(consumer_view.AbortedTransactions):
    def _close(self, marker: RecordBatch) -> None:
        typed = marker.records[0].control if marker.records else None
        aborts = typed is not None and typed.type == control_types.ABORT
        if aborts and marker.producer_id not in self._open:
            raise Rejected("bad-control", text="a marker of no aborted transaction")
        super()._close(marker)


class UnknownMarkerRefused(KafkaFromTracker):
    """Fails at an ABORT marker whose transaction is not in the list of aborted ones, as Platformatic did.

    Trigger: read_committed, a fetch that begins at an ABORT marker, and no aborted transaction.
    """

    name = "tracker-unknown-marker-refused"
    link = "https://github.com/platformatic/kafka/issues/391"
    patches = ((consumer_view, "AbortedTransactions", _MarkersKnown),)

    def decode(self, request: Request) -> Outcome:
        """Decode wrongly only under read_committed: the list is not looked at otherwise."""
        committed = request.options.isolation == "read_committed"
        return super().decode(request) if committed else ReferenceCodec.decode(self, request)


class _MarkersDelivered(consumer_view.AbortedTransactions):
    def hides(self, entry: LogEntry) -> bool:
        """As the reference, but that control batches are delivered."""
        control = isinstance(entry, RecordBatch) and bool(entry.attributes & CONTROL)
        return super().hides(entry) and not control


class MarkersDelivered(KafkaFromTracker):
    """Delivers transaction markers, with a key of 4 bytes and a value of 6, as kafka-go does.

    Trigger: read_committed and a COMMIT marker.
    """

    name = "tracker-markers-delivered"
    link = "https://github.com/segmentio/kafka-go/issues/659"
    patches = ((consumer_view, "AbortedTransactions", _MarkersDelivered),)


class AbortedListIgnored(KafkaFromTracker):
    """Delivers aborted records under read_committed, since it never looks at the list, as kafka-go does.

    Trigger: read_committed and an aborted transaction.
    """

    name = "tracker-aborted-list-ignored"
    link = "https://github.com/segmentio/kafka-go/issues/1332"

    def options(self, request: Request) -> Options:
        """Drop the list."""
        return with_options(request, aborted=())


# --- the fetch offset: kafka.md, section 1.9 ---

_drop_earlier = consumer_view._drop_earlier  # noqa: SLF001 - the part that is wrong in the mutant


def _whole_batches(entry: LogEntry, fetch: int | None) -> LogEntry | None:
    if isinstance(entry, RecordBatch):
        return entry if entry.records else None
    return _drop_earlier(entry, fetch)


class FetchOffsetSkipsBatches(KafkaFromTracker):
    """Delivers a whole batch of which a part is below the fetch offset, as Dekaf did.

    Trigger: a fetch offset in the middle of a batch.
    """

    name = "tracker-fetch-offset-skips-batches"
    link = "https://github.com/thomhurst/Dekaf/issues/2074"
    patches = ((consumer_view, "_drop_earlier", _whole_batches),)


def _kept(items: list[JsonObject], expected: int) -> tuple[list[Json], int]:
    """Return the items whose offsets follow `expected` without a gap, and the offset after them."""
    kept: list[Json] = []
    for one in items:
        if int(one["offset"]) == expected:
            kept.append(one)
            expected += 1
    return kept, expected


class GapsSkipTheRest(KafkaFromTracker):
    """Waits for the next offset and skips all others, so that a gap hides the rest, as kafka-python did.

    Trigger: a fetch offset and a log in which compaction left a gap.
    """

    name = "tracker-gaps-skip-the-rest"
    link = "https://github.com/dpkp/kafka-python/pull/752"

    def patch_value(self, value: Json, request: Request, data: bytes) -> Json:
        """Keep the records up to the first gap."""
        del data
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


class StuckBelowFetchOffset(KafkaFromTracker):
    """Stays at the fetch offset if every record of the batches is below it, as kafka-go did.

    Trigger: a fetch offset after the last record that compaction left of a batch.
    """

    name = "tracker-stuck-below-fetch-offset"
    link = "https://github.com/segmentio/kafka-go/pull/807"

    def patch_value(self, value: Json, request: Request, data: bytes) -> Json:
        """Repeat the fetch offset."""
        del data
        fetch = request.options.fetch_offset
        nothing = isinstance(value, dict) and value.get("batches") == [] and value.get("nextOffset")
        return {**value, "nextOffset": str(fetch)} if isinstance(value, dict) and nothing and fetch else value


# --- what a broker takes: kafka.md, section 1.7 ---

_remark_message = producer_rules._remark_message  # noqa: SLF001 - as above


def _refuse_offsets(reader: Reader, one: Message, start: int) -> None:
    if one.magic and one.messages is not None:
        offsets = [inner.offset for inner in one.messages]
        if offsets != list(range(len(offsets))):
            raise reader.reject("not-permitted", "messages", "offsets of v1 do not count from 0", at=start)
    _remark_message(reader, one, start)


class InnerOffsetsMustCount(KafkaFromTracker):
    """Refuses a producer's v1 wrapper whose offsets do not count from 0, as Kafka 2.4 did: KAFKA-9669.

    Trigger: a v1 wrapper with the inner offsets 0 and 0 that is appended to a topic.
    """

    name = "tracker-inner-offsets-must-count"
    link = "https://github.com/apache/kafka/pull/8647"
    patches = ((producer_rules, "_remark_message", _refuse_offsets),)


def _check_magic_only(reader: Reader, entries: list[LogEntry]) -> None:
    if len({entry.magic for entry in entries}) > 1:
        raise reader.reject("not-permitted", "batches", "batches of different magic")


class SeveralBatchesTaken(KafkaFromTracker):
    """Takes a produce request with several batches, and so numbers only the first, as Kafka did: KAFKA-8428.

    Trigger: two batches in one request.
    """

    name = "tracker-several-batches-taken"
    link = "https://github.com/apache/kafka/pull/6816"
    patches = ((producer_rules, "check_request", _check_magic_only),)


MUTANTS: Final[Mapping[str, type[ReferenceCodec]]] = {
    made.name: made
    for made in (
        FewLastBytesRefused,
        CutBatchRefused,
        AbortedEndsAtAnyMarker,
        AbortedPopsAtAnyAbort,
        AbortedStartMustExist,
        AbortedStartAtMarker,
        UnknownMarkerRefused,
        MarkersDelivered,
        AbortedListIgnored,
        FetchOffsetSkipsBatches,
        GapsSkipTheRest,
        StuckBelowFetchOffset,
        InnerOffsetsMustCount,
        SeveralBatchesTaken,
    )
}
"""Name to class."""
