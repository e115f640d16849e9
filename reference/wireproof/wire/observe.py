"""Which fields an adapter shows: patterns over JSON values, such as `records[].offset`.

Design, section 3, "Values": a comparison uses the fields that the adapter says it observes.
"""

from functools import lru_cache
from typing import Any, TypeAlias

from wireproof.wire.values import Json

Wanted: TypeAlias = "dict[str, Wanted]"
"""A pattern tree: field name or `[]` to what is wanted below it; an empty tree wants everything."""


@lru_cache(maxsize=256)
def tree_of(patterns: tuple[str, ...]) -> Wanted:
    """The tree of a list of patterns, not to be changed; no pattern at all wants everything."""
    root: Wanted = {}
    for pattern in patterns:
        node = root
        for part in pattern.replace("[]", ".[]").strip(".").split("."):
            node = node.setdefault(part, {})
    return root


NOTHING: Wanted = {"": {}}
"""The tree of no field, since an empty one is that of all: no format has a field without a name."""


def project(value: Json, wanted: Wanted) -> Json:
    """The parts of `value` that `wanted` names, in the shape of `value`."""
    if not wanted:
        return value
    match value:
        case dict():
            return {key: project(part, wanted[key]) for key, part in value.items() if key in wanted}
        case list() if "[]" in wanted:
            return [project(part, wanted["[]"]) for part in value]
        case _:
            return value


def both(one: Wanted, other: Wanted) -> Wanted:
    """The fields that two trees both name; `NOTHING` if there are none."""
    if not one or not other:
        return one or other
    parts = ((key, both(one[key], other[key])) for key in one if key in other)
    return {key: part for key, part in parts if part is not NOTHING} or NOTHING


def hidden(value: Json, wanted: Wanted, path: str = "") -> set[str]:
    """The patterns of the fields of `value` that `wanted` leaves out, for reports."""
    if not wanted:
        return set()
    found: set[str] = set()
    parts: Any = value.items() if isinstance(value, dict) else ()
    for key, part in parts:
        here = f"{path}.{key}" if path else key
        found |= hidden(part, wanted[key], here) if key in wanted else {here}
    if isinstance(value, list):
        for part in value:
            found |= hidden(part, wanted.get("[]", {}), f"{path}[]")
    return found
