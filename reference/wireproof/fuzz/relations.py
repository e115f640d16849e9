"""The relations that must hold for the reference alone: `fuzz reference` has nothing to compare it with."""

from collections.abc import Iterator
from typing import Any

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


@frozen
class Violation:
    """A relation that does not hold: the name of the oracle, its subject, and one line of explanation."""

    oracle: str
    about: str
    text: str


def violations(fmt: Format, case: Case, number: int) -> Iterator[Violation]:
    """Yield the relations that do not hold for an accepted decode.

    An accepted value, encoded and decoded again, is the same value, with three exceptions: one that was
    accepted with a remark may be one that no writer writes; options may hide a part of the value; and a
    signature does not hold for bytes that differ from the signed ones.

    Of the other relations `number` chooses one for an input, as each costs as much as the decode itself: that
    of a derived case (truncated, flipped, extended, joined, in chunks); of a field outside of every checksum;
    of another compression, which changes nothing but the fields that name it.

    Raises whatever the reference raises.
    """
    if not isinstance(case.input, Data) or not isinstance(case.expect, Accept):
        return
    found, options = formats.decode(fmt, case.input.data, case.options), case.options
    value, remarked = found.value, bool(found.remarks)
    if options.fetch_offset is None and options.isolation == "read_uncommitted":
        unwritable = ("invalid-value",) if remarked else ()
        yield from _written_again(
            fmt, value, options, "re-encode", "re-encoded", unwritable, ("auth-failed",)
        )
    match number % 3:
        case 0:
            for derived, answer in broken_relations(sample_derived(case, number)):
                yield Violation("relation", derived.family or "", f"{derived.title}: {shorten(str(answer))}")
        case 1:
            yield from _uncovered_field(fmt, case.input.data, options, number)
        case _:
            packed = None if remarked else rules_of(fmt).recompress(fmt, value, number)
            if packed is not None:
                codec, value = packed
                allowed = ("invalid-value", "limit-exceeded")
                yield from _written_again(
                    fmt, value, options, "codec", f"written with {codec}", allowed, allowed
                )


def _written_again(
    fmt: Format,
    value: Any,  # noqa: ANN401 - of the format
    options: Options,
    oracle: str,
    how: str,
    unwritten: tuple[str, ...],
    unread: tuple[str, ...],
) -> Iterator[Violation]:
    """Check that a value is the same when it is written and read; the classes are of refusals that may be."""
    try:
        data = written(fmt, value, options)
    except Rejected as rejected:
        if rejected.cls not in unwritten:
            yield Violation(oracle, rejected.cls, f"an accepted value cannot be {how}: {rejected}")
        return
    try:
        again = formats.decode(fmt, data, options).value
    except Rejected as rejected:
        if rejected.cls not in unread:
            yield Violation(oracle, rejected.cls, f"{how}, its bytes are rejected: {rejected}")
        return
    if without_computed_fields(again) != without_computed_fields(value):
        text = f"{shorten(str(to_json(value)))} is decoded as {shorten(str(to_json(again)))}, {how}"
        yield Violation(oracle, "value", text)


def _uncovered_field(fmt: Format, data: bytes, options: Options, number: int) -> Iterator[Violation]:
    """Check that a field outside of every checksum, which decides nothing, can change without an error."""
    spans = formats.decode_with_trace(fmt, data, options).spans
    covers = [span.cover for span in spans if span.cover is not None and span.cover.kind in checksums()]
    free = [
        span
        for span in spans
        if isinstance(span.value, int)
        and not (span.space or span.cover is not None or name_of(span) in deciding_fields(fmt.layout))
        and not any(cover.start < span.end and span.start < cover.end for cover in covers)
    ]
    span = free[number % len(free)] if free and covers else None
    new = encode_field(span, int(span.value) ^ 1) if span is not None else None
    if span is None or new is None:
        return
    try:
        formats.decode(fmt, replace_field(data, spans, span, new).data, options)
    except Rejected as rejected:
        if rejected.cls == "crc-mismatch":
            text = f"a change of {span.path}, which no checksum covers, is a checksum error"
            yield Violation("uncovered", span.path, text)
