"""The derived fields of Kafka values: next offset, sequence, timestamp type. adapter-contract.md#values."""

from typing import Any

from attrs import evolve
from each import each
from goldens import load

from tests.mutants.kafka_derived import DERIVED
from tests.mutants.kill import verdict_on
from wireproof.cases.case import Accept, Case, Data
from wireproof.kafka.derived_fields import add_to_records

DEADLY = {
    "next-offset-by-count": "kafka.batch/v2/batch/compacted-gaps",
    "next-offset-of-last-record": "kafka.log/mixed/entries/data-then-empty",
    "next-offset-of-wrapper-by-count": "kafka.batch/v0/wrapper/gzip-gap",
    "next-offset-of-delivered": "kafka.log/mixed/delivered/aborted-gzip",
    "sequence-does-not-wrap": "kafka.batch/v2/batch/sequence-wraps",
    "sequence-by-count": "kafka.log/mixed/broker/kafka-clients-compacted-0",
    "sequence-without-producer": "kafka.batch/v2/attributes/unused-bit-7",
    "create-time-for-append-time": "kafka.batch/v1/message/log-append-time",
    "create-time-for-none": "kafka.batch/v0/message/empty-empty",
    "timestamp-type-of-inner": "kafka.batch/v1/wrapper/gzip-log-append",
}


def test_every_fault_in_a_derived_field_has_its_case() -> None:
    assert set(DEADLY) == {mutant.name for mutant in DERIVED}


@each("name", DEADLY)
def test_a_wrong_derived_field_fails_its_case(name: str) -> None:
    suite = load()
    case = suite.by_id[DEADLY[name]]
    killed = verdict_on(f"mutant:{name}", evolve(suite, cases=(case,)), in_process=True)
    assert (killed.by, killed.label) == (case.id, "fail:wrong-value")


@each(
    "base, delta, sequence",
    [(-1, 3, -1), (0, 0, 0), (7, 2, 9), ((1 << 31) - 1, 0, (1 << 31) - 1), ((1 << 31) - 1, 1, 0)],
)
def test_a_sequence_goes_on_with_0_after_the_largest(base: int, delta: int, sequence: int) -> None:
    records: list[dict[str, Any]] = [{}]
    add_to_records(records, 0, base, [delta])
    assert records == [{"sequence": str(sequence), "timestampType": "create"}]


def value_of(case: Case) -> Any:
    assert isinstance(case.expect, Accept)
    assert isinstance(case.input, Data)
    return case.expect.value


def test_a_consumer_goes_on_after_an_aborted_transaction_of_which_it_delivers_nothing() -> None:
    value = value_of(load().by_id["kafka.log/mixed/delivered/aborted-gzip"])
    assert value == {"batches": [], "nextOffset": "2"}
