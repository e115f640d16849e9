"""The property suite: drawn by seed, judged as all cases are, shrunk, apart from known failures."""

from each import each
from goldens import load

from tests.mutants.base import ReferenceCodec
from tests.mutants.registry import spec_of
from wireproof.adapters.contract import Request
from wireproof.adapters.requests import request_for
from wireproof.cases.case import Accept, Case, Data
from wireproof.derive.seeded_examples import property_examples
from wireproof.formats import FORMATS
from wireproof.judge.judge import judge
from wireproof.judge.verdicts import gates
from wireproof.run import case_lookup
from wireproof.run import property_suite as drawn
from wireproof.run.engine import Engine
from wireproof.run.property_suite import (
    DEFAULT_EXAMPLES,
    PropertySettings,
    RedrawCounts,
    release_seed,
)
from wireproof.wire.json_values import Json

IDENTIFIER = FORMATS["iggy.identifier/0.0.30"]


def test_an_example_is_the_same_however_many_are_wanted() -> None:
    some = list(property_examples(IDENTIFIER.format_id, 5).cases("decode", 0, 12))
    property_examples.cache_clear()
    more = list(property_examples(IDENTIFIER.format_id, 5).cases("decode", 0, 30))
    assert more[:12] == some
    assert len({repr(case.input) for case in more}) == 30
    assert list(property_examples(IDENTIFIER.format_id, 6).cases("decode", 0, 12)) != some


class ByHeart(ReferenceCodec):
    """Reads the bytes of the golden cases and no others."""

    def patch_value(self, value: Json, request: Request, data: bytes) -> Json:
        del request
        return value if data in golden_inputs() else None


def golden_inputs() -> set[bytes]:
    cases = [case for case in load().cases if case.format_id == IDENTIFIER.format_id]
    return {case.input.data for case in cases if isinstance(case.input, Data)}


def passes(case: Case) -> bool:
    return judge(case, ByHeart().decode(request_for(case, case.id))).passing


def test_a_codec_that_learnt_the_golden_cases_fails_the_examples_of_every_run() -> None:
    golden = [case for case in load().cases if case.format_id == IDENTIFIER.format_id and case.op == "decode"]
    accepted = [case for case in golden if isinstance(case.expect, Accept)]
    assert accepted
    assert all(passes(case) for case in accepted)
    examples = property_examples(IDENTIFIER.format_id, release_seed()).cases("decode", 0, DEFAULT_EXAMPLES)
    assert not all(passes(case) for case in examples)


def test_an_id_draws_its_example_again() -> None:
    case = property_examples(IDENTIFIER.format_id, 5).cases("encode", 0, 9)[8]
    assert case.id == "iggy.identifier/0.0.30/property/encode~s5:8"
    assert case_lookup.find_case(load(), case.id) == case
    assert case_lookup.find_case(load(), case.id.replace("encode", "scan")) is None


@each(
    "name, row, op",
    [
        ("crc-skip", "kafka.batch/v0", "decode"),
        ("null-key-as-empty", "kafka.batch/v2", "decode"),
        ("encode-null-as-empty", "kafka.batch/v2", "encode"),
        ("heka-timestamp-double", "heka.message/0.10", "decode"),
        ("iggy-log-checksum-skipped", "iggy.log/0.0.40", "scan"),
        ("iggy-identifier-unchecked", "iggy.identifier/0.0.30", "decode"),
    ],
)
def test_a_planted_fault_is_found_by_few_examples(name: str, row: str, op: str) -> None:
    with Engine(spec_of(f"mutant:{name}"), in_process=True) as engine:
        target = next(one for one in drawn.property_targets(engine.hello, [row]) if one.op == op)
        judged = list(drawn.run_target(engine, target, PropertySettings(100, 2), RedrawCounts()))
    assert any(gates(one.verdict.name, "must") for one in judged)
