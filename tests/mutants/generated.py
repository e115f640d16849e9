"""Mutants that are made from the descriptions of formats: one rule missing, or one number read wrongly.

Each is the layout of a format with a change in it, or in a structure inside of it.
"""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from types import ModuleType
from typing import Final
from unittest.mock import patch

from attrs import evolve, frozen

from tests.mutants.base import ReferenceCodec, changed, structures
from tests.mutants.kill import ASSUMED, kills
from wireproof import formats
from wireproof.adapters.contract import Claim, Hello, Request
from wireproof.cases.case import Accept, Case, Either, Expect
from wireproof.cases.outcome import Accepted, Outcome, refused_outcome
from wireproof.family import Format, format_of_stream
from wireproof.formats import FORMATS, Decoded
from wireproof.heka import message, stream
from wireproof.runner.judge import judge
from wireproof.runner.requests import request_for
from wireproof.schema.stream import RecordStream
from wireproof.schema.struct import StructLayout
from wireproof.wire.layout import Checksum, Count, Length, Number, Part, ProtoField
from wireproof.wire.options import Options
from wireproof.wire.reader import FIXED_WIDTH
from wireproof.wire.rejection import Rejected
from wireproof.wire.scan_items import Item

SEGMENT = "iggy.log"
"""The format whose records are compiled, in a loop by hand that leaves a cut tail."""

Place = tuple[ModuleType, str]
"""A module, and the name in it of a structure that the functions of the module read and write."""

INSIDE: Final[dict[str, Place]] = {
    "heka.message": (message, "HEKA_MESSAGE"),
    "heka.stream": (stream, "HEKA_HEADER"),
}
"""The structure inside of each format whose own functions are written by hand."""


@frozen(eq=False)
class Described:
    """A mutant: a format with a change, whose `name` is the same in all formats that have the structure."""

    name: str
    fmt: Format
    layout: StructLayout

    def applied(self) -> AbstractContextManager[object]:
        """Put the structure into the place where functions by hand read it, until the context ends."""
        place = INSIDE.get(self.fmt.name)
        return patch.object(*place, self.layout) if place else nullcontext()


class DescribedCodec(ReferenceCodec):
    """The reference with the changed codec of one format."""

    def __init__(self, fmt: Format) -> None:
        """Store the changed format."""
        self.fmt = fmt

    def read(self, row: Format, data: bytes, options: Options) -> Decoded:
        """Decode with the changed format in the place of its own."""
        return super().read(self.fmt if row.format_id == self.fmt.format_id else row, data, options)

    def items(self, row: Format, chunks: Iterable[bytes], options: Options) -> Iterator[Item]:
        """Scan with the changed format in the place of its own."""
        return super().items(self.fmt if row.format_id == self.fmt.format_id else row, chunks, options)

    def encode(self, request: Request) -> Outcome:
        """Encode with the changed format."""
        try:
            return Accepted(data=formats.encode(self.fmt, request.value, request.options))
        except Rejected as rejected:
            return refused_outcome(rejected)


def described_formats() -> Iterator[tuple[Format, StructLayout]]:
    """Yield the formats whose codec is compiled from a description, and those that have one inside."""
    for fmt in FORMATS.values():
        layout = fmt.layout
        if isinstance(layout, StructLayout) and (fmt.name == SEGMENT or fmt.decode == layout.decode):
            yield fmt, layout
        elif fmt.name in INSIDE:
            yield fmt, getattr(*INSIDE[fmt.name])


def without_rules() -> Iterator[Described]:
    """Yield each format without each rule of each of its structures."""
    for fmt, layout in described_formats():
        for struct in structures(layout):
            for rule in struct.rules:
                if struct is layout or not rule.alone:
                    rest = tuple(one for one in struct.rules if one is not rule)
                    name = f"without {rule.id}: {rule.check.__name__.strip('_')}"
                    yield _made(name, fmt, changed(layout, struct, evolve(struct, rules=rest)))
        if layout.whole:
            yield _made(f"without {layout.whole}", fmt, evolve(layout, whole=""))


def with_swapped_numbers() -> Iterator[Described]:
    """Yield each format with each number in the other order of bytes."""
    for fmt, layout in described_formats():
        for struct in structures(layout):
            for part in struct.parts:
                if (swapped := _swapped(part)) is not None:
                    parts = tuple(swapped if one is part else one for one in struct.parts)
                    name = f"with {struct.name}.{part.name} swapped"
                    yield _made(name, fmt, changed(layout, struct, evolve(struct, parts=parts)))


def in_zigzag() -> Iterator[Described]:
    """Yield each format with each integer and each code of a protobuf message in zigzag, or out of it."""
    for fmt, layout in described_formats():
        for struct in structures(layout):
            for part in struct.parts:
                if isinstance(part, ProtoField) and (other := _zigzag(part)) is not None:
                    parts = tuple(other if one is part else one for one in struct.parts)
                    name = f"with {struct.name}.{part.name} in zigzag"
                    yield _made(name, fmt, changed(layout, struct, evolve(struct, parts=parts)))


def _zigzag(part: ProtoField) -> ProtoField | None:
    """Return an integer or a code in zigzag; None for what is neither, or in no value."""
    if part.deprecated:
        return None
    if part.codes is not None:
        return evolve(part, codes={number << 1: name for number, name in part.codes.items()})
    kinds = {"int32": "sint32", "uint32": "sint32", "int64": "sint64"}
    return evolve(part, of=kinds[part.of]) if isinstance(part.of, str) and part.of in kinds else None


def _swapped(part: Part) -> Part | None:
    """Return a number in the other order of bytes; None for what has no order."""
    if not isinstance(part, Number | Length | Count | Checksum):
        return None
    kind = part.kind.removesuffix("le") if part.kind.endswith("le") else f"{part.kind}le"
    return evolve(part, kind=kind) if kind in FIXED_WIDTH else None


def _made(name: str, fmt: Format, layout: StructLayout) -> Described:
    if fmt.name in INSIDE:
        return Described(name, fmt, layout)
    if fmt.name == SEGMENT:
        return Described(name, format_of_stream(fmt.name, fmt.revision, RecordStream(layout)), layout)
    changed_fmt = evolve(fmt, layout=layout, decode=layout.decode, encode=layout.encode)
    return Described(name, changed_fmt, layout)


def killer(mutant: Described, cases: Iterable[Case]) -> str:
    """Return the id of the first of the golden cases of a format that kills a mutant of it; empty if none.

    Each case counts by itself: the twin of a refusal is taken for right. A remark, which no answer has,
    counts where the case states it.
    """
    codec = DescribedCodec(mutant.fmt)
    hello = Hello(mutant.name, "", {mutant.fmt.format_id: Claim()})
    for case in cases:
        request = request_for(case, case.id)
        try:
            with mutant.applied():  # the judge reads with the reference
                outcome = getattr(codec, case.op)(request)
        except (LookupError, AttributeError):  # there is no value for what the missing rule refuses
            return case.id
        if kills(judge(case, outcome, hello=hello, twin=ASSUMED).name, case.level):
            return case.id
        read = outcome.remarks if isinstance(outcome, Accepted) and case.op != "encode" else None
        if read is not None and set(read) != stated_remarks(case.expect):
            return case.id
    return ""


def stated_remarks(expect: Expect) -> set[str]:
    """Return the remarks that an expectation states."""
    match expect:
        case Accept(remarks=remarks):
            return set(remarks)
        case Either(behaviours=behaviours):
            return {cls for one in behaviours for cls in stated_remarks(one.expect)}
    return set()
