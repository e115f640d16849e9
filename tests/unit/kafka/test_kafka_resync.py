"""The search for entries inside the bytes that a damaged size claims: all of them, in little work."""

import re
from random import Random

import logs
import pytest
from each import each
from work_counter import steps

from wireproof.kafka import resync, scan
from wireproof.wire.options import DEFAULT_OPTIONS

EVERY_SIZE = re.compile(
    rb"(?<=\0\0\0[\x0e-\xff].{4}|\0\0[^\0].{5}|\0[^\0].{6}|[\x01-\x7f].{7})[\0-\2]", re.DOTALL
)


def length(data: bytes) -> int:
    return resync.damaged_length(data, len(data), DEFAULT_OPTIONS)


@each("highest", [0, 1, 5, 255, 256, 257, 300, 511, 512, 700, 0x0400, 0x1234, 0x7FFF, 0xFFFF])
def test_the_pattern_finds_exactly_the_sizes_up_to_its_limit(highest: int) -> None:
    rng = Random(highest)
    near = [
        *(highest + step for step in (-257, -256, -1, 0, 1, 256)),
        *(rng.randrange(1 << 15) for _ in range(60)),
    ]
    sizes = [max(one, 0) << 16 | rng.randrange(1 << 16) for one in near] + [0, 13, 14, 255, 256, 65535]
    for size in (one % (1 << 32) for one in sizes):
        data = b"........" + size.to_bytes(4) + b"\xff...\1"
        found = scan.size_and_magic(highest).search(data, 16) is not None
        wanted = EVERY_SIZE.search(data, 16) is not None and size >> 16 <= highest
        assert found == wanted, hex(size)


def test_an_entry_in_noise_is_found_where_a_damaged_size_swallowed_it() -> None:
    rng = Random(3)
    for before in (90, 5_000, 70_000, 200_000):
        damaged = (0).to_bytes(8) + (1 << 20).to_bytes(4) + rng.randbytes(4) + b"\2" + rng.randbytes(before)
        entries = logs.batch(rng.randbytes(300), 10) + logs.batch(b"after", 11)
        assert length(damaged + entries) == len(damaged)


@pytest.mark.parametrize("byte", [b"\1", b"\2"])
def test_bytes_that_may_be_a_size_everywhere_take_few_steps(byte: bytes) -> None:
    data = byte * (1 << 20)
    assert length(data) == 0
    assert steps(lambda: length(data)) < len(data) // 8
