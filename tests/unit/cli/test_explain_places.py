"""`explain` from an offset or a position on, and of headers alone; lines that are written together."""

import itertools
import struct
from pathlib import Path
from typing import Any

import iggy_segments
import kafka_bytes
import logs
import pytest
from command_line import Command
from explain_runs import LEGACY, MIB, NAME, SEGMENT, rows, trees

from wireproof.inspect import entry_list
from wireproof.wire.byte_source import FileSource

# --- where a list begins ---


def indexed_log(folder: Path, count: int) -> tuple[Path, list[int]]:
    """A log above 1 MiB with its offset index; and the positions of its batches."""
    batches = [logs.batch(bytes([n % 251]) * 20_000, 1000 + n) for n in range(count)]
    positions = list(itertools.accumulate(map(len, batches), initial=0))[:-1]
    path = folder / "00000000000000001000.log"
    path.write_bytes(b"".join(batches))
    entries = b"".join(struct.pack(">ii", n, positions[n]) for n in range(0, count, 10))
    path.with_suffix(".index").write_bytes(entries)
    return path, positions


@pytest.fixture
def read_bytes(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """The places of a file that are read, and the lengths."""
    found: list[tuple[int, int]] = []
    for name in ("read", "view"):
        real = getattr(FileSource, name)

        def read(self: FileSource, at: int, length: int, real: Any = real) -> Any:
            found.append((at, length))
            return real(self, at, length)

        monkeypatch.setattr(FileSource, name, read)
    return found


@pytest.mark.parametrize("place", ["1150", "@{}"])
def test_a_list_that_begins_later_is_found_by_the_index_and_reads_nothing_before(
    wireproof: Command, tmp_path: Path, read_bytes: list[tuple[int, int]], place: str
) -> None:
    path, positions = indexed_log(tmp_path, 160)
    at = place.format(positions[150])
    done = wireproof("explain", path, "--at", at, "--format", "kafka.log/mixed", "--json")
    assert done.code == 0
    *entries, summary = trees(done.out)
    assert [one["position"] for one in entries] == positions[150:]
    assert (summary["begin"], summary["sound"]) == (positions[150], path.stat().st_size - positions[150])
    assert not [at for at, _ in read_bytes if MIB <= at < positions[150]]


@pytest.mark.parametrize("damage", ["no index", "an index of other positions"])
def test_without_a_true_index_the_headers_lead_to_the_entry(
    wireproof: Command, tmp_path: Path, damage: str
) -> None:
    path, positions = indexed_log(tmp_path, 160)
    index = path.with_suffix(".index")
    if damage == "no index":
        index.unlink()
    else:
        index.write_bytes(b"".join(struct.pack(">ii", n, positions[n] + 1) for n in range(0, 160, 10)))
    tree = trees(wireproof("explain", path, "--at", "1151", "--limit", "1", "--json").out)
    assert (tree[0]["baseOffset"], tree[0]["position"]) == (1151, positions[151])
    assert (tree[-1]["begin"], tree[-1]["entries"]) == (positions[151], 9)


def test_damage_on_the_way_ends_what_is_passed_over(wireproof: Command, tmp_path: Path) -> None:
    path, positions = indexed_log(tmp_path, 160)
    path.with_suffix(".index").unlink()
    data = bytearray(path.read_bytes())
    data[positions[70] + 8 : positions[70] + 12] = b"\0\0\0\1"
    path.write_bytes(data)
    done = wireproof("explain", path, "--at", "1155", "--limit", "1")
    assert done.code == 1
    assert [int(row.split()[0]) for row in rows(done.out)] == [positions[155]]
    assert f"read from position {positions[70]} on" in done.out
    assert "bad-length" in done.out


@pytest.mark.parametrize("revision", ["0.0.30", "0.2.7", "0.7", "0.11"])
def test_records_of_iggy_are_passed_over_by_their_sizes(
    wireproof: Command, tmp_path: Path, revision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entry_list, "PASSED_FROM", 1)
    path = tmp_path / NAME
    path.write_bytes(iggy_segments.segment(revision))
    named = ("--format", f"iggy.log/{revision}", "--json")
    *whole, _ = trees(wireproof("explain", path, *named).out)
    wanted = whole[len(whole) // 2]
    for place in (wanted["lastOffset"], f"@{wanted['position'] + 9}"):
        *found, summary = trees(wireproof("explain", path, *named, "--at", place).out)
        assert [one["position"] for one in found] == [one["position"] for one in whole[len(whole) // 2 :]]
        assert summary["begin"] == wanted["position"] > 0


# --- headers alone ---

HEKA_FRAME = bytes.fromhex("1e020819 1f 0a10") + bytes(range(16)) + bytes.fromhex("1001 1a03616263")


def test_headers_alone_list_the_same_batches_and_say_that_no_record_was_read(wireproof: Command) -> None:
    whole, headers = wireproof("explain", SEGMENT), wireproof("explain", "--headers", SEGMENT)
    assert (whole.code, headers.code) == (0, 0)
    assert rows(headers.out) == rows(whole.out)
    text = "headers and checksums were checked; the records were not read"
    assert text in headers.out
    assert text not in whole.out


def test_headers_alone_find_a_wrong_checksum_and_not_what_the_checksum_covers(
    wireproof: Command, tmp_path: Path
) -> None:
    one, three = logs.batch(b"one"), logs.batch(b"three", 2)
    wrong_record = kafka_bytes.batch(b"\x10" + bytes(7), base=1)
    path = tmp_path / NAME
    path.write_bytes(one + wrong_record + three[:-1] + b"?" + logs.batch(b"four", 3))
    classes = [
        [wrong["class"] for wrong in tree["wrong"]]
        for tree in trees(wireproof("explain", "--headers", "--json", path).out)
        if tree["type"] != "summary"
    ]
    assert classes == [[], [], ["crc-mismatch"], []]
    summary = trees(wireproof("explain", "--json", path).out)[-1]
    assert (summary["headersOnly"], summary["damages"]) == (False, 2)


def test_headers_alone_know_the_last_offset_of_a_wrapper(wireproof: Command) -> None:
    found = trees(wireproof("explain", "--headers", "--json", LEGACY).out)
    wrappers = [tree for tree in found if tree["type"] == "entry" and tree["count"] is None]
    assert wrappers
    assert all(tree["baseOffset"] is None and tree["lastOffset"] >= 1000 for tree in wrappers)
    assert found[-1]["totals"]["unreadWrappers"] == len(wrappers)
    assert found[-1]["headersOnly"] is True


@pytest.mark.parametrize("option", ["--records", "--fields"])
def test_headers_alone_have_no_records(option: str, wireproof: Command) -> None:
    done = wireproof("explain", "--headers", option, SEGMENT)
    assert (done.code, done.out) == (2, "")
    assert "--headers reads no records" in done.one_line()


def test_headers_alone_are_for_logs_of_kafka(wireproof: Command, tmp_path: Path) -> None:
    path = tmp_path / "stream"
    path.write_bytes(HEKA_FRAME * 3)
    done = wireproof("explain", "--headers", "--format", "heka.stream/0.10", path)
    assert done.code == 2
    assert "--headers is for logs of Kafka" in done.one_line()


# --- lines that are written together ---


@pytest.mark.parametrize("options", [(), ("--headers",)])
def test_lines_written_together_are_those_written_one_by_one(
    options: tuple[str, ...], wireproof: Command, tmp_path: Path
) -> None:
    path = tmp_path / NAME
    order = (0, 3, 4, 1, 2, 9, 9)
    path.write_bytes(SEGMENT.read_bytes() + b"".join(logs.batch(bytes([n]) * 30, n) for n in order))
    together = wireproof("explain", path, *options)
    one_by_one = wireproof("explain", path, *options, "--limit", 1000)
    assert together.out == one_by_one.out
    assert together.out.count("  wrong: offsets-not-monotonic at ") == 3
    assert len(rows(together.out)) == 14 + len(order)
