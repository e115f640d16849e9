"""One walk over the entries of a stream: whole entries, damaged bytes, and the entry that the end cuts.

A format says what an entry is (`Steps`): its size, its header, and whether it is valid. The walk does what is
the same for all: it doubts the size of an entry that is damaged, as no checksum covers it; it goes on at the
next valid entry; it checks the order of entries; it passes over zeros; it reads bytes again only in
proportion to the bytes passed. A quick reader may stand behind it: where that stops, the walk asks the
reference. Every byte of the stream is in one part of the walk, in order.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Generic, Protocol, TypeVar

from attrs import define, evolve, field, frozen

from wireproof.wire.byte_source import (
    WINDOW_BYTES,
    ByteSource,
    StoredBytes,
    Window,
    long_zeros,
    pieces,
    zeros_end,
)
from wireproof.wire.options import Options
from wireproof.wire.rejection import Position, Rejected, Remark, shift_position
from wireproof.wire.remark_classes import REMARK_CLASSES
from wireproof.wire.scan_items import Item

MAX_HELD: Final = 64 * 1024 * 1024 + 12
"""Bytes of one entry that are held in memory, and of one that is cut."""

HEAD_LENGTHS: Final = (512, 1 << 16, 1 << 20, 1 << 24)
"""Bytes of an entry that show its size: few at first, then more."""

FREE_BYTES: Final = 256 * 1024 * 1024
WORK_FACTOR: Final = 4
"""Bytes that may be read again: a fixed number, and a multiple of the bytes passed."""

# --- the parts of a walk ---


@frozen
class DamagedRange:
    """A damaged range of a stream.

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

    def __str__(self) -> str:
        """Return the class, the first wrong byte, its field, and the reason."""
        path = f" ({self.path})" if self.path else ""
        return f"{self.cls} at {self.where}{path}" + (f": {self.text}" if self.text else "")


@frozen
class Entry:
    """A part of a stream: a whole entry, garbage or a tail.

    Attributes:
        kind: `frame`, `garbage` or `tail`, as of `Item`; `zeros` at the end of a file, if they are allocated
            and not written yet.
        at, length: its bytes.
        number: the number of entries and damaged ranges before it.
        cells: what the header of a whole entry says.
        damages: what is wrong with it.
        remarks: positions and paths are those in the stream.
        note: how it was read, if in an unusual way.
        item: its value, if it was kept.
    """

    kind: str
    at: int
    length: int
    number: int = 0
    cells: tuple[Any, ...] = ()
    damages: tuple[DamagedRange, ...] = ()
    remarks: tuple[Remark, ...] = ()
    note: str = ""
    item: Item | None = None

    @property
    def end(self) -> int:
        """Return the position after it."""
        return self.at + self.length

    def damage(self, cls: str, where: Position, path: str, text: str) -> DamagedRange:
        """Return a damaged range that is all of this part."""
        return DamagedRange(self.at, self.end, self.number, cls, where, path, text)


@frozen
class EntryRows:
    """Many whole entries, in columns: the same as an `Entry` for each, without an object for each.

    Attributes:
        at, length, cells: of each.
        number: that of the first one.
        damages: what is wrong with the order of some, by their index.
    """

    at: Sequence[int]
    length: Sequence[int]
    cells: Sequence[tuple[Any, ...]]
    number: int = 0
    damages: Mapping[int, tuple[DamagedRange, ...]] = field(factory=dict)

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self.cells)

    @property
    def end(self) -> int:
        """Return the position after the last one."""
        return self.at[-1] + self.length[-1]

    def row(self, index: int) -> Entry:
        """Return one of them."""
        damages = self.damages.get(index, ())
        return Entry(
            "frame", self.at[index], self.length[index], self.number + index, self.cells[index], damages
        )

    def part(self, first: int, stop: int) -> "EntryRows":
        """Return the entries `first` to `stop`, before their order is known."""
        rows = slice(first, stop)
        return EntryRows(self.at[rows], self.length[rows], self.cells[rows])

    def __iter__(self) -> Iterator[Entry]:
        """Yield each of them."""
        columns = zip(self.at, self.length, self.cells, strict=True)
        for index, (at, length, cells) in enumerate(columns):
            yield Entry("frame", at, length, self.number + index, cells, self.damages.get(index, ()))


# --- what a format says ---


class OrderCheck(Protocol):
    """Checks the order of the entries of a stream, from the first one on."""

    def after(self, one: Entry, value: Any, /) -> Iterable[DamagedRange]:  # noqa: ANN401 - of any format
        """Yield what is wrong with the order of the next entry; its value is None if it was not decoded."""

    def pass_rows(self, rows: EntryRows, first: int, /) -> int:
        """Return the index of the first entry from `first` on whose order may be wrong; pass those before."""


Chunk = bytes | memoryview

Rows_co = TypeVar("Rows_co", covariant=True)
"""What a quick reader makes of many entries."""


@frozen
class ChunkEnd:
    """Where a quick reader stopped in a chunk, and whether it is because there is no whole entry."""

    at: int
    is_broken: bool


@frozen
class QuickReader(Generic[Rows_co]):
    """A reader of many entries at once.

    Attributes:
        read: yields the whole entries at the beginning of a chunk, given its position, the options and
            whether values are wanted; returns where it stopped: at the end, at an entry that the end cuts,
            and where the reference must look.
        chunks: bytes of the first chunk and of the largest; a larger entry gets a chunk of its size.
        value_chunks: the same if values are wanted. They refer to the bytes, whose memory is not used again.
        garbage: returns the garbage at a position, as the reference does, but quickly; None if the reference
            must look.
    """

    read: Callable[[Chunk, int, Options, bool], Generator[Rows_co | Item, None, ChunkEnd]]
    chunks: tuple[int, int]
    value_chunks: tuple[int, int] = (1 << 20, 1 << 20)
    garbage: Callable[[ByteSource, int, Options], Item | None] = lambda *_: None


def no_cells(*_: object) -> tuple[Any, ...]:
    """Return no cells of an entry."""
    return ()


@frozen
class Steps:
    """The entries of a stream, as its format describes them.

    Attributes:
        scan: yields the items of pieces of bytes: the format's own division of a stream, which trusts sizes.
        decode: raises `Rejected` for bytes that are no stream.
        size: returns the size of the entry that begins with these bytes; 0 if they do not show it.
        damaged_length: returns the number of damaged bytes at the beginning of an item that is refused or
            cut, if its size may be damaged; else 0. It gets the bytes, the length of the item, the options,
            and what precedes it: the value before it in a tuple, an empty tuple at the beginning, or None if
            that is unknown. None if the scan itself searches for entries.
        lookahead: bytes after the item that `damaged_length` gets.
        unlimited: whether an entry may be of any length, so that a scan would keep all that a damaged size
            claims; `size` then shows the size of every entry.
        order: returns a new check of the order of entries, where no checksum covers it.
        path: the name of the list of entries in the value of the stream.
        cells: returns what is known of a whole entry, from its item and its first bytes.
        head_bytes: how many bytes `cells` needs.
        reread: returns the item of a refused entry under other options, and a note about them; or None.
        allocated: whether a file may end in zeros, which are allocated and not written yet.
        entries_begin_at: returns whether entries certainly begin at a position, after damaged bytes that look
            like a cut entry. It gets a function that reads bytes at a position up to a length.
    """

    scan: Callable[[Iterable[bytes], Options], Iterator[Item]]
    decode: Callable[[bytes, Options], object]
    size: Callable[[bytes], int] = lambda _: 0
    damaged_length: Callable[[bytes, int, Options, tuple[Any, ...] | None], int] | None = None
    lookahead: int = 0
    unlimited: bool = False
    order: Callable[[], OrderCheck] | None = None
    path: str = "entries"
    cells: Callable[[Item, bytes], tuple[Any, ...]] = no_cells
    head_bytes: int = 0
    reread: Callable[[bytes, Options], tuple[Item, str] | None] | None = None
    allocated: bool = False
    entries_begin_at: Callable[[Callable[[int, int], bytes], int, Options], bool] | None = None


@define
class Budget:
    """Limits the bytes that are read again, so that damage costs no more than in proportion to its bytes.

    Attributes:
        begun: the position where the walk began.
        spent: the bytes that were read again.
    """

    begun: int
    spent: int = 0

    def allows(self, at: int) -> bool:
        """Return whether bytes may be read again at a position."""
        return self.spent <= FREE_BYTES + WORK_FACTOR * (at - self.begun)


# --- the walk ---


def walk(
    steps: Steps,
    source: ByteSource,
    options: Options,
    *,
    begin: int = 0,
    values: bool = False,
    quick: QuickReader[EntryRows] | None = None,
    is_file: bool = False,
) -> Iterator[Entry | EntryRows]:
    """Yield the parts of a stream, in order and without gaps.

    Args:
        steps: of the format.
        source: the bytes.
        options: of the codecs.
        begin: the position of the first entry; numbers count from it.
        values: whether entries keep their values.
        quick: reads what is whole and valid, as far as it can.
        is_file: whether the bytes are a file, whose end may be allocated and not written yet.
    """
    found = (
        items(steps, source, options, begin)
        if quick is None
        else quick_parts(steps, source, options, begin, quick, values=values)
    )
    parts = _judged(steps, source, options, found, values=values)
    return _until_zeros(parts, source, begin) if steps.allocated and is_file else parts


def _until_zeros(
    parts: Iterator[Entry | EntryRows], source: ByteSource, after: int
) -> Iterator[Entry | EntryRows]:
    """Yield the parts up to zeros that are all that follows the last entry, and these as one part."""
    for one in parts:
        if isinstance(one, EntryRows) or one.kind == "frame":
            after = one.end
        elif one.at == after and zeros_end(source, after) == source.size:
            yield Entry("zeros", after, source.size - after, one.number)
            return
        yield one


def _judged(
    steps: Steps, source: ByteSource, options: Options, parts: Iterator[EntryRows | Item], *, values: bool
) -> Iterator[Entry | EntryRows]:
    """Yield the parts with their numbers and what is wrong with them."""
    number, order = 0, steps.order() if steps.order is not None else None
    for part in parts:
        if isinstance(part, EntryRows):
            rows = evolve(part, number=number)
            damages = None if order is None else _disorder(order, rows)
            yield evolve(rows, damages=damages) if damages else rows
            number += len(rows)
        elif part.kind == "tail":
            yield Entry("tail", part.at, part.length, number)
        else:
            item, note = _read_again(steps, source, options, part)
            if item.kind == "frame":
                yield _frame(steps, source, order, item, number, note, kept=item if values else None)
            else:
                yield _garbage(steps, source, options, item, number)
            number += 1


def _disorder(order: OrderCheck, rows: EntryRows) -> dict[int, tuple[DamagedRange, ...]]:
    """Return what is wrong with the order of rows, by their index."""
    first, damages = 0, dict[int, tuple[DamagedRange, ...]]()
    while (index := order.pass_rows(rows, first)) < len(rows):
        if found := tuple(order.after(rows.row(index), None)):
            damages[index] = found
        first = index + 1
    return damages


def _frame(
    steps: Steps,
    source: ByteSource,
    order: OrderCheck | None,
    item: Item,
    number: int,
    note: str,
    kept: Item | None,
) -> Entry:
    cells = steps.cells(item, source.read(item.at, steps.head_bytes))
    entry = f"{steps.path}[{number}]"
    remarks = tuple(
        evolve(remark, at=_placed(remark, item), path=f"{entry}.{remark.path}" if remark.path else entry)
        for remark in item.remarks
    )
    one = Entry("frame", item.at, item.length, number, cells, (), remarks, note, kept)
    misfits = [
        one.damage(
            remark.cls,
            shift_position(remark.at, item.at),
            remark.path,
            "what is stored does not fit the bytes",
        )
        for remark in item.remarks
        if REMARK_CLASSES[remark.cls].mismatch
    ]
    damages = (*misfits, *(order.after(one, item.value) if order is not None else ()))
    return evolve(one, damages=damages) if damages else one


def _placed(remark: Remark, item: Item) -> Position:
    """Return the position in the stream of the remark of an entry."""
    place = str(remark.at).partition(">")[0]
    inside = place.lstrip("-").isdecimal() and int(place) < item.at
    return shift_position(remark.at, item.at) if inside else remark.at


def _read_again(steps: Steps, source: ByteSource, options: Options, item: Item) -> tuple[Item, str]:
    """Return an entry that other options accept, and the words for it; else the item."""
    if item.kind != "garbage" or item.length > MAX_HELD or steps.reread is None:
        return item, ""
    if steps.size(source.read(item.at, HEAD_LENGTHS[0])) != item.length:
        return item, ""  # it is no whole entry under any options, and may be very long
    found = steps.reread(source.read(item.at, item.length), options)
    return (item, "") if found is None else (evolve(found[0], at=item.at), found[1])


def _garbage(steps: Steps, source: ByteSource, options: Options, item: Item, number: int) -> Entry:
    """Return garbage, described by the rejection of its first entry."""
    one = Entry("garbage", item.at, item.length, number)
    cls, text = item.cls or "other", ""
    if long_zeros(source, item.at) == item.length:
        text = "zeros; a segment that is allocated in advance has them after its last entry"
        return evolve(one, damages=(one.damage(cls, item.at, "", text),))
    if cls == "bad-length":
        text = "its length runs past where the next entry begins"
    # garbage is often much longer than the entry at its beginning
    for length in dict.fromkeys((min(item.length, HEAD_LENGTHS[-2]), min(item.length, MAX_HELD))):
        try:
            steps.decode(source.read(item.at, length), options)
        except Rejected as refused:
            where = shift_position(refused.at, item.at) if refused.at is not None else item.at
            path = refused.path.replace("[0]", f"[{number}]", 1)
            return evolve(one, damages=(one.damage(refused.cls, where, path, refused.text),))
    return evolve(one, damages=(one.damage(cls, item.at, "", text),))


# --- the entries, as the reference reads them ---


def items(steps: Steps, source: ByteSource, options: Options, at: int = 0) -> Iterator[Item]:
    """Yield the items of a stream from a position on, each damaged one no longer than the damage."""
    budget = Budget(at)
    last: tuple[Any, ...] | None = None if at else ()
    scan = _scan_one_by_one if steps.unlimited else _scan_from
    while at < source.size:
        if zeros := long_zeros(source, at):
            yield Item("garbage", at, zeros, cls="bad-length")
            at += zeros
            continue
        for item in scan(steps, source, at, options):
            at = item.at + item.length
            stop = 0  # the damaged bytes of the item; 0 for all of them
            if item.kind != "frame" and budget.allows(item.at):
                budget.spent += item.length + steps.lookahead
                long = item.kind == "garbage" and item.length > MAX_HELD
                if steps.damaged_length is not None and not long:
                    length = min(item.length, MAX_HELD)
                    here = source.read(item.at, length + steps.lookahead)
                    found = steps.damaged_length(here, length, options, last)
                    stop = found if found < length or length == item.length else 0
            last = (item.value,) if item.kind == "frame" else last
            if stop:
                at = item.at + stop
                yield Item("garbage", item.at, stop, cls="bad-length")
                break
            yield item
            if long_zeros(source, at):
                break


def _scan_from(steps: Steps, source: StoredBytes, at: int, options: Options) -> Iterator[Item]:
    for item in steps.scan(pieces(source, at), options):
        yield evolve(item, at=at + item.at)


def _scan_one_by_one(steps: Steps, source: StoredBytes, at: int, options: Options) -> Iterator[Item]:
    """Yield the items of a stream whose entries have no greatest length: none that is cut is read whole."""
    most = MAX_HELD if options.max_message is None else options.max_message
    window = Window(source)
    while at < source.size:
        size = whole_size(steps, window.read, at, source.size)
        if not size:
            yield Item("tail", at, source.size - at)
            return
        if size > most:
            yield Item("garbage", at, size, cls="limit-exceeded")
        else:
            data = [window.read(at, size)] if size <= WINDOW_BYTES else pieces(source, at, at + size)
            for item in steps.scan(data, options):
                yield evolve(item, at=at + item.at)
        at += size


def whole_size(steps: Steps, read: Callable[[int, int], bytes], at: int, end: int) -> int:
    """Return the size of the entry at a position by its first bytes; 0 if it is not whole before the end."""
    for length in HEAD_LENGTHS:
        if size := steps.size(read(at, length)):
            return size if at + size <= end else 0
    return 0


# --- a part of a stream, which is read apart from the others ---


def part_items(steps: Steps, source: StoredBytes, options: Options, at: int, end: int) -> Iterator[Item]:
    """Yield the items that begin in a part of a stream, up to `end`, where an item ends.

    Sizes are trusted that do not reach past it. Bytes behind it are read as far as they must be.
    """
    budget = Budget(at)
    scan = _scan_one_by_one if steps.unlimited else _scan_from
    while at < end:
        for item in scan(steps, source, at, options):
            if item.at >= end:
                return
            found = within_part(steps, source, item, options, end) if budget.allows(item.at) else item
            at = found.at + found.length
            yield found
            if found.length != item.length:
                budget.spent += item.length
                break


def within_part(
    steps: Steps, source: StoredBytes, item: Item, options: Options, end: int | None = None
) -> Item:
    """Return the item, or garbage in its place if valid entries follow inside the bytes that it claims.

    The size of an entry that seems to be cut, or that claims bytes after the end of a part, may be damaged.
    """
    over = end is not None and item.at + item.length > end
    if item.kind == "frame" or not (over or item.kind == "tail") or steps.damaged_length is None:
        return item
    length = end - item.at if over and end is not None else item.length
    data = source.read(item.at, length) if length <= MAX_HELD else b""  # what is longer is not searched
    stop = steps.damaged_length(data, length, options, None) if data else 0
    if not stop and (not over or end == source.size):
        return item
    return Item("garbage", item.at, stop or length, cls="bad-length")


def follow_sizes(size_at: Callable[[int], int], at: int, goal: int) -> int:
    """Return the first position from `goal` on that sizes lead to, or the last one that they lead to.

    `size_at` returns the size of the entry at a position; 0 if its first bytes do not prove it.
    """
    while at < goal and (size := size_at(at)):
        at += size
    return at


# --- the entries, as a quick reader finds them ---


def quick_parts(
    steps: Steps,
    source: ByteSource,
    options: Options,
    at: int,
    quick: QuickReader[Rows_co],
    *,
    values: bool,
    end: int | None = None,
) -> Iterator[Rows_co | Item]:
    """Yield the entries from a position on; the reference searches for the next one where there is none.

    With `end`, where an item ends, they are those of a part of the stream, as of `part_items`.
    """
    first, most = quick.value_chunks if values else quick.chunks
    read_chunk = source.read if values else source.view  # values refer to the bytes of their chunk
    size, budget, stop = first, Budget(at), source.size if end is None else end
    while at < stop:
        base, chunk = at, read_chunk(at, min(size, stop - at))
        last = yield from quick.read(chunk, base, options, values)
        at = base + last.at
        is_last = base + len(chunk) >= stop
        size = min(2 * size, most) if at > base else 2 * max(size, len(chunk))
        if at < stop and (last.is_broken or is_last):
            size, budget.spent = first, budget.spent + base + len(chunk) - at
            alone = not budget.allows(at)
            if last.is_broken and not alone and (found := quick.garbage(source, at, options)) is not None:
                found = found if end is None else within_part(steps, source, found, options, end)
                yield found
                at += found.length
                continue
            others = (
                items(steps, source, options, at)
                if end is None
                else part_items(steps, source, options, at, end)
            )
            for item in others:
                at = item.at + item.length
                yield item
                if not alone and (item.kind == "frame" or end is not None):
                    break


# --- from header to header ---


class EntryHeads:
    """The first bytes of entries, each given its position; many are read in one go."""

    def __init__(self, steps: Steps, source: StoredBytes) -> None:
        """Begin with no bytes."""
        self._steps, self._window = steps, Window(source)

    def at(self, at: int) -> bytes:
        """Return the first bytes of the entry at a position."""
        return self._window.read(at, HEAD_LENGTHS[0])

    def sizes(self, at: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield position and claimed size of entries that follow each other up to `end`; nothing is checked.

        The last one may claim more; the size is 0 where none begins.
        """
        while at < end:
            size = max(self._steps.size(self.at(at)), 0)
            yield at, size
            if not size:
                return
            at += size
