"""Every Heka mutant dies by the golden case that is named for it, and the reference passes that case."""

from copy import deepcopy
from functools import cache

from each import each
from goldens import load, stored_cases

from tests.mutants import heka, heka_stream
from wireproof.adapters.contract import Request
from wireproof.adapters.reference import Reference
from wireproof.cases.case import Accept, Case, Chunks, Data, Either, Reject, Value
from wireproof.cases.fixtures import Suite
from wireproof.cases.made_case import made_input
from wireproof.cases.outcome import Accepted, Outcome, Refused

MUTANTS = {**heka.MUTANTS, **heka_stream.MUTANTS}
M = "heka.message/0.10/"
S = "heka.stream/0.10/"

KILLERS = {
    "heka-uuid-any-length": M + "uuid/15-bytes",
    "heka-timestamp-double": M + "timestamp/nanoseconds",
    "heka-int32-five-bytes": M + "int32/minus-one-five-bytes",
    "heka-packed-only": M + "integer/unpacked",
    "heka-unpacked-only": M + "integer/packed",
    "heka-bool-as-byte": M + "bool/zero-in-two-bytes",
    "heka-bool-low-32-bits": M + "bool/2-to-the-32",
    "heka-double-big-endian": M + "double/packed",
    "heka-field-nameless": M + "field/nameless",
    "heka-severity-default": M + "message/minimal",
    "heka-sniffs-snappy": M + "snappy/plain-that-inflates",
    "heka-last-length-wins": S + "refused/length-twice-last-right",
    "heka-first-length-wins": S + "refused/length-twice-first-right",
    "heka-length-modulo": S + "refused/33-bits",
    "heka-header-signed-length": S + "header/128-bytes",
    "heka-limit-exclusive": S + "limit/65536",
    "heka-tail-refused": S + "tail/10-bytes",
    "heka-header-length-zero": S + "refused/zero-header",
    "heka-hmac-skip": S + "hmac/wrong-key",
    "heka-signer-without-hmac": S + "hmac/claimed-signer",
    "heka-short-header-unverified": S + "hmac/short-header",
    "heka-resync-lost": S + "scan/between",
    "heka-nested-delivered": S + "scan/nested-in-refused",
    "heka-no-end-rescan": S + "scan/false-separator",
    "heka-chunks-alone": S + "scan/byte-by-byte",
    "heka-encode-array-order": M + "encode/strings-in-order",
    "heka-encode-oversized": S + "encode/message-65537",
}


@cache
def suite() -> Suite:
    return load()


def answer(adapter: Reference, case: Case) -> Outcome:
    plain = Request("1", case.op, case.format, case.revision, options=case.options)
    match made_input(case):
        case Data(data):
            return adapter.decode(
                Request("1", "decode", case.format, case.revision, data=data, options=plain.options)
            )
        case Value(value):
            return adapter.encode(
                Request("1", "encode", case.format, case.revision, value=value, options=plain.options)
            )
        case Chunks(chunks):
            return adapter.scan(
                Request("1", "scan", case.format, case.revision, chunks=chunks, options=plain.options)
            )


def passes(case: Case, outcome: Outcome) -> bool:
    match case.expect, outcome:
        case Accept(), Accepted() if case.op == "encode":
            return not case.expect.data or outcome.data in case.expect.data
        case Accept(), Accepted():
            return (outcome.value, outcome.consumed) == (case.expect.value, case.expect.consumed)
        case Reject(), Refused():
            return outcome.cls in (case.expect.cls, *case.expect.also)
        case _:
            return False


def test_every_mutant_has_a_killer() -> None:
    assert set(KILLERS) == set(MUTANTS)


@each("name, killer", KILLERS.items())
def test_a_mutant_fails_the_case_that_is_named_for_it_and_the_reference_passes_it(
    name: str, killer: str
) -> None:
    case = suite().by_id[killer]
    assert case.level in {"must", "should"}  # both kill: architecture.md#strength
    assert passes(case, answer(Reference(), case))
    assert not passes(case, answer(MUTANTS[name](), case))


@each("name", MUTANTS)
def test_a_mutant_leaves_the_reference_as_it_was_and_is_right_elsewhere(name: str) -> None:
    decided = (case for case in stored_cases("heka.") if not isinstance(case.expect, Either))
    cases = [case for case in decided if case.op != "encode"][::6]
    mutant = MUTANTS[name]()
    right = [case.id for case in cases if passes(case, answer(mutant, case))]
    assert len(right) > len(cases) / 4
    assert all(passes(case, answer(Reference(), case)) for case in cases)


@each("name", MUTANTS)
def test_a_mutant_leaves_the_value_that_it_encodes_as_it_was(name: str) -> None:
    mutant = MUTANTS[name]()
    cases = [case for case in stored_cases("heka.") if case.op == "encode"]
    for case in cases:
        assert isinstance(case.input, Value)
        before = deepcopy(case.input.value)
        answer(mutant, case)
        assert case.input.value == before, case.id


def test_a_mutant_says_in_one_line_what_is_wrong_with_it() -> None:
    for name, made in MUTANTS.items():
        assert len((made.__doc__ or "").strip().splitlines()) == 1, name
