"""The one exception that a codec raises, and the remark that it leaves where the format is open.

Design, section 1 ("remark", "outcome") and section 3 ("Classes").
"""

from typing import Any

from attrs import evolve, field, frozen

from wireproof.wire.classes import RejectClass

At = int | str
"""A position: the byte offset on the wire, or `61>12`, byte 12 of what was unpacked from wire offset 61."""


class Rejected(Exception):  # noqa: N818 - it is an answer of the codec, not an error in it
    """The bytes or the value are refused.

    Attributes:
        cls: one of the closed classes.
        at: the position of the first wrong byte; -1 for a value that cannot be encoded; None if unknown.
        path: the field that stands there, as `records[2].headers[0].key`; empty if unknown.
        text: one line for a person.
        detail: the rule book's own name of the condition, or empty.
        before: the value that a reader must have delivered before it refuses, or None.
    """

    def __init__(
        self,
        cls: RejectClass,
        at: At | None = None,
        path: str = "",
        text: str = "",
        *,
        detail: str = "",
        before: Any = None,  # noqa: ANN401 - the value class of whichever format refuses
    ) -> None:
        """Keep the parts; `args` shows the line a person reads."""
        where = cls if at is None else f"{cls} at {at}"
        super().__init__(": ".join(filter(None, (", ".join(filter(None, (where, path))), text))))
        self.cls: RejectClass = cls
        self.at = at
        self.path = path
        self.text = text
        self.detail = detail
        self.before = before

    def delivering(self, before: Any) -> "Rejected":  # noqa: ANN401 - as in __init__
        """The same refusal with what was delivered before it."""
        return Rejected(self.cls, self.at, self.path, self.text, detail=self.detail, before=before)


@frozen
class Other:
    """Another answer that a remark allows: `value` (in JSON form) at `path`, under a `name` of its own."""

    name: str
    path: str
    value: Any


@frozen
class Remark:
    """A place where the reference answers though the format leaves the answer open.

    `refusable`: a refusal is allowed there too. `others`: the values allowed in place of the reference's.
    """

    cls: str
    at: At
    path: str
    refusable: bool = False
    others: tuple[Other, ...] = field(default=())

    def under(self, prefix: str) -> "Remark":
        """The same remark on a value that now lies under `prefix`, such as `batches[3].`."""
        others = tuple(evolve(other, path=prefix + other.path) for other in self.others)
        return evolve(self, path=prefix + self.path, others=others)
