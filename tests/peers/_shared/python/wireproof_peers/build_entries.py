"""Encoding with the builders of kafka-python and aiokafka, which have one signature: one entry of a value."""

from collections.abc import Callable
from typing import Any, Final

from wireproof.cases.outcome import Accepted, Outcome, Unsupported
from wireproof_peers.record_fields import to_bytes

CODEC_BITS: Final = 0x07
TRANSACTIONAL: Final = 0x10
"""Attribute bits: kafka.md §1.2 and §2.1."""

LARGE_BATCH: Final = 1 << 30
"""The batch size of the builders, larger than any case."""


def build_batch(make: Callable[..., Any], value: Any) -> Outcome:  # noqa: ANN401 - a JSON value
    """Return a v2 batch from the builder of `make`; unsupported if the builder sets a field otherwise."""
    if fixed := fixed_batch_field(value):
        return Unsupported(f"the builder has no say over {fixed}")
    attributes = int(value["attributes"])
    builder = make(
        magic=int(value["magic"]),
        compression_type=attributes & CODEC_BITS,
        is_transactional=bool(attributes & TRANSACTIONAL),
        producer_id=int(value["producerId"]),
        producer_epoch=int(value["producerEpoch"]),
        base_sequence=int(value["baseSequence"]),
        batch_size=LARGE_BATCH,
    )
    for record in value["records"]:
        headers = [(_text(key), to_bytes(part)) for key, part in record["headers"]]
        timestamp = int(value["baseTimestamp"]) + int(record["timestampDelta"])
        body = to_bytes(record["key"]), to_bytes(record["value"])
        builder.append(int(record["offsetDelta"]), timestamp, *body, headers)
    return Accepted(data=bytes(builder.build()))


def build_message(make: Callable[..., Any], value: Any) -> Outcome:  # noqa: ANN401 - a JSON value
    """Return a v0 or v1 message or wrapper in the same way."""
    if fixed := fixed_message_field(value):
        return Unsupported(f"the builder has no say over {fixed}")
    codec = int(value["attributes"]) & CODEC_BITS
    builder = make(magic=int(value["magic"]), compression_type=codec, batch_size=LARGE_BATCH)
    for message in value["messages"] or [value]:
        body = to_bytes(message["key"]), to_bytes(message["value"])
        builder.append(int(message["offset"]), int(message["timestamp"]), *body)
    return Accepted(data=bytes(builder.build()))


def _text(text: str | None) -> str | None:
    return None if text is None else bytes.fromhex(text).decode()


def fixed_batch_field(value: Any) -> str | None:  # noqa: ANN401 - a JSON value
    """Return the first field that a producer's builder sets to another value than that of `value`."""
    records = value["records"]
    base = int(value["baseTimestamp"])
    stamps = [base + int(record["timestampDelta"]) for record in records]
    set_by_builder: tuple[tuple[str, object, object], ...] = (
        ("baseOffset", value["baseOffset"], "0"),
        ("attributes", int(value["attributes"]) & ~(CODEC_BITS | TRANSACTIONAL), 0),
        ("lastOffsetDelta", value["lastOffsetDelta"], records[-1]["offsetDelta"] if records else "0"),
        ("baseTimestamp", base, stamps[0] if stamps else 0),
        ("maxTimestamp", int(value["maxTimestamp"]), max(stamps, default=0)),
        ("records[].attributes", {record["attributes"] for record in records} | {"0"}, {"0"}),
    )
    return next((name for name, asked, done in set_by_builder if asked != done), None)


def fixed_message_field(value: Any) -> str | None:  # noqa: ANN401 - a JSON value
    """Return the same for a v0 or v1 entry: the builders leave a wrapper's offset and time to the broker."""
    wrapped = value["messages"] is not None
    time = "-1" if value["magic"] == "0" else "0"
    attributes = int(value["attributes"])
    set_by_builder: tuple[tuple[str, object, object], ...] = (
        ("attributes", attributes & ~CODEC_BITS, 0),
        ("messages", wrapped, bool(attributes & CODEC_BITS)),
        ("offset", value["offset"], "0"),
        ("timestamp", value["timestamp"], time),
        ("key", value["key"], None),
        ("messages[].magic", {part["magic"] for part in value["messages"] or ()} - {value["magic"]}, set()),
        ("messages[].attributes", {part["attributes"] for part in value["messages"] or ()} | {"0"}, {"0"}),
    )
    plain = ("attributes", "messages")
    found = (name for name, asked, done in set_by_builder if asked != done and (wrapped or name in plain))
    return next(found, None)
