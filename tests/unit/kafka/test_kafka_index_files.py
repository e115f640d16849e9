"""Index files that Apache Kafka 4.3.0 wrote beside segments (`tests/support/segments`), whole and damaged.

Those of `compacted` are a running broker's: its cleaner took the records of the aborted transactions away.
"""

import shutil
import struct
import tracemalloc
from pathlib import Path
from typing import Any

import kafka_bytes
import pytest
from attrs import evolve
from command_line import Command
from folders import SUPPORT

from wireproof.data_files import FileFinding
from wireproof.inspect.data_directory import check_index_file, check_index_files, kind_of, parse_file_name
from wireproof.kafka.files import index_file
from wireproof.kafka.files.index_file import NO_MARKER, EntryHeaders, SegmentEntry, SegmentHeaders
from wireproof.kafka.suite import index_files
from wireproof.segment_files import CheckedIndex, IndexFileError
from wireproof.spark.logs.objects import expand_paths
from wireproof.spark.scan_report import check_local_logs, index_rows
from wireproof.wire.byte_source import BytesSource

SEGMENTS = SUPPORT / "segments"
NAME = "00000000000000001000"
KINDS = (".index", ".timeindex", ".txnindex")


@pytest.fixture
def closed(tmp_path: Path) -> Path:
    """A folder with the closed segment, to be damaged."""
    return Path(shutil.copytree(SEGMENTS / "closed", tmp_path / "closed"))


def wrong(folder: Path, kind: str) -> list[str]:
    return [
        finding.message for finding in check_index_file(folder / f"{NAME}{kind}").findings if finding.is_error
    ]


def edit(folder: Path, kind: str, at: int, form: str, *values: int) -> None:
    path = folder / f"{NAME}{kind}"
    data = bytearray(path.read_bytes())
    struct.pack_into(form, data, at, *values)
    path.write_bytes(data)


def read_headers(data: bytes) -> SegmentHeaders:
    return index_files.headers_of(BytesSource(data))


# --- what Kafka wrote ---


@pytest.mark.parametrize(
    ("folder", "rows"),
    [
        ("closed", {".index": (9, 0), ".timeindex": (6, 0), ".txnindex": (3, 0)}),
        ("legacy", {".index": (7, 0), ".timeindex": (4, 0)}),
        ("compacted", {".index": (0, 0), ".timeindex": (1, 0), ".txnindex": (3, 0)}),
    ],
)
def test_what_kafka_recovered_or_compacted_agrees_with_its_log(
    folder: str, rows: dict[str, tuple[int, int]]
) -> None:
    (log,) = (SEGMENTS / folder).glob("*.log")
    found = {one.name.kind: one for one in check_index_files(log)}
    assert {kind: (len(one.index.entries), one.index.raw.tail) for kind, one in found.items()} == rows
    assert [one.findings for one in found.values()] == [()] * len(found)


def test_an_open_segment_has_rows_that_are_not_written_yet_and_they_are_no_entries() -> None:
    for kind, tail in ((".index", 21), (".timeindex", 14)):
        one = check_index_file(SEGMENTS / "open" / f"{NAME}{kind}")
        assert one.findings == ()
        assert one.index.raw.tail == tail
        assert f"{tail} not written yet: agrees with its log" in one.verdict()


def test_the_entries_are_those_that_the_log_was_written_with() -> None:
    """As `DumpLogSegments` of the same version prints them."""
    found = {
        one.name.kind: one.index.entries for one in check_index_files(SEGMENTS / "closed" / f"{NAME}.log")
    }
    assert [(one.offset, one.position) for one in found[".index"]][:2] == [(1002, 201), (1005, 332)]
    assert [(one.timestamp, one.offset) for one in found[".timeindex"]][:2] == [
        (1_700_000_000_500, 1002),
        (1_700_000_000_600, 1007),
    ]
    assert [(one.producer, one.first, one.last, one.stable) for one in found[".txnindex"]] == [
        (7, 1002, 1007, 1003),  # 8 is open, from 1003 on
        (9, 1008, 1012, 1013),
        (7, 1014, 1018, 1019),
    ]


def test_the_heads_of_a_log_are_read_without_its_records() -> None:
    found = read_headers((SEGMENTS / "legacy" / f"{NAME}.log").read_bytes())
    assert found.why == ""
    assert [(head.magic, head.last) for head in found.heads[:4]] == [
        (0, 1000),
        (1, 1001),
        (1, 1004),
        (0, 1005),
    ]
    assert [head.timestamp for head in found.heads[:2]] == [-1, 1_700_000_000_000]
    assert index_file.entry_with_offset(found, 1003) == found.heads[2]  # inside the wrapper that ends at 1004
    assert index_file.entry_with_offset(found, 1019) == found.heads[-1]
    assert index_file.entry_with_offset(found, 1020) is None


@pytest.mark.parametrize("folder", ["closed", "open", "legacy", "compacted"])
def test_the_heads_of_a_log_are_the_same_in_small_pieces(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (log,) = (SEGMENTS / folder).glob("*.log")
    data = log.read_bytes()
    whole = read_headers(data)
    monkeypatch.setattr(index_files, "READER", evolve(index_files.READER, chunks=(1, 1)))
    assert read_headers(data) == whole
    assert len(whole.heads) > 2
    assert read_headers(data[:-1]).heads == whole.heads[:-1]


def test_a_log_that_shrinks_while_it_is_read_keeps_the_heads_before(closed: Path) -> None:
    log = closed / f"{NAME}.log"
    whole = read_headers(log.read_bytes())
    with log.open("rb+") as file:
        file.truncate(whole.heads[3].position + 5)
    found = index_files._read_segment.__wrapped__(log, whole.size, 0)
    assert (found.heads, found.why) == (whole.heads[:3], "the file shrank while it was read")


def test_the_times_that_a_broker_indexes_for_messages_of_v0_are_a_note(tmp_path: Path) -> None:
    """As Kafka 3.5 writes with LogAppendTime and message format 0.9.0: the messages have no timestamp."""
    log = tmp_path / f"{0:020}.log"
    log.write_bytes(b"".join(kafka_bytes.message(0, offset=offset) for offset in range(3)))
    entries = ((1_700_000_000_000 + offset, offset) for offset in range(3))
    log.with_suffix(".timeindex").write_bytes(b"".join(struct.pack(">qi", *entry) for entry in entries))
    (one,) = check_index_files(log)
    assert [(finding.at, finding.is_error) for finding in one.findings] == [(0, False)]
    assert one.findings[0].message == "3 entries lead to messages of v0, which have no timestamp"


# --- damage, one byte field each ---


@pytest.mark.parametrize(
    ("kind", "at", "form", "values", "said"),
    [
        (".index", 4, ">i", (202,), "no entry of the log begins at position 202"),
        (".index", 68, ">i", (9999,), "position 9999 is past the end of the log, which has 2059 bytes"),
        (".index", 8, ">i", (4,), "offset 1004 ends no entry of the log from position 332 on; the entry"),
        (".index", 8, ">i", (2,), "offset 1002 is not above 1002, the one before it"),
        (".index", 0, ">i", (-1,), "relative offset -1 is below the base offset of the segment"),
        (".index", 12, ">i", (0,), "position 0 is not above 201, the one before it"),
        (".index", 4, ">i", (-8,), "position -8 is negative"),
        (".timeindex", 0, ">q", (1_700_000_000_501,), "timestamp 1700000000501, but the entry of the log"),
        (".timeindex", 8, ">i", (3,), "timestamp 1700000000500, but the entry of the log"),
        (".timeindex", 12, ">q", (1_700_000_000_500,), "timestamp 1700000000500 is not above 1700000000500"),
        (".timeindex", 20, ">i", (1,), "offset 1001 is below 1002, the one before it"),
        (".timeindex", 68, ">i", (77,), "no entry of the log holds offset 1077"),
        (".timeindex", 8, ">i", (-2,), "relative offset -2 is below the base offset of the segment"),
        (".timeindex", 0, ">q", (-5,), "timestamp -5: Kafka writes no entry without a timestamp"),
        (".txnindex", 0, ">h", (1,), "version 1: Kafka knows only version 0"),
        (".txnindex", 2, ">q", (8,), "producer 8, but the marker at 1007 is of producer 7"),
        (".txnindex", 10, ">q", (1003,), "first offset 1003, but in the log the transaction begins at 1002"),
        (".txnindex", 18, ">q", (1006,), "the log has no ABORT marker at offset 1006"),
        (".txnindex", 26, ">q", (1004,), "last stable offset 1004, but by the log it was 1003"),
        (".txnindex", 26, ">q", (1009,), "last stable offset 1009 is after the marker at 1007"),
        (".txnindex", 52, ">q", (1007,), "last offset 1007 is not above 1007, the one before it"),
        (".txnindex", 18, ">q", (990,), "last offset 990 is below the base offset of the segment, 1000"),
        (".txnindex", 10, ">q", (1010,), "first offset 1010 is above the last one, 1007"),
    ],
)  # fmt: skip
def test_a_damaged_entry_is_reported_with_its_place(
    closed: Path, kind: str, at: int, form: str, values: tuple[int, ...], said: str
) -> None:
    edit(closed, kind, at, form, *values)
    one = check_index_file(closed / f"{NAME}{kind}")
    found = [finding for finding in one.findings if said in finding.message]
    assert found, [finding.message for finding in one.findings]
    size = {".index": 8, ".timeindex": 12, ".txnindex": 34}[kind]
    assert found[0].at in {at, at // size * size}, "the damaged field, or the first one of its entry"
    assert found[0].is_error
    assert one.verdict().endswith("wrong")


@pytest.mark.parametrize(("kind", "size"), [(".index", 8), (".timeindex", 12), (".txnindex", 34)])
def test_bytes_after_the_last_entry_are_reported(closed: Path, kind: str, size: int) -> None:
    path = closed / f"{NAME}{kind}"
    path.write_bytes(path.read_bytes() + b"\1\2\3")
    assert wrong(closed, kind) == [f"3 bytes after the last whole entry; an entry has {size} bytes"]


def test_an_aborted_transaction_that_is_not_listed_is_reported(closed: Path) -> None:
    path = closed / f"{NAME}.txnindex"
    path.write_bytes(path.read_bytes()[:34] + path.read_bytes()[68:])
    (said,) = wrong(closed, ".txnindex")
    assert said.startswith("offsets 1008 to 1012 of producer 9 were aborted, and are not listed")


def test_a_transaction_index_that_is_not_there_is_missed_beside_others_alone(closed: Path) -> None:
    (closed / f"{NAME}.txnindex").unlink()
    found = {one.name.kind: one.errors for one in check_index_files(closed / f"{NAME}.log")}
    assert found == {".index": 0, ".timeindex": 0, ".txnindex": 3}
    for kind in (".index", ".timeindex"):
        (closed / f"{NAME}{kind}").unlink()
    assert check_index_files(closed / f"{NAME}.log") == ()


def test_a_closed_segment_without_its_greatest_time_is_a_note(closed: Path) -> None:
    path = closed / f"{NAME}.timeindex"
    path.write_bytes(path.read_bytes()[:-12])
    (found,) = check_index_file(path).findings
    assert not found.is_error
    assert "greatest timestamp, 1700000005100; the last one here is 1700000005020" in found.message


def test_the_index_of_another_segment_disagrees_all_over(closed: Path) -> None:
    shutil.copy(SEGMENTS / "legacy" / f"{NAME}.index", closed)
    assert len(wrong(closed, ".index")) >= 7


# --- what cannot be known ---


def test_behind_the_damage_of_a_log_nothing_is_held_against_an_index(closed: Path) -> None:
    log = closed / f"{NAME}.log"
    data = bytearray(log.read_bytes())
    data[1222 + 16] = 9  # the magic of the entry there
    log.write_bytes(data)
    for kind in KINDS:
        one = check_index_file(closed / f"{NAME}{kind}")
        assert one.errors == 0, one.findings
        assert any(
            "cannot be checked: the log ends at 1222, bad-magic" in two.message for two in one.findings
        )


def test_a_torn_tail_is_where_a_log_ends(closed: Path) -> None:
    log = closed / f"{NAME}.log"
    log.write_bytes(log.read_bytes()[:-1])
    assert [wrong(closed, kind) for kind in KINDS] == [[], [], []]


def test_without_its_log_an_index_is_looked_at_by_itself(closed: Path) -> None:
    (closed / f"{NAME}.log").unlink()
    one = check_index_file(closed / f"{NAME}.index")
    assert (one.log, one.findings) == (None, ())
    assert "its log is not beside it" in one.verdict()
    edit(closed, ".index", 8, ">i", 1)
    assert wrong(closed, ".index") == ["offset 1001 is not above 1002, the one before it"]


def heads(*rows: tuple[int, int, int, bool, int | None]) -> SegmentHeaders:
    """Heads of (first, last, producer, transactional, marker), 100 bytes each."""
    found = tuple(
        SegmentEntry(number * 100, 100, 2, first, last, 5, producer, transactional, ends)
        for number, (first, last, producer, transactional, marker) in enumerate(rows)
        for ends in [NO_MARKER if marker is None else marker]
    )
    return SegmentHeaders(EntryHeaders(found), len(found) * 100, len(found) * 100)


def against(log: SegmentHeaders, *entries: tuple[int, int, int, int]) -> list[FileFinding]:
    data = b"".join(struct.pack(">hqqqq", 0, *entry) for entry in entries)
    return list(index_file.TRANSACTION_INDEX.against(index_file.TRANSACTION_INDEX.read(data, 100), log))


def test_a_transaction_may_have_begun_in_an_earlier_segment() -> None:
    log = heads((100, 101, 7, True, None), (102, 102, 7, True, 0))
    assert against(log, (7, 90, 102, 103)) == []  # its first records are there
    assert against(log, (7, 100, 102, 95)) == []  # another one from there is open
    (found,) = against(log, (7, 101, 102, 103))
    assert "begins at 100" in found.message


def test_a_marker_without_records_here_wants_no_entry_and_may_have_one() -> None:
    log = heads((100, 100, -1, False, None), (101, 101, 7, True, 0))
    assert against(log) == []
    assert against(log, (7, 50, 101, 102)) == []
    (found,) = against(log, (7, 100, 101, 102))
    assert "has no record" in found.message


def test_what_was_compacted_away_is_a_note() -> None:
    log = heads((100, 100, -1, False, None), (110, 110, 7, True, 0), (120, 120, -1, False, None))
    (gone,) = against(log, (8, 90, 105, 106), (7, 104, 110, 109))  # records and another's at 109 are gone
    assert not gone.is_error
    assert "no entry of the log holds offset 105" in gone.message
    (late,) = against(log, (7, 104, 110, 110))
    assert "last stable offset 110, but by the log it was 111" in late.message


def test_batches_that_were_appended_together_share_an_entry() -> None:
    log = heads((100, 101, -1, False, None), (102, 103, -1, False, None), (104, 104, -1, False, None))
    for offset, said in ((103, 0), (104, 0), (101, 0), (102, 1)):
        index = index_file.OFFSET_INDEX.read(struct.pack(">ii", offset - 100, 0), 100)
        assert len(list(index_file.OFFSET_INDEX.against(index, log))) == said


def test_of_two_times_as_late_the_first_is_the_one() -> None:
    log = heads((100, 101, -1, False, None), (102, 103, -1, False, None))
    for offset in (100, 101, 103):
        index = index_file.TIME_INDEX.read(struct.pack(">qi", 5, offset - 100), 100)
        assert list(index_file.TIME_INDEX.against(index, log)) == []


def test_zeros_between_entries_are_entries_and_zeros_behind_them_are_room() -> None:
    found = index_file.OFFSET_INDEX.read(bytes(8) + b"\0\0\0\1\0\0\0\2" + bytes(20), 0).raw
    assert (len(found.rows), found.tail, found.odd) == (2, 2, 4)
    assert len(index_file.TRANSACTION_INDEX.read(bytes(68), 0).raw.rows) == 2


@pytest.mark.parametrize("data", [b"", b"\0" * 5, b"\xff" * 100, bytes(range(256))])
def test_any_bytes_are_read(data: bytes, tmp_path: Path) -> None:
    (tmp_path / f"{NAME}.log").write_bytes(data)
    for kind in KINDS:
        (tmp_path / f"{NAME}{kind}").write_bytes(data)
        assert isinstance(check_index_file(tmp_path / f"{NAME}{kind}"), CheckedIndex)
    assert len(check_index_files(tmp_path / f"{NAME}.log")) == 3


# --- names ---


def test_names_contain_base_offset_kind_and_state() -> None:
    found: Any = parse_file_name(Path("/x/00000000000000000042.timeindex.deleted"))
    assert (found.base, found.kind) == (42, ".timeindex")
    assert found.beside(".log") == Path("/x/00000000000000000042.log.deleted")
    assert parse_file_name(Path("notes.index")) is None
    assert [kind_of(Path(name)) for name in ("a.index", "1.txnindex.swap", "1.log", "index")] == [
        ".index",
        ".txnindex",
        "",
        "",
    ]


def test_an_index_without_an_offset_for_a_name_is_an_error(tmp_path: Path, wireproof: Command) -> None:
    path = tmp_path / "notes.index"
    path.write_bytes(bytes(8))
    with pytest.raises(IndexFileError, match="must be its base offset"):
        check_index_file(path)
    assert "must be its base offset" in wireproof("explain", path).one_line()


# --- the verbs ---


def test_explain_shows_entries_and_verdict_and_ends_with_a_code(closed: Path, wireproof: Command) -> None:
    path = closed / f"{NAME}.index"
    done = wireproof("explain", path, code=0)
    assert done.out.splitlines()[0].startswith(
        "72 bytes as .index of the segment at offset 1000; its log has 14"
    )
    assert done.out.splitlines()[2].split() == ["0", "2", "1002", "201"]
    assert done.out.splitlines()[-1] == f"{NAME}.index: 9 entries: agrees with its log"
    times = wireproof("explain", closed / f"{NAME}.timeindex").out.splitlines()
    assert times[2].split() == ["0", "1700000000500", "2", "1002", "2023-11-14T22:13:20.500Z"]
    edit(closed, ".index", 4, ">i", 7)
    damaged = wireproof("explain", path, code=1)
    assert f"wrong: {path} at 4: no entry of the log begins at position 7\n" in damaged.out
    assert damaged.out.count("what to do: stop the broker and delete the segment's .index") == 1
    whole = wireproof("explain", closed / f"{NAME}.log", code=1)
    assert "bytes as kafka.log/mixed: accepted" in whole.out
    assert f"{NAME}.txnindex: 3 entries: agrees with its log" in whole.out


def test_a_scan_writes_a_row_of_each_finding(closed: Path, tmp_path: Path) -> None:
    edit(closed, ".index", 4, ">i", 7)
    places = expand_paths([str(tmp_path)], (".log",))
    found = check_local_logs(places)
    assert [one.errors for one in found] == [1, 0, 0]
    assert list(index_rows(found)) == [
        {
            "path": str(closed / f"{NAME}.index"),
            "position": 4,
            "is_error": True,
            "message": "no entry of the log begins at position 7",
            "next_step": index_file.REBUILD,
        }
    ]
    assert check_local_logs([evolve(place, store="s3://x") for place in places]) == ()


def test_explain_reports_nothing_about_absent_index_files(tmp_path: Path, wireproof: Command) -> None:
    shutil.copy(SEGMENTS / "closed" / f"{NAME}.log", tmp_path)
    assert "agrees" not in wireproof("explain", tmp_path / f"{NAME}.log", code=0).out


@pytest.mark.sweeps
def test_the_headers_of_many_entries_and_their_index_take_little_memory() -> None:
    count = 50_000
    one = kafka_bytes.message(1)
    data = b"".join(number.to_bytes(8, "big") + one[8:] for number in range(count))
    entries = b"".join(struct.pack(">ii", number, number * len(one)) for number in range(count))
    tracemalloc.start()
    segment = read_headers(data)
    index = index_file.OFFSET_INDEX.read(entries, 0)
    findings = [*index_file.OFFSET_INDEX.alone(index), *index_file.OFFSET_INDEX.against(index, segment)]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (len(segment.heads), len(index.entries), findings) == (count, count, [])
    assert peak < count * 120
