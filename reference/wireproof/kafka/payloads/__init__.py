"""Keys and values of the records of Kafka's internal topics, decoded by field: kafka.md §15."""

from wireproof.kafka.payloads.tables import (
    Payload,
    PayloadPart,
    decode_payload,
    is_internal_topic,
)

__all__ = [
    "Payload",
    "PayloadPart",
    "decode_payload",
    "is_internal_topic",
]
