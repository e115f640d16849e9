"""`explain` of streams: a summary, a line for each entry, records and fields; Kafka and Heka in its forms."""

import re
from pathlib import Path

import kafka_bytes
import logs
import pytest
from command_line import Command
from explain_runs import LEGACY, NAME, SEGMENT, rows, trees

from wireproof.inspect import entry_list

# --- the summary and the entries ---


def test_a_summary_comes_first_and_then_a_line_for_each_batch(wireproof: Command) -> None:
    done = wireproof("explain", SEGMENT)
    assert done.code == 0
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
    done = wireproof("explain", LEGACY, "--json", "--records")
    assert done.code == 0
    *parts, last = trees(done.out)
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
    done = wireproof("explain", damaged.hex())
    assert done.code == 1
    assert f"wrong: bytes {size} to {2 * size}, entry 1: crc-mismatch at {size + 17}" in done.out
    assert rows(done.out)[1].startswith(
        f"{size:>12} {size:>9}  garbage: crc-mismatch at {size + 17} (batches[1].crc)"
    )
    *_, last = trees(wireproof("explain", damaged.hex(), "--json").out)
    assert [(one["class"], one["position"], one["end"]) for one in last["wrong"]] == [
        ("crc-mismatch", size, 2 * size)
    ]


# --- healthy data ---


# --- Heka ---

FRAMES = [logs.heka_frame(payload) for payload in (b"one", b"two", b"three")]


def test_a_stream_of_plain_and_compressed_frames_is_read(wireproof: Command, tmp_path: Path) -> None:
    path = tmp_path / "mixed.heka"
    path.write_bytes(
        FRAMES[0] + logs.snappy_heka_frame(b"packed" * 5) + FRAMES[1] + logs.snappy_heka_frame(b"again" * 5)
    )
    done = wireproof("explain", path, "--records")
    assert done.code == 0
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
    done = wireproof("explain", path)
    assert done.code == 1
    assert "9 frames" in done.out
    assert "wrong: bytes 0 to " in done.out


def test_a_large_frame_is_read_if_the_limit_is_raised(wireproof: Command, tmp_path: Path) -> None:
    payload = b"x" * 100_000
    body = b"\x0a\x10" + bytes(16) + b"\x10\x05\x32" + b"\xa0\x8d\x06" + payload
    header = b"\x08" + bytes([len(body) & 127 | 128, len(body) >> 7 & 127 | 128, len(body) >> 14])
    path = tmp_path / "large.heka"
    path.write_bytes(b"\x1e" + bytes([len(header)]) + header + b"\x1f" + body + FRAMES[0])
    small = wireproof("explain", path)
    assert small.code == 1
    assert "limit-exceeded" in small.out
    assert "what to do: --max-message BYTES raises the greatest size of an entry" in small.out
    large = wireproof("explain", path, "--max-message", 200_000)
    assert large.code == 0
    assert "2 frames" in large.out
    assert "--max-message" not in large.out


def test_a_cut_frame_says_how_many_bytes_it_needs(wireproof: Command, tmp_path: Path) -> None:
    path = tmp_path / "cut.heka"
    path.write_bytes(FRAMES[0] + FRAMES[1][:-2])
    done = wireproof("explain", path)
    assert done.code == 1
    size = len(FRAMES[1])
    assert f"the file ends within an entry, {size - 2} of {size} bytes of it" in done.out


def test_garbage_that_is_no_frame_is_not_scanned_again_as_a_compressed_one(
    wireproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entry_list, "_only_frame", lambda *_: pytest.fail("a scan of all the garbage"))
    path = tmp_path / "garbage.heka"
    path.write_bytes(FRAMES[0] + b"\x1e" * 900 + FRAMES[1])
    done = wireproof("explain", path)
    assert done.code == 1
    assert "2 frames" in done.out


def test_a_message_without_a_frame_is_read(wireproof: Command) -> None:
    done = wireproof("explain", FRAMES[0][5:].hex())
    assert done.code == 0
    assert "as heka.message/0.10: accepted" in done.out
    assert "= 'one'" in done.out


def test_readers_of_heka_are_compared_on_request(wireproof: Command, tmp_path: Path) -> None:
    path = tmp_path / "stream.heka"
    path.write_bytes(b"".join(FRAMES) + b"BOGUS")
    done = wireproof("explain", path, "--resync", "strict", "--resync", "go", "--resync", "c")
    assert done.code == 0
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
