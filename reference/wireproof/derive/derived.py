"""Derived families: relations that hold for every accepted fixture once its bytes are changed.

Each family states a relation between a fixture and its changed bytes. Only where the relation leaves the
answer open, the reference gives the expectation. `broken_relations` checks the reference itself against every
relation. In inputs over 1 KiB only the ends and the field boundaries are changed. See architecture.md#cases.
"""

from collections.abc import Callable, Container, Iterable, Iterator
from functools import partial
from itertools import chain, islice, product
from typing import TYPE_CHECKING, Any, Final

from attrs import evolve, frozen

from wireproof import formats
from wireproof.cases.case import (
    ORIGIN_REFERENCE,
    ORIGIN_RELATION,
    Accept,
    Case,
    Chunks,
    Data,
    Either,
    Expect,
    Reject,
    Source,
)
from wireproof.cases.reference_answers import expectation_of_bytes, reference_expectation, with_refusal_level
from wireproof.cases.stream_prefix import StreamFrames, stream_frames, stream_value
from wireproof.derive.edit_bytes import (
    EditedBytes,
    checksums,
    encode_field,
    fix_up,
    replace_field,
    size_kind,
)
from wireproof.formats import FORMATS, Format
from wireproof.wire.rejection import RejectClass, Remark
from wireproof.wire.trace import CoverKind, FieldSpan

if TYPE_CHECKING:
    from wireproof.wire.json_values import Json

EVERY_POSITION_BELOW: Final = 1024
"""Bytes up to which every position is changed."""

EDGE_BYTES: Final = 64
"""Positions changed at either end of a longer input."""

CLASS_BY_CHECKSUM: Final[dict[CoverKind, RejectClass]] = {
    **dict.fromkeys(checksums(), "crc-mismatch"),
    "hmac": "auth-failed",
}
"""The class that a flip under a checksum or signature must be rejected as, by its kind."""


@frozen
class ParentCase:
    """An accepted fixture with what its families are made of."""

    case: Case
    fmt: Format
    data: bytes
    accept: Accept
    spans: tuple[FieldSpan, ...]
    remarks: tuple[Remark, ...] = ()

    @property
    def whole(self) -> bytes:
        """Return the bytes of the value, without the bytes after it."""
        return self.data[: self.accept.consumed]

    def positions(self, stop: int) -> list[int]:
        return _positions(stop, (span.start for span in self.spans if not span.space))


def _positions(stop: int, edges: Iterable[int]) -> list[int]:
    """Return every position below `stop`; over 1 KiB the first and last 64 and the edges of fields."""
    if stop <= EVERY_POSITION_BELOW:
        return list(range(stop))
    near = {*range(EDGE_BYTES), *range(stop - EDGE_BYTES, stop)}
    near |= {at for edge in edges for at in (edge - 1, edge)}
    return sorted(at for at in near if 0 <= at < stop)


@frozen
class DerivedInput:
    """Bytes of a family, and their expectation; None leaves it to the reference."""

    data: bytes
    expect: Expect | None = None
    title: str = ""


def derived_cases(case: Case) -> Iterator[Case]:
    """Yield every derived case of a golden one; none for a rejected case or an encode.

    The items of an accepted scan hold for every split of its bytes.
    """
    match case.input, case.expect:
        case Chunks(chunks), Accept(value={"items": [*items]}) as whole if case.op == "scan":
            data = b"".join(chunks)
            edges = [item["at"] for item in items if isinstance(item, dict) and isinstance(item["at"], int)]
            yield from _in_chunks(case, whole, data, _positions(len(data), edges))
    parent = _parent(case)
    if parent is None:
        return
    for name, family in FAMILIES.items():
        for number, made in enumerate(family(parent)):
            yield _case(parent, name, number, made)
    yield from _joined(parent)
    yield from _chunked(parent)


def sample_derived(case: Case, number: int) -> Iterator[Case]:
    """Yield one case of one family with a stated relation, both chosen by `number`."""
    parent = _parent(case)
    if parent is None:
        return
    names = ("truncate", "flip", "append", "join", "chunk")  # with a relation for some members at least
    name, place = names[number % len(names)], number // len(names) % 64
    match name:
        case "join":
            yield from _joined(parent)
        case "chunk":
            yield from islice(_chunked(parent), place, place + 1)
        case _:
            some = [made for made in islice(FAMILIES[name](parent), place, place + 1) if made.expect]
            yield from (_case(parent, name, place, made) for made in some)


def _parent(case: Case) -> ParentCase | None:
    fmt = FORMATS.get(case.format_id)
    if fmt is None or case.op != "decode" or isinstance(case.expect, Reject) or case.profile != "reader":
        return None
    if not isinstance(case.input, Data) or case.options.isolation != "read_uncommitted":
        return None
    layout = formats.decode_with_trace(fmt, case.input.data, case.options)
    if layout.decoded is None:
        return None
    accept, remarks = case.expect, layout.decoded.remarks
    if isinstance(accept, Either) and any(remark.rejectable for remark in remarks):
        # The answer is open in derived cases too.
        values = (one.expect for one in accept.behaviours if isinstance(one.expect, Accept))
        accept = next(values, accept)
    if not isinstance(accept, Accept):
        return None
    if accept.consumed is None:
        accept = evolve(accept, consumed=layout.decoded.consumed)
    return ParentCase(case, fmt, case.input.data, accept, layout.spans, remarks)


def _case(parent: ParentCase, family: str, number: int, made: DerivedInput) -> Case:
    expect = made.expect or expectation_of_bytes(parent.fmt, made.data, parent.case.options)
    twin = parent.case.id if isinstance(expect, Reject) else None
    case = evolve(
        parent.case,
        id=f"{parent.case.id}~{family}:{number}",
        input=Data(made.data),
        expect=expect,
        title=made.title or f"{family} of {parent.case.title}",
        twin=twin,
        parent=parent.case.id,
        family=family,
        source=Source(ORIGIN_RELATION if made.expect else ORIGIN_REFERENCE, parent.case.id),
    )
    return with_refusal_level(case)


def _truncate(parent: ParentCase) -> Iterator[DerivedInput]:
    """Truncate: a frame is rejected, a stream keeps its prefix; elsewhere the reference decides."""
    frames: StreamFrames | None = None
    if parent.fmt.scan is not None and parent.case.options.fetch_offset is None:  # which leaves frames out
        frames = stream_frames(parent.fmt.name, parent.accept, parent.spans, parent.remarks)
    for stop in parent.positions(len(parent.whole)):
        expect = Reject("truncated") if parent.fmt.delimited else frames and frames.within(stop)
        yield DerivedInput(parent.whole[:stop], expect or None, f"the first {stop} bytes")


def _flip(parent: ParentCase) -> Iterator[DerivedInput]:
    """Flip bits: a flip under a checksum, or under a signature whose key is known, must be rejected.

    In a stream the rest may become a cut tail, if the flip changes a length under the checksum.
    """
    for span, start, end in _covered_ranges(parent.spans, CLASS_BY_CHECKSUM):
        assert span.cover is not None
        torn = parent.fmt.scan is not None and span.cover.kind in checksums()
        lengths = {
            at
            for one in parent.spans
            if torn and not one.space and size_kind(one, parent.fmt.layout) == "length"
            for at in range(one.start, one.end)
        }
        # Only some readers check a wrapper's own checksum, because the messages in it have checksums too
        # (kafka.md section 2.2). Only readers with keys can check a signature.
        may_ignore = (
            parent.case.options.keys is None
            if span.cover.kind == "hmac"
            else any(one.space and one.cover and one.cover.kind in checksums() for one in parent.spans)
        )
        definite = None if may_ignore else Reject(CLASS_BY_CHECKSUM[span.cover.kind])
        for at in parent.positions(end):
            if at >= start:
                expect = None if at in lengths else definite
                yield DerivedInput(_flipped(parent.data, at), expect, f"bit {at % 8} of byte {at}")


def _flipped(data: bytes, at: int) -> bytes:
    flipped = bytearray(data)
    flipped[at] ^= 1 << at % 8
    return bytes(flipped)


def _covered_ranges(spans: Iterable[FieldSpan], kinds: Container[str]) -> list[tuple[FieldSpan, int, int]]:
    """Return each checksum of one of `kinds` with its own range, and with the range that it covers."""
    ranges: list[tuple[FieldSpan, int, int]] = []
    for span in spans:
        if span.cover is not None and span.cover.kind in kinds and not span.space:
            ranges += [(span, span.start, span.end), (span, span.cover.start, span.cover.end)]
    return ranges


def _append(parent: ParentCase) -> Iterator[DerivedInput]:
    """Append bytes: they change neither the value of a frame nor the bytes consumed."""
    for tail in (b"\x00", b"\xff" * 7, b"\x00" * 61):
        definite = evolve(parent.accept) if parent.fmt.delimited else None
        yield DerivedInput(parent.whole + tail, definite, f"{len(tail)} bytes appended")


def _length_edits(parent: ParentCase, *, fixed_up: bool) -> Iterator[DerivedInput]:
    for kind, span in product(("length", "count"), parent.spans):
        if span.space or not isinstance(span.value, int) or size_kind(span, parent.fmt.layout) != kind:
            continue
        for step in (-1, 1):
            new = encode_field(span, span.value + step)
            if new is None:
                continue
            damaged = replace_field(parent.data, parent.spans, span, new)
            if fixed_up:
                damaged = fix_up(damaged, spare=span.path)
            title = f"{span.path} {step:+d}{' and fixed up' if fixed_up else ''}"
            yield DerivedInput(damaged.data, None, title)


def _flips_fixed_up(parent: ParentCase) -> Iterator[DerivedInput]:
    """Flip bits and fix up the checksums: now the fields themselves must be checked."""
    if not _covered_ranges(parent.spans, checksums()):
        return
    outer = tuple(span for span in parent.spans if not span.space)
    for at in parent.positions(len(parent.whole)):
        made = fix_up(EditedBytes(_flipped(parent.data, at), outer), lengths=False)
        yield DerivedInput(made.data, None, f"bit {at % 8} of byte {at}, fixed up")


FAMILIES: Final[dict[str, Callable[[ParentCase], Iterator[DerivedInput]]]] = {
    "truncate": _truncate,
    "flip": _flip,
    "append": _append,
    "count-length": partial(_length_edits, fixed_up=False),
    "sealed-count-length": partial(_length_edits, fixed_up=True),
    "sealed-flip": _flips_fixed_up,
}
"""The families of one input, by their name in the ids."""


def _joined(parent: ParentCase) -> Iterator[Case]:
    """Join: the values of an entry and its copy, or of a stream and its copy, are joined too."""
    fmt, value = parent.fmt, parent.accept.value
    if fmt.wrapped_by is not None:
        form, revision, name = fmt.wrapped_by
        both: Json = stream_value(form, name, [value, value])
    elif fmt.scan is not None and isinstance(value, dict) and parent.accept.consumed == len(parent.data):
        form, revision = fmt.name, fmt.revision
        both = {name: [*part, *part] if isinstance(part, list) else part for name, part in value.items()}
    else:
        return
    remarks = expectation_of_bytes(FORMATS[f"{form}/{revision}"], parent.whole * 2, parent.case.options)
    seen = remarks.remarks if isinstance(remarks, Accept) else parent.accept.remarks
    made = DerivedInput(
        parent.whole * 2, Accept(both, len(parent.whole) * 2, seen), f"{parent.case.title}, twice"
    )
    yield evolve(_case(parent, "join", 0, made), format=form, revision=revision)


def _chunked(parent: ParentCase) -> Iterator[Case]:
    """Split into chunks: they change nothing, for every two-part split, and byte by byte."""
    if parent.fmt.scan is None:
        return
    items = tuple(formats.scan(parent.fmt, [parent.data], parent.case.options))
    whole = Accept(formats.items_json(items, with_derived=True), len(parent.data))
    yield from _in_chunks(parent.case, whole, parent.data, parent.positions(len(parent.data)))


def _in_chunks(case: Case, whole: Accept, data: bytes, positions: Iterable[int]) -> Iterator[Case]:
    splits: Iterable[tuple[bytes, ...]] = ((data[:at], data[at:]) for at in positions)
    if len(data) <= 256:
        splits = chain(splits, [tuple(data[at : at + 1] for at in range(len(data)))])
    for number, chunks in enumerate(splits):
        yield evolve(
            case,
            id=f"{case.id}~chunk:{number}",
            op="scan",
            input=Chunks(chunks),
            expect=whole,
            title=f"{case.title}, in {len(chunks)} chunks",
            twin=None,
            parent=case.id,
            family="chunk",
            source=Source(ORIGIN_RELATION, case.id),
        )


def broken_relations(cases: Iterable[Case]) -> Iterator[tuple[Case, Any]]:
    """Yield the derived cases whose relation the reference does not keep, with its answer."""
    for case in cases:
        if case.op == "encode":
            continue
        answered = reference_expectation(case)
        match case.expect, answered:
            case Reject(), Reject():
                continue
            case Accept(value=value, consumed=consumed), Accept(value=read, consumed=end):
                if value == read and consumed in (None, end):
                    continue
        yield case, answered
