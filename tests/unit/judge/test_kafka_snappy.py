"""A reader that refuses a form of snappy which real producers write fails: kafka.md §3.2."""

from each import each
from goldens import load

from wireproof.adapters.contract import Hello
from wireproof.cases.case import Accept, Case
from wireproof.cases.outcome import Refused
from wireproof.judge.judge import judge

FORMS = ("kafka.snappy.raw", "kafka.snappy.version")
"""Kafka's library, librdkafka and franz-go read both, and compare the magic of the framing alone."""

READER = Hello("reader", "", digests=True)
"""A reader that is asked for large values too."""

CASES = [
    case
    for case in load().cases
    if case.op == "decode" and isinstance(case.expect, Accept) and set(case.rules) & set(FORMS)
]


def test_both_forms_have_cases() -> None:
    assert {rule for case in CASES for rule in case.rules} >= set(FORMS)


@each("case", CASES, ids=lambda case: case.id)
def test_a_refusal_of_raw_snappy_or_of_a_version_fails(case: Case) -> None:
    refusal = Refused("decompress-failed", 61, "records")
    assert judge(case, refusal, hello=READER).label == "fail:wrong-reject"
