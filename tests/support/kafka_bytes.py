"""Kafka entries from their fields, by no part of the codec under test, and what it answers on them."""

import gzip
from typing import Any

from tests.authoring.kafka import entry_bytes
from tests.authoring.kafka.entry_bytes import T as NOW
from wireproof import formats
from wireproof.wire.rejection import Rejected

PLAIN = bytes.fromhex("10000000026b027600")
"""The record of E01: k→v."""

SECOND = bytes.fromhex("100002020262023200")
"""The second record of E05: b→2, both deltas 1."""

SNAPSHOT = bytes.fromhex(
    "0001246e333e00000002"
    "0000000000000063000000000004000000000000000900000004000001977421b6c3ffffffffffffffffffffffff"
    "00000000000000640000000000040000000000"
    "00000e00000004000001977421baabffffffff000000000000000a"
)
"""`00000000000000000015.snapshot` of a topic whose second transaction was open: kafka.md §14.2."""

V2 = formats.get("kafka.batch", "v2")
V1 = formats.get("kafka.batch", "v1")
V0 = formats.get("kafka.batch", "v0")
LOG = formats.get("kafka.log", "mixed")


def batch(
    records: bytes = PLAIN,
    count: int = 1,
    *,
    base_time: int = NOW,
    max_time: int = NOW,
    producer: int = -1,
    epoch: int = -1,
    sequence: int = -1,
    **fields: int,
) -> bytes:
    """Return a v2 batch with its checksum: kafka.md §1.1."""
    times = {"base_ts": base_time, "max_ts": max_time}
    return entry_bytes.batch(records, count, pid=producer, pepoch=epoch, seq=sequence, **times, **fields)


def record(body: str, length: int | None = None) -> bytes:
    """A record of a hex body under its length, which is below 64."""
    data = bytes.fromhex(body)
    return bytes([2 * (len(data) if length is None else length)]) + data


def message(
    magic: int, key: bytes | None = b"k", value: bytes | None = b"v", *, time: int = NOW, **fields: Any
) -> bytes:
    """Return a v0 or v1 message with its checksum: kafka.md §2.1."""
    return entry_bytes.message(magic, key, value, ts=time, **fields)


def wrapper(magic: int, inner: bytes, **fields: int) -> bytes:
    """A gzip wrapper around `inner`: kafka.md §2.2."""
    return message(magic, None, gzip.compress(inner, mtime=0), **{"attributes": 1, **fields})


def accepted(row: formats.Format, data: bytes, **options: Any) -> formats.Decoded:
    return formats.decode(row, data, formats.Options(**options))


def refused(row: formats.Format, data: bytes, **options: Any) -> Rejected:
    """The refusal; fails if there is none."""
    try:
        value = formats.decode(row, data, formats.Options(**options))
    except Rejected as rejected:
        return rejected
    raise AssertionError(f"accepted: {value}")


def remarks(row: formats.Format, data: bytes) -> list[str]:
    return sorted(remark.cls for remark in formats.decode(row, data).remarks)
