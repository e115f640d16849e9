"""The files of an Iggy server beside its segments: bytes made by hand from the layouts of its sources."""

import struct
import zlib
from collections.abc import Callable

import pytest
import xxhash
from each import each

from wireproof.data_files import FileReport
from wireproof.iggy.files import server_files

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
