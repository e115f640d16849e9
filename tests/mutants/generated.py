"""Mutants that are made from the descriptions of formats: one rule missing, or one number read wrongly.

Each is the layout of a format with a change in it, or in a structure inside of it.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from types import ModuleType
from typing import Final
from unittest.mock import patch

from attrs import evolve, frozen

from tests.mutants.base import ReferenceCodec, changed, structures
from tests.mutants.kill import ASSUMED, kills
from wireproof import formats
from wireproof.adapters.contract import Claim, Hello, Request
from wireproof.adapters.requests import request_for
from wireproof.cases.case import Accept, Case, Either, Expect
from wireproof.cases.outcome import Accepted, Outcome, refused_outcome
from wireproof.family import Format, format_of_stream
from wireproof.formats import FORMATS, Decoded
from wireproof.heka import message, stream
from wireproof.judge.judge import judge
from wireproof.kafka import entry
from wireproof.kafka import message as kafka_message
from wireproof.schema.layout import Checksum, Count, Length, Number, Part, ProtoField
from wireproof.schema.stream import RecordStream
from wireproof.schema.struct import StructLayout
from wireproof.wire.options import Options
from wireproof.wire.reader import FIXED_WIDTH
from wireproof.wire.rejection import Rejected
from wireproof.wire.scan_items import Item

SEGMENT = "iggy.log"
"""The format whose records are compiled, in a loop by hand that leaves a cut tail."""


@frozen
class Place:
    """A structure that the functions of a module read and write.

    Attributes:
        module: the module.
        name: of the structure in it, or of a tuple of structures.
        index: of the structure in the tuple; None without one.
    """

    module: ModuleType
    name: str
    index: int | None = None

    @property
    def layout(self) -> StructLayout:
        found = getattr(self.module, self.name)
        layout: StructLayout = found if self.index is None else found[self.index]
        return layout

    def replaced(self, layout: StructLayout) -> AbstractContextManager[object]:
        """Put another structure into the place until the context ends."""
        if self.index is None:
            return patch.object(self.module, self.name, layout)
        found = getattr(self.module, self.name)
        return patch.object(self.module, self.name, (*found[: self.index], layout, *found[self.index + 1 :]))


INSIDE: Final[dict[str, tuple[Place, ...]]] = {
    "heka.message/0.10": (Place(message, "HEKA_MESSAGE"),),
    "heka.stream/0.10": (Place(stream, "HEKA_HEADER"),),
    "kafka.batch/v0": (Place(kafka_message, "PLAIN", 0), Place(kafka_message, "WRAPPERS", 0)),
    "kafka.batch/v1": (Place(kafka_message, "PLAIN", 1), Place(kafka_message, "WRAPPERS", 1)),
    "kafka.batch/v2": (Place(entry, "BATCH"),),
}
"""The structures inside of each format whose own functions are written by hand."""


@frozen(eq=False)
class Described:
    """A mutant: a format with a change, whose `name` is the same in all formats that have the structure.

    `place` is that of the changed structure, if functions by hand read it.
    """

    name: str
    fmt: Format
    layout: StructLayout
    place: Place | None = None

    def applied(self) -> AbstractContextManager[object]:
        return self.place.replaced(self.layout) if self.place else nullcontext()


class DescribedCodec(ReferenceCodec):
    """The reference with the changed codec of one format."""

    def __init__(self, fmt: Format) -> None:
        self.fmt = fmt

    def read(self, row: Format, data: bytes, options: Options) -> Decoded:
        return super().read(self.fmt if row.format_id == self.fmt.format_id else row, data, options)

    def items(self, row: Format, chunks: Iterable[bytes], options: Options) -> Iterator[Item]:
        return super().items(self.fmt if row.format_id == self.fmt.format_id else row, chunks, options)

    def encode(self, request: Request) -> Outcome:
        try:
            return Accepted(data=formats.encode(self.fmt, request.value, request.options))
        except Rejected as rejected:
            return refused_outcome(rejected)


def described_formats() -> Iterator[Described]:
    """Yield the formats whose codec is compiled from a description, and those that have one inside."""
    for fmt in FORMATS.values():
        layout = fmt.layout
        for place in INSIDE.get(fmt.format_id, ()):
            yield Described(fmt.format_id, fmt, place.layout, place)
        if isinstance(layout, StructLayout) and (fmt.name == SEGMENT or fmt.decode == layout.decode):
            yield Described(fmt.format_id, fmt, layout)


def without_rules() -> Iterator[Described]:
    """Yield each format without each rule of each of its structures."""
    for one in described_formats():
        for struct in structures(one.layout):
            for rule in struct.rules:
                if struct is one.layout or not rule.alone:
                    rest = tuple(other for other in struct.rules if other is not rule)
                    name = f"without {rule.id}: {rule.check.__name__.strip('_')}"
                    yield _made(name, one, changed(one.layout, struct, evolve(struct, rules=rest)))
        if one.layout.whole:
            yield _made(f"without {one.layout.whole}", one, evolve(one.layout, whole=""))


def with_parts(what: str) -> Iterator[Described]:
    """Yield each format with each part changed for which the change of this name has another one."""
    for one in described_formats():
        for struct in structures(one.layout):
            for part in struct.parts:
                if (other := CHANGES[what](part)) is not None:
                    parts = tuple(other if each is part else each for each in struct.parts)
                    name = f"with {struct.name}.{part.name} {what}"
                    yield _made(name, one, changed(one.layout, struct, evolve(struct, parts=parts)))


def _zigzag(part: Part) -> Part | None:
    """Return an integer or a code of a message in zigzag; None for what is neither, or in no value."""
    if not isinstance(part, ProtoField) or part.deprecated:
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


def _of_other_sign(part: Part) -> Part | None:
    """Return a number of a value with another sign; None for what has no number, or one that says so."""
    if not isinstance(part, Number) or part.codes or part.truth or part.const is not None:
        return None
    kind = part.kind.removeprefix("u") if part.kind.startswith("u") else f"u{part.kind}"
    return evolve(part, kind=kind) if kind in FIXED_WIDTH else None


CHANGES: Final[dict[str, Callable[[Part], Part | None]]] = {
    "swapped": _swapped,
    "of the other sign": _of_other_sign,
    "in zigzag": _zigzag,
}
"""Changes of a part by their names."""


def _made(name: str, one: Described, layout: StructLayout) -> Described:
    fmt = one.fmt
    if one.place is not None:
        return Described(name, fmt, layout, one.place)
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
    match expect:
        case Accept(remarks=remarks):
            return set(remarks)
        case Either(behaviours=behaviours):
            return {cls for one in behaviours for cls in stated_remarks(one.expect)}
    return set()
