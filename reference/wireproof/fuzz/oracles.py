"""The oracles of the reference's own fuzzing: relations that must hold for any bytes that it accepts.

For an adapter the judge compares its answer with the reference. For the reference there is nothing to compare
with, so relations take that place. Each oracle yields what is wrong, or nothing.
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
from wireproof.kafka import attribute_bits
from wireproof.trial.show import cut
from wireproof.wire.json_values import to_json
from wireproof.wire.rejection import Rejected
from wireproof.wire.trace import FieldSpan


@frozen
class Fault:
    """A relation that does not hold: the name of the oracle, its subject, and one line of explanation."""

    oracle: str
    about: str
    text: str


@frozen
class Seen:
    """Bytes that the reference accepts.

    Attributes:
        fmt: the format.
        case: the decode.
        data: the bytes.
        value: the decoded value.
        remarked: whether the reference accepted the bytes with a remark.
        number: makes the random choices.
    """

    fmt: Format
    case: Case
    data: bytes
    value: Any
    remarked: bool
    number: int


Oracle = Callable[[Seen], Iterator[Fault]]


def faults(fmt: Format, case: Case, number: int) -> Iterator[Fault]:
    """Yield the relations that do not hold for an accepted decode; `number` chooses one of `DRAWN`.

    Raises whatever the reference raises.
    """
    if not isinstance(case.input, Data) or not isinstance(case.expect, Accept):
        return
    found = formats.decode(fmt, case.input.data, case.options)
    seen = Seen(fmt, case, case.input.data, found.value, bool(found.remarks), number)
    yield from stable(seen)
    yield from DRAWN[number % len(DRAWN)](seen)


def told(value: Any) -> Any:  # noqa: ANN401 - any value class, and what it is made of
    """Return a value without its computed fields: only the fields that have no default."""
    if has(type(value)):
        names = (a.name for a in fields(type(value)) if a.default is NOTHING)
        return {name: told(getattr(value, name)) for name in names}
    return [told(part) for part in value] if isinstance(value, tuple) else value


def stable(seen: Seen) -> Iterator[Fault]:
    """Check that an accepted value, encoded and decoded again, is the same value.

    Three exceptions: a value that was accepted with a remark may be one that no writer writes; options may
    hide a part of the value; and a signature does not hold for bytes that differ from the signed ones.
    """
    if seen.case.options.fetch_offset is not None or seen.case.options.isolation != "read_uncommitted":
        return
    try:
        again = written(seen.fmt, seen.value, seen.case.options)
    except Rejected as rejected:
        if rejected.cls != "invalid-value" or not seen.remarked:
            yield Fault("re-encode", rejected.cls, f"an accepted value cannot be encoded: {rejected}")
        return
    try:
        value = formats.decode(seen.fmt, again, seen.case.options).value
    except Rejected as rejected:
        if rejected.cls != "auth-failed":
            yield Fault("re-encode", rejected.cls, f"the re-encoded bytes are rejected: {rejected}")
        return
    if told(value) != told(seen.value):
        text = f"{cut(str(to_json(seen.value)))} is decoded as {to_json(value)} after re-encoding"
        yield Fault("re-encode", "value", text)


def related(seen: Seen) -> Iterator[Fault]:
    """Check the relation of one derived case: truncated, flipped, extended, joined, or in chunks."""
    for case, answer in broken(sampled(seen.case, seen.number)):
        yield Fault("relation", case.family or "", f"{case.title}: {cut(str(answer))}")


def uncovered(seen: Seen) -> Iterator[Fault]:
    """Check that a field outside of every checksum can change without a checksum error."""
    spans = formats.decode_with_trace(seen.fmt, seen.data, seen.case.options).spans
    free = [span for span in spans if isinstance(span.value, int) and not _is_covered(span, spans)]
    if not free or not any(span.cover is not None and span.cover.kind in CHECKSUMS for span in spans):
        return
    span = free[seen.number % len(free)]
    new = encoded(span, int(span.value) ^ 1)
    if new is None:
        return
    changed = replaced(seen.data, spans, span, new).data
    try:
        formats.decode(seen.fmt, changed, seen.case.options)
    except Rejected as rejected:
        if rejected.cls == "crc-mismatch":
            text = f"a change of {span.path}, which no checksum covers, is a checksum error"
            yield Fault("uncovered", span.path, text)


def _is_covered(span: FieldSpan, spans: tuple[FieldSpan, ...]) -> bool:
    """Report whether a checksum covers the field, or the field may decide what a checksum covers."""
    if span.space or span.cover is not None or span.path.lower().endswith(("length", "size", "magic")):
        return True
    covers = [other.cover for other in spans if other.cover is not None and other.cover.kind in CHECKSUMS]
    return any(cover.start < span.end and span.start < cover.end for cover in covers)


def recoded(seen: Seen) -> Iterator[Fault]:
    """Check that another compression changes nothing but the bits that name it (kafka.md §3)."""
    attributes = getattr(seen.value, "attributes", None)
    if seen.fmt.joined != "kafka.batch/v2" or not isinstance(attributes, int) or seen.remarked:
        return
    codec = seen.number % 5
    value = evolve(seen.value, attributes=attributes & ~attribute_bits.CODEC_MASK | codec)
    try:
        again = formats.decode(seen.fmt, written(seen.fmt, value, seen.case.options), seen.case.options).value
    except Rejected as rejected:
        if rejected.cls not in ("invalid-value", "limit-exceeded"):
            yield Fault("codec", rejected.cls, f"written with codec {codec}: {rejected}")
        return
    if told(again) != told(value):
        text = f"written with codec {codec}, decoded as {cut(str(to_json(again)))}"
        yield Fault("codec", "value", text)


DRAWN: Final[tuple[Oracle, ...]] = (related, uncovered, recoded)
"""An input is checked by one of these oracles: each costs as much as the decode itself."""
