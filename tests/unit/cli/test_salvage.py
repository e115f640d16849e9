"""`salvage` writes every sound record, and reports every other one as lost."""

import json
import random
import shutil
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import iggy_segments
import kafka_bytes
import logs
import pyarrow.parquet as pq
import pytest
import zstandard
from attrs import frozen
from command_line import Command
from explain_runs import LEGACY, MOST_MIB
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from property_profile import given

from wireproof.cli import salvage
from wireproof.inspect.entry_list import list_entries
from wireproof.inspect.file_survey import survey_file

RANDOM = random.Random(7)
VALUES = [RANDOM.randbytes(900) for _ in range(8)]
OFFSET, COVERED = 8, 16
"""Bytes of the offset of a batch, and the first byte that its checksum covers or that is a part of it."""

ZEROS = 1 << 16


def batch(base: int, count: int, *, packed: bool = False) -> bytes:
    """A batch of records of a kilobyte, at consecutive offsets."""
    bodies = [
        b"\0\0" + bytes([2 * delta]) + b"\1" + logs.varint(900) + VALUES[(base + delta) % 8] + b"\0"
        for delta in range(count)
    ]
    records = b"".join(logs.varint(len(body)) + body for body in bodies)
    if packed:
        return kafka_bytes.batch(zstandard.compress(records), count, base=base, attributes=4)
    return kafka_bytes.batch(records, count, base=base)


@frozen
class Segment:
    """A segment: its base offset, its bytes, and first byte, end, first offset and records of each batch."""

    base: int
    data: bytes
    places: tuple[tuple[int, int, int, int], ...]


def segment(base: int, counts: Sequence[int], *, packed: bool = False) -> Segment:
    parts, places, offset, at = [], [], base, 0
    for count in counts:
        parts.append(batch(offset, count, packed=packed))
        places.append((at, at + len(parts[-1]), offset, count))
        at, offset = at + len(parts[-1]), offset + count
    return Segment(base, b"".join(parts), tuple(places))


COUNTS = [1, 3, 1, 2, 5, 1, 4, 2, 1, 1] * 4
FIRST = segment(0, COUNTS)
LAST = segment(sum(COUNTS), COUNTS)
ALL = 2 * sum(COUNTS)


@frozen
class Damaged:
    """Two segments with damage, and how many records are in the batches that it touched."""

    first: bytes
    last: bytes
    lost: int
    end_is_cut: bool = False


def damaged(changes: Sequence[tuple[str, int, int]], cut: int = 0) -> Damaged:
    """Change batches of the first segment, by kind, number and place; cut the end of the last segment."""
    data, hit = bytearray(FIRST.data), set()
    for kind, number, place in changes:
        at, end, _, _ = FIRST.places[number]
        touched = {number}
        match kind:
            case "flip":
                data[at + COVERED + place % (end - at - COVERED)] ^= 1 << place % 8
            case "offset":
                data[at + place % OFFSET] ^= 1 << place % 8
            case "length":
                (size,) = struct.unpack_from(">i", data, at + 8)
                struct.pack_into(
                    ">i", data, at + 8, size + (place % 999 + 1 if place % 2 else -place % 30 - 1)
                )
            case "zeros":
                begin = at + place % (end - at)
                data[begin : begin + ZEROS] = bytes(min(ZEROS, len(data) - begin))
                touched = {
                    n for n, one in enumerate(FIRST.places) if one[0] < begin + ZEROS and one[1] > begin
                }
        hit |= touched
    lost = sum(FIRST.places[number][3] for number in hit)
    last = LAST.data[: len(LAST.data) - cut]
    return Damaged(bytes(data), last, lost + (LAST.places[-1][3] if cut else 0), end_is_cut=bool(cut))


def written(folder: Path, found: Damaged) -> Path:
    place = folder / "data" / "t-0"
    place.mkdir(parents=True)
    (place / f"{FIRST.base:020}.log").write_bytes(found.first)
    (place / f"{LAST.base:020}.log").write_bytes(found.last)
    return folder / "data"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def salvaged(wireproof: Command, source: Path, out: Path) -> tuple[int, list[dict[str, Any]], dict[str, Any]]:
    """The exit code, the losses, and the sums."""
    done = wireproof("salvage", source, "--out", out)
    *lost, sums = lines(out.with_name(f"{out.name}.lost.jsonl"))
    assert sums["complete"]
    return done.code, lost, sums


KNOWN = damaged(
    [("flip", 3, 500), ("flip", 9, 3), ("flip", 14, 77), ("length", 20, 777), ("zeros", 26, 400)], cut=50
)
"""Three flipped bits, one wrong length, 64 KiB of zeros, a cut tail."""

CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["flip", "offset", "length", "zeros"]), st.integers(0, 38), st.integers(0, 9999)
    ),
    max_size=4,
    unique_by=lambda change: change[1] // 2,
)
"""Batches that are changed have one between them at least, or are changed in one way only."""


def check_sums(wireproof: Command, folder: Path, found: Damaged) -> None:
    source = written(folder, found)
    code, lost, sums = salvaged(wireproof, source, folder / "out.jsonl")
    records = lines(folder / "out.jsonl")
    offsets = {record["offset"] for record in records}
    assert sums["soundRecords"] == len(records) == len(offsets) == ALL - found.lost
    # Where a segment has no sound batch left, nothing tells whether its offsets had gaps.
    unsure = sum(COUNTS) if all(offset >= LAST.base for offset in offsets) else 0
    assert sums["leastRecords"] == found.lost - unsure
    assert sums["mostRecords"] == (None if found.end_is_cut else found.lost)
    gone = {
        offset
        for one in lost
        for offset in range(one["firstOffset"], ALL if one["lastOffset"] is None else one["lastOffset"] + 1)
    }
    assert offsets | gone == set(range(ALL))
    assert not offsets & gone
    assert code == bool(found.lost)
    size = sum(path.stat().st_size for path in source.rglob("*.log"))
    sound = {(record["file"], record["position"]) for record in records}
    places = {
        (f"t-0/{one.base:020}.log", at): end - at for one in (FIRST, LAST) for at, end, _, _ in one.places
    }
    assert sum(places[one] for one in sound) + sums["bytes"] == size


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(CHANGES, st.sampled_from([0, 0, 1, 50, 800]))
def test_what_is_written_and_what_is_reported_as_lost_are_all_there_was(
    wireproof: Command,
    tmp_path_factory: pytest.TempPathFactory,
    changes: list[tuple[str, int, int]],
    cut: int,
) -> None:
    check_sums(wireproof, tmp_path_factory.mktemp("salvage"), damaged(changes, cut))


def test_a_directory_that_is_damaged_in_known_ways(wireproof: Command, tmp_path: Path) -> None:
    check_sums(wireproof, tmp_path, KNOWN)
    source = tmp_path / "data"
    _, _, sums = salvaged(wireproof, source, tmp_path / "out.parquet")
    table = pq.read_table(tmp_path / "out.parquet")
    rows = lines(tmp_path / "out.jsonl")
    assert table.column("offset").to_pylist() == [row["offset"] for row in rows]
    assert [value.hex() for value in table.column("value").to_pylist()] == [row["value"] for row in rows]
    code, lost, logs_sums = salvaged(wireproof, source, tmp_path / "repaired")
    assert (code, logs_sums) == (1, sums)
    for path in (tmp_path / "repaired").rglob("*.log"):
        assert wireproof("explain", path).code == 0
    _, again, _ = salvaged(wireproof, tmp_path / "repaired", tmp_path / "again.jsonl")
    assert not again
    values = [(row["offset"], row["value"]) for row in lines(tmp_path / "again.jsonl")]
    assert values == [(row["offset"], row["value"]) for row in rows]
    shown = json.loads(wireproof("explain", "--json", source / "t-0" / f"{0:020}.log").out.splitlines()[-1])
    told = [(one["position"], one["end"], one["leastRecords"]) for one in shown["lost"]["places"]]
    assert told == [
        (one["position"], one["end"], one["leastRecords"])
        for one in lost
        if one["file"].endswith(f"{0:020}.log")
    ]


@pytest.mark.parametrize("seed", range(6))
def test_the_fast_decoder_and_the_reference_find_the_same_losses(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    kinds = rng.sample(["flip", "offset", "length", "zeros", "length"], 3)
    found = damaged(
        [(kind, 8 * n + rng.randrange(4), rng.randrange(9999)) for n, kind in enumerate(kinds)], 9
    )
    for path in written(tmp_path, found).rglob("*.log"):
        quick, slow = (survey_file(path, fast=fast) for fast in (True, False))
        assert quick.losses == slow.losses
        assert quick.entries == slow.entries


def test_a_sound_log_loses_nothing_and_is_not_copied(wireproof: Command, tmp_path: Path) -> None:
    source = written(tmp_path, damaged([]))
    code, lost, sums = salvaged(wireproof, source, tmp_path / "repaired")
    assert (code, lost, sums["soundRecords"]) == (0, [], ALL)
    assert not list((tmp_path / "repaired").rglob("*.log"))


def test_a_log_with_gaps_has_bounds_and_a_header_counts_where_it_can(
    wireproof: Command, tmp_path: Path
) -> None:
    """Compaction leaves offsets without records: what damaged bytes had is known from a header alone."""
    parts = [batch(0, 2), batch(5, 1), batch(6, 3), batch(20, 2), batch(30, 1)]
    flipped = bytearray(parts[2])
    flipped[-9] ^= 1
    zeros = bytes(len(parts[3]))
    path = tmp_path / f"{0:020}.log"
    path.write_bytes(b"".join([*parts[:2], bytes(flipped), batch(9, 1), zeros, parts[4]]))
    _, lost, sums = salvaged(wireproof, path, tmp_path / "out.jsonl")
    known = [(one["firstOffset"], one["lastOffset"], one["leastRecords"], one["mostRecords"]) for one in lost]
    assert known == [(6, 8, 3, 3), (10, 29, 0, 20)]
    assert [one["basis"] for one in lost] == ["headers", "bounds"]
    assert (sums["leastRecords"], sums["mostRecords"]) == (3, 23)
    assert "0 to 20 records" in wireproof("explain", path).out


@pytest.mark.parametrize("packed", [False, True])
def test_compressed_batches_and_old_messages_are_salvaged(
    wireproof: Command, tmp_path: Path, *, packed: bool
) -> None:
    if packed:
        data, name = bytearray(segment(0, COUNTS, packed=True).data), f"{0:020}.log"
    else:
        data, name = bytearray(LEGACY.read_bytes()), LEGACY.name
    (tmp_path / "sound").mkdir()
    path = tmp_path / "sound" / name
    path.write_bytes(data)
    _, _, whole = salvaged(wireproof, path, tmp_path / "whole.jsonl")
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    _, lost, sums = salvaged(wireproof, path, tmp_path / "rest.jsonl")
    assert len(lost) == 1
    assert sums["leastRecords"] == sums["mostRecords"] > 0
    assert whole["soundRecords"] == sums["soundRecords"] + sums["leastRecords"]


@pytest.mark.parametrize("revision", ["0.0.30", "0.7", "0.11"])
def test_a_segment_of_iggy_is_salvaged(wireproof: Command, tmp_path: Path, revision: str) -> None:
    data = bytearray(iggy_segments.segment(revision))
    places = iggy_segments.places(revision, bytes(data))
    data[places[7][1] - 1] ^= 1
    path = tmp_path / f"{0:020}.log"
    path.write_bytes(data)
    code, (lost,), sums = salvaged(wireproof, path, tmp_path / "out.jsonl")
    messages = 3 if revision == "0.11" else 1
    assert (code, lost["position"], lost["end"]) == (1, *places[7])
    assert (lost["firstOffset"], lost["lastOffset"]) == (7 * messages, 8 * messages - 1)
    assert lost["leastRecords"] == lost["mostRecords"] == messages
    assert sums["soundRecords"] == 59 * messages
    assert salvaged(wireproof, path, tmp_path / "out.parquet")[2] == sums
    done = wireproof("salvage", path, "--out", tmp_path / "repaired", code=2)
    assert "of Kafka's logs alone" in done.one_line()


def test_a_stream_of_heka_is_salvaged(wireproof: Command, tmp_path: Path) -> None:
    frames = [logs.heka_frame(f"payload {number}".encode(), number) for number in range(1, 9)]
    frames[3] = frames[3][:5] + b"\x0f" + frames[3][6:]  # no wire type of protobuf
    path = tmp_path / "00000.heka"
    path.write_bytes(b"".join(frames))
    code, (lost,), sums = salvaged(wireproof, path, tmp_path / "out.jsonl")
    assert (code, sums["soundRecords"], lost["firstOffset"]) == (1, 7, None)
    assert lost["position"] == sum(map(len, frames[:3]))
    assert lost["leastRecords"] == 1
    assert (lost["timeBefore"], lost["timeAfter"]) == (3, 5)


def test_nothing_is_overwritten_and_mistakes_are_one_line(wireproof: Command, tmp_path: Path) -> None:
    source = written(tmp_path, damaged([]))
    (tmp_path / "there.jsonl").write_text("mine")
    said = {
        ("there.jsonl",): "exists, and nothing is overwritten",
        ("out.csv",): "neither FILE.jsonl nor FILE.parquet",
    }
    for (name,), text in said.items():
        assert text in wireproof("salvage", source, "--out", tmp_path / name, code=2).one_line()
    assert (tmp_path / "there.jsonl").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["data", "there.jsonl"]
    (tmp_path / "empty").mkdir()
    done = wireproof("salvage", tmp_path / "empty", "--out", tmp_path / "out")
    assert "no file with the name of a log" in done.one_line()


def test_parquet_without_its_packages_is_one_line(
    wireproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wireproof.cli.salvage.is_fast_installed", lambda: False)
    done = wireproof("salvage", written(tmp_path, KNOWN), "--out", tmp_path / "out.parquet", code=2)
    assert "pip install" in done.one_line()
    assert not list(tmp_path.glob("out*"))


def test_a_file_of_noise_is_lost_as_a_whole(wireproof: Command, tmp_path: Path) -> None:
    source = written(tmp_path, damaged([]))
    (source / "t-0" / f"{0:020}.log").write_bytes(random.Random(1).randbytes(5000))
    code, (lost,), sums = salvaged(wireproof, source, tmp_path / "out.jsonl")
    assert (code, lost["position"], lost["end"]) == (1, 0, 5000)
    assert (lost["firstOffset"], lost["lastOffset"]) == (0, LAST.base - 1)
    assert sums["soundRecords"] == ALL - LAST.base


def test_hostile_sizes_take_no_memory(tmp_path: Path) -> None:
    """Headers that claim up to 2 GiB, over and over, between sound batches."""
    head = bytearray(batch(5, 1)[:70])
    parts = []
    for number in range(3000):
        struct.pack_into(">qi", head, 0, number, [1 << 30, 0x7FFFFFF0, 900_000, 60][number % 4])
        parts += [bytes(head)] if number % 100 else [batch(number, 1)]
    path = tmp_path / f"{0:020}.log"
    path.write_bytes(b"".join(parts))
    measured = "import resource, sys\nfrom wireproof import cli\nsys.argv = ['wireproof', *sys.argv[1:]]\n"
    measured += "try:\n    cli.main()\nfinally:\n    status = open('/proc/self/status').read()\n"
    measured += "    print(int(status.split('VmHWM:')[1].split()[0]) // 1024, file=sys.stderr)\n"
    words = [sys.executable, "-c", measured, "salvage", str(path), "--out", str(tmp_path / "out.jsonl")]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 1, done.stderr
    assert int(done.stderr.split()[-1]) < MOST_MIB
    assert len(lines(tmp_path / "out.jsonl")) == 30


@pytest.mark.parametrize("name", ["out.jsonl", "out.parquet", "out"])
@pytest.mark.parametrize("after", [0, 1, 25])
def test_an_interrupt_leaves_whole_entries_and_says_so(
    wireproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, after: int
) -> None:
    def interrupted(*arguments: Any) -> Iterator[Any]:
        yield from islice(list_entries(*arguments), after)
        raise KeyboardInterrupt

    monkeypatch.setattr(salvage, "list_entries", interrupted)
    source = written(tmp_path, KNOWN)
    out = tmp_path / name
    done = wireproof("salvage", source, "--out", out)
    sums = lines(tmp_path / f"{name}.lost.jsonl")[-1]
    assert done.code == 130
    assert not sums["complete"]
    assert "have what was read until then" in done.err
    assert (sums["soundRecords"] > 0) == (after > 1)
    match out.suffix:
        case ".jsonl":
            assert len(lines(out)) == sums["soundRecords"]
        case ".parquet" if out.exists():
            assert pq.read_table(out).num_rows == sums["soundRecords"]
        case _:
            assert all(survey_file(path).ok for path in out.rglob("*.log"))


def test_two_copies_of_a_log_do_not_hide_each_other(wireproof: Command, tmp_path: Path) -> None:
    """A log that begins again loses one entry, and as a repaired log every one whose offset does not rise."""
    path = tmp_path / "both.log"
    path.write_bytes(FIRST.data + FIRST.data)
    shutil.copy(path, tmp_path / f"{0:020}.log")
    _, lost, sums = salvaged(wireproof, path, tmp_path / "out.jsonl")
    assert [one["mostRecords"] for one in lost] == [COUNTS[0]]
    assert sums["soundRecords"] == ALL - COUNTS[0]
    _, _, sums = salvaged(wireproof, path, tmp_path / "repaired")
    assert sums["soundRecords"] == sum(COUNTS)
