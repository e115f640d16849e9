"""The only exception of the codecs, with the closed list of its classes, and the remark.

A remark marks a place where the format leaves the answer open: architecture.md#verdicts.
Adapters use the names of the classes too (adapter-contract.md). The name that a specification gives to a
condition is the `detail` of a rejection, next to its class.
"""

from typing import Any, Final, Literal, get_args

from attrs import evolve, field, frozen

RejectClass = Literal[
    "truncated",
    "length-past-end",
    "bad-length",
    "negative-length",
    "length-mismatch",
    "trailing-data",
    "count-mismatch",
    "bad-magic",
    "bad-separator",
    "crc-mismatch",
    "auth-failed",
    "bad-varint",
    "unknown-codec",
    "decompress-failed",
    "limit-exceeded",
    "null-not-allowed",
    "missing-field",
    "duplicate-field",
    "unknown-field",
    "bad-nesting",
    "bad-offset",
    "bad-control",
    "bad-kind",
    "type-mismatch",
    "bad-utf8",
    "reserved-nonzero",
    "bad-json",
    "not-permitted",
    "invalid-value",
    "other",
]

REJECT_CLASSES: Final[tuple[RejectClass, ...]] = get_args(RejectClass)
"""Every reject class, in the order above."""


Position = int | str
"""A byte offset on the wire, or `61>12` for byte 12 of the data decompressed from wire offset 61."""


class Rejected(Exception):  # noqa: N818 - it is an answer of the codec, not an error in it
    """The codec rejects the bytes or the value.

    Attributes:
        cls: the reject class.
        at: position of the first wrong byte; -1 for a value that cannot be encoded; None if unknown.
        path: the field at that position, such as `records[2].headers[0].key`; empty if unknown.
        text: one line for people.
        detail: the name that the format's specification gives to the condition, or empty.
        before: the value that a reader must deliver before it rejects the rest, or None.
    """

    def __init__(
        self,
        cls: RejectClass,
        at: Position | None = None,
        path: str = "",
        text: str = "",
        *,
        detail: str = "",
        before: Any = None,  # noqa: ANN401 - the value class of the format that rejects
    ) -> None:
        """Store the parts."""
        super().__init__(cls, at, path, text)
        self.cls: RejectClass = cls
        self.at = at
        self.path = path
        self.text = text
        self.detail = detail
        self.before = before

    def __str__(self) -> str:
        """Return the class, the position, the field and the reason; most rejections are never shown."""
        where = self.cls if self.at is None else f"{self.cls} at {self.at}"
        return ": ".join(filter(None, (", ".join(filter(None, (where, self.path))), self.text)))

    def with_before(self, before: Any) -> "Rejected":  # noqa: ANN401 - as in __init__
        """Return the same rejection with the value that is delivered before it."""
        return Rejected(self.cls, self.at, self.path, self.text, detail=self.detail, before=before)


@frozen
class OtherAnswer:
    """Another answer that a remark allows: `value`, in JSON form, at `path`; `name` is its kind."""

    name: str
    path: str
    value: Any


@frozen
class Remark:
    """A place where the format leaves the answer open, and the reference gives one of the allowed answers.

    Attributes:
        cls: a key of `REMARKS`.
        at: position of the field.
        path: path of the field.
        rejectable: True if a codec may reject the input here.
        others: the values that are allowed instead of the reference's value.
    """

    cls: str
    at: Position
    path: str
    rejectable: bool = False
    others: tuple[OtherAnswer, ...] = field(default=())

    def with_prefix(self, prefix: str) -> "Remark":
        """Return the same remark with `prefix`, such as `batches[3].`, before its paths."""
        others = tuple(evolve(other, path=prefix + other.path) for other in self.others)
        return evolve(self, path=prefix + self.path, others=others)


def shift_position(at: Position, base: int) -> Position:
    """Return the position `at` of bytes that begin at `base` of other bytes."""
    place, _, inner = str(at).partition(">")
    if not place.lstrip("-").isdecimal():
        return at
    return f"{int(place) + base}>{inner}" if inner else int(place) + base
