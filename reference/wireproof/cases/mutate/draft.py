"""Bytes under edit: splices in any space of a trace, packed and sealed again from the inside out."""

from base64 import b64encode
from collections.abc import Callable, Sequence
from typing import Final

from attrs import frozen

from wireproof.cases.damage import Damaged, resealed, shifted
from wireproof.cases.mutate.parsed import Parsed
from wireproof.wire.compress import CODECS, KIP57
from wireproof.wire.trace import Span

PACKERS: Final[dict[str, Callable[[bytes], bytes]]] = {
    **{codec.name: codec.pack for codec in CODECS.values()},
    "base64": lambda data: b'"' + b64encode(data) + b'"',
}
"""How the bytes of a region are made of what was in it, by the type of the region's span."""


@frozen
class Splice:
    """The bytes `start` to `end` of a space are to be `new`; the field `spare` is not to be repaired."""

    space: str
    start: int
    end: int
    new: bytes
    spare: str = ""


def drafted(parent: Parsed, splices: Sequence[Splice], *, lengths: bool = True, sums: bool = True) -> bytes:
    """The parent's bytes with the splices made; where two meet, the one that stands further back is made.

    Args:
        parent: what is edited; positions are its own.
        splices: the edits, of any space.
        lengths: whether lengths are made right again.
        sums: whether checksums are; without them lengths are not either.
    """
    if len(parent.spaces) == 1:
        return _edited(parent, "", splices, lengths=lengths, sums=sums)
    todo: dict[str, list[Splice]] = {}
    for splice in splices:
        todo.setdefault(splice.space, []).append(splice)
    for space in sorted((name for name in parent.spaces if name), key=_depth, reverse=True):
        if space in todo:
            inner = _edited(parent, space, todo.pop(space), lengths=lengths, sums=sums)
            region = region_of(parent, space)
            if region is not None:
                packed = Splice(region.space, region.start, region.end, packer(parent, region)(inner))
                todo.setdefault(region.space, []).append(packed)
    return _edited(parent, "", todo.get("", []), lengths=lengths, sums=sums)


def _depth(space: str) -> int:
    return space.count(">")


def _edited(parent: Parsed, space: str, splices: Sequence[Splice], *, lengths: bool, sums: bool) -> bytes:
    data, speaking = parent.spaces[space], parent.speaking[space] if sums else ()
    if not lengths and speaking:
        speaking = parent.summing[space]
    for splice in _apart(splices):
        start, end, new = splice.start, splice.end, splice.new
        data = data[:start] + new + data[end:]
        if speaking:
            speaking = shifted(speaking, start, end, len(new) - (end - start))
    if not speaking:
        return data
    spare = next((splice.spare for splice in splices if splice.spare), "")
    return resealed(Damaged(data, speaking), lengths=lengths, spare=spare, grow=True).data


def _apart(splices: Sequence[Splice]) -> Sequence[Splice]:
    """From the last on, but for those that meet one that stands further back."""
    if len(splices) < 2:
        return splices
    made: list[Splice] = []
    for splice in sorted(splices, key=_place, reverse=True):
        if not made or splice.end <= made[-1].start:
            made.append(splice)
    return made


def _place(splice: Splice) -> tuple[int, int]:
    return splice.start, splice.end


def region_of(parent: Parsed, space: str) -> Span | None:
    """The span that the bytes of `space` were unpacked from; None where nothing packs it again."""
    outer, _, at = space[:-1].rpartition(">")
    outer, start = (f"{outer}>" if outer else ""), int(at)
    for span in parent.spans:
        if span.space == outer and span.type in PACKERS and start in (span.start, span.start + 1):
            return span
    return None


def repacked(parent: Parsed, region: Span) -> bytes | None:
    """An LZ4 region with the header checksum of the other sort: kafka.md §2.3. None for other regions."""
    data = parent.spaces.get(f"{region.space}{region.start}>")
    if region.type != KIP57.name or data is None:
        return None
    return PACKERS[region.type](data) if packer(parent, region) is KIP57.pack else KIP57.pack(data)


def packer(parent: Parsed, region: Span) -> Callable[[bytes], bytes]:
    """What packs a region again; LZ4 in a v0 message has a checksum of its own: kafka.md §2.3."""
    if region.type != KIP57.name:
        return PACKERS[region.type]
    magics = [
        span
        for span in parent.spans
        if span.space == region.space and span.end <= region.start and span.path.endswith("magic")
    ]
    return KIP57.pack if magics and magics[-1].value == 0 else PACKERS[region.type]
