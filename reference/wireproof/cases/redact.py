"""Redaction: payloads are replaced by filler of the same length, and the fault is kept. Pure.

Only bytes that the trace shows to be structure stay. Keys, values, header values, payloads, and every byte
outside all fields become filler; compressed regions are compressed again; right lengths and checksums are
fixed up, wrong ones stay as they were. The caller must prove that the bytes still fail in the same way.
"""

from collections.abc import Iterator

from attrs import evolve

from wireproof.cases.edit_bytes import correct_bytes
from wireproof.cases.mutate.decode_trace import INTEGER_TYPES, DecodeTrace, trace_of
from wireproof.cases.mutate.repairing import repair
from wireproof.cases.mutate.splice import Splice, apply_splices, region_of_space
from wireproof.formats import Format, family_of
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.trace import FieldSpan


class RedactionError(ValueError):
    """The bytes cannot be redacted; one line gives the reason."""


def redactions(row: Format, data: bytes, options: Options = DEFAULT_OPTIONS) -> Iterator[bytes]:
    """Yield the bytes redacted, in up to two ways; each contains nothing but structure and filler.

    After a wrong checksum, length or count nothing is decoded. First the bytes are decoded as if it were
    right, which keeps the later fields; then everything after it is filler.

    Raises:
        RedactionError: text of JSON that is rejected, in which payload and structure cannot be distinguished.
    """
    found = trace_of(row, data, options)
    if found.rejected is None:
        yield _redacted(found, data)
        return
    if row.is_json:
        raise RedactionError(
            "JSON that is refused cannot be redacted: payload and structure cannot be distinguished"
        )
    repaired = repair(row, data)
    if len(repaired) == len(data) and repaired != data:
        reread = trace_of(row, repaired, options)
        if _explained(reread, data):
            yield _redacted(reread, data)
    yield _redacted(found, data)


def _explained(sound: DecodeTrace, data: bytes) -> bool:
    """Return whether the bytes differ from the fixed-up bytes only in outermost integers."""
    numbers = [span for span in sound.integers if not span.space]
    places = {at for span in numbers for at in range(span.start, span.end)}
    return all(at in places for at, (one, two) in enumerate(zip(sound.data, data, strict=True)) if one != two)


def _redacted(found: DecodeTrace, data: bytes) -> bytes:
    """Return the decoded bytes redacted; differences in `data` are kept."""
    wrong = [
        span
        for span in found.integers
        if not span.space and _bytes_of(span, data) != _bytes_of(span, found.data)
    ]
    kept = [Splice("", span.start, span.end, _bytes_of(span, data)) for span in wrong]
    stubborn = {id(span) for span in (*wrong, *_wrong_covers(found))}
    spans = tuple(evolve(span, cover=None) if id(span) in stubborn else span for span in found.spans)
    bare = DecodeTrace(found.row, found.data, spans, found.spaces, found.value, found.rejected)
    opened = dict(_decompressed_regions(bare))
    fill = [splice for space in ("", *opened) for splice in _filled(bare, space, list(opened.values()))]
    return apply_splices(bare, [*fill, *kept])


def _bytes_of(span: FieldSpan, data: bytes) -> bytes:
    return data[span.start : span.end]


def _wrong_covers(found: DecodeTrace) -> Iterator[FieldSpan]:
    """Yield the lengths and checksums that are wrong."""
    for span in found.spans:
        data = found.spaces.get(span.space)
        if span.cover is not None and data is not None:
            correct = correct_bytes(data, span, span.cover)
            if correct is not None and correct != _bytes_of(span, data):
                yield span


def _filled(found: DecodeTrace, space: str, opened: list[FieldSpan]) -> Iterator[Splice]:
    """Yield filler for all of a space but its structure and its decompressed regions."""
    redaction = family_of(found.row).redaction
    here = [span for span in found.spans if span.space == space]
    if found.row.is_json and not space:
        return
    stays = sorted((span.start, span.end) for span in here if _structure(span, redaction.kept_paths))
    stays += [(span.start, span.end) for span in opened if span.space == space]
    at = 0 if space else min(redaction.kept_head_bytes, len(found.data))
    for start, end in (*sorted(stays), (len(found.spaces[space]),) * 2):
        if start > at:
            yield Splice(space, at, start, redaction.filler * (start - at))
        at = max(at, end)


def _structure(span: FieldSpan, kept: tuple[str, ...]) -> bool:
    path = "".join("[]" if part else head for head, part in _indices(span.path))
    return span.type in INTEGER_TYPES or (span.type == "bytes" and path.endswith(kept))


def _indices(path: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a path; True marks an index."""
    for number, part in enumerate(path.replace("]", "[").split("[")):
        yield part, bool(number % 2)


def _decompressed_regions(found: DecodeTrace) -> Iterator[tuple[str, FieldSpan]]:
    """Yield the spaces that were decompressed whole, with their regions."""
    torn = found.rejected if found.rejected and found.rejected.cls == "decompress-failed" else None
    for space in filter(None, found.spaces):
        region = region_of_space(found, space)
        if region is not None and not (torn and torn.path.startswith(region.path)):
            yield space, region
