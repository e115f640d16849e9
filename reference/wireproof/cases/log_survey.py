"""Survey of a whole log: how much of it is sound, where and how it is damaged, and where it is cut.

A scan accounts for every byte of a stream. A survey reads the same items, and where an entry is rejected or
cut it doubts the entry's size; it also checks the order of the entries, which no checksum covers.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final

from attrs import evolve, field, frozen

from wireproof import formats
from wireproof.formats import Format
from wireproof.iggy import log as iggy_log
from wireproof.iggy import resync as iggy_resync
from wireproof.kafka import resync as kafka_resync
from wireproof.kafka.layouts import BATCH
from wireproof.kafka.size_and_magic import MAGIC_AT
from wireproof.kafka.values import Message, RecordBatch
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.rejection import Position, Rejected
from wireproof.wire.scan_items import Item

LOG_FORMATS: Final = ("kafka.log", "iggy.log", "heka.stream")
"""Formats of many entries, which have a scan."""

PIECE_BYTES: Final = 1 << 16
FREE_BYTES: Final = 256 * 1024 * 1024
WORK_FACTOR: Final = 4
"""Bytes that may be read again: a fixed number, and a multiple of the bytes passed."""

MISMATCH_REMARKS: Final = frozenset(
    {"wrapper-crc", "iggy-payload-checksum", "iggy-message-checksum", "iggy-batch-checksum",
     "iggy-batch-count", "iggy-request-checksum"}
)  # fmt: skip
"""Remarks on a wrong checksum or count: a reader may ignore it, but the bytes are damaged."""


@frozen
class DamagedRange:
    """A damaged range of a log.

    Attributes:
        at, end: its bytes.
        number: the entries before it.
        cls: the class of the rejection, or of the remark.
        where, path, text: the first wrong byte, its field, and a line for a person.
    """

    at: int
    end: int
    number: int
    cls: str
    where: Position
    path: str
    text: str


@frozen
class LogSurvey:
    """The contents of a log.

    Attributes:
        size: bytes of the file.
        entries, sound: the number of whole accepted entries, and their bytes.
        proven: bytes of those with a checksum over at least one message.
        damages: in order.
        tail: bytes at the end that begin an entry.
        wanted: bytes that this entry needs, if known.
        remarks: those of the sound entries.
    """

    size: int
    entries: int = 0
    sound: int = 0
    proven: int = 0
    damages: tuple[DamagedRange, ...] = field(default=())
    tail: int = 0
    wanted: int = 0
    remarks: Counter[str] = field(factory=Counter)

    @property
    def whole(self) -> bool:
        """Return True if every byte belongs to a valid entry."""
        return not self.damages and not self.tail


def survey_log(row: Format, data: bytes, options: Options = DEFAULT_OPTIONS) -> LogSurvey:
    """Survey all the bytes of a log; `row` is a format in `LOG_FORMATS`."""
    return _survey(row, data, options, survey_items(row, data, options))


def quick_survey(row: Format, data: bytes, options: Options = DEFAULT_OPTIONS) -> LogSurvey:
    """Survey all the bytes of a possible log, trusting every size."""
    return _survey(row, data, options, formats.scan(row, _pieces(data, 0), options))


def _survey(row: Format, data: bytes, options: Options, scanned: Iterator[Item]) -> LogSurvey:
    sound, proven, remarks = [0, 0], 0, Counter[str]()
    damages: list[DamagedRange] = []
    order = _Order()
    tail = 0
    for item in scanned:
        match item.kind:
            case "frame":
                sound[0] += 1
                sound[1] += item.length
                proven += item.length * _proven(item.value)
                remarks.update(remark.cls for remark in item.remarks)
                damages += _misfits(item, sound[0] + len(damages) - 1)
                damages += order.after(item, sound[0] + len(damages) - 1)
            case "garbage":
                _add(damages, _damage(row, data, item, options, sound[0] + len(damages)))
            case "tail":
                tail = item.length
    needs = bytes_needed(row, data[len(data) - tail :]) if tail else 0
    return LogSurvey(len(data), sound[0], sound[1], proven, tuple(damages), tail, needs, remarks)


def _proven(value: Any) -> bool:  # noqa: ANN401 - any entry's class
    """Return whether an entry has content: a checksum of nothing is right even in zeros."""
    parts = getattr(value, "messages", None)
    if parts is None:
        return bool(getattr(value, "payload", True))
    return bool(parts) and all(_proven(part) for part in parts)


# --- items ---

Resumed = Callable[[bytes, int, Any], int]


def survey_items(row: Format, data: bytes, options: Options) -> Iterator[Item]:
    """Yield the items of a scan, each damaged one no longer than the damage."""
    at, spent, last = 0, 0, None
    while at < len(data):
        begun = at
        for found in formats.scan(row, _pieces(data, begun), options):
            item = evolve(found, at=begun + found.at)
            at = item.at + item.length
            stop = 0
            if item.kind != "frame" and spent <= FREE_BYTES + WORK_FACTOR * item.at:
                spent += item.length + kafka_resync.LOOKAHEAD
                stop = _resumed(row, data, item, options, last)
            last = item.value if item.kind == "frame" else last
            if stop:
                at = item.at + stop
                yield Item("garbage", item.at, stop, cls="bad-length")
                break
            yield item


def _pieces(data: bytes, at: int) -> Iterator[bytes]:
    return (data[place : place + PIECE_BYTES] for place in range(at, len(data), PIECE_BYTES))


def _resumed(row: Format, data: bytes, item: Item, options: Options, last: Any) -> int:  # noqa: ANN401 - a value
    """Return the damaged bytes of an item; 0 for all of them."""
    match row.name:
        case "kafka.log":
            here = data[item.at : item.at + item.length + kafka_resync.LOOKAHEAD]
            return kafka_resync.damaged_length(here, item.length, options)
        case "iggy.log":
            here = data[item.at : item.at + item.length + iggy_resync.LOOKAHEAD]
            before = -1 if last is None else iggy_resync.last_offset(last)
            return iggy_resync.damaged_length(iggy_log.REVISIONS[row.revision], here, item.length, before)
    return 0


# --- damage ---


def _damage(row: Format, data: bytes, item: Item, options: Options, number: int) -> DamagedRange:
    """Describe garbage by the rejection of its first entry."""
    cls, end = item.cls or "other", item.at + item.length
    try:
        formats.decode(row, data[item.at : end], options)
    except Rejected as refused:
        path = refused.path.replace("[0]", f"[{number}]", 1)
        where = shift_position(refused.at, item.at) if refused.at is not None else item.at
        return DamagedRange(item.at, end, number, refused.cls, where, path, refused.text)
    text = "its length runs past where the next entry begins" if cls == "bad-length" else ""
    return DamagedRange(item.at, end, number, cls, item.at, "", text)


def _add(damages: list[DamagedRange], one: DamagedRange) -> None:
    """Add a range; bytes after a damaged entry that begin no entry belong to it."""
    if damages and damages[-1].end == one.at and one.cls in ("bad-length", "bad-magic", "bad-separator"):
        damages[-1] = evolve(damages[-1], end=one.end)
    else:
        damages.append(one)


def _misfits(item: Item, number: int) -> Iterator[DamagedRange]:
    for remark in item.remarks:
        if remark.cls in MISMATCH_REMARKS:
            text = "what is stored does not fit the bytes"
            yield DamagedRange(
                item.at,
                item.at + item.length,
                number,
                remark.cls,
                shift_position(remark.at, item.at),
                remark.path,
                text,
            )


def shift_position(at: Position, base: int) -> Position:
    """Return the position `at` of bytes that begin at `base` of other bytes."""
    place, _, inner = str(at).partition(">")
    if not place.lstrip("-").isdecimal():
        return at
    return f"{int(place) + base}>{inner}" if inner else int(place) + base


class _Order:
    """Checks the rising offsets and leader epochs of a Kafka log: kafka.md §1.5; no checksum covers them."""

    def __init__(self) -> None:
        self.last: int | None = None
        self.epoch = -1

    def after(self, item: Item, number: int) -> Iterator[DamagedRange]:
        """Yield the faults in the order of the next entry."""
        end = item.at + item.length
        match item.value:
            case RecordBatch(base_offset=first, last_offset_delta=delta, partition_leader_epoch=epoch):
                if epoch < self.epoch or epoch < -1:
                    text = f"epoch {epoch} after {self.epoch}: one of the two is damaged"
                    path = f"batches[{number}].partitionLeaderEpoch"
                    at = item.at + BATCH.offset("partitionLeaderEpoch")
                    yield DamagedRange(item.at, end, number, "leader-epoch-order", at, path, text)
                self.epoch = epoch
                last = first + delta
            case Message(offset=last, messages=inner):
                first = inner[0].offset if inner else last
            case _:
                return
        if self.last is not None and first <= self.last:
            text = f"offset {first} after {self.last}: one of the two is damaged"
            path = f"batches[{number}].baseOffset"
            yield DamagedRange(item.at, end, number, "offsets-not-monotonic", item.at, path, text)
        self.last = last


def bytes_needed(row: Format, tail: bytes) -> int:
    """Return the bytes that a cut entry needs; 0 if its header is cut too."""
    if row.name == "kafka.log" and len(tail) > MAGIC_AT:
        return int.from_bytes(tail[8:12], "big", signed=True) + 12
    if row.name == "iggy.log":
        size, known = iggy_log.REVISIONS[row.revision].record.extent(tail)
        return size if known else 0
    return 0
