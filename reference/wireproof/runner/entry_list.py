"""The entries of a stream one after another, judged, with what is wrong: in bounded memory for any size.

The fast decoder judges where it is installed and the input is large; the reference judges everything else.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from attrs import evolve, field, frozen

from wireproof import formats
from wireproof.cases.byte_source import ByteSource, zeros_end
from wireproof.cases.log_survey import (
    HEAD_LENGTHS,
    MAX_HELD,
    DamagedRange,
    EntryChecks,
    bytes_needed,
    shift_position,
    survey_items,
)
from wireproof.family import EntryListing, EntryRows, object_at
from wireproof.formats import Format
from wireproof.install_hint import install_command
from wireproof.schema.stream import RecordStream
from wireproof.wire.json_values import Json, to_json
from wireproof.wire.layout import Repeated
from wireproof.wire.options import Options
from wireproof.wire.readable import octets
from wireproof.wire.rejection import Remark
from wireproof.wire.safe_text import one_line
from wireproof.wire.scan_items import Item

FAST_FROM: Final = 1 << 20
"""Bytes of an input from which on the fast decoder is used: to load it takes longer than to read less."""

HINTED_FROM: Final = 1 << 25
"""Bytes of logs from which on a line names the extra of the fast decoder: seconds without it."""

FAST_PACKAGES: Final = ("numba", "pyarrow", "numpy")


@frozen
class ListedEntry:
    """A part of a stream: a whole entry, garbage or a tail.

    Attributes:
        kind: `frame`, `garbage` or `tail`, as of `Item`; `zeros` at the end of a file, if they are allocated
            and not written yet.
        at, length: its bytes.
        number: the number of entries and damaged ranges before it.
        cells: of a whole entry.
        damages: what is wrong with it.
        remarks: positions and paths are those in the stream.
        note: how it was read, if in an unusual way.
        item: its value, if it was kept.
    """

    kind: str
    at: int
    length: int
    number: int
    cells: tuple[Any, ...] = ()
    damages: tuple[DamagedRange, ...] = field(default=())
    remarks: tuple[Remark, ...] = field(default=())
    note: str = ""
    item: Item | None = None

    @property
    def end(self) -> int:
        """Return the position after it."""
        return self.at + self.length


@frozen
class ListedRows:
    """Whole entries as rows.

    Attributes:
        number: that of the first one.
        rows: the entries.
        damages: what is wrong with the order of some, by their index.
    """

    number: int
    rows: EntryRows
    damages: Mapping[int, tuple[DamagedRange, ...]]

    @property
    def end(self) -> int:
        """Return the position after the last one."""
        return self.rows.at[-1] + self.rows.length[-1]

    def __iter__(self) -> Iterator[ListedEntry]:
        """Yield each of them."""
        columns = zip(self.rows.at, self.rows.length, self.rows.cells, strict=True)
        for index, (at, length, cells) in enumerate(columns):
            yield ListedEntry("frame", at, length, self.number + index, cells, self.damages.get(index, ()))


class NoTotals:
    """Counts nothing of the entries."""

    def add(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Pass over entries."""

    def json(self) -> dict[str, Json]:
        """Return no counts."""
        return {}

    def lines(self) -> tuple[str, ...]:
        """Return no lines."""
        return ()


PLAIN: Final = EntryListing(
    unit="entry",
    units="entries",
    columns=(),
    cells=lambda _, __: (),
    heading="",
    line=lambda _: "",
    record_columns=(),
    records=lambda _: iter(()),
    record_line=lambda _: "",
    totals=NoTotals,
)
"""The listing of a stream whose family has none: the position and the length of each entry."""


WIDEST_FIELD: Final = 40
"""Characters of a field in a line; longer ones are cut."""


@cache
def _listing_of_records(stream: RecordStream) -> EntryListing:
    """Return the listing of a stream of records whose family has none: the fields of each."""
    names = stream.record.attributes

    def cells(item: Item, _: bytes = b"") -> tuple[Any, ...]:
        values = (getattr(item.value, name) for name in names)
        return tuple(
            value if isinstance(value, int | str | bytes | None) else to_json(value) for value in values
        )

    def line(found: tuple[Any, ...]) -> str:
        return "  ".join(f"{name} {_shown(value)}" for name, value in zip(names, found, strict=True))

    return evolve(
        PLAIN, columns=names, cells=cells, heading="fields", line=line,
        record_columns=names, records=lambda item: iter((cells(item),)), record_line=line,
    )  # fmt: skip


def _shown(value: Any) -> str:  # noqa: ANN401 - a cell
    return octets(value, WIDEST_FIELD) if isinstance(value, bytes) else one_line(str(value), WIDEST_FIELD)


def listing_of(fmt: Format) -> EntryListing | None:
    """Return the listing of a stream, or of the stream that has entries of this format; None if none has."""
    name = fmt.name if fmt.scan is not None else fmt.wrapped_by[0] if fmt.wrapped_by is not None else ""
    if not name:
        return None
    place = formats.family_of(fmt).listings.get(name)
    if place is not None:
        listing: EntryListing = object_at(place)
        return listing
    records = stream_of(fmt).records
    return PLAIN if records is None else _listing_of_records(records)


def stream_of(fmt: Format) -> Format:
    """Return the stream format of an entry, or the format itself if it is a stream."""
    if fmt.scan is not None or fmt.wrapped_by is None:
        return fmt
    return formats.get(*fmt.wrapped_by[:2])


def entry_prefix(fmt: Format) -> str:
    """Return the name of the list of entries in the value of a stream."""
    parts = fmt.layout.parts if fmt.layout is not None else ()
    return next((part.name for part in parts if isinstance(part, Repeated)), "entries")


def is_fast_installed() -> bool:
    """Return whether the packages of the fast decoder are installed."""
    return all(find_spec(name) is not None for name in FAST_PACKAGES)


def fast_hint(size: int) -> str:
    """Return one line about the fast decoder for so many bytes of logs; empty if it would not help."""
    if size < HINTED_FROM or is_fast_installed():
        return ""
    return f"Kafka logs of {size >> 20} MiB are read several times faster with: {install_command('columnar')}"


@frozen
class ListingSettings:
    """The way to read a stream.

    Attributes:
        options: of the codecs.
        values: whether entries keep their values.
        fast: whether the fast decoder is used; None decides by the size of the input.
        begin: the position of the first entry that is read; numbers count from it.
        headers_only: whether only headers and checksums are checked, if the listing can do that.
        is_file: whether the bytes are a file, whose end may be allocated and not written yet.
    """

    options: Options
    values: bool = False
    fast: bool | None = None
    begin: int = 0
    headers_only: bool = False
    is_file: bool = False


def list_entries(
    fmt: Format, listing: EntryListing, source: ByteSource, reading: ListingSettings
) -> Iterator[ListedEntry | ListedRows]:
    """Yield the parts of a stream, in order and without gaps."""
    parts = _judged_parts(fmt, listing, source, reading)
    return _until_zeros(parts, source, reading.begin) if listing.allocated and reading.is_file else parts


def _until_zeros(
    parts: Iterator[ListedEntry | ListedRows], source: ByteSource, after: int
) -> Iterator[ListedEntry | ListedRows]:
    """Yield the parts up to zeros that are all that follows the last entry, and these as one part."""
    for one in parts:
        if isinstance(one, ListedRows) or one.kind == "frame":
            after = one.end
        elif one.at == after and zeros_end(source, after) == source.size:
            yield ListedEntry("zeros", after, source.size - after, one.number)
            return
        yield one


def _judged_parts(
    fmt: Format, listing: EntryListing, source: ByteSource, reading: ListingSettings
) -> Iterator[ListedEntry | ListedRows]:
    checks = EntryChecks.of(fmt, source, reading.options)
    prefix = entry_prefix(fmt)
    for part in _parts(fmt, listing, source, reading):
        if isinstance(part, EntryRows):
            # Rows with what is wrong with their order.
            number, first = checks.number, 0
            damages: dict[int, tuple[DamagedRange, ...]] = {}
            while (index := checks.pass_rows(part, first)) < len(part):
                if found := checks.damages_of_row(part.row(index)):
                    damages[index] = found
                first = index + 1
            yield ListedRows(number, part, damages)
        else:
            yield _listed(fmt, listing, source, reading, checks, part, prefix)


def _parts(
    fmt: Format, listing: EntryListing, source: ByteSource, reading: ListingSettings
) -> Iterator[EntryRows | Item]:
    if reading.headers_only and listing.headers:
        rows: Iterator[EntryRows | Item] = object_at(listing.headers)(
            source, reading.options, values=False, begin=reading.begin
        )
        return rows
    fast = source.size >= FAST_FROM if reading.fast is None else reading.fast
    if fast and listing.fast and reading.options.profile == "reader" and is_fast_installed():
        parts: Iterator[EntryRows | Item] = object_at(listing.fast)(
            source, reading.options, values=reading.values, begin=reading.begin
        )
        return parts
    return survey_items(fmt, source, reading.options, reading.begin)


def _listed(
    fmt: Format,
    listing: EntryListing,
    source: ByteSource,
    reading: ListingSettings,
    checks: EntryChecks,
    found: Item,
    prefix: str,
) -> ListedEntry:
    item, note = _read_again(fmt, listing, source, reading.options, found)
    number = checks.number
    damages = checks.damages(item)
    if item.kind != "frame":
        return ListedEntry(item.kind, item.at, item.length, number, (), damages)
    cells = listing.cells(item, source.read(item.at, listing.head_bytes))
    remarks = tuple(_placed(one, item, f"{prefix}[{number}]") for one in item.remarks)
    kept = item if reading.values else None
    return ListedEntry("frame", item.at, item.length, number, cells, damages, remarks, note, kept)


def _placed(remark: Remark, item: Item, entry: str) -> Remark:
    """Return the remark of an entry with its position and its path in the stream."""
    place = str(remark.at).partition(">")[0]
    inside = place.lstrip("-").isdecimal() and int(place) < item.at
    at = shift_position(remark.at, item.at) if inside else remark.at
    return evolve(remark, at=at, path=f"{entry}.{remark.path}" if remark.path else entry)


def _read_again(
    fmt: Format, listing: EntryListing, source: ByteSource, options: Options, item: Item
) -> tuple[Item, str]:
    """Return an entry that other options accept, and the words for it; else the item."""
    if item.kind != "garbage" or item.length > MAX_HELD or not listing.also_read:
        return item, ""
    if bytes_needed(fmt, source.read(item.at, HEAD_LENGTHS[0])) != item.length:
        return item, ""  # it is no whole entry under any options, and may be very long
    found = read_by_other_options(fmt, listing, source.read(item.at, item.length), options)
    return (item, "") if found is None else (evolve(found.item, at=item.at), found.note)


@frozen
class ReadOtherwise:
    """An entry that other options accept, the words for it, and these options."""

    item: Item
    note: str
    changes: Mapping[str, Any]


def read_by_other_options(
    fmt: Format, listing: EntryListing, data: bytes, options: Options
) -> ReadOtherwise | None:
    """Return the entry that these bytes are under other options of the listing; None if they are none."""
    for note, changes in listing.also_read:
        found = _only_frame(fmt, data, evolve(options, **changes))
        if found is not None:
            return ReadOtherwise(found, note, changes)
    return None


def _only_frame(fmt: Format, data: bytes, options: Options) -> Item | None:
    """Return the item of bytes that are exactly one whole entry under these options."""
    first = next(iter(formats.scan(fmt, [data], options)), None)
    whole = first is not None and first.kind == "frame" and first.length == len(data)
    return first if whole else None


# --- listing begin ---
#
# Find the entry at which a listing begins, without reading the entries before it.
#
# Entries are passed over by the sizes in their headers, from an indexed one on if an index file is beside
# the log. Nothing that is passed over is checked. Where a header fits no entry, or offsets go back, reading
# begins there, and the survey finds out what is wrong.


PASSED_FROM: Final = 1 << 20
"""Bytes of an input from which on entries are passed over: less is read and checked whole."""

HEAD_BYTES: Final = 512
WINDOW_BYTES: Final = 1 << 16
"""Bytes of a header, and of what is read in one go: the headers of many small entries."""

HeadOffsets = Callable[[Format, bytes], tuple[int | None, int | None] | None]


@frozen
class Place:
    """Where a listing begins: at an offset, or at the position of a byte."""

    number: int
    is_position: bool


def begin_of(fmt: Format, listing: EntryListing, source: ByteSource, place: Place, log: Path | None) -> int:
    """Return the position of an entry that is not after the place; 0 if nothing can be passed over.

    Args:
        fmt: a stream.
        listing: of the stream.
        source: its bytes.
        place: where the listing begins.
        log: the path of the file, whose index file may be beside it.
    """
    if source.size < PASSED_FROM or (listing.head_offsets is None and not place.is_position):
        return 0
    walk = _Walk(fmt, listing.head_offsets, source)
    return walk.to(place, _indexed(walk, listing, place, log))


def _indexed(walk: "_Walk", listing: EntryListing, place: Place, log: Path | None) -> int:
    """Return the position of an indexed entry before the place, if its entry is the one of the index."""
    if log is None or not listing.indexed:
        return 0
    found = object_at(listing.indexed)(log, place.number, is_position=place.is_position)
    if found is None:
        return 0
    last, position = found
    return position if walk.offsets(position)[1] == last else 0


class _Walk:
    """Goes from header to header."""

    def __init__(self, fmt: Format, head_offsets: HeadOffsets | None, source: ByteSource) -> None:
        self._fmt, self._head_offsets, self._source = fmt, head_offsets, source
        self._at, self._data = 0, b""

    def to(self, place: Place, at: int) -> int:
        """Return the position of the last entry that is not after the place, from an entry on."""
        before, last = at, -1
        while size := self._size(at):
            first, end = self.offsets(at)
            if place.is_position:
                if place.number < at + size:
                    break
            elif first is None and end is None:
                break
            elif first is not None and first > place.number:
                return before
            elif end is not None and end >= place.number:
                break
            known = end if end is not None else first
            if known is not None and known < last:
                break  # offsets that go back: a damaged header, or a log that is out of order
            before, at, last = at, at + size, last if known is None else known
        return at if self._size(at) else before

    def offsets(self, at: int) -> tuple[int | None, int | None]:
        """Return the first and the last offset of the entry at a position, as far as its header has them."""
        head = self._head(at)
        found = self._head_offsets(self._fmt, head) if self._head_offsets is not None and head else None
        return found or (None, None)

    def _size(self, at: int) -> int:
        """Return the size of the entry at a position; 0 if there is no whole entry."""
        size = bytes_needed(self._fmt, self._head(at)) if at < self._source.size else 0
        return size if 0 < size <= self._source.size - at else 0

    def _head(self, at: int) -> bytes:
        begin = at - self._at
        if begin < 0 or begin + HEAD_BYTES > len(self._data):
            self._data, self._at, begin = self._source.read(at, WINDOW_BYTES), at, 0
        return self._data[begin : begin + HEAD_BYTES]
