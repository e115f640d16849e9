"""Rows of logs: columns, what is not silent, packed objects, options."""

import gzip
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import kafka_bytes
import logs
import pyarrow as pa
import pytest
import zstandard
from each import each
from pyspark import cloudpickle

from wireproof.kafka.suite import spark_reader as columnar_reader
from wireproof.kafka.suite import spark_source as kafka_columns
from wireproof.kafka.suite.spark_reader import KAFKA
from wireproof.spark.errors import SourceError
from wireproof.spark.logs import sources
from wireproof.spark.logs.columns import FRAME_COLUMNS, RowData, SourceTable
from wireproof.spark.logs.objects import expand_paths
from wireproof.spark.logs.spans import ReadRequest, plan_tasks, read_spans, whole_objects
from wireproof.wire import walk
from wireproof.wire.options import DEFAULT_OPTIONS
from wireproof.wire.scan_items import Item


def rows(
    path: Path, kind: str = "kafka_log", names: tuple[str, ...] = (), **options: str
) -> list[dict[str, Any]]:
    """The rows that the source `kind` makes of `path`."""
    asked = sources.parse(f"wireproof.{kind}", {"path": str(path), **options})
    schema = asked.table.schema(everything=True)
    chosen = asked.table.chosen(names or asked.table.schema().names)
    schema = pa.schema([schema.field(one.name) for one in chosen])
    wanted = ReadRequest(asked, chosen, schema)
    wanted = cloudpickle.loads(cloudpickle.dumps(wanted))  # as Spark's workers get it
    spans = plan_tasks(
        asked.framing,
        asked.options,
        whole_objects(expand_paths(asked.paths, asked.kind.suffixes)),
        asked.tasks,
    )
    return [row for task in spans for batch in read_spans(task, wanted) for row in batch.to_pylist()]


@pytest.mark.parametrize("wanted", ["frames", "records"])
def test_entries_go_the_fast_way_in_a_worker_of_spark_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wanted: str
) -> None:
    """The worker has a copy of the table: what asked for the very table read every record in Python."""
    slow = Mock(side_effect=AssertionError("a clean entry needs no reference"))
    monkeypatch.setattr("wireproof.kafka.columnar.entry_scan.reference_scan", slow)
    monkeypatch.setattr("wireproof.formats.scan", slow)
    assert len(rows(logs.write(tmp_path, a=kafka_bytes.batch(kafka_bytes.PLAIN, 1) * 3), rows=wanted)) == 3


def brief(found: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [(row["position"], row["length"], row["kind"], row["fault"]) for row in found]


def test_an_entry_shows_its_header(tmp_path: Path) -> None:
    two = kafka_bytes.PLAIN + kafka_bytes.SECOND
    data = kafka_bytes.batch(
        two, 2, base=7, attributes=16, producer=5, epoch=1, sequence=3, max_time=kafka_bytes.NOW + 1
    )
    [row] = rows(logs.write(tmp_path, a=data))
    assert row == {
        "path": str(tmp_path / "a.log"),
        "position": 0,
        "length": 79,
        "kind": "frame",
        "fault": None,
        "remarks": [],
        "revision": "v2",
        "base_offset": 7,
        "last_offset": 8,
        "leader_epoch": 0,
        "attributes": 16,
        "codec": "none",
        "transactional": True,
        "control": False,
        "base_timestamp": 1700000000000,
        "max_timestamp": 1700000000001,
        "producer_id": 5,
        "producer_epoch": 1,
        "base_sequence": 3,
        "records": 2,
    }


def test_damage_cuts_and_tails_are_rows(tmp_path: Path) -> None:
    one = kafka_bytes.batch()
    flipped = bytearray(one)
    flipped[-2] ^= 1
    data = one[50:] + one + bytes(flipped) + one[:40]
    found = rows(logs.write(tmp_path, a=data), names=("position", "length", "kind", "fault", "base_offset"))
    assert brief(found) == [
        (0, 20, "garbage", "bad-magic"),
        (20, 70, "frame", None),
        (90, 70, "garbage", "crc-mismatch"),
        (160, 40, "tail", None),
    ]
    assert [row["base_offset"] for row in found] == [None, 0, 0, None], "a damaged entry shows its header"
    records = rows(tmp_path, rows="records")
    assert brief(records) == brief(found)
    assert [row["value"] for row in records] == [None, b"v", None, None]


def test_records_of_all_revisions_have_offset_timestamp_key_value_and_headers(tmp_path: Path) -> None:
    header = kafka_bytes.batch(kafka_bytes.record("000000 026b 0276 02 0268 01".replace(" ", "")))
    data = kafka_bytes.message(0, offset=1) + kafka_bytes.message(1, None, b"w", offset=2) + header
    names = ("revision", "index", "offset", "timestamp", "key", "value", "headers")
    found = rows(logs.write(tmp_path, a=data), names=names, rows="records")
    assert [tuple(row.values()) for row in found] == [
        ("v0", 0, 1, -1, b"k", b"v", []),
        ("v1", 0, 2, kafka_bytes.NOW, None, b"w", []),
        ("v2", 0, 0, kafka_bytes.NOW, b"k", b"v", [{"key": b"h", "value": None}]),
    ]


def test_raw_bytes_are_those_of_the_file(tmp_path: Path) -> None:
    data = logs.embedded() + b"torn"
    found = rows(logs.write(tmp_path, a=data), names=("raw", "length"))
    assert b"".join(row["raw"] for row in found) == data
    assert all(len(row["raw"]) == row["length"] for row in found)


def test_heka_messages_are_rows(tmp_path: Path) -> None:
    data = logs.heka_frame(b"pay \xff") + b"?" + logs.heka_frame(b"", 9)
    logs.write(tmp_path, a=data)
    found = rows(tmp_path, "heka_stream", rows="records")
    assert brief(found) == [(0, 32, "frame", None), (32, 1, "garbage", None), (33, 27, "frame", None)]
    assert [(row["timestamp"], row["payload"]) for row in found] == [(5, "pay \\xff"), (None, None), (9, "")]
    assert found[0]["uuid"] == bytes(16)
    assert found[0]["remarks"] == ["bad-utf8"]
    assert [row["message_length"] for row in rows(tmp_path, "heka_stream")] == [27, None, 22]


def test_iggy_records_are_rows(tmp_path: Path) -> None:
    wrong = bytearray(logs.stored_30(2, b"abc"))
    wrong[-1] ^= 1
    logs.write(tmp_path, a=logs.stored_30((1 << 64) - 1 & 0xFF, b"abc") + bytes(wrong) + b"tail")
    found = rows(tmp_path, "iggy_log", rows="records", revision="0.0.30")
    assert brief(found) == [
        (0, 47, "frame", None),
        (47, 47, "garbage", "crc-mismatch"),
        (94, 4, "tail", None),
    ]
    first = found[0]
    assert (first["offset"], first["timestamp"], first["id"], first["payload"]) == (
        255,
        Decimal(7),
        "255",
        b"abc",
    )


def slowly(path: Path, table: SourceTable = kafka_columns.FRAMES) -> list[dict[str, Any]]:
    """The rows as the reference's items give them, one by one."""
    [place] = expand_paths([str(path)], ())
    one = logs.stored(path.read_bytes())
    one.display_name = place.display_name
    found = []
    for item in logs.items(KAFKA, one, 0, one.size):
        lines = table.rows(RowData(one, item, one.read(item.at, min(61, item.length))))
        found += [{column.name: column.read(line) for column in table.columns} for line in lines]
    return found


EVERYTHING = tuple(one.name for one in kafka_columns.FRAMES.columns)


@pytest.mark.sweeps
def test_the_fast_rows_are_those_of_the_reference_for_every_fixture(tmp_path: Path) -> None:
    kafka = [case for case in logs.of_fixtures() if case[1] is KAFKA and case[2].options == DEFAULT_OPTIONS]
    data = [log for *_, log in kafka if log]
    assert len(data) > 250
    for number, log in enumerate([*data, b"".join(data), logs.embedded()[7:] * 3]):
        path = tmp_path / f"{number}.log"
        path.write_bytes(log)
        assert rows(path, names=EVERYTHING) == slowly(path), number
        assert rows(path, rows="records") == slowly(path, kafka_columns.RECORDS), number


def as_scanned(data: bytes) -> list[dict[str, Any]]:
    """The rows that a scan makes of entries, and the items between them."""
    found: list[dict[str, Any]] = []
    for part in columnar_reader.read_entries(logs.stored(data), 0, len(data), DEFAULT_OPTIONS, FRAME_COLUMNS):
        if isinstance(part, Item):
            row = {"position": part.at, "length": part.length, "kind": part.kind, "fault": part.cls}
            found.append(row)
        else:
            found += part.entries.to_pylist()
    return found


@pytest.mark.sweeps
def test_blocks_that_cut_entries_and_damage_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = b"".join(logs.batch(bytes([7]) * (37 * n), n) for n in range(40))
    data = good[:9000] + good[9050:20_000] + bytes(300) + good + good[:-20]
    (tmp_path / "a.log").write_bytes(data)
    wanted = slowly(tmp_path / "a.log")
    records = slowly(tmp_path / "a.log", kafka_columns.RECORDS)
    for first in (1, 16, 100, 1000, 5000):
        monkeypatch.setattr(columnar_reader, "ENTRY_CHUNKS", (first, 4 * first))
        monkeypatch.setattr(columnar_reader, "RECORD_CHUNKS", (first, 4 * first))
        assert rows(tmp_path, names=EVERYTHING) == wanted, first
        assert rows(tmp_path, rows="records") == records, first
        for held in (1, 7, 1 << 16):  # what a scan shows is made of many blocks together
            monkeypatch.setattr(columnar_reader, "MAX_WAITING", held)
            assert brief(as_scanned(data)) == brief(wanted), (first, held)


def test_hostile_damage_is_left_to_the_reference_for_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walk, "FREE_BYTES", 1000)
    data = (logs.batch(b"one") + b"?") * 200
    (tmp_path / "a.log").write_bytes(data)
    assert brief(rows(tmp_path)) == brief(slowly(tmp_path / "a.log"))
    records = rows(tmp_path, rows="records")
    assert brief(records) == brief(slowly(tmp_path / "a.log", kafka_columns.RECORDS))


# --- packed objects ---


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_a_packed_object_is_read_as_what_is_in_it(tmp_path: Path, ending: str) -> None:
    data = logs.embedded() + b"torn"
    packed = gzip.compress(data) if ending == "gz" else zstandard.compress(data)
    (tmp_path / f"a.log.{ending}").write_bytes(packed)
    assert brief(rows(tmp_path)) == [
        (0, 71, "frame", None),
        (71, 146, "frame", None),
        (217, 71, "frame", None),
        (288, 4, "tail", None),
    ]


def test_a_packed_object_that_is_damaged_says_so_behind_what_came_out_of_it(tmp_path: Path) -> None:
    data = b"".join(logs.batch(bytes([n % 251]) * 1000, n) for n in range(4000))
    (tmp_path / "a.log.gz").write_bytes(gzip.compress(data, 0)[:-100])
    found = rows(tmp_path)
    assert (found[-1]["length"], found[-1]["kind"], found[-1]["fault"]) == (0, "garbage", "decompress-failed")
    assert sum(row["length"] for row in found) == found[-1]["position"]
    assert sum(row["kind"] == "frame" for row in found) > 2500


def test_a_packed_object_that_unpacks_to_too_much_is_read_so_far(tmp_path: Path) -> None:
    (tmp_path / "a.log.gz").write_bytes(gzip.compress(bytes(5 << 20)))
    found = rows(tmp_path, max_unpacked=str(2 << 20))
    assert brief(found)[1:] == [(3 << 20, 0, "garbage", "limit-exceeded")]


def test_an_entry_that_unpacks_to_much_more_fills_a_batch_by_itself(tmp_path: Path) -> None:
    """The content of an Arrow batch is measured uncompressed."""
    body = b"\x00\x00\x00\x01" + logs.varint(3 << 20) + bytes(3 << 20) + b"\x00"
    record = logs.varint(len(body)) + body
    data = kafka_bytes.batch(gzip.compress(record), 1, attributes=1)
    logs.write(tmp_path, a=data * 6)
    asked = sources.parse("wireproof.kafka_log", {"path": str(tmp_path), "rows": "records"})
    wanted = ReadRequest(asked, asked.table.columns, asked.table.schema())
    [task] = plan_tasks(asked.framing, asked.options, whole_objects(expand_paths(asked.paths, (".log",))), 1)
    assert [batch.num_rows for batch in read_spans(task, wanted)] == [1] * 6


# --- options ---


@each(
    "kind, options, text",
    [
        ("kafka_log", {"rwos": "records"}, "unknown option rwos; did you mean rows?"),
        ("kafka_log", {"rows": "lines"}, "option rows: 'lines' is not one of frames, records"),
        ("kafka_log", {"tasks": "0"}, "option tasks: '0' is not a positive number"),
        ("kafka_log", {"positions": "5:5"}, "option positions: '5:5' is not FIRST:END"),
        ("kafka_log", {"raw": "yes"}, "option raw: 'yes' is not true or false"),
        ("kafka_log", {"raw": "true", "rows": "records"}, "remove rows=records"),
        ("iggy_log", {"revision": "9"}, "option revision: '9' is not one of 0.0.30, "),
        ("heka_stream", {"keys": "secret"}, 'option keys: expected {"signer_1": "<hex>"}'),
        ("kafka_log", {"maxBytesPerTrigger": "1", "maxFilesPerTrigger": "1"}, "give only one of them"),
    ],
)
def test_an_option_that_cannot_be_is_said_in_one_line(kind: str, options: dict[str, str], text: str) -> None:
    with pytest.raises(SourceError) as caught:
        sources.parse(f"wireproof.{kind}", options)
    assert text in str(caught.value)
    assert "secret" not in str(caught.value)


def test_the_options_of_the_codec_reach_it(tmp_path: Path) -> None:
    logs.write(tmp_path, a=kafka_bytes.batch())
    assert brief(rows(tmp_path, max_message="50")) == [(0, 70, "garbage", "limit-exceeded")]


def test_the_columns_hold_what_no_codec_gave() -> None:
    """A line without bytes, as behind a damaged object, has a row in every table."""
    for kind in map(sources.source_kind, sources.source_names()):
        for table in (kind.frames, kind.records):
            line = RowData(logs.stored(b""), Item("garbage", 0, 0, cls="decompress-failed"), b"")
            [one] = table.rows(line)
            values = {column.name: column.read(one) for column in table.columns}
            assert values["fault"] == "decompress-failed"
            assert all(values[name] in (None, [], b"") for name in list(values)[6:]), values
