"""Numba kernels that read the header of a deflate block, to check what libdeflate does not: RFC 1951, §3.2.7.

libdeflate is the fastest inflater, but less strict than zlib, which Kafka's reader uses: it takes length
codes 286 and 287 and distance codes 30 and 31, which never occur in valid data (§3.2.6), and a code with one
codeword out of two. A block whose two codes are complete and have no such symbol can contain none of these.
"""

from typing import Final

from wireproof.columnar.basic_kernels import EIGHT, ONE, SEVEN, TWO, ZERO, Array, Flag, Int, Octets, Pos, U
from wireproof.columnar.optional_deps import compile_kernel, np

STORED_BLOCK: Final = U(0b000)
FINAL_STORED_BLOCK: Final = U(0b001)
FINAL_DYNAMIC_BLOCK: Final = U(0b101)
"""BFINAL is the lowest bit, and BTYPE is 00, or 10 for a block with codes of its own: §3.2.3."""
STORED_HEADER: Final = U(5)
"""Bytes before the data of a stored block that begins at a byte, as then the next block does: §3.2.4."""
THREE: Final = U(3)
FIVE: Final = U(5)
MAX_LENGTH_CODES: Final = 286
MAX_DISTANCE_CODES: Final = 30
END_OF_BLOCK: Final = 256
LONGEST: Final = 15
"""Bits of the longest codeword."""

ORDER: Final = np.array(
    [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15], np.int64
)  # fmt: skip
"""The symbols of the code of code lengths, in the order in which their lengths are stored."""
SYMBOLS: Final = 19
TABLE_BITS: Final = 7
"""Bits of the longest codeword in the code of code lengths."""
SYMBOL_BITS: Final = 5

REPEATS: Final = np.array([[2, 3], [3, 3], [7, 11]], np.int64)
"""Of the symbols 16, 17 and 18: the number of extra bits, and the fewest repeats."""
COPY_PREVIOUS: Final = 16


@compile_kernel
def peek_bits(data: Octets, at: Pos, count: Pos) -> Pos:
    """Return the next bits, at most 16, from the bit position `at`; after the end all bits are 0."""
    byte, word = at >> THREE, ZERO
    for index in range(3):
        if byte + U(index) < U(data.size):
            word |= U(data[byte + U(index)]) << U(8 * index)
    return word >> (at & SEVEN) & ((ONE << count) - ONE)


@compile_kernel
def is_complete(lengths: Array, first: Int, last: Int) -> Flag:
    """Return whether codewords of these lengths use all words of bits, and none of them twice."""
    share = 0
    for index in range(first, last):
        if lengths[index] > 0:
            share += 1 << LONGEST - lengths[index]
    return share == 1 << LONGEST


@compile_kernel
def fill_table(lengths: Array, table: Array) -> None:
    """Write length and symbol of the codeword to each number of `TABLE_BITS` bits that begins with it.

    The first bit of a codeword is the lowest bit of the number: §3.1.1, §3.2.2.
    """
    code = 0
    for length in range(1, TABLE_BITS + 1):
        for symbol in range(SYMBOLS):
            if lengths[symbol] == length:
                reversed_code = 0
                for bit in range(length):
                    reversed_code |= (code >> bit & 1) << length - 1 - bit
                for index in range(reversed_code, 1 << TABLE_BITS, 1 << length):
                    table[index] = length << SYMBOL_BITS | symbol
                code += 1
        code <<= 1


@compile_kernel
def read_code_lengths(data: Octets, at: Pos, table: Array, lengths: Array, count: Int) -> Int:
    """Read `count` code lengths from the bit position `at`; return how many were read: others are invalid."""
    found = 0
    while found < count:
        entry = table[peek_bits(data, at, U(TABLE_BITS))]
        at += U(entry >> SYMBOL_BITS)
        symbol = entry & (1 << SYMBOL_BITS) - 1
        if symbol < COPY_PREVIOUS:
            lengths[found] = symbol
            found += 1
            continue
        bits, times = REPEATS[symbol - COPY_PREVIOUS]
        times += np.int64(peek_bits(data, at, U(bits)))
        at += U(bits)
        if found + times > count or (symbol == COPY_PREVIOUS and not found):
            return found
        if symbol == COPY_PREVIOUS:
            lengths[found : found + times] = lengths[found - 1]
        found += times
    return found


@compile_kernel
def are_codes_complete(data: Octets, start: Pos) -> Flag:
    """Return whether both codes of the dynamic block at byte `start` are complete."""
    at = start << THREE
    literals = np.int64(peek_bits(data, at + U(3), FIVE)) + 257
    distances = np.int64(peek_bits(data, at + U(8), FIVE)) + 1
    stored = np.int64(peek_bits(data, at + U(13), U(4))) + 4
    if literals > MAX_LENGTH_CODES or distances > MAX_DISTANCE_CODES:
        return False
    own = np.zeros(SYMBOLS, np.int64)
    for index in range(stored):
        own[ORDER[index]] = np.int64(peek_bits(data, at + U(17) + U(3 * index), THREE))
    if not is_complete(own, 0, SYMBOLS):
        return False
    table = np.zeros(1 << TABLE_BITS, np.int64)
    fill_table(own, table)
    lengths, count = np.zeros(MAX_LENGTH_CODES + MAX_DISTANCE_CODES, np.int64), literals + distances
    if read_code_lengths(data, at + U(17) + U(3 * stored), table, lengths, count) < count:
        return False
    complete = is_complete(lengths, 0, literals) and is_complete(lengths, literals, count)
    return complete and lengths[END_OF_BLOCK] > 0


@compile_kernel
def are_blocks_complete(data: Octets, start: Pos) -> Flag:
    """Return whether stored blocks begin at byte `start`, the last of which may have complete codes instead.

    Data that cannot be compressed is in stored blocks, which have no codes. The library checks their lengths.
    """
    while start + STORED_HEADER < U(data.size) and peek_bits(data, start << THREE, THREE) == STORED_BLOCK:
        start += STORED_HEADER + (U(data[start + ONE]) | U(data[start + TWO]) << EIGHT)
    kind = peek_bits(data, start << THREE, THREE)
    return kind == FINAL_STORED_BLOCK or (kind == FINAL_DYNAMIC_BLOCK and are_codes_complete(data, start))


@compile_kernel
def ends_once(data: Octets) -> Flag:
    """Return whether the last four bytes occur nowhere before, for data of at least four bytes.

    It is faster than `bytes.find`, because it compares many positions in one step.
    """
    size, found = data.size, np.uint8(0)
    one, two, three, four = data[size - 4], data[size - 3], data[size - 2], data[size - 1]
    first, second, third, fourth = (
        data[: size - 4],
        data[1 : size - 3],
        data[2 : size - 2],
        data[3 : size - 1],
    )
    for index in range(size - 4):
        same = (first[index] == one) & (second[index] == two) & (third[index] == three)
        found |= np.uint8(same & (fourth[index] == four))
    return found == 0
