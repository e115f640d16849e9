"""The stream, topic and partition that the bytes of a send name: iggy.md, sections 2.2 and 5.

The bytes of a case may be damaged, so they are read without the codec: only the places of the three parts
matter here. The stream becomes one of our own; the topic is created there as the bytes name it.
"""

from collections.abc import Sequence
from struct import Struct
from typing import Final

from attrs import evolve, frozen

from wireproof.iggy.family.live_server.commands import numeric
from wireproof.iggy.family.live_server.protocol import Protocol
from wireproof.iggy.header_kinds import is_utf8
from wireproof.wire.json_values import Json

NUMERIC, STRING = 1, 2
"""The kinds of an identifier."""

PARTITION_ID: Final = 2
_LENGTH: Final = Struct("<I")
_NUMBER: Final = Struct("<I")

VALUE_AT: Final = 6
"""The place of the value of the stream: after the length of the metadata, the kind and the size."""


@frozen
class Part:
    """A kind, a value, and the place of the kind in the bytes."""

    kind: int
    value: bytes
    at: int

    @property
    def number(self) -> int:
        """Return the value as a number; 0 if it has not four bytes."""
        number: int = _NUMBER.unpack(self.value)[0] if len(self.value) == _NUMBER.size else 0
        return number

    @property
    def end(self) -> int:
        """Return the place after the value."""
        return self.at + 2 + len(self.value)


@frozen
class Topic:
    """A topic to create: its identifier in polls, number (0: the server chooses), name and partitions.

    `partition` is the one that gets the messages; a topic of one partition leaves no choice.
    """

    identifier: Json
    number: int
    name: bytes
    partitions: int = 1
    partition: int = 0

    @property
    def by_number(self) -> bool:
        """Return True if its identifier is a number."""
        return isinstance(self.identifier, dict) and self.identifier["kind"] == "numeric"


DEFAULT_TOPIC: Final = Topic({"kind": "string", "value": b"topic".hex()}, 0, b"topic")
"""The topic of bytes that name none."""


def parts_of(data: bytes) -> tuple[Part, ...]:
    """Return the stream, the topic and the partitioning, as far as the bytes have them whole."""
    parts: list[Part] = []
    at = _LENGTH.size
    while len(parts) < 3 and at + 2 <= len(data):
        value = data[at + 2 : at + 2 + data[at + 1]]
        if len(value) < data[at + 1]:
            break
        parts.append(Part(data[at], value, at))
        at = parts[-1].end
    return tuple(parts)


def with_stream(protocol: Protocol, data: bytes, number: int, name: str) -> bytes:
    """Return the bytes with a stream of our own in place of theirs.

    A name becomes our name, and the length of the metadata changes by the difference. Of every other value
    the first four bytes become our number, also if the bytes end in it, so that no reading of them names the
    stream of somebody else. Number 0 stays where it names no stream.
    """
    if len(data) < VALUE_AT:
        return data
    kind, size = data[_LENGTH.size : VALUE_AT]
    value = data[VALUE_AT : VALUE_AT + size]
    if kind != STRING:
        none = protocol.first and value == bytes(_NUMBER.size)
        return data if none else _overwritten(data, _NUMBER.pack(number))
    if len(value) < size:
        return _overwritten(data, name.encode()[: len(value)])
    return _named_anew(data, value, name.encode()) if value else data


def with_topic(data: bytes, number: int) -> bytes:
    """Return the bytes with the number that the server gave to the topic, if they name one by its number."""
    parts = parts_of(data)
    if len(parts) < 2 or parts[1].kind != NUMERIC or len(parts[1].value) != _NUMBER.size:
        return data
    return data[: parts[1].end - _NUMBER.size] + _NUMBER.pack(number) + data[parts[1].end :]


def _overwritten(data: bytes, value: bytes) -> bytes:
    """Return the bytes with others at the place of the value; no byte is added."""
    whole = data[:VALUE_AT] + value + data[VALUE_AT + len(value) :]
    return whole[: len(data)]


def _named_anew(data: bytes, old: bytes, name: bytes) -> bytes:
    (length,) = _LENGTH.unpack_from(data)
    length = (length + len(name) - len(old)) % (1 << 32)
    return _LENGTH.pack(length) + bytes((STRING, len(name))) + name + data[VALUE_AT + len(old) :]


def topic_of(protocol: Protocol, data: bytes) -> Topic:
    """Return the topic that the bytes name, with as many partitions as they need."""
    parts = parts_of(data)
    topic = _named(parts[1], protocol.first) if len(parts) > 1 else DEFAULT_TOPIC
    topic = evolve(topic, partition=protocol.first)
    partition = _partition(parts)
    if not protocol.first <= partition <= protocol.most_partitions:
        return topic
    return evolve(topic, partitions=partition + 1 - protocol.first, partition=partition)


def with_partition(protocol: Protocol, data: bytes) -> bytes:
    """Return the bytes with the first partition in place of one that no topic can have."""
    parts = parts_of(data)
    if _partition(parts) <= protocol.most_partitions:
        return data
    return data[: parts[2].end - _NUMBER.size] + _NUMBER.pack(protocol.first) + data[parts[2].end :]


def _partition(parts: Sequence[Part]) -> int:
    """Return the number of the partition that is named; -1 if none is."""
    if len(parts) < 3 or parts[2].kind != PARTITION_ID or len(parts[2].value) != _NUMBER.size:
        return -1
    return parts[2].number


def _named(part: Part, first: int) -> Topic:
    if part.kind == STRING and part.value and is_utf8(part.value):
        return Topic({"kind": "string", "value": part.value.hex()}, 0, part.value)
    if part.kind == NUMERIC and len(part.value) == _NUMBER.size and part.number >= first:
        return Topic(numeric(part.number), part.number, DEFAULT_TOPIC.name)
    return DEFAULT_TOPIC
