"""The JSON that is made of columns is the JSON of the reference's values, for every entry."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import logs
import pytest
from goldens import load

from tests.generators.kafka_segments import MIB, generate
from wireproof.cases.case import Chunks, Data
from wireproof.kafka.columnar.entry_scan import scan_steps
from wireproof.kafka.columnar.item_json import json_items
from wireproof.kafka.family import spark_reader as columnar_reader
from wireproof.kafka.family.spark_framing import KAFKA
from wireproof.spark.object_places import expand_paths
from wireproof.spark.object_reader import ObjectReader
from wireproof.wire.json_values import json_of
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.scan_items import Item

Told = tuple[object, ...]


def told(item: Item) -> Told:
    return item.kind, item.at, item.length, item.cls, item.remarks, json_of(item.value)


def by_reference(stored: ObjectReader, options: Options) -> list[Told]:
    return list(map(told, KAFKA.items(KAFKA, stored, 0, stored.size, options)))


def quickly(stored: ObjectReader, options: Options) -> list[Told]:
    return list(map(told, columnar_reader.read_items(stored, 0, stored.size, options)))


def fixtures() -> list[bytes]:
    inputs = [case.input for case in load().cases if case.format.startswith("kafka")]
    return [b"".join(one.chunks) if isinstance(one, Chunks) else one.data
            for one in inputs if isinstance(one, Chunks | Data)]  # fmt: skip


@pytest.mark.sweeps
def test_every_fixture_is_decoded_as_by_the_reference(tmp_path: Path) -> None:
    clean = 0
    for data in filter(None, fixtures()):
        stored = ObjectReader.of(expand_paths([str(logs.write(tmp_path, a=data))], (".log",))[0])
        assert quickly(stored, DEFAULT_OPTIONS) == by_reference(stored, DEFAULT_OPTIONS)
        stored.close()
        clean += sum(
            int(run.block.clean.sum()) for run in scan_steps(data, keep="slots") if run.block is not None
        )
    assert clean > 100, "the kernels answered for many of them"


@pytest.fixture(scope="module")
def segment() -> Iterator[Path]:
    """All revisions, codecs and sizes, some damaged."""
    with tempfile.TemporaryDirectory() as room:
        generate(Path(room), 4 * MIB, 3, every=20)
        yield Path(room)


@pytest.mark.parametrize("block", [2_000, 100_000, MIB])
def test_blocks_of_any_size_have_the_same_results(
    segment: Path, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columnar_reader, "ENTRY_CHUNKS", (block, block))
    monkeypatch.setattr(columnar_reader, "JSON_CHUNKS", (block, block))
    stored = ObjectReader.of(expand_paths([str(segment)], (".log",))[0])
    assert quickly(stored, DEFAULT_OPTIONS) == by_reference(stored, DEFAULT_OPTIONS)
    stored.close()


def test_control_markers_and_headers_are_read_from_columns() -> None:
    """Not only where the reference answers: the kernels take markers and headers themselves."""
    found = [
        item.value
        for data in filter(None, fixtures())
        for run in scan_steps(data, keep="slots")
        for item in json_items(run)
        if isinstance(item.value, dict)
    ]
    records = [record for tree in found for record in tree.get("records", [])]
    assert any(record["control"] for record in records)
    assert any(None in header for record in records for header in record["headers"])
    assert any(tree.get("messages") for tree in found)
