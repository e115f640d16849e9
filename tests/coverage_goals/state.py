"""What a deep state is: a name, and whether the trace of a decode is in it. Pure data and predicates."""

from collections.abc import Callable
from typing import Any

from attrs import frozen

from wireproof.formats import Layout
from wireproof.wire.classes import RejectClass


@frozen
class State:
    """A condition that a generator of inputs must reach: `holds` is asked of a layout, refused or not."""

    name: str
    holds: Callable[[Layout], bool]


def valued(name: str, test: Callable[[Any], object]) -> State:
    """A state of the value of accepted bytes."""
    return State(name, lambda seen: seen.decoded is not None and bool(test(seen.decoded.value)))


def remarked(name: str, cls: str) -> State:
    """Accepted bytes on which the reference remarks `cls`."""
    return State(
        name,
        lambda seen: seen.decoded is not None and any(remark.cls == cls for remark in seen.decoded.remarks),
    )


def refused(name: str, cls: RejectClass, path: str = "", *, packed: bool | None = None) -> State:
    """Refused bytes.

    Args:
        name: of the state.
        cls: the class of the refusal.
        path: how the refused field's path ends.
        packed: whether the position lies inside unpacked bytes; None leaves it open.
    """

    def holds(seen: Layout) -> bool:
        rejected = seen.rejected
        if rejected is None or rejected.cls != cls or not rejected.path.endswith(path):
            return False
        return packed is None or packed == (">" in str(rejected.at))

    return State(name, holds)


def partly(name: str) -> State:
    """Refused bytes of which something was delivered first."""
    return State(name, lambda seen: seen.rejected is not None and seen.rejected.before is not None)
