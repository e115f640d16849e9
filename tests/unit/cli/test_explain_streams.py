"""`explain` of streams: summaries, lines of entries, records and fields; from a place on, headers alone."""

import itertools
import re
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

# --- the summary and the entries ---


def test_a_summary_comes_first_and_then_a_line_for_each_batch(wireproof: Command) -> None:
    done = wireproof("explain", SEGMENT, code=0)
    lines = done.out.splitlines()
    assert lines[0] == f"{SEGMENT.stat().st_size} bytes as kafka.log/mixed: accepted, 1543 bytes"
    assert lines[1:3] == ["16 records in 14 batches (14 of v2)", "offsets 8 to 51, next 52"]
    assert "codecs: none 7, lz4 5, gzip 1, snappy 1" in lines
    assert "producers with an id: 7, ABORT 3, COMMIT 3" in lines
    assert not any("remark" in line for line in lines)  # a broker and a client wrote it
    at = lines.index(rows(done.out)[0])
    assert lines[at : at + 14] == rows(done.out)
    assert lines[at - 1].split()[:4] == ["position", "bytes", "magic", "offsets"]
    assert rows(done.out)[1].split() == [
        "181", "78", "v2", "10..10", "1", "none", "2026-11-22T00:51:50.690Z", "2026-11-22T00:51:50.690Z",
        "73/1", "-", "0", "COMMIT",
    ]  # fmt: skip


def test_records_have_absolute_offsets_and_times_and_text(wireproof: Command) -> None:
    out = wireproof("explain", SEGMENT, "--records").out
    assert (
        "offset 9 (+1)  2025-06-15T15:07:49.001Z (+0 ms)  sequence 1  key 'only-none'  value 'only-none-0123"
        in out
    )
    assert "headers 'h': 'only-none'" in out
    assert out.count("  offset ") == 16


def test_fields_are_every_byte_with_what_they_mean(wireproof: Command) -> None:
    out = wireproof("explain", SEGMENT, "--fields").out
    assert "attributes  int16  16  = codec none, timestampType CreateTime, transactional\n" in out
    assert "attributes  int16  48  = codec none, timestampType CreateTime, transactional, control\n" in out
    assert "baseTimestamp  int64  1750000069001  = 2025-06-15T15:07:49.001Z\n" in out
    assert "offsetDelta  varint  1  = offset 9\n" in out
    assert "key  bytes  6f6e6c792d6e6f6e65  = 'only-none'\n" in out
    assert "batches[13]" in out
    places = re.findall(r"^[ >] +(\d+) +(\d+)    ", out, re.MULTILINE)
    covered = {byte for at, size in places for byte in range(int(at), int(at) + int(size))}
    unpacked = set(range(SEGMENT.stat().st_size)) - covered
    assert len(unpacked) < 600, "only the bytes of compressed records have no field of their own"


def test_fields_of_a_later_entry_have_their_place_in_the_file(wireproof: Command) -> None:
    entries = [logs.batch(b"one", 0), logs.batch(b"two", 1)]
    out = wireproof("explain", b"".join(entries).hex(), "--fields", "--format", "kafka.log").out
    assert f"{len(entries[0]):>11}      8    baseOffset  int64  1\n" in out
    damaged = entries[0] + entries[1][:-1] + b"\1"
    done = wireproof("explain", damaged.hex(), "--fields", "--format", "kafka.log")
    assert f">{len(entries[0]) + 17:>10}      4    crc  uint32" in done.out
    assert "refused  crc-mismatch  batches[1].crc" in done.out


def test_a_list_begins_at_an_offset_or_at_a_position_and_has_a_limit(wireproof: Command) -> None:
    by_offset = wireproof("explain", SEGMENT, "--at", 36, "--limit", 2).out
    assert [line.split()[0] for line in rows(by_offset)] == ["611", "748"]
    assert "… 6 more batches are not listed" in by_offset
    for place in ("@748", "@825", "@0x2ec"):
        assert rows(wireproof("explain", SEGMENT, "--at", place).out)[0].split()[0] == "748"
    assert "is neither an offset" in wireproof("explain", SEGMENT, "--at", "x").one_line()


def test_json_lines_have_every_byte_and_end_with_the_summary(wireproof: Command) -> None:
    *parts, last = trees(wireproof("explain", LEGACY, "--json", "--records", code=0).out)
    entries = [one for one in parts if one["type"] == "entry"]
    assert sum(one["bytes"] for one in entries) == LEGACY.stat().st_size == last["bytes"]
    assert [one["codec"] for one in entries].count("gzip") == last["totals"]["codecs"]["gzip"] == 4
    records = [one for one in parts if one["type"] == "record"]
    assert len(records) == last["totals"]["records"] == 20
    assert [one["offset"] for one in records] == list(range(1000, 1020))
    assert bytes.fromhex(records[0]["value"]).decode() == records[0]["valueText"]
    assert (last["type"], last["ok"], last["damages"]) == ("summary", True, 0)


def test_what_is_wrong_with_an_entry_is_at_the_entry_and_in_the_summary(wireproof: Command) -> None:
    data = b"".join(logs.batch(bytes([65 + n]) * 9, n) for n in range(4))
    size = len(data) // 4
    damaged = data[: 2 * size - 1] + b"!" + data[2 * size :]
    done = wireproof("explain", damaged.hex(), code=1)
    assert f"wrong: bytes {size} to {2 * size}, entry 1: crc-mismatch at {size + 17}" in done.out
    assert rows(done.out)[1].startswith(
        f"{size:>12} {size:>9}  garbage: crc-mismatch at {size + 17} (batches[1].crc)"
    )
    *_, last = trees(wireproof("explain", damaged.hex(), "--json").out)
    assert [(one["class"], one["position"], one["end"]) for one in last["wrong"]] == [
        ("crc-mismatch", size, 2 * size)
    ]


# --- Heka ---

FRAMES = [logs.heka_frame(payload) for payload in (b"one", b"two", b"three")]


def test_a_stream_of_plain_and_compressed_frames_is_read(wireproof: Command, tmp_path: Path) -> None:
    path = tmp_path / "mixed.heka"
    path.write_bytes(
        FRAMES[0] + logs.snappy_heka_frame(b"packed" * 5) + FRAMES[1] + logs.snappy_heka_frame(b"again" * 5)
    )
    done = wireproof("explain", path, "--records", code=0)
    assert "4 frames" in done.out
    assert "2 of them compressed with snappy" in done.out
    assert "payload 'packedpackedpackedpackedpacked'" in done.out
    assert "payload 'two'" in done.out
    fields = wireproof("explain", path, "--fields").out
    assert "frames[1].message" in fields or "'packedpackedpackedpackedpacked'" in fields


def test_a_stream_whose_first_frame_is_refused_is_read_on(wireproof: Command, tmp_path: Path) -> None:
    path = tmp_path / "damaged.heka"
    bad = FRAMES[0].replace(b"\x0a\x10", b"\x0a\x24")
    path.write_bytes(bad + b"".join(FRAMES) * 3)
    done = wireproof("explain", path, code=1)
    assert "9 frames" in done.out
    assert "wrong: bytes 0 to " in done.out


def test_a_large_frame_is_read_if_the_limit_is_raised(wireproof: Command, tmp_path: Path) -> None:
    payload = b"x" * 100_000
    body = b"\x0a\x10" + bytes(16) + b"\x10\x05\x32" + b"\xa0\x8d\x06" + payload
    header = b"\x08" + bytes([len(body) & 127 | 128, len(body) >> 7 & 127 | 128, len(body) >> 14])
    path = tmp_path / "large.heka"
    path.write_bytes(b"\x1e" + bytes([len(header)]) + header + b"\x1f" + body + FRAMES[0])
    small = wireproof("explain", path, code=1)
    assert "limit-exceeded" in small.out
    assert "what to do: --max-message BYTES raises the greatest size of an entry" in small.out
    large = wireproof("explain", path, "--max-message", 200_000, code=0)
    assert "2 frames" in large.out
    assert "--max-message" not in large.out


def test_a_cut_frame_says_how_many_bytes_it_needs(wireproof: Command, tmp_path: Path) -> None:
    path = tmp_path / "cut.heka"
    path.write_bytes(FRAMES[0] + FRAMES[1][:-2])
    done = wireproof("explain", path, code=1)
    size = len(FRAMES[1])
    assert f"the file ends within an entry, {size - 2} of {size} bytes of it" in done.out


def test_garbage_that_is_no_frame_is_not_scanned_again_as_a_compressed_one(
    wireproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entry_list, "read_by_other_options", lambda *_: pytest.fail("a scan of all of it"))
    path = tmp_path / "garbage.heka"
    path.write_bytes(FRAMES[0] + b"\x1e" * 900 + FRAMES[1])
    assert "2 frames" in wireproof("explain", path, code=1).out


def test_a_message_without_a_frame_is_read(wireproof: Command) -> None:
    done = wireproof("explain", FRAMES[0][5:].hex(), code=0)
    assert "as heka.message/0.10: accepted" in done.out
    assert "= 'one'" in done.out


def test_readers_of_heka_are_compared_on_request(wireproof: Command, tmp_path: Path) -> None:
    path = tmp_path / "stream.heka"
    path.write_bytes(b"".join(FRAMES) + b"BOGUS")
    done = wireproof("explain", path, "--resync", "strict", "--resync", "go", "--resync", "c", code=0)
    assert "strict: 4 items" in done.out
    assert "go and c differ at 0 places, 0 bytes" in done.out
    refused = wireproof("explain", path, "--resync", "go", "--format", "kafka.log")
    assert "--resync is for heka.stream: " in refused.one_line()


GROUP_KEY = bytes.fromhex("0002001067726f75702d6c696272646b61666b61")
GROUP_VALUE = bytes.fromhex("0003000000000000ffffffff000001a2085f321c00000000")
"""A record that a broker of Kafka 4.4 wrote for a group without members."""


def test_records_of_kafkas_own_topics_are_decoded_by_the_name_of_their_folder(
    tmp_path: Path, wireproof: Command
) -> None:
    body = b"\0\0\0" + logs.varint(len(GROUP_KEY)) + GROUP_KEY + logs.varint(len(GROUP_VALUE)) + GROUP_VALUE
    data = kafka_bytes.batch(logs.varint(len(body) + 1) + body + b"\0")
    for folder, is_known in (("__consumer_offsets-12", True), ("orders-0", False)):
        path = tmp_path / folder / NAME
        path.parent.mkdir()
        path.write_bytes(data)
        text = wireproof("explain", path, "--records").out
        known = '= {"name":"GroupMetadata","type":2,"version":3,"key":{"group":"group-librdkafka"}'
        assert (known in text) == is_known
        _, record, _ = trees(wireproof("explain", path, "--records", "--json").out)
        assert ("meaning" in record) == is_known


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
    done = wireproof("explain", path, "--at", at, "--format", "kafka.log/mixed", "--json", code=0)
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
    done = wireproof("explain", path, "--at", "1155", "--limit", "1", code=1)
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


def test_headers_alone_are_for_logs_of_kafka(wireproof: Command, tmp_path: Path) -> None:
    path = tmp_path / "stream"
    path.write_bytes(HEKA_FRAME * 3)
    done = wireproof("explain", "--headers", "--format", "heka.stream/0.10", path, code=2)
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
    assert together.out == wireproof("explain", path, *options, "--limit", 1000).out
    assert together.out.count("  wrong: offsets-not-monotonic at ") == 3
    assert len(rows(together.out)) == 14 + len(order)
