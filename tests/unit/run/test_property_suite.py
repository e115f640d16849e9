"""The property suite: drawn by seed, judged as all cases are, shrunk, apart from known failures."""

from each import each
from goldens import load

from tests.mutants.registry import spec_of
from wireproof.derive.seeded_examples import property_examples
from wireproof.formats import FORMATS
from wireproof.fuzz import property_run as drawn
from wireproof.fuzz.property_run import (
    PropertySettings,
    RedrawCounts,
)
from wireproof.judge.verdicts import gates
from wireproof.run import case_lookup
from wireproof.run.engine import Engine

IDENTIFIER = FORMATS["iggy.identifier/0.0.30"]


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
