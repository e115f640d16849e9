"""`explain` of streams: a summary, a line for each entry, and bounded memory whatever the input is."""

import itertools
import json
import os
import random
import re
import struct
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import cramjam
import damaged_logs
import iggy_segments
import kafka_bytes
import logs
import pytest
import zstandard
from command_line import Command
from folders import SUPPORT

from wireproof.cases.byte_source import FileSource
from wireproof.runner import listing_begin, open_input

NAME = "00000000000000000000.log"
SEGMENT = SUPPORT / "segments" / "compacted" / NAME
LEGACY = SUPPORT / "segments" / "legacy" / "00000000000000001000.log"
MIB = 1 << 20
MOST_MIB = 300
"""Memory of a whole run, in MiB."""


MEASURED = """
import sys
from wireproof import cli
sys.argv = ["wireproof", *sys.argv[1:]]
try:
    cli.main()
finally:
    status = open("/proc/self/status").read()
    print(int(status.split("VmHWM:")[1].split()[0]) // 1024, file=sys.stderr)
"""
"""A run that prints its own peak of memory last; `ru_maxrss` would include the process that started it."""


def rows(out: str) -> list[str]:
    """The lines of the entries."""
    return [line for line in out.splitlines() if re.match(r" *\d+ +\d+  ", line)]


def trees(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def memory_mib(*arguments: object) -> tuple[int, str]:
    """The memory of a run as a process of its own, and what it printed."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, "explain", *map(str, arguments)],
        capture_output=True, check=False, timeout=120, text=True,
    )  # fmt: skip
    *messages, peak = done.stderr.splitlines()
    return int(peak), done.stdout + "\n".join(messages)


# --- the summary and the entries ---


def test_a_summary_comes_first_and_then_a_line_for_each_batch(wireproof: Command) -> None:
    done = wireproof("explain", SEGMENT)
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0] == f"{SEGMENT.stat().st_size} bytes as kafka.log/mixed: accepted, 1543 bytes"
    assert lines[1:3] == ["16 records in 14 batches (14 of v2)", "offsets 8 to 51, next 52"]
    assert "codecs: none 7, lz4 5, gzip 1, snappy 1" in lines
    assert "producers with an id: 7, ABORT 3, COMMIT 3" in lines
    at = lines.index("remarks: no damage, but places where the format leaves the answer open")
    assert lines[at + 1].startswith("remark producer-fields, 4 times, first at 869 (batches[8].producerId): ")
    assert len(rows(done.out)) == 14
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


def test_a_cut_segment_of_any_length_has_its_entries_and_a_tail(wireproof: Command, tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_bytes(damaged_logs.kafka()[:-3])
    done = wireproof("explain", path, "--limit", 1)
    assert done.code == 1
    assert "the file ends within an entry" in done.out
    assert f"… {damaged_logs.BATCHES - 1} more batches are not listed" in done.out


# --- Heka ---

FRAMES = [logs.heka_frame(payload) for payload in (b"one", b"two", b"three")]


def snappy_frame(payload: bytes) -> bytes:
    """A frame whose message is compressed, as in Mozilla's archives: heka.md §5."""
    message = logs.heka_frame(payload)[5:]
    packed = bytes(cramjam.snappy.compress_raw(message))
    return b"\x1e\x02\x08" + bytes([len(packed)]) + b"\x1f" + packed


def test_a_stream_of_plain_and_compressed_frames_is_read(wireproof: Command, tmp_path: Path) -> None:
    path = tmp_path / "mixed.heka"
    path.write_bytes(FRAMES[0] + snappy_frame(b"packed" * 5) + FRAMES[1] + snappy_frame(b"again" * 5))
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
    large = wireproof("explain", path, "--max-message", 200_000)
    assert large.code == 0
    assert "2 frames" in large.out


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


# --- any size, any input ---


def test_a_large_log_takes_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / NAME
    rng = random.Random(1)
    values = [rng.randbytes(50_000) for _ in range(20)]
    with path.open("wb") as file:
        for offset in range(2600):
            file.write(logs.batch(values[offset % 20], offset))
    peak, out = memory_mib(path, "--limit", 3)
    assert "2600 records in 2600 batches" in out
    assert peak < MOST_MIB


def test_noise_and_a_sparse_file_and_separators_are_one_line(tmp_path: Path, wireproof: Command) -> None:
    noise, zeros, separators = (tmp_path / name for name in ("noise", "zeros", "separators"))
    noise.write_bytes(random.Random(2).randbytes(8 * MIB))
    with zeros.open("wb") as file:
        file.truncate(64 * MIB)
    separators.write_bytes(b"\x1e" * 20 * MIB)
    for path in (noise, zeros, separators):
        done = wireproof("explain", path)
        assert (done.code, done.out) == (2, "")
        assert f"{path.stat().st_size} bytes: no format fits" in done.one_line()


def test_the_zeros_of_a_segment_that_is_allocated_in_advance_are_passed_over(
    tmp_path: Path, wireproof: Command
) -> None:
    path = tmp_path / NAME
    data = logs.batch(b"one", 0) + logs.batch(b"two", 1)
    for more in (b"", logs.batch(b"three", 2)):
        with path.open("wb") as file:
            file.write(data)
            file.truncate(256 * MIB)
            file.seek(0, os.SEEK_END)
            file.write(more)
        done = wireproof("explain", path)
        assert done.code == 1
        assert len(rows(done.out)) in (3, 4, 5)
        assert "zeros; a segment that is allocated in advance has them" in done.out
        assert f"{2 + bool(more)} records in" in done.out


def test_a_record_that_claims_more_than_the_file_has_is_not_read_whole(tmp_path: Path) -> None:
    path = tmp_path / NAME
    path.write_bytes(damaged_logs.iggy("0.11"))
    with path.open("ab") as file:
        last = damaged_logs.iggy("0.11")[-400:]
        file.write(last)
        file.truncate(path.stat().st_size + 600 * MIB)
    peak, out = memory_mib(path, "--limit", 1, "--format", "iggy.log/0.11")
    assert "as iggy.log/0.11: damaged at" in out
    assert peak < MOST_MIB


def test_a_file_that_shrinks_while_it_is_read_keeps_what_was_read(
    tmp_path: Path, wireproof: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / NAME
    data = b"".join(logs.batch(bytes(40_000 + n), n) for n in range(60))
    path.write_bytes(data)
    monkeypatch.setattr("wireproof.runner.entry_list.is_fast_installed", lambda: False)
    read = os.pread

    def cut(descriptor: int, length: int, at: int) -> bytes:
        if at > len(data) // 2:
            os.truncate(path, len(data) // 2)
        return read(descriptor, length, at)

    monkeypatch.setattr("wireproof.cases.byte_source.os.pread", cut)
    done = wireproof("explain", path)
    assert done.code == 1
    (line,) = [line for line in done.out.splitlines() if "shrank" in line]
    assert line == f"wrong: the file shrank from {len(data)} to {len(data) // 2} bytes while it was read"
    assert 10 < len(rows(done.out)) < 40


def test_a_file_that_shrinks_under_the_fast_decoder_keeps_what_was_read(
    tmp_path: Path, wireproof: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numba")
    path = tmp_path / NAME
    data = b"".join(logs.batch(bytes(40_000 + n), n) for n in range(60))
    path.write_bytes(data)
    read = os.preadv

    def cut(descriptor: int, buffers: Any, at: int) -> int:
        if at:
            os.truncate(path, len(data) // 2)
        return read(descriptor, buffers, at)

    monkeypatch.setattr("wireproof.cases.byte_source.os.preadv", cut)
    done = wireproof("explain", path)
    assert done.code == 1
    (line,) = [line for line in done.out.splitlines() if "shrank" in line]
    assert line == f"wrong: the file shrank from {len(data)} to {len(data) // 2} bytes while it was read"
    assert 10 < len(rows(done.out)) < 40


def test_a_file_of_a_folder_that_shrinks_is_one_finding_and_the_others_are_read(
    tmp_path: Path, wireproof: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t-0" / NAME
    path.parent.mkdir()
    data = b"".join(logs.batch(bytes(40_000 + n), n) for n in range(60))
    path.write_bytes(data)
    path.with_name("partition.metadata").write_text("version: 0\ntopic_id: MtrD63xeQ2STCZQF3Qe6Bg")
    read = os.preadv

    def cut(descriptor: int, buffers: Any, at: int) -> int:
        if at:
            os.truncate(path, len(data) // 2)
        return read(descriptor, buffers, at)

    monkeypatch.setattr("wireproof.cases.byte_source.os.preadv", cut)
    done = wireproof("explain", tmp_path)
    assert done.code == 1
    (line,) = [line for line in done.out.splitlines() if "shrank" in line]
    assert line.strip().startswith(f"wrong: the file shrank from {len(data)} to ")
    assert "topic id: version 0" in done.out


def test_a_pipe_is_read_and_one_that_nobody_writes_to_is_empty(
    tmp_path: Path, wireproof: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_input, "FIRST_WAIT", 0.2)
    path = tmp_path / "pipe"
    os.mkfifo(path)
    assert "is empty: there is nothing to explain" in wireproof("explain", path).one_line()
    monkeypatch.setattr(open_input, "FIRST_WAIT", 30)
    writer = threading.Thread(target=path.write_bytes, args=(logs.batch(b"one", 0),))
    writer.start()
    done = wireproof("explain", path)
    writer.join()
    assert done.code == 0
    assert "71 bytes as kafka.batch/v2: accepted" in done.out


def test_a_bomb_ends_with_one_line_and_what_was_read_is_kept(
    tmp_path: Path, wireproof: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    import gzip  # noqa: PLC0415 - of this test alone

    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(logs.batch(b"one", 0) * 2 + bytes(64 * MIB)))
    monkeypatch.setattr(open_input, "MAX_COPIED", 4 * MIB)
    done = wireproof("explain", path)
    assert done.code == 1
    (line,) = [line for line in done.out.splitlines() if "is larger than" in line]
    assert line == f"wrong: what is compressed with gzip is larger than {4 * MIB} bytes; the rest is not read"


def test_a_bomb_takes_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zst"
    path.write_bytes(zstandard.compress(logs.batch(b"one", 0) * 2 + bytes(256 * MIB)))
    assert path.stat().st_size < MIB
    peak, out = memory_mib(path)
    assert "(unpacked from zstd) as kafka.log/mixed: damaged at 1 place: 2 entries are sound" in out
    assert peak < MOST_MIB


def test_a_pipe_that_does_not_end_takes_bounded_memory_and_what_was_read_is_kept() -> None:
    script = (
        "import sys; from wireproof import cli; from wireproof.runner import open_input; "
        f"open_input.MAX_COPIED = {8 * MIB}; "
        "sys.argv = ['wireproof', 'explain', '-', '--limit', '1']; cli.main()"
    )
    writer = f"import sys\nwhile 1: sys.stdout.buffer.write({logs.batch(b'one', 0)!r} * 1000)"
    with subprocess.Popen([sys.executable, "-c", writer], stdout=subprocess.PIPE) as endless:
        done = subprocess.run(
            [sys.executable, "-c", script],
            stdin=endless.stdout, capture_output=True, check=False, timeout=120, text=True,
        )  # fmt: skip
        endless.kill()
    assert done.returncode == 1
    (line,) = [line for line in done.stdout.splitlines() if "is larger than" in line]
    assert line == f"wrong: the input is larger than {8 * MIB} bytes; the rest is not read"
    assert len(rows(done.stdout)) == 1


@pytest.mark.largest
def test_two_gigabytes_that_are_not_written_take_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / "t-0" / NAME
    path.parent.mkdir()
    with path.open("wb") as file:
        file.truncate(2 << 30)
    peak, out = memory_mib(path)
    assert "2147483648 bytes: no format fits; they look like zeros" in out
    assert peak < MOST_MIB
    peak, out = memory_mib(tmp_path)
    assert "2147483648 bytes are allocated and not written yet" in out
    assert peak < MOST_MIB


def test_many_records_take_no_line_each(tmp_path: Path, wireproof: Command) -> None:
    path = tmp_path / "many"
    path.write_bytes(damaged_logs.kafka())
    out = wireproof("explain", path).out
    assert len(out.splitlines()) < damaged_logs.BATCHES + 12


def test_text_files_are_named_and_not_read(wireproof: Command) -> None:
    done = wireproof("explain", "/etc/passwd")
    assert done.code == 2
    assert "they look like text" in done.one_line()


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
    done = wireproof("explain", path, "--at", place.format(positions[150]), "--format", "kafka.log/mixed")
    assert done.code == 0
    assert [int(row.split()[0]) for row in rows(done.out)] == positions[150:]
    (line,) = [line for line in done.out.splitlines() if "passed over" in line]
    assert line.startswith(f"read from position {positions[150]} on; ")
    assert f"accepted, {path.stat().st_size - positions[150]} bytes" in done.out
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


def test_an_offset_after_the_end_lists_nothing_and_says_so(wireproof: Command, tmp_path: Path) -> None:
    path, positions = indexed_log(tmp_path, 160)
    done = wireproof("explain", path, "--at", "5000")
    assert (done.code, rows(done.out)) == (0, [])
    assert f"read from position {positions[159]} on" in done.out


@pytest.mark.parametrize("revision", ["0.0.30", "0.2.7", "0.7", "0.11"])
def test_records_of_iggy_are_passed_over_by_their_sizes(
    wireproof: Command, tmp_path: Path, revision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listing_begin, "PASSED_FROM", 1)
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
