"""However a log is damaged, all that goes over it names the same entries and damage, and every byte once."""

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import damaged_logs
import iggy_segments
import logs
import pytest
from folders import SUPPORT
from hypothesis import strategies as st
from property_profile import given

from wireproof import formats
from wireproof.formats import Format, steps_of
from wireproof.inspect.data_directory import DirectoryTotals, FolderReport, read_directory
from wireproof.inspect.entry_list import ListingSettings, list_entries, listing_of
from wireproof.inspect.file_survey import add_damage
from wireproof.inspect.lost_records import Loss, LossFinder
from wireproof.kafka.suite.index_files import headers_of
from wireproof.wire.byte_source import BytesSource
from wireproof.wire.options import DEFAULT_OPTIONS
from wireproof.wire.walk import DamagedRange, Entry, EntryRows

KAFKA = formats.get("kafka.log", "mixed")
SEGMENTS = {
    "batches": damaged_logs.kafka()[:1500],
    "a batch in a value": logs.embedded(),
    "a batch in a compressed value": logs.embedded(is_stored=True),
    **{path.parent.name: path.read_bytes() for path in sorted((SUPPORT / "segments").glob("*/*.log"))},
}
"""Logs of Kafka: v2 alone, transactions, and messages of v0 and v1 with wrappers."""

OTHERS = {
    **{f"iggy.log/{name}": iggy_segments.segment(name, 6) for name in ("0.0.40", "0.2.7", "0.9", "0.11")},
    "heka.stream/0.10": b"".join(logs.heka_frame(bytes([n]) * (3 + 7 * n)) for n in range(12)),
}


@st.composite
def damaged(draw: st.DrawFn, data: bytes) -> bytes:
    """Return the bytes with one to three places that are cut, flipped, inserted, removed, and so on."""
    out = bytearray(data)
    for _ in range(draw(st.integers(1, 3))):
        at, length = draw(st.integers(0, len(out))), draw(st.integers(1, 200))
        part = bytes(out[at : at + length])
        match draw(st.sampled_from(["cut", "flip", "insert", "remove", "swap", "zero", "repeat", "size"])):
            case "cut":
                del out[max(at, len(out) // 2) :]
            case "flip" if part:
                out[at] ^= 1 << draw(st.integers(0, 7))
            case "insert":
                out[at:at] = draw(st.binary(min_size=1, max_size=40))
            case "remove":
                del out[at : at + length]
            case "swap":
                out[at : at + 2 * length] = bytes(out[at + length : at + 2 * length]) + part
            case "zero":
                out[at : at + length] = bytes(len(part))
            case "repeat":
                out[at:at] = part
            case "size" if part:
                out[at] = draw(st.sampled_from([0, 1, 127, 255]))
    return bytes(out)


def parts_of(fmt: Format, data: bytes, *, fast: bool = False, headers_only: bool = False) -> list[Entry]:
    listing = listing_of(fmt)
    assert listing is not None
    reading = ListingSettings(DEFAULT_OPTIONS, fast=fast, headers_only=headers_only, is_file=True)
    found: list[Entry] = []
    for part in list_entries(fmt, listing, BytesSource(data), reading):
        found += part if isinstance(part, EntryRows) else [part]
    return found


def named(parts: Iterable[Entry]) -> list[tuple[object, ...]]:
    """Return what is said of each part, but for what headers alone do not show."""
    return [(one.kind, one.at, one.length, one.number, one.damages) for one in parts]


def each_byte_once(parts: Iterable[tuple[int, int]], size: int) -> None:
    """Check that ranges follow each other up to the end."""
    at = 0
    for begin, end in parts:
        assert begin == at < end
        at = end
    assert at == size


def damages_of(parts: Iterable[Entry]) -> list[DamagedRange]:
    found: list[DamagedRange] = []
    for one in parts:
        for damage in one.damages:
            add_damage(found, damage)
    return found


def check_scan(fmt: Format, data: bytes, parts: list[Entry]) -> None:
    """Check that a scan, which trusts sizes, has the same items up to the first size that the walk doubts."""
    for item, one in zip(formats.scan(fmt, [data]), parts, strict=False):
        if (item.kind, item.at, item.length) != (one.kind, one.at, one.length):
            assert item.at == one.at
            doubted = item.kind != "frame" and one.kind == "garbage" and one.length < item.length
            assert doubted or one.kind == "zeros"
            return


def check_salvage(fmt: Format, data: bytes, parts: list[Entry]) -> None:
    """Check that each byte is in a sound entry or in a loss, and that no damaged entry is sound."""
    listing = listing_of(fmt)
    assert listing is not None
    finder = LossFinder(fmt, listing, BytesSource(data))
    found = [each for one in parts for each in finder.add(finder.checked(one))] + [*finder.end()]
    ranges = [(one.at, one.end) for one in found]
    zeros = [(one.at, one.end) for one in parts if one.kind == "zeros"]
    each_byte_once(sorted(ranges) + zeros, len(data))
    frames = {one.at for one in parts if one.kind == "frame"}
    assert {one.at for one in found if not isinstance(one, Loss)} <= frames
    for one in parts:
        if one.kind in ("garbage", "tail"):
            assert any(loss.at <= one.at and one.end <= loss.end for loss in found if isinstance(loss, Loss))


def told_by_a_folder(data: bytes) -> list[tuple[int | None, str]]:
    """Return what `explain DIR` says of the damage of a log, and where."""
    with TemporaryDirectory() as place:
        path = Path(place) / "t-0" / f"{0:020}.log"
        path.parent.mkdir()
        path.write_bytes(data)
        events = [*read_directory(Path(place), DirectoryTotals())]
    (report,) = (file.report for event in events if isinstance(event, FolderReport) for file in event.files)
    return [(one.at, one.message) for one in report.findings if one.places and one.at is not None]


@pytest.mark.parametrize("name", SEGMENTS)
def test_a_damaged_log_of_kafka_is_named_alike_by_all(name: str) -> None:
    @given(damaged(SEGMENTS[name]))
    def holds(data: bytes) -> None:
        parts = parts_of(KAFKA, data)
        each_byte_once([(one.at, one.end) for one in parts], len(data))
        assert named(parts_of(KAFKA, data, headers_only=True)) == named(parts)
        if find_spec("numba"):
            assert parts_of(KAFKA, data, fast=True) == parts
        check_scan(KAFKA, data, parts)
        check_salvage(KAFKA, data, parts)
        tail = [one.at for one in parts if one.kind == "tail"]
        if data and not data.startswith(b"\0" * 64):
            assert [at for at, _ in told_by_a_folder(data)] == [one.at for one in damages_of(parts)] + tail
        heads = headers_of(BytesSource(data))
        sizes = {one.at: one.length for one in parts if one.kind in ("frame", "garbage")}
        assert all(sizes.get(head.position) == head.size for head in heads.heads)
        said = {f"{each.cls} at {each.where}" for one in parts for each in one.damages}
        ends = {f"{one.length} bytes of an entry that is cut" for one in parts if one.kind == "tail"}
        zeros = {f"bad-length at {one.at + 8}" for one in parts if one.kind == "zeros"}
        assert not heads.why or heads.why in said | ends | zeros | {
            f"{len(data) - heads.end} bytes of an entry that is cut"
        }
        whole = [one.at for one in parts if one.kind == "frame" and one.at < heads.end]
        assert {*whole} <= {head.position for head in heads.heads}

    holds()


def test_every_size_of_an_entry_is_read_alike() -> None:
    entries = [logs.batch(bytes([n]) * 9, n) for n in range(4)]
    for size in (*range(-2, 3 * len(entries[0])), 1 << 20, 1 << 30, (1 << 31) - 1, -(1 << 31)):
        sized = entries[1][:8] + size.to_bytes(4, signed=True) + entries[1][12:]
        data = b"".join([entries[0], sized, *entries[2:]])
        parts = parts_of(KAFKA, data)
        each_byte_once([(one.at, one.end) for one in parts], len(data))
        if (size + 12) % len(sized):  # no entry or end of the log is where the size leads
            assert [one.at for one in parts if one.kind == "frame"] == [0, 2 * len(sized), 3 * len(sized)], (
                size
            )
        assert named(parts_of(KAFKA, data, headers_only=True)) == named(parts), size
        if find_spec("numba"):
            assert parts_of(KAFKA, data, fast=True) == parts, size


@pytest.mark.parametrize("name", OTHERS)
def test_other_damaged_streams_are_named_alike(name: str) -> None:
    fmt = formats.get(*name.split("/"))

    @given(damaged(OTHERS[name]))
    def holds(data: bytes) -> None:
        parts = parts_of(fmt, data)
        each_byte_once([(one.at, one.end) for one in parts], len(data))
        check_scan(fmt, data, parts)
        check_salvage(fmt, data, parts)

    holds()


def test_the_steps_of_every_stream_are_known() -> None:
    for fmt in formats.FORMATS.values():
        if fmt.scan is not None:
            steps = steps_of(fmt)
            assert steps.path != "entries"
            assert steps.size(b"") == 0
