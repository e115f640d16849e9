"""Logs of many entries, and the same with one bit changed at a random place."""

import random
from functools import cache

import iggy_segments
import logs

from wireproof.formats import Format
from wireproof.inspect.entry_list import ListingSettings, listing_of
from wireproof.inspect.file_survey import FileSurvey, survey_stream
from wireproof.inspect.open_input import open_bytes
from wireproof.wire.options import DEFAULT_OPTIONS

BATCHES = 300
IGGY = ("0.7", "0.9", "0.11")
"""Revisions whose checksums cover every bit of a segment; in older ones they cover the payloads alone."""


@cache
def kafka() -> bytes:
    """Return a log of 300 batches, of one leader epoch."""
    rng = random.Random(300)
    return b"".join(logs.batch(rng.randbytes(rng.randrange(5, 60)), offset) for offset in range(BATCHES))


@cache
def iggy(revision: str) -> bytes:
    return iggy_segments.segment(revision)


def places(data: bytes, count: int, seed: int, sure: int) -> list[tuple[int, int]]:
    """Return bytes and bits at random, none in the first 16 bytes behind `sure`.

    No checksum covers the offset and the leader epoch of a Kafka batch; that they do not rise shows in the
    next batch, and behind the last one there is none.
    """
    rng, found = random.Random(seed), list[tuple[int, int]]()
    while len(found) < count:
        at = rng.randrange(len(data))
        if not 0 <= at - sure < 16:
            found.append((at, rng.randrange(8)))
    return found


def flipped(data: bytes, at: int, bit: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1 << bit]) + data[at + 1 :]


def thirty_kafka() -> list[tuple[int, bytes]]:
    """Return 30 damaged logs, each with the byte that is wrong."""
    data = kafka()
    last = data.rindex((BATCHES - 1).to_bytes(8, "big"))
    return [(at, flipped(data, at, bit)) for at, bit in places(data, 30, 1, last)]


def thirty_of(revision: str) -> list[tuple[int, bytes]]:
    """Return 30 damaged segments of Iggy, each with the byte that is wrong."""
    data = iggy(revision)
    return [(at, flipped(data, at, bit)) for at, bit in places(data, 30, 3, len(data))]


def thirty_iggy() -> list[tuple[int, str, bytes]]:
    """Return 30 damaged segments, ten of each revision, with the byte that is wrong."""
    return [
        (at, revision, flipped(iggy(revision), at, bit))
        for revision in IGGY
        for at, bit in places(iggy(revision), 10, 2, len(iggy(revision)))
    ]


def surveyed(fmt: Format, data: bytes) -> FileSurvey:
    listing = listing_of(fmt)
    assert listing is not None
    with open_bytes(data) as found:
        return survey_stream(fmt, listing, found, ListingSettings(DEFAULT_OPTIONS))
