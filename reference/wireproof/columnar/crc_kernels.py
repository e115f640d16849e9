"""Checksums of short Kafka entries: kafka.md §1.1, §2.1.

For a short entry these kernels finish before the call of a library has begun.
"""

from typing import Final

from wireproof.columnar.basic_kernels import EIGHT, FOUR, ONE, SEVEN, SIX, TWO, Array, Octets, Pos, U
from wireproof.columnar.optional_deps import compile_kernel, np

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
    """Write the checksum of each range of bytes to `out`."""
    for index in range(first.size):
        out[index] = crc(tables, data, first[index], last[index])
