"""The reader of payloads beside Kafka's own classes, on bytes that are edited."""

import random
from typing import Any

import pytest
from kafka_payloads import KafkaPayload, ask_kafka, kafka_json, kafka_payloads
from machine import needs

from wireproof.kafka.payloads import decode_payload
from wireproof.kafka.payloads.tables import INTERNAL_TOPICS, KeyedTopic
from wireproof.wire.rejection import Rejected

pytestmark = [pytest.mark.tools, needs("java", "mvn")]


EDITS = 12
"""Edits of each example that Kafka's classes are asked about."""


# --- edited bytes ---


def edited(example: KafkaPayload, chance: random.Random) -> tuple[bytes | None, bytes | None]:
    """Return the key and the value, one of them with a byte changed, removed or added."""
    parts = [example.key, example.value]
    index = chance.choice([at for at, part in enumerate(parts) if part])
    data = bytearray(parts[index] or b"")
    at = chance.randrange(len(data))
    match chance.randrange(5):
        case 0:
            del data[at:]
        case 1:
            data.insert(at, chance.randrange(256))
        case 2:
            data[at] = chance.choice((0, 1, 0x7F, 0x80, 0xFF))
        case _:
            data[at] ^= 1 << chance.randrange(8)
    parts[index] = bytes(data)
    return parts[0], parts[1]


def hexed(data: bytes | None) -> str | None:
    return None if data is None else data.hex()


def ours(topic: str, key: bytes | None, value: bytes | None) -> Any:
    """Return the fields in Kafka's words, or the name of the refusal, or the note about what is not known."""
    try:
        payload = decode_payload(topic, key, value)
    except Rejected as rejected:
        if rejected.cls != "trailing-data" or not isinstance(INTERNAL_TOPICS[topic], KeyedTopic):
            return rejected.detail or rejected.cls
        payload = rejected.before  # a coordinator ignores the bytes after the fields
    if payload.note:
        return payload.note
    parts = (payload.key, payload.value)
    return [
        None if one is None or not one.struct else kafka_json(one.struct, one.version, one.value)
        for one in parts
    ]


def agree(topic: str, answer: dict[str, Any], mine: Any) -> bool:
    if "error" in answer:
        return isinstance(mine, str)
    if isinstance(mine, str):
        newer = mine.startswith("version ") and topic in FRAMED
        return newer or mine in STRICTER
    return bool(mine == [answer.get("keyJson"), answer.get("valueJson")])


FRAMED = {"__cluster_metadata", "__remote_log_metadata"}
"""The topics in which Kafka reads a version above the newest one as the newest one (kafka.md §15.1)."""

STRICTER = {"negative-length", "length-mismatch", "TAGGED_FIELD_PAST_END", "bad-varint"}
"""Kafka reads lengths below -1 as null, ignores the size of a known tagged field, and reads unsigned varints
above 2^31 as negative numbers (kafka.md §15.1)."""


def test_edited_bytes_are_read_as_kafka_reads_them_or_refused_where_kafka_refuses_them() -> None:
    chance = random.Random(22)
    inputs = [(one.topic, *edited(one, chance)) for one in kafka_payloads() for _ in range(EDITS)]
    answers = ask_kafka(
        {"topic": topic, "key": hexed(key), "value": hexed(value)} for topic, key, value in inputs
    )
    rows = [(row, answer, ours(*row)) for row, answer in zip(inputs, answers, strict=True)]
    different = [
        (row[0], hexed(row[1]), hexed(row[2]), answer.get("error"), mine)
        for row, answer, mine in rows
        if not agree(row[0], answer, mine)
    ]
    assert different == []
    assert sum("error" in answer for _, answer, _ in rows) > len(rows) // 5
    assert sum(not isinstance(mine, str) for *_, mine in rows) > len(rows) // 5
