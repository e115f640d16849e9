"""The version that an Iggy server keeps in `state/info`, as a server wrote it and as older ones do."""

import struct

from each import each

from wireproof.iggy.files.server_files import read_server_info

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
