"""Garbage full of separators: skipped many at once, with the items that one step at a time gives."""

from random import Random

import pytest
from work_counter import steps

from wireproof import formats
from wireproof.heka.scan import Scanner
from wireproof.wire.options import DEFAULT_OPTIONS
from wireproof.wire.scan_items import Item

STREAM = formats.get("heka.stream", "0.10")
FRAME = bytes.fromhex("1e02 0802 1f 0a00".replace(" ", ""))
ALPHABET = bytes.fromhex("1e 1f 00 02 08 0a 1e 1f ff 1d")


def scanned(data: bytes, size: int) -> list[Item]:
    chunks = [data[at : at + size] for at in range(0, len(data), size)]
    return list(formats.scan(STREAM, chunks, DEFAULT_OPTIONS))


@pytest.mark.parametrize("seed", range(30))
def test_many_separators_are_skipped_as_one_at_a_time(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(seed)
    parts = [
        rng.choice([
            bytes(rng.choices(ALPHABET, k=rng.randrange(80))),
            b"\x1e" * rng.randrange(700),
            rng.randbytes(rng.randrange(600)),
            b"\x1e\xff" * rng.randrange(300),
            FRAME,
        ])
        for _ in range(12)
    ]  # fmt: skip
    data = b"".join(parts)
    size = rng.choice([1, 7, 64, 300, len(data) or 1])
    found = scanned(data, size)
    monkeypatch.setattr(Scanner, "_skip_false_separators", lambda _: False)
    assert found == scanned(data, size)


def test_a_million_separators_take_few_steps() -> None:
    def work(count: int) -> int:
        return steps(lambda: scanned(b"\x1e" * count, 1 << 16))

    assert work(1 << 20) < (1 << 20) // 20
    (item,) = scanned(b"\x1e" * 400_000 + b"x" * 300, 1 << 16)
    assert (item.kind, item.length, item.cls) == ("garbage", 400_300, "bad-separator")
