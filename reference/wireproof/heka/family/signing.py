"""Sign the frames of a mutated stream again if their key is known: heka.md, section 3."""

import re
from collections.abc import Iterator
from random import Random
from typing import Final

from attrs import evolve

from wireproof.cases.mutate.decode_trace import DecodeTrace
from wireproof.cases.mutate.draws import below, pick
from wireproof.cases.mutate.encodings import written
from wireproof.cases.mutate.mutation_rules import Keys
from wireproof.cases.mutate.splice import Splice, apply_splices
from wireproof.cases.mutate.values_of_type import smallest
from wireproof.heka.stream import (
    HASH_FUNCTIONS,
    HEKA_HEADER,
    FrameStream,
    HekaFrame,
    hmac_digest,
    key_name,
)
from wireproof.wire.rejection import Rejected
from wireproof.wire.trace import FieldSpan

_FRAME: Final = re.compile(r"frames\[(\d+)\]\.header\.hmac")


def sign_again(trace: DecodeTrace, keys: Keys) -> bytes:
    """Return the bytes with a valid HMAC in each signed frame whose signer has a key."""
    if not isinstance(trace.value, FrameStream):
        return trace.data
    splices = list(_splices(trace, trace.value, keys))
    return apply_splices(trace, splices, sums=True) if splices else trace.data


def name_signer(trace: DecodeTrace, keys: Keys, rng: Random) -> bytes:
    """Return the bytes with a signer that has a key in the header of one frame. Its HMAC is not computed."""
    if not isinstance(trace.value, FrameStream):
        return trace.data
    frames = trace.value.frames or (smallest(HekaFrame),)
    at = below(rng, len(frames))
    signer, _, version = pick(rng, sorted(keys)).rpartition("_")
    function = pick(rng, (None, *HASH_FUNCTIONS))
    header = HEKA_HEADER.type(
        hmac_hash_function=function,
        hmac_signer=signer.encode(errors="surrogateescape"),
        hmac_key_version=int(version) or pick(rng, (None, 0)),
        hmac=bytes(20 if function == "SHA1" else 16),
    )
    try:
        stream = FrameStream((*frames[:at], evolve(frames[at], header=header), *frames[at + 1 :]))
        return written(trace.row, stream)
    except Rejected:
        return trace.data


def damage_signature(trace: DecodeTrace, rng: Random) -> bytes:
    """Return the bytes with one HMAC changed, truncated, removed or too long: section 3, A04, A12, A15."""
    signatures = [span for span in trace.spans if span.path.endswith("header.hmac") and span.type == "bytes"]
    if not signatures:
        return trace.data
    signature = pick(rng, signatures)
    now = trace.data[signature.start : signature.end]
    size = below(rng, len(now) + 1)
    new = pick(rng, (now[:size], now[:size], now + b"\0", now[:-1] + bytes([(now[-1:] or b"\0")[0] ^ 1])))
    return apply_splices(trace, [Splice("", signature.start, signature.end, new)])


def _splices(trace: DecodeTrace, stream: FrameStream, keys: Keys) -> Iterator[Splice]:
    for span, index in _signatures(trace.spans):
        if span.cover is None or index >= len(stream.frames):
            continue
        header = stream.frames[index].header
        key = keys.get(key_name(header))
        if key is not None:
            message = trace.data[span.cover.start : span.cover.end]
            yield Splice("", span.start, span.end, hmac_digest(header, key, message))


def _signatures(spans: tuple[FieldSpan, ...]) -> Iterator[tuple[FieldSpan, int]]:
    """Yield the HMACs of a trace, each with the index of its frame."""
    for span in spans:
        if span.cover is not None and span.cover.kind == "hmac" and (match := _FRAME.fullmatch(span.path)):
            yield span, int(match[1])
