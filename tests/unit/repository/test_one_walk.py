"""The loops over the entries of a stream: one walk, the fast walker behind it, and nothing else."""

import ast
from collections.abc import Iterator
from pathlib import Path

import wireproof

PACKAGE = Path(wireproof.__file__).parent

STEPS = {
    "damaged_length", "decode_entry", "extent", "peek_size_and_magic", "peek_whole_entry",
    "peek_whole_segment_entry", "quick_parts", "scan_steps", "stride", "walk_entries", "whole_size",
}  # fmt: skip
"""What shows the size of an entry, or reads the next one: a loop that calls it goes over entries."""

WALKS = ("wire/walk.py", "wire/scan_items.py")

OTHERS = {
    "kafka/columnar/": "the fast walker, whose kernel has a loop of its own",
    "iggy/log.py": "tries flipped bits of the lengths of one record",
    "schema/stream.py": "reads the lengths of one record, and lists the candidates of a search",
    "live/loopback_broker/append_rules.py": "takes the one entry of a request",
    "live/loopback_broker/regroup_records.py": "splits a log as a broker does, which reads no record",
}
"""The modules with such a loop that is no walk of its own, each with the reason."""


def loops(module: Path) -> Iterator[int]:
    """Yield the lines of loops that call one of `STEPS`."""
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        match node:
            case ast.While(test=test, body=body):
                parts = [test, *body]
            case ast.For(iter=over, body=body):
                parts = [over, *body]
            case ast.ListComp() | ast.GeneratorExp() | ast.SetComp() | ast.DictComp():
                parts = [node]
            case _:
                continue
        calls = [one.func for part in parts for one in ast.walk(part) if isinstance(one, ast.Call)]
        names = {one.id if isinstance(one, ast.Name) else getattr(one, "attr", "") for one in calls}
        if names & STEPS:
            yield node.lineno


def test_entries_are_walked_in_one_place() -> None:
    found = {path.relative_to(PACKAGE).as_posix(): [*loops(path)] for path in sorted(PACKAGE.rglob("*.py"))}
    found = {name: lines for name, lines in found.items() if lines and name not in WALKS}
    assert [name for name in found if not name.startswith(tuple(OTHERS))] == []
