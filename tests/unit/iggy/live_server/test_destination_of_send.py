"""The stream in the bytes of a send becomes one of our own; the rest of the bytes stays."""

import pytest
from attrs import evolve
from each import each
from goldens import load

from wireproof import formats
from wireproof.cases.case import Data
from wireproof.live.iggy_server.requests import (
    BY_REVISION,
    DEFAULT_TOPIC,
    Topic,
    topic_of,
    with_partition,
    with_stream,
    with_topic,
)

CASES = load().by_id
SEND = formats.get("iggy.send", "0.7")
OF_0_5, OF_0_6 = BY_REVISION["0.7"], BY_REVISION["0.8"]
NAME = "wireproof-1-1"


def data_of(name: str) -> bytes:
    source = CASES[f"iggy.send/0.7/{name}"].input
    assert isinstance(source, Data)
    return source.data


def test_a_number_becomes_our_number_and_no_other_byte_changes() -> None:
    data = data_of("messages/two")
    changed = with_stream(OF_0_5, data, 0x01020304, NAME)
    assert changed == data[:6] + bytes((4, 3, 2, 1)) + data[10:]


def test_a_partition_that_no_topic_can_have_becomes_the_first_one_and_no_other_byte_changes() -> None:
    data = data_of("states/every-byte-differs")
    changed = with_partition(OF_0_5, data)
    sent, ours = (formats.decode(SEND, one).value for one in (data, changed))
    assert int.from_bytes(sent.partitioning.value, "little") > OF_0_5.most_partitions
    assert int.from_bytes(ours.partitioning.value, "little") == OF_0_5.first
    assert evolve(ours, partitioning=sent.partitioning) == sent
    assert sum(one != other for one, other in zip(data, changed, strict=True)) <= 4
    few = data_of("messages/two")
    assert with_partition(OF_0_5, few) == few


def test_a_name_becomes_our_name_with_its_lengths() -> None:
    changed = with_stream(OF_0_5, data_of("place/name-and-number"), 9, NAME)
    sent, ours = (formats.decode(SEND, data).value for data in (data_of("place/name-and-number"), changed))
    assert ours.stream.value.decode() == NAME
    assert (ours.topic, ours.partitioning, ours.messages) == (sent.topic, sent.partitioning, sent.messages)


@pytest.mark.parametrize("name", ["metadata/length-zero", "metadata/length-one-more", "metadata/length-huge"])
def test_a_wrong_length_of_the_metadata_stays_wrong(name: str) -> None:
    data = data_of(name)
    changed = with_stream(OF_0_5, data, 9, NAME)
    assert changed[:4] == data[:4]


def test_stream_0_and_an_unknown_kind_stay_what_they_are() -> None:
    zero, kind = data_of("place/stream-0"), data_of("place/stream-kind-0")
    assert with_stream(OF_0_5, zero, 9, NAME) == zero
    assert with_stream(OF_0_5, kind, 9, NAME) == kind[:6] + bytes((9, 0, 0, 0)) + kind[10:]


@each(
    "sent, ours",
    [
        ("", ""),
        ("0a000000 01", "0a000000 01"),
        ("0a000000 0104 05", "0a000000 0104 09"),
        ("0a000000 0105 05000000 02", "0a000000 0105 09000000 02"),
        ("0a000000 0103 05000000 02", "0a000000 0103 09000000 02"),
        ("0a000000 0206 73616d", "0a000000 0206 776972"),
        ("0a000000 0200 0206", "0a000000 0200 0206"),
    ],
)
def test_damaged_bytes_keep_their_damage_and_name_no_stream_of_others(sent: str, ours: str) -> None:
    assert with_stream(OF_0_5, bytes.fromhex(sent), 9, NAME) == bytes.fromhex(ours)


def test_bytes_that_end_before_the_topic_get_a_topic_of_ours() -> None:
    assert (
        topic_of(OF_0_5, b"")
        == topic_of(OF_0_5, bytes.fromhex("0a000000 0104 05000000 02"))
        == evolve(DEFAULT_TOPIC, partition=1)
    )


@pytest.mark.parametrize("name", ["messages/two", "place/name-and-number", "messages/partition-id"])
def test_the_topic_is_that_of_the_case_with_the_partitions_that_it_needs(name: str) -> None:
    value = formats.decode(SEND, data_of(name)).value
    topic = topic_of(OF_0_5, data_of(name))
    named = value.topic.kind == "string"
    chosen = value.partitioning
    partition = int.from_bytes(chosen.value, "little") if chosen.kind == "partition_id" else 1
    number, text = (
        (0, value.topic.value) if named else (int.from_bytes(value.topic.value, "little"), b"topic")
    )
    shown = {"kind": value.topic.kind, "value": value.topic.value.hex()}
    assert topic == Topic(shown, number, text, partition, partition)


def test_from_0_6_on_stream_0_is_a_stream_of_somebody_else() -> None:
    zero = data_of("place/stream-0")
    assert with_stream(OF_0_6, zero, 9, NAME) == zero[:6] + bytes((9, 0, 0, 0)) + zero[10:]


def test_from_0_6_on_partitions_are_counted_from_0() -> None:
    topic = topic_of(OF_0_6, data_of("messages/partition-id"))
    assert (topic.partitions, topic.partition) == (8, 7)
    assert topic_of(OF_0_6, data_of("messages/two")).partition == 0


def test_a_topic_named_by_number_gets_the_number_of_the_server() -> None:
    data = data_of("place/name-and-number")
    sent, ours = (formats.decode(SEND, one).value for one in (data, with_topic(data, 3)))
    assert ours.topic.value == b"\3\0\0\0"
    assert (ours.stream, ours.partitioning, ours.messages) == (sent.stream, sent.partitioning, sent.messages)
    named = data_of("messages/two")
    assert with_topic(named, 3) == named
