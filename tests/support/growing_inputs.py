"""Hostile bytes of any size: what was seen to cost the square of it, and what might."""

import zlib
from collections.abc import Callable

import kafka_bytes
import logs

from wireproof.formats import FORMATS, Format

LOG = FORMATS["kafka.log/mixed"]
BATCH = FORMATS["kafka.batch/v2"]
STREAM = FORMATS["heka.stream/0.10"]
JSON = FORMATS["iggy.json.send/0.10"]


def _noted(count: int) -> bytes:
    """A log of batches of which each leaves remarks: §4 drops bits of a delta in every one of them."""
    body = bytes.fromhex("00008080808070010100")
    return kafka_bytes.batch(logs.varint(len(body)) + body) * count


def _group(depth: int) -> bytes:
    return b"\x1b" * depth + b"\x1c" * depth


def _nested_gzip(depth: int) -> bytes:
    data = kafka_bytes.PLAIN
    for _ in range(depth):
        data = zlib.compress(data, wbits=31)
    return data


def _members(count: int) -> bytes:
    return zlib.compress(b"", wbits=31) * count


LEAST_RECORD = bytes([12, 0, 0, 0, 1, 1, 0])
CLAIMS_THE_REST = kafka_bytes.record("0000 00 feffff07", 63)
EMPTY_ZSTD = bytes.fromhex("28b52ffd2000010000")

HOSTILE: dict[str, tuple[Format, Callable[[int], bytes]]] = {
    "a log of remarks": (LOG, lambda n: _noted(n // 2)),
    "a log of zeros": (LOG, bytes),
    "beginnings of entries": (LOG, lambda n: kafka_bytes.batch()[:17] * n),
    "entries with a wrong checksum": (LOG, lambda n: (kafka_bytes.batch()[:-1] + b"\xff") * n),
    "members of gzip": (BATCH, lambda n: kafka_bytes.batch(_members(n), attributes=1)),
    "gzip in gzip": (BATCH, lambda n: kafka_bytes.batch(_nested_gzip(n // 10), attributes=1)),
    "blocks of lz4": (BATCH, lambda n: kafka_bytes.batch(_lz4(n), attributes=3)),
    "chunks of snappy": (BATCH, lambda n: kafka_bytes.batch(_xerial(n), attributes=2)),
    "frames of zstd": (BATCH, lambda n: kafka_bytes.batch(EMPTY_ZSTD * n, attributes=4)),
    "a count of 2^31 - 1 over few records": (
        BATCH, lambda n: kafka_bytes.batch(LEAST_RECORD * n, (1 << 31) - 1),
    ),
    "records that all claim the rest": (BATCH, lambda n: kafka_bytes.batch(CLAIMS_THE_REST * n, n)),
    "a wrapper of zeros": (LOG, lambda n: kafka_bytes.wrapper(1, bytes(20 * n))),
    "separators": (STREAM, lambda n: b"\x1e" * n),
    "frames in frames": (STREAM, lambda n: b"\x1e\x02\x08\x7f\x1f" * n),
    "groups in groups": (FORMATS["heka.message/0.10"], _group),
    "brackets": (JSON, lambda n: b"[" * n),
    "digits": (JSON, lambda n: b'{"messages":[{"id":' + b"9" * n),
    "names that nobody knows": (JSON, lambda n: b"{" + b'"a":0,' * n + b'"a":0}'),
    "escapes": (JSON, lambda n: b'{"' + b"\\u0041" * n + b'":0}'),
    "headers of one key": (
        FORMATS["iggy.headers/0.9"],
        lambda n: b"\2\1\0\0\0a\2\1\0\0\0b" * n,
    ),
}  # fmt: skip
"""By name: the format, and bytes in proportion to a number."""


def _lz4(count: int) -> bytes:
    return bytes.fromhex("04224d18604082") + b"\x01\0\0\x80a" * count + bytes(4)


def _xerial(count: int) -> bytes:
    return bytes.fromhex("82534e41505059000000000100000001") + b"\0\0\0\x03\x01\0a" * count
