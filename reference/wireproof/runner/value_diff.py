"""Compare two values in JSON form, and accept the differences that a remark allows.

A comparison uses the fields that the adapter observes. A value that differs only at the place of a remark,
and has a value that the remark allows there, is right.
"""

import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from itertools import islice
from typing import Final, TypeAlias

from attrs import frozen

from wireproof.runner.signature import without_indices
from wireproof.wire.json_values import Json
from wireproof.wire.observed_fields import FieldTree
from wireproof.wire.rejection import Remark
from wireproof.wire.safe_text import one_line

PathStep: TypeAlias = str | int

_STEP: Final = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


MOST_DIFFERENCES: Final = 1000
MOST_FIELDS: Final = 12
"""Differences that are searched for further fields, and the fields that a verdict lists."""

LONGEST_PATH: Final = 300
"""Maximum characters of a path; its last step may be a name that an adapter made up."""


UNREADABLE: Final = "unreadable"
"""The field in which the answer of a live server says why a consumer refuses what it delivers."""


class _Missing:
    """Marks a field that does not exist; null is a value."""

    def __repr__(self) -> str:
        """Return the text that reports show."""
        return "(none)"


MISSING: Final = _Missing()

JsonOrMissing: TypeAlias = "Json | _Missing"
"""A value, or `MISSING`."""


@frozen
class ValueDifference:
    """The first field that differs, with both values; `MISSING` on the side that lacks the field."""

    path: str
    want: JsonOrMissing
    got: JsonOrMissing


def first_difference(want: Json, got: Json, *, masked: bool = False) -> ValueDifference | None:
    """Return the first difference, or None; `masked` compares only the fields that `want` has."""
    return next(differences(want, got, masked=masked), None)


def different_fields(want: Json, got: Json) -> tuple[str, ...]:
    """Return the paths that differ, without indices and each once; the last is `…` if there are more."""
    found = dict.fromkeys(
        without_indices(one.path) for one in islice(differences(want, got), MOST_DIFFERENCES)
    )
    names = tuple(found)
    return names if len(names) <= MOST_FIELDS else (*names[:MOST_FIELDS], "…")


def differences(want: Json, got: Json, *, masked: bool = False) -> Iterator[ValueDifference]:
    """Yield the differences in the order of the fields.

    Iterative, because an adapter can return values of any depth.
    """
    pending: list[tuple[str, JsonOrMissing, JsonOrMissing]] = [("", want, got)]
    while pending:
        path, left, right = pending.pop()
        if isinstance(left, dict) and isinstance(right, dict):
            keys = left if masked else {**_causes(path, right), **left, **right}
            pairs = [(_join(path, key), left.get(key, MISSING), right.get(key, MISSING)) for key in keys]
            pending.extend(reversed(pairs))
        elif isinstance(left, list) and isinstance(right, list):
            if len(left) != len(right):
                shared = next(_unequal(path, left, right), None)
                pending.extend(
                    [(f"{path}.length", str(len(left)), str(len(right)))] if shared is None else [shared]
                )
            else:
                pending.extend(reversed(list(_unequal(path, left, right))))
        elif left is MISSING or right is MISSING or type(left) is not type(right) or left != right:
            yield ValueDifference(one_line(path, LONGEST_PATH), left, right)


def _causes(path: str, got: dict[str, Json]) -> dict[str, Json]:
    """Return the field of a whole answer that says why what was read is incomplete: all others follow."""
    return {UNREADABLE: got[UNREADABLE]} if not path and UNREADABLE in got else {}


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else str(key)  # an object in this process may have any keys


def _unequal(path: str, left: list[Json], right: list[Json]) -> Iterator[tuple[str, Json, Json]]:
    for number, (one, other) in enumerate(zip(left, right, strict=False)):
        if one != other:
            yield f"{path}[{number}]", one, other


def is_shorter(got: Json, want: Json) -> bool:
    """Return whether `got` differs from `want` only by shorter lists or by null."""
    pending: list[tuple[Json, Json]] = [(got, want)]
    while pending:
        left, right = pending.pop()
        if left is None:
            continue
        if isinstance(left, dict) and isinstance(right, dict) and left.keys() == right.keys():
            pending.extend((left[key], right[key]) for key in left)
        elif isinstance(left, list) and isinstance(right, list) and len(left) <= len(right):
            pending.extend(zip(left, right, strict=False))
        elif left != right:
            return False
    return True


def split_path(path: str) -> tuple[PathStep, ...]:
    """Split `records[0].key` into `("records", 0, "key")`."""
    return tuple(name or int(index) for name, index in _STEP.findall(path))


_PAIR: Final = {"key": 0, "value": 1}
"""A header is a pair in JSON, but codecs name its two parts."""


def _child(value: JsonOrMissing, step: PathStep) -> JsonOrMissing:
    if isinstance(value, dict):
        return value.get(str(step), MISSING)
    index = _PAIR.get(step, -1) if isinstance(step, str) else step
    return value[index] if isinstance(value, list) and 0 <= index < len(value) else MISSING


def value_at(value: Json, path: Sequence[PathStep]) -> JsonOrMissing:
    """Return the part of `value` at `path`, or `MISSING`."""
    part: JsonOrMissing = value
    for step in path:
        part = _child(part, step)
    return part


def _replace_at(value: Json, path: Sequence[PathStep], part: Json) -> None:
    """Write `part` at `path`, which exists and is not empty."""
    *outer, last = path
    match value_at(value, outer):
        case dict() as mapping:
            mapping[str(last)] = part
        case list() as parts:
            parts[_PAIR[last] if isinstance(last, str) else last] = part


def apply_remarks(want: Json, got: Json, remarks: Sequence[Remark]) -> tuple[Json, tuple[str, ...]]:
    """Return `want` with each allowed value that `got` has in its place, and the classes of those remarks."""
    applied: dict[str, None] = {}
    for remark in remarks:
        for other in remark.others:
            path = split_path(other.path)
            if value_at(want, path) in (MISSING, other.value) or value_at(got, path) != other.value:
                continue
            want = deepcopy(want) if not applied else want
            applied[remark.cls] = None
            if path:
                _replace_at(want, path, other.value)
            else:
                want = other.value
    return want, tuple(applied)


def scan_patterns(wanted: FieldTree) -> FieldTree:
    """Convert observation patterns of a stream's value into patterns of the items of its scan.

    A stream's value holds its frames in one list; an item holds one frame and four fields of its own.
    """
    if not wanted or "items" in wanted:
        return wanted
    frames = next((below["[]"] for below in wanted.values() if "[]" in below), wanted)
    item: FieldTree = {"kind": {}, "at": {}, "length": {}, "class": {}, "value": frames}
    return {"items": {"[]": item}}
