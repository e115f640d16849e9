"""The family `heka`: messages and framed streams of Mozilla Heka."""

import re
from typing import Final

from attrs import evolve

from wireproof.family import Family, Format, Redaction, deferred
from wireproof.heka import message, scan, stream
from wireproof.heka.remark_classes import HEKA_REMARKS
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected

_FORMATS: Final = (
    Format(
        "heka.message",
        "0.10",
        message.HEKA_MESSAGE.type,
        message.decode,
        message.encode,
        layout=message.CONTENT,
        capabilities=("codec:snappy",),
    ),
    Format(
        "heka.stream",
        "0.10",
        stream.FrameStream,
        stream.decode,
        stream.encode,
        scan.scan,
        layout=stream.STREAM,
        capabilities=(
            "codec:snappy",
            "feature:hmac",
            "feature:opaque-content",
            "feature:resync-c",
            "feature:resync-go",
            "feature:given-header",
        ),
    ),
)

# --- the beginning of files ---


def begins_like_a_frame(data: bytes) -> bool:
    """Return whether there is a record separator and the tag of message_length in the header: heka.md §2."""
    return len(data) > 2 and data[0] == 0x1E and data[2] == 0x08


def begins_like_a_message(data: bytes) -> bool:
    """Return whether there is the tag of a uuid with a length near its own: heka.md §1."""
    return len(data) > 2 and data[0] == 0x0A and data[1] in range(15, 18)


# --- streams ---


def _size(tail: bytes) -> int:
    """Return the bytes of a frame, by its header: heka.md, section 2."""
    reader = Reader(tail[: stream.FRAME_OVERHEAD + 0xFF])
    try:
        # the header shows the size, also if it is over the limit of a reader
        found = stream.read_header(reader, Options(max_message=0xFFFF_FFFF))
    except Rejected:
        return 0
    return 0 if found is None else reader.pos + found.message_length


FAMILY: Final = Family(
    "heka",
    _FORMATS,
    remarks=HEKA_REMARKS,
    marks={"heka.stream": begins_like_a_frame, "heka.message": begins_like_a_message},
    file_names=((re.compile(r".*\.heka"), "heka.stream"),),
    streams={"heka.stream": lambda _, plain: evolve(plain, size=_size)},
    listings={"heka.stream": "wireproof.heka.suite.listing:LISTING"},
    strategies="wireproof.heka.suite.strategies:VALUES",
    option_strategies="wireproof.heka.suite.strategies:OPTIONS",
    sources={"heka_stream": "wireproof.heka.suite.spark_source:STREAM"},
    mutation="wireproof.heka.suite.mutation:RULES",
    fast_decoders="wireproof.heka.columnar:FAST_DECODERS",
    generators="wireproof.heka.suite.generators:GENERATORS",
    dictionary=deferred("wireproof.heka.suite.mutation:words"),
    redaction=Redaction(
        ("uuid", "type", "fields[].name", "representation", "header.hmac_signer", "header.hmac")
    ),
)
