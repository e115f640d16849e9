"""Decompress whole compressed regions at the speed of the libraries, if they have the usual shape.

kafka.md §3. Each function handles the simplest shape of its codec, which Kafka's writers make. Any other
shape, and every defect, goes through the reference's own frame reader (`wireproof.wire.compression`), which
decides whether the region is valid and adds remarks; so no region is accepted here that it would refuse or
remark on. The output size is bounded before anything is decompressed.
"""

from collections.abc import Callable, Mapping
from functools import partial
from struct import Struct
from threading import local
from typing import Final, TypeAlias

import cramjam
import zstandard
from attrs import define, field

from wireproof.columnar.basic_kernels import EIGHT, ONE, SEVEN, TWO, ZERO, Array, Flag, Int, Octets, Pos, U
from wireproof.columnar.optional_deps import compile_kernel, deflate, np, zlib_ng
from wireproof.wire.compression import decompress_prefix, gzip, lz4, snappy, zstd
from wireproof.wire.reader import Budget, Reader
from wireproof.wire.rejection import Rejected

# --- blocks of deflate ---
#
# libdeflate is the fastest inflater, but less strict than zlib, which Kafka's reader uses: it takes length
# codes 286 and 287 and distance codes 30 and 31, which never occur in valid data (RFC 1951, §3.2.6), and a
# code with one codeword out of two. A block whose two codes are complete and have no such symbol can contain
# none of these.

STORED_BLOCK, FINAL_STORED_BLOCK, FINAL_DYNAMIC_BLOCK = U(0b000), U(0b001), U(0b101)
"""BFINAL is the lowest bit, and BTYPE is 00, or 10 for a block with codes of its own: RFC 1951, §3.2.3."""
STORED_HEADER: Final = U(5)
"""Bytes before the data of a stored block that begins at a byte, as the next one does: RFC 1951, §3.2.4."""
THREE, FIVE = U(3), U(5)
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

    The first bit of a codeword is the lowest bit of the number: RFC 1951, §3.1.1 and RFC 1951, §3.2.2.
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


# --- regions ---

GZIP_WINDOW: Final = 16 + 15
"""The window of deflate, 2 to the power of 15 bytes, in the header and trailer of gzip: zlib's `wbits`."""
DEFLATE_RATIO: Final = 1032
"""Two bits of deflated data give at most 258 bytes."""
XERIAL_START: Final = snappy.MAGIC + Struct(">ii").pack(*snappy.WRITER_VERSIONS)
LZ4_HEADERS: Final = {head: most for most, head in lz4.FRAME_HEADERS}
LZ4_V0_HEADERS: Final = {head: most for most, head in lz4.V0_FRAME_HEADERS}
"""Frame headers without optional parts, with their block size; v0 has a header checksum of its own (§2.3)."""
FRAME_HEADERS: Final = dict(lz4.FRAME_HEADERS)
ZSTD_MAGIC: Final = zstd.MAGIC.to_bytes(4, "little")

CHUNK_SIZE: Final = Struct(">i")
BLOCK_SIZE: Final = Struct("<I")


@define
class Arena:
    """Memory for decompressed regions, one after another; it grows by being replaced.

    Attributes:
        octets: the whole memory, as an array.
        room: the same memory, as a memoryview.
        size: bytes in use.
    """

    octets: Octets
    room: memoryview = field(init=False)
    size: int = 0

    def __attrs_post_init__(self) -> None:
        self.room = memoryview(self.octets)  # type: ignore[arg-type] # an array is a buffer

    @classmethod
    def of(cls, size: int) -> "Arena":
        """Return an arena of `size` bytes; the system provides its pages when they are first written."""
        return cls(np.empty(size, np.uint8))

    def free(self, size: int) -> memoryview:
        """Return the next `size` free bytes, without taking them."""
        if self.size + size > self.octets.size:
            octets = np.empty(max(self.size + size, 2 * self.octets.size), np.uint8)
            octets[: self.size] = self.octets[: self.size]
            self.octets, self.room = octets, memoryview(octets)  # type: ignore[arg-type] # as above
        return self.room[self.size : self.size + size]

    def take(self, data: bytes | bytearray | memoryview) -> None:
        """Keep `data`; a memoryview is the result of `free` and is in place already."""
        size = len(data)
        if not isinstance(data, memoryview):
            self.free(size)[:] = data
        self.size += size


Region: TypeAlias = bytes | memoryview
"""A compressed region; no reference to it is kept."""
Decompressed: TypeAlias = bytes | bytearray | memoryview | None
"""A decompressed region: memory of its own, or a view of free memory in the arena that must be taken."""


def decompress_region(
    region: Region, codec: int, most: int, arena: Arena, *, kip57: bool = False
) -> Decompressed:
    """Decompress `region`.

    Args:
        region: all bytes that are compressed with the codec of the attributes.
        codec: 1 to 4.
        most: the greatest number of decompressed bytes.
        arena: memory that may be used after the bytes that it holds.
        kip57: the region is the value of a v0 message (§2.3).

    Returns:
        The decompressed bytes; None if the region is invalid, needs a remark, or exceeds `most`.
    """
    data = (V0_DECOMPRESSORS if kip57 else DECOMPRESSORS)[codec](region, most, arena)
    return _by_reference(bytes(region), codec, most, kip57=kip57) if data is None else data


def _by_reference(region: bytes, codec: int, most: int, *, kip57: bool) -> Decompressed:
    reader = Reader(region, budget=Budget(most))
    try:
        inner, torn = decompress_prefix(reader, "records", codec, kip57=kip57)
    except Rejected:
        return None
    return None if torn is not None or reader.remarks else bytes(inner.data)


def _gzip(packed: Region, most: int, _: Arena) -> Decompressed:
    """Decompress one member; the libraries check the trailer against the output (Z60, Z61).

    cramjam and ISA-L are not strict enough: they accept distances that reach back before the beginning, and
    codes with unused codewords.
    """
    region = bytes(packed)
    size = int.from_bytes(region[-4:], "little")
    if region[:4] != bytes((0x1F, 0x8B, gzip.DEFLATE, 0)) or size > most:  # a member with optional parts
        return None
    octets = np.frombuffer(region, np.uint8)
    # A member ends with its size. So it ends at the end of the region if these four bytes occur nowhere
    # before. Otherwise bytes after the member, which the libraries ignore, are possible.
    ends = ends_once(octets)
    data: bytes | bytearray
    try:
        # libdeflate inflates a member that has only blocks that it cannot misread, else zlib-ng does.
        if ends and 0 < size <= DEFLATE_RATIO * len(region) and are_blocks_complete(octets, U(10)):
            data = deflate.gzip_decompress(region, size)
        elif ends and DEFLATE_RATIO * len(region) <= most:
            data = zlib_ng.decompress(region, GZIP_WINDOW, max(size, 1))
        else:
            engine = zlib_ng.decompressobj(GZIP_WINDOW)
            data = engine.decompress(region, size + 1)
            if not engine.eof or engine.unused_data:
                return None
    except (zlib_ng.error, deflate.DeflateError):  # type: ignore[misc] # its types declare an instance
        return None
    return data if len(data) == size else None


def _snappy(region: Region, most: int, arena: Arena) -> Decompressed:
    """Decompress a xerial stream whose chunks fill the region."""
    if region[:16] != XERIAL_START:
        return None
    at, stop, total, blocks = 16, len(region), 0, []
    view = memoryview(region)
    try:
        while at < stop:
            if stop - at < CHUNK_SIZE.size:  # Z08: the reference remarks on it
                return None
            (length,) = CHUNK_SIZE.unpack_from(region, at)
            block = view[at + 4 : at + 4 + length]
            size = cramjam.snappy.decompress_raw_len(block)
            at, total = at + 4 + length, total + size
            if length <= 0 or at > stop or total > most or size > snappy.MAX_RATIO * length:
                return None
            blocks.append((block, size))
        room, at = arena.free(total), 0
        for block, size in blocks:
            if cramjam.snappy.decompress_raw_into(block, room[at : at + size]) != size:
                return None
            at += size
    except cramjam.DecompressionError:
        return None
    return room.toreadonly()


def _lz4(region: Region, most: int, arena: Arena, headers: Mapping[bytes, int] = LZ4_HEADERS) -> Decompressed:
    """Decompress one frame of simple blocks that ends with its EndMark."""
    largest = headers.get(bytes(region[:7]))
    if largest is None:
        return None
    view, at, stop, bound, blocks = memoryview(region), 7, len(region) - 4, 0, []
    while at < stop:
        (word,) = BLOCK_SIZE.unpack_from(region, at)
        length, stored = word & ~lz4.STORED_FLAG, bool(word & lz4.STORED_FLAG)
        if not 0 < length <= largest:
            return None
        room = length if stored else min(largest, lz4.MAX_RATIO * length + lz4.SLACK)
        blocks.append((view[at + 4 : at + 4 + length], room, stored))
        at, bound = at + 4 + length, bound + room
    if at != stop or region[stop:] != lz4.END_MARK or bound - largest > most:
        return None
    out, header, size = arena.free(bound), FRAME_HEADERS[largest], 0
    try:
        for block, room, stored in blocks:
            if stored:
                out[size : size + room] = block
                size += room
            elif int.from_bytes(block[:4], "little") > room:
                size += cramjam.lz4.decompress_block_into(block, out[size : size + room], room)
            else:  # if it fails, cramjam retries as if the block began with its size; not so above
                alone = b"".join((header, BLOCK_SIZE.pack(len(block)), block, lz4.END_MARK))
                size += cramjam.lz4.decompress_into(alone, out[size : size + room])
    except cramjam.DecompressionError:
        return None
    return out[:size].toreadonly() if size <= most else None


class _Engine(local):
    """A decompressor for each thread: it is expensive to make and cannot be shared."""

    def __init__(self) -> None:
        self.zstd = zstandard.ZstdDecompressor(max_window_size=zstd.MAX_WINDOW)


_ENGINE: Final = _Engine()


def _zstd(region: Region, most: int, _: Arena) -> Decompressed:
    """Decompress one frame without dictionary; check its blocks as the reference does: RFC 8878, §3.1.1."""
    if region[:4] != ZSTD_MAGIC or len(region) < 5 or region[4] & (zstd.RESERVED | 3):
        return None
    try:
        header = zstandard.get_frame_parameters(region)
        if not _is_plain(region, header, most):
            return None
        engine = _ENGINE.zstd.decompressobj()
        data: bytes = engine.decompress(region)
    except zstandard.ZstdError:
        return None
    size_matches = header.content_size in (zstandard.CONTENTSIZE_UNKNOWN, len(data))
    return data if size_matches and engine.eof and len(data) <= most else None


def _is_plain(region: Region, header: zstandard.FrameParameters, most: int) -> bool:
    """Return whether blocks of allowed sizes fill the region and cannot give much more than `most` bytes."""
    if header.window_size > zstd.MAX_WINDOW or header.dict_id:
        return False
    largest = min(header.window_size, zstd.MAX_BLOCK)
    at, bound, last = zstandard.frame_header_size(region), 0, False
    while not last:
        word = int.from_bytes(region[at : at + 3], "little")
        last, kind, size = bool(word & 1), word >> 1 & 3, word >> 3
        if at + 3 > len(region) or kind > zstd.COMPRESSED or size > largest:
            return False
        if kind == zstd.COMPRESSED and not size:  # the reference remarks on it
            return False
        at += 3 + (1 if kind == zstd.RLE else size)
        bound += zstd.MAX_BLOCK if kind == zstd.COMPRESSED else size
    return at + 4 * header.has_checksum == len(region) and bound - zstd.MAX_BLOCK <= most


DECOMPRESSORS: Final[dict[int, Callable[[Region, int, Arena], Decompressed]]] = {
    1: _gzip,
    2: _snappy,
    3: _lz4,
    4: _zstd,
}
"""The functions, by codec number: §1.2."""
V0_DECOMPRESSORS: Final = DECOMPRESSORS | {3: partial(_lz4, headers=LZ4_V0_HEADERS)}
"""The same for values of v0 messages: §2.3."""
