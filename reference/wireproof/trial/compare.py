"""Where two values in JSON form differ, and which of the differences the format allows.

Design, section 1 ("remark") and section 3 ("Values"): a comparison uses the fields that the adapter
observes; a value that differs only where a remark stands, and has a value allowed there, is no fault.
"""

import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Final, TypeAlias

from attrs import frozen

from wireproof.wire.observe import Wanted
from wireproof.wire.rejected import Remark
from wireproof.wire.texts import one_line
from wireproof.wire.values import Json

Step: TypeAlias = str | int

_STEP: Final = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


LONGEST_PATH: Final = 300
"""Characters of a path; its last step may be a name that an adapter made up."""


class _Missing:
    """Stands for a field that is not there; null is a value."""

    def __repr__(self) -> str:
        """How a report shows it."""
        return "(none)"


MISSING: Final = _Missing()

Maybe: TypeAlias = "Json | _Missing"
"""A value, or the absence of one."""


@frozen
class Difference:
    """The first field that differs, and both its values; `MISSING` where one side has none."""

    path: str
    want: Maybe
    got: Maybe


def difference(want: Json, got: Json, *, masked: bool = False) -> Difference | None:
    """The first difference, or None; `masked` looks only at the fields that `want` has.

    Iterative, as values nest as deeply as an adapter likes to answer.
    """
    todo: list[tuple[str, Maybe, Maybe]] = [("", want, got)]
    while todo:
        path, left, right = todo.pop()
        if isinstance(left, dict) and isinstance(right, dict):
            keys = left if masked else {**left, **right}
            pairs = [(_join(path, key), left.get(key, MISSING), right.get(key, MISSING)) for key in keys]
            todo.extend(reversed(pairs))
        elif isinstance(left, list) and isinstance(right, list):
            if len(left) != len(right):
                shared = next(_unequal(path, left, right), None)
                todo.extend(
                    [(f"{path}.length", str(len(left)), str(len(right)))] if shared is None else [shared]
                )
            else:
                todo.extend(reversed(list(_unequal(path, left, right))))
        elif left is MISSING or right is MISSING or type(left) is not type(right) or left != right:
            return Difference(one_line(path, LONGEST_PATH), left, right)
    return None


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _unequal(path: str, left: list[Json], right: list[Json]) -> Iterator[tuple[str, Json, Json]]:
    for number, (one, other) in enumerate(zip(left, right, strict=False)):
        if one != other:
            yield f"{path}[{number}]", one, other


def is_shorter(got: Json, want: Json) -> bool:
    """Whether `got` differs from `want` only in that its lists end sooner, or that it is null."""
    todo: list[tuple[Json, Json]] = [(got, want)]
    while todo:
        left, right = todo.pop()
        if left is None:
            continue
        if isinstance(left, dict) and isinstance(right, dict) and left.keys() == right.keys():
            todo.extend((left[key], right[key]) for key in left)
        elif isinstance(left, list) and isinstance(right, list) and len(left) <= len(right):
            todo.extend(zip(left, right, strict=False))
        elif left != right:
            return False
    return True


def steps(path: str) -> tuple[Step, ...]:
    """`records[0].key` as `("records", 0, "key")`."""
    return tuple(name or int(index) for name, index in _STEP.findall(path))


_PAIR: Final = {"key": 0, "value": 1}
"""A header is a pair in JSON; codecs name its two parts."""


def _part(value: Maybe, step: Step) -> Maybe:
    if isinstance(value, dict):
        return value.get(str(step), MISSING)
    index = _PAIR.get(step, -1) if isinstance(step, str) else step
    return value[index] if isinstance(value, list) and 0 <= index < len(value) else MISSING


def fetch(value: Json, path: Sequence[Step]) -> Maybe:
    """The part of `value` at `path`, or `MISSING`."""
    here: Maybe = value
    for step in path:
        here = _part(here, step)
    return here


def _put(value: Json, path: Sequence[Step], part: Json) -> None:
    """Write `part` at `path`, which is there and is not empty."""
    *outer, last = path
    match fetch(value, outer):
        case dict() as mapping:
            mapping[str(last)] = part
        case list() as parts:
            parts[_PAIR[last] if isinstance(last, str) else last] = part


def allowing(want: Json, got: Json, remarks: Sequence[Remark]) -> tuple[Json, tuple[str, ...]]:
    """`want` with each allowed value that `got` took in its place, and the classes of those remarks."""
    taken: dict[str, None] = {}
    for remark in remarks:
        for other in remark.others:
            path = steps(other.path)
            if fetch(want, path) in (MISSING, other.value) or fetch(got, path) != other.value:
                continue
            want = deepcopy(want) if not taken else want
            taken[remark.cls] = None
            if path:
                _put(want, path, other.value)
            else:
                want = other.value
    return want, tuple(taken)


def scan_tree(wanted: Wanted) -> Wanted:
    """The patterns of a stream's value, as patterns of the items of its scan.

    A stream's value holds its frames in one list; an item holds one frame, and its own four fields.
    """
    if not wanted or "items" in wanted:
        return wanted
    frames = next((below["[]"] for below in wanted.values() if "[]" in below), wanted)
    item: Wanted = {"kind": {}, "at": {}, "length": {}, "class": {}, "value": frames}
    return {"items": {"[]": item}}
