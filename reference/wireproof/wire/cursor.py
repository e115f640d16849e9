"""What a reader and a writer share: they know the path of the field that they stand on.

A scope is a linked tuple `(outer, name, index)`; it costs one tuple to enter and nothing to leave,
and is turned into text only for a refusal, a remark or a trace.
"""

from typing import Final, TypeAlias

from wireproof.wire.classes import RejectClass
from wireproof.wire.rejected import At, Rejected

Scope: TypeAlias = "tuple[Scope, str, int] | None"

NO_INDEX: Final = -1


def path_of(scope: Scope, name: str) -> str:
    """The dotted path of `name` inside `scope`, as `records[0].headers[1].key`."""
    parts = [name] if name else []
    while scope is not None:
        scope, outer, index = scope
        parts.append(outer if index == NO_INDEX else f"{outer}[{index}]")
    return ".".join(reversed(parts))


class Cursor:
    """A position in a space of bytes, and the scope of the field there."""

    __slots__ = ("pos", "scope", "space")

    def __init__(self, pos: int, space: str, scope: Scope) -> None:
        """Stand at byte `pos` of `space`, inside `scope`."""
        self.pos = pos
        self.space = space
        self.scope = scope

    def enter(self, name: str, index: int = NO_INDEX) -> None:
        """Step into the field `name`, or into its element `index`."""
        self.scope = (self.scope, name, index)

    def leave(self) -> None:
        """Step out of the field entered last."""
        if self.scope is not None:
            self.scope = self.scope[0]

    def path(self, name: str) -> str:
        """The full path of the field `name` here."""
        return path_of(self.scope, name)

    def at(self, pos: int) -> At:
        """The position `pos` of this space, as refusals and remarks write it."""
        return f"{self.space}{pos}" if self.space else pos

    def reject(
        self, cls: RejectClass, name: str, text: str = "", *, at: int | None = None, detail: str = ""
    ) -> Rejected:
        """A refusal of the field `name`, to be raised; `at` defaults to where the cursor stands."""
        return Rejected(cls, self.at(self.pos if at is None else at), self.path(name), text, detail=detail)
