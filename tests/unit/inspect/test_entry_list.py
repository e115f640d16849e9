"""The entries of a stream one after another: the fast decoder and the reference list the same."""

import os
from collections.abc import Iterator
from pathlib import Path
from random import Random

import damaged_logs
import kafka_bytes
import logs
import pytest
from attrs import evolve
from each import each
from folders import SUPPORT

from wireproof import formats
from wireproof.inspect.entry_list import ListingSettings, list_entries, listing_of
from wireproof.inspect.file_survey import survey_file
from wireproof.wire.byte_source import (
    ByteSource,
    BytesSource,
    FileSource,
    ShrunkError,
    long_zeros,
    pieces,
    zeros_end,
)
from wireproof.wire.options import DEFAULT_OPTIONS
from wireproof.wire.walk import Entry, EntryRows

LOG = formats.get("kafka.log", "mixed")
SEGMENTS = sorted((SUPPORT / "segments").glob("*/*.log"))


def listed(data: bytes, *, fast: bool, values: bool = False) -> list[Entry]:
    return list(entries_of(BytesSource(data), fast=fast, values=values))


def entries_of(source: ByteSource, *, fast: bool, values: bool = False) -> Iterator[Entry]:
    listing = listing_of(LOG)
    assert listing is not None
    reading = ListingSettings(DEFAULT_OPTIONS, values=values, fast=fast)
    for part in list_entries(LOG, listing, source, reading):
        yield from part if isinstance(part, EntryRows) else (part,)


def same(data: bytes) -> list[Entry]:
    """Return the entries, after a check that both ways give them and cover every byte."""
    pytest.importorskip("numba")
    slow, fast = (listed(data, fast=one) for one in (False, True))
    assert fast == slow
    ends = [one.at + one.length for one in slow]
    assert [one.at for one in slow] == [0, *ends[:-1]]
    assert ends[-1] == len(data)
    slow_items, fast_items = (
        [one.item for one in listed(data, fast=one, values=True)] for one in (False, True)
    )
    assert fast_items == slow_items
    return slow


@each("path", SEGMENTS, ids=lambda path: path.parent.name)
def test_both_list_the_segments_of_a_broker_alike(path: Path) -> None:
    assert all(one.kind == "frame" and not one.damages for one in same(path.read_bytes()))


def test_both_list_damaged_logs_alike() -> None:
    for _, data in damaged_logs.thirty_kafka()[:12]:
        assert any(one.damages for one in same(data))


def test_both_list_entries_that_go_back_alike() -> None:
    entries = [logs.batch(bytes([n]) * 30, n) for n in range(5)]
    found = same(entries[0] + entries[3] + entries[1] + entries[4])
    assert [[damage.cls for damage in one.damages] for one in found] == [
        [],
        [],
        ["offsets-not-monotonic"],
        [],
    ]


def test_both_list_large_entries_and_garbage_and_a_tail_alike() -> None:
    rng = Random(5)
    large = [logs.batch(rng.randbytes(3 << 20), 2 * n) for n in range(2)]
    data = large[0] + rng.randbytes(900) + large[1] + logs.batch(b"x", 9) + large[0][:70]
    found = same(data)
    assert [one.kind for one in found][-2:] == ["frame", "tail"]
    assert sum(one.kind == "frame" for one in found) == 3


NO_ENTRY = b"\xff" * 12
LONG_GARBAGE = {
    "noise": NO_ENTRY + Random(7).randbytes(1 << 16),
    "ones": NO_ENTRY + b"\1" * (1 << 16),
    "zeros and noise": NO_ENTRY + bytes(1 << 17) + Random(8).randbytes(1 << 12),
    "noise and zeros": NO_ENTRY + Random(9).randbytes(1 << 12) + bytes(1 << 17),
    "zeros": bytes(1 << 17) + NO_ENTRY,
    "a size that is too small": bytes(11) + b"\x0e" + bytes(4) + b"\2" + Random(6).randbytes(1 << 12),
}


@each("name", LONG_GARBAGE)
def test_both_list_long_garbage_alike(name: str) -> None:
    garbage = LONG_GARBAGE[name]
    found = same(logs.batch(b"x", 0) + garbage + logs.batch(b"y", 1) + garbage)
    assert [one.at for one in found if one.kind == "frame"] == [0, len(logs.batch(b"x", 0)) + len(garbage)]


@pytest.mark.parametrize("name", LONG_GARBAGE)
def test_the_reference_searches_no_garbage_where_no_entry_can_begin(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numba")
    monkeypatch.setattr("wireproof.wire.walk.items", lambda *_: pytest.fail("the slow search"))
    found = listed(logs.batch(b"x", 0) + LONG_GARBAGE[name] + logs.batch(b"y", 1), fast=True)
    assert {one.kind for one in found} == {"frame", "garbage"}


def test_wrappers_and_control_batches_are_listed_alike() -> None:
    marker = kafka_bytes.batch(
        bytes.fromhex("20 00 00 00 08 00000001 0c 0000 00000007 00".replace(" ", "")),
        attributes=0x30, producer=5, epoch=1, base=3,
    )  # fmt: skip
    (one,) = same(marker)
    columns = dict(zip(listing_of(LOG).columns, one.cells, strict=True))  # type: ignore[union-attr]
    assert (columns["control"], columns["transactional"], columns["producerId"]) == ("COMMIT", True, 5)


# --- sources ---


def test_zeros_end_where_a_byte_is_set() -> None:
    source = BytesSource(bytes(200_000) + b"x" + bytes(100_000))
    assert zeros_end(source, 0) == 200_000
    assert zeros_end(source, 200_001) == source.size
    assert long_zeros(source, 0) == 200_000 - 64
    assert long_zeros(source, 200_001) == 100_000
    assert long_zeros(source, 190_000) == 0
    assert long_zeros(source, 200_000) == 0


def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    fast_listing = pytest.importorskip("wireproof.kafka.suite.fast_listing")
    monkeypatch.setattr(fast_listing, "DECODER", evolve(fast_listing.DECODER, chunks=(1 << 10, 1 << 12)))


def test_what_was_read_of_a_file_that_shrinks_is_listed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    small_chunks(monkeypatch)
    entry = len(logs.batch(bytes(200), 0))
    (tmp_path / "0.log").write_bytes(b"".join(logs.batch(bytes([n]) * 200, n) for n in range(100)))
    found: list[Entry] = []
    with (tmp_path / "0.log").open("rb") as file:
        source = FileSource.of(file)
        os.truncate(tmp_path / "0.log", 50 * entry)
        with pytest.raises(ShrunkError):
            found.extend(entries_of(source, fast=True))
    assert [one.at for one in found] == [n * entry for n in range(len(found))]
    assert (50 - len(found)) * entry <= 1 << 12, "less than a chunk is missing"


def test_a_source_that_shrinks_says_how_much_is_left(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(bytes(1000))
    with path.open("rb") as file:
        source = FileSource.of(file)
        assert b"".join(pieces(source, 10)) == bytes(990)
        path.write_bytes(bytes(300))
        with pytest.raises(ShrunkError, match="from 1000 to 300 bytes"):
            source.read(200, 500)


# --- one file ---


def test_the_survey_of_a_file_has_its_offsets_and_epochs_and_what_is_open() -> None:
    found = survey_file(SUPPORT / "segments" / "compacted" / "00000000000000000000.log")
    assert (found.format_id, found.ok, found.entries) == ("kafka.log/mixed", True, 14)
    assert (found.totals["firstOffset"], found.totals["nextOffset"]) == (8, 52)
    assert found.totals["openTransactions"] == {"89": 50}
    assert found.totals["firstLeaderEpoch"] == found.totals["lastLeaderEpoch"] == 0
    assert not found.remarks


@pytest.mark.parametrize("fast", [False, True])
def test_a_log_whose_batches_have_a_delete_horizon_alone_has_the_latest_time(
    tmp_path: Path, fast: bool
) -> None:
    """The cleaner leaves such a batch in a compacted topic: its first timestamp is the horizon, §1.2."""
    pytest.importorskip("numba")
    path = tmp_path / "00000000000000000003.log"
    path.write_bytes(kafka_bytes.batch(b"", count=0, attributes=0x40, base=3, base_time=2000, max_time=1000))
    found = survey_file(path, "kafka.log/mixed", fast=fast)
    assert found.ok, found.damages
    assert (found.totals["firstTimestamp"], found.totals["lastTimestamp"]) == (1000, 1000)


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize(("magic", "inner_offsets", "first"), [(0, (95, 97, 99), 95), (1, (0, 2, 4), 95)])
def test_a_log_that_begins_with_a_wrapper_begins_at_the_offset_of_its_first_message(
    tmp_path: Path, fast: bool, magic: int, inner_offsets: tuple[int, ...], first: int
) -> None:
    pytest.importorskip("numba")
    inner = b"".join(kafka_bytes.message(magic, offset=offset) for offset in inner_offsets)
    path = tmp_path / "00000000000000000095.log"
    path.write_bytes(kafka_bytes.wrapper(magic, inner, offset=99) + kafka_bytes.message(magic, offset=100))
    found = survey_file(path, "kafka.log/mixed", fast=fast)
    assert found.ok, found.damages
    assert (found.totals["firstOffset"], found.totals["nextOffset"]) == (first, 101)


def test_a_file_of_no_stream_is_surveyed_as_such(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("nothing of the kind\n" * 9000)
    found = survey_file(path)
    assert (found.format_id, found.ok) == ("", False)
    assert found.message == f"{path.stat().st_size} bytes: no stream format fits"
    assert evolve(found, format_id="x", message="").ok


@each("path", SEGMENTS, ids=lambda path: path.parent.name)
def test_entries_are_counted_together_as_one_by_one(path: Path) -> None:
    listing = listing_of(LOG)
    cells = [one.cells for one in listed(path.read_bytes(), fast=False)]
    together, alone = listing.totals(), listing.totals()
    together.add(cells)
    for one in cells:
        alone.add((one,))
    assert together.json() == alone.json()
    assert [*together.lines()] == [*alone.lines()]
