"""No module outside of a family names a system: the families are found, and their objects say the rest.

import-linter forbids the imports. This test also finds names of systems in identifiers and in strings that
are names themselves. Docstrings, comments, and texts of several words are prose, where systems are examples.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import wireproof
from wireproof.installed_families import OWN

PACKAGE: Final = Path(str(wireproof.__file__)).parent

LIVE: Final = "live"

LISTS_THE_FAMILIES: Final = "installed_families.py"
"""The one module with the list of this package's own families."""


def names_of_systems(source: str) -> Iterator[str]:
    """Yield `line: name` for each identifier and each string without blanks that names a system."""
    for node in ast.walk(ast.parse(source)):
        for name in _names(node):
            if any(system in name.lower() for system in OWN):
                yield f"{getattr(node, 'lineno', 0)}: {name}"


def _names(node: ast.AST) -> tuple[str, ...]:
    match node:
        case ast.Constant(value=str(text)) if len(text.split()) == 1:
            return (text,)
        case ast.Constant(value=bytes(octets)):
            return (octets.decode("latin-1"),)
        case (
            ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.keyword(arg=str(name))
            | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name)
            | ast.ImportFrom(module=str(name))
        ):  # fmt: skip
            return (name,)
        case ast.alias(name=name, asname=other):
            return (name, other or "")
    return ()


def modules() -> list[Path]:
    """Return the modules of the package that belong to no family, by their paths below it.

    The folders in `live` belong to one each: its servers and clients, and the broker to try them on.
    """
    found = (path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))
    return sorted(path for path in found if path.parts[0] not in OWN and path.parts[:-2] != (LIVE,))


def test_no_module_outside_of_a_family_names_a_system() -> None:
    found = {
        path.as_posix(): list(names_of_systems((PACKAGE / path).read_text("utf-8"))) for path in modules()
    }
    assert len(found) > 200
    listed = found.pop(LISTS_THE_FAMILIES)
    assert [line.partition(": ")[2] for line in listed] == list(OWN)
    assert {path: names for path, names in found.items() if names} == {}


def test_no_module_outside_of_a_family_is_called_after_a_system() -> None:
    assert [path for path in modules() if any(system in path.as_posix() for system in OWN)] == []
