"""The family `heka`: messages and framed streams of Mozilla Heka."""

from typing import Final

from wireproof.family import Family, Format, Redaction, deferred
from wireproof.heka import message, scan, stream
from wireproof.heka.remark_classes import HEKA_REMARKS
from wireproof.heka.suite.streams import FILE_NAMES, MARKS, STREAMS

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

FAMILY: Final = Family(
    "heka",
    _FORMATS,
    remarks=HEKA_REMARKS,
    marks=MARKS,
    file_names=FILE_NAMES,
    streams=STREAMS,
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
