"""The scan of format `heka.stream`: it divides a stream into frames, garbage and a tail. heka.md, section 2.

There are three modes to find frames: strict, as Go, and as C (sections 2.1, 2.2, 2.4). They differ in the
headers that they accept, in the treatment of a whole frame with an invalid message, and in the treatment of a
false separator near the end of the stream. Signatures and messages are decoded by the same strict codec in
all modes: only the search for frames follows the named reader.

One pass without recursion. The buffer stores at most one possible frame (3 + 255 bytes and the largest
message) and the current chunk. A decision waits until all bytes that it needs are there, so the division of a
stream into chunks does not change the result.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import merge
from itertools import tee
from typing import Any, Final, Literal, TypeAlias

from attrs import define, evolve, field, frozen

from wireproof.heka import stream
from wireproof.heka.stream import (
    FRAME_OVERHEAD,
    HASH_FUNCTIONS,
    HEKA_HEADER,
    MAX_HEADER,
    RECORD_SEPARATOR,
    UNIT_SEPARATOR,
    HekaHeader,
    max_message_size,
)
from wireproof.schema.layout import proto_fields
from wireproof.wire.options import DEFAULT_OPTIONS, Options, ResyncMode
from wireproof.wire.protobuf import VARINT
from wireproof.wire.reader import Budget, Reader
from wireproof.wire.rejection import RejectClass, Rejected, Remark, shift_position
from wireproof.wire.scan_items import Item

REREAD_BYTES_PER_BYTE: Final = 4
"""Bytes of rejected messages that may be read again for each byte of the stream; see `Scanner.credit`."""


def scan(chunks: Iterable[bytes], options: Options = DEFAULT_OPTIONS) -> Iterator[Item]:
    """Yield the items of a stream in order and without gaps.

    A whole frame whose message or signature is rejected is garbage of that class. Other garbage is as long as
    possible; its class is that of the frame that its first byte seemed to begin, or None. A frame that the
    end of the stream cuts is the tail, unless there is a whole frame inside its claimed length: then its
    separator was false (S15, S16, S33).

    Args:
        chunks: the stream, divided in any way.
        options: `resync` selects the mode; `keys`, `max_message`, `compression` as for decode.
    """
    scanner = Scanner(options)
    for chunk in chunks:
        yield from scanner.feed(chunk)
    yield from scanner.finish()


# --- the modes: sections 2.1, 2.2, 2.4 ---


AcceptedHeader: TypeAlias = tuple[HekaHeader, tuple[Remark, ...]]
"""A header that a mode accepts, and its remarks."""


@frozen
class ModeRules:
    """The rules of a mode.

    Attributes:
        head: reads the bytes of a frame up to its unit separator; returns the header or a reject class.
        on_rejection: the treatment of a whole frame whose message is rejected. `aligned`: one garbage item if
            another frame or the end follows, else search inside (S17, S31). `deliver`: a frame without value.
            `within`: always search inside.
        rescans: True if a frame that the end of the stream cuts is searched for others: S15, S16, S33.
    """

    head: Callable[[bytes, Options], AcceptedHeader | RejectClass]
    on_rejection: Literal["aligned", "deliver", "within"]
    rescans: bool = False


def _strict(data: bytes, options: Options) -> AcceptedHeader | RejectClass:
    reader = Reader(data)
    try:
        found = stream.read_header(reader, options)
    except Rejected as rejected:
        return rejected.cls
    assert found is not None, "the caller passes the whole header"
    return found, tuple(reader.remarks)


def _c(data: bytes, options: Options) -> AcceptedHeader | RejectClass:
    """Read a header as C: `08`, a varint from 1 to the limit, any bytes: section 2.2, steps 4 and 5."""
    reader = Reader(data, pos=2, end=len(data) - 1)
    try:
        if reader.uint8("key") != LENGTH_FIELD << 3 | VARINT:
            return "missing-field"
        length, _ = reader.base128("message_length", 10)
    except Rejected as rejected:
        return rejected.cls
    if not 1 <= length <= max_message_size(options):
        return "limit-exceeded"
    absent = dict.fromkeys(part.name for part in _FIELDS.values())
    return HEKA_HEADER.type(**{**absent, "message_length": length}), ()


def _go(data: bytes, options: Options) -> AcceptedHeader | RejectClass:
    """Read a header as Go: section 2.1, steps 3 to 6.

    A header with an error after its length counts, and the last length wins. A length over the limit is
    rejected even then: Heka would wait for that many bytes, and discard its buffer once it is full.
    """
    reader = Reader(data, pos=2, end=len(data) - 1)
    got: dict[int, bytes | int] = {}
    failed: RejectClass | None = None
    try:
        while reader.left:
            _field(reader, got)
    except Rejected as rejected:
        failed = rejected.cls
    if failed is not None and LENGTH_FIELD not in got:
        return failed
    cut = {number: one & 0xFFFF_FFFF if isinstance(one, int) else one for number, one in got.items()}
    values: dict[str, Any] = {part.name: cut.get(number) for number, part in _FIELDS.items()}
    values["message_length"] = values["message_length"] or 0
    values["hmac_hash_function"] = dict(enumerate(HASH_FUNCTIONS)).get(values["hmac_hash_function"])
    found = HekaHeader(**values)
    return (found, ()) if found.message_length <= max_message_size(options) else "limit-exceeded"


def _any_varint(reader: Reader) -> int:
    """Read a varint of any length, as gogo: section 4, rule summary; S36."""
    raw, _ = reader.base128("varint", max(reader.left, 1))
    return raw & 0xFFFF_FFFF_FFFF_FFFF


LENGTH_FIELD: Final = 1
_FIELDS: Final = {part.number: part for part in proto_fields(HEKA_HEADER) if not part.deprecated}
"""The fields of a header since 2013; message_encoding counts as unknown: S20."""


def _field(reader: Reader, got: dict[int, bytes | int]) -> None:
    """Read a field of the header into `got`, or skip an unknown field. The field number is an int32."""
    key = _any_varint(reader)
    number, wire = key >> 3 & 0xFFFF_FFFF, key & 7
    if number not in _FIELDS:
        # as in gogo, the middle of a key that is longer than needed: M41
        reader.pos -= max(1, -(-key.bit_length() // 7))
        _skip(reader)
    elif wire not in _FIELDS[number].wires:
        raise reader.reject("type-mismatch", f"#{number}", f"wire type {wire}")
    elif wire == VARINT:
        got[number] = _any_varint(reader)
    else:
        got[number] = reader.take("bytes", _any_varint(reader))


def _skip(reader: Reader) -> None:
    """Skip a field as gogo: section 4, group. Any end key ends a group, and a single one is a field."""
    depth = 0
    while True:
        match _any_varint(reader) & 7:
            case 0:
                _any_varint(reader)
            case 1 | 5 as wire:
                reader.skip("fixed", 8 if wire == 1 else 4)
            case 2:
                reader.skip("bytes", _any_varint(reader))
            case 3:
                depth += 1
            case 4:
                depth -= 1
            case wire:
                raise reader.reject("bad-kind", "key", f"wire type {wire}")
        if depth <= 0:
            return


RESYNC_MODES: Final[dict[str, ModeRules]] = {
    "strict": ModeRules(_strict, "aligned", rescans=True),
    "go": ModeRules(_go, "deliver"),
    "c": ModeRules(_c, "within"),
}
"""The modes by `Options.resync`."""


def read_head(data: bytes, mode: ModeRules, options: Options) -> AcceptedHeader | RejectClass:
    """Read the bytes of a frame up to its unit separator, which is the same in every mode: S09, S10."""
    return mode.head(data, options) if data[-1] == UNIT_SEPARATOR else "bad-separator"


# --- the scan ---


class Scanner:
    """A scan in progress.

    Attributes:
        options: the options of the scan.
        framing: the rules of the mode.
        buffer: bytes of the stream from position `base` on; those before `pos` already belong to items.
        base: position of the buffer in the stream.
        pos: the current position in the buffer.
        run: position and class of the garbage that is being collected, or None.
        torn: position of the first frame that the end of the stream cuts; None before the end.
        credit: limit for reading messages that are rejected, in bytes. Frames may be nested at every few
            bytes; without a limit reading them would take time quadratic in the largest message. Without
            credit the scan does not search inside a rejected frame. After a frame the credit is at most
            `most`, so a scan that starts where `clean` is True returns the same items as a scan of the whole.
        most: the credit at the beginning.
        head: the header of the frame that seems to begin at `pos`, if read.
        fault: the reject class of that frame, if it has one.
        size: the size of that frame in bytes.
        content: its item, if its message was read.
    """

    def __init__(self, options: Options) -> None:
        """Start at byte 0."""
        self.options = options
        self.framing = RESYNC_MODES[options.resync]
        self.buffer = bytearray()
        self.base = 0
        self.pos = 0
        self.run: tuple[int, RejectClass | None] | None = None
        self.torn: int | None = None
        self.most = self.credit = 16 * (max_message_size(options) + MAX_HEADER)
        self._forget()

    def _forget(self) -> None:
        self.head: AcceptedHeader | None = None
        self.fault: RejectClass | None = None
        self.size = 0
        self.content: Item | None = None

    @property
    def here(self) -> int:
        """Return the current position in the stream."""
        return self.base + self.pos

    @property
    def clean(self) -> bool:
        """Return True if the bytes before `here` have no influence on the items after it."""
        return self.run is None and self.torn is None and self.credit == self.most

    def feed(self, chunk: bytes) -> Iterator[Item]:
        """Take the next bytes, and yield the items that are certain."""
        self.buffer += chunk
        yield from self._search(final=False)
        del self.buffer[: self.pos]
        self.base += self.pos
        self.pos = 0

    def finish(self) -> Iterator[Item]:
        """End the stream, and yield the remaining items."""
        yield from self._search(final=True)
        end = self.base + len(self.buffer)
        if self.torn is None:
            yield from self._end_run(end)
            return
        if self.run is not None:
            yield from self._end_run(self.torn)
        yield Item("tail", self.torn, end - self.torn)

    def _search(self, *, final: bool) -> Iterator[Item]:
        while self._to_separator():
            if self._skip_false_separators():
                continue
            if not self._needs_bytes(final=final):
                if self._is_item():
                    yield from self._take_item()
                else:
                    self._skip_separator(self.fault)
            elif not final:
                return
            else:
                self.torn = self.here if self.torn is None else self.torn
                if not self.framing.rescans:
                    return
                self._skip_separator(None)

    # --- garbage ---

    def _to_separator(self) -> bool:
        """Move to the next 1E, and return True if there is one; the bytes before it are garbage."""
        found = self.buffer.find(RECORD_SEPARATOR, self.pos)
        stop = len(self.buffer) if found < 0 else found
        if stop > self.pos:
            self._begin_run(None)
            self._advance(stop - self.pos)
        return found >= 0

    def _skip_separator(self, cls: RejectClass | None) -> None:
        """Skip the separator at `pos`, which begins no frame: section 2.1, step 6."""
        self._begin_run(cls)
        self._advance(1)
        self._forget()

    def _skip_false_separators(self) -> bool:
        """Skip separators after whose header no unit separator follows; return whether there were any.

        They are skipped as by `_skip_separator`, many at once: garbage may have millions of them.
        """
        if self.head is not None or self.content is not None:
            return False
        data, at, size = self.buffer, self.pos, len(self.buffer)
        unit = nearest = -1
        while 0 <= at < size - 1 and (end := at + 2 + data[at + 1]) < size and data[end] != UNIT_SEPARATOR:
            at += 1
            if unit <= at:
                found = data.find(UNIT_SEPARATOR, at + 1)
                unit = found if found >= 0 else size
                nearest = unit - MAX_HEADER - 2
            if at < nearest or data[at] != RECORD_SEPARATOR:
                at = data.find(RECORD_SEPARATOR, max(at, nearest))
        stop = size if at < 0 else at
        if stop == self.pos:
            return False
        self._begin_run("bad-separator")
        self._advance(stop - self.pos)
        return True

    def _advance(self, count: int) -> None:
        self.pos += count
        self.credit += REREAD_BYTES_PER_BYTE * count

    def _begin_run(self, cls: RejectClass | None) -> None:
        """Begin garbage at the current position, if it did not begin before."""
        if self.run is None and self.torn is None:
            self.run = (self.here, cls)

    def _end_run(self, stop: int) -> Iterator[Item]:
        """Yield the garbage before `stop`; a cut frame is garbage too if a frame follows it."""
        if self.run is None and self.torn is not None:
            self.run = (self.torn, "truncated")
        if self.run is not None:
            at, cls = self.run
            yield Item("garbage", at, stop - at, cls=cls)
        self.run = None

    # --- frames ---

    def _needs_bytes(self, *, final: bool) -> bool:
        """Read the frame at `pos` as far as possible; return True if a decision needs more bytes."""
        have = len(self.buffer) - self.pos
        if self.head is None:
            if have < 2 or have < (size := FRAME_OVERHEAD + self.buffer[self.pos + 1]):
                return True
            match read_head(bytes(self.buffer[self.pos : self.pos + size]), self.framing, self.options):
                case (header, _) as head:
                    self.head, self.size = head, size + header.message_length
                case cls:
                    self.fault = cls
                    return False
        if have < self.size:
            return True
        if self.content is None:
            self.content = self._read_content(*self.head)
        search = self.content.cls is not None and self.framing.on_rejection == "aligned"
        return search and have == self.size and not final

    def _read_content(self, header: HekaHeader, remarks: tuple[Remark, ...]) -> Item:
        data = bytes(self.buffer[self.pos : self.pos + self.size])
        reader = Reader(data, pos=self.size - header.message_length, budget=Budget(self.options.max_output))
        try:
            whole = stream.read_content(reader, header, self.options)
        except Rejected as rejected:
            self.credit -= self.size
            self.fault = rejected.cls
            kind: Literal["frame", "garbage"] = (
                "frame" if self.framing.on_rejection == "deliver" else "garbage"
            )
            return Item(kind, self.here, self.size, cls=rejected.cls)
        found = (*remarks, *reader.remarks)
        shifted = tuple(evolve(one, at=shift_position(one.at, self.here)) for one in found)
        return Item("frame", self.here, self.size, whole, remarks=shifted)

    def _is_item(self) -> bool:
        """Return True if the frame at `pos`, valid or rejected, is one item and is not searched inside."""
        if self.content is None:
            return False
        if self.content.cls is None or self.framing.on_rejection == "deliver" or self.credit < 0:
            return True
        # a separator or the end of the stream follows the frame: S31 against S17
        end = self.pos + self.size
        aligned = end == len(self.buffer) or self.buffer[end] == RECORD_SEPARATOR
        return self.framing.on_rejection == "aligned" and self.torn is None and aligned

    def _take_item(self) -> Iterator[Item]:
        """Yield the garbage before the frame at `pos`, and the frame."""
        item = self.content
        assert item is not None, "only after _is_item"
        yield from self._end_run(self.here)
        self.torn = None
        self._advance(self.size)
        self.credit = min(self.credit, self.most)
        self._forget()
        yield item


# --- a stream scanned in several modes at once: section 2.4 ---

MAX_ITEMS_SHOWN: Final = 4
"""Number of items that a difference stores for each side; further ones are only counted."""


@define
class ModeCounts:
    """The numbers of items and of bytes that one mode found, by kind and reject class."""

    items: Counter[tuple[str, str | None]] = field(factory=Counter)
    bytes: Counter[tuple[str, str | None]] = field(factory=Counter)


@define
class DifferenceSide:
    """The items of one mode within a difference.

    Attributes:
        end: position after the last item.
        first: the first items, at most `MAX_ITEMS_SHOWN`.
        more: the number of further items.
    """

    end: int
    first: list[Item] = field(factory=list)
    more: int = 0

    def take(self, item: Item) -> None:
        """Add the next item."""
        self.end = item.at + item.length
        if len(self.first) < MAX_ITEMS_SHOWN:
            self.first.append(item)
        else:
            self.more += 1

    def __str__(self) -> str:
        """Return the items as text, such as `frame 25 (bad-length), garbage 3`."""
        parts = [f"{item.kind} {item.length}" + (f" ({item.cls})" if item.cls else "") for item in self.first]
        return ", ".join(parts) + (f" and {self.more} more" if self.more else "")


@frozen
class ModeDifference:
    """The bytes from `at` to `end`, which two modes divide or classify differently."""

    at: int
    end: int
    left: DifferenceSide
    right: DifferenceSide


def compare_modes(
    chunks: Iterable[bytes],
    modes: Sequence[ResyncMode],
    accounts: Sequence[ModeCounts],
    options: Options = DEFAULT_OPTIONS,
) -> Iterator[ModeDifference]:
    """Scan a stream in each mode, and yield the differences between the last two modes.

    Memory is bounded: the mode that is behind reads on, and no scanner is more than a frame ahead.

    Args:
        chunks: the stream, divided in any way.
        modes: names of modes, as in `Options.resync`.
        accounts: one object for each mode, to which the items are added.
        options: `keys`, `max_message` and `compression`, as for a scan.
    """

    def items(number: int, copy: Iterator[bytes]) -> Iterator[tuple[int, Item]]:
        for item in scan(copy, evolve(options, resync=modes[number])):
            accounts[number].items[item.kind, item.cls] += 1
            accounts[number].bytes[item.kind, item.cls] += item.length
            yield number, evolve(item, value=None, remarks=())

    last, left, right = len(modes) - 1, DifferenceSide(0), DifferenceSide(0)
    scans = map(items, range(len(modes)), tee(chunks, len(modes)))
    for number, item in merge(*scans, key=lambda found: found[1].at + found[1].length):
        if number < last - 1:
            continue
        (right if number == last else left).take(item)
        if left.end == right.end:
            if left != right:
                yield ModeDifference(left.first[0].at, left.end, left, right)
            left, right = DifferenceSide(left.end), DifferenceSide(left.end)
