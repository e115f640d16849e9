"""Deflate streams by hand, valid and not: RFC 1951. The decoders of zlib refuse all of `INVALID`."""

import struct
import zlib
from collections.abc import Callable, Sequence
from typing import Final

ORDER: Final = (16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15)
EXTRA: Final = {16: (2, 3), 17: (3, 3), 18: (7, 11)}
"""Extra bits of the symbols that repeat, and the fewest repeats."""
OWN: Final = {**dict.fromkeys(range(16), 5), 16: 3, 17: 3, 18: 2}
"""A complete code of code lengths with all of its symbols."""
SMALL: Final = {0: 1, 1: 2, 2: 2}
"""A complete code of the code lengths 0, 1 and 2."""
END: Final = 256

Codes = dict[int, tuple[int, int]]


def canonical(lengths: Sequence[int]) -> Codes:
    """Codeword and length of each symbol: §3.2.2."""
    codes, code = {}, 0
    for length in range(1, 16):
        code <<= 1
        for symbol, own in enumerate(lengths):
            if own == length:
                codes[symbol] = code, length
                code += 1
    return codes


class Bits:
    """Bits in the order of §3.1.1: numbers begin with their lowest bit, codewords with their highest."""

    def __init__(self) -> None:
        self.bits: list[int] = []

    def number(self, value: int, count: int) -> "Bits":
        self.bits += [value >> at & 1 for at in range(count)]
        return self

    def word(self, code: int, length: int) -> "Bits":
        self.bits += [code >> at & 1 for at in range(length)][::-1]
        return self

    def octets(self) -> bytes:
        padded = self.bits + [0] * (-len(self.bits) % 8)
        return bytes(sum(padded[at + bit] << bit for bit in range(8)) for at in range(0, len(padded), 8))


def fixed(*symbols: int, distance: int | None = None) -> bytes:
    """One block with the fixed codes: §3.2.6."""
    lengths = [8] * 144 + [9] * 112 + [7] * 24 + [8] * 8
    out, codes = Bits().number(0b011, 3), canonical(lengths)
    for symbol in symbols:
        out.word(*codes[symbol])
        if symbol > END and distance is not None:
            out.word(distance, 5).number(0, max(0, distance // 2 - 1))
    return out.word(*codes[END]).octets()


def dynamic(
    literals: dict[int, int],
    distances: Sequence[int],
    *symbols: int | tuple[int, int],
    size: int = 258,
    own: dict[int, int] = OWN,
    stored: Sequence[tuple[int, ...]] | None = None,
) -> bytes:
    """One block with codes of its own: §3.2.7.

    `literals` has the lengths of codewords by symbol, `size` is the number of lengths. After a length symbol
    comes the codeword of the distance, in bits. `stored` are the symbols of the code lengths with their
    repeats.
    """
    lengths = [literals.get(symbol, 0) for symbol in range(size)]
    out = Bits().number(0b101, 3).number(size - 257, 5).number(len(distances) - 1, 5).number(15, 4)
    for symbol in ORDER:
        out.number(own.get(symbol, 0), 3)
    of_lengths = canonical([own.get(symbol, 0) for symbol in range(19)])
    for symbol, *repeats in stored or [(length,) for length in (*lengths, *distances)]:
        out.word(*of_lengths[symbol])
        if repeats:
            bits, least = EXTRA[symbol]
            out.number(repeats[0] - least, bits)
    codes = canonical(lengths)
    for each in symbols:
        out.word(*(codes[each] if isinstance(each, int) else each))
    return out.octets()


def stored_block(data: bytes, complement: int = 0xFFFF) -> bytes:
    """One block without compression: §3.2.4."""
    return b"\x01" + struct.pack("<HH", len(data), len(data) ^ complement) + data


A, THREE_MORE = 97, 257
"""The letter, and the symbol of the shortest match."""
CODE: Final = {A: 1, END: 2, THREE_MORE: 2}
LONG: Final = b"a" * 259
"""A letter and the longest match."""
ONE_BACK, OTHER = (0, 1), (1, 1)
"""The codewords of one bit; the first one is the distance 1."""
MATCH: Final = (A, THREE_MORE, ONE_BACK, END)
FAR: Final = 24_600
"""Letters before a match, so that the distances that some decoders read for codes 30 and 31 are inside."""
SHORT: Final = ((18, 97), (1,), (18, 138), (18, 20), (2,), (2,))
"""The lengths of `CODE`, with repeats."""

VALID: Final[dict[str, tuple[bytes, bytes]]] = {
    "fixed codes": (fixed(A, 285, distance=0), LONG),
    "a distance code of one codeword": (dynamic(CODE, [1], *MATCH), b"aaaa"),
    "a complete distance code": (dynamic(CODE, [1, 1], *MATCH), b"aaaa"),
    "no distance code and no match": (dynamic({A: 1, END: 1}, [0], A, END), b"a"),
    "lengths with repeats": (dynamic(CODE, [1, 1], *MATCH, stored=(*SHORT, (1,), (1,))), b"aaaa"),
    "a repeat from one code into the other": (
        dynamic(CODE, [2, 2, 2, 2], A, THREE_MORE, (0, 2), END, stored=(*SHORT, (16, 4))), b"aaaa"),
    "a small code of code lengths": (dynamic(CODE, [1, 1], *MATCH, own=SMALL), b"aaaa"),
    "286 length codes": (dynamic({A: 1, END: 2, 285: 2}, [1, 1], A, 285, ONE_BACK, END, size=286), LONG),
    "30 distance codes": (dynamic(CODE, [1, *[0] * 28, 1], *MATCH), b"aaaa"),
    "only the end of block": (dynamic({END: 1}, [1], END), b""),
    "a stored block": (stored_block(b"abc"), b"abc"),
    "empty blocks before the last one": (b"\0\0\0\xff\xff" * 3 + stored_block(b""), b""),
}  # fmt: skip
"""A stream and its data, by the property that it has."""

INVALID: Final[dict[str, tuple[bytes, bytes]]] = {
    "fixed length code 286": (fixed(A, 286, distance=0), LONG),
    "fixed length code 287": (fixed(A, 287, distance=0), LONG),
    "fixed distance code 30": (fixed(*[A] * FAR, THREE_MORE, distance=30), b"a" * (FAR + 3)),
    "fixed distance code 31": (fixed(*[A] * FAR, THREE_MORE, distance=31), b"a" * (FAR + 3)),
    "a distance before the beginning": (fixed(A, THREE_MORE, distance=1), b"a\0\0\0"),
    "a distance code of one codeword of 2 bits": (dynamic(CODE, [2], A, THREE_MORE, (0, 2), END), b"aaaa"),
    "an incomplete distance code": (dynamic(CODE, [1, 2], *MATCH), b"aaaa"),
    "the other codeword of a distance code of one": (
        dynamic(CODE, [1], A, THREE_MORE, OTHER, END), b"aaaa"),
    "a match without distance code": (dynamic(CODE, [0], *MATCH), b"aaaa"),
    "too many codewords for distances": (dynamic(CODE, [1, 1, 1], *MATCH), b"aaaa"),
    "an incomplete length code": (dynamic({A: 2, END: 2, THREE_MORE: 2}, [1, 1], *MATCH), b"aaaa"),
    "too many codewords for lengths": (dynamic({A: 1, END: 1, THREE_MORE: 1}, [1, 1], *MATCH), b"aaaa"),
    "no end of block": (dynamic({A: 1, THREE_MORE: 1}, [1, 1], A), b"a"),
    "an end of block of 2 bits alone": (dynamic({END: 2}, [1, 1], END), b""),
    "287 length codes": (dynamic({A: 1, END: 2, 285: 2}, [1, 1], A, 285, ONE_BACK, END, size=287), LONG),
    "length code 286": (dynamic({A: 1, END: 2, 286: 2}, [1, 1], A, 286, ONE_BACK, END, size=287), LONG),
    "length code 287": (dynamic({A: 1, END: 2, 287: 2}, [1, 1], A, 287, ONE_BACK, END, size=288), LONG),
    "31 distance codes": (dynamic(CODE, [1, *[0] * 29, 1], *MATCH), b"aaaa"),
    "32 distance codes": (dynamic(CODE, [1, *[0] * 30, 1], *MATCH), b"aaaa"),
    "an incomplete code of code lengths": (dynamic(CODE, [1, 1], *MATCH, own={0: 2, 1: 2, 2: 2}), b"aaaa"),
    "too many codewords for code lengths": (
        dynamic(CODE, [1, 1], *MATCH, own={0: 1, 1: 1, 2: 2}), b"aaaa"),
    "a repeat of nothing": (
        dynamic(CODE, [1, 1], *MATCH, stored=((16, 6), (18, 91), *SHORT[1:], (1,), (1,))), b"aaaa"),
    "zeros after the last length": (dynamic(CODE, [1], A, END, stored=(*SHORT, (17, 3))), b"a"),
    "repeats after the last length": (dynamic(CODE, [2, 2], A, END, stored=(*SHORT, (16, 3))), b"a"),
    "a stored block with another length": (stored_block(b"abc", 0xFFFE), b"abc"),
    "a block of type 3": (b"\x07", b"a"),
    "a cut block": (dynamic(CODE, [1, 1], *[A] * 20, END)[:-1], b"a" * 20),
}  # fmt: skip
"""A stream and the data that a lenient decoder may read, by its defect."""


def member(stream: bytes, data: bytes) -> bytes:
    """A member of gzip with the trailer of `data`: RFC 1952, §2.3."""
    return bytes.fromhex("1f8b08000000000000ff") + stream + struct.pack("<II", zlib.crc32(data), len(data))


def answer(decode: Callable[[bytes], bytes], data: bytes) -> bytes | None:
    """What zlib answers; None if it refuses."""
    try:
        return decode(data)
    except zlib.error:
        return None
