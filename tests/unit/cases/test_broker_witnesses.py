"""Apache Kafka was run on what a broker must answer: 4.x on batches, 3.x on messages of v0 and v1."""

import re
from collections.abc import Mapping

from each import each
from goldens import load

from wireproof.cases.case import Case

BROKER = "apache-kafka"

WITHOUT: Mapping[str, str] = {
    r"kafka\.log/mixed/append/deltas-(descending|gap|twice-0)-(gzip|lz4|snappy|zstd)": (
        "Kafka 4.4 answers that it failed: kafka.append.deltas"
    ),
    r"kafka\.log/mixed/down-conversion/marker-first": (
        "Kafka 3.9 returns the record twice, and Kafka 4 converts no more: kafka.md §1.16"
    ),
    r"kafka\.batch/v2/produce/transactional-no-time": "one request is no transaction",
}
"""The cases that Kafka does not witness, and why."""

ASKED = [
    case
    for case in load().cases
    if case.format.startswith("kafka.") and case.profile == "produce" and case.op in ("decode", "sequence")
]


def releases(case: Case) -> set[str]:
    """The major releases of Kafka that were run on the case and agree."""
    return {one.version.partition(".")[0] for one in case.source.witnesses if one.name == BROKER}


@each("case", ASKED, ids=lambda case: case.id)
def test_kafka_is_a_witness_of_what_a_broker_must_answer(case: Case) -> None:
    reason = next((why for pattern, why in WITHOUT.items() if re.fullmatch(pattern, case.id)), "")
    wanted = "3" if case.revision in ("v0", "v1") else "[34]" if case.format == "kafka.log" else "4"
    found = any(re.fullmatch(wanted, release) for release in releases(case))
    assert found != bool(reason), reason or f"no Apache Kafka {wanted} agrees with {case.id}"
