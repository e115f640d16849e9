"""Control records as brokers and controllers write them, and invalid ones: kafka.md §1.9."""

from collections.abc import Callable
from random import Random
from struct import pack
from typing import Final

from wireproof.cases.mutate.draws import below, pick
from wireproof.kafka import control_types
from wireproof.kafka.values import Record

VERSIONS: Final = (0, 0, 0, 1, -1)
"""Versions of the key and of the value of a control record; a negative version is invalid."""

RECORD_TYPES: Final = (*(control_types.ABORT, control_types.COMMIT) * 3, *range(2, 7), 99)
"""Types of control records; the end of a transaction is the most frequent."""

NO_TAGS: Final = b"\0"

COMPACT_ONE: Final = b"\2"
"""The count of a compact array with one element, and the length of a compact string of one byte."""


def random_control_record(rng: Random) -> Record:
    """Return a control record of a known or unknown version; its key or value may have a wrong size."""
    kind = pick(rng, RECORD_TYPES)
    key = pack(">hh", pick(rng, VERSIONS), kind)
    key = pick(rng, (key, key, key, key[:3], key + b"\0\1"))
    valid = RECORD_VALUES.get(kind, _end_of_transaction)(rng)
    value = valid if below(rng, 4) else pick(rng, (b"\0\0", b"", rng.randbytes(12), valid + b"\0"))
    return Record(0, 0, 0, key, value, ())


def _end_of_transaction(rng: Random) -> bytes:
    return pack(">hi", pick(rng, VERSIONS), 1)


def _leader_change(rng: Random) -> bytes:
    version = below(rng, 2)
    voter = pack(">i", 1) + rng.randbytes(16) * version + NO_TAGS
    return pack(">hi", version, 1) + (COMPACT_ONE + voter) * 2 + NO_TAGS


def _voters(rng: Random) -> bytes:
    endpoint = COMPACT_ONE + b"n" + COMPACT_ONE + b"h" + rng.randbytes(2) + NO_TAGS
    voter = pack(">i", 1) + rng.randbytes(16) + COMPACT_ONE + endpoint + pack(">hh", 0, 1) + NO_TAGS * 2
    return pack(">h", 0) + COMPACT_ONE + voter + NO_TAGS


RECORD_VALUES: Final[dict[int, Callable[[Random], bytes]]] = {
    control_types.LEADER_CHANGE: _leader_change,
    control_types.SNAPSHOT_HEADER: lambda rng: pack(">h", 0) + rng.randbytes(8) + NO_TAGS,
    control_types.SNAPSHOT_FOOTER: lambda _: pack(">h", 0) + NO_TAGS,
    control_types.KRAFT_VERSION: lambda rng: pack(">hh", 0, below(rng, 2)) + NO_TAGS,
    control_types.KRAFT_VOTERS: _voters,
}
"""Type of a control record to a function that returns its value, in a version that §1.9 describes."""
