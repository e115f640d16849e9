"""The fields that an adapter may show: check its patterns, select fields, and list those not compared.

All follow the JSON Schema of the format's values (`wire.json_values.json_schema`). A pattern selects all
fields below it but the derived ones, which an adapter must name: `records[].sequence`. `*` is every field,
derived ones too.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, TypeAlias

from wireproof.formats import FORMATS, Format
from wireproof.wire.json_values import DERIVED, json_schema
from wireproof.wire.observed_fields import (
    ANY_ELEMENT,
    OTHER_FIELDS,
    FieldTree,
    field_tree,
    merge_trees,
    split_pattern,
)

SchemaNode: TypeAlias = dict[str, Any]
"""A part of a JSON Schema."""

ITEM_FIELDS: Final = ("kind", "at", "length", "class", "value")
"""The fields of an item of a scan; `value` has the fields of an entry of the stream."""


EVERY_FIELD: Final = "*"
"""The part of a pattern that selects every field, derived ones too."""


@lru_cache(maxsize=128)
def _schema(row: Format) -> SchemaNode:
    return json_schema(row.value, row.format_id)


@lru_cache(maxsize=256)
def observed_tree(format_id: str, patterns: tuple[str, ...]) -> FieldTree:
    """Return the fields `patterns` select, or all but derived ones; the caller must not change the tree."""
    row = FORMATS.get(format_id)
    if row is None:
        return field_tree(patterns)
    root = _schema(row)
    fields = (node for cls in root["$defs"].values() for node in cls["properties"].values())
    if not patterns and not any(DERIVED in node for node in fields):
        return field_tree(patterns)
    trees = [_tree_of(root, [root], split_pattern(pattern)) for pattern in patterns]
    return merge_trees(trees) if trees else _ordinary(root, [root])


def _tree_of(root: SchemaNode, nodes: list[SchemaNode], parts: list[str]) -> FieldTree:
    """Return the tree of one pattern; its last part selects the ordinary fields below it."""
    if not parts:
        return _ordinary(root, nodes)
    if parts == [EVERY_FIELD]:
        return {}
    inner = ANY_ELEMENT if parts[0][:1] == "[" else parts[0]
    return {parts[0]: _tree_of(root, _step(root, nodes, inner), parts[1:])}


def _ordinary(root: SchemaNode, nodes: list[SchemaNode], entered: tuple[str, ...] = ()) -> FieldTree:
    """Return the tree of all fields but the derived ones; `{}` if there are no derived ones.

    A field that the format does not have is selected too: an answer that has one is wrong.
    """
    entered = (*entered, *(node["$ref"] for node in _alternatives(nodes) if "$ref" in node))
    if any(entered.count(name) > 2 for name in entered):  # a wrapper contains messages, and these no wrapper
        return {}
    named = {name: _step(root, nodes, name) for name in _names(root, nodes)}
    hidden: FieldTree = {name: {} for name, below in named.items() if all(DERIVED in node for node in below)}
    tree = {name: _ordinary(root, below, entered) for name, below in named.items() if name not in hidden}
    if not hidden and not any(tree.values()):
        return {}
    return tree if ANY_ELEMENT in tree else {OTHER_FIELDS: hidden, **tree}


def _alternatives(nodes: list[SchemaNode]) -> Iterator[SchemaNode]:
    for node in nodes:
        yield from _alternatives(node["anyOf"]) if "anyOf" in node else (node,)


def unknown_part(row: Format, pattern: str) -> tuple[str, tuple[str, ...]] | None:
    """Return the first part of a pattern that names nothing of `row`, and the names known there.

    Returns None if every part names something.
    """
    root = _schema(row)
    nodes = [root]
    parts = split_pattern(pattern)
    if not parts:
        return pattern, tuple(_names(root, nodes))
    if parts[0] == "items" and row.scan is not None:
        # the fields below the value of an item depend on the kind of the item
        return (parts[2], ITEM_FIELDS) if len(parts) > 2 and parts[2] not in ITEM_FIELDS else None
    for part in parts if parts[-1] != EVERY_FIELD else parts[:-1]:
        names = _names(root, nodes)
        selector = part[1:-1].partition("=")[0] if part[:1] == "[" else ""
        if selector and ANY_ELEMENT in names:
            entries = _step(root, nodes, ANY_ELEMENT)
            if selector not in _names(root, entries):
                return part, tuple(_names(root, entries))
        elif not (selector == "" and part in names):
            return part, tuple(names)
        nodes = _step(root, nodes, ANY_ELEMENT if selector else part)
    return None


def not_compared(row: Format, patterns: tuple[str, ...]) -> tuple[str, ...]:
    """Return the patterns of the fields of `row` that an adapter with these `observes` shows of no entry."""
    root = _schema(row)
    tree = observed_tree(row.format_id, patterns)
    return () if "items" in tree else tuple(dict.fromkeys(_left_out(root, [root], tree, "")))


def _left_out(root: SchemaNode, nodes: list[SchemaNode], wanted: FieldTree, path: str) -> Iterator[str]:
    if not wanted:
        return
    for name in _names(root, nodes):
        here = path + name if name == ANY_ELEMENT else f"{path}.{name}" if path else name
        if name == ANY_ELEMENT:
            entries = [tree for part, tree in wanted.items() if part[:1] == "["]
            yield from _left_out(root, _step(root, nodes, ANY_ELEMENT), merge_trees(entries), here)
        elif name in wanted:
            yield from _left_out(root, _step(root, nodes, name), wanted[name], here)
        else:
            yield here


def _names(root: SchemaNode, nodes: list[SchemaNode]) -> list[str]:
    found: dict[str, None] = {}
    for node in _resolved(root, nodes):
        found.update(dict.fromkeys(node.get("properties", ())))
        if node.get("type") == "array":
            found[ANY_ELEMENT] = None
    return list(found)


def _step(root: SchemaNode, nodes: list[SchemaNode], part: str) -> list[SchemaNode]:
    found: list[SchemaNode] = []
    for node in _resolved(root, nodes):
        if part == ANY_ELEMENT and node.get("type") == "array":
            items = node.get("items")
            found += [items] if isinstance(items, dict) else node.get("prefixItems", [])
        elif part in node.get("properties", {}):
            found.append(node["properties"][part])
    return found


def _resolved(root: SchemaNode, nodes: list[SchemaNode]) -> Iterator[SchemaNode]:
    """Yield the parts with references and alternatives followed."""
    for node in nodes:
        if "$ref" in node:
            yield from _resolved(root, [root["$defs"][node["$ref"].rpartition("/")[2]]])
        elif "anyOf" in node:
            yield from _resolved(root, node["anyOf"])
        else:
            yield node
