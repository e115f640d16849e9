"""Functions of the codecs' modules that no codec calls: what a program makes of a value that was read.

No bytes reach them, so no case can; the unit tests of each format hold them.
"""

import ast
import fnmatch
from functools import cache

from mutation_sites import Site, path_of

ACCESSORS = {
    "iggy.kinds": ("HeaderValue.of", "HeaderValue.as_*", "HeaderValue._of_kind", "HeaderValue._integer",
                   "HeaderValue._float", "_packed"),
    "iggy.identifier": ("Identifier.as_*",),
    "iggy.partitioning": ("Partitioning.as_*",),
}  # fmt: skip
"""By module: patterns of functions, named from the module on."""


@cache
def _functions(module: str) -> list[tuple[str, int, int]]:
    """Name, first and last line of every function of a module."""
    found: list[tuple[str, int, int]] = []
    todo: list[tuple[str, ast.AST]] = [("", ast.parse(path_of(module).read_text(encoding="utf-8")))]
    while todo:
        inside, node = todo.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                name = f"{inside}{child.name}"
                found.append((name, child.lineno, child.end_lineno or child.lineno))
                todo.append((f"{name}.", child))
    return found


def outside(site: Site) -> bool:
    """Return True if a site is in a function that no codec calls."""
    patterns = ACCESSORS.get(site.module, ())
    return any(
        fnmatch.fnmatchcase(name, pattern)
        for name, first, last in (_functions(site.module) if patterns else ())
        for pattern in patterns
        if first <= site.line <= last
    )
