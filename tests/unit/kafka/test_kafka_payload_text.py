"""Payloads as lines of text, for listings."""

import pytest
from kafka_payloads import kafka_payloads

from wireproof.kafka.payloads import payload_text, topic_of_folder

KEY = bytes.fromhex("0001 0001 67 0001 74 00000003")
VALUE = bytes.fromhex("0003 000000000000004d 00000005 0002 6869 00000000000003e8")
OFFSET = """OffsetCommit v3  key {group "g", topic "t", partition 3}  \
value {offset 77, leaderEpoch 5, metadata "hi", commitTimestamp 1000}"""
SUBSCRIBED = bytes.fromhex(
    "0000 0008 636f6e73756d6572 00000001 ffff ffff 00000001 0001 6d 0001 63 0001 68 00000009"
    "0000000e 0000 00000001 0002 c3a4 ffffffff 00000000"
)

GROUP = (
    'GroupMetadata v0  key {group "g"}  value {protocolType "consumer", generation 1, protocol null, '
    'leader null, members [{memberId "m", clientId "c", clientHost "h", sessionTimeout 9, '
    'subscription v0 {topics ["\\u00e4"], userData null}, assignment 0x}]}'
)

CHANGE = (
    "BrokerRegistrationChangeRecord v1  value {brokerId 1, brokerEpoch 2, "
    "inControlledShutdown 1 IN_CONTROLLED_SHUTDOWN, tag 99 ff}"
)

LINES = {
    "an offset": ("__consumer_offsets", KEY, VALUE, OFFSET),
    "a deletion": (
        "__consumer_offsets", KEY, None, 'OffsetCommit  key {group "g", topic "t", partition 3}  deleted',
    ),
    "bytes after the fields": (
        "__consumer_offsets", KEY, VALUE + b"\0",
        f"{OFFSET}  refused: trailing-data at 26, value: 1 bytes after the fields",
    ),
    "a cut value": (
        "__consumer_offsets", KEY, VALUE[:9],
        "refused: truncated at 2, value.offset: needs 8 bytes, 7 left",
    ),
    "a group": (
        "__consumer_offsets", bytes.fromhex("0002 0001 67"), SUBSCRIBED,
        GROUP,
    ),
    "a setting": (
        "__cluster_metadata", None, bytes.fromhex("01 04 00 02 02 74 02 6e 00 00"),
        'ConfigRecord v0  value {resourceType 2 TOPIC, resourceName "t", name "n", value null}',
    ),
    "tagged fields": (
        "__cluster_metadata", None, bytes.fromhex("01 11 01 00000001 0000000000000002 02 01 01 01 63 01 ff"),
        CHANGE,
    ),
    "a topic": (
        "__cluster_metadata", None, bytes.fromhex("01 02 00 02 74 00000000000000000000000000000007 00"),
        'TopicRecord v0  value {name "t", topicId AAAAAAAAAAAAAAAAAAAABw}',
    ),
    "an unknown type": (
        "__cluster_metadata", None, bytes.fromhex("01 63 00 aabb"),
        "type 99 v0  value aabb  type 99 is not known",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("topic", "key", "value", "line"), LINES.values(), ids=LINES)
def test_a_payload_is_one_line(topic: str, key: bytes | None, value: bytes | None, line: str) -> None:
    assert payload_text(topic, key, value) == line


def test_every_example_is_one_line_of_printable_ascii() -> None:
    for one in kafka_payloads():
        line = payload_text(one.topic, one.key, one.value)
        assert line.startswith(one.name)
        assert line.isascii()
        assert line.isprintable()


def test_hostile_text_is_escaped() -> None:
    value = VALUE.replace(b"\0\2hi", b'\0\7\x1b[2J\n\xff"')
    assert "\\u001b[2J\\n\\udcff" in payload_text("__consumer_offsets", KEY, value)


@pytest.mark.parametrize(
    ("folder", "topic"),
    [
        ("__consumer_offsets-0", "__consumer_offsets"),
        ("__cluster_metadata-0", "__cluster_metadata"),
        ("__transaction_state-49", "__transaction_state"),
        ("orders-0", ""),
        ("__consumer_offsets", ""),
    ],
)
def test_the_folder_of_a_partition_shows_the_topic(folder: str, topic: str) -> None:
    assert topic_of_folder(folder) == topic
