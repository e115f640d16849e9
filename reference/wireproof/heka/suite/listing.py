"""The listing of Heka streams: a row for each frame, and the message in it. heka.md §1, §2."""

from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from attrs import define, field

from wireproof.family import EntryListing
from wireproof.heka.message import DynamicField, HekaMessage
from wireproof.heka.scan import ModeCounts, compare_modes
from wireproof.wire.json_values import Json
from wireproof.wire.options import Options, ResyncMode
from wireproof.wire.scan_items import Item
from wireproof.wire.text import counted, instant, octets
from wireproof.wire.trace import FieldSpan

if TYPE_CHECKING:
    from wireproof.heka.stream import HekaFrame

PER_SECOND: Final = 1_000_000_000
"""Timestamps are in nanoseconds: §1."""

COLUMNS: Final = (
    "messageLength", "timestamp", "type", "logger", "severity", "hostname", "pid", "fields", "payloadBytes",
    "uuid", "signer", "verified",
)  # fmt: skip

MAX_TYPES: Final = 1 << 12
"""Types that are counted by name; a hostile stream may have any number."""

SHOWN_TYPES: Final = 10


def _cells(item: Item, _: bytes) -> tuple[Any, ...]:
    frame: HekaFrame = item.value
    message, header = frame.message, frame.header
    signer = header.hmac_signer
    verified = None if frame.signer is None else octets(frame.signer)
    if isinstance(message, bytes):
        return (header.message_length, *[None] * (len(COLUMNS) - 3), signer, verified)
    return (
        header.message_length, message.timestamp, message.type, message.logger, message.severity,
        message.hostname, message.pid, len(message.fields),
        None if message.payload is None else len(message.payload), message.uuid, signer, verified,
    )  # fmt: skip


HEADING: Final = f"{'time':30} {'type':24} {'logger':16} {'hostname':20} {'fields':>6} {'payload':>8}  signer"


def _word(data: bytes | None, width: int) -> str:
    shown = "-" if data is None else octets(data, width - 2)
    return f"{shown:{width}}"


def _line(cells: tuple[Any, ...]) -> str:
    _, timestamp, kind, logger, _, host, _, fields, payload, _, signer, verified = cells
    signed = "" if signer is None else octets(signer) + ("" if verified is None else ", verified")
    return (
        f"{instant(timestamp, PER_SECOND, 9):30} {_word(kind, 24)} {_word(logger, 16)} {_word(host, 20)} "
        f"{'-' if fields is None else fields:>6} {'-' if payload is None else payload:>8}  {signed}"
    )


RECORD_COLUMNS: Final = (
    "uuid", "timestamp", "type", "logger", "severity", "payload", "envVersion", "pid", "hostname", "fields",
)  # fmt: skip


def _records(item: Item) -> Iterator[tuple[Any, ...]]:
    message: HekaMessage | bytes = item.value.message
    if isinstance(message, bytes):
        yield (None, None, None, None, None, message, None, None, None, ())
        return
    yield (
        message.uuid, message.timestamp, message.type, message.logger, message.severity, message.payload,
        message.env_version, message.pid, message.hostname, tuple(map(_field, message.fields)),
    )  # fmt: skip


def _field(one: DynamicField) -> tuple[bytes, tuple[Any, ...]]:
    values = (one.value_string, one.value_bytes, one.value_integer, one.value_double, one.value_bool)
    return one.name, tuple(value for some in values for value in some)


def _record_line(cells: tuple[Any, ...]) -> str:
    parts = []
    for name, value in zip(RECORD_COLUMNS[:-1], cells[:-1], strict=True):
        match value:
            case None:
                continue
            case bytes():
                parts.append(f"{name} {octets(value)}")
            case _ if name == "timestamp":
                parts.append(instant(value, PER_SECOND, 9))
            case _:
                parts.append(f"{name} {value}")
    for name, values in cells[-1]:
        shown = [octets(one) if isinstance(one, bytes) else str(one) for one in values]
        parts.append(f"{octets(name)}: {shown[0] if len(shown) == 1 else '[' + ', '.join(shown) + ']'}")
    return "  ".join(parts)


@define
class StreamTotals:
    """The counts of a stream."""

    frames: int = 0
    signed: int = 0
    times: tuple[int, int] | None = None
    types: Counter[bytes] = field(factory=Counter)

    def add(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Add the next frames."""
        for cells in rows:
            self.frames += 1
            self.signed += cells[10] is not None
            timestamp, kind = cells[1], cells[2]
            if timestamp is not None:
                low, high = self.times or (timestamp, timestamp)
                self.times = min(low, timestamp), max(high, timestamp)
            if kind is not None and (kind in self.types or len(self.types) < MAX_TYPES):
                self.types[kind[:256]] += 1

    def json(self) -> dict[str, Json]:
        """Return the counts, each under its name."""
        times = self.times or (None, None)
        types: dict[str, Json] = {octets(kind): count for kind, count in self.types.most_common()}
        return {
            "frames": self.frames,
            "signed": self.signed,
            "firstTimestamp": times[0],
            "lastTimestamp": times[1],
            "types": types,
        }

    def lines(self) -> Iterator[str]:
        """Yield the counts as lines."""
        if not self.frames:
            return
        yield counted(self.frames, "frame", grouped=False) + (
            f", {self.signed} of them signed" if self.signed else ""
        )
        if self.times is not None:
            yield f"times {' to '.join(instant(one, PER_SECOND, 9) for one in self.times)}"
        if self.types:
            shown = self.types.most_common(SHOWN_TYPES)
            more = (
                "" if len(self.types) <= SHOWN_TYPES else f", and {len(self.types) - SHOWN_TYPES} other types"
            )
            yield "types: " + ", ".join(f"{octets(kind, 40)} {count}" for kind, count in shown) + more


def _notes(spans: Sequence[FieldSpan]) -> Mapping[str, str]:
    times = (span for span in spans if span.path.endswith("timestamp") and isinstance(span.value, int))
    return {span.path: instant(span.value, PER_SECOND, 9) for span in times}


# --- readers that divide a stream in other ways: heka.md §2.4 ---


def mode_lines(
    chunks: Iterable[bytes], modes: Sequence[ResyncMode], options: Options, most: int
) -> Generator[str, None, bool]:
    """Yield the items and bytes that each reader finds, and where the last two differ.

    Returns:
        Whether every reader accounts for every byte.
    """
    accounts = [ModeCounts() for _ in modes]
    places, parted, size = 0, 0, 0

    def measured() -> Iterator[bytes]:
        nonlocal size
        for chunk in chunks:
            size += len(chunk)
            yield chunk

    for found in compare_modes(measured(), modes, accounts, options):
        if places < most:
            yield f"{found.at} to {found.end}: {modes[-2]} {found.left}; {modes[-1]} {found.right}"
        places, parted = places + 1, parted + found.end - found.at
    for mode, one in zip(modes, accounts, strict=True):
        balance = "all there is" if one.bytes.total() == size else f"BUT THERE ARE {size}"
        yield f"{mode}: {_items(one.items.total(), one.bytes.total())}, {balance}"
        for kind, cls in sorted(one.items, key=lambda row: (row[0], row[1] or "")):
            yield f"  {kind} {cls or '-'}: {_items(one.items[kind, cls], one.bytes[kind, cls])}"
    if len(modes) > 1:
        where = counted(places, "place", grouped=False)
        yield f"{modes[-2]} and {modes[-1]} differ at {where}, {counted(parted, 'byte', grouped=False)}"
    return all(one.bytes.total() == size for one in accounts)


def _items(items: int, size: int) -> str:
    return f"{counted(items, 'item', grouped=False)}, {counted(size, 'byte', grouped=False)}"


LISTING: Final = EntryListing(
    unit="frame",
    units="frames",
    columns=COLUMNS,
    cells=_cells,
    heading=HEADING,
    line=_line,
    record_columns=RECORD_COLUMNS,
    records=_records,
    record_line=_record_line,
    totals=StreamTotals,
    also_read=(("compressed with snappy", {"compression": "snappy"}),),
    compare_modes="wireproof.heka.suite.listing:mode_lines",
    notes=_notes,
    head_records=lambda _: 1,
    times=lambda cells: None if cells[1] is None else (cells[1], cells[1]),
    ticks=PER_SECOND,
)
