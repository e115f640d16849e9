"""The faults that were chosen before anyone looked at the cases: each dies by the case named for it."""

import pytest
from attrs import evolve
from each import each
from goldens import load

from tests.mutants import heldout1_heka, heldout1_iggy, heldout1_kafka
from tests.mutants.kill import verdict_on
from wireproof.cases.fixtures import Suite

MUTANTS = {**heldout1_kafka.MUTANTS, **heldout1_iggy.MUTANTS, **heldout1_heka.MUTANTS}

DIED = {
    "append-time-uncompressed-only": "kafka.batch/v2/timestamps/log-append-gzip",
    "control-key-version-exact": "kafka.batch/v2/control/key-version-1",
    "heka-limit-fixed": "heka.stream/0.10/limit/raised",
    "iggy-json-surrogates-apart": "iggy.json.send/0.0.30/headers/escaped-key",
    "iggy-length-255-refused": "iggy.headers/0.0.30/bounds/key-255",
    "iggy-limit-per-message": "iggy.send/0.0.30/limits/headers-102401",
    "iggy-partitioning-key-as-text": "iggy.partitioning/0.0.30/partitioning/messages-key-binary",
    "iggy-scan-stops-at-garbage": "iggy.log/0.0.30/scan/garbage",
    "iggy-u64-signed": "iggy.poll/0.0.60/prefix/bytes",
    "varint-31-bits": "kafka.batch/v2/varints/int32-max",
    "wrapper-base-from-count": "kafka.batch/v1/wrapper/gzip-compacted",
}
"""By cases that were there when the faults were planted."""

LIVED = {
    "abort-marker-closes-all": "kafka.log/mixed/delivered/two-aborts-interleaved",
    "aborted-from-base-offset": "kafka.log/mixed/delivered/first-offset-inside-batch",
    "fetch-offset-skips-wrappers": "kafka.log/mixed/delivered/fetch-offset-in-wrapper",
    "heka-hmac-prefix": "heka.stream/0.10/hmac/digest-cut",
    "heka-nan-canonical": "heka.message/0.10/double/nan-bits",
    "heka-packed-once-packed": "heka.message/0.10/integer/packed-then-unpacked",
    "iggy-writes-state-available": "iggy.poll/0.0.40/encode/states",
    "inner-timestamp-type-believed": "kafka.batch/v1/wrapper/gzip-inner-log-append",
    "v0-offsets-rebased": "kafka.batch/v0/wrapper/gzip-relative-inner",
}
"""By cases that were written for what they had shown."""

KILLERS = DIED | LIVED


@pytest.fixture(scope="module", name="suite")
def _suite() -> Suite:
    return load()


def _only(suite: Suite, name: str) -> Suite:
    case = suite.by_id[name]
    return evolve(suite, cases=tuple(suite.by_id[one] for one in (name, case.twin) if one))


def test_there_are_twenty_and_each_has_its_case() -> None:
    assert len(MUTANTS) == 20
    assert set(KILLERS) == set(MUTANTS)


@each("name", KILLERS)
def test_a_mutant_dies_by_its_case_and_the_reference_does_not(name: str, suite: Suite) -> None:
    only = _only(suite, KILLERS[name])
    killed = verdict_on(f"mutant:{name}", only, in_process=True)
    assert killed.by == KILLERS[name]
    assert killed.label.startswith("fail:") or killed.label == "lenient"
    assert verdict_on("reference", only, in_process=True).by == ""


@each("name", MUTANTS)
def test_a_mutant_leaves_the_reference_as_it_was(name: str, suite: Suite) -> None:
    """Its parts replace those of the reference's own modules while it answers, and only then."""
    only = _only(suite, KILLERS[name])
    verdict_on(f"mutant:{name}", only, in_process=True)
    assert verdict_on("reference", only, in_process=True).passed == len(only.cases)
