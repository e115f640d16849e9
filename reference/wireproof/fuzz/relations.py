"""The relations that must hold for the reference alone: `fuzz reference` has nothing to compare it with."""

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

from attrs import frozen

from wireproof import formats
from wireproof.cases.case import Accept, Case, Data
from wireproof.derive.derived import broken_relations, sample_derived
from wireproof.derive.edit_bytes import checksums, deciding_fields, encode_field, name_of, replace_field
from wireproof.derive.examples import without_computed_fields
from wireproof.derive.mutate.encodings import written
from wireproof.derive.mutate.mutation_rules import rules_of
from wireproof.formats import Format
from wireproof.judge.differences import shorten
from wireproof.wire.json_values import to_json
from wireproof.wire.options import Options
from wireproof.wire.rejection import Rejected
from wireproof.wire.trace import FieldSpan


@frozen
class Violation:
    """A relation that does not hold: the name of the oracle, its subject, and one line of explanation."""

    oracle: str
    about: str
    text: str


@frozen
class AcceptedInput:
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

    @property
    def options(self) -> Options:
        """Return the options of the decode."""
        return self.case.options


Oracle: TypeAlias = Callable[[AcceptedInput], Iterator[Violation]]


def violations(fmt: Format, case: Case, number: int) -> Iterator[Violation]:
    """Yield the relations that do not hold for an accepted decode; `number` chooses one of `ONE_PER_INPUT`.

    Raises whatever the reference raises.
    """
    if isinstance(case.input, Data) and isinstance(case.expect, Accept):
        found = formats.decode(fmt, case.input.data, case.options)
        seen = AcceptedInput(fmt, case, case.input.data, found.value, bool(found.remarks), number)
        yield from check_reencoding(seen)
        yield from ONE_PER_INPUT[number % len(ONE_PER_INPUT)](seen)


def check_reencoding(seen: AcceptedInput) -> Iterator[Violation]:
    """Check that an accepted value, encoded and decoded again, is the same value.

    Three exceptions: a value that was accepted with a remark may be one that no writer writes; options may
    hide a part of the value; and a signature does not hold for bytes that differ from the signed ones.
    """
    if seen.options.fetch_offset is None and seen.options.isolation == "read_uncommitted":
        allowed = ("invalid-value",) if seen.remarked else ()
        yield from _written_again(seen, seen.value, "re-encode", "re-encoded", allowed, ("auth-failed",))


def check_other_compression(seen: AcceptedInput) -> Iterator[Violation]:
    """Check that another compression changes nothing but the fields that name it."""
    found = None if seen.remarked else rules_of(seen.fmt).recompress(seen.fmt, seen.value, seen.number)
    if found is not None:
        codec, value = found
        allowed = ("invalid-value", "limit-exceeded")
        yield from _written_again(seen, value, "codec", f"written with {codec}", allowed, allowed)


def _written_again(
    seen: AcceptedInput,
    value: Any,  # noqa: ANN401 - of the format
    oracle: str,
    how: str,
    unwritten: tuple[str, ...],
    unread: tuple[str, ...],
) -> Iterator[Violation]:
    """Check that a value is the same when it is written and read; the classes are of refusals that may be."""
    try:
        data = written(seen.fmt, value, seen.options)
    except Rejected as rejected:
        if rejected.cls not in unwritten:
            yield Violation(oracle, rejected.cls, f"an accepted value cannot be {how}: {rejected}")
        return
    try:
        again = formats.decode(seen.fmt, data, seen.options).value
    except Rejected as rejected:
        if rejected.cls not in unread:
            yield Violation(oracle, rejected.cls, f"{how}, its bytes are rejected: {rejected}")
        return
    if without_computed_fields(again) != without_computed_fields(value):
        text = f"{shorten(str(to_json(value)))} is decoded as {shorten(str(to_json(again)))}, {how}"
        yield Violation(oracle, "value", text)


def check_derived_case(seen: AcceptedInput) -> Iterator[Violation]:
    """Check the relation of one derived case: truncated, flipped, extended, joined, or in chunks."""
    for case, answer in broken_relations(sample_derived(seen.case, seen.number)):
        yield Violation("relation", case.family or "", f"{case.title}: {shorten(str(answer))}")


def check_uncovered_field(seen: AcceptedInput) -> Iterator[Violation]:
    """Check that a field outside of every checksum can change without a checksum error."""
    spans = formats.decode_with_trace(seen.fmt, seen.data, seen.case.options).spans
    free = [span for span in spans if isinstance(span.value, int) and _is_free(seen.fmt, span, spans)]
    if not free or not any(span.cover is not None and span.cover.kind in checksums() for span in spans):
        return
    span = free[seen.number % len(free)]
    new = encode_field(span, int(span.value) ^ 1)
    if new is None:
        return
    changed = replace_field(seen.data, spans, span, new).data
    try:
        formats.decode(seen.fmt, changed, seen.case.options)
    except Rejected as rejected:
        if rejected.cls == "crc-mismatch":
            text = f"a change of {span.path}, which no checksum covers, is a checksum error"
            yield Violation("uncovered", span.path, text)


def _is_free(fmt: Format, span: FieldSpan, spans: tuple[FieldSpan, ...]) -> bool:
    """Return whether no checksum covers the field, and it does not decide what a checksum covers."""
    if span.space or span.cover is not None or name_of(span) in deciding_fields(fmt.layout):
        return False
    covers = [other.cover for other in spans if other.cover is not None and other.cover.kind in checksums()]
    return not any(cover.start < span.end and span.start < cover.end for cover in covers)


ONE_PER_INPUT: Final[tuple[Oracle, ...]] = (
    check_derived_case,
    check_uncovered_field,
    check_other_compression,
)
"""An input is checked by one of these oracles: each costs as much as the decode itself."""
