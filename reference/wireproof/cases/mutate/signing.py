"""Signatures of damaged frames made right again, where a key is known: heka.md, section 3."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from wireproof.cases.mutate.draft import Splice, drafted
from wireproof.cases.mutate.parsed import Parsed
from wireproof.heka.auth import digest, key_name
from wireproof.heka.stream import Stream
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
