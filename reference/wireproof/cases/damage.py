"""Field-aware damage: edits of a named field of a layout, and the repair of what speaks of it.

Design, section 2, "The layout trace": where a field stands, and which bytes a length or checksum
speaks of, comes from the trace alone. Only the wire's own space is edited; what lies packed inside a
compressed region is reached by packing it again, which the mutators do.
"""

from collections.abc import Callable, Iterable, Sequence
from struct import error
from typing import Final

from attrs import evolve, frozen

from wireproof.wire.checksums import crc32, crc32c, xxh3_64
from wireproof.wire.reader import FIXED
from wireproof.wire.rejected import Rejected
from wireproof.wire.trace import Cover, Covering, Span
from wireproof.wire.writer import Writer

CHECKSUMS: Final[dict[Covering, Callable[[bytes], int]]] = {
    "crc32c": crc32c,
    "crc32": crc32,
    "xxh3-64": xxh3_64,
}
"""The checksums over bytes of the wire that can be repaired without a key."""

COUNTED: Final[tuple[Covering, ...]] = ("length", "count")


@frozen
class Damaged:
    """Bytes after an edit, and the layout as it now lies."""

    data: bytes
    spans: tuple[Span, ...]


def encoded(span: Span, value: int) -> bytes | None:
    """`value` in the type of the field; None where it does not fit or the type holds no integer."""
    if span.type not in FIXED and span.type not in ("varint", "varlong", "uvarint"):
        return None
    writer = Writer()
    try:
        getattr(writer, span.type)("", value)
    except (Rejected, error):
        return None
    return bytes(writer.data)


def replaced(data: bytes, spans: Sequence[Span], span: Span, new: bytes) -> Damaged:
    """The bytes with those of `span` replaced, and the layout moved with them."""
    grown = len(new) - (span.end - span.start)
    moved = tuple(_moved(one, span, grown) for one in spans if not one.space)
    return Damaged(data[: span.start] + new + data[span.end :], moved)


def _moved(one: Span, edited: Span, grown: int) -> Span:
    cover = one.cover
    if cover is not None:
        cover = evolve(cover, start=_at(cover.start, edited, grown), end=_at(cover.end, edited, grown))
    return evolve(one, start=_at(one.start, edited, grown), end=_at(one.end, edited, grown), cover=cover)


def _at(pos: int, edited: Span, grown: int) -> int:
    return pos + grown if pos >= edited.end else pos


def resealed(damaged: Damaged, *, lengths: bool = True, spare: str = "") -> Damaged:
    """Lengths, then checksums, made right again, those of smaller ranges first.

    Args:
        damaged: the bytes, and the layout that they have now.
        lengths: whether lengths are repaired too.
        spare: the path of a field that is left as it was damaged.
    """
    for covered in _inner_first(damaged.spans):
        assert covered.cover is not None
        if covered.path == spare or (covered.cover.kind == "length" and not lengths):
            continue
        new = _sealed(damaged.data, covered, covered.cover)
        if new is not None and len(new) == covered.end - covered.start:
            damaged = replaced(damaged.data, damaged.spans, covered, new)
    return damaged


def _inner_first(spans: Iterable[Span]) -> list[Span]:
    """Lengths before checksums, for the sum is over the length too; small ranges before large."""
    found = [span for span in spans if span.cover is not None and not span.space]
    return sorted(
        found,
        key=lambda span: (
            (span.cover.kind in CHECKSUMS, span.cover.end - span.cover.start) if span.cover else (False, 0)
        ),
    )


def _sealed(data: bytes, span: Span, cover: Cover) -> bytes | None:
    if cover.kind == "length":
        return encoded(span, cover.end - cover.start + cover.bias)
    check = CHECKSUMS.get(cover.kind)
    return encoded(span, check(data[cover.start : cover.end])) if check else None
