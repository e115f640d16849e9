"""The JSON value of a record, and what the adapters of Kafka clients in Python have in common."""

from collections.abc import Sequence
from typing import Any, Final

from wireproof.wire.json_values import Json

FIELDS: Final = ("offset", "timestamp", "key", "value")
"""The fields of a record and of a message that every library returns."""

READS: Final = (
    "wrapper",
    "partial-tail",
    "headers",
    "empty-batch",
    "log-append-time",
    "mixed-magic",
    "delete-horizon",
    "idempotent",
    "transactional",
)
"""The features of a log that every library reads."""


def observed_fields(batch: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the patterns of the fields of a log that an adapter returns, with the fields `batch`."""
    return (
        *(f"batches[].{name}" for name in (*FIELDS, *batch)),
        *(f"batches[].messages[].{name}" for name in FIELDS),
        *(f"batches[].records[].{name}" for name in (*FIELDS, "headers")),
    )


def record_json(record: Any) -> dict[str, Json]:  # noqa: ANN401 - of the library
    """Return the fields of a record; a v0 message has the timestamp -1, as in Kafka (kafka.md §2.1)."""
    timestamp = -1 if record.timestamp is None else record.timestamp
    return {
        "offset": str(record.offset),
        "timestamp": str(timestamp),
        "key": to_hex(record.key),
        "value": to_hex(record.value),
    }


def to_hex(data: bytes | None) -> str | None:
    """Return bytes as hex, as a JSON value has them; None is null."""
    return None if data is None else data.hex()


def to_bytes(text: str | None) -> bytes | None:
    """Return the bytes of a text in hex; null is None."""
    return None if text is None else bytes.fromhex(text)
