"""A reader that refuses a form of snappy which real producers write fails: kafka.md §3.2."""

import pytest
from goldens import load

from wireproof.adapters.contract import Hello
from wireproof.cases.case import Accept, Case
from wireproof.cases.outcome import Refused
from wireproof.runner.judge import judge

BOTH_FORMS = {"snappy-unframed", "snappy-version"}
"""Kafka's library, librdkafka and franz-go read both, and compare the magic of the framing alone."""

READER = Hello("reader", "", digests=True)
"""A reader that is asked for large values too."""

CASES = [
    case
    for case in load().cases
    if case.op == "decode"
    and isinstance(case.expect, Accept)
    and case.expect.remarks
    and set(case.expect.remarks) <= BOTH_FORMS
]


def test_both_forms_have_cases() -> None:
    remarks = [set(case.expect.remarks) for case in CASES if isinstance(case.expect, Accept)]
    assert set.union(*remarks) == BOTH_FORMS


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_refusal_of_raw_snappy_or_of_a_version_fails(case: Case) -> None:
    refusal = Refused("decompress-failed", 61, "records")
    assert judge(case, refusal, hello=READER).label == "fail:wrong-reject"
