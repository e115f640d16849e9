"""What each client is told to produce: the same records, as JSON, a flush a batch.

Text only, and no spaces: `DumpLogSegments` prints keys and values as text. The times are written in the
plan, and so far apart that the segments of the compacted topic roll by them.
"""

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
MODES = (("plain", 4), ("idempotent", 3), ("commit", 2), ("abort", 2))
"""How a producer is set up, and how many batches of each codec it sends so: 55 in all."""

TOPICS: dict[str, dict[str, str]] = {
    "kept": {},
    "brief": {},
    "stamped": {"message.timestamp.type": "LogAppendTime"},
    "compacted": {
        "cleanup.policy": "compact",
        "segment.ms": "5000",
        "min.cleanable.dirty.ratio": "0.01",
        "min.compaction.lag.ms": "0",
    },
}
"""The topics of each client, and what they are set to."""

START = 1_750_000_000_000
GAP = 1_000
"""Milliseconds between batches."""

LATER = 60_000
"""Milliseconds that are more than any segment of the compacted topic may span."""

LONG = "0123456789" * 8
"""Some clients send nothing compressed that would grow by it."""

Step = dict[str, Any]
Headers = Sequence[list[str | None]]


def steps(client: str, now: int = START) -> list[Step]:
    """The steps for one client, in order.

    `now`, in milliseconds, is the clock of the broker: a segment that a marker begins bears its time, and is
    full only once a record comes that is later.
    """
    clock = count(START, GAP)
    makers = {"kept": _kept, "brief": _brief, "stamped": _stamped, "compacted": _compacted}
    told = [step for name in TOPICS for step in makers[name](f"{client}-{name}", clock)]
    last = [_keyed(now + LATER * turn, (f"roll{turn}",)) for turn in (1, 2)]
    return [*told, _step(f"{client}-compacted", "none", "plain", last)]


def _kept(topic: str, clock: Iterator[int]) -> Iterator[Step]:
    for codec in CODECS:
        for mode, batches in MODES:
            yield _step(topic, codec, mode, [_mixed(next(clock)) for _ in range(batches)])


def _brief(topic: str, clock: Iterator[int]) -> Iterator[Step]:
    """A batch of each mode and codec: what becomes a fixture."""
    modes = ("plain", "idempotent", "commit", "abort", "plain")
    for codec, mode in zip(CODECS, modes, strict=True):
        yield _step(topic, codec, mode, [_mixed(next(clock))])


def _stamped(topic: str, clock: Iterator[int]) -> Iterator[Step]:
    for codec in CODECS:
        yield _step(topic, codec, "plain", [_mixed(next(clock))])


def _compacted(topic: str, clock: Iterator[int]) -> Iterator[Step]:
    """Each key is written again and again, and one is deleted in the end."""
    for codec in CODECS:
        yield _step(topic, codec, "plain", [_keyed(next(clock), (f"k{turn}", "k9")) for turn in range(4)])
        yield _step(topic, codec, "commit", [_keyed(next(clock), ("k5", f"only-{codec}"))])
        yield _step(topic, codec, "abort", [_keyed(next(clock), ("k6", "k7"))])
    yield _step(
        topic, "none", "plain", [[record(next(clock), "k1", None)], [record(next(clock), "k0", "last")]]
    )


def _step(topic: str, codec: str, mode: str, batches: list[list[Step]]) -> Step:
    return {"topic": topic, "codec": codec, "mode": mode, "batches": batches}


def _mixed(time: int) -> list[Step]:
    """Records of every shape: nulls, empties, headers, a tombstone, times that go back."""
    return [
        record(time, "key", LONG),
        record(time + 3, None, LONG, [["h", "1"], ["h", "2"], ["none", None], ["empty", ""]]),
        record(time - 5, "gone", None),
        record(time, "", "", [["", "x"]]),
        record(time + 1, "key", "v" * 30),
    ]


def _keyed(time: int, keys: tuple[str, ...]) -> list[Step]:
    return [record(time + place, key, f"{key}-{LONG}", [["h", key]]) for place, key in enumerate(keys)]


def record(time: int, key: str | None, value: str | None, headers: Headers = ()) -> Step:
    """A record of the plan; null is null, and not empty."""
    return {"timestamp": time, "key": key, "value": value, "headers": list(headers)}
