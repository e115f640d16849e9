"""`explain` of a folder, and of a file of a data directory that is no log, from the command line."""

import json
import os
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import kafka_bytes
import pytest
from command_line import Command

from wireproof.inspect import entry_list

SNAPSHOT = bytes.fromhex(
    "0001246e333e00000002"
    "0000000000000063000000000004000000000000000900000004000001977421b6c3ffffffffffffffffffffffff"
    "00000000000000640000000000040000000000"
    "00000e00000004000001977421baabffffffff000000000000000a"
)
"""A snapshot that a broker of Kafka 4.4 wrote."""


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """A data directory with one partition."""
    folder = tmp_path / "kafka" / "t-0"
    folder.mkdir(parents=True)
    (folder / f"{0:020}.log").write_bytes(kafka_bytes.batch())
    (folder / "partition.metadata").write_text("version: 0\ntopic_id: MtrD63xeQ2STCZQF3Qe6Bg")
    (folder / f"{15:020}.snapshot").write_bytes(SNAPSHOT)
    return tmp_path / "kafka"


def test_a_folder_is_explained_as_a_tree(directory: Path, wireproof: Command) -> None:
    done = wireproof("explain", directory)
    assert done.code == 0
    assert [line.split()[0] for line in done.out.splitlines()] == [
        "./", "t-0/", f"{0:020}.log", f"{15:020}.snapshot", "partition.metadata", "partition", "note:",
        "what", "3",
    ]  # fmt: skip
    assert "bytes named (100 %), 0 damaged" in done.out


def test_a_folder_as_json_is_one_object_a_line(directory: Path, wireproof: Command) -> None:
    done = wireproof("explain", "--json", directory)
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert rows[0]["kind"] == "log segment"
    assert (rows[-1]["type"], rows[-1]["unknown"]) == ("totals", [])


def test_a_folder_without_files_is_a_usage_error(tmp_path: Path, wireproof: Command) -> None:
    done = wireproof("explain", tmp_path)
    assert done.code == 2
    assert "has no files" in done.one_line()


def test_a_folder_of_which_nothing_is_known_has_exit_code_2(tmp_path: Path, wireproof: Command) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    done = wireproof("explain", tmp_path)
    assert done.code == 2
    assert "not known: notes.txt: 4 bytes" in done.out


def test_a_producer_snapshot_is_shown_with_its_producers(directory: Path, wireproof: Command) -> None:
    done = wireproof("explain", directory / "t-0" / f"{15:020}.snapshot")
    assert done.code == 0
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
    done = wireproof("explain", path)
    assert done.code == 1
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
        done = wireproof("explain", source)
        assert done.code == 1
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
        done = wireproof("explain", source)
        assert done.code == 1
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
            assert run.stdout is not None
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
