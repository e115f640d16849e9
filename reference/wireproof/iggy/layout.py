"""How a message lies on the wire: an ordered list of parts, one row an edition.

iggy.md, sections 3.1, 3.3 and 7. A later edition is another row: other parts, or the same in another
order. What a part is called is also the name of the value's field.
"""

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

from attrs import frozen

from wireproof.wire.reader import FIXED

Answer = Literal["remark", "reject"]


@frozen
class Fixed:
    """A field of a fixed width, read by the primitive `kind`; `names` turns its codes into words."""

    name: str
    kind: str
    names: Mapping[int, str] | None = None


@frozen
class Checksum:
    """A CRC-32 (ISO-HDLC) of the payload only: iggy.md, section 3.3. Computed when written.

    `wrong` says what becomes of one that does not match: a client cannot verify it, for with server-side
    encryption it covers the ciphertext; a segment file holds that ciphertext, so that there it must match.
    """

    name: str
    kind: str
    wrong: Answer


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


Part: TypeAlias = Fixed | Checksum | Length | Block

WIDTHS: Final[dict[str, int]] = {**{name: packing.size for name, packing in FIXED.items()}, "uint128le": 16}
"""Bytes of each primitive."""

STATES: Final[dict[int, str]] = {1: "available", 10: "unavailable", 20: "poisoned", 30: "marked_for_deletion"}
"""iggy.md, section 3.3: other codes are InvalidCommand."""


@frozen
class Layout:
    """A row: the parts in order, the class of the value, and whether an empty payload is refused."""

    parts: tuple[Part, ...]
    value: type[Any]
    empty: Answer

    def extent(self, data: bytes | bytearray, pos: int = 0) -> tuple[int, bool]:
        """The bytes that a message at `pos` needs, as far as `data` tells, and whether that is all."""
        size, lengths = 0, dict[str, int]()
        for part in self.parts:
            match part:
                case Block(name):
                    size += lengths[name]
                case Length(_, kind, of):
                    size += WIDTHS[kind]
                    if pos + size > len(data):
                        return size, False
                    lengths[of] = FIXED[kind].unpack_from(data, pos + size - WIDTHS[kind])[0]
                case _:
                    size += WIDTHS[part.kind]
        return size, True
