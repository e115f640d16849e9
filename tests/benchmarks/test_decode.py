"""How fast the reference decodes: beside kafka-python, and beside itself without a word of layout.

Targets: at least 0.4 of kafka-python; at least 0.95 of a reader that has no hooks for a trace at all.
"""

import ast
import inspect
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest
from interleaving import interleaved
from kafka.record.memory_records import MemoryRecords

from wireproof import formats
from wireproof.cases.mutate.encodings import written
from wireproof.formats import FORMATS
from wireproof.kafka import batch
from wireproof.kafka.size_and_magic import MAX_SIZE, SizeAndMagic, peek_whole_entry
from wireproof.kafka.values import Record, RecordBatch
from wireproof.wire.reader import Reader

V2 = FORMATS["kafka.batch/v2"]
SHAPES = pytest.mark.parametrize(
    ("count", "size", "calls"), [(1000, 100, 3), (10, 10, 200)], ids=["1000x100", "10x10"]
)


def batch_of(count: int, size: int) -> bytes:
    records = tuple(Record(0, index, index, b"key", b"v" * size, ()) for index in range(count))
    base = 1_700_000_000_000
    return written(V2, RecordBatch(0, 0, 2, 0, count - 1, base, base + count - 1, -1, -1, -1, records))


def by_kafka_python(data: bytes) -> int:
    """As its consumer reads: every batch checked, every record made, with its offset and timestamp."""
    records, seen = MemoryRecords(data), 0
    while records.has_next():
        batch = records.next_batch()
        assert batch.validate_crc()
        seen += sum(1 for _ in batch)
    return seen


class _NoHooks(ast.NodeTransformer):
    """Takes out every statement that only a trace listens to: `x.cover(…)`, `x.region(…)`."""

    taken = 0

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        call = node.value
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            return node
        if call.func.attr not in ("cover", "region"):
            return node
        self.taken += 1
        return ast.Pass()


def without_hooks() -> ModuleType:
    """`kafka.batch` compiled again from its source without its hooks; nothing else differs."""
    stripper = _NoHooks()
    tree = ast.fix_missing_locations(stripper.visit(ast.parse(inspect.getsource(batch))))
    assert stripper.taken >= 3
    bare = ModuleType("bare_batch")
    exec(compile(tree, "bare_batch", "exec"), bare.__dict__)
    return bare


@SHAPES
def test_the_reference_beside_kafka_python(benchmark: Any, count: int, size: int, calls: int) -> None:
    data = batch_of(count, size)
    assert by_kafka_python(data) == len(formats.decode(V2, data).value.records) == count

    def ours() -> None:
        for _ in range(calls):
            formats.decode(V2, data)

    def theirs() -> None:
        for _ in range(calls):
            by_kafka_python(data)

    interleaved(benchmark, ours, theirs)


@SHAPES
def test_the_reference_beside_itself_without_hooks(benchmark: Any, count: int, size: int, calls: int) -> None:
    data = batch_of(count, size)
    bare = without_hooks()

    def run(read: Callable[[Reader, SizeAndMagic], RecordBatch]) -> None:
        for _ in range(calls):
            reader = Reader(data)
            frame = peek_whole_entry(reader, MAX_SIZE)
            assert frame is not None
            read(reader, frame)

    interleaved(benchmark, lambda: run(batch.read), lambda: run(bare.read))
