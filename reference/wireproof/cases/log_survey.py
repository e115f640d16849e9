"""Survey of a whole log: how much of it is sound, where and how it is damaged, and where it is cut.

A scan accounts for every byte of a stream. A survey reads the same items, and where an entry is rejected or
cut it doubts the entry's size; it also checks the order of the entries, which no checksum covers.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, Final

from attrs import define, evolve, field, frozen

from wireproof import formats
from wireproof.cases.byte_source import ByteSource, BytesSource, long_zeros, pieces
from wireproof.family import EntryRow, EntryRows, OrderCheck, OrderFault
from wireproof.formats import Format, stream_rules
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.rejection import Position, Rejected
from wireproof.wire.scan_items import Item

MAX_HELD: Final = 64 * 1024 * 1024 + 12
"""Bytes of one entry that are held in memory, and of one that is cut."""

HEAD_LENGTHS: Final = (512, 1 << 16, 1 << 20, 1 << 24)
"""Bytes of an entry that show its size: few at first, then more."""

FREE_BYTES: Final = 256 * 1024 * 1024
WORK_FACTOR: Final = 4
"""Bytes that may be read again: a fixed number, and a multiple of the bytes passed."""

ZEROS_TEXT: Final = "zeros; a segment that is allocated in advance has them after its last entry"


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
    def damage_count(self) -> int:
        """Return the number of damaged ranges."""
        return len(self.damages)

    @property
    def whole(self) -> bool:
        """Return True if every byte belongs to a valid entry."""
        return not self.damages and not self.tail


@cache
def mismatch_remarks() -> frozenset[str]:
    """Return the remarks on a wrong checksum or count: a reader may ignore it, but the bytes are damaged."""
    return frozenset(name for name, one in formats.remark_classes().items() if one.mismatch)


def survey_log(row: Format, data: bytes, options: Options = DEFAULT_OPTIONS) -> LogSurvey:
    """Survey all the bytes of a log; `row` is a format with a scan."""
    source = BytesSource(data)
    return _survey(row, source, options, survey_items(row, source, options))


def quick_survey(row: Format, data: bytes, options: Options = DEFAULT_OPTIONS) -> LogSurvey:
    """Survey all the bytes of a possible log, trusting every size."""
    source = BytesSource(data)
    return _survey(row, source, options, formats.scan(row, pieces(source, 0), options))


def _survey(row: Format, source: ByteSource, options: Options, scanned: Iterator[Item]) -> LogSurvey:
    sound, proven, remarks = [0, 0], 0, Counter[str]()
    damages: list[DamagedRange] = []
    checks = EntryChecks.of(row, source, options)
    tail = 0
    for item in scanned:
        if item.kind == "frame":
            sound[0] += 1
            sound[1] += item.length
            proven += item.length * _proven(item.value)
            remarks.update(remark.cls for remark in item.remarks)
        tail = item.length if item.kind == "tail" else 0
        for found in checks.damages(item):
            add_damage(damages, found)
    needs = bytes_needed(row, source.read(source.size - tail, HEAD_LENGTHS[-1])) if tail else 0
    return LogSurvey(source.size, sound[0], sound[1], proven, tuple(damages), tail, needs, remarks)


@define
class EntryChecks:
    """The checks of the entries of a log, one after another.

    Attributes:
        number: the number of the next entry; a damaged range counts as one.
    """

    row: Format
    source: ByteSource
    options: Options
    order: OrderCheck | None
    number: int = 0

    @classmethod
    def of(cls, row: Format, source: ByteSource, options: Options) -> "EntryChecks":
        """Begin with the first entry."""
        order_of = stream_rules(row).order
        return cls(row, source, options, order_of() if order_of is not None else None)

    def damages(self, item: Item) -> tuple[DamagedRange, ...]:
        """Return the damaged ranges of the next item; none for a sound entry and for a tail."""
        number = self.number
        self.number += item.kind != "tail"
        match item.kind:
            case "frame":
                faults = self.order.after(item, number) if self.order is not None else ()
                return (*_misfits(item, number), *_disordered(faults, item.at, item.length, number))
            case "garbage":
                return (_damage(self.row, self.source, item, self.options, number),)
        return ()

    def pass_rows(self, rows: EntryRows, first: int) -> int:
        """Return the index of the first entry from `first` on that needs a look; pass those before it."""
        stop = len(rows) if self.order is None else self.order.after_rows(rows, first)
        self.number += stop - first
        return stop

    def damages_of_row(self, row: EntryRow) -> tuple[DamagedRange, ...]:
        """Return the damaged ranges of an entry that a fast decoder found valid: only its order is open."""
        number = self.number
        self.number += 1
        if self.order is None:
            return ()
        faults = self.order.after_row(row, number)
        return tuple(_disordered(faults, row.at, row.length, number)) if faults else ()


def _proven(value: Any) -> bool:  # noqa: ANN401 - any entry's class
    """Return whether an entry has content: a checksum of nothing is right even in zeros."""
    parts = getattr(value, "messages", None)
    if parts is None:
        return bool(getattr(value, "payload", True))
    return bool(parts) and all(_proven(part) for part in parts)


# --- items ---


def survey_items(row: Format, source: ByteSource, options: Options, at: int = 0) -> Iterator[Item]:
    """Yield the items of a scan from a position on, each damaged one no longer than the damage."""
    begun, spent = at, 0
    last: tuple[Any, ...] | None = None if at else ()
    scan = _scan_record_by_record if stream_rules(row).unlimited else _scan_from
    while at < source.size:
        if zeros := long_zeros(source, at):
            yield Item("garbage", at, zeros, cls="bad-length")
            at += zeros
            continue
        for item in scan(row, source, at, options):
            at = item.at + item.length
            stop = 0
            if item.kind != "frame" and spent <= FREE_BYTES + WORK_FACTOR * (item.at - begun):
                spent += item.length + stream_rules(row).lookahead
                stop = _resumed(row, source, item, options, last)
            last = (item.value,) if item.kind == "frame" else last
            if stop:
                at = item.at + stop
                yield Item("garbage", item.at, stop, cls="bad-length")
                break
            yield item
            if long_zeros(source, at):
                break


def _scan_from(row: Format, source: ByteSource, at: int, options: Options) -> Iterator[Item]:
    for item in formats.scan(row, pieces(source, at), options):
        yield evolve(item, at=at + item.at)


def _scan_record_by_record(row: Format, source: ByteSource, at: int, options: Options) -> Iterator[Item]:
    """Yield the items of a stream whose entries have no greatest length: none that is cut is read whole."""
    most = MAX_HELD if options.max_message is None else options.max_message
    while at < source.size:
        size = _entry_size(row, source, at)
        if not size or at + size > source.size:
            yield Item("tail", at, source.size - at)
            return
        if size > most:
            yield Item("garbage", at, size, cls="limit-exceeded")
        else:
            for item in formats.scan(row, pieces(source, at, at + size), options):
                yield evolve(item, at=at + item.at)
        at += size


def _entry_size(row: Format, source: ByteSource, at: int) -> int:
    """Return the size of the entry at a position; 0 if its first bytes do not show it."""
    for length in HEAD_LENGTHS:
        if size := bytes_needed(row, source.read(at, length)):
            return size
    return 0


def _resumed(
    row: Format, source: ByteSource, item: Item, options: Options, last: tuple[Any, ...] | None
) -> int:
    """Return the damaged bytes of an item; 0 for all of them."""
    rules = stream_rules(row)
    if rules.damaged_length is None or (item.kind == "garbage" and item.length > MAX_HELD):
        return 0
    length = min(item.length, MAX_HELD)
    here = source.read(item.at, length + rules.lookahead)
    stop = rules.damaged_length(row, here, length, options, last)
    return stop if stop < length or length == item.length else 0


# --- damage ---


def _damage(row: Format, source: ByteSource, item: Item, options: Options, number: int) -> DamagedRange:
    """Describe garbage by the rejection of its first entry."""
    cls, end = item.cls or "other", item.at + item.length
    if long_zeros(source, item.at) == item.length:
        return DamagedRange(item.at, end, number, cls, item.at, "", ZEROS_TEXT)
    refused = _rejection(row, source, item, options)
    if refused is not None:
        path = refused.path.replace("[0]", f"[{number}]", 1)
        where = shift_position(refused.at, item.at) if refused.at is not None else item.at
        return DamagedRange(item.at, end, number, refused.cls, where, path, refused.text)
    text = "its length runs past where the next entry begins" if cls == "bad-length" else ""
    return DamagedRange(item.at, end, number, cls, item.at, "", text)


def _rejection(row: Format, source: ByteSource, item: Item, options: Options) -> Rejected | None:
    """Return the rejection of the entry at the beginning of garbage, which is often much longer."""
    for length in (min(item.length, HEAD_LENGTHS[-2]), min(item.length, MAX_HELD)):
        try:
            formats.decode(row, source.read(item.at, length), options)
        except Rejected as refused:
            return refused
        if length == item.length:
            break
    return None


def add_damage(damages: list[DamagedRange], one: DamagedRange) -> None:
    """Add a range; bytes after a damaged entry that begin no entry belong to it."""
    if damages and damages[-1].end == one.at and one.cls in ("bad-length", "bad-magic", "bad-separator"):
        damages[-1] = evolve(damages[-1], end=one.end)
    else:
        damages.append(one)


def _misfits(item: Item, number: int) -> Iterator[DamagedRange]:
    for remark in item.remarks:
        if remark.cls in mismatch_remarks():
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


def _disordered(faults: Iterable[OrderFault], at: int, length: int, number: int) -> Iterator[DamagedRange]:
    for fault in faults:
        yield DamagedRange(at, at + length, number, fault.cls, fault.at, fault.path, fault.text)


def shift_position(at: Position, base: int) -> Position:
    """Return the position `at` of bytes that begin at `base` of other bytes."""
    place, _, inner = str(at).partition(">")
    if not place.lstrip("-").isdecimal():
        return at
    return f"{int(place) + base}>{inner}" if inner else int(place) + base


def bytes_needed(row: Format, tail: bytes) -> int:
    """Return the bytes that a cut entry needs; 0 if its header is cut too."""
    return stream_rules(row).bytes_needed(row, tail)
