"""How a message lies on the wire: an ordered list of parts, one row an edition.

iggy.md, sections 3.1, 3.3, 5, 6 and 7. A later edition is another row: other parts, or the same in another
order. What a part is called is also the name of the value's field.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, TypeAlias

from attrs import frozen

from wireproof.iggy.headers import V1, Tlv
from wireproof.wire.checksums import crc32, xxh3_64
from wireproof.wire.reader import FIXED
from wireproof.wire.trace import Covering

Answer = Literal["take", "remark", "reject"]


@frozen
class Fixed:
    """A field of a fixed width, read by the primitive `kind`; `names` turns its codes into words."""

    name: str
    kind: str
    names: Mapping[int, str] | None = None


@frozen
class Zero:
    """A field that its writer leaves at 0 and that no value shows.

    `other`: what becomes of another number: `remark` where the receiver overwrites it, else `reject`;
    `detail`: the server's error then.
    """

    name: str
    kind: str
    other: Answer
    detail: str = "InvalidReservedField"


@frozen
class Sum:
    """A checksum: its name in traces, and what it makes of bytes."""

    label: Covering
    of: Callable[[bytes], int]


CRC32: Final = Sum("crc32", crc32)
"""CRC-32 (ISO-HDLC); where the field is wider, widened: sections 3.3 and 5."""

XXH3: Final = Sum("xxh3-64", xxh3_64)
"""XXH3-64, seed 0, from 0.8.0 on: sections 5 and 6."""


@frozen
class Checksum:
    """A checksum over the payload only, to 0.6.x, or over the message behind it. Computed when written.

    `wrong` says what becomes of one that does not match: a client cannot verify it, for with server-side
    encryption it covers the ciphertext; a segment file holds that ciphertext, so that there it must match.
    """

    name: str
    kind: str
    wrong: Answer
    sum: Sum = CRC32
    over: Literal["payload", "rest"] = "payload"


@frozen
class Length:
    """The length of the block `of`, which may stand anywhere behind it."""

    name: str
    kind: str
    of: str


@frozen
class Block:
    """As many bytes as its length says: the headers or the payload."""

    name: str


@frozen
class Rest:
    """All bytes that are left: the payload where its length is not told."""

    name: str


Part: TypeAlias = Fixed | Zero | Checksum | Length | Block | Rest

WIDTHS: Final[dict[str, int]] = {**{name: packing.size for name, packing in FIXED.items()}, "uint128le": 16}
"""Bytes of each primitive."""

STATES: Final[dict[int, str]] = {1: "available", 10: "unavailable", 20: "poisoned", 30: "marked_for_deletion"}
"""iggy.md, section 3.3: other codes are InvalidCommand."""


@frozen
class Layout:
    """A row of messages.

    Attributes:
        parts: in the order of the wire.
        value: the class of the value.
        empty: what becomes of an empty payload that is read.
        tlv: how its headers lie.
        filled: whether writers refuse an empty payload.
        kept: whether a block of headers that is no map is kept as bytes: sections 5 and 10.2.
        sealed: whether such a block may be written, as clients do that encrypt it: section 1, `4ca3cf2b3`.
    """

    parts: tuple[Part, ...]
    value: type[Any]
    empty: Answer
    tlv: Tlv = V1
    filled: bool = False
    kept: bool = False
    sealed: bool = False

    def extent(self, data: bytes | bytearray, pos: int = 0) -> tuple[int, bool]:
        """The bytes that a message at `pos` needs, as far as `data` tells, and whether that is all."""
        size, lengths = 0, dict[str, int]()
        for part in self.parts:
            match part:
                case Block(name):
                    size += lengths[name]
                case Rest():
                    return size, False
                case Length(_, kind, of):
                    size += WIDTHS[kind]
                    if pos + size > len(data):
                        return size, False
                    lengths[of] = FIXED[kind].unpack_from(data, pos + size - WIDTHS[kind])[0]
                case _:
                    size += WIDTHS[part.kind]
        return size, True
