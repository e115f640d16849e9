"""The parts that describe the layout of a message: iggy.md, sections 3.1, 3.3, 5, 6 and 7.

A layout is an ordered list of parts, one layout for each revision. The name of a part is also the name of the
field in the value.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, TypeAlias

from attrs import frozen

from wireproof.iggy.headers import TLV_V1, TlvLayout
from wireproof.wire.checksums import crc32, xxh3_64
from wireproof.wire.reader import FIXED_WIDTH
from wireproof.wire.trace import CoverKind

Treatment = Literal["take", "remark", "reject"]
"""How a reader treats an irregularity: accept it, accept it with a remark, or refuse it."""


@frozen
class FixedField:
    """A field of fixed width, read by the primitive `kind`. `names`: the names of its codes, if any."""

    name: str
    kind: str
    names: Mapping[int, str] | None = None


@frozen
class ZeroField:
    """A field that the writer leaves at 0 and that is not part of the value.

    Attributes:
        name: in traces and refusals.
        kind: the primitive that reads it.
        other: how to treat another number: `remark` if the receiver overwrites it, else `reject`.
        detail: the server's error for another number.
    """

    name: str
    kind: str
    other: Treatment
    detail: str = "InvalidReservedField"


@frozen
class ChecksumAlgorithm:
    """A checksum algorithm: its name in traces, and the function that computes it."""

    label: CoverKind
    of: Callable[[bytes], int]


CRC32: Final = ChecksumAlgorithm("crc32", crc32)
"""CRC-32 (ISO-HDLC), zero-extended if the field has 64 bits: sections 3.3 and 5."""

XXH3: Final = ChecksumAlgorithm("xxh3-64", xxh3_64)
"""XXH3-64 with seed 0, since 0.8.0: sections 5 and 6."""


@frozen
class ChecksumField:
    """A checksum, which writers compute.

    Attributes:
        name: of the field.
        kind: the primitive that reads it.
        wrong: how to treat a checksum that does not match. With server-side encryption a checksum covers the
            ciphertext. A client does not have it and cannot verify; a segment file has it, so it must match.
        sum: the algorithm.
        over: the bytes that it covers: the payload (up to 0.6.x), or the rest of the message after it.
    """

    name: str
    kind: str
    wrong: Treatment
    sum: ChecksumAlgorithm = CRC32
    over: Literal["payload", "rest"] = "payload"


@frozen
class LengthField:
    """The length of the block `of`, which comes later in the layout."""

    name: str
    kind: str
    of: str


@frozen
class Block:
    """The headers or the payload; an earlier `LengthField` has its size."""

    name: str


@frozen
class Rest:
    """All remaining bytes: a payload without a length."""

    name: str


Part: TypeAlias = FixedField | ZeroField | ChecksumField | LengthField | Block | Rest

WIDTHS: Final[dict[str, int]] = {
    **{name: packing.size for name, packing in FIXED_WIDTH.items()},
    "uint128le": 16,
}
"""The size of each primitive, in bytes."""

MESSAGE_STATES: Final[dict[int, str]] = {
    1: "available",
    10: "unavailable",
    20: "poisoned",
    30: "marked_for_deletion",
}
"""The states of a message. Other codes are InvalidCommand: iggy.md, section 3.3."""


@frozen
class MessageLayout:
    """The layout of a message in one revision of a format.

    Attributes:
        parts: in the order of the wire.
        value: the class of the value.
        empty: how a reader treats an empty payload.
        tlv: the layout of the headers.
        filled: whether writers refuse an empty payload.
        kept: whether a reader returns a header block that is not a map as bytes: sections 5 and 10.2.
        sealed: whether such a block may be written, as encrypting clients do: section 1, `4ca3cf2b3`.
    """

    parts: tuple[Part, ...]
    value: type[Any]
    empty: Treatment
    tlv: TlvLayout = TLV_V1
    filled: bool = False
    kept: bool = False
    sealed: bool = False

    def extent(self, data: bytes | bytearray, pos: int = 0) -> tuple[int, bool]:
        """Return the size of the message at `pos` and True.

        If `data` ends before the lengths, or the payload has no length, return a lower bound and False.
        """
        size, lengths = 0, dict[str, int]()
        for part in self.parts:
            match part:
                case Block(name):
                    size += lengths[name]
                case Rest():
                    return size, False
                case LengthField(_, kind, of):
                    size += WIDTHS[kind]
                    if pos + size > len(data):
                        return size, False
                    lengths[of] = FIXED_WIDTH[kind].unpack_from(data, pos + size - WIDTHS[kind])[0]
                case _:
                    size += WIDTHS[part.kind]
        return size, True
