"""The bytes of entries, of which only the parts are read that every version has."""

from collections.abc import Iterator
from struct import Struct
from typing import Final

from wireproof.kafka.layouts import BATCH
from wireproof.kafka.size_and_magic import MAGIC_AT

V2: Final = 2
MAGICS: Final = {"v0": 0, "v1": 1, "v2": V2}
NO_PRODUCER: Final = -1
BATCH_HEADER: Final = 61
"""Bytes of a batch before its records."""

PRODUCER_FIELDS: Final = {"producerId": 8, "producerEpoch": 2, "baseSequence": 4}
"""The fields of an idempotent producer, and their sizes."""

_PREFIX: Final = Struct(">qi")
PREFIX: Final = _PREFIX.size
"""Bytes of an entry up to the end of its length, which counts the bytes after it."""


def entries_of(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the offset and the bytes of each whole entry: kafka.md §1.4."""
    at = 0
    while len(data) - at >= PREFIX:
        offset, length = _PREFIX.unpack_from(data, at)
        end = at + PREFIX + length
        if length < 0 or end > len(data):
            return
        yield offset, data[at:end]
        at = end


def next_offset(offset: int, entry: bytes) -> int:
    """Return the offset after an entry: of a batch by its last offset, of a message by its own."""
    return offset + _number(entry, "lastOffsetDelta", 4) + 1 if is_batch(entry) else offset + 1


def first_entry(data: bytes) -> bytes:
    """Return the bytes of the first entry, without the bytes after it; all bytes if it is cut."""
    return next((entry for _, entry in entries_of(data)), data)


def magic_of(data: bytes, revision: str) -> int:
    """Return the magic that decides the version of the request: of the revision, or of the first entry."""
    if revision in MAGICS:
        return MAGICS[revision]
    return data[MAGIC_AT] if len(data) > MAGIC_AT else V2


def producer_of(data: bytes) -> int:
    """Return the producer id of the first batch; -1 if there is none."""
    return _number(data, "producerId", 8) if is_batch(data) else NO_PRODUCER


def is_batch(data: bytes) -> bool:
    """Return True for an entry of v2 with a whole header."""
    return len(data) >= BATCH_HEADER and data[MAGIC_AT] == V2


def is_idempotent(data: bytes) -> bool:
    """Return True if the first batch has a producer id, an epoch and a sequence: KIP-98."""
    return is_batch(data) and all(_number(data, name, size) >= 0 for name, size in PRODUCER_FIELDS.items())


def _number(data: bytes, field: str, size: int) -> int:
    at = BATCH.offset(field)
    return int.from_bytes(data[at : at + size], signed=True)
