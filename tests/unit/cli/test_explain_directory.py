"""`explain` of a folder, and of a file of a data directory that is no log, from the command line."""

import json
import struct
from pathlib import Path

import kafka_bytes
import pytest
from command_line import Command

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
        ("offsets/consumers/1", b"\1", "1 bytes; an offset has 8"),
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
