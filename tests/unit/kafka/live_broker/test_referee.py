"""The referee's pipe to a broker uses the messages of kafka-python, and no part of it that is judged."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

import wireproof.live

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="paths are compared as POSIX has them")

LIVE: Final = Path(wireproof.live.__file__).parent
ALLOWED: Final = ("kafka.errors", "kafka.net.sasl", "kafka.protocol")
"""What is used of the library: errors, logins, and the messages, which are made from Kafka's definitions."""

OTHERS: Final = (
    "aiokafka",
    "kio",
    "iggy_py",
    "kafka.record",
    "kafka.codec",
    "kafka.consumer",
    "kafka.producer",
)
"""Libraries, and parts of this one, that are judged."""


def imported(file: Path) -> Iterator[str]:
    """Yield the dotted names that a module imports."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names):
                yield from (one.name for one in names)
            case ast.ImportFrom(module=str(module), names=names):
                yield from (f"{module}.{one.name}" for one in names)


def test_it_imports_no_record_code_and_no_private_name_of_a_library_that_is_judged() -> None:
    names = {name for file in LIVE.rglob("*.py") for name in imported(file)}
    of_library = {name for name in names if name.split(".")[0] == "kafka"}
    assert of_library
    assert [name for name in of_library if not name.startswith(ALLOWED)] == []
    assert [name for name in of_library if any(part.startswith("_") for part in name.split("."))] == []
    assert [name for name in names if name.startswith(OTHERS)] == []


def test_it_uses_no_private_attribute_of_what_it_imports_from_there() -> None:
    private = []
    for file in LIVE.rglob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        own = {name.rpartition(".")[2] for name in imported(file) if name.split(".")[0] == "kafka"}
        private += [
            f"{file.name}:{node.lineno} {node.value.id}.{node.attr}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
            if node.value.id in own and node.attr.startswith("_")
        ]
    assert private == []
