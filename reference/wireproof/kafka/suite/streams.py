"""What the logs of Kafka are known by, what they need, and the rules that their scan does not give."""

import re
from collections.abc import Iterator, Sequence
from struct import Struct
from typing import Final

from attrs import define, evolve

from wireproof.family import Format
from wireproof.kafka import attribute_bits, scan
from wireproof.kafka.batch import BATCH, CODECS
from wireproof.kafka.size_and_magic import MAGIC_AT, MIN_SIZE
from wireproof.kafka.suite.listing import BASE_OFFSET, LAST_OFFSET, LEADER_EPOCH, MAGIC, offsets_and_epoch
from wireproof.wire.json_values import DECIMAL_PATTERN, Json
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.trace import FieldSpan
from wireproof.wire.walk import DamagedRange, Entry, EntryRows, Steps

# --- the beginning and the names of files ---

_BATCH: Final = Struct(">8xi4xB4xHi16xqhii")
"""Size, magic, attributes, last offset delta, producer and count of a batch: kafka.md §1.1."""


def begins_like_an_entry(data: bytes) -> bool:
    """Return whether there is a magic of 0 to 2, and a plausible size and offset: kafka.md §1.4.

    The size of a batch may be damaged, if all its other fields are plausible.
    """
    if len(data) <= MAGIC_AT or data[MAGIC_AT] > 2 or data[:2] not in (b"\x00\x00", b"\xff\xff"):
        return False
    return MIN_SIZE <= int.from_bytes(data[8:12], "big") < 1 << 24 or _size_of_batch(data, 0) is not None


def holds_a_batch(data: bytes) -> bool:
    """Return whether a whole batch with plausible fields begins behind a few stray bytes."""
    sizes = ((at, _size_of_batch(data, at)) for at in range(1, 64))
    return any(size is not None and MIN_SIZE <= size <= len(data) - at - 12 for at, size in sizes)


def _size_of_batch(data: bytes, at: int) -> int | None:
    """Return the size field of a batch whose other fields are plausible; None if they are not."""
    if len(data) - at < _BATCH.size:
        return None
    size, magic, attributes, delta, producer, epoch, sequence, count = _BATCH.unpack_from(data, at)
    plausible = magic == 2 and attributes < 0x80 and attributes & 7 <= 4 and 0 <= delta == count - 1 < 1 << 20
    none = producer == epoch == sequence == -1
    return size if plausible and (none or min(producer, epoch, sequence) >= 0) else None


MARKS: Final = {"kafka.": begins_like_an_entry, "kafka.log": holds_a_batch}

FILE_NAMES: Final = ((re.compile(r"\d{20}\.log(\.(deleted|cleaned|swap))?"), "kafka.log"),)

# --- the capabilities of fields: sections are those of kafka.md ---

ATTRIBUTE_CAPABILITIES: Final = (
    (attribute_bits.LOG_APPEND_TIME, "feature:log-append-time"),
    (attribute_bits.TRANSACTIONAL, "feature:transactional"),
    (attribute_bits.CONTROL, "feature:control-batch"),
    (attribute_bits.DELETE_HORIZON, "feature:delete-horizon"),
)
"""Attribute bits and the capability that they need: §1.2."""


def of_bytes(spans: Sequence[FieldSpan], options: Options) -> Iterator[str]:
    """Yield the capabilities of fields; with a consumer's options no control batch is delivered: §1.9."""
    found: set[str] = set()
    for span in spans:
        if "messages[" in span.path:
            found.add("feature:wrapper")
        match span.path.rpartition(".")[2], span.value:
            case "attributes", int(flags) if not span.space:
                found.update(_of_flags(flags))
            case "recordsCount", 0:
                found.add("feature:empty-batch")
            case "producerId", int(number) if number != -1:
                found.add("feature:idempotent")
    if options.fetch_offset is not None or options.isolation != DEFAULT_OPTIONS.isolation:
        found.discard("feature:control-batch")
    yield from found
    magics = {span.value for span in spans if span.path.endswith("].magic") and not span.space}
    if len(magics) > 1:
        yield "feature:mixed-magic"
    if options.topic:
        yield "feature:topic-settings"
    # Brokers take these from Produce 0 to 2 only, which Kafka 4 does not have: KIP-896, KIP-724.
    if options.topic is not None and magics & {0, 1}:
        yield "feature:append-legacy"


def _of_flags(flags: int) -> Iterator[str]:
    """Yield the capabilities of attribute bits: a batch may name its codec and have no compressed byte."""
    yield from (atom for bit, atom in ATTRIBUTE_CAPABILITIES if flags & bit)
    if (codec := flags & attribute_bits.CODEC_MASK) and codec in CODECS:
        yield f"codec:{CODECS[codec]}"


def of_value(value: Json) -> Iterator[str]:
    """Yield the capabilities that the attribute bits of a value in JSON form need."""
    entries = [value]
    if isinstance(value, dict):
        entries += [entry for part in value.values() if isinstance(part, list) for entry in part]
    flags = (entry.get("attributes") for entry in entries if isinstance(entry, dict))
    numbers = (int(text) for text in flags if isinstance(text, str) and re.fullmatch(DECIMAL_PATTERN, text))
    yield from (atom for number in numbers for atom in _of_flags(number))


# --- streams ---


@define
class EntryOrder:
    """Checks the rising offsets and leader epochs of a log: kafka.md §1.5; no checksum covers them."""

    last: int | None = None
    epoch: int = -1

    def after(self, one: Entry, _: object) -> Iterator[DamagedRange]:
        """Yield what is wrong with the offsets or the epoch of the next entry."""
        first, last, epoch = offsets_and_epoch(one.cells)
        if epoch is not None:
            if epoch < self.epoch or epoch < -1:
                text = f"epoch {epoch} after {self.epoch}: one of the two is damaged"
                path = f"batches[{one.number}].partitionLeaderEpoch"
                yield one.damage(
                    "leader-epoch-order", one.at + BATCH.offset("partitionLeaderEpoch"), path, text
                )
            self.epoch = epoch
        if self.last is not None and first <= self.last:
            text = f"offset {first} after {self.last}: one of the two is damaged"
            yield one.damage("offsets-not-monotonic", one.at, f"batches[{one.number}].baseOffset", text)
        self.last = last

    def pass_rows(self, rows: EntryRows, first: int) -> int:
        """Return the first entry whose offset does not rise, or with another epoch; nearly none is one."""
        last, epoch = self.last, self.epoch
        if last is None or epoch < -1:
            return first
        for index in range(first, len(rows)):
            cells = rows.cells[index]
            base = cells[BASE_OFFSET]
            if (cells[LAST_OFFSET] if base is None else base) <= last:
                break
            if cells[LEADER_EPOCH] != epoch and cells[MAGIC] > 1:
                break
            last = cells[LAST_OFFSET]
        else:
            index = len(rows)
        self.last = last
        return index


def _size(tail: bytes) -> int:
    """Return size and overhead of an entry: kafka.md §1.1."""
    return int.from_bytes(tail[8:12], "big", signed=True) + 12 if len(tail) > MAGIC_AT else 0


def _steps(_: Format, plain: Steps) -> Steps:
    """Return the steps of a log; an entry has its own checksum, so the one before it shows nothing."""
    return evolve(
        plain,
        size=_size,
        damaged_length=lambda data, length, options, _: scan.damaged_length(data, length, options),
        lookahead=scan.LOOKAHEAD,
        order=EntryOrder,
        entries_begin_at=scan.two_entries_begin_at,
    )


STREAMS: Final = {"kafka.log": _steps}


def _next_offset(entries: Sequence[Json]) -> dict[str, Json]:
    """Return the next offset of a log: that of its last entry."""
    last = entries[-1] if entries else None
    return {"nextOffset": last.get("nextOffset") if isinstance(last, dict) else None}


DERIVED_FIELDS: Final = {"kafka.log": _next_offset}
