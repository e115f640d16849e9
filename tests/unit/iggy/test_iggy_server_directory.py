"""Data directories of running Iggy servers 0.4.300 and 0.5.0: nothing is wrong, and edits are found."""

from pathlib import Path

import damaged_logs
import iggy_segments
import pytest
from attrs import frozen
from command_line import Command

from wireproof import formats
from wireproof.inspect.data_directory import DirectoryTotals, FolderReport, read_directory

PARTITION = "streams/1/topics/1/partitions/1"
NAME = f"{0:020}"
LOG, INDEX = f"{PARTITION}/{NAME}.log", f"{PARTITION}/{NAME}.index"
CONSUMER = f"{PARTITION}/offsets/consumers/1"


@frozen
class ServerDirectory:
    """The files of a server as hex, and the bytes of its segment that nothing covers or repeats."""

    files: dict[str, str]
    unprotected: frozenset[int] = frozenset()


SERVER_0_5 = ServerDirectory(
    {
        LOG: (
            "70e79a2b0000000001a2093126927443aed3e954e123c8d20000000000000000aeabfee7f3600600d4a9fee7f36006000000"
            "0000030000006f6e6598d43cd50000000001a2093126927443aed3e9645c0c11820100000000000000aeabfee7f3600600de"
            "a9fee7f3600600000000000700000074776f20e282ac5e8d1b420000000001a2093126927443aed3e974e7f2875002000000"
            "00000000c5adfee7f360060005adfee7f360060000000000050000007468726565"
        ),
        INDEX: (
            "000000003b000000aeabfee7f3600600010000007a000000aeabfee7f360060002000000b7000000c5adfee7f3600600"
        ),
        CONSUMER: "0100000000000000",
        "state/info": "05302e352e30133334373639303035363738373838313131313900",
    }
)
"""Three messages in two sends, polled by a consumer that committed offset 1."""

SERVER_0_4 = ServerDirectory(
    {
        LOG: (
            "000000000000000080000000010000005251250af76006002c0000000000000000000000014a51250af760060001000000000"
            "000000000000000000000f1866c7a000000006f6e654c0000000100000000000000015251250af76006000200000000000000"
            "000000000000000059488f541c000000010000006e0604000000f9ffffff010000006b02040000007465787474776f20e282a"
            "c00000000000000003200000002000000d252250af76006002e000000020000000000000001d252250af76006000300000000"
            "0000000000000000000000f5d8c546000000007468726565"
        ),
        INDEX: "01000000000000005251250af76006000200000098000000d252250af7600600",
        CONSUMER: "0100000000000000",
        "state/info": "07302e342e333030133334373639303035363738373838313131313900",
        "state/log": (
            "0000000000000000000000000000000000000000cc100000000000000000000076e5f709f7600600000000001b60514a0000"
            "0000210000005b000000010000005300000004696767793c2432622430342458566649377033686d76505a496d464168596c"
            "51534f74512f686c5a41364c456a546d5a37516f69354b6f504948646c726a31376501010b00000001010101010101010101"
            "000100000000000000000000000000000000000000cc10000000000000000000006e0e240af760060001000000199543f900"
            "000000ca0000000e00000001000000060000000100000001730200000000000000000000000000000000000000cc10000000"
            "000000000000002b27250af76006000100000098febe84000000002e0100002a000000010000002200000001040100000001"
            "0000000100000001ffffffffffffffffffffffffffffffff010174"
        ),
    },
    unprotected=frozenset(
        at
        for message, headers, is_last in ((24, 0, False), (72, 28, True), (176, 0, True))
        for at in (
            message + 12,  # state
            *(() if is_last else range(message + 13, message + 21)),  # timestamp
            *range(message + 21, message + 37),  # id
            *range(message + 45, message + 45 + headers),
        )
    ),
)
"""The same messages, of which the second one has two headers; written by server 0.4.300."""

DIRECTORIES = {"server 0.4.300": SERVER_0_4, "server 0.5.0": SERVER_0_5}


@pytest.fixture(params=DIRECTORIES)
def server(request: pytest.FixtureRequest) -> ServerDirectory:
    return DIRECTORIES[request.param]


@pytest.fixture
def directory(tmp_path: Path, server: ServerDirectory) -> Path:
    for name, data in server.files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes.fromhex(data))
    return tmp_path


def wrong_files(root: Path) -> tuple[set[str], DirectoryTotals]:
    """The files with an error, and the totals."""
    totals = DirectoryTotals()
    folders = [event for event in read_directory(root, totals) if isinstance(event, FolderReport)]
    return {one.file.name for folder in folders for one in folder.files if one.report.errors}, totals


def test_every_byte_of_a_server_is_named_and_nothing_is_wrong(
    directory: Path, server: ServerDirectory
) -> None:
    wrong, totals = wrong_files(directory)
    assert (wrong, totals.errors, totals.unknown) == (set(), 0, [])
    assert totals.named == totals.size == sum(len(data) // 2 for data in server.files.values())
    (partition,) = (
        event.partition
        for event in read_directory(directory, DirectoryTotals())
        if isinstance(event, FolderReport) and event.partition
    )
    assert partition.summary == "1 segment, offsets 0 to 2"


@pytest.mark.parametrize("name", [LOG, INDEX])
def test_an_edit_of_a_segment_or_its_index_is_found_in_its_file(
    directory: Path, server: ServerDirectory, name: str
) -> None:
    path = directory / name
    data = path.read_bytes()
    for at in range(len(data)):
        if name == LOG and at in server.unprotected:
            continue
        path.write_bytes(data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :])
        wrong, totals = wrong_files(directory)
        assert name in wrong, at
        assert totals.errors


def test_an_index_is_shown_with_a_column_for_each_number_and_times_as_dates(
    directory: Path, wireproof: Command
) -> None:
    _, heading, first, *_ = wireproof("explain", directory / INDEX).out.splitlines()
    cells = dict(zip(heading.split(), first.split(), strict=True))
    assert (cells["offset"], cells["relative"]) in {("0", "0"), ("1", "1")}
    assert {"position", "end"} & set(cells)
    assert cells["time"] in {"2026-11-23T16:15:45.810350Z", "2026-11-23T20:00:03.670354Z"}


def test_an_offset_behind_the_last_message_is_found(directory: Path) -> None:
    (directory / CONSUMER).write_bytes((3).to_bytes(8, "little"))
    assert wrong_files(directory)[1].errors == 1


def test_batches_with_the_base_offset_0_are_found_behind_a_damaged_one() -> None:
    data = bytearray(iggy_segments.segment("0.2.7", 9))
    begin, end = iggy_segments.places("0.2.7", bytes(data))[4]
    data[begin + 10] ^= 1
    found = damaged_logs.surveyed(formats.get("iggy.log", "0.2.7"), bytes(data))
    assert (found.entries, found.tail) == (8, 0)
    assert [(one.at, one.end) for one in found.damages] == [(begin, end)]
