"""Apply splices to encoded bytes, on the wire or inside compressed regions.

The lengths and checksums of the changed bytes are fixed up, and regions are compressed again, innermost
first.
"""

from base64 import b64encode
from collections.abc import Callable, Sequence
from typing import Final

from attrs import frozen

from wireproof.cases.edit_bytes import EditedBytes, fix_up, shift_spans
from wireproof.cases.mutate.decode_trace import DecodeTrace
from wireproof.wire.compression import COMPRESSION_CODECS, LZ4_KIP57
from wireproof.wire.trace import FieldSpan

REGION_ENCODERS: Final[dict[str, Callable[[bytes], bytes]]] = {
    **{codec.name: codec.pack for codec in COMPRESSION_CODECS.values()},
    "base64": lambda data: b'"' + b64encode(data) + b'"',
}
"""The functions that compress or encode the content of a region again, by the type of the region's span."""


@frozen
class Splice:
    """An edit: replace the bytes `start` to `end` of a space by `new`.

    Attributes:
        space: the space of the trace; empty for the wire.
        start: the first byte to replace.
        end: one past the last byte to replace.
        new: the replacement.
        spare: the path of a field that is not fixed up after the edit.
    """

    space: str
    start: int
    end: int
    new: bytes
    spare: str = ""


def apply_splices(
    parent: DecodeTrace, splices: Sequence[Splice], *, lengths: bool = True, sums: bool = True
) -> bytes:
    """Return the parent's bytes with the splices applied. Of overlapping splices, apply the last one.

    Args:
        parent: the bytes to edit and their trace.
        splices: the edits, in any spaces; their positions refer to the parent.
        lengths: whether to fix up lengths.
        sums: whether to fix up checksums; if not, lengths are not fixed up either.
    """
    if len(parent.spaces) == 1:
        return _splice_space(parent, "", splices, lengths=lengths, sums=sums)
    todo: dict[str, list[Splice]] = {}
    for splice in splices:
        todo.setdefault(splice.space, []).append(splice)
    for space in sorted((name for name in parent.spaces if name), key=_depth, reverse=True):
        if space in todo:
            inner = _splice_space(parent, space, todo.pop(space), lengths=lengths, sums=sums)
            region = region_of_space(parent, space)
            if region is not None:
                packed = Splice(region.space, region.start, region.end, region_encoder(parent, region)(inner))
                todo.setdefault(region.space, []).append(packed)
    return _splice_space(parent, "", todo.get("", []), lengths=lengths, sums=sums)


def _depth(space: str) -> int:
    return space.count(">")


def _splice_space(
    parent: DecodeTrace, space: str, splices: Sequence[Splice], *, lengths: bool, sums: bool
) -> bytes:
    """Apply the splices of one space, and fix up its lengths and checksums."""
    data, covering = parent.spaces[space], parent.covering_spans[space] if sums else ()
    if not lengths and covering:
        covering = parent.covering_spans_without_lengths[space]
    for splice in _separate(splices):
        start, end, new = splice.start, splice.end, splice.new
        data = data[:start] + new + data[end:]
        if covering:
            covering = shift_spans(covering, start, end, len(new) - (end - start))
    if not covering:
        return data
    spare = next((splice.spare for splice in splices if splice.spare), "")
    return fix_up(EditedBytes(data, covering), lengths=lengths, spare=spare, grow=True).data


def _separate(splices: Sequence[Splice]) -> Sequence[Splice]:
    """Return the splices from the last to the first, without those that overlap a later one."""
    if len(splices) < 2:
        return splices
    separate: list[Splice] = []
    for splice in sorted(splices, key=_bounds, reverse=True):
        if not separate or splice.end <= separate[-1].start:
            separate.append(splice)
    return separate


def _bounds(splice: Splice) -> tuple[int, int]:
    return splice.start, splice.end


def region_of_space(parent: DecodeTrace, space: str) -> FieldSpan | None:
    """Return the span from which `space` was decompressed; None if it cannot be compressed again."""
    outer, _, at = space[:-1].rpartition(">")
    outer, start = (f"{outer}>" if outer else ""), int(at)
    for span in parent.spans:
        if span.space == outer and span.type in REGION_ENCODERS and start in (span.start, span.start + 1):
            return span
    return None


def recompress_lz4(parent: DecodeTrace, region: FieldSpan) -> bytes | None:
    """Compress an LZ4 region again with the other kind of header checksum: kafka.md §2.3.

    Return None for other regions.
    """
    data = parent.spaces.get(f"{region.space}{region.start}>")
    if region.type != LZ4_KIP57.name or data is None:
        return None
    return (
        REGION_ENCODERS[region.type](data)
        if region_encoder(parent, region) is LZ4_KIP57.pack
        else LZ4_KIP57.pack(data)
    )


def region_encoder(parent: DecodeTrace, region: FieldSpan) -> Callable[[bytes], bytes]:
    """Return the function that compresses a region again.

    LZ4 in a v0 message has another header checksum: kafka.md §2.3.
    """
    if region.type != LZ4_KIP57.name:
        return REGION_ENCODERS[region.type]
    magics = [
        span
        for span in parent.spans
        if span.space == region.space and span.end <= region.start and span.path.endswith("magic")
    ]
    return LZ4_KIP57.pack if magics and magics[-1].value == 0 else REGION_ENCODERS[region.type]
