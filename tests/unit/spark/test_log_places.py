"""Paths, directories and globs, on a disk and on an S3 server, as the objects that they name."""

import os
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import logs
import pytest
import s3_server
from attrs import define

from pyspark_wireproof_kafka_log import DefaultSource as KafkaLog
from wireproof.kafka.suite.spark_reader import KAFKA
from wireproof.spark.errors import SourceError
from wireproof.spark.logs import sources
from wireproof.spark.logs.objects import (
    HIDDEN,
    REMOTE_WINDOW,
    ObjectPlace,
    ObjectReader,
    expand_paths,
    list_objects,
)
from wireproof.spark.logs.spans import ObjectSpan, split_span
from wireproof.spark.logs.split_points import find_split_points
from wireproof.spark.verdict_rows import span_rows
from wireproof.wire.options import DEFAULT_OPTIONS


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    names = [
        "a-0/00000000000000000000.log",
        "a-0/00000000000000000000.index",
        "a-0/00000000000000000000.timeindex",
        "a-0/00000000000000000007.log.gz",
        "a-0/00000000000000000009.log.deleted",
        "a-0/leader-epoch-checkpoint",
        "b-1/00000000000000000000.log",
        "b-1/.hidden.log",
        "_temporary/0.log",
        "b-1/deep/er/5.log",
    ]
    for name in names:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
    return tmp_path


def found(tree: Path, *paths: str, suffixes: tuple[str, ...] = (".log",)) -> list[str]:
    places = expand_paths([str(tree / path) for path in paths], suffixes)
    return [str(Path(place.display_name).relative_to(tree)) for place in places]


SEGMENTS = ["a-0/00000000000000000000.log", "a-0/00000000000000000007.log.gz"]


def test_a_directory_means_the_segments_below_it(tree: Path) -> None:
    assert found(tree, "a-0") == SEGMENTS
    assert found(tree, "") == [*SEGMENTS, "b-1/00000000000000000000.log", "b-1/deep/er/5.log"]


def test_folders_of_partitions_are_not_hidden_whatever_their_topics_are_called(tree: Path) -> None:
    names = ("__consumer_offsets-12", "_schemas-0", "__x-0.3fa2-delete")
    for name in (*names, "_temporary-", "_0", ".x-0"):
        (tree / "all" / name).mkdir(parents=True)
        (tree / "all" / name / "0.log").write_bytes(b"x")
    assert found(tree, "all") == sorted(f"all/{name}/0.log" for name in names)
    skipped = list_objects([str(tree / "all")], (".log",))[1]
    assert {Path(one.display_name).parent.name: one.reason for one in skipped} == dict.fromkeys(
        (".x-0", "_0", "_temporary-"), HIDDEN
    )


def test_a_star_stays_within_a_component_and_two_do_not(tree: Path) -> None:
    assert found(tree, "*/*.log") == [
        "_temporary/0.log",
        SEGMENTS[0],
        "b-1/.hidden.log",
        "b-1/" + SEGMENTS[0][4:],
    ]
    assert found(tree, "**/5.log") == ["b-1/deep/er/5.log"]
    assert found(tree, "a-0/0*[0-6].log") == [SEGMENTS[0]]
    assert found(tree, "a-0/0*[!0-6].log.gz") == [SEGMENTS[1]]
    assert found(tree, "b-1/deep/er/?.log") == ["b-1/deep/er/5.log"]


def test_a_glob_that_matches_a_directory_means_the_same_as_the_directory(tree: Path) -> None:
    assert found(tree, "[ab]-*") == [*SEGMENTS, "b-1/00000000000000000000.log", "b-1/deep/er/5.log"]


def test_an_object_that_is_named_is_taken_whatever_it_is_called_and_once(tree: Path) -> None:
    name = "a-0/00000000000000000009.log.deleted"
    assert found(tree, name, name, "a-0/*.deleted") == [name]
    assert len(found(tree, "a-0", suffixes=())) == 6


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("nothing", "not found"),
        ("a-0/*.nope", "no log found"),
        ("_temporary", None),
    ],
)
def test_what_names_nothing_is_said_in_one_line(tree: Path, path: str, text: str | None) -> None:
    if text is None:
        assert found(tree, path) == ["_temporary/0.log"], "a hidden directory that is named is taken"
        return
    with pytest.raises(SourceError, match=text) as caught:
        found(tree, path)
    assert len(str(caught.value).splitlines()) == 1
    assert str(tree / path) in str(caught.value)


def test_the_names_of_hadoop_and_alternatives_name_the_same_objects(tree: Path) -> None:
    both = [*SEGMENTS, "b-1/00000000000000000000.log", "b-1/deep/er/5.log"]
    assert found(tree, "{a-0,b-1}") == both
    with pytest.raises(SourceError, match=r"/no: not found$"):
        found(tree, "{no,none*}")
    for uri in (f"file:{tree}/a-0", f"file://{tree}/a-0", f"file://{tree}/{{a-0,no,none*}}"):
        assert [place.display_name for place in expand_paths([uri], (".log",))] == [
            str(tree / name) for name in SEGMENTS
        ]
    odd = tree / "a b=%20é{x,y}" / "0.log"
    odd.parent.mkdir()
    odd.write_bytes(b"x")
    assert [place.path for place in expand_paths([str(odd.parent)], (".log",))] == [str(odd)]


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"pathGlobFilter": "*7.log.{gz,bz2}"}, SEGMENTS[1:]),
        ({"recursiveFileLookup": "false"}, []),
        ({"modifiedAfter": "2026-01-01T00:00:00"}, SEGMENTS[1:]),
        ({"modifiedBefore": "2026-01-01T01:00:00+01:00"}, SEGMENTS[:1]),
    ],
    ids=str,
)
def test_the_options_of_spark_s_files_choose_among_objects(
    tree: Path, options: dict[str, str], names: list[str]
) -> None:
    for name, year in zip(SEGMENTS, (2025, 2027), strict=True):
        moment = datetime(year, 1, 1, tzinfo=UTC).timestamp()
        os.utime(tree / name, (moment, moment))
    (tree / "b-1").rename(tree / "_hidden")
    asked = sources.parse("wireproof.kafka_log", {"path": str(tree), **options})
    places, skipped = list_objects(asked.paths, asked.kind.suffixes, asked.chosen)
    assert [str(Path(place.path).relative_to(tree)) for place in places] == names
    left_out = {each.display_name for each in skipped if each.reason == "left out by an option"}
    assert left_out == {str(tree / name) for name in SEGMENTS if name not in names}


@pytest.mark.parametrize(
    ("option", "text", "wanted"),
    [
        ("maxPartitionBytes", "64m", 64 << 20),
        ("maxPartitionBytes", "134217728b", 128 << 20),
        ("maxPartitionBytes", "1GB", 1 << 30),
        ("maxPartitionBytes", "5", 5),
        ("maxPartitionBytes", "0", "'0' is not a positive number"),
        ("maxPartitionBytes", "5 m", "'5 m' is not a positive number"),
        ("modifiedAfter", "yesterday", "'yesterday' is not a time such as 2026-01-31T12:00:00"),
        ("ignoreMissingFiles", "yes", "'yes' is not true or false"),
    ],
)
def test_sizes_and_times_are_those_of_spark(option: str, text: str, wanted: int | str) -> None:
    given = {"path": "x", option: text}
    if isinstance(wanted, int):
        assert sources.parse("wireproof.kafka_log", given).max_partition_bytes == wanted
    else:
        with pytest.raises(SourceError, match=re.escape(wanted)):
            sources.parse("wireproof.kafka_log", given)


@pytest.mark.parametrize("ignored", [True, False])
def test_an_object_that_is_gone_when_its_task_begins_is_named_or_ignored(
    tree: Path, *, ignored: bool
) -> None:
    """Both when tasks are planned, as an object of several spans is, and when they read."""
    many = [logs.batch(b"x" * 100_000, n) for n in range(30)]
    for name in ("0", "1"):
        logs.write(tree / "c-2", **{name: b"".join(many)})
    asked = KafkaLog({"path": str(tree / "c-2"), "ignoreMissingFiles": str(ignored), "tasks": "4"})
    reader = asked.reader(asked.schema())
    tasks = reader.partitions()
    (tree / "c-2" / "0.log").unlink()
    if not ignored:
        with pytest.raises(SourceError, match=r"0\.log: \[Errno 2\] No such file or directory"):
            [list(reader.read(task)) for task in tasks]
        return
    assert len(tasks) > 1
    assert sum(batch.num_rows for task in tasks for batch in reader.read(task)) == len(many)


def test_an_unknown_store_is_said_in_one_line() -> None:
    with pytest.raises(SourceError, match=r"^gopher://host/x: "):
        expand_paths(["gopher://host/x"], ())


# --- an object store ---

BUCKET = "logs"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with s3_server.served() as address:
        yield address


def test_objects_of_a_bucket_are_found_and_shown_without_credentials(server: str) -> None:
    s3_server.put(server, BUCKET, "t-0/0.log", b"a")
    s3_server.put(server, BUCKET, "t-0/0.index", b"b")
    s3_server.put(server, BUCKET, "t-1/0.log", b"ccc")
    bucket, options = f"s3://{s3_server.USER}@{BUCKET}", s3_server.options_of(server)
    shown = [
        (place.display_name, place.size) for place in expand_paths([f"{bucket}/t-*{options}"], (".log",))
    ]
    assert shown == [("s3://logs/t-0/0.log", 1), ("s3://logs/t-1/0.log", 3)]
    with pytest.raises(SourceError) as caught:
        expand_paths([f"{bucket}/none-*{options}"], (".log",))
    assert "secret" not in str(caught.value)


@define
class Counting:
    """A file that keeps account of what was asked of it."""

    file: object
    asked: list[tuple[int, int]]

    def read_at(self, length: int, position: int) -> bytes:
        self.asked.append((position, length))
        return self.file.read_at(length, position)  # type: ignore[attr-defined, no-any-return]

    def close(self) -> None:
        self.file.close()  # type: ignore[attr-defined]


def test_the_index_of_an_object_reads_ranges_and_steps_over_long_entries(server: str) -> None:
    long = b"".join(logs.batch(bytes(3 * REMOTE_WINDOW), offset) for offset in range(4))
    [place] = expand_paths([s3_server.put(server, BUCKET, "long/0.log", long)], ())
    stored = ObjectReader.of(place)
    counting = Counting(stored.file, [])
    stored.file = counting
    assert [edge.at for edge in find_split_points(KAFKA, stored, DEFAULT_OPTIONS)] == [
        len(long) // 4 * n for n in range(1, 5)
    ]
    assert sum(length for _, length in counting.asked) < len(long) // 2
    assert len(counting.asked) == 4


def test_the_entries_that_an_adapter_is_asked_about_are_read_together(
    server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them was a request to the store of its own."""
    data = b"".join(logs.batch(bytes(2000), offset) for offset in range(20))
    [place] = expand_paths([s3_server.put(server, BUCKET, "asked/0.log", data)], ())
    counting = Counting(ObjectReader.of(place).file, [])
    monkeypatch.setattr(
        ObjectReader,
        "of",
        lambda place: ObjectReader(counting, place.display_name, place.size, REMOTE_WINDOW),
    )
    source = sources.parse("wireproof.kafka_log", {"path": place.display_name})
    batches = list(span_rows(source, ["reference"], ObjectSpan(place, 0, place.size)))
    verdicts = [one for batch in batches for row in batch.column("verdicts").to_pylist() for one in row]
    assert len(verdicts) == 20
    assert len(counting.asked) <= 2, "one request for the walk, one for the entries"


def test_spans_of_an_object_are_read_by_themselves(server: str) -> None:
    data = b"".join(logs.batch(bytes(100_000), offset) for offset in range(40))
    [place] = expand_paths([s3_server.put(server, BUCKET, "spans/0.log", data)], ())
    spans = split_span(KAFKA, DEFAULT_OPTIONS, 1 << 20, ObjectSpan(place, 0, place.size))
    assert len(spans) == 4
    stored = ObjectReader.of(place)
    items = [item for span in spans for item in logs.items(KAFKA, stored, span.start, span.end)]
    assert [item.value.base_offset for item in items] == list(range(40))


def test_a_place_knows_what_it_is_packed_with_by_its_name() -> None:
    names = {"a.log": None, "a.log.gz": "gzip", "a.zst": "zstd", "a.lz4": "lz4", "a.bz2": "bz2"}
    assert {name: ObjectPlace("", name, name, 1).compression for name in names} == names
