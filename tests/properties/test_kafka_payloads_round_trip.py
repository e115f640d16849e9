"""Payloads of Kafka's internal topics: what is written is read again, and any bytes are read or refused."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka_payloads import KafkaPayload, kafka_payloads

from wireproof.kafka.payloads import Payload, PayloadPart, decode_payload, encode_payload
from wireproof.kafka.payloads.internal_topics import INTERNAL_TOPICS
from wireproof.wire.rejection import Rejected
from wireproof.wire.struct_codec import HeldStruct
from wireproof.wire.struct_table import Kind, ListOf, StructField, VersionedStruct, fields_in

RANGES = {
    "int8": (-(1 << 7), (1 << 7) - 1), "int16": (-(1 << 15), (1 << 15) - 1), "uint16": (0, (1 << 16) - 1),
    "int32": (-(1 << 31), (1 << 31) - 1), "uint32": (0, (1 << 32) - 1), "int64": (-(1 << 63), (1 << 63) - 1),
}  # fmt: skip

SIMPLE = {
    **{name: st.integers(*bounds) for name, bounds in RANGES.items()},
    "bool": st.booleans(),
    "float64": st.floats(allow_nan=False),
    "uuid": st.binary(min_size=16, max_size=16),
    "string": st.text(st.characters(codec="utf-8"), max_size=12),
    "bytes": st.binary(max_size=12),
}


@cache
def values_of(kind: Kind, version: int) -> st.SearchStrategy[Any]:
    """Return a strategy for the values of a type."""
    match kind:
        case ListOf(of=of):
            return st.lists(values_of(of, version), max_size=3)
        case VersionedStruct():
            return st.fixed_dictionaries({one.name: _field(one, version) for one in fields_in(kind, version)})
    return SIMPLE[kind]


def _field(one: StructField, version: int) -> st.SearchStrategy[Any]:
    values = values_of(one.kind, version)
    choices = [values, *([st.none()] if version in one.nullable else ())]
    return st.one_of(*choices, *([st.just(one.default_in(version))] if one.tag is not None else ()))


@st.composite
def payloads(draw: st.DrawFn, topic: str) -> Payload:
    """Draw a payload of a topic, of any type and version."""
    table = INTERNAL_TOPICS[topic]
    number = draw(st.sampled_from(sorted(table.records)))
    record = table.records[number]
    value = record if isinstance(record, VersionedStruct) else record.value
    version = draw(st.integers(value.versions.first, value.newest))
    second = PayloadPart(value, version, draw(values_of(value, version)))
    if isinstance(record, VersionedStruct):
        return Payload(record.name, number, version, None, second)
    key = record.key
    first = PayloadPart(key, key.newest, draw(values_of(key, key.newest)))
    return Payload(record.name, number, version, first, second)


def without_held_structs(tree: Any) -> Any:
    """Replace the structs that bytes of the values are by these bytes, as they were drawn."""
    match tree:
        case HeldStruct(data=data):
            return data
        case dict():
            return {name: without_held_structs(part) for name, part in tree.items()}
        case list():
            return [without_held_structs(part) for part in tree]
    return tree


@pytest.mark.parametrize("topic", INTERNAL_TOPICS)
def test_a_payload_that_is_written_is_read_as_it_was(topic: str) -> None:
    @given(payloads(topic))
    def holds(payload: Payload) -> None:
        key, value = encode_payload(topic, payload)
        seen = decode_payload(topic, key, value, traced=True)
        assert (seen.name, seen.type, seen.version) == (payload.name, payload.type, payload.version)
        for before, after in ((payload.key, seen.key), (payload.value, seen.value)):
            assert (before and before.values) == (after and without_held_structs(after.values))
        assert encode_payload(topic, seen) == (key, value)

    holds()


def edited(example: KafkaPayload) -> st.SearchStrategy[tuple[bytes | None, bytes | None]]:
    """Return a strategy for the parts of an example, one of them with other bytes in one place."""
    parts = [(at, part) for at, part in enumerate((example.key, example.value)) if part]

    @st.composite
    def draw_parts(draw: st.DrawFn) -> tuple[bytes | None, bytes | None]:
        index, part = draw(st.sampled_from(parts))
        start = draw(st.integers(0, len(part)))
        end = draw(st.integers(start, min(len(part), start + 3)))
        data = part[:start] + draw(st.binary(max_size=6)) + part[end:]
        return (data, example.value) if index == 0 else (example.key, data)

    return draw_parts()


def examples_of(topic: str) -> Iterator[KafkaPayload]:
    return (one for one in kafka_payloads() if one.topic == topic)


@pytest.mark.parametrize("topic", INTERNAL_TOPICS)
def test_any_bytes_are_read_or_refused_with_and_without_a_trace(topic: str) -> None:
    @given(st.sampled_from(list(examples_of(topic))).flatmap(edited))
    def holds(parts: tuple[bytes | None, bytes | None]) -> None:
        plain, traced = answer(topic, *parts, traced=False), answer(topic, *parts, traced=True)
        assert plain == traced

    holds()


def answer(topic: str, key: bytes | None, value: bytes | None, *, traced: bool) -> object:
    """Return the fields, or what is wrong and where; nothing but `Rejected` may be raised."""
    payload = decoded_or_refused(topic, key, value, traced=traced)
    if isinstance(payload, Rejected):
        part = key if payload.path.startswith("key") else value
        assert payload.path
        assert isinstance(payload.at, int)
        assert 0 <= payload.at <= len(part or b"")
        return payload.cls, payload.at, payload.path
    return repr(payload.fields), payload.note, dict(payload.code_names)


def decoded_or_refused(
    topic: str, key: bytes | None, value: bytes | None, *, traced: bool
) -> Payload | Rejected:
    try:
        return decode_payload(topic, key, value, traced=traced)
    except Rejected as rejected:
        return rejected
