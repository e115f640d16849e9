"""The files of an Iggy server beside its segments, alone and in data directories."""

import struct
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path

import damaged_logs
import iggy_segments
import pytest
import xxhash
from attrs import frozen
from command_line import Command
from each import each

from wireproof import formats
from wireproof.data_files import FileFinding, FileReport
from wireproof.iggy import log, server_files
from wireproof.iggy.server_files import read_server_info
from wireproof.iggy.suite import index_files
from wireproof.iggy.suite.index_files import (
    INDEX_LAYOUTS,
    RecordPosition,
    RecordPositions,
    check_against_log,
)
from wireproof.inspect.data_directory import (
    DirectoryTotals,
    FolderReport,
    check_index_file,
    check_index_files,
    read_directory,
)

Checksum = Callable[[bytes], bytes]


def crc32(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(4, "little")


def xxh3(data: bytes) -> bytes:
    return xxhash.xxh3_64_intdigest(data).to_bytes(8, "little")


def state_entry(index: int, checksum: Checksum, command: bytes = b"abc", context: bytes = b"") -> bytes:
    """An entry as `StateEntry::to_bytes` writes it, with the checksum of `calculate_checksum`."""
    head = struct.pack("<QQIIQQI", index, 0, 0, 5000, 0, 1_754_300_000_000_000 + index, 1)
    rest = struct.pack("<I", len(context)) + context + struct.pack("<II", 202, len(command)) + command
    return head + checksum(head + rest) + rest


def errors(found: FileReport) -> list[str]:
    return [one.message for one in found.findings if one.is_error]


@pytest.mark.parametrize(
    ("checksum", "name"), [(lambda _: b"", "of 0.3"), (crc32, "0.4 to 0.5"), (xxh3, "from 0.6")]
)
def test_a_state_log_is_read_in_the_layout_of_its_servers(checksum: Checksum, name: str) -> None:
    data = b"".join(state_entry(number, checksum, context=b"x" * number) for number in range(4))
    found = server_files.read_state_log(data)
    assert found == FileReport(
        f"4 entries as servers {name} write them", facts={"entries": 4, "layout": name}
    )


def test_a_bit_of_an_entry_of_the_state_log_is_named_with_its_entry() -> None:
    data = bytearray(b"".join(state_entry(number, xxh3) for number in range(3)))
    size = len(data) // 3
    data[size + 20] ^= 1
    (one,) = server_files.read_state_log(bytes(data)).findings
    assert (one.at, one.is_error) == (size + 44, True)
    assert one.message.startswith("entry 1: checksum ")


def test_a_missing_entry_and_a_cut_entry_of_the_state_log_are_named() -> None:
    whole = state_entry(0, crc32) + state_entry(2, crc32)
    found = server_files.read_state_log(whole + state_entry(3, crc32)[:-1])
    assert errors(found) == ["entry 2 follows entry 0", "62 bytes are no whole entry"]
    assert found.unsound == 62


def test_a_state_log_with_encrypted_commands_is_no_alarm() -> None:
    """The checksum is that of the plain command, and the file has the encrypted one."""
    data = b"".join(state_entry(number, lambda _: bytes(8), b"encrypted") for number in range(2))
    (one,) = server_files.read_state_log(data).findings
    assert not one.is_error
    assert "encrypted" in one.message


@pytest.mark.parametrize("checked", [True, False])
def test_the_offset_of_a_consumer_may_have_a_checksum(checked: bool) -> None:
    data = (114).to_bytes(8, "little")
    found = server_files.read_consumer_offset(data + xxh3(data) * checked)
    assert found == FileReport("offset 114", facts={"offset": 114, "checksummed": checked})


@each("size", [0, 7, 9, 15, 17])
def test_an_offset_of_another_size_is_damaged(size: int) -> None:
    assert errors(server_files.read_consumer_offset(bytes(size)))[0].startswith(f"{size} bytes; an offset")


def test_a_bit_of_an_offset_is_noticed() -> None:
    data = bytearray((114).to_bytes(8, "little") + xxh3((114).to_bytes(8, "little")))
    data[0] ^= 1
    assert errors(server_files.read_consumer_offset(bytes(data)))[0].startswith("checksum: ")


def test_a_purge_generation_has_two_numbers() -> None:
    found = server_files.read_purge_generation(struct.pack("<QQ", 3, 9))
    assert found.facts == {"generation": 3, "createdRevision": 9}
    assert errors(server_files.read_purge_generation(bytes(9))) == ["9 bytes of 16"]


def vsr_state(view: int = 5, log_view: int = 4) -> bytes:
    state = struct.pack("<16sBBIIQQ16s", b"c", 1, 3, view, log_view, 77, 60, b"s")
    return state + struct.pack("<Q", 12)


def superblock(payload: bytes, magic: bytes = b"KLBS") -> bytes:
    head = magic + struct.pack("<HHQQI", 1, 0, 41, 0, len(payload)) + payload
    return head + xxh3(head)


@pytest.mark.parametrize("size", [58, 66])
def test_a_superblock_has_the_state_of_the_consensus(size: int) -> None:
    found = server_files.read_superblock(superblock(vsr_state()[:size]))
    assert found.findings == ()
    assert found.facts == {
        "sequence": 41, "replicaId": 1, "replicaCount": 3, "view": 5, "logView": 4, "commitMax": 77,
        "checkpointOp": 60, "offsetFrontier": 12 if size == 66 else 0,
    }  # fmt: skip


@each(
    "data, said",
    [
        (superblock(vsr_state(), b"KLBT"), "magic 54424c4b and version 1"),
        (superblock(vsr_state())[:-1], "checksum"),
        (superblock(vsr_state())[:20], "parentChecksum"),
        (superblock(vsr_state()).replace(b"\x4d", b"\x4c"), "checksum: "),
        (superblock(vsr_state(4, 5)), "logView 5 is above view 4"),
        (superblock(vsr_state()[:60]), "a payload of 60 bytes"),
        (superblock(vsr_state()) + b"\0", "1 byte after the checksum"),
    ],
)
def test_a_damaged_superblock_is_reported(data: bytes, said: str) -> None:
    found = errors(server_files.read_superblock(data))
    assert any(said in one for one in found), found


def prepare(op: int, parent: bytes = bytes(16), body: bytes = b"body", command: int = 6) -> bytes:
    """A prepared operation, sealed as the primary seals it: `PrepareHeader::identity_checksum`."""
    fields = struct.pack("<IIIBB66x", 256 + len(body), 7, 1, command, 0)
    rest = b"\1" * 16 + parent + bytes(16) + struct.pack("<QQQQB7xQI28x", op, op, 9, 1, 130, 1 << 63, 1)
    covered = xxh3(body) + bytes(8) + b"cluster".ljust(16, b"\0")
    header = covered + fields + rest
    unsealed = bytes(16) + covered + fields[:4] + bytes(4) + fields[8:] + rest
    return xxh3(unsealed) + bytes(8) + header + body


def test_a_metadata_journal_is_a_chain_of_operations() -> None:
    first = prepare(1)
    data = first + prepare(2, first[:16])
    found = server_files.read_journal(data)
    assert found == FileReport("2 operations, the last one is 2", facts={"operations": 2, "lastOp": 2})
    assert len(first) == 260


@each(
    "data, at, said",
    [
        (prepare(1) + prepare(2, b"\7" * 16), 260, "operation 2 does not follow operation 1"),
        (prepare(1)[:-1] + b"!", 16, "operation 1: checksumBody "),
        (prepare(1)[:200] + b"\2" + prepare(1)[201:], 0, "operation 1: checksum "),
        (prepare(1) + prepare(2)[:100], 260, "100 of 256 bytes of a header"),
        (prepare(1) + prepare(2)[:-1], 260, "size 260, and 259 bytes are left"),
        (prepare(1, command=7), 0, "command 7; a prepared operation has 6"),
    ],
)
def test_a_damaged_metadata_journal_is_reported_with_its_place(data: bytes, at: int, said: str) -> None:
    found = server_files.read_journal(data).findings
    assert [(one.at, one.message.startswith(said)) for one in found] == [(at, True)]


def test_the_trailer_of_a_metadata_snapshot_is_checked() -> None:
    trailer = b"PNSI" + xxh3(b"packed") + bytes(8)
    assert errors(server_files.read_metadata_snapshot(b"packed" + trailer)) == []
    assert errors(server_files.read_metadata_snapshot(b"Packed" + trailer))[0].startswith("checksum: ")
    assert server_files.read_metadata_snapshot(b"packed").facts == {"checksummed": False}


# --- the version in `state/info` ---


OF_0_5 = bytes.fromhex("05302e352e301333343736393030353637383738383131313139" + "00")
"""What server 0.5.0 wrote."""


def text(data: str) -> bytes:
    """A string as bincode 1 writes it."""
    return struct.pack("<Q", len(data)) + data.encode()


def test_the_version_that_a_server_wrote_is_read() -> None:
    found = read_server_info(OF_0_5)
    values = {"version": "0.5.0", "hash": "3476900567878811119", "migrations": []}
    assert (found.summary, found.facts, found.findings, found.unknown) == ("server 0.5.0", values, (), 0)


def test_a_long_name_and_migrations_are_read_in_both_layouts() -> None:
    name, at = "n" * 300, 1_754_300_000_000_000
    marked = b"\x050.3.0\x01h\x02" + (
        b"\x07\xfb\x2c\x01" + name.encode() + b"\x02hh\xfd" + struct.pack("<Q", at)
        + b"\xfc\x00\x00\x01\x00\x01m\x00\x05"
    )  # fmt: skip
    fixed = text("0.3.0") + text("h") + struct.pack("<Q", 2) + (
        struct.pack("<I", 7) + text(name) + text("hh") + struct.pack("<Q", at)
        + struct.pack("<I", 65536) + text("m") + text("") + struct.pack("<Q", 5)
    )  # fmt: skip
    migrations = [
        {"id": 7, "name": name, "hash": "hh", "appliedAt": at},
        {"id": 65536, "name": "m", "hash": "", "appliedAt": 5},
    ]
    for data in (marked, fixed):
        found = read_server_info(data)
        assert (found.facts["migrations"], found.findings) == (migrations, ())


@each("data", [OF_0_5[:-1], OF_0_5 + b"\0", b"\xfd" * 40, b"\xff" * 40, b"\x02\xff\xfe\0\0"])
def test_bytes_that_are_no_version_are_one_finding(data: bytes) -> None:
    (one,) = read_server_info(data).findings
    assert (one.at, one.is_error) == (0, True)
    assert read_server_info(data).unsound == len(data)


# --- index files ---


STEM = "00000000000000000000"
REVISIONS = ("0.0.30", "0.0.40", "0.2.7", "0.7", "0.8", "0.9", "0.11")


def partition(folder: Path, revision: str) -> Path:
    """A segment of twenty records and its index; gives the log."""
    data = iggy_segments.segment(revision, 20)
    (folder / f"{STEM}.index").write_bytes(iggy_segments.index(revision, data))
    log = folder / f"{STEM}.log"
    log.write_bytes(data)
    return log


@pytest.mark.parametrize("revision", REVISIONS)
def test_an_entry_of_an_iggy_index_that_is_wrong_is_named_and_nothing_is_advised(
    revision: str, tmp_path: Path, wireproof: Command
) -> None:
    log = partition(tmp_path, revision)
    path = log.with_suffix(".index")
    data = bytearray(path.read_bytes())
    size = len(data) // 20
    data[5 * size + (16 if revision == "0.11" else 4 if size > 4 else 0)] ^= 1
    path.write_bytes(data)
    done = wireproof("explain", path, code=1)
    assert f"wrong: {path} at {5 * size}" in done.out or f"wrong: {path} at {5 * size + 4}" in done.out
    assert "what to do" not in done.out


def test_the_positions_that_a_server_writes_when_it_builds_an_index_anew_are_a_note(tmp_path: Path) -> None:
    log = partition(tmp_path, "0.8")
    data = log.read_bytes()
    rows = enumerate(iggy_segments.places("0.8", data))
    entries = (struct.pack("<IIQ", n, begin, iggy_segments.NOW + n) for n, (begin, _) in rows)
    log.with_suffix(".index").write_bytes(b"".join(entries))
    (one,) = check_index_files(log)
    assert (one.errors, len(one.findings)) == (0, 1)
    assert "where messages begin" in one.findings[0].message


def test_an_index_that_is_behind_its_log_is_a_note(tmp_path: Path) -> None:
    log = partition(tmp_path, "0.9")
    path = log.with_suffix(".index")
    path.write_bytes(path.read_bytes()[:-32])
    (one,) = check_index_files(log)
    assert (one.errors, one.findings[0].message) == (0, "2 records have no entry yet")


@pytest.mark.parametrize("revision", ["0.0.30", "0.7", "0.11"])
def test_without_its_log_an_index_is_known_by_its_bytes(revision: str, tmp_path: Path) -> None:
    log = partition(tmp_path, revision)
    log.unlink()
    one = check_index_file(log.with_suffix(".index"))
    assert one.findings == ()
    assert one.system.startswith("Iggy ")
    assert revision in one.system
    assert "its log is not beside it" in one.verdict()


def test_records_are_found_by_a_number_that_rises_and_by_one_that_goes_back() -> None:
    rising = [RecordPosition(n * 2, n * 2 + 1, n * 10, n * 10 + 10, 7) for n in range(50)]
    for places in (rising, rising[25:] + rising[:25]):
        found = RecordPositions(places)
        assert [found.find("last", place.last) for place in rising] == rising
        assert [found.find("begin", value) for value in (5, 1 << 40)] == [None, None]
        assert (list(found), found[-1], found[2:4]) == (places, places[-1], places[2:4])


def test_records_above_the_limit_are_not_compared_and_a_note_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_files, "MAX_RECORDS", 12)
    log = partition(tmp_path, "0.9")
    path = log.with_suffix(".index")
    data = bytearray(path.read_bytes())
    for row in (3, 15):
        data[row * 16 + 4] ^= 1
    path.write_bytes(data)
    (one,) = check_index_files(log)
    assert [finding.at for finding in one.findings if finding.is_error] == [3 * 16 + 4]
    (note,) = [finding.message for finding in one.findings if not finding.is_error]
    assert note.endswith("entries for them are not compared")
    assert len(one.log.heads if one.log else ()) == 12


def test_many_records_and_entries_take_bounded_memory() -> None:
    places = RecordPositions(RecordPosition(n, n, n * 80, n * 80 + 80, n) for n in range(100_000))
    (layout,) = [one for one in INDEX_LAYOUTS if "0.9" in one.revisions]
    data = b"".join(layout.packing.pack(n, n * 80 + 80, n) for n in range(99_999))
    tracemalloc.start()
    faults = list(check_against_log(layout, layout.entries.read(data, 0), places, sound=True))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert faults == [FileFinding(len(data), "1 record has no entry yet", is_error=False)]
    assert peak < 1 << 20


# --- data directories of servers 0.4.300 and 0.5.0 ---


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


def test_the_search_behind_a_record_with_the_largest_offset_ends() -> None:
    data = iggy_segments.segment("0.9", 2)[1:]
    assert log.damaged_length(log.REVISIONS["0.9"], data, len(data), (1 << 64) - 2) == 0
