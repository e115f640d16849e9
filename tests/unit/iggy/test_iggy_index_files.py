"""Index files of Iggy: recognised by the log beside them or by their bytes, never by their name alone."""

import struct
import tracemalloc
from pathlib import Path

import iggy_segments
import pytest
from command_line import Command

from wireproof.data_files import FileFinding
from wireproof.iggy.files.index_file import INDEX_LAYOUTS, RecordPosition, RecordPositions, check_against_log
from wireproof.iggy.suite import index_files
from wireproof.inspect.data_directory import check_index_file, check_index_files

STEM = "00000000000000000000"
REVISIONS = ("0.0.30", "0.0.40", "0.2.7", "0.7", "0.8", "0.9", "0.11")


def partition(folder: Path, revision: str) -> Path:
    """A segment of twenty records and its index; gives the log."""
    data = iggy_segments.segment(revision, 20)
    (folder / f"{STEM}.index").write_bytes(iggy_segments.index(revision, data))
    log = folder / f"{STEM}.log"
    log.write_bytes(data)
    return log


@pytest.mark.parametrize("revision", REVISIONS)
def test_an_entry_of_an_iggy_index_that_is_wrong_is_named_and_nothing_is_advised(
    revision: str, tmp_path: Path, wireproof: Command
) -> None:
    log = partition(tmp_path, revision)
    path = log.with_suffix(".index")
    data = bytearray(path.read_bytes())
    size = len(data) // 20
    data[5 * size + (16 if revision == "0.11" else 4 if size > 4 else 0)] ^= 1
    path.write_bytes(data)
    done = wireproof("explain", path)
    assert done.code == 1
    assert f"wrong: {path} at {5 * size}" in done.out or f"wrong: {path} at {5 * size + 4}" in done.out
    assert "what to do" not in done.out


def test_the_positions_that_a_server_writes_when_it_builds_an_index_anew_are_a_note(tmp_path: Path) -> None:
    log = partition(tmp_path, "0.8")
    data = log.read_bytes()
    rows = enumerate(iggy_segments.places("0.8", data))
    entries = (struct.pack("<IIQ", n, begin, iggy_segments.NOW + n) for n, (begin, _) in rows)
    log.with_suffix(".index").write_bytes(b"".join(entries))
    (one,) = check_index_files(log)
    assert (one.errors, len(one.findings)) == (0, 1)
    assert "where messages begin" in one.findings[0].message


def test_an_index_that_is_behind_its_log_is_a_note(tmp_path: Path) -> None:
    log = partition(tmp_path, "0.9")
    path = log.with_suffix(".index")
    path.write_bytes(path.read_bytes()[:-32])
    (one,) = check_index_files(log)
    assert (one.errors, one.findings[0].message) == (0, "2 records have no entry yet")


@pytest.mark.parametrize("revision", ["0.0.30", "0.7", "0.11"])
def test_without_its_log_an_index_is_known_by_its_bytes(revision: str, tmp_path: Path) -> None:
    log = partition(tmp_path, revision)
    log.unlink()
    one = check_index_file(log.with_suffix(".index"))
    assert one.findings == ()
    assert one.system.startswith("Iggy ")
    assert revision in one.system
    assert "its log is not beside it" in one.verdict()


def test_records_are_found_by_a_number_that_rises_and_by_one_that_goes_back() -> None:
    rising = [RecordPosition(n * 2, n * 2 + 1, n * 10, n * 10 + 10, 7) for n in range(50)]
    for places in (rising, rising[25:] + rising[:25]):
        found = RecordPositions(places)
        assert [found.find("last", place.last) for place in rising] == rising
        assert [found.find("begin", value) for value in (5, 1 << 40)] == [None, None]
        assert (list(found), found[-1], found[2:4]) == (places, places[-1], places[2:4])


def test_records_above_the_limit_are_not_compared_and_a_note_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_files, "MAX_RECORDS", 12)
    log = partition(tmp_path, "0.9")
    path = log.with_suffix(".index")
    data = bytearray(path.read_bytes())
    for row in (3, 15):
        data[row * 16 + 4] ^= 1
    path.write_bytes(data)
    (one,) = check_index_files(log)
    assert [finding.at for finding in one.findings if finding.is_error] == [3 * 16 + 4]
    (note,) = [finding.message for finding in one.findings if not finding.is_error]
    assert note.endswith("entries for them are not compared")
    assert len(one.log.heads if one.log else ()) == 12


def test_many_records_and_entries_take_bounded_memory() -> None:
    places = RecordPositions(RecordPosition(n, n, n * 80, n * 80 + 80, n) for n in range(100_000))
    (layout,) = [one for one in INDEX_LAYOUTS if "0.9" in one.revisions]
    data = b"".join(layout.packing.pack(n, n * 80 + 80, n) for n in range(99_999))
    tracemalloc.start()
    faults = list(check_against_log(layout, layout.entries.read(data, 0), places, sound=True))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert faults == [FileFinding(len(data), "1 record has no entry yet", is_error=False)]
    assert peak < 1 << 20
