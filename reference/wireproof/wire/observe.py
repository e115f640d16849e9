"""Patterns of the fields that an adapter observes, such as `records[].offset`, and their use on JSON values.

Values are compared only in the fields that the adapter observes. In a list, `[]` matches every element.
`[magic=2]` matches the elements whose field `magic` is `2` or absent, because the elements of one list may
be of several kinds with different fields.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, TypeAlias

from wireproof.wire.values import Json

Wanted: TypeAlias = "dict[str, Wanted]"
"""A tree of patterns. Keys: field names, `[]`, `[name=value]`. Values: the trees below. `{}` selects all."""

EVERY: Final = "[]"
_PART: Final = re.compile(r"\[[^\]]*\]|[^.\[\]]+")


def parts_of(pattern: str) -> list[str]:
    """Split `batches[magic=2].offset` into `batches`, `[magic=2]` and `offset`."""
    return _PART.findall(pattern)


@lru_cache(maxsize=256)
def tree_of(patterns: tuple[str, ...]) -> Wanted:
    """Return the tree of `patterns`, which the caller must not change; no patterns select everything."""
    root: Wanted = {}
    for pattern in patterns:
        node = root
        for part in parts_of(pattern):
            node = node.setdefault(part, {})
    return root


NOTHING: Wanted = {"": {}}
"""The tree that selects no field. It is not `{}`, which selects all: no format has a field named `""`."""


def below(wanted: Wanted, entry: Json) -> Wanted:
    """Return the tree that applies to `entry`, an element of a list; `NOTHING` if no pattern matches it."""
    if len(wanted) == 1 and EVERY in wanted:  # nearly every tree
        return wanted[EVERY]
    matching = [tree for part, tree in wanted.items() if part[:1] == "[" and _matches(part, entry)]
    return merged(matching)


def _matches(part: str, entry: Json) -> bool:
    name, _, value = part[1:-1].partition("=")
    return part == EVERY or not isinstance(entry, dict) or entry.get(name, value) == value


def merged(trees: list[Wanted]) -> Wanted:
    """Return a tree of the fields that at least one tree selects; `NOTHING` for an empty list."""
    if not all(trees):  # one of them selects everything
        return {}
    if len(trees) < 2:  # nearly always
        return trees[0] if trees else NOTHING
    names = dict.fromkeys(name for tree in trees for name in tree)
    parts = {name: [tree[name] for tree in trees if name in tree] for name in names}
    return {name: merged(subtrees) for name, subtrees in parts.items()}


def project(value: Json, wanted: Wanted) -> Json:
    """Return a copy of `value` with only the fields that `wanted` selects."""
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
    """Return a tree of the fields that both trees select; `NOTHING` if there are none."""
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
    """Return the patterns of the fields of `value` that `wanted` does not select, for reports."""
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
