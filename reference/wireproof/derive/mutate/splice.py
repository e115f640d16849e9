"""Random splices, applied to encoded bytes on the wire or inside compressed regions, and repairs.

The lengths and checksums of the changed bytes are fixed up, and regions are compressed again, innermost
first.
"""

from base64 import b64encode
from collections.abc import Callable, Sequence
from operator import attrgetter
from random import Random
from typing import Final, Literal

from attrs import frozen

from wireproof.derive.edit_bytes import (
    EditedBytes,
    encode_field,
    first_length,
    fix_up,
    name_of,
    shift_spans,
    size_kind,
)
from wireproof.derive.mutate.decode_trace import DecodeTrace, trace_of
from wireproof.derive.mutate.draws import below, boundary_integer, pick
from wireproof.derive.mutate.mutation_rules import Keys, rules_of
from wireproof.formats import Format
from wireproof.schema.layout import declared_lengths
from wireproof.wire.compression import COMPRESSION_CODECS, LZ4_KIP57
from wireproof.wire.reader import FIXED_WIDTH
from wireproof.wire.rejection import RejectClass, Rejected
from wireproof.wire.trace import FieldSpan

REGION_ENCODERS: Final[dict[str, Callable[[bytes], bytes]]] = {
    **{codec.name: codec.pack for codec in COMPRESSION_CODECS.values()},
    "base64": lambda data: b'"' + b64encode(data) + b'"',
}
"""The functions that compress or encode the content of a region again, by the type of the region's span."""


@frozen
class Splice:
    """An edit: replace the bytes `start` to `end` of a space, empty for the wire, by `new`.

    `spare` is the path of a field that is not fixed up after the edit.
    """

    space: str
    start: int
    end: int
    new: bytes
    spare: str = ""


def apply_splices(
    parent: DecodeTrace, splices: Sequence[Splice], *, lengths: bool = True, sums: bool = True
) -> bytes:
    """Return the parent's bytes with the splices applied, in any spaces; of overlapping ones the last one.

    Lengths are fixed up with `lengths`, checksums with `sums`; without checksums no lengths are either.
    """
    if len(parent.spaces) == 1:
        return _splice_space(parent, "", splices, lengths=lengths, sums=sums)
    todo: dict[str, list[Splice]] = {}
    for splice in splices:
        todo.setdefault(splice.space, []).append(splice)
    inner_first = sorted(filter(None, parent.spaces), key=lambda space: space.count(">"), reverse=True)
    for space in inner_first:
        if space in todo:
            inner = _splice_space(parent, space, todo.pop(space), lengths=lengths, sums=sums)
            region = region_of_space(parent, space)
            if region is not None:
                packed = Splice(region.space, region.start, region.end, region_encoder(parent, region)(inner))
                todo.setdefault(region.space, []).append(packed)
    return _splice_space(parent, "", todo.get("", []), lengths=lengths, sums=sums)


def _splice_space(
    parent: DecodeTrace, space: str, splices: Sequence[Splice], *, lengths: bool, sums: bool
) -> bytes:
    """Apply the splices of one space, and fix up its lengths and checksums."""
    data, covering = parent.spaces[space], parent.covering_spans[space] if sums else ()
    if not lengths:
        covering = tuple([span for span in covering if span.cover and span.cover.kind != "length"])
    separate: list[Splice] = []  # from the last to the first, without those that overlap a later one
    for splice in sorted(splices, key=attrgetter("start", "end"), reverse=True):
        if not separate or splice.end <= separate[-1].start:
            separate.append(splice)
    for splice in separate:
        start, end, new = splice.start, splice.end, splice.new
        data = data[:start] + new + data[end:]
        if covering:
            covering = shift_spans(covering, start, end, len(new) - (end - start))
    if not covering:
        return data
    spare = next((splice.spare for splice in splices if splice.spare), "")
    return fix_up(EditedBytes(data, covering), lengths=lengths, spare=spare, grow=True).data


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
    is_old = region_encoder(parent, region) is LZ4_KIP57.pack
    return (REGION_ENCODERS[region.type] if is_old else LZ4_KIP57.pack)(data)


def region_encoder(parent: DecodeTrace, region: FieldSpan) -> Callable[[bytes], bytes]:
    """Return what compresses a region again; LZ4 in v0 has another header checksum: kafka.md §2.3."""
    if region.type != LZ4_KIP57.name:
        return REGION_ENCODERS[region.type]
    magics = [
        span
        for span in parent.spans
        if span.space == region.space and span.end <= region.start and span.path.endswith("magic")
    ]
    return LZ4_KIP57.pack if magics and magics[-1].value == 0 else REGION_ENCODERS[region.type]


LENGTHS: Final[frozenset[RejectClass]] = frozenset((
    "truncated", "length-past-end", "bad-length", "negative-length", "length-mismatch", "trailing-data",
    "count-mismatch",
))  # fmt: skip
"""The refusals that another length or count can fix."""


def repair(row: Format, data: bytes, keys: Keys | None = None) -> bytes:
    """Return the bytes with correct lengths, counts and checksums, also inside compressed regions.

    With `keys`, fix up signatures as well. The repair stops at the first fault that no length, count or
    checksum explains. In accepted bytes, checksums that readers do not verify are fixed up too.
    """
    for _ in range(8):  # each takes at least one decode
        made = trace_of(row, data)
        again = sealed(made)
        if again == data and made.rejected is not None:
            again = _mended(row, made, made.rejected)
        if again == data:
            break
        data = again
    signing = rules_of(row).signing
    return data if keys is None or signing is None else signing.sign_again(trace_of(row, data), keys)


def sealed(made: DecodeTrace) -> bytes:
    """Fix up every checksum, innermost first. Only compress a region again if a checksum in it was wrong."""
    rejected, touched = made.rejected, []
    if rejected is not None and rejected.cls == "crc-mismatch":
        spaces = (space for space in made.spaces if space and str(rejected.at).startswith(space))
        touched = [Splice(space, 0, 0, b"") for space in spaces]
    return apply_splices(made, touched, lengths=bool(touched))


def _mended(row: Format, made: DecodeTrace, rejected: Rejected) -> bytes:
    """Return the bytes with one length or count changed, if a reader then gets further."""
    if rejected.cls not in LENGTHS:
        return made.data
    if not made.spans:  # the length that values begin with becomes the number of bytes after it
        data, known = made.data, first_length(row.layout)
        if known is None or known[1] not in FIXED_WIDTH:
            return data
        at, packing = known[0], FIXED_WIDTH[known[1]]
        end = at + packing.size
        return data[:at] + packing.pack(len(data) - end) + data[end:] if len(data) > end else data
    best, reach = made.data, _reach(made)
    # The integers that may have caused the refusal, by its position and path, and the last ones.
    layout, (scope, _, name) = made.row.layout, rejected.path.rpartition(".")
    lengths = declared_lengths(layout).get(name, frozenset())
    named = [one for one in made.integers if one.path == rejected.path or one.at == rejected.at]
    counting = [
        one
        for one in made.integers
        if size_kind(one, layout) == "count" and one.path.startswith(scope.partition("[")[0])
    ]
    about = [one for one in made.integers if name_of(one) in lengths]
    found = [*named[-1:], *about[-1:], *made.integers[-1:], *counting[-2:]]
    for span in {one.path: one for one in found}.values():
        # What the number may have been: the remaining size, off by one, a count, 0, -1.
        left, now = len(made.spaces[span.space]) - span.end, int(span.value)
        many = [one.index for one in made.elements if one.space == span.space or not span.space]
        counts = max(many, default=-1) + 1, max(many, default=0)
        for value in dict.fromkeys((left, now - 1, now + 1, *counts, 0, -1)):
            new = encode_field(span, value)
            if new is None or value == span.value:
                continue
            data = apply_splices(made, [Splice(span.space, span.start, span.end, new, span.path)])
            again = trace_of(row, data)
            ends = [one.end for one in again.spans[-1:]]  # a stream without a whole frame has no fields
            if again.rejected is None and len(again.spaces) == 1 and ends == [len(data)]:
                return data  # nothing reads more of it
            if _reach(again) > reach:
                best, reach = data, _reach(again)
    return best


def _reach(made: DecodeTrace) -> tuple[bool, int]:
    """Return how far a reader got, for comparison."""
    return made.rejected is None, len(made.spans)


BYTE_WIDTHS: Final = (1, 2, 4, 8)


def random_splice(
    rng: Random, data: bytes, space: str = "", start: int = 0, end: int | None = None
) -> Splice:
    """Return one random edit between `start` and `end` of the bytes of a space."""
    stop = len(data) if end is None else end
    at = start + below(rng, stop - start) if stop > start else start
    match below(rng, 7):
        case 0 | 1 if at < stop:
            return Splice(space, at, at + 1, bytes([data[at] ^ 1 << below(rng, 8)]))
        case 2 if at < stop:
            return Splice(space, at, at + 1, bytes([pick(rng, (0, 1, 0x7F, 0x80, 0xFF, below(rng, 256)))]))
        case 3 if at < stop:
            return Splice(space, at, min(at + pick(rng, BYTE_WIDTHS), stop), b"")
        case 4 if at < stop:
            width = min(pick(rng, BYTE_WIDTHS), stop - at)
            order: Literal["big", "little"] = pick(rng, ("big", "little"))
            now = int.from_bytes(data[at : at + width], order)
            new = boundary_integer(rng, now, len(data) - at - width) & (1 << 8 * width) - 1
            return Splice(space, at, at + width, new.to_bytes(width, order))
        case 5 if at < stop:
            source = start + below(rng, stop - start)
            return Splice(space, at, at, data[source : source + pick(rng, (1, 4, 16))])
        case _:
            return Splice(space, at, at, rng.randbytes(pick(rng, (1, 1, 2, 4))))


def mutate_bytes(rng: Random, data: bytes) -> bytes:
    """Apply one to three random edits to bytes."""
    for _ in range(pick(rng, (1, 1, 2, 3))):
        splice = random_splice(rng, data)
        data = data[: splice.start] + splice.new + data[splice.end :]
    return data
