"""Build cases from the bytes of a fuzzer. The bytes make every choice, so the bytes alone replay a case."""

import hashlib
import zlib
from collections.abc import Sequence
from random import Random
from typing import Final

from attrs import evolve

from wireproof import formats
from wireproof.cases.case import ORIGIN_REFERENCE, Accept, Case, Chunks, Data, Op, Reject, Source, Value
from wireproof.cases.derived import sample_derived
from wireproof.cases.mutate.mutation_rules import Keys
from wireproof.cases.property_inputs import edit_value
from wireproof.cases.reference_answers import reference_expectation
from wireproof.cases.refusal_levels import with_refusal_level
from wireproof.formats import Format
from wireproof.fuzz.option_variants import OptionVariant, fit_options, signing_keys, with_variant
from wireproof.fuzz.oracles import without_computed_fields
from wireproof.wire.json_values import Json, to_json
from wireproof.wire.options import DEFAULT_OPTIONS
from wireproof.wire.rejection import Rejected

ENCODE_ONE_IN, SCAN_ONE_IN, RELATED_ONE_IN = 3, 4, 16
"""One input in this many is also encoded, scanned in chunks, or changed in a way whose effect is known."""

SELECTED_REMAINDER: Final = 2
"""The remainder of the division by these numbers that selects an input."""

REJECTED_BY_JSON_FORM: Final = {("v0", "timestamp")}
"""Revision and field of values that our JSON form rejects and the format does not have.

A v0 message has no timestamp that could be wrong (kafka.md §2.1).
"""

NO_EXPECTATION: Final = Accept()
"""The expectation of a case before the reference has answered."""

SOURCE: Final = Source(ORIGIN_REFERENCE, "found by fuzzing")


class CaseBuilder:
    """Makes the cases of one format."""

    def __init__(
        self,
        fmt: Format,
        variants: Sequence[OptionVariant],
        ops: Sequence[Op],
        *,
        scan_variants: Sequence[OptionVariant] = (),
        wrapped: bool = False,
    ) -> None:
        """Make cases for the ops that the adapter claims.

        Args:
            fmt: the format.
            variants: the options of a decode.
            ops: what the adapter can do.
            scan_variants: further options that only a scan has.
            wrapped: the adapter knows only the stream of `fmt`, so its cases will be wrapped as streams.
        """
        self.fmt = fmt
        self._wrapped = wrapped
        self._variants = tuple(variants) or (OptionVariant(),)
        self._scan_variants = tuple(variant for variant in scan_variants if variant not in self._variants)
        self._ops = frozenset(ops)

    @property
    def keys(self) -> Keys:
        """Return the signing keys of all variants."""
        return signing_keys(self._variants)

    def decode_case(self, data: bytes) -> Case:
        """Return the decode of `data`, with the answer of the reference as its expectation.

        A case that will be wrapped as a stream gets its expectation then, as a stream. A second answer here
        would halve the executions per second.

        Raises:
            Exception: the reference has a bug; a rejection is an answer and is not raised.
        """
        case = self.without_expectation(data)
        if self._wrapped and zlib.crc32(data, 1) % RELATED_ONE_IN != SELECTED_REMAINDER:
            return case
        return with_expectation(case)

    def without_expectation(self, data: bytes) -> Case:
        """Return the decode of `data` without an answer of the reference."""
        drawn = zlib.crc32(data)
        variant = self._variants[0] if drawn & 1 else self._variants[(drawn >> 1) % len(self._variants)]
        sha = hashlib.sha256(data).hexdigest()[:16]
        options = fit_options(self.fmt, variant.options, data, drawn)
        return Case(
            f"{self.fmt.format_id}/fuzz/n{sha}", self.fmt.name, self.fmt.revision, Data(data), NO_EXPECTATION,
            title="found by fuzzing", options=options, needs=variant.needs, profile=variant.profile,
            source=SOURCE,
            family="fuzz",  # the expectation is computed, so a rejection of any class agrees with it
        )  # fmt: skip

    def follow_ups(self, case: Case) -> list[Case]:
        """Return further cases of the same bytes: encoded, scanned in chunks, or changed. Mostly none."""
        assert isinstance(case.input, Data)
        drawn = zlib.crc32(case.input.data, 1)
        found: list[Case] = []
        if "scan" in self._ops and drawn % SCAN_ONE_IN == SELECTED_REMAINDER:
            found.append(_scan_case(self._with_scan_variant(case, drawn >> 4), drawn >> 8))
        if not isinstance(case.expect, Accept):
            return found
        if (
            "encode" in self._ops
            and (drawn >> 16) % ENCODE_ONE_IN == SELECTED_REMAINDER
            and (case.options, case.profile) == (DEFAULT_OPTIONS, "reader")
        ):
            found += (_encode_cases if drawn >> 20 & 1 else self._rejected_encodes)(case, case.expect)
        if drawn % RELATED_ONE_IN == SELECTED_REMAINDER and case.expect != NO_EXPECTATION:
            related = (derived for derived in sample_derived(case, drawn >> 8) if derived.op in self._ops)
            found += [evolve(derived, twin=None) for derived in related]
        return found

    def all_follow_ups(self, case: Case) -> list[Case]:
        """Return the scan and the encode of a case that has its expectation."""
        found = [_scan_case(case, 0)] if "scan" in self._ops else []
        if "encode" in self._ops and isinstance(case.expect, Accept) and case.expect != NO_EXPECTATION:
            found += _encode_cases(case, case.expect)
        return found

    def _with_scan_variant(self, case: Case, drawn: int) -> Case:
        """Return half of the cases with the options of a scan variant, if there is one."""
        if not self._scan_variants or drawn & 1:
            return case
        return with_variant(case, self._scan_variants[(drawn >> 1) % len(self._scan_variants)])

    def _rejected_encodes(self, case: Case, read: Accept) -> list[Case]:
        """Return the encode of an edited value that no writer may write; none if the value can be written."""
        assert isinstance(case.input, Data)
        data = case.input.data
        if read == NO_EXPECTATION:
            return []
        value = edit_value(formats.decode(self.fmt, data, case.options).value, Random(zlib.crc32(data, 2)))  # noqa: S311 - a function of the bytes
        encode = evolve(case, id=f"{case.id}-unwritable", op="encode", input=Value(to_json(value)))
        try:
            formats.encode(self.fmt, to_json(value), case.options)
        except Rejected as rejected:
            if (self.fmt.revision, rejected.path) not in REJECTED_BY_JSON_FORM:
                return [with_refusal_level(evolve(encode, expect=Reject(rejected.cls)))]
        return []


def with_expectation(case: Case) -> Case:
    """Return the case with the answer of the reference as its expectation, if it has none yet."""
    if case.expect != NO_EXPECTATION:
        return case
    return with_refusal_level(evolve(case, expect=reference_expectation(case)))


def _scan_case(case: Case, drawn: int) -> Case:
    """Return the scan of the bytes in two chunks; with one chunk it would be nearly the decode."""
    assert isinstance(case.input, Data)
    data = case.input.data
    at = drawn % (len(data) + 1)
    scan = evolve(case, id=f"{case.id}-scan", op="scan", input=Chunks((data[:at], data[at:])))
    return evolve(scan, expect=reference_expectation(scan))


def _encode_cases(case: Case, read: Accept) -> list[Case]:
    """Return the encode of the decoded value.

    None if the value was accepted with a remark, or if the reference does not write it.
    """
    encode = evolve(case, id=f"{case.id}-encode", op="encode", input=Value(read.value))
    if read.remarks or not isinstance(reference_expectation(encode), Accept):
        return []
    value = _with_written_fields(case, read.value)
    return [evolve(encode, input=Value(value), expect=Accept(value))]


def _with_written_fields(case: Case, value: Json) -> Json:
    """Return the value with the computed fields that it has once it is written.

    Accepted bytes need not be those that the encoder writes: with the headers of a message in another order
    the checksum of the message is another one. Whatever else changes stays as it was read, to be found.
    """
    assert isinstance(case.input, Data)
    fmt = formats.get(case.format, case.revision)
    read = formats.decode(fmt, case.input.data, case.options).value
    try:
        again = formats.decode(fmt, formats.encode(fmt, value, case.options), case.options).value
    except Rejected:  # for example a signature, which does not hold for other bytes
        return value
    return to_json(again) if without_computed_fields(again) == without_computed_fields(read) else value
