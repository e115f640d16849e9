"""Rules: what the fields of a structure may say beyond their types.

A rule is a pure function of fields, which it names by its parameters. It returns what is wrong, or None. It
runs behind the field that it guards, so the order of checks is the order of the description; one without a
field runs when the whole structure is known. The same rules hold for readers and for writers.
"""

from collections.abc import Callable
from functools import cached_property
from inspect import signature
from typing import Any, Final, TypeAlias

from attrs import define, field, frozen

# The parameters that only a reader has: a rule with one of them does not hold for writers. From `NUMBERS` on
# they are of protobuf messages.
NUMBER: Final = "number"  # on the wire, if the value is another one; of bytes in a message their length
ROOM: Final = "room"  # the size of the window from the first byte of the structure on, in bytes
COMPUTED: Final = "computed"  # the right checksum, of a rule that guards one: it runs when all bytes are read
SURPLUS: Final = "surplus"  # whether the structure is behind as many as a count said
INDEX: Final = "index"  # of the structure in its list
NUMBERS: Final = "numbers"  # of one payload of a repeated field
OCTETS: Final = "octets"  # the bytes of the field, in a rule of several fields
AGAIN: Final = "again"  # whether the field stood before
ORDER: Final = "order"  # the names of the fields in the order of the wire
FILLED: Final = "filled"  # the names of the repeated fields that have values
OPTIONS: Final = "options"  # those of the decode

OF_READERS: Final = frozenset(
    (NUMBER, ROOM, COMPUTED, SURPLUS, INDEX, NUMBERS, OCTETS, AGAIN, ORDER, FILLED, OPTIONS)
)

KEY: Final = "key"
"""Of a protobuf message: the place of a fault that is at the key of its field, and not at its payload."""


@define(kw_only=True)  # a frozen one takes much longer to make, and every refusal begins with one
class Fault:
    """What a rule finds wrong.

    Attributes:
        cls: the class of the refusal, or of the remark.
        remark: whether readers accept it; then writers do too, unless it is not `written`.
        text: one line for people.
        detail: the name that the specification or the reader has for it.
        path: the field that is wrong, if it is not the guarded one.
        at: the field at whose position it is, if that is not the one of `path`.
        others: the other answers that a remark allows, as (name, JSON value).
    """

    cls: str = field(kw_only=False)
    text: str = field(kw_only=False, default="")
    remark: bool = False
    written: bool = True
    detail: str = ""
    path: str = ""
    at: str = ""
    others: tuple[tuple[str, Any], ...] = ()


def remarked(cls: str, **more: Any) -> Fault:  # noqa: ANN401 - fields of a fault
    """Return a fault that readers accept."""
    return Fault(cls, remark=True, **more)


Check: TypeAlias = Callable[..., Fault | None]


@frozen(eq=False)
class Rule:
    """A rule.

    Attributes:
        id: of the rule in `rules.toml`.
        guards: the field behind which it runs; empty for the whole structure.
        check: returns what is wrong with the fields that it names by its parameters.
        since, until: the first revision in which it holds, and the first in which it does not; empty for
            no limit.
        alone: whether it holds only for a structure that is not inside another one.
        unread: whether it holds for writers alone.
        unwritten: whether it holds for readers alone.
    """

    id: str
    guards: str
    check: Check
    since: str = ""
    until: str = ""
    alone: bool = False
    unread: bool = False
    unwritten: bool = False

    @cached_property
    def needs(self) -> tuple[str, ...]:
        """Return the names of its parameters."""
        return tuple(signature(self.check).parameters)

    @property
    def verifies(self) -> bool:
        """Return whether it refuses a wrong checksum: after an edit it must be made right."""
        if COMPUTED not in self.needs:
            return False
        fault = self.check(**{**dict.fromkeys(self.needs, 0), COMPUTED: 1})
        return fault is not None and not fault.remark
