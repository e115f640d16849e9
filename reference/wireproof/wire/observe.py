"""Which fields an adapter shows: patterns over JSON values, such as `records[].offset`.

A comparison uses the fields that the adapter says it observes. In a list, `[]` stands for every entry, and
`[magic=2]` for the entries whose field `magic` is `2`, or that show no such field: an entry may be of one of
several kinds, with other fields each.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, TypeAlias

from wireproof.wire.values import Json

Wanted: TypeAlias = "dict[str, Wanted]"
"""A pattern tree: field name, `[]` or `[name=value]` to what is wanted below it; an empty tree wants all."""

EVERY: Final = "[]"
_PART: Final = re.compile(r"\[[^\]]*\]|[^.\[\]]+")


def parts_of(pattern: str) -> list[str]:
    """Split `batches[magic=2].offset` into `batches`, `[magic=2]` and `offset`."""
    return _PART.findall(pattern)


@lru_cache(maxsize=256)
def tree_of(patterns: tuple[str, ...]) -> Wanted:
    """Return the tree of some patterns, not to be changed; no pattern at all wants everything."""
    root: Wanted = {}
    for pattern in patterns:
        node = root
        for part in parts_of(pattern):
            node = node.setdefault(part, {})
    return root


NOTHING: Wanted = {"": {}}
"""The tree of no field, since an empty one is that of all: no format has a field without a name."""


def below(wanted: Wanted, entry: Json) -> Wanted:
    """Return what is wanted of an entry of a list; `NOTHING` if no part of the tree is about it."""
    if len(wanted) == 1 and EVERY in wanted:  # nearly every tree
        return wanted[EVERY]
    found = [tree for part, tree in wanted.items() if part[:1] == "[" and _selects(part, entry)]
    return merged(found)


def _selects(part: str, entry: Json) -> bool:
    name, _, value = part[1:-1].partition("=")
    return part == EVERY or not isinstance(entry, dict) or entry.get(name, value) == value


def merged(trees: list[Wanted]) -> Wanted:
    """Return the fields that any of some trees names; `NOTHING` for no tree."""
    if not all(trees):  # one of them wants everything
        return {}
    if len(trees) < 2:  # nearly always
        return trees[0] if trees else NOTHING
    names = dict.fromkeys(name for tree in trees for name in tree)
    parts = {name: [tree[name] for tree in trees if name in tree] for name in names}
    return {name: merged(some) for name, some in parts.items()}


def project(value: Json, wanted: Wanted) -> Json:
    """Return the parts of `value` that `wanted` names, in the shape of `value`."""
    if not wanted:
        return value
    match value:
        case dict():
            return {key: project(part, wanted[key]) for key, part in value.items() if key in wanted}
        case list() if any(part[:1] == "[" for part in wanted):
            return [project(part, below(wanted, part)) for part in value]
        case _:
            return value


def both(one: Wanted, other: Wanted) -> Wanted:
    """Return the fields that two trees both name; `NOTHING` if there are none."""
    if not one or not other:
        return one or other
    return dict(_shared(one, other)) or NOTHING


def _shared(one: Wanted, other: Wanted) -> Iterator[tuple[str, Wanted]]:
    for name, tree in one.items():
        for key, matched in other.items():
            if name == key or (EVERY in (name, key) and name[:1] == key[:1] == "["):
                shared = both(tree, matched)
                if shared is not NOTHING:
                    yield (key if name == EVERY else name), shared


def hidden(value: Json, wanted: Wanted, path: str = "") -> set[str]:
    """Return the patterns of the fields of `value` that `wanted` leaves out, for reports."""
    if not wanted:
        return set()
    found: set[str] = set()
    parts: Any = value.items() if isinstance(value, dict) else ()
    for key, part in parts:
        here = f"{path}.{key}" if path else key
        found |= hidden(part, wanted[key], here) if key in wanted else {here}
    if isinstance(value, list):
        for part in value:
            found |= hidden(part, below(wanted, part), f"{path}[]")
    return found
