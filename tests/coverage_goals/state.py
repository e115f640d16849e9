"""A deep state: a name, and a predicate on the trace of a decode."""

from collections.abc import Callable
from typing import Any

from attrs import frozen

from wireproof.formats import TracedDecode
from wireproof.wire.rejection import RejectClass


@frozen
class State:
    """A condition that inputs must reach: a name, and a predicate on the layout of an input."""

    name: str
    holds: Callable[[TracedDecode], bool]


def valued(name: str, test: Callable[[Any], object]) -> State:
    """Return a state that holds if `test` is true of the value of accepted bytes."""
    return State(name, lambda seen: seen.decoded is not None and bool(test(seen.decoded.value)))


def remarked(name: str, cls: str) -> State:
    """Return a state that holds for accepted bytes with a remark of class `cls`."""
    return State(
        name,
        lambda seen: seen.decoded is not None and any(remark.cls == cls for remark in seen.decoded.remarks),
    )


def refused(name: str, cls: RejectClass, path: str = "", *, packed: bool | None = None) -> State:
    """Return a state that holds for rejected bytes.

    Args:
        name: the name of the state.
        cls: the class of the rejection.
        path: the end of the path of the rejected field.
        packed: whether the position is inside decompressed bytes; None for both.
    """

    def holds(seen: TracedDecode) -> bool:
        rejected = seen.rejected
        if rejected is None or rejected.cls != cls or not rejected.path.endswith(path):
            return False
        return packed is None or packed == (">" in str(rejected.at))

    return State(name, holds)


def partly(name: str) -> State:
    """Return a state that holds for rejected bytes of which a part was delivered first."""
    return State(name, lambda seen: seen.rejected is not None and seen.rejected.before is not None)


def some(path: str, test: Callable[[Any], object]) -> Callable[[Any], bool]:
    """Return a test of values of which an element passes `test`; `batches.messages` is a list in a list."""
    first, _, rest = path.partition(".")
    inner = some(rest, test) if rest else test
    return lambda value: any(inner(one) for one in getattr(value, first))
