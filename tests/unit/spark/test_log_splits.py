"""A log that is cut at any point and scanned part by part gives what the whole gives, and every byte once."""

from collections.abc import Callable, Iterator
from itertools import combinations, product
from typing import Any

import kafka_bytes
import logs
import pytest
from each import each
from work_counter import growth

from wireproof import formats
from wireproof.heka.suite.spark_source import HEKA
from wireproof.iggy.suite.spark_source import IGGY
from wireproof.kafka.suite.spark_reader import KAFKA
from wireproof.spark.errors import LostObjectError, SourceError
from wireproof.spark.logs.objects import ObjectPlace, ObjectReader
from wireproof.spark.logs.spans import (
    SLACK_FRACTION,
    CoverageError,
    ObjectSpan,
    choose_split_points,
    open_span,
    part_of_object,
    plan_tasks,
    split_span,
    whole_objects,
)
from wireproof.spark.logs.split_points import SplitPoint, StreamFraming, find_split_points, scan_items
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.scan_items import Item

Row = tuple[int, int, str, str | None, Any]

ONE = logs.batch(b"one")
HEKA_A, HEKA_B = logs.heka_frame(b"a"), logs.heka_frame(b"bb")
LOGS = {
    "a batch in a value": (KAFKA, logs.embedded()),
    "a batch in a value of a damaged batch": (
        KAFKA,
        ONE + logs.embedded()[:68].replace(b"\x02", b"\x07") + logs.embedded()[68:] + ONE,
    ),
    "cut at its beginning": (KAFKA, logs.embedded()[30:] + ONE),
    "a cut tail": (KAFKA, ONE + logs.embedded()[:-10]),
    "a size that runs past the end": (KAFKA, ONE + b"\0" * 8 + b"\0\1\0\0" + b"\0" * 4 + b"\2" + ONE * 3),
    "a run of zeros behind the log": (KAFKA, ONE * 2 + bytes(300)),
    "mixed magics": (KAFKA, kafka_bytes.message(0) + ONE + kafka_bytes.message(1) + b"?" * 40 + ONE),
    "heka, garbage between": (HEKA, HEKA_A + b"\x1e\x05??" + HEKA_B * 3 + b"\x1e"),
    "heka, a frame in a payload": (
        HEKA,
        logs.heka_frame(b"<" + HEKA_A + b">") + b"x" + HEKA_B * 2,
    ),
    "heka, a refused frame with garbage behind": (
        HEKA,
        b"\x1e\x02\x08\x05\x1f?????" + HEKA_B + b"\x1e\x02\x08\x30\x1f" + HEKA_A * 2,
    ),
    "iggy, a wrong checksum and a tail": (
        IGGY["0.0.30"],
        logs.stored_30(1, b"abc") + logs.stored_30(2, b"abc")[:-1] + b"?" + logs.stored_30(3, b"")[:-3],
    ),
}  # fmt: skip


def row(item: Item) -> Row:
    return item.at, item.length, item.kind, item.cls, item.value


def whole(framing: StreamFraming, data: bytes, options: Options = DEFAULT_OPTIONS) -> list[Row]:
    return [row(item) for item in formats.scan(framing.fmt, [data], options)]


def part(
    framing: StreamFraming, data: bytes, start: int, end: int, options: Options = DEFAULT_OPTIONS
) -> Iterator[Row]:
    return map(row, logs.items(framing, logs.stored(data), start, end, options))


def places(framing: StreamFraming, data: bytes, options: Options = DEFAULT_OPTIONS) -> list[int]:
    return [0, *(edge.at for edge in find_split_points(framing, logs.stored(data), options))]


@each("name", LOGS)
def test_every_split_point_gives_the_same_items(name: str) -> None:
    framing, data = LOGS[name]
    found, wanted = places(framing, data), whole(framing, data)
    for point in range(len(data) + 1):
        cut = next(place for place in found if place >= point)
        assert [*part(framing, data, 0, cut), *part(framing, data, cut, len(data))] == wanted, point


@each("name, grain", product(LOGS, [1, 50, 100, 150]))
def test_spans_end_at_the_first_place_behind_each_grain(name: str, grain: int) -> None:
    framing, data = LOGS[name]
    wanted = [0]
    for place in places(framing, data):
        if place - wanted[-1] >= grain and len(data) - wanted[-1] > grain + grain // SLACK_FRACTION:
            wanted.append(place)
    found = list(choose_split_points(framing, logs.stored(data), DEFAULT_OPTIONS, 0, len(data), grain))
    assert [at for at in found if at < len(data)] == [at for at in wanted[1:] if at < len(data)]


def test_every_fixture_is_cut_where_its_scan_may_begin() -> None:
    shown = logs.of_fixtures()
    for case_id, framing, case, data in shown:
        found, wanted = places(framing, data, case.options), whole(framing, data, case.options)
        assert found == sorted(set(found)), case_id
        assert found[-1] == len(data), case_id
        for cut in found:
            halves = [
                *part(framing, data, 0, cut, case.options),
                *part(framing, data, cut, len(data), case.options),
            ]
            assert halves == wanted, (case_id, cut)
    assert len(shown) > 400, "the fixtures were there"


def test_a_batch_in_a_value_is_no_entry_however_the_log_is_cut() -> None:
    data = logs.embedded()
    assert data[141:149] == (900).to_bytes(8, "big"), "the batch inside the second value begins there"
    found = [0, 71, 217, 288]
    assert places(KAFKA, data) == found
    assert [(at, length, kind) for at, length, kind, *_ in whole(KAFKA, data)] == [
        (0, 71, "frame"),
        (71, 146, "frame"),
        (217, 71, "frame"),
    ]


@pytest.mark.parametrize("resync", ["strict", "go", "c"])
def test_frames_claimed_inside_one_another_are_cut_as_the_whole_is(resync: Any) -> None:
    data, options = logs.nested_claims(), Options(resync=resync)
    wanted = whole(HEKA, data, options)
    for cut in places(HEKA, data, options):
        halves = [*part(HEKA, data, 0, cut, options), *part(HEKA, data, cut, len(data), options)]
        assert halves == wanted, cut


@each(
    "flood",
    [b"\0\0\0\0\0\0\0\0\0\0\x40\0\0\0\0\0\2", b"\0\0\0\0\0\0\0\0\0\0\0\x0e\0\0\0\0\0", b"\xff", b"\0"],
)
def test_the_index_of_hostile_bytes_reads_each_once_and_costs_as_much_for_each(flood: bytes) -> None:
    def indexing(size: int) -> Callable[[], ObjectReader]:
        data = flood * (size // len(flood))

        def index() -> ObjectReader:
            one = logs.stored(data, 4096)
            assert list(find_split_points(KAFKA, one, DEFAULT_OPTIONS))[-1].at == len(data)
            return one

        return index

    assert sum(indexing(200_000)().file.lengths) < 1.1 * 200_000
    assert growth(indexing, 10_000) < 1.1


def test_an_iggy_length_without_bound_is_a_tail_that_is_not_read() -> None:
    torn = logs.stored_30(4, b"")[:-4] + b"\xff\xff\xff\xff" + b"rest"
    data = logs.stored_30(1, b"abc") + torn
    rows = [
        (item.kind, item.at, item.length)
        for item in logs.items(IGGY["0.0.30"], logs.stored(data), 0, len(data))
    ]
    assert rows == [("frame", 0, 47), ("tail", 47, len(torn))]


# --- what may still change ---

DOUBTFUL = {"a batch in a value of a damaged batch", "cut at its beginning", "a size that runs past the end"}
"""Where something in the garbage may yet prove to be the beginning of an entry around all that follows."""


def settled(framing: StreamFraming, data: bytes) -> int:
    """The last place that later bytes cannot move."""
    last = 0
    for edge in find_split_points(framing, logs.stored(data), DEFAULT_OPTIONS):
        if not edge.settled:
            break
        last = edge.at
    return last


@each("name", LOGS)
def test_what_is_settled_stays_whatever_comes_later(name: str) -> None:
    """A log that grows by one byte at a time: the items before its settled edge are those of the whole."""
    framing, data = LOGS[name]
    wanted, before = whole(framing, data), 0
    for size in range(len(data) + 1):
        now = settled(framing, data[:size])
        assert now >= before, f"at {size} bytes what was settled is no longer"
        read = list(part(framing, data[:size], before, now))
        assert read == [item for item in wanted if before <= item[0] < now], size
        before = now
    waiting = [item for item in wanted if item[0] >= before and item[2] == "frame"]
    assert not waiting or name in DOUBTFUL, "a whole frame at the end is settled"


def test_a_torn_tail_is_not_settled_and_its_completion_is() -> None:
    assert settled(KAFKA, ONE + ONE[:40]) == len(ONE)
    assert settled(KAFKA, ONE + ONE) == 2 * len(ONE)
    assert list(find_split_points(KAFKA, logs.stored(ONE + ONE[:40]), DEFAULT_OPTIONS)) == [
        SplitPoint(71, settled=True),
        SplitPoint(111, settled=False),
    ]


# --- spans and tasks ---


def kafka_place(tmp_path: Any, count: int) -> ObjectPlace:
    path = tmp_path / "0.log"
    path.write_bytes(b"".join(logs.batch(bytes(1000), offset) for offset in range(count)))
    return ObjectPlace("", str(path), str(path), path.stat().st_size)


def test_a_file_is_packed_into_about_as_many_tasks_as_are_wanted(tmp_path: Any) -> None:
    place = kafka_place(tmp_path, 8000)
    tasks = plan_tasks(KAFKA, DEFAULT_OPTIONS, whole_objects([place]), 4)
    assert len(tasks) == 4
    spans = [span for task in tasks for span in task]
    assert [span.start for span in spans] == [0, *(span.end for span in spans[:-1])]
    assert spans[-1].end == place.size
    sizes = [sum(span.weight for span in task) for task in tasks]
    assert max(sizes) < 1.2 * place.size / 4


def test_a_range_of_positions_has_the_items_that_begin_in_it(tmp_path: Any) -> None:
    data = ONE * 3 + b"\xff" * 50 + ONE[:20] + bytes([ONE[20] ^ 1]) + ONE[21:] + ONE * 2 + ONE[:30]
    (tmp_path / "0.log").write_bytes(data)
    place = ObjectPlace("", str(tmp_path / "0.log"), "0.log", len(data))
    starts = [item.at for item in logs.items(KAFKA, logs.stored(data), 0, len(data))]
    assert len(starts) == 7
    edges = sorted({at + step for at in [*starts, len(data)] for step in (-1, 0, 1, 30) if at + step >= 0})
    for first, end in combinations(edges, 2):
        part = part_of_object(KAFKA, DEFAULT_OPTIONS, first, end, place)
        found = [item.at for item in logs.items(KAFKA, logs.stored(data), part.start, part.end)]
        assert found == [at for at in starts if first <= at < end], (first, end)
    with pytest.raises(SourceError, match=r"0\.log\.gz is compressed"):
        part_of_object(KAFKA, DEFAULT_OPTIONS, 0, 1, ObjectPlace("", "0.log.gz", "0.log.gz", 1))


def test_small_objects_share_a_task_compressed_ones_too_and_a_large_one_has_its_own() -> None:
    small = whole_objects(ObjectPlace("", f"/x/{n}.log", f"/x/{n}.log", 1000) for n in range(50))
    names = ("/x/p.log.gz", "/x/q.log.gz")
    packed = whole_objects(ObjectPlace("", name, name, 1000) for name in names)
    tasks = plan_tasks(KAFKA, DEFAULT_OPTIONS, [*small[:25], *packed, *small[25:]], 4)
    assert [len(task) for task in tasks] == [52]
    name, size = "/x/large.log.gz", 4 << 20
    large = ObjectPlace("", name, name, size)
    tasks = plan_tasks(KAFKA, DEFAULT_OPTIONS, [*small[:25], ObjectSpan(large, 0, size), *small[25:]], 4)
    assert [len(task) for task in tasks] == [25, 1, 25]
    assert tasks[1] == (ObjectSpan(large, 0, size),)


def test_an_object_that_got_shorter_is_one_span_whose_task_names_it(tmp_path: Any) -> None:
    place = kafka_place(tmp_path, 3000)
    (tmp_path / "0.log").write_bytes(b"short")
    [span] = split_span(KAFKA, DEFAULT_OPTIONS, 1 << 20, ObjectSpan(place, 0, place.size))
    with (
        open_span(span, 1) as (stored, start, end, _),
        pytest.raises(LostObjectError, match=r"0\.log had 3\d+ bytes and ends at 5: read it again"),
    ):
        list(scan_items(KAFKA, stored, start, end, DEFAULT_OPTIONS))


def test_items_that_leave_a_gap_are_not_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def gappy(*_: Any) -> Iterator[Item]:
        yield Item("frame", 0, 10)
        yield Item("frame", 11, 5)

    monkeypatch.setattr(logs, "scan_items", gappy)
    with pytest.raises(CoverageError, match="expected the next item at 10, got bytes 11 to 16"):
        logs.items(KAFKA, logs.stored(bytes(16)), 0, 16)
    monkeypatch.setattr(logs, "scan_items", lambda *_: iter([Item("frame", 0, 10)]))
    with pytest.raises(CoverageError, match="the items of bytes 0 to 16 end at 10"):
        logs.items(KAFKA, logs.stored(bytes(16)), 0, 16)
