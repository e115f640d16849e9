"""Derived families: what must hold of every accepted fixture once its bytes are cut, flipped or joined.

Design, section 3, "Derived families". Each family states a relation between a fixture and its damaged
bytes; where the relation leaves the answer open, and only there, the reference gives the expectation.
`broken` holds the reference itself to every relation. Over 1 KiB only the ends and the field boundaries
are damaged.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from attrs import evolve, frozen

from wireproof import formats
from wireproof.cases.case import Accept, Case, Chunks, Data, Expect, Reject, Source
from wireproof.cases.damage import CHECKSUMS, COUNTED, Damaged, encoded, replaced, resealed
from wireproof.formats import FORMATS, Format
from wireproof.wire.options import Options
from wireproof.wire.rejected import Rejected
from wireproof.wire.trace import Span
from wireproof.wire.values import Json, to_json

WHOLE: Final = 1024
"""Bytes up to which every position is damaged."""

EDGE: Final = 64
"""Positions at either end of a longer input."""

RELATION: Final = "derived"
OPEN: Final = "reference"
"""The origin of a derived case: its family's relation, or the reference where that leaves the answer open."""

TAILS: Final = (b"\x00", b"\xff" * 7, b"\x00" * 61)
"""What is appended."""

BYTE_BY_BYTE: Final = 256
"""Bytes up to which an input is also scanned one byte at a time."""


@frozen
class Parent:
    """An accepted fixture with all that its families are made from."""

    case: Case
    row: Format
    data: bytes
    accept: Accept
    spans: tuple[Span, ...]

    @property
    def whole(self) -> bytes:
        """The bytes that the value stands for, without what follows them."""
        return self.data[: self.accept.consumed]

    def positions(self, stop: int) -> list[int]:
        """The positions below `stop` that are damaged."""
        if stop <= WHOLE:
            return list(range(stop))
        edges = {span.start for span in self.spans if not span.space}
        near = {*range(EDGE), *range(stop - EDGE, stop), *edges, *(edge - 1 for edge in edges)}
        return sorted(at for at in near if 0 <= at < stop)


@frozen
class Made:
    """Bytes of a family, and what must come of them; `expect` None leaves it to the reference."""

    data: bytes
    expect: Expect | None = None
    title: str = ""


def derived(case: Case) -> Iterator[Case]:
    """Every derived case of a golden one; none of a refused one or of an encode."""
    parent = _parent(case)
    if parent is None:
        return
    for name, family in FAMILIES.items():
        for number, made in enumerate(family(parent)):
            yield _case(parent, name, number, made)
    yield from _joined(parent)
    yield from _chunked(parent)


def _parent(case: Case) -> Parent | None:
    row = FORMATS.get(case.joined)
    if row is None or case.op != "decode" or not isinstance(case.expect, Accept) or case.profile != "reader":
        return None
    if not isinstance(case.input, Data) or case.options.isolation != "read_uncommitted":
        return None
    layout = formats.layout(row, case.input.data, case.options)
    if layout.decoded is None:
        return None
    accept = case.expect
    if accept.consumed is None:
        accept = evolve(accept, consumed=layout.decoded.consumed)
    return Parent(case, row, case.input.data, accept, layout.spans)


def _case(parent: Parent, family: str, number: int, made: Made) -> Case:
    expect = made.expect or reference(parent.row, made.data, parent.case.options)
    twin = parent.case.id if isinstance(expect, Reject) else None
    return evolve(
        parent.case,
        id=f"{parent.case.id}~{family}:{number}",
        input=Data(made.data),
        expect=expect,
        title=made.title or f"{family} of {parent.case.title}",
        twin=twin,
        parent=parent.case.id,
        family=family,
        aliases=(),
        source=Source(RELATION if made.expect else OPEN, parent.case.id),
    )


def reference(row: Format, data: bytes, options: Options) -> Expect:
    """What the reference makes of `data`, as an expectation."""
    try:
        decoded = formats.decode(row, data, options)
    except Rejected as rejected:
        return Reject(rejected.cls, (), rejected.at, None)
    remarks = tuple(sorted({remark.cls for remark in decoded.remarks}))
    return Accept(to_json(decoded.value), decoded.consumed, remarks)


# --- the families of one input ---


def _truncate(parent: Parent) -> Iterator[Made]:
    """A truncated frame is refused; a truncated stream keeps its prefix; elsewhere the reference decides."""
    definite = Reject("truncated") if parent.row.delimited else None
    for stop in parent.positions(len(parent.whole)):
        yield Made(parent.whole[:stop], definite, f"the first {stop} bytes")


def _flip(parent: Parent) -> Iterator[Made]:
    """A bit flipped under a checksum is noticed."""
    for start, end in _sealed_ranges(parent):
        for at in parent.positions(end)[start if end <= WHOLE else 0 :]:
            if at >= start:
                flipped = bytearray(parent.data)
                flipped[at] ^= 1 << at % 8
                yield Made(
                    bytes(flipped),
                    None if _open(parent) else Reject("crc-mismatch"),
                    f"bit {at % 8} of byte {at}",
                )


def _sealed_ranges(parent: Parent) -> list[tuple[int, int]]:
    """Each checksum of the wire with what it covers, as one range where they touch, else as two."""
    ranges: list[tuple[int, int]] = []
    for span in parent.spans:
        if span.cover is not None and span.cover.kind in CHECKSUMS and not span.space:
            ranges += [(span.start, span.end), (span.cover.start, span.cover.end)]
    return ranges


def _open(parent: Parent) -> bool:
    """A wrapper's own checksum is looked at by some readers only: the remark says so once it is wrong."""
    return any(span.space for span in parent.spans)


def _append(parent: Parent) -> Iterator[Made]:
    """What follows a frame changes neither its value nor what it consumes."""
    for tail in TAILS:
        definite = evolve(parent.accept) if parent.row.delimited else None
        yield Made(parent.whole + tail, definite, f"{len(tail)} bytes appended")


def _edited(parent: Parent, kind: str, *, sealed: bool) -> Iterator[Made]:
    for span in parent.spans:
        if span.space or span.cover is None or span.cover.kind != kind or not isinstance(span.value, int):
            continue
        for step in (-1, 1):
            new = encoded(span, span.value + step)
            if new is None:
                continue
            damaged = replaced(parent.data, parent.spans, span, new)
            if sealed:
                damaged = resealed(damaged, lengths=span.cover.kind != "length", spare=span.path)
            yield Made(damaged.data, None, f"{span.path} {step:+d}{' and resealed' if sealed else ''}")


def _unsealed(parent: Parent) -> Iterator[Made]:
    for kind in COUNTED:
        yield from _edited(parent, kind, sealed=False)


def _resealed(parent: Parent) -> Iterator[Made]:
    for kind in COUNTED:
        yield from _edited(parent, kind, sealed=True)


def _resealed_flips(parent: Parent) -> Iterator[Made]:
    """The flips again with checksums repaired: now the fields themselves must be looked at."""
    if not _sealed_ranges(parent):
        return
    outer = [span for span in parent.spans if not span.space]
    for at in parent.positions(len(parent.whole)):
        flipped = bytearray(parent.data)
        flipped[at] ^= 1 << at % 8
        made = resealed(Damaged(bytes(flipped), tuple(outer)), lengths=False)
        yield Made(made.data, None, f"bit {at % 8} of byte {at}, resealed")


FAMILIES: Final[dict[str, Callable[[Parent], Iterator[Made]]]] = {
    "truncate": _truncate,
    "flip": _flip,
    "append": _append,
    "count-length": _unsealed,
    "sealed-count-length": _resealed,
    "sealed-flip": _resealed_flips,
}
"""The families of one input, by the name that stands in their ids."""


# --- the families of streams ---


def _joined(parent: Parent) -> Iterator[Case]:
    """Joined frames join values: an entry beside itself, or a stream behind itself."""
    row, value = parent.row, parent.accept.value
    if row.lifts_to is not None:
        form, revision, name = row.lifts_to
        both: Json = {name: [value, value]}
    elif row.scan is not None and isinstance(value, dict) and parent.accept.consumed == len(parent.data):
        form, revision = row.name, row.revision
        both = {name: [*part, *part] for name, part in value.items() if isinstance(part, list)}
    else:
        return
    remarks = reference(FORMATS[f"{form}/{revision}"], parent.whole * 2, parent.case.options)
    seen = remarks.remarks if isinstance(remarks, Accept) else parent.accept.remarks
    made = Made(parent.whole * 2, Accept(both, len(parent.whole) * 2, seen), f"{parent.case.title}, twice")
    yield evolve(_case(parent, "join", 0, made), format=form, revision=revision)


def _chunked(parent: Parent) -> Iterator[Case]:
    """How bytes arrive changes nothing: every two-part split, and byte by byte."""
    if parent.row.scan is None:
        return
    whole = Accept(formats.items_json(formats.scan(parent.row, [parent.data], parent.case.options)))
    splits: list[tuple[bytes, ...]] = [
        (parent.data[:at], parent.data[at:]) for at in parent.positions(len(parent.data))
    ]
    if len(parent.data) <= BYTE_BY_BYTE:
        splits.append(tuple(parent.data[at : at + 1] for at in range(len(parent.data))))
    for number, chunks in enumerate(splits):
        made = _case(parent, "chunk", number, Made(b"", whole))
        yield evolve(
            made, op="scan", input=Chunks(chunks), title=f"{parent.case.title}, in {len(chunks)} chunks"
        )


# --- the reference is held to the relations first ---


def broken(cases: Iterable[Case]) -> Iterator[tuple[Case, Any]]:
    """The derived cases whose stated relation the reference does not keep, with what it does."""
    for case in cases:
        row = FORMATS[case.joined]
        if case.op != "decode" or not isinstance(case.input, Data):
            continue
        seen = reference(row, case.input.data, case.options)
        if not _agrees(case.expect, seen):
            yield case, seen


def _agrees(expect: Expect, seen: Expect) -> bool:
    """A refusal agrees with any refusal; values are equal."""
    match expect, seen:
        case Accept(), Accept():
            return expect.value == seen.value and expect.consumed == seen.consumed
        case Reject(), Reject():
            return True
        case _:
            return False
