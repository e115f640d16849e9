"""The fast decoder's gzip: as strict as zlib, whichever library inflates."""

import random
import zlib

import deflate
import numpy as np
import pytest
from deflate_bits import INVALID, VALID, answer, member
from each import each

from wireproof.columnar import decompress
from wireproof.columnar.decompress import Arena, are_blocks_complete, decompress_region, ends_once
from wireproof.wire.compression import gzip

MOST = 1 << 20


def fast(data: bytes) -> bytes | None:
    found = decompress_region(data, 1, MOST, Arena.of(0))
    return None if found is None else bytes(found)


def by_zlib(data: bytes) -> bytes | None:
    return answer(lambda data: zlib.decompress(data, 31), data)


@each("name", VALID)
def test_a_valid_stream_gives_its_data(name: str) -> None:
    stream, data = VALID[name]
    assert (fast(member(stream, data)), by_zlib(member(stream, data))) == (data, data)


@each("name", INVALID)
def test_a_stream_that_zlib_refuses_is_refused(name: str) -> None:
    whole = member(*INVALID[name])
    assert (fast(whole), by_zlib(whole)) == (None, None)


def written(rng: random.Random, size: int, words: int) -> bytes:
    """Text of a few words, so that matches of many distances occur."""
    known = [rng.randbytes(rng.randrange(1, 9)) for _ in range(words)]
    return b"".join(rng.choices(known, k=size))


def test_a_member_of_one_block_or_of_stored_ones_goes_through_libdeflate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = written(random.Random(1), 2000, 200)
    noise = random.Random(2).randbytes(200_000)
    monkeypatch.setattr(decompress, "zlib_ng", None)
    assert fast(gzip.compress(data)) == data
    assert fast(gzip.compress(noise)) == noise


@each("seed", range(4))
def test_damage_in_the_header_of_a_block_is_answered_as_by_the_reference(seed: int) -> None:
    """The trailer fits what libdeflate reads, so that no checksum hides a difference."""
    rng, accepted, lenient = random.Random(seed), 0, 0
    for _ in range(1500):
        data = written(rng, rng.randrange(1, 60), rng.randrange(1, 20))
        engine = zlib.compressobj(rng.choice((0, 1, 6, 9)), zlib.DEFLATED, -15, 8, rng.choice((0, 0, 2)))
        stream = bytearray(engine.compress(data) + engine.flush())
        for _ in range(rng.randrange(1, 3)):
            at = rng.randrange(min(len(stream), 70) * 8)
            stream[at >> 3] ^= 1 << (at & 7)
        try:
            read = bytes(deflate.deflate_decompress(bytes(stream), 4 * len(data) + 300))
        except deflate.DeflateError:
            read = data
        else:
            lenient += 1
        whole = member(bytes(stream), read)
        assert fast(whole) == by_reference(whole), whole.hex()
        accepted += by_zlib(whole) is not None
    assert lenient > accepted > 50


def by_reference(whole: bytes) -> bytes | None:
    """The reference, which uses zlib; it also reads several members, and remarks on bytes after them."""
    found = decompress._by_reference(whole, 1, MOST, kip57=False)
    return None if found is None else bytes(found)


@each("name", VALID)
def test_a_checked_block_is_one_that_zlib_accepts_to_its_end(name: str) -> None:
    stream, _ = VALID[name]
    octets = np.frombuffer(stream, np.uint8)
    complete = {
        "a complete distance code", "lengths with repeats", "a repeat from one code into the other",
        "a small code of code lengths", "286 length codes", "30 distance codes",
        "a stored block", "stored blocks before a complete one", "empty blocks before the last one",
    }  # fmt: skip
    assert are_blocks_complete(octets, np.uint64(0)) == (name in complete)


@each("name", INVALID)
def test_a_checked_block_has_no_defect_that_libdeflate_reads(name: str) -> None:
    stream, data = INVALID[name]
    if are_blocks_complete(np.frombuffer(stream, np.uint8), np.uint64(0)):
        with pytest.raises(deflate.DeflateError):
            deflate.gzip_decompress(member(stream, data), len(data))


def test_four_bytes_that_occur_before_are_found_at_every_place() -> None:
    for size in (4, 5, 7, 40, 300):
        data = bytes(range(1, 100)) * 4
        data = data[: size - 4] + b"\0\0\1\0"
        assert ends_once(np.frombuffer(data, np.uint8))
        for at in range(size - 4):
            twice = data[:at] + b"\0\0\1\0" + data[at + 4 :]
            assert ends_once(np.frombuffer(twice, np.uint8)) == (twice.find(twice[-4:]) == size - 4)


@each("after", [b"x", bytes(4), b"\x1f\x8b\x08\0", gzip.compress(b"second")])
def test_bytes_after_a_member_are_seen_although_libdeflate_ignores_them(after: bytes) -> None:
    whole = gzip.compress(written(random.Random(3), 500, 90)) + after
    assert fast(whole) == by_reference(whole)
    assert fast(whole + whole[-4:]) == by_reference(whole + whole[-4:])


def test_a_size_that_no_deflated_data_can_have_takes_no_memory() -> None:
    stream, data = VALID["a complete distance code"]
    whole = member(stream, data)[:-4] + (512 << 20).to_bytes(4, "little")
    assert decompress_region(whole, 1, 1 << 30, Arena.of(0)) is None
