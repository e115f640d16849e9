"""The layout trace: every field that was read, where it stood and what it meant.

Design, section 2, "The layout trace". `explain`, field-aware damage, the derived families and the
field diff of the reports all read these rows; there is no second table of offsets.
"""

from typing import Any, Literal

from attrs import field, frozen

Covering = Literal[
    "length", "count", "crc32c", "crc32", "xxh32", "xxh32-hc", "xxh3-64", "iggy-batch", "hmac", "isize"
]
"""How a field speaks of a range of bytes: its length, the number of its elements, or a checksum over it."""


@frozen
class Cover:
    """The field is `kind` of the bytes `start` to `end` of its own space, plus `bias` for a length."""

    kind: Covering
    start: int
    end: int
    bias: int = 0


@frozen
class Span:
    """One field of a layout.

    Attributes:
        path: `records[0].headers[1].key`.
        space: empty for the wire; `61>` for what was unpacked from the region that begins at wire offset 61.
        start: first byte, in its space.
        end: one past the last byte.
        type: the field's standard type name, such as `int32`, `varint`, `bytes`, `gzip`.
        value: what it decoded to: int, bytes, bool, str or None.
        cover: what the field says of other bytes, if it does.
    """

    path: str
    space: str
    start: int
    end: int
    type: str
    value: Any
    cover: Cover | None = field(default=None)

    @property
    def at(self) -> int | str:
        """The position of the first byte, in the notation of refusals."""
        return f"{self.space}{self.start}" if self.space else self.start
