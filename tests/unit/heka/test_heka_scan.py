"""Scanning Heka streams: every byte accounted for, however it arrives, in linear time and bounded memory."""

import random
from collections.abc import Callable
from itertools import product

from each import each
from work_counter import growth

from wireproof import formats
from wireproof.formats import FORMATS
from wireproof.heka.scan import Scanner
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.scan_items import Item

ROW = FORMATS["heka.stream/0.10"]
F = bytes.fromhex("1e0208141f0a10101112131415161718191a1b1c1d2e2f1001")
MODES = [Options(resync="strict"), Options(resync="go"), Options(resync="c")]


def scan(data: bytes, options: Options = DEFAULT_OPTIONS, size: int | None = None) -> list[Item]:
    step = size or max(len(data), 1)
    return list(formats.scan(ROW, (data[at : at + step] for at in range(0, len(data), step)), options))


NESTED = bytes.fromhex("32071e0408ffff031f")
"""A payload that holds the header of a message of 65535 bytes, whose own first field is this again."""

FLOODS = {
    "bug 38: 1e 00 00": b"\x1e\0\0",
    "separators": b"\x1e",
    "headers of unknown fields": bytes.fromhex("3a031eff1f"),
    "empty headers": b"\x1e\0\x1f",
    "messages inside one another": NESTED,
}


@each("options, flood", product(MODES, FLOODS.values()), ids=lambda row: f"{row[0].resync} {row[1][:8]!r}")
def test_the_work_for_hostile_bytes_grows_with_their_length_and_no_faster(
    flood: bytes, options: Options
) -> None:
    # The nested ones are cut off by a bound of 16 longest messages; a smaller one shows it sooner.
    bound = Options(resync=options.resync, max_message=2048)
    some = flood.replace(b"\xff\xff\x03", b"\x80\x10")

    def scanning(size: int) -> Callable[[], object]:
        data = some * (size // len(some))
        chunks = [data[at : at + 4096] for at in range(0, len(data), 4096)]
        return lambda: list(formats.scan(ROW, chunks, bound))

    assert growth(scanning, 20_000 if flood == NESTED else 5000, times=4) < 1.1


def test_messages_inside_one_another_stop_being_searched_and_are_still_accounted_for() -> None:
    data = (
        b"\x1e\x04\x08\x80\x10\x1f" + bytes.fromhex("32061e0308801f").replace(b"\x80", b"\x80\x10") * 8000 + F
    )
    items = scan(data, Options(max_message=2048))
    assert sum(item.length for item in items) == len(data)


def test_the_buffer_holds_one_frame_and_one_chunk_at_most() -> None:
    longest = 3 + 255 + 65536
    claims = b"\x1e\x04\x08\x80\x80\x04\x1f"
    generator = random.Random(7)
    scanner, most = Scanner(DEFAULT_OPTIONS), 0
    for _ in range(400):
        chunk = generator.choice([claims, F, b"x" * 4096, b"\x1e" * 512, generator.randbytes(2048)])
        for _ in scanner.feed(chunk):
            pass
        most = max(most, len(scanner.buffer))
    assert most <= longest + 4096
