"""The property suite: drawn by seed, judged as all cases are, shrunk, apart from known failures."""

import pytest
from goldens import load

from tests.mutants.registry import spec_of
from wireproof.formats import FORMATS
from wireproof.fuzz import property_run
from wireproof.runner import case_lookup
from wireproof.runner import property_suite as drawn
from wireproof.runner.engine import Engine
from wireproof.runner.property_suite import PropertySettings, RedrawCounts, property_cases
from wireproof.runner.verdicts import gates

IDENTIFIER = FORMATS["iggy.identifier/0.0.30"]


def test_an_example_is_the_same_however_many_are_wanted() -> None:
    some = list(property_cases(IDENTIFIER, "decode", 12, 5))
    drawn.case_pool.cache_clear()
    more = list(property_cases(IDENTIFIER, "decode", 30, 5))
    assert more[:12] == some
    assert len({repr(case.input) for case in more}) == 30
    assert list(property_cases(IDENTIFIER, "decode", 12, 6)) != some


def test_an_id_draws_its_example_again() -> None:
    case = property_cases(IDENTIFIER, "encode", 9, 5)[8]
    assert case.id == "iggy.identifier/0.0.30/property/encode~s5:8"
    assert case_lookup.find_case(load(), case.id) == case
    assert case_lookup.find_case(load(), case.id.replace("encode", "scan")) is None


@pytest.mark.parametrize(
    ("name", "row", "op"),
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
        judged = list(drawn.run_target(engine, target, PropertySettings(100, 1), RedrawCounts()))
    assert any(gates(one.verdict.name, "must") for one in judged)


@pytest.mark.parametrize("row", ["kafka.batch/v1", "kafka.log/mixed", "iggy.poll/0.0.60", "heka.stream/0.10"])
def test_the_reference_fails_no_example(row: str) -> None:
    with Engine("reference", in_process=True) as engine:
        events = list(property_run.run(engine, PropertySettings(8, 2, frozenset((row,)))))
    assert len(events) == 8 * (2 if FORMATS[row].scan is None else 3)
    assert {event.verdict for event in events} <= {"pass", "info"}
