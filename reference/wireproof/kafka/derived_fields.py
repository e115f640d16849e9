"""The derived fields of Kafka values: what a consumer or a broker concludes from the fields of an entry.

They are added to the JSON form of an answer and not to the value classes, because most runs compare none of
them: kafka.md §1.10, §1.8, §2.2.
"""

from collections.abc import Iterable
from typing import Any, Final, Literal, TypeAlias

from wireproof.kafka.attribute_bits import LOG_APPEND_TIME, wrap64

TimestampType: TypeAlias = Literal["create", "log-append", "none"]
"""Who set a timestamp: the producer, the broker, or nobody (v0)."""

SEQUENCES: Final = 1 << 31
"""Number of sequences; the one after 2147483647 is 0."""

NO_SEQUENCE: Final = -1


def add_to_records(
    records: list[dict[str, Any]], attributes: int, base_sequence: int, deltas: Iterable[int]
) -> None:
    """Add the sequence and the timestamp type of the records of a batch; `deltas` are their offset deltas.

    A batch without a base sequence has no sequences: -1.
    """
    kind, none = _type_of(attributes), str(NO_SEQUENCE) if base_sequence < 0 else None
    for record, delta in zip(records, deltas, strict=True):
        record["sequence"] = none or str((base_sequence + delta) % SEQUENCES)
        record["timestampType"] = kind


def offset_after(last_offset: int) -> str:
    """Return the offset after `last_offset`, in JSON form."""
    return str(wrap64(last_offset + 1))


def _type_of(attributes: int) -> TimestampType:
    return "log-append" if attributes & LOG_APPEND_TIME else "create"


def add_to_message(tree: dict[str, Any]) -> None:
    """Add the next offset and the timestamp type of a message.

    The timestamp type of a wrapper is that of its v1 messages too, which have their fields already.
    """
    own = _type_in_message(tree)
    tree["nextOffset"], tree["timestampType"] = offset_after(int(tree["offset"])), own
    for inner in tree["messages"] or ():
        if inner["magic"] != "0":
            inner["timestampType"] = own


def _type_in_message(tree: dict[str, Any]) -> TimestampType:
    return "none" if tree["magic"] == "0" else _type_of(int(tree["attributes"]))
