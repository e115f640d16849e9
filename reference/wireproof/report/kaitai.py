"""Layouts as Kaitai Struct specifications: a type for each layout, an attribute for each of its parts.

Compressed data, and what bytes such as the key of a control record contain, stay bytes: checksums, codecs and
rules are no part of a Kaitai layout. Protobuf messages are lists of fields, because these come in any order.
"""

import json
import re
from collections.abc import Container, Iterator, Mapping
from typing import Any, Final

from wireproof.formats import FORMATS, Format
from wireproof.report.kaitai_scope import Scope, ident
from wireproof.report.kaitai_shared import SHARED_TYPES, Tree
from wireproof.report.kaitai_types import Specification
from wireproof.report.licence import SPDX_ID


def spec(row: Format) -> Tree:
    """Return the specification of a format as the tree of its YAML."""
    assert row.layout is not None, row.format_id
    made = Specification()
    name = ident(row.format_id)
    meta = {"id": name, "title": row.format_id, "license": SPDX_ID}
    head = {"meta": meta} | ({"doc-ref": row.layout.cites} if row.layout.cites else {})
    body = made.body(Scope(row.layout), name)
    types = made.types | _shared([body, made.types])
    return head | body | ({"types": types} if types else {})


_TYPE_NAME: Final = re.compile(r'"(?:type|\d+)": "(\w+)"')


def _shared(trees: Any) -> dict[str, Tree]:  # noqa: ANN401 - the tree of some YAML
    """Return the shared types that trees name, and those that these name."""
    found: dict[str, Tree] = {}
    while more := set(_TYPE_NAME.findall(json.dumps([trees, found]))) & SHARED_TYPES.keys() - found.keys():
        found |= {name: SHARED_TYPES[name] for name in sorted(more)}
    return found


def yaml(tree: Mapping[str, Any]) -> str:
    """Return the text of a specification."""
    return "\n".join(_lines(tree, 0)) + "\n"


def _lines(tree: Any, depth: int) -> Iterator[str]:  # noqa: ANN401 - the tree of some YAML
    pad = "  " * depth
    for key, part in tree.items():
        match part:
            case Mapping():
                yield f"{pad}{key}:"
                yield from _lines(part, depth + 1)
            case list():
                yield f"{pad}{key}:"
                for item in part:
                    first, *rest = _lines(item, depth + 2)
                    yield f"{pad}  - {first.strip()}"
                    yield from rest
            case _:
                yield f"{pad}{key}: {json.dumps(part, ensure_ascii=False)}"


def specified() -> tuple[Format, ...]:
    """Return the formats that have a layout."""
    return tuple(row for row in FORMATS.values() if row.layout is not None)


def specifications(chosen: Container[str]) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of the specification of each selected format that has a layout."""
    for row in specified():
        if row.format_id in chosen:
            made = spec(row)
            yield made["meta"]["id"], yaml(made)
