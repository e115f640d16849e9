"""The base class of readers and writers: a position, and the path of the field at that position.

A scope is a linked tuple `(outer, name, index)`. To enter a field costs one tuple, to leave it costs
nothing. A scope becomes text only for a rejection, a remark or a trace.
"""

from typing import Final, TypeAlias

from wireproof.wire.rejection import Position, RejectClass, Rejected

Scope: TypeAlias = "tuple[Scope, str, int] | None"

NO_INDEX: Final = -1


def path_of(scope: Scope, name: str) -> str:
    """Return the dotted path of `name` inside `scope`, such as `records[0].headers[1].key`."""
    parts = [name] if name else []
    while scope is not None:
        scope, outer, index = scope
        parts.append(outer if index == NO_INDEX else f"{outer}[{index}]")
    return ".".join(reversed(parts))


class Cursor:
    """A position in a space of bytes, and the scope of the field at that position.

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
