"""The data directory of a running Iggy server 0.5.0: nothing is wrong with it, and every edit is found."""

from pathlib import Path

import pytest

from wireproof.runner.data_directory import DirectoryTotals, FolderReport, read_directory

PARTITION = "streams/1/topics/1/partitions/1"
NAME = f"{0:020}"

WRITTEN = {
    f"{PARTITION}/{NAME}.log": (
        "70e79a2b0000000001a2093126927443aed3e954e123c8d20000000000000000aeabfee7f3600600d4a9fee7f36006000000"
        "0000030000006f6e6598d43cd50000000001a2093126927443aed3e9645c0c11820100000000000000aeabfee7f3600600de"
        "a9fee7f3600600000000000700000074776f20e282ac5e8d1b420000000001a2093126927443aed3e974e7f2875002000000"
        "00000000c5adfee7f360060005adfee7f360060000000000050000007468726565"
    ),
    f"{PARTITION}/{NAME}.index": (
        "000000003b000000aeabfee7f3600600010000007a000000aeabfee7f360060002000000b7000000c5adfee7f3600600"
    ),
    f"{PARTITION}/offsets/consumers/1": "0100000000000000",
    "state/info": "05302e352e30133334373639303035363738373838313131313900",
}
"""Three messages in two sends, polled by a consumer that committed offset 1."""


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    for name, data in WRITTEN.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes.fromhex(data))
    return tmp_path


def wrong_files(root: Path) -> tuple[set[str], DirectoryTotals]:
    """The files with an error, and the totals."""
    totals = DirectoryTotals()
    folders = [event for event in read_directory(root, totals) if isinstance(event, FolderReport)]
    return {one.file.name for folder in folders for one in folder.files if one.report.errors}, totals


def test_every_byte_of_a_server_is_named_and_nothing_is_wrong(directory: Path) -> None:
    wrong, totals = wrong_files(directory)
    assert (wrong, totals.errors, totals.unknown) == (set(), 0, [])
    assert totals.named == totals.size == sum(len(data) // 2 for data in WRITTEN.values())
    (partition,) = (
        event.partition
        for event in read_directory(directory, DirectoryTotals())
        if isinstance(event, FolderReport) and event.partition
    )
    assert partition.summary == "1 segment, offsets 0 to 2"


@pytest.mark.parametrize("ending", [".log", ".index"])
def test_an_edit_of_a_segment_or_its_index_is_found_in_its_file(directory: Path, ending: str) -> None:
    path = directory / PARTITION / f"{NAME}{ending}"
    data = path.read_bytes()
    for at in range(0, len(data), 3):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :])
        wrong, totals = wrong_files(directory)
        assert f"{PARTITION}/{NAME}{ending}" in wrong, at
        assert totals.errors


def test_an_offset_behind_the_last_message_is_found(directory: Path) -> None:
    path = directory / PARTITION / "offsets/consumers/1"
    path.write_bytes((3).to_bytes(8, "little"))
    assert wrong_files(directory)[1].errors == 1
