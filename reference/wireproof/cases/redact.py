"""Bytes without what their owner wrote: payloads replaced by filler of the same length, the fault kept. Pure.

Nothing is trusted to be harmless: only what the trace knows to be structure stays. Keys, values, header
values, payloads, and every byte that no field was read from become filler; packed regions are packed again;
lengths and checksums that were right are made right again, and those that were wrong stay as they were.
Whether the bytes still fail in the same way is for the caller to prove.
"""

from collections.abc import Iterator
from typing import Final

from attrs import evolve

from wireproof.cases.damage import right
from wireproof.cases.mutate.draft import Splice, drafted, region_of
from wireproof.cases.mutate.parsed import INTEGERS, Parsed, read
from wireproof.cases.mutate.repairing import repair
from wireproof.formats import Format
from wireproof.wire.options import DEFAULT, Options
from wireproof.wire.trace import Span

KEPT: Final = {
    "kafka": (".headers[].key", "xerial.magic", ".directoryId", ".tagged", ".host", ".name"),
    "iggy": ("headers[].key", ".id", "stream.value", "topic.value", "partitioning.value"),
    "heka": ("uuid", "type", "fields[].name", "representation", "header.hmac_signer", "header.hmac"),
}
"""The ends of the paths of bytes that are structure: names, identifiers, and what a control batch tells."""

FILLER: Final = {"kafka": b"x", "iggy": b"\x01", "heka": b"x"}
"""By system. Iggy's header values have kinds: 1 is a boolean, a character and a part of any number."""


HEAD: Final = {"kafka": 17, "iggy": 0, "heka": 0}
"""Bytes at the beginning that are structure, read or not: kafka.md §1.1, offset to magic."""


class RedactionError(ValueError):
    """Bytes that cannot be redacted; one line says why."""


def redactions(row: Format, data: bytes, options: Options = DEFAULT) -> Iterator[bytes]:
    """The bytes redacted, in up to two ways; in each of them nothing is left that is not structure.

    Where a checksum, length or count is wrong, nothing behind it was read: first the bytes are read as if
    it were right, which keeps the fields behind it; then everything behind it is filler.

    Raises:
        RedactionError: text of JSON that is refused, of which nothing says what is payload.
    """
    found = read(row, data, options)
    if found.rejected is None:
        yield _redacted(found, data)
        return
    if ".json." in row.name:
        raise RedactionError("JSON that is refused cannot be redacted: nothing says what in it is payload")
    mended = repair(row, data)
    if len(mended) == len(data) and mended != data:
        sound = read(row, mended, options)
        if _explained(sound, data):
            yield _redacted(sound, data)
    yield _redacted(found, data)


def _explained(sound: Parsed, data: bytes) -> bool:
    """Whether only integers on the wire are otherwise than in the repaired bytes."""
    numbers = [span for span in sound.integers if not span.space]
    places = {at for span in numbers for at in range(span.start, span.end)}
    return all(at in places for at, (one, two) in enumerate(zip(sound.data, data, strict=True)) if one != two)


def _redacted(found: Parsed, data: bytes) -> bytes:
    """What was read, redacted; where `data` differs from what was read, as `data` has it."""
    wrong = [
        span for span in found.integers if not span.space and _there(span, data) != _there(span, found.data)
    ]
    kept = [Splice("", span.start, span.end, _there(span, data)) for span in wrong]
    stubborn = {id(span) for span in (*wrong, *_false(found))}
    spans = tuple(evolve(span, cover=None) if id(span) in stubborn else span for span in found.spans)
    bare = Parsed(found.row, found.data, spans, found.spaces, found.value, found.rejected)
    opened = dict(_opened(bare))
    fill = [splice for space in ("", *opened) for splice in _filled(bare, space, list(opened.values()))]
    return drafted(bare, [*fill, *kept])


def _there(span: Span, data: bytes) -> bytes:
    return data[span.start : span.end]


def _false(found: Parsed) -> Iterator[Span]:
    """The lengths and checksums that are wrong."""
    for span in found.spans:
        data = found.spaces.get(span.space)
        if span.cover is not None and data is not None:
            told = right(data, span, span.cover)
            if told is not None and told != _there(span, data):
                yield span


def _filled(found: Parsed, space: str, opened: list[Span]) -> Iterator[Splice]:
    """Filler for all of a space but its structure, and but what is packed again."""
    system = found.row.name.partition(".")[0]
    here = [span for span in found.spans if span.space == space]
    if ".json." in found.row.name and not space:
        return
    stays = sorted((span.start, span.end) for span in here if _structure(span, KEPT[system]))
    stays += [(span.start, span.end) for span in opened if span.space == space]
    at = 0 if space else min(HEAD[system], len(found.data))
    for start, end in (*sorted(stays), (len(found.spaces[space]),) * 2):
        if start > at:
            yield Splice(space, at, start, FILLER[system] * (start - at))
        at = max(at, end)


def _structure(span: Span, kept: tuple[str, ...]) -> bool:
    path = "".join("[]" if part else head for head, part in _indices(span.path))
    return span.type in INTEGERS or (span.type == "bytes" and path.endswith(kept))


def _indices(path: str) -> Iterator[tuple[str, bool]]:
    """The parts of a path; True stands for an index."""
    for number, part in enumerate(path.replace("]", "[").split("[")):
        yield part, bool(number % 2)


def _opened(found: Parsed) -> Iterator[tuple[str, Span]]:
    """The spaces that were unpacked whole, to be redacted there and packed again; with their regions."""
    torn = found.rejected if found.rejected and found.rejected.cls == "decompress-failed" else None
    for space in filter(None, found.spaces):
        region = region_of(found, space)
        if region is not None and not (torn and torn.path.startswith(region.path)):
            yield space, region
