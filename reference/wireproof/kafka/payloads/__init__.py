"""Keys and values of the records of Kafka's internal topics, decoded by field: kafka.md §15."""

from wireproof.kafka.payloads.decode import (
    Payload,
    PayloadPart,
    decode_payload,
    encode_payload,
    is_internal_topic,
)
from wireproof.kafka.payloads.text import payload_text, topic_of_folder

__all__ = [
    "Payload",
    "PayloadPart",
    "decode_payload",
    "encode_payload",
    "is_internal_topic",
    "payload_text",
    "topic_of_folder",
]
