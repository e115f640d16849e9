"""`explain` of folders, of any size and of any input."""

import json
import os
import random
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import damaged_logs
import kafka_bytes
import logs
import pytest
import zstandard
from command_line import Command
from explain_runs import MIB, MOST_MIB, NAME, memory_mib, rows

from wireproof.inspect import entry_list, open_input
from wireproof.wire import byte_source
from wireproof.wire.byte_source import read_at


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A data directory with one partition."""
    folder = tmp_path / "kafka" / "t-0"
    folder.mkdir(parents=True)
    (folder / f"{0:020}.log").write_bytes(kafka_bytes.batch())
    (folder / "partition.metadata").write_text("version: 0\ntopic_id: MtrD63xeQ2STCZQF3Qe6Bg")
    (folder / f"{15:020}.snapshot").write_bytes(kafka_bytes.SNAPSHOT)
    return tmp_path / "kafka"


def test_a_folder_is_explained_as_a_tree(directory: Path, wireproof: Command) -> None:
    done = wireproof("explain", directory, code=0)
    assert [line.split()[0] for line in done.out.splitlines()] == [
        "./", "t-0/", f"{0:020}.log", f"{15:020}.snapshot", "partition.metadata", "partition", "note:",
        "what", "3",
    ]  # fmt: skip
    assert "bytes named (100 %), 0 damaged" in done.out


def test_a_folder_as_json_is_one_object_a_line(directory: Path, wireproof: Command) -> None:
    rows = [json.loads(line) for line in wireproof("explain", "--json", directory).out.splitlines()]
    assert rows[0]["kind"] == "log segment"
    assert (rows[-1]["type"], rows[-1]["unknown"]) == ("totals", [])


def test_a_folder_without_files_is_a_usage_error(tmp_path: Path, wireproof: Command) -> None:
    assert "has no files" in wireproof("explain", tmp_path, code=2).one_line()


def test_a_folder_of_which_nothing_is_known_has_exit_code_2(tmp_path: Path, wireproof: Command) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    assert "not known: notes.txt: 4 bytes" in wireproof("explain", tmp_path, code=2).out


def test_a_producer_snapshot_is_shown_with_its_producers(directory: Path, wireproof: Command) -> None:
    done = wireproof("explain", directory / "t-0" / f"{15:020}.snapshot", code=0)
    assert done.out.splitlines()[0] == (
        "102 bytes as producer snapshot of Kafka: 2 producers, 1 with an open transaction"
    )
    assert "producerId 100, producerEpoch 0, lastSequence 4, lastOffset 14, offsetDelta 4" in done.out


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("leader-epoch-checkpoint", b"0\n2\n1 0\n1 7\n", "epoch 1 is not above 1"),
        ("meta.properties", b"version=1\nnode.id=1\n", "cluster.id is missing"),
        ("quorum-state", b"{}", "data_version None"),
        (f"{9:020}.snapshot", struct.pack(">hIi", 1, 1, 0), "crc: 00000001 stored"),
        ("offsets/consumers/1", b"\1", "1 byte; an offset has 8"),
    ],
)
def test_a_damaged_file_beside_a_log_is_named_and_not_taken_for_something_else(
    name: str, data: bytes, said: str, tmp_path: Path, wireproof: Command
) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    done = wireproof("explain", path, code=1)
    assert said in done.out
    assert "iggy.frame" not in done.out


def test_what_is_wrong_comes_first_with_one_line_for_an_index_and_one_cause_for_its_entries(
    tmp_path: Path, wireproof: Command
) -> None:
    folder = tmp_path / "t-0"
    folder.mkdir()
    parts = [bytearray(kafka_bytes.batch(base=base)) for base in range(200)]
    size = len(parts[0])
    index = b"".join(struct.pack(">ii", number, number * size + 1) for number in range(1, 150))
    (folder / f"{0:020}.index").write_bytes(index)
    parts[160][-2] ^= 1
    (folder / f"{0:020}.log").write_bytes(b"".join(parts))
    for source in (tmp_path, folder / f"{0:020}.log"):
        done = wireproof("explain", source, code=1)
        (line,) = (one for one in done.out.splitlines() if f"{0:020}.index: " in one)
        assert (
            f"wrong: at 4: no entry of the log begins at position {size + 1} (and 148 more like it)" in line
        )
    lines = wireproof("explain", tmp_path).out.splitlines()
    assert lines.index("./") == next(n for n, one in enumerate(lines) if not one.startswith((" ", "t-0/0")))
    assert f"    lost: bytes {160 * size} to {161 * size}, offset 160, 1 record" in "\n".join(lines)
    assert lines[-1] == "2 causes of what misleads a reader, in 2 files and partitions"
    (totals,) = (
        json.loads(one)
        for one in wireproof("explain", "--json", tmp_path).out.splitlines()
        if '"totals"' in one[:20]
    )
    assert totals["errors"] == 2


def test_zeros_before_the_next_segment_are_lost_records(tmp_path: Path, wireproof: Command) -> None:
    """At the end of the last segment they may be allocated in advance; here the next file says otherwise."""
    folder = tmp_path / "t-0"
    folder.mkdir()
    first = b"".join(kafka_bytes.batch(base=base) for base in range(5))
    (folder / f"{0:020}.log").write_bytes(first + bytes(300))
    (folder / f"{9:020}.log").write_bytes(kafka_bytes.batch(base=9))
    for source in (tmp_path, folder / f"{0:020}.log"):
        done = wireproof("explain", source, code=1)
        assert f"wrong: bytes {len(first)} to {len(first) + 300}" in done.out
        assert f"lost: bytes {len(first)} to {len(first) + 300}, offsets 5 to 8, 4 records" in done.out
    (folder / f"{9:020}.log").unlink()
    assert wireproof("explain", tmp_path).code == 0


def test_a_terminal_shows_how_far_it_has_read_and_a_pipe_does_not(tmp_path: Path) -> None:
    pty = pytest.importorskip("pty", reason="this system has no pseudo-terminals")
    folder = tmp_path / "t-0"
    folder.mkdir()
    batch = kafka_bytes.batch(b"".join([kafka_bytes.PLAIN] * 20000), 20000)
    parts = [struct.pack(">q", 20000 * number) + batch[8:] for number in range(8)]
    (folder / f"{0:020}.log").write_bytes(b"".join(parts))
    command = [sys.executable, "-m", "wireproof", "explain", str(tmp_path)]
    piped = subprocess.run(command, capture_output=True, check=False)
    assert piped.stderr == b""
    shown, terminal = pty.openpty()
    try:
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=terminal, env={**os.environ, "TERM": "xterm"}
        ) as run:
            os.close(terminal)
            read: list[bytes] = []
            reader = threading.Thread(target=lambda: read.extend(_pieces(shown)))
            reader.start()
            assert run.stdout.read() == piped.stdout
            reader.join(60)
    finally:
        os.close(shown)
    assert b"MiB, t-0/" in b"".join(read)


def _pieces(descriptor: int) -> Iterator[bytes]:
    try:
        while piece := os.read(descriptor, 4096):
            yield piece
    except OSError:  # the other end of a pseudo-terminal is closed
        return


def test_one_line_names_the_extra_that_would_be_faster(
    directory: Path, wireproof: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "pip install" not in wireproof("explain", directory).err
    monkeypatch.setattr(entry_list, "is_fast_installed", lambda: False)
    assert "pip install" not in wireproof("explain", directory).err
    monkeypatch.setattr(entry_list, "HINTED_FROM", 1)
    assert wireproof("explain", directory).err.count("pip install") == 1


# --- bounded memory, one line for what is wrong, partial results kept ---


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
    like = {noise: "", zeros: "they look like zeros; ", separators: "they look like the byte 1e, repeated; "}
    for path, text in like.items():
        done = wireproof("explain", path)
        assert (done.code, done.out) == (2, "")
        assert f"{path.stat().st_size} bytes: no format fits; {text}if they belong" in done.one_line()


def test_the_holes_of_a_sparse_file_are_passed_over_and_not_read(
    tmp_path: Path, wireproof: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / NAME
    with path.open("wb") as file:
        file.write(logs.batch(b"one", 0))
        file.truncate(64 * MIB)
    if path.stat().st_blocks * 512 > 32 * MIB:
        pytest.skip("this file system has no holes")
    read: list[int] = []
    monkeypatch.setattr(byte_source, "read_at", lambda *place: read.append(place[1]) or read_at(*place))
    assert "1 record in" in wireproof("explain", path).out
    assert sum(read) < 8 * MIB


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
        done = wireproof("explain", path, code=bool(more))
        assert len(rows(done.out)) in (3, 4, 5)
        said = (
            "zeros; a segment that is allocated in advance has them" if more else "zeros: allocated, and not"
        )
        assert said in done.out
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


LONG = b"".join(logs.batch(bytes(40_000 + n), n) for n in range(60))


def shrinks(monkeypatch: pytest.MonkeyPatch, call: str, path: Path, data: bytes, after: int) -> None:
    """Write a file that loses its second half at the first read behind a position."""
    becomes(monkeypatch, call, path, [data, data[: len(data) // 2]], after)


def becomes(
    monkeypatch: pytest.MonkeyPatch, call: str, path: Path, data: Sequence[bytes], after: int
) -> None:
    """Write a file whose bytes are others from the first read behind a position on."""
    path.write_bytes(data[0])
    read = getattr(os, call)

    def changed(descriptor: int, room: Any, at: int) -> Any:
        if at > after and path.stat().st_size != len(data[1]):
            path.write_bytes(data[1])
        return read(descriptor, room, at)

    monkeypatch.setattr(f"wireproof.wire.byte_source.os.{call}", changed)


@pytest.mark.parametrize("more", [[], ["--headers"]], ids=["records", "headers"])
def test_a_segment_that_grows_while_it_is_read_is_what_it_was_at_first(
    tmp_path: Path, wireproof: Command, monkeypatch: pytest.MonkeyPatch, more: list[str]
) -> None:
    path = tmp_path / "t-0" / NAME
    path.parent.mkdir()
    first = LONG[: -len(logs.batch(b"last", 60)) // 2]
    for place in (path, tmp_path):
        with monkeypatch.context() as patch:
            for call in ("pread", "preadv"):
                becomes(patch, call, path, [first, LONG], 0)
            grown = wireproof("explain", place, *more)
        assert path.stat().st_size == len(LONG)
        path.write_bytes(first)
        assert grown == wireproof("explain", place, *more), place


def test_a_log_of_many_small_entries_takes_bounded_memory(tmp_path: Path) -> None:
    path = tmp_path / NAME
    with path.open("wb") as file:
        for offset in range(300_000):
            file.write(offset.to_bytes(8) + SMALL)
    for more in ([], ["--headers"]):
        peak, out = memory_mib(path, "--limit", 3, *more)
        assert "300000 batches" in out
        assert peak < MOST_MIB


SMALL = logs.batch(b"", 0)[8:]
"""An entry of 68 bytes, without its offset, which no checksum covers."""


@pytest.mark.parametrize(
    ("fast", "call", "after"),
    [(False, "pread", len(LONG) // 2), (True, "preadv", 0)],
    ids=["reference", "fast"],
)
def test_a_file_that_shrinks_while_it_is_read_keeps_what_was_read(
    tmp_path: Path, wireproof: Command, monkeypatch: pytest.MonkeyPatch, *, fast: bool, call: str, after: int
) -> None:
    if fast:
        pytest.importorskip("numba")
    else:
        monkeypatch.setattr("wireproof.inspect.entry_list.is_fast_installed", lambda: False)
    path = tmp_path / NAME
    shrinks(monkeypatch, call, path, LONG, after)
    done = wireproof("explain", path, code=1)
    (line,) = [line for line in done.out.splitlines() if "shrank" in line]
    assert line == f"wrong: the file shrank from {len(LONG)} to {len(LONG) // 2} bytes while it was read"
    assert 10 < len(rows(done.out)) < 40


def test_a_file_of_a_folder_that_shrinks_is_one_finding_and_the_others_are_read(
    tmp_path: Path, wireproof: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t-0" / NAME
    path.parent.mkdir()
    path.with_name("partition.metadata").write_text("version: 0\ntopic_id: MtrD63xeQ2STCZQF3Qe6Bg")
    shrinks(monkeypatch, "preadv", path, LONG, 0)
    done = wireproof("explain", tmp_path, code=1)
    (line,) = [line for line in done.out.splitlines() if "shrank" in line]
    assert line.strip().startswith(f"wrong: the file shrank from {len(LONG)} to ")
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
    done = wireproof("explain", path, code=1)
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
        "import sys; from wireproof import cli; from wireproof.inspect import open_input; "
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
