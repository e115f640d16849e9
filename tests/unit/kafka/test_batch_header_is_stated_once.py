"""The header of a v2 batch is stated once, in `kafka/layouts.py`: no other table lists its fields."""

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import wireproof
from wireproof.kafka.layouts import BATCH
from wireproof.wire.layout import attribute_of

PACKAGE: Final = Path(str(wireproof.__file__)).parent

HEADER: Final = frozenset(part.name for part in BATCH.parts if part.name != "records")

MOST: Final = len(HEADER) // 2
"""As many of the names may be together: a selection, and no statement of the header."""

OTHERS: Final = {
    "kafka/family/made_entries.py": "makes the bytes of cases, and must not share code with the codec",
    "kafka/family/live_broker/append_case.py": "a whole batch as a value to encode",
    "kafka/family/client_program/claims.py": "the batch of a probe, and the fields that a producer sets",
    "kafka/family/entry_cells.py": "the names of cells in a listing, some of which are fields",
}


def lists_of_names() -> Iterator[tuple[str, frozenset[str]]]:
    """Yield each module with each tuple, list, set or dictionary in it, and the names of the header there."""
    for path in (PACKAGE / "kafka").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.Tuple(elts=found) | ast.List(elts=found) | ast.Set(elts=found):
                    yield path.relative_to(PACKAGE).as_posix(), _names(found)
                case ast.Dict(keys=found):
                    yield path.relative_to(PACKAGE).as_posix(), _names(found)


def _names(nodes: Sequence[ast.expr | None]) -> frozenset[str]:
    """Return the names of the header among strings, and among the first arguments of calls."""
    first = (node.args[0] if isinstance(node, ast.Call) and node.args else node for node in nodes)
    strings = {one.value for one in first if isinstance(one, ast.Constant)}
    return frozenset(field for field in HEADER if field in strings or attribute_of(field) in strings)


def test_the_fields_of_the_header_are_listed_in_one_place() -> None:
    sizes: dict[str, int] = {}
    for module, names in lists_of_names():
        sizes[module] = max(sizes.get(module, 0), len(names))
    assert {module for module, size in sizes.items() if size > MOST} == {"kafka/layouts.py", *OTHERS}
    assert sizes["kafka/layouts.py"] == len(HEADER)
