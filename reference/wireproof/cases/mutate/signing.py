"""Signatures of damaged frames made right again, where a key is known: heka.md, section 3."""

import re
from collections.abc import Iterator, Mapping
from random import Random
from typing import Final

from attrs import evolve

from wireproof.cases.mutate.draft import Splice, drafted
from wireproof.cases.mutate.draws import below, pick
from wireproof.cases.mutate.least import least, written
from wireproof.cases.mutate.parsed import Parsed
from wireproof.heka.auth import digest, key_name
from wireproof.heka.frame import Frame
from wireproof.heka.header import FUNCTIONS, Header
from wireproof.heka.stream import Stream
from wireproof.wire.rejected import Rejected
from wireproof.wire.trace import Span

Keys = Mapping[str, bytes]
"""Key bytes by `<signer>_<version>`, as `Options.keys` has them."""

_FRAME: Final = re.compile(r"frames\[(\d+)\]\.header\.hmac")


def signed_again(made: Parsed, keys: Keys) -> bytes:
    """The bytes with the HMAC of each frame whose signer has a key; a frame that bears none gets none."""
    if not isinstance(made.value, Stream):
        return made.data
    splices = list(_splices(made, made.value, keys))
    return drafted(made, splices, sums=True) if splices else made.data


def signer_named(made: Parsed, keys: Keys, rng: Random) -> bytes:
    """The bytes with one frame by a signer of whom there is a key; its HMAC is still to be made."""
    if not isinstance(made.value, Stream):
        return made.data
    frames = made.value.frames or (least(Frame),)
    at = below(rng, len(frames))
    signer, _, version = pick(rng, sorted(keys)).rpartition("_")
    function = pick(rng, (None, *FUNCTIONS))
    header = Header(
        hmac_hash_function=function,
        hmac_signer=signer.encode(errors="surrogateescape"),
        hmac_key_version=int(version) or pick(rng, (None, 0)),
        hmac=bytes(20 if function == "SHA1" else 16),
    )
    try:
        stream = Stream((*frames[:at], evolve(frames[at], header=header), *frames[at + 1 :]))
        return written(made.row, stream)
    except Rejected:
        return made.data


def nearly_signed(made: Parsed, rng: Random) -> bytes:
    """One HMAC with a byte changed, cut short, gone or too long: section 3, A04, A12, A15."""
    found = [span for span in made.spans if span.path.endswith("header.hmac") and span.type == "bytes"]
    if not found:
        return made.data
    one = pick(rng, found)
    now = made.data[one.start : one.end]
    cut = below(rng, len(now) + 1)
    new = pick(rng, (now[:cut], now[:cut], now + b"\0", now[:-1] + bytes([(now[-1:] or b"\0")[0] ^ 1])))
    return drafted(made, [Splice("", one.start, one.end, new)])


def _splices(made: Parsed, stream: Stream, keys: Keys) -> Iterator[Splice]:
    for span, index in _signatures(made.spans):
        if span.cover is None or index >= len(stream.frames):
            continue
        header = stream.frames[index].header
        key = keys.get(key_name(header))
        if key is not None:
            message = made.data[span.cover.start : span.cover.end]
            yield Splice("", span.start, span.end, digest(header, key, message))


def _signatures(spans: tuple[Span, ...]) -> Iterator[tuple[Span, int]]:
    """The HMACs of a trace, each with the place of its frame."""
    for span in spans:
        if span.cover is not None and span.cover.kind == "hmac" and (found := _FRAME.fullmatch(span.path)):
            yield span, int(found[1])
