"""The capabilities that requests of Iggy need, by their fields."""

from collections.abc import Iterator, Sequence
from typing import Final

from wireproof.wire.options import Options
from wireproof.wire.trace import FieldSpan

PARTITIONING_CAPABILITIES: Final = {
    1: "feature:partitioning-balanced",
    3: "feature:partitioning-messages-key",
    "balanced": "feature:partitioning-balanced",
    "messages_key": "feature:partitioning-messages-key",
}
"""Kinds of a partitioning that a client may lack: iggy.md §2.2; a number in bytes, a word in JSON."""


def of_bytes(spans: Sequence[FieldSpan], _: Options) -> Iterator[str]:
    """Yield the capabilities of decoded fields."""
    for span in spans:
        match span.path.rpartition(".")[2], span.value:
            case "id", int(number) if number:
                yield "feature:message-id"
            case "kind", int() | str() as kind if (
                "partitioning" in span.path and kind in PARTITIONING_CAPABILITIES
            ):
                yield PARTITIONING_CAPABILITIES[kind]
