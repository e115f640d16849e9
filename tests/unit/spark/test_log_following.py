"""Logs that grow, step by step, without Spark: every row once, whatever the steps are."""

import gzip
from collections.abc import Mapping
from pathlib import Path

import logs
import pytest

from wireproof.spark.errors import SourceError
from wireproof.spark.logs import sources
from wireproof.spark.logs.data_sources import OffsetTracker
from wireproof.spark.logs.objects import ObjectReader
from wireproof.spark.logs.sources import SourceSettings


def follower(*paths: Path) -> OffsetTracker:
    return OffsetTracker(settings(*paths))


def settings(*paths: Path, **options: str) -> SourceSettings:
    named = {"paths": str([str(path) for path in paths]).replace("'", '"')}
    return sources.parse("wireproof.kafka_log", named | options)


def taken(one: OffsetTracker, start: Mapping[str, int], end: Mapping[str, int]) -> list[tuple[str, int, str]]:
    """Stem, offset and kind of every item between two commitments."""
    rows = []
    for span in one.ranges(start, end):
        stored = ObjectReader.of(span.place)
        items = logs.items(one.source.framing, stored, span.start, span.end)
        rows += [(Path(span.place.display_name).stem, item.at // 71, item.kind) for item in items]
    return rows


LOG = b"".join(logs.batch(b"one", offset) for offset in range(6))


def test_a_torn_tail_waits_and_is_read_once_when_it_is_whole(tmp_path: Path) -> None:
    one, committed, rows = follower(tmp_path), dict[str, int](), list[tuple[str, int, str]]()
    for size in (0, 30, 71, 100, 141, 142, 200, 400, 426, 426):
        logs.write(tmp_path, a=LOG[:size])
        end = one.latest(committed)
        rows += taken(one, committed, end)
        committed = end
        assert committed.get(str(tmp_path / "a.log"), 0) == size // 71 * 71
    assert rows == [("a", n, "frame") for n in range(6)]


def test_what_a_log_waits_for_is_logged_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    logs.write(tmp_path, a=LOG[:100], b=LOG + b"\xff" * 30)
    one = follower(tmp_path)
    end = one.latest({})
    one.latest(end)
    torn = "the entry there has 71 bytes, of which 29 are available"
    unseen = "no start of an entry was found"
    assert sorted(caplog.messages) == [
        f"{tmp_path}/a.log waits for more bytes at 71: {torn}",
        f"{tmp_path}/b.log waits for more bytes at 426: {unseen} in the 30 bytes available",
    ]


@pytest.mark.parametrize("size", [b"\0\x01\0\0", b"\x01\0\0\0", b"\x7f\0\0\0", b"\0\0\0\x4b", b"\0\0\0\x0e"])
def test_an_entry_whose_size_is_damaged_does_not_stall_a_stream(
    tmp_path: Path, size: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    data = LOG[:79] + size + LOG[83:]
    logs.write(tmp_path, a=data)
    one = follower(tmp_path)
    end = one.latest({})
    assert list(end.values()) == [len(data)]
    assert [row[2] for row in taken(one, {}, end)].count("frame") >= 4
    assert caplog.messages == []
    logs.write(tmp_path, a=data + LOG * 2000)
    assert [row[2] for row in taken(one, {}, end)].count("frame") >= 4, (
        "the step is the same when the log grew"
    )


def test_garbage_with_the_beginning_of_an_entry_in_it_does_not_stall_a_stream(tmp_path: Path) -> None:
    claims = bytes(8) + (1 << 24).to_bytes(4, "big") + bytes(4) + b"\2" + bytes(30)
    data = LOG[:142] + b"\xff" * 20 + claims + LOG[142:]
    logs.write(tmp_path, a=data)
    one = follower(tmp_path)
    end = one.latest({})
    assert list(end.values()) == [len(data)]
    assert [row[2] for row in taken(one, {}, end)].count("frame") == 6


CLAIM_OF_2_MIB = bytes(8) + (2 << 20).to_bytes(4, "big") + b"\xfe" * 4 + b"\2" + b"\xfe" * 30


def test_a_stream_assumes_kafkas_default_for_the_largest_entry_and_logs_it_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Up to the limit of the format it would wait for the rest of the entry, or for two sound ones."""
    data = LOG + CLAIM_OF_2_MIB + LOG[:71]
    logs.write(tmp_path, a=data)
    assert list(follower(tmp_path).latest({}).values()) == [len(LOG)]
    assert [message for message in caplog.messages if "waits" not in message] == []
    one = OffsetTracker(sources.for_stream(settings(tmp_path)))
    assert list(one.latest({}).values()) == [len(data)]
    assert list(one.latest({}).values()) == [len(data)]
    [assumed] = [message for message in caplog.messages if "assumed" in message]
    assert "wireproof.kafka_log: entries are assumed to have at most 1048588 bytes" in assumed


def test_a_limit_that_is_given_is_no_assumption(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    logs.write(tmp_path, a=LOG)
    given = sources.for_stream(settings(tmp_path, max_message="5000"))
    assert (given.options.max_message, given.assumed_max_message) == (5000, None)
    OffsetTracker(given).latest({})
    assert caplog.messages == []
    other = sources.parse("wireproof.heka_stream", {"path": str(tmp_path)})
    assert sources.for_stream(other) == other, "only Kafka has such a default"


def test_a_step_within_bytes_takes_whole_items_and_at_least_one_of_each_log(tmp_path: Path) -> None:
    logs.write(tmp_path, a=LOG, b=LOG)
    one, committed, steps = follower(tmp_path), dict[str, int](), []
    while (end := one.latest(committed, most_bytes=300)) != committed:
        steps.append(taken(one, committed, end))
        committed = end
    assert [len(step) for step in steps] == [4, 4, 4]
    assert sorted(row for step in steps for row in step) == [
        (name, n, "frame") for name in "ab" for n in range(6)
    ]
    assert len(taken(one, {}, follower(tmp_path).latest({}, most_bytes=1))) == 2


def test_a_step_within_files_takes_no_more_of_them(tmp_path: Path) -> None:
    logs.write(tmp_path, a=LOG, b=LOG, c=LOG[:40])
    one = follower(tmp_path)
    first = one.latest({}, most_files=1)
    assert {Path(shown).stem: at for shown, at in first.items()} == {"a": 426}
    second = one.latest(first, most_files=1)
    assert {Path(shown).stem: at for shown, at in second.items()} == {"a": 426, "b": 426}
    assert one.latest(second, most_files=1) == second


def test_logs_that_come_later_are_found_and_a_frozen_run_leaves_them(tmp_path: Path) -> None:
    one = follower(tmp_path / "later")
    assert one.latest({}) == {}
    logs.write(tmp_path / "later", a=LOG[:142])
    one.freeze()
    logs.write(tmp_path / "later", a=LOG, b=LOG)
    assert list(one.latest({}).values()) == [142]
    assert list(follower(tmp_path / "later").latest({}).values()) == [426, 426]


def test_what_is_available_is_more_than_what_is_read(tmp_path: Path) -> None:
    logs.write(tmp_path, a=LOG[:100], b=LOG)
    one = follower(tmp_path)
    read = sum(one.latest({}).values())
    assert (one.available(), read) == ({"objects": 2, "bytes": 526}, 497)


def test_a_step_is_the_same_when_it_is_taken_again_after_the_log_grew(tmp_path: Path) -> None:
    logs.write(tmp_path, a=LOG[:250])
    end = follower(tmp_path).latest({})
    before = taken(follower(tmp_path), {}, end)
    logs.write(tmp_path, a=LOG)
    assert taken(follower(tmp_path), {}, end) == before == [("a", n, "frame") for n in range(3)]


def test_a_packed_log_is_taken_whole_and_once(tmp_path: Path) -> None:
    packed = gzip.compress(LOG)
    (tmp_path / "a.log.gz").write_bytes(packed)
    one = follower(tmp_path)
    end = one.latest({}, most_bytes=1)
    assert list(end.values()) == [len(packed)]
    assert one.latest(end) == end
    (tmp_path / "a.log.gz").write_bytes(packed * 2)
    with pytest.raises(
        SourceError, match=f"{len(packed)} bytes were read before, and the object has {2 * len(packed)} now"
    ):
        one.latest(end)


def test_a_log_that_lost_what_was_read_or_was_to_be_read_is_named(tmp_path: Path) -> None:
    logs.write(tmp_path, a=LOG)
    one = follower(tmp_path)
    end = one.latest({})
    logs.write(tmp_path, a=LOG[:100])
    with pytest.raises(SourceError, match=r"a\.log: 426 bytes were read before, and the object has 100 now"):
        one.latest(end)
    with pytest.raises(SourceError, match=r"a\.log: bytes that the checkpoint expects are gone"):
        one.ranges({}, end)
