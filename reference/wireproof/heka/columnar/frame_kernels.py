"""Numba kernels for Heka frames. A frame that they call clean is valid and has no remarks.

As in `kernels`, a condition may be stricter than heka.md, but never less strict, and positions are `uint64`.
A clean frame has a header with nothing but the message length, and a message with each field once, in the
wire types and with the values that a writer makes. Signed frames are left to the reference.
"""

from typing import Final

from wireproof.columnar.basic_kernels import (
    BAD,
    EIGHT,
    ONE,
    ZERO,
    Array,
    Flag,
    Int,
    Octets,
    Pos,
    U,
    is_utf8,
    read_base128,
)
from wireproof.columnar.optional_deps import compile_kernel, np

SEPARATOR, UNIT, LENGTH_KEY = 0x1E, 0x1F, 0x08
"""The bytes around a header (heka.md §2), and the key of Header.message_length (§1)."""

VARINT, FIXED64, LENGTH = 0, 1, 2
"""The wire types: §4."""

MESSAGE_WIRES: Final = np.array([9, 2, 0, 2, 2, 0, 2, 2, 0, 2, 2], np.int64)
"""The wire type of each field of Message; 9 for a number that is no field: §1."""

NAME, VALUE_TYPE, REPRESENTATION = 1, 2, 3
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
