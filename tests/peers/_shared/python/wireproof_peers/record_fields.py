"""How bindings of Kafka libraries show a record, and what all that read whole record sets have in common."""

from collections.abc import Sequence
from typing import Any, Final

from wireproof.wire.values import Json

FIELDS: Final = ("offset", "timestamp", "key", "value")
"""What every library shows of a record and of a message."""

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


def observed(batch: Sequence[str] = ()) -> tuple[str, ...]:
    """The patterns of what is shown of a log: of its entries the fields `batch` too."""
    return (
        *(f"batches[].{name}" for name in (*FIELDS, *batch)),
        *(f"batches[].messages[].{name}" for name in FIELDS),
        *(f"batches[].records[].{name}" for name in (*FIELDS, "headers")),
    )


def shown(record: Any) -> dict[str, Json]:  # noqa: ANN401 - of the library
    """The fields of a record; a v0 message has no timestamp, which Kafka reads as -1 (kafka.md §2.1)."""
    timestamp = -1 if record.timestamp is None else record.timestamp
    return {
        "offset": str(record.offset),
        "timestamp": str(timestamp),
        "key": to_hex(record.key),
        "value": to_hex(record.value),
    }


def to_hex(data: bytes | None) -> str | None:
    """Bytes as a value has them; None is null."""
    return None if data is None else data.hex()


def to_bytes(text: str | None) -> bytes | None:
    """What `to_hex` was given."""
    return None if text is None else bytes.fromhex(text)
