"""The numbers and bytes of all Numba kernels: types, constants, integers, text, copies, checksums.

All positions are `uint64`. With signed indices numba adds Python's wrap-around of negative indices to every
access, which makes the same code ten times slower; mixing signed and unsigned gives floats. The position
`BAD` means "not clean": it is greater than the end of any buffer, so further reads pass it on unchanged.
"""

from collections.abc import Iterable
from typing import Any, Final, TypeAlias

from wireproof.columnar.optional_deps import compile_kernel, move_sixteen, np
from wireproof.schema.layout import FixedPart, attribute_of, bits_of, is_signed

Octets: TypeAlias = "np.ndarray[Any, np.dtype[np.uint8]]"
Array: TypeAlias = "np.ndarray[Any, Any]"
Row: TypeAlias = Any  # one row of a structured array: numba's own type while compiled
Int: TypeAlias = Any  # int64 while compiled
Flag: TypeAlias = Any  # bool while compiled
Pos: TypeAlias = "np.uint64"

U = np.uint64
BAD: Final = U(0xFFFF_FFFF_FFFF_FFFF)
ZERO, ONE, TWO, FOUR, SIX, SEVEN, EIGHT = U(0), U(1), U(2), U(4), U(6), U(7), U(8)
SLACK: Final = U(16)
CONTINUED, LOW7 = U(0x80), U(0x7F)
INT63: Final = (1 << 63) - 1
LEAST: Final = -INT63 - 1


# --- buffers, the kinds of items, and the integers of a layout ---

Buffer = bytes | bytearray | memoryview
"""A buffer to scan; wrap a `mmap.mmap` in a memoryview."""

FRAME, GARBAGE, TAIL = 0, 1, 2
KINDS: Final = ("frame", "garbage", "tail")


def numpy_dtype(parts: Iterable[FixedPart]) -> "np.dtype[Any]":
    """Return the type of a row of integers, the widest first, so that each is at a multiple of its size.

    The integers have the names of the attributes of a value.
    """
    return np.dtype(
        [
            (attribute_of(part.name), f"{'i' if is_signed(part.kind) else 'u'}{bits_of(part.kind) // 8}")
            for part in sorted(parts, key=lambda part: -bits_of(part.kind))
        ]
    )


# --- fixed-width integers, big-endian ---


@compile_kernel
def read_uint(data: Octets, at: Pos, size: Pos) -> Pos:
    value = ZERO
    for _ in range(size):
        value = value << EIGHT | U(data[at])
        at += ONE
    return value


@compile_kernel
def read_int32(data: Octets, at: Pos) -> Int:
    return np.int32(read_uint(data, at, FOUR))


@compile_kernel
def read_int64(data: Octets, at: Pos) -> Int:
    return np.int64(read_uint(data, at, EIGHT))


# --- varints, only in their shortest form, as a writer makes them ---


@compile_kernel
def read_base128(data: Octets, at: Pos, end: Pos, most: Pos, top: Pos) -> tuple[Pos, Pos]:
    """Read a base-128 varint of at most `most` bytes, which must be as short as possible.

    `top` is the greatest value that the last of `most` bytes may have.

    Returns:
        The raw integer and the position after it, or `BAD` as the position.
    """
    raw, shift, stop = ZERO, ZERO, min(end, at + most)
    while at < stop:
        byte = U(data[at])
        at += ONE
        raw |= (byte & LOW7) << shift
        if byte < CONTINUED:
            dropped = shift == SEVEN * (most - ONE) and byte > top
            return (ZERO, BAD) if dropped or (byte == ZERO and shift != ZERO) else (raw, at)
        shift += SEVEN
    return ZERO, BAD


# --- text and copies ---


@compile_kernel
def is_utf8(data: Octets, at: Pos, end: Pos) -> Flag:
    """Return whether the bytes are well-formed UTF-8: Unicode 15, table 3-7."""
    while at < end:
        byte = data[at]
        at += ONE
        if byte < 0x80:
            continue
        if byte < 0xC2 or byte > 0xF4:
            return False
        following = U(1 if byte < 0xE0 else 2 if byte < 0xF0 else 3)
        if following > end - at:
            return False
        least = 0xA0 if byte == 0xE0 else 0x90 if byte == 0xF0 else 0x80
        most = 0x9F if byte == 0xED else 0x8F if byte == 0xF4 else 0xBF
        for _ in range(following):
            if data[at] < least or data[at] > most:
                return False
            least, most = 0x80, 0xBF
            at += ONE
    return True


@compile_kernel
def copy_bytes(data: Octets, start: Pos, count: Pos, out: Octets, stop: Pos) -> Pos:
    """Copy `count` bytes of `data` from `start` to `stop` in `out`, and return where they end.

    Sixteen are copied at a time where possible: up to fifteen further bytes are written, which the next run
    or the slack at the end of `out` takes.
    """
    if start + count + SLACK <= U(data.size):
        done = ZERO
        while done < count:
            move_sixteen(out, stop + done, data, start + done)
            done += SLACK
    else:
        for step in range(count):
            out[stop + step] = data[start + step]
    return stop + count


# --- checksums ---
#
# For a short entry these kernels finish before the call of a library has begun.

BYTE: Final = U(0xFF)


def _tables(polynomial: int) -> Array:
    """Return eight tables of a reflected CRC-32, which process eight bytes in one step."""
    tables = np.zeros((8, 256), np.uint32)
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ polynomial * (crc & 1)
        tables[0, byte] = crc
    for step in range(1, 8):
        tables[step] = tables[step - 1] >> 8 ^ tables[0][tables[step - 1] & 0xFF]
    return tables


CRC32: Final = _tables(0xEDB88320)
"""CRC-32/ISO-HDLC, of messages of v0 and v1."""
CRC32C: Final = _tables(0x82F63B78)
"""CRC-32C (Castagnoli), of record batches."""


@compile_kernel
def crc(tables: Array, data: Octets, at: Pos, end: Pos) -> Pos:
    """Return the checksum of the bytes from `at` to `end`."""
    value = U(0xFFFF_FFFF)
    while end - at >= EIGHT:
        low = value ^ (
            U(data[at])
            | U(data[at + ONE]) << EIGHT
            | U(data[at + TWO]) << U(16)
            | U(data[at + U(3)]) << U(24)
        )
        value = (
            U(tables[7, low & BYTE])
            ^ U(tables[6, low >> EIGHT & BYTE])
            ^ U(tables[5, low >> U(16) & BYTE])
            ^ U(tables[4, low >> U(24)])
            ^ U(tables[3, data[at + FOUR]])
            ^ U(tables[2, data[at + U(5)]])
            ^ U(tables[1, data[at + SIX]])
            ^ U(tables[0, data[at + SEVEN]])
        )
        at += EIGHT
    while at < end:
        value = value >> EIGHT ^ U(tables[0, (value ^ U(data[at])) & BYTE])
        at += ONE
    return value ^ U(0xFFFF_FFFF)


@compile_kernel
def crc_ranges(tables: Array, data: Octets, first: Array, last: Array, out: Array) -> None:
    for index in range(first.size):
        out[index] = crc(tables, data, first[index], last[index])
