"""Survey of a whole log: how much of it is sound, where and how it is damaged, and where it is cut.

A scan accounts for every byte of a stream. A survey reads the same items, and where an entry is rejected or
cut it doubts the entry's size; it also checks the order of the entries, which no checksum covers.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from attrs import evolve, field, frozen

from wireproof import formats
from wireproof.family import OrderCheck
from wireproof.formats import Format, stream_rules
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.rejection import Position, Rejected
from wireproof.wire.scan_items import Item

PIECE_BYTES: Final = 1 << 16
FREE_BYTES: Final = 256 * 1024 * 1024
WORK_FACTOR: Final = 4
"""Bytes that may be read again: a fixed number, and a multiple of the bytes passed."""

MISMATCH_REMARKS: Final = frozenset(name for name, one in formats.remark_classes().items() if one.mismatch)
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
    """Survey all the bytes of a log; `row` is a format with a scan."""
    return _survey(row, data, options, survey_items(row, data, options))


def quick_survey(row: Format, data: bytes, options: Options = DEFAULT_OPTIONS) -> LogSurvey:
    """Survey all the bytes of a possible log, trusting every size."""
    return _survey(row, data, options, formats.scan(row, _pieces(data, 0), options))


def _survey(row: Format, data: bytes, options: Options, scanned: Iterator[Item]) -> LogSurvey:
    sound, proven, remarks = [0, 0], 0, Counter[str]()
    damages: list[DamagedRange] = []
    order_of = stream_rules(row).order
    order = order_of() if order_of is not None else None
    tail = 0
    for item in scanned:
        match item.kind:
            case "frame":
                sound[0] += 1
                sound[1] += item.length
                proven += item.length * _proven(item.value)
                remarks.update(remark.cls for remark in item.remarks)
                damages += _misfits(item, sound[0] + len(damages) - 1)
                if order is not None:
                    damages += _disordered(order, item, sound[0] + len(damages) - 1)
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


def survey_items(row: Format, data: bytes, options: Options) -> Iterator[Item]:
    """Yield the items of a scan, each damaged one no longer than the damage."""
    at, spent = 0, 0
    last: tuple[Any, ...] = ()
    while at < len(data):
        begun = at
        for found in formats.scan(row, _pieces(data, begun), options):
            item = evolve(found, at=begun + found.at)
            at = item.at + item.length
            stop = 0
            if item.kind != "frame" and spent <= FREE_BYTES + WORK_FACTOR * item.at:
                spent += item.length + stream_rules(row).lookahead
                stop = _resumed(row, data, item, options, last)
            last = (item.value,) if item.kind == "frame" else last
            if stop:
                at = item.at + stop
                yield Item("garbage", item.at, stop, cls="bad-length")
                break
            yield item


def _pieces(data: bytes, at: int) -> Iterator[bytes]:
    return (data[place : place + PIECE_BYTES] for place in range(at, len(data), PIECE_BYTES))


def _resumed(row: Format, data: bytes, item: Item, options: Options, last: tuple[Any, ...]) -> int:
    """Return the damaged bytes of an item; 0 for all of them."""
    rules = stream_rules(row)
    if rules.damaged_length is None:
        return 0
    here = data[item.at : item.at + item.length + rules.lookahead]
    return rules.damaged_length(row, here, item.length, options, last)


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


def _disordered(order: OrderCheck, item: Item, number: int) -> Iterator[DamagedRange]:
    for fault in order.after(item, number):
        end = item.at + item.length
        yield DamagedRange(item.at, end, number, fault.cls, fault.at, fault.path, fault.text)


def shift_position(at: Position, base: int) -> Position:
    """Return the position `at` of bytes that begin at `base` of other bytes."""
    place, _, inner = str(at).partition(">")
    if not place.lstrip("-").isdecimal():
        return at
    return f"{int(place) + base}>{inner}" if inner else int(place) + base


def bytes_needed(row: Format, tail: bytes) -> int:
    """Return the bytes that a cut entry needs; 0 if its header is cut too."""
    return stream_rules(row).bytes_needed(row, tail)
