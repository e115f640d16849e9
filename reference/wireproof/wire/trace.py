"""The trace of a decode: one span for each field, with its position, type and value.

`explain`, the field-aware mutators, the derived families and the field diff of the reports all use these
spans: there is no second table of offsets.
"""

from typing import Any, Final, TypeAlias

from attrs import field, frozen

from wireproof.wire.rejection import Position, RejectClass, Rejected

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


# --- cursor ---

Scope: TypeAlias = "tuple[Scope, str, int] | None"
"""A linked tuple `(outer, name, index)`, which becomes text only for a rejection, a remark or a trace."""

NO_INDEX: Final = -1


def path_of(scope: Scope, name: str) -> str:
    """Return the dotted path of `name` inside `scope`, such as `records[0].headers[1].key`."""
    parts = [name] if name else []
    while scope is not None:
        scope, outer, index = scope
        parts.append(outer if index == NO_INDEX else f"{outer}[{index}]")
    return ".".join(reversed(parts))


class Cursor:
    """The base class of readers and writers: a position in a space, and the scope of the field there.

    A space is the wire (`""`) or the bytes that a compressed region contains (`61>`).
    """

    __slots__ = ("pos", "scope", "space")

    def __init__(self, pos: int, space: str, scope: Scope) -> None:
        """Start at byte `pos` of `space`, inside `scope`."""
        self.pos = pos
        self.space = space
        self.scope = scope

    def enter(self, name: str, index: int = NO_INDEX) -> None:
        """Enter the field `name`, or its element `index`."""
        self.scope = (self.scope, name, index)

    def leave(self) -> None:
        """Leave the field that was entered last."""
        if self.scope is not None:
            self.scope = self.scope[0]

    def path(self, name: str) -> str:
        """Return the full path of the field `name` in the current scope."""
        return path_of(self.scope, name)

    def at(self, pos: int) -> Position:
        """Return the position `pos` of this space in the notation of rejections and remarks."""
        return f"{self.space}{pos}" if self.space else pos

    def reject(
        self, cls: RejectClass, name: str, text: str = "", *, at: int | None = None, detail: str = ""
    ) -> Rejected:
        """Return a rejection of the field `name`, for the caller to raise.

        Args:
            cls: the reject class.
            name: the field, in the current scope.
            text: one line for people.
            at: position of the first wrong byte in this space; None means the current position.
            detail: the name of the condition in the format's specification.
        """
        return Rejected(cls, self.at(self.pos if at is None else at), self.path(name), text, detail=detail)
