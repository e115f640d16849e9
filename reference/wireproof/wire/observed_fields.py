"""Patterns of the fields that an adapter observes, such as `records[].offset`, and their use on JSON values.

Values are compared only in the fields that the adapter observes. In a list, `[]` matches every element.
`[magic=2]` matches the elements whose field `magic` is `2` or absent, because the elements of one list may
be of several kinds with different fields.
"""

import re
from functools import lru_cache
from typing import Final, TypeAlias

from wireproof.wire.json_values import Json

FieldTree: TypeAlias = "dict[str, FieldTree]"
"""A tree of patterns. Keys: field names, `[]`, `[name=value]`, `OTHER_FIELDS`. Values: the trees below.

`{}` selects all.
"""

ANY_ELEMENT: Final = "[]"

OTHER_FIELDS: Final = "+"
"""The key for fields that the tree does not name: it selects all but those of its own tree."""
_PART: Final = re.compile(r"\[[^\]]*\]|[^.\[\]]+")


def split_pattern(pattern: str) -> list[str]:
    """Split `batches[magic=2].offset` into `batches`, `[magic=2]` and `offset`."""
    return _PART.findall(pattern)


@lru_cache(maxsize=256)
def field_tree(patterns: tuple[str, ...]) -> FieldTree:
    """Return the tree of `patterns`, which the caller must not change; no patterns select everything."""
    root: FieldTree = {}
    for pattern in patterns:
        node = root
        for part in split_pattern(pattern):
            node = node.setdefault(part, {})
    return root


NO_FIELDS: FieldTree = {"": {}}
"""The tree that selects no field. It is not `{}`, which selects all: no format has a field named `""`."""


def element_tree(wanted: FieldTree, entry: Json) -> FieldTree:
    """Return the tree that applies to `entry`, an element of a list; `NO_FIELDS` if no pattern matches it."""
    if len(wanted) == 1 and ANY_ELEMENT in wanted:  # nearly every tree
        return wanted[ANY_ELEMENT]
    matching = [tree for part, tree in wanted.items() if part[:1] == "[" and _matches(part, entry)]
    return merge_trees(matching)


def _matches(part: str, entry: Json) -> bool:
    name, _, value = part[1:-1].partition("=")
    return part == ANY_ELEMENT or not isinstance(entry, dict) or entry.get(name, value) == value


def merge_trees(trees: list[FieldTree]) -> FieldTree:
    """Return a tree of the fields that at least one tree selects; `NO_FIELDS` for an empty list."""
    if not all(trees):  # one of them selects everything
        return {}
    if len(trees) < 2:  # nearly always
        return trees[0] if trees else NO_FIELDS
    names = dict.fromkeys(name for tree in trees for name in tree)
    parts = {name: [tree[name] for tree in trees if name in tree] for name in names}
    return {name: merge_trees(subtrees) for name, subtrees in parts.items()}


def project(value: Json, wanted: FieldTree) -> Json:
    """Return a copy of `value` with only the fields that `wanted` selects."""
    if not wanted:
        return value
    match value:
        case dict() if OTHER_FIELDS in wanted:
            hidden = wanted[OTHER_FIELDS]
            return {
                key: project(part, wanted[key]) if wanted.get(key) else part
                for key, part in value.items()
                if key in wanted or key not in hidden
            }
        case dict():
            pairs = ((key, part, wanted[key]) for key, part in value.items() if key in wanted)
            return {key: project(part, tree) if tree else part for key, part, tree in pairs}
        case list() if any(part[:1] == "[" for part in wanted):
            return [project(part, element_tree(wanted, part)) for part in value]
        case _:
            return value
