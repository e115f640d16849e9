"""The tables of record types in kafka.md §15 are those of the code."""

from typing import Final

from each import each
from folders import TOP

from wireproof.kafka.payloads.tables import INTERNAL_TOPICS, InternalTopic, KeyedRecord
from wireproof.schema.tables import OPEN

TEXT: Final = (TOP / "reference/docs/kafka.md").read_text(encoding="utf-8")


def printed(topic: str) -> list[str]:
    """Return the rows of the table in the section of a topic."""
    section = TEXT.split(f" `{topic}`\n")[1].split("\n### ")[0]
    return [line for line in section.splitlines() if line.startswith("| ") and line[2].isdigit()]


def declared(table: InternalTopic) -> list[str]:
    return [
        f"| {number} | {record.name} | {ranged(value.versions)} | {ranged(value.flexible)} |"
        for number, record in sorted(table.records.items())
        for value in [record.value if isinstance(record, KeyedRecord) else record]
    ]


def ranged(versions: range) -> str:
    if not versions:
        return "none"
    if versions.stop == OPEN:
        return f"{versions.start} and above"
    return str(versions.start) if len(versions) == 1 else f"{versions.start} to {versions[-1]}"


@each("topic", INTERNAL_TOPICS)
def test_the_document_has_the_record_types_of_a_topic(topic: str) -> None:
    assert printed(topic) == declared(INTERNAL_TOPICS[topic])
    assert printed(topic)
