"""The derived fields of Kafka values: next offset, sequence, timestamp type. adapter-contract.md#values."""

from typing import Any

from each import each
from goldens import load

from wireproof.cases.case import Accept, Case, Data
from wireproof.kafka.derived_fields import add_to_records


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
