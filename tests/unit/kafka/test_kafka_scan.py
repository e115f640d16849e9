"""Every byte of a stream goes to a frame, to garbage or to the tail: architecture.md#verdicts."""

import itertools
from collections.abc import Iterable

from each import each
from kafka_bytes import LOG, batch, message, wrapper

from wireproof import formats
from wireproof.wire.scan_items import Item

GOOD = batch()
OLD = message(1, offset=1)
BAD = batch(crc=0)
TORN = GOOD[:40]


def items(chunks: Iterable[bytes], **options: object) -> list[Item]:
    return list(formats.scan(LOG, chunks, formats.Options(**options)))  # type: ignore[arg-type] # by name


def shape(chunks: Iterable[bytes], **options: object) -> list[tuple[str, int, int, str | None]]:
    return [(item.kind, item.at, item.length, item.cls) for item in items(chunks, **options)]


def test_nothing_has_no_items() -> None:
    assert items([]) == items([b"", b""]) == []


def test_frames_carry_their_values() -> None:
    found = items([GOOD + OLD])
    assert [item.value for item in found] == [
        formats.decode(LOG, GOOD).value.batches[0],
        formats.decode(LOG, OLD).value.batches[0],
    ]


def test_a_refused_entry_is_garbage_of_its_own_size() -> None:
    assert shape([GOOD + BAD + OLD]) == [
        ("frame", 0, 70, None),
        ("garbage", 70, 70, "crc-mismatch"),
        ("frame", 140, len(OLD), None),
    ]


@each(
    "junk, cls",
    [
        (bytes(12), "bad-length"),
        (bytes(1000), "bad-length"),
        (b"\xff" * 33, "bad-length"),
        (batch(magic=3), "bad-magic"),
        (GOOD[:8] + (48).to_bytes(4, "big") + GOOD[12:], "bad-length"),
        (GOOD[:8] + (0x7FFFFFFF).to_bytes(4, "big") + GOOD[12:], "limit-exceeded"),
    ],
)
def test_after_a_size_that_cannot_be_the_next_whole_entry_is_found(junk: bytes, cls: str) -> None:
    for after in (GOOD, OLD, wrapper(1, message(1))):
        assert shape([GOOD + junk + after + TORN]) == [
            ("frame", 0, 70, None),
            ("garbage", 70, len(junk), cls),
            ("frame", 70 + len(junk), len(after), None),
            ("tail", 70 + len(junk) + len(after), 40, None),
        ]


def test_garbage_without_an_entry_behind_it_lasts_to_the_end() -> None:
    assert shape([GOOD + bytes(100) + BAD]) == [("frame", 0, 70, None), ("garbage", 70, 170, "bad-length")]


@each("cut", [1, 11, 12, 16, 17, 69])
def test_a_torn_entry_at_the_end_is_the_tail(cut: int) -> None:
    assert shape([GOOD + GOOD[:cut]]) == [("frame", 0, 70, None), ("tail", 70, cut, None)]


def test_the_largest_size_is_an_option() -> None:
    assert shape([GOOD + OLD], max_message=len(OLD) - 12) == [
        ("garbage", 0, 70, "limit-exceeded"),
        ("frame", 70, len(OLD), None),
    ]


def test_a_stream_without_end_is_scanned_as_it_comes() -> None:
    endless = itertools.chain.from_iterable(itertools.repeat([GOOD[:30], GOOD[30:] + bytes(30)]))
    found = list(itertools.islice(formats.scan(LOG, endless, formats.Options()), 6))
    assert [(item.kind, item.length) for item in found] == [("frame", 70), ("garbage", 30)] * 3
