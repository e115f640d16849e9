"""The fast decoder of Heka frames: kernels find the clean ones in a buffer, any contiguous bytes."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from attrs import frozen

from wireproof.columnar.basic_kernels import (
    BAD,
    EIGHT,
    ONE,
    ZERO,
    Array,
    Buffer,
    Flag,
    Int,
    Octets,
    Pos,
    U,
    is_utf8,
    read_base128,
)
from wireproof.columnar.optional_deps import compile_kernel, np
from wireproof.family import FastDecoder
from wireproof.heka import stream
from wireproof.heka.message import HEKA_MESSAGE
from wireproof.heka.scan import REREAD_BYTES_PER_BYTE, Scanner
from wireproof.heka.stream import HekaFrame, max_message_size
from wireproof.schema.layout import proto_fields
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.scan_items import Item

# --- kernels ---
#
# As in `kernels`, a condition may be stricter than heka.md, but never less strict, and positions are
# `uint64`. A clean frame has a header with nothing but the message length, and a message with each field
# once, in the wire types and with the values that a writer makes. Signed frames are left to the reference.

SEPARATOR, UNIT, LENGTH_KEY = 0x1E, 0x1F, 0x08
"""The bytes around a header (heka.md §2), and the key of Header.message_length (§1)."""

VARINT, FIXED64, LENGTH = 0, 1, 2
"""The wire types: §4."""

MESSAGE_WIRES: Final = np.array([9, *(part.wires[0] for part in proto_fields(HEKA_MESSAGE))], np.int64)
"""The wire type of each field of Message; 9 for a number that is no field: §1."""

NAME, VALUE_TYPE = 1, 2
FIRST_ARRAY: Final = 4
"""Field.value_string; the arrays of the other types follow in the order of the enum."""


@compile_kernel
def read_frame_header(data: Octets, at: Pos, most: Int) -> tuple[Pos, Pos]:
    """Return start and end of the message of the frame at `at`.

    Both are `BAD` if the header is not valid or holds more than the message length.
    """
    size = U(data.size)
    if size - at < U(5) or data[at] != SEPARATOR or data[at + U(2)] != LENGTH_KEY:
        return BAD, BAD
    stop = at + U(2) + U(data[at + ONE])
    if stop >= size:
        return BAD, BAD
    length, here = read_base128(data, at + U(3), stop, U(10), ONE)
    if here != stop or data[stop] != UNIT or length == ZERO or length > U(most):
        return BAD, BAD
    return stop + ONE, stop + ONE + length


@compile_kernel
def read_payload(data: Octets, at: Pos, end: Pos, wire: Int) -> tuple[Pos, Pos, Pos]:
    """Read one payload: return its integer or byte count, the start of its bytes, and its end.

    The end is `BAD` if the payload is cut.
    """
    if wire == VARINT:
        value, stop = read_base128(data, at, end, U(10), ONE)
        return value, at, stop
    if wire == FIXED64:
        return ZERO, at, at + EIGHT if end - at >= EIGHT else BAD
    length, start = read_base128(data, at, end, U(10), ONE)
    if start == BAD or length > end - start:
        return ZERO, ZERO, BAD
    return length, start, start + length


@compile_kernel
def is_clean_message(data: Octets, at: Pos, end: Pos) -> Flag:
    """Return whether the message is clean: §1, §4."""
    seen = np.int64(0)
    while at < end:
        number, wire = np.int64(data[at]) >> 3, np.int64(data[at]) & 7
        if number > 10 or MESSAGE_WIRES[number] != wire or (number < 10 and seen >> number & 1):
            return False
        seen |= 1 << number
        value, start, stop = read_payload(data, at + ONE, end, wire)
        if stop == BAD or not is_clean_value(data, number, value, start, stop):
            return False
        at = stop
    return seen & 0b110 == 0b110  # uuid and timestamp: M02 to M04


@compile_kernel
def is_clean_value(data: Octets, number: Int, value: Pos, start: Pos, stop: Pos) -> Flag:
    """Return whether one field of Message is clean: §1; M05, M09, M14 to M17."""
    if number == 1:
        return value == U(16)
    if number == 2:
        return value < U(1 << 63)
    if number == 5:
        return value < EIGHT
    if number == 8:
        return value < U(1 << 31)
    if number == 10:
        return is_clean_field(data, start, stop)
    return is_utf8(data, start, stop)


@compile_kernel
def is_clean_field(data: Octets, at: Pos, end: Pos) -> Flag:
    """Return whether one Field has a name and only values of its type: M48 to M62, M97."""
    seen, kind, array = np.int64(0), np.int64(0), np.int64(0)
    while at < end:
        number, wire = np.int64(data[at]) >> 3, np.int64(data[at]) & 7
        value, start, stop = read_payload(data, at + ONE, end, wire)
        if number < 1 or number > 8 or wire > LENGTH or stop == BAD:
            return False
        if number < FIRST_ARRAY:
            if seen >> number & 1 or wire != (VARINT if number == VALUE_TYPE else LENGTH):
                return False
            if number == VALUE_TYPE:
                kind = np.int64(min(value, EIGHT))
            elif not is_utf8(data, start, stop) or (number == NAME and value == ZERO):
                return False
        elif array not in (0, number) or not is_clean_array(data, number, wire, value, start, stop):
            return False
        else:
            array = number
        seen |= 1 << number
        at = stop
    return seen >> NAME & 1 == 1 and array == FIRST_ARRAY + kind


@compile_kernel
def is_clean_array(data: Octets, number: Int, wire: Int, value: Pos, start: Pos, stop: Pos) -> Flag:
    """Return whether one element, or one packed chunk, of the array `number` is clean: M62 to M78."""
    if number == 4:
        return wire == LENGTH and is_utf8(data, start, stop)
    if number == 5:
        return wire == LENGTH
    if number == 7:
        return wire == FIXED64 or (wire == LENGTH and value != ZERO and value % EIGHT == ZERO)
    top = ONE if number == 8 else BAD
    if wire == VARINT:
        return value <= top
    return wire == LENGTH and value != ZERO and is_clean_packed(data, start, stop, top)


@compile_kernel
def is_clean_packed(data: Octets, at: Pos, end: Pos, top: Pos) -> Flag:
    """Return whether varints of at most `top` fill `at` to `end`."""
    while at < end:
        value, at = read_base128(data, at, end, U(10), ONE)
        if at == BAD or value > top:
            return False
    return True


@compile_kernel
def walk_frames(
    data: Octets, at: Pos, most: Int, position: Array, message: Array, length: Array
) -> tuple[Int, Pos]:
    """Find clean frames from `at` on, as many as the arrays have room for.

    Returns:
        The number of frames and the position after the last one.
    """
    found, size = 0, U(data.size)
    while found < position.size and at < size:
        start, stop = read_frame_header(data, at, most)
        if stop > size or not is_clean_message(data, start, stop):
            break
        position[found], message[found], length[found] = at, start, stop - at
        at = stop
        found += 1
    return found, at


# --- scan ---

FRAMES_PER_CALL: Final = 1 << 14
"""Frames found by one call of the kernel."""


@frozen
class HekaScanStep:
    """The next part of a buffer: clean frames as arrays, or items of the reference.

    Attributes:
        position, message, length: start of each clean frame, start of its message, bytes of the frame.
        items: the items of the reference, with values.
    """

    position: Array
    message: Array
    length: Array
    items: tuple[Item, ...] = ()


def heka_scan_steps(buffer: Buffer, options: Options = DEFAULT_OPTIONS) -> Iterator[HekaScanStep]:
    """Yield the steps of a scan, in order and without gaps."""
    view = memoryview(buffer).cast("B")
    wire = np.frombuffer(view, np.uint8)
    scanner, at = Scanner(options), 0
    plain = (options.compression, options.resync, options.content) == ("none", "strict", "message")
    while at < view.nbytes:
        room = np.empty((3, FRAMES_PER_CALL if plain else 0), np.uint64)
        found, stop = walk_frames(wire, np.uint64(at), max_message_size(options), room[0], room[1], room[2])
        # as if the scanner had read these frames itself
        scanner.credit = min(scanner.credit + REREAD_BYTES_PER_BYTE * (int(stop) - at), scanner.most)
        at = int(stop)
        if found:
            yield HekaScanStep(room[0, :found], room[1, :found], room[2, :found])
        if at < view.nbytes and (found < FRAMES_PER_CALL or not plain):
            items = tuple(_reference_items(scanner, view, at))
            at = scanner.here
            yield HekaScanStep(room[0, :0], room[1, :0], room[2, :0], items)


def _reference_items(scanner: Scanner, view: memoryview, at: int) -> Iterator[Item]:
    """Yield the items from `at` on, to a position where the scanner has nothing pending, or to the end."""
    scanner.base, read, piece = at, at, 512  # twice as many bytes each time that they are not enough
    while read < view.nbytes:
        yield from scanner.feed(bytes(view[read : read + piece]))
        read, piece = read + piece, piece * 2
        if scanner.here > at and scanner.run is None and scanner.content is None:
            scanner.buffer.clear()
            scanner._forget()  # noqa: SLF001 - drop what it knows about the bytes dropped here
            return
    yield from scanner.finish()
    scanner.base, scanner.pos = view.nbytes, 0


# --- decoders ---


def scan_items(data: bytes, options: Options = DEFAULT_OPTIONS) -> tuple[list[Item], int]:
    """Scan a `heka.stream`: return its items with values, and how many of them come from the reference.

    The kernels find the frames and do not decode them: the reference decodes the bytes of each clean frame.
    If it refuses a frame that the kernels called clean, the item has no value, and the judge reports a
    difference.
    """
    items_found: list[Item] = []
    by_reference = 0
    for step in heka_scan_steps(data, options):
        rows = zip(step.position.tolist(), step.length.tolist(), strict=True)
        for at, length in rows:
            value: HekaFrame | None = None
            with suppress(Rejected):
                value = stream.read(Reader(data[at : at + length]), options)
            items_found.append(Item("frame", at, length, value))
        items_found += step.items
        by_reference += sum(item.kind != "tail" for item in step.items)
    return items_found, by_reference


_FRAME: Final = bytes.fromhex("1e0208141f0a10101112131415161718191a1b1c1d2e2f1001")

FAST_DECODERS: Final = {"heka.stream/0.10": FastDecoder(scan=scan_items, warm=(_FRAME,))}
"""The fast decoder, by format and revision."""
