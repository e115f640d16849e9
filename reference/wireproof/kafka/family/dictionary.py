"""The fuzzing dictionary of Kafka's formats. Sections are those of kafka.md."""

from collections.abc import Iterator
from struct import pack

from wireproof.cases.mutate.dictionary import INVALID_VARINTS, VARLONG_BOUNDARIES, edges, varint
from wireproof.family import Format
from wireproof.kafka.attribute_bits import CONTROL, DELETE_HORIZON, LOG_APPEND_TIME, TRANSACTIONAL
from wireproof.wire.compression import COMPRESSION_CODECS


def words(fmt: Format) -> Iterator[bytes]:
    """Yield magics, attributes (§1.2, §2.1), control records (§1.9), varints (§4), compressed data (§3)."""
    yield from edges(">")
    yield from (bytes([magic]) for magic in range(4))
    flags = (
        0,
        LOG_APPEND_TIME,
        TRANSACTIONAL,
        CONTROL,
        DELETE_HORIZON,
        CONTROL | TRANSACTIONAL,
        LOG_APPEND_TIME | DELETE_HORIZON,
    )
    yield from (pack(">h", flag | codec) for flag in flags for codec in range(6))
    yield from (pack(">hh", 0, kind) for kind in range(7))
    yield from (pack(">qhi", -1, -1, -1), pack(">qhi", 7, 0, (1 << 31) - 1))
    yield from (varint("varlong", step) for step in VARLONG_BOUNDARIES)
    yield from INVALID_VARINTS
    heads = [codec.pack(b"") for codec in COMPRESSION_CODECS.values()]
    yield from (head[:size] for head in heads for size in (4, 8, len(head)))
    if fmt.revision != "v2":  # §2.1: the message header of the old formats
        yield from (bytes([magic, codec]) + b"\xff" * 4 for magic in (0, 1) for codec in range(5))
