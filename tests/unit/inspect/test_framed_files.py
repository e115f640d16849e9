"""Files of LZ4 frames and of framed snappy: blocks that refer to earlier ones, skipped frames, damage."""

import io

import cramjam
import pytest
from each import each

from wireproof.inspect.open_input import BlockReader, lz4_file, snappy_file

CONTENT = bytes(range(256)) * 257

LINKED = (
    bytes.fromhex("04224d185c400001010000000000d70a020000fff1")
    + bytes(range(256))
    + bytes.fromhex("0001" + "ff" * 255 + "e750fbfcfdfeff2912674c")
    + bytes.fromhex("0a0000000f00ffe850fbfcfdfeff4daf53dc00000000e1bc9a14")
)
"""`CONTENT` as liblz4 writes it: two linked blocks, with every size and checksum. The second block has
10 bytes and refers to the first one."""

SKIPPED = bytes.fromhex("5a2a4d1803000000") + b"abc"
"""A frame for users' data."""

SNAPPY = bytes(cramjam.snappy.compress(CONTENT))
PADDING = b"\xfe\x02\0\0\0\0"


def read_all(reader: BlockReader) -> bytes:
    return b"".join(iter(lambda: reader.read(1), b""))


def changed(data: bytes, at: int, value: int) -> bytes:
    return data[:at] + bytes([value]) + data[at + 1 :]


def test_a_block_of_lz4_may_refer_to_the_blocks_before_it() -> None:
    assert read_all(lz4_file(io.BytesIO(LINKED))) == CONTENT


def test_frames_follow_one_another_and_those_of_users_are_passed_over() -> None:
    assert read_all(lz4_file(io.BytesIO(SKIPPED + LINKED + SKIPPED + LINKED))) == CONTENT * 2
    assert read_all(snappy_file(io.BytesIO(SNAPPY + PADDING + SNAPPY))) == CONTENT * 2


@each(
    "data, end, size",
    [
        (LINKED, 11, 0),
        (LINKED, 300, 0),
        (LINKED, 550, 65536),
        (LINKED, len(LINKED) - 1, len(CONTENT)),
        (SNAPPY, 12, 0),
        (SNAPPY, 300, 0),
        (SNAPPY, len(SNAPPY) - 1, 65536),
    ],
)
def test_a_cut_file_gives_its_whole_blocks_and_then_ends_with_an_error(
    data: bytes, end: int, size: int
) -> None:
    reader = (lz4_file if data is LINKED else snappy_file)(io.BytesIO(data[:end]))
    assert b"".join(reader.read(1) for _ in range(size // 65536 + size % 65536 // 256)) == CONTENT[:size]
    with pytest.raises(EOFError, match="the end cuts a frame"):
        reader.read(1)


@each(
    "data, message",
    [
        (changed(LINKED, 4, 0x9C), "FLG 9c is not of version 1"),
        (changed(LINKED, 4, 0x5D), "needs a dictionary"),
        (changed(LINKED, 7, 0x02), "the checksum of the frame header"),
        (changed(LINKED, 30, 0x55), "the checksum of a block"),
        (changed(LINKED, len(LINKED) - 1, 0), "the checksum of the content"),
        (changed(LINKED, 17, 0x55), "and 65536 are allowed"),
        (LINKED + b"more", "65726f6d begins no LZ4 frame"),
    ],
)
def test_what_is_wrong_with_an_lz4_file_is_one_line(data: bytes, message: str) -> None:
    with pytest.raises(OSError, match=message):
        read_all(lz4_file(io.BytesIO(data)))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (changed(SNAPPY, 14, SNAPPY[14] ^ 1), "bad checksum"),
        (changed(SNAPPY, 10, 0x7F), "a chunk of type 7f, which may not be skipped"),
        (changed(SNAPPY, 13, 0xFF), "and 76494 are allowed"),
    ],
)
def test_what_is_wrong_with_a_snappy_file_is_one_line(data: bytes, message: str) -> None:
    with pytest.raises(OSError, match=message):
        read_all(snappy_file(io.BytesIO(data)))
