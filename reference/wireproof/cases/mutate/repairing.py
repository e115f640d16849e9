"""Fix up the lengths, counts and checksums of damaged bytes, using the covers of their trace."""

from typing import Final

from wireproof.cases.edit_bytes import encode_field
from wireproof.cases.mutate.decode_trace import DecodeTrace, trace_of
from wireproof.cases.mutate.mutation_rules import Keys, rules_of
from wireproof.cases.mutate.splice import Splice, apply_splices
from wireproof.cases.size_fields import first_length, name_of, size_kind
from wireproof.formats import Format
from wireproof.wire.layout import declared_lengths
from wireproof.wire.reader import FIXED_WIDTH
from wireproof.wire.reject_classes import RejectClass
from wireproof.wire.rejection import Rejected
from wireproof.wire.trace import FieldSpan

ROUNDS: Final = 8
"""The most repairs of one input; each takes at least one decode."""

LENGTHS: Final[frozenset[RejectClass]] = frozenset(
    (
        "truncated",
        "length-past-end",
        "bad-length",
        "negative-length",
        "length-mismatch",
        "trailing-data",
        "count-mismatch",
    )
)
"""The refusals that another length or count can fix."""


def repair(row: Format, data: bytes, keys: Keys | None = None) -> bytes:
    """Return the bytes with correct lengths, counts and checksums, also inside compressed regions.

    With `keys`, fix up signatures as well. The repair stops at the first fault that no length, count or
    checksum explains. In accepted bytes, checksums that readers do not verify are fixed up too.
    """
    for _ in range(ROUNDS):
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
    data = apply_splices(made, [], lengths=False)
    touched = [space for space in made.spaces if space and _unsealed(made, space)]
    if not touched:
        return data
    nothing = [Splice(space, 0, 0, b"") for space in touched]
    return apply_splices(made, nothing)


def _unsealed(made: DecodeTrace, space: str) -> bool:
    rejected = made.rejected
    return rejected is not None and rejected.cls == "crc-mismatch" and str(rejected.at).startswith(space)


def _mended(row: Format, made: DecodeTrace, rejected: Rejected) -> bytes:
    """Return the bytes with one length or count changed, if a reader then gets further."""
    if rejected.cls not in LENGTHS:
        return made.data
    if not made.spans:
        return _with_first_length(row, made.data)
    best, reach = made.data, _reach(made)
    for span in _suspects(made, rejected):
        for value in _fitting(made, span):
            new = encode_field(span, value)
            if new is None or value == span.value:
                continue
            data = apply_splices(made, [Splice(span.space, span.start, span.end, new, span.path)])
            again = trace_of(row, data)
            if _reach(again) > reach:
                best, reach = data, _reach(again)
    return best


def _with_first_length(row: Format, data: bytes) -> bytes:
    """Set the length that values begin with to the number of bytes after it."""
    known = first_length(row.layout)
    if known is None or known[1] not in FIXED_WIDTH:
        return data
    at, packing = known[0], FIXED_WIDTH[known[1]]
    end = at + packing.size
    return data[:at] + packing.pack(len(data) - end) + data[end:] if len(data) > end else data


def _reach(made: DecodeTrace) -> tuple[bool, int]:
    """Return how far a reader got, for comparison."""
    return made.rejected is None, len(made.spans)


def _suspects(made: DecodeTrace, rejected: Rejected) -> list[FieldSpan]:
    """Return the integers that may have caused the refusal, by its position and path, and the last ones."""
    layout, (scope, _, name) = made.row.layout, rejected.path.rpartition(".")
    lengths = declared_lengths(layout).get(name, frozenset())
    named = [one for one in made.integers if one.path == rejected.path or one.at == rejected.at]
    counting = [
        one
        for one in made.integers
        if size_kind(one, layout) == "count" and one.path.startswith(scope.partition("[")[0])
    ]
    about = [one for one in made.integers if name_of(one) in lengths]
    return [*named[-1:], *about[-1:], *made.integers[-1:], *counting[-2:]]


def _fitting(made: DecodeTrace, span: FieldSpan) -> tuple[int, ...]:
    """Return candidates for the original number: the remaining size, off by one, a count, 0, -1."""
    left = len(made.spaces[span.space]) - span.end
    now = int(span.value)
    many = [one.index for one in made.elements if one.space == span.space or not span.space]
    return (left, now - 1, now + 1, max(many, default=-1) + 1, max(many, default=0), 0, -1)
