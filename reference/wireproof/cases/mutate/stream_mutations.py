"""Mutations of compressed streams: other bytes, or the same content in another kind of frame."""

from random import Random

from wireproof.cases.mutate.byte_mutations import random_splice
from wireproof.cases.mutate.compression_variants import FRAME_WRITERS, compress_variant
from wireproof.cases.mutate.decode_trace import DecodeTrace
from wireproof.cases.mutate.draws import below, pick
from wireproof.cases.mutate.splice import REGION_ENCODERS, Splice, recompress_lz4
from wireproof.wire.trace import FieldSpan


def compressed_regions(trace: DecodeTrace) -> list[FieldSpan]:
    """Return the spans of the compressed streams, base64 included."""
    return [span for span in trace.spans if span.type in REGION_ENCODERS]


def edit_stream(trace: DecodeTrace, rng: Random) -> list[Splice]:
    """Return an edit of a compressed stream; without one, of any bytes."""
    regions = compressed_regions(trace)
    if not regions:
        return [random_splice(rng, trace.data)]
    region = pick(rng, regions)
    frame = compress_otherwise(trace, region, rng) if below(rng, 2) else None
    if frame is not None:
        return [Splice(region.space, region.start, region.end, frame)]
    return [random_splice(rng, trace.spaces[region.space], region.space, region.start, region.end)]


def compress_otherwise(trace: DecodeTrace, region: FieldSpan, rng: Random) -> bytes | None:
    """Compress the content of a region in another kind of frame.

    Return None if the region was not decompressed or cannot be compressed.
    """
    space = f"{region.space}{region.start}>"
    data = trace.spaces.get(space)
    if data is None or region.type not in FRAME_WRITERS:
        return None
    other = recompress_lz4(trace, region) if not below(rng, 4) else None
    if other is not None:
        return other
    ends = [element.end for element in trace.elements if element.space == space and element.end < len(data)]
    return compress_variant(region.type, data, rng, ends)
