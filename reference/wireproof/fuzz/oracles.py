"""What must hold of the reference itself, for any bytes: the oracles of its own fuzzing.

Between codecs the judge decides; here there is nobody to compare with, so relations take his place. Each
oracle gives the words of what is wrong, or nothing.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

from attrs import NOTHING, evolve, fields, frozen, has

from wireproof import formats
from wireproof.cases.case import Accept, Case, Data
from wireproof.cases.damage import CHECKSUMS, encoded, replaced
from wireproof.cases.derived import broken, sampled
from wireproof.cases.mutate.least import written
from wireproof.formats import Format
from wireproof.kafka import arithmetic
from wireproof.trial.show import cut
from wireproof.wire.rejected import Rejected
from wireproof.wire.trace import Span
from wireproof.wire.values import to_json


@frozen
class Fault:
    """An oracle that does not hold: its name, what it is about, one line for a person."""

    oracle: str
    about: str
    text: str


@frozen
class Seen:
    """Bytes that the reference accepts, with what it makes of them, and a number to draw by."""

    row: Format
    case: Case
    data: bytes
    value: Any
    remarked: bool
    number: int


Oracle = Callable[[Seen], Iterator[Fault]]


def faults(row: Format, case: Case, number: int) -> Iterator[Fault]:
    """What does not hold of an accepted decode, by two of the oracles; raises what the reference raises."""
    if not isinstance(case.input, Data) or not isinstance(case.expect, Accept):
        return
    found = formats.decode(row, case.input.data, case.options)
    seen = Seen(row, case, case.input.data, found.value, bool(found.remarks), number)
    yield from stable(seen)
    yield from DRAWN[number % len(DRAWN)](seen)


def told(value: Any) -> Any:  # noqa: ANN401 - any value class, and what it is made of
    """A value without what is computed: its fields that have no default."""
    if has(type(value)):
        given = (a.name for a in fields(type(value)) if a.default is NOTHING)
        return {name: told(getattr(value, name)) for name in given}
    return [told(part) for part in value] if isinstance(value, tuple) else value


def stable(seen: Seen) -> Iterator[Fault]:
    """What is accepted and written again is read as the same value.

    What only a remark let pass may be no value that a writer takes, and options may hide a part of it. A
    signature speaks of the bytes that were signed: of a message written otherwise it does not hold.
    """
    if seen.case.options.fetch_offset is not None or seen.case.options.isolation != "read_uncommitted":
        return
    try:
        again = written(seen.row, seen.value, seen.case.options)
    except Rejected as rejected:
        if rejected.cls != "invalid-value" or not seen.remarked:
            yield Fault("re-encode", rejected.cls, f"an accepted value is not written: {rejected}")
        return
    try:
        value = formats.decode(seen.row, again, seen.case.options).value
    except Rejected as rejected:
        if rejected.cls != "auth-failed":
            yield Fault("re-encode", rejected.cls, f"its own bytes are refused: {rejected}")
        return
    if told(value) != told(seen.value):
        yield Fault("re-encode", "value", f"{cut(str(to_json(seen.value)))} is read back as {to_json(value)}")


def related(seen: Seen) -> Iterator[Fault]:
    """The stated relations: cut, flipped under a checksum, followed by more, joined, in pieces."""
    for case, got in broken(sampled(seen.case, seen.number)):
        yield Fault("relation", case.family or "", f"{case.title}: {cut(str(got))}")


def uncovered(seen: Seen) -> Iterator[Fault]:
    """What no checksum covers may change without one being broken."""
    spans = formats.layout(seen.row, seen.data, seen.case.options).spans
    free = [span for span in spans if isinstance(span.value, int) and not _under(span, spans)]
    if not free or not any(span.cover is not None and span.cover.kind in CHECKSUMS for span in spans):
        return
    span = free[seen.number % len(free)]
    new = encoded(span, int(span.value) ^ 1)
    if new is None:
        return
    changed = replaced(seen.data, spans, span, new).data
    try:
        formats.decode(seen.row, changed, seen.case.options)
    except Rejected as rejected:
        if rejected.cls == "crc-mismatch":
            yield Fault("uncovered", span.path, f"a change of {span.path} breaks a checksum beside it")


def _under(span: Span, spans: tuple[Span, ...]) -> bool:
    """Whether a checksum, or a length that decides what a checksum covers, speaks of the field."""
    if span.space or span.cover is not None or span.path.lower().endswith(("length", "size", "magic")):
        return True
    seals = [one.cover for one in spans if one.cover is not None and one.cover.kind in CHECKSUMS]
    return any(one.start < span.end and span.start < one.end for one in seals)


def recoded(seen: Seen) -> Iterator[Fault]:
    """Another codec changes nothing but the bits that name it: kafka.md section 3."""
    attributes = getattr(seen.value, "attributes", None)
    if seen.row.joined != "kafka.batch/v2" or not isinstance(attributes, int) or seen.remarked:
        return
    codec = seen.number % 5
    value = evolve(seen.value, attributes=attributes & ~arithmetic.CODEC | codec)
    try:
        again = formats.decode(seen.row, written(seen.row, value, seen.case.options), seen.case.options).value
    except Rejected as rejected:
        if rejected.cls not in ("invalid-value", "limit-exceeded"):
            yield Fault("codec", rejected.cls, f"written with codec {codec}: {rejected}")
        return
    if told(again) != told(value):
        yield Fault("codec", "value", f"written with codec {codec}, read as {cut(str(to_json(again)))}")


DRAWN: Final[tuple[Oracle, ...]] = (related, uncovered, recoded)
"""Of which one is drawn for an input: each costs as much as the decode itself."""
