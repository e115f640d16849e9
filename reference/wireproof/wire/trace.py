"""The trace of a decode: one span for each field, with its position, type and value.

`explain`, the field-aware mutators, the derived families and the field diff of the reports all use these
spans: there is no second table of offsets.
"""

from typing import Any, TypeAlias

from attrs import field, frozen

CoverKind: TypeAlias = str
"""The relation of a field to other bytes: `length`, `count` of elements, or the name of a checksum.

The names are `crc32c`, `crc32`, `xxh32`, `xxh32-hc`, `xxh3-64`, `hmac`, `isize`, and those of families.
"""


@frozen
class Cover:
    """The bytes `start` to `end`, in the field's own space, of which the field is the `kind`.

    A stored length is `end - start + bias`.
    """

    kind: CoverKind
    start: int
    end: int
    bias: int = 0


@frozen
class FieldSpan:
    """One field that was read or written.

    Attributes:
        path: such as `records[0].headers[1].key`.
        space: empty for the wire; `61>` for the bytes decompressed from the region at wire offset 61.
        start: position of the first byte in the space.
        end: position after the last byte.
        type: name of the field's type, such as `int32`, `varint`, `bytes`, `gzip`.
        value: the decoded value: int, bytes, bool, str or None.
        cover: the bytes whose length, count or checksum the field is; None for other fields.
    """

    path: str
    space: str
    start: int
    end: int
    type: str
    value: Any
    cover: Cover | None = field(default=None)

    def with_cover(self, cover: Cover) -> "FieldSpan":
        """Return the span with a cover; a decode makes many, and `evolve` takes three times as long."""
        return FieldSpan(self.path, self.space, self.start, self.end, self.type, self.value, cover)

    @property
    def at(self) -> int | str:
        """Return the position of the first byte, in the notation of rejections."""
        return f"{self.space}{self.start}" if self.space else self.start
