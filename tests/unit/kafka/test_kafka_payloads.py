"""Keys and values of Kafka's internal topics: kafka.md §15. The bytes and their meaning are Kafka's own."""

import random
import tracemalloc
from collections import defaultdict
from typing import Any

import pytest
from each import each
from kafka_payloads import KafkaPayload, ask_kafka, kafka_json, kafka_payloads
from machine import needs

from wireproof.kafka.payloads import Payload, PayloadPart, decode_payload
from wireproof.kafka.payloads.tables import INTERNAL_TOPICS, KeyedTopic
from wireproof.schema.tables import read_tables
from wireproof.schema.tagged import MAX_ELEMENTS, MAX_STRING, MAX_TAGS
from wireproof.wire.rejection import Rejected
from wireproof.wire.trace import Cover
from wireproof.wire.writer import encode_uvarint

OFFSETS = "__consumer_offsets"
METADATA = "__cluster_metadata"
OFFSET_KEY = bytes.fromhex("0001 0001 67 0001 74 00000003")
"""OffsetCommit of group g, topic t, partition 3."""

OFFSET_VALUE = bytes.fromhex("0003 000000000000004d 00000005 0002 6869 00000000000003e8")
"""Version 3: offset 77, leader epoch 5, metadata "hi", time 1000."""


def by_record() -> list[object]:
    """Return the examples of each record type."""
    rows = defaultdict(list)
    for one in kafka_payloads():
        rows[f"{one.topic}-{one.name}"].append(one)
    return [pytest.param(examples, id=name) for name, examples in rows.items()]


def in_kafkas_words(part: PayloadPart | None) -> object:
    if part is None or part.struct is None:
        return None
    return kafka_json(part.struct, part.version, part.value)


@each("examples", by_record())
def test_payloads_read_as_kafka_reads_them(examples: list[KafkaPayload]) -> None:
    for example in examples:
        payload = decode_payload(example.topic, example.key, example.value)
        assert (payload.name, payload.version) == (example.name, example.version)
        assert in_kafkas_words(payload.key) == example.key_json
        assert in_kafkas_words(payload.value) == example.value_json


@each("examples", by_record())
def test_the_spans_of_a_payload_cover_its_bytes(examples: list[KafkaPayload]) -> None:
    for example in examples:
        payload = decode_payload(example.topic, example.key, example.value, traced=True)
        for name, data in (("key", example.key), ("value", example.value)):
            spans = [span for span in payload.spans if span.path.startswith(f"{name}.")]
            covered = {at for span in spans for at in range(span.start, span.end)}
            assert covered == set(range(len(data or b"")))
        assert payload.fields == decode_payload(example.topic, example.key, example.value).fields


@each("examples", by_record())
def test_every_prefix_of_a_value_is_refused(examples: list[KafkaPayload]) -> None:
    example = min((one for one in examples if one.value), key=lambda one: len(one.value or b""))
    for end in range(len(example.value or b"")):
        with pytest.raises(Rejected) as refused:
            decode_payload(example.topic, example.key, (example.value or b"")[:end])
        assert refused.value.cls in {"truncated", "length-past-end"}
        assert refused.value.path.startswith("value")
        assert isinstance(refused.value.at, int)
        assert refused.value.at <= end


def test_text_that_is_not_utf_8_is_kept() -> None:
    value = OFFSET_VALUE.replace(b"hi", b"\xffi")
    payload = decode_payload(OFFSETS, OFFSET_KEY, value)
    assert payload.fields["value"]["metadata"] == "\udcffi"


@pytest.mark.parametrize(("status", "name"), [(0, "Empty"), (4, "CompleteCommit"), (7, "PrepareEpochFence")])
def test_numbers_that_are_codes_have_names(status: int, name: str) -> None:
    assert transaction(status).code_names == {"value.transactionStatus": name}


def test_a_number_without_a_name_is_shown_as_a_number() -> None:
    payload = transaction(8)
    assert payload.code_names == {}
    assert payload.fields["value"]["transactionStatus"] == "8"


def transaction(status: int) -> Payload:
    value = b"\0\0" + bytes(8 + 2 + 4) + bytes([status]) + b"\xff" * 4 + bytes(16)
    return decode_payload("__transaction_state", bytes.fromhex("0000 0001 74"), value)


# --- what no table has ---


@each(
    "topic, key, value, note, fields",
    [
        (METADATA, None, "00 aabb", "version 0 of the frame is not known", {"unknown": "00aabb"}),
        (METADATA, None, "01 63 00 aabb", "type 99 is not known", {"unknown": "aabb"}),
        (METADATA, None, "01 02 07 aabb", "version 7 of TopicRecord is not known", {"unknown": "aabb"}),
        (OFFSETS, OFFSET_KEY, "0005 aa", "version 5 of OffsetCommitValue is not known", {"unknown": "aa"}),
        (OFFSETS, bytes.fromhex("0063 aabb"), "0002 cc", "type 99 is not known", {"unknown": "cc"}),
        (  # NoOpRecord with tag 100
            METADATA, None, "01 14 00 01 64 02 beef",
            "", {"unknownTags": [{"tag": "100", "data": "beef"}]},
        ),
        (  # a known tag beside it
            METADATA, None, "01 11 01 00000001 0000000000000002 02 01 01 01 63 01 ff",
            "", {"inControlledShutdown": "1", "unknownTags": [{"tag": "99", "data": "ff"}]},
        ),
    ],
)  # fmt: skip
def test_what_is_unknown_is_named_and_its_bytes_are_kept(
    topic: str, key: bytes | None, value: str, note: str, fields: dict[str, Any]
) -> None:
    payload = decode_payload(topic, key, bytes.fromhex(value))
    assert (payload.note, payload.fields["value"].items() >= fields.items()) == (note, True)


def test_an_unknown_type_or_version_of_a_key_or_value_is_told() -> None:
    unknown = decode_payload(OFFSETS, bytes.fromhex("0063 aabb"), bytes.fromhex("0002 cc"))
    assert (unknown.type, unknown.version, unknown.fields["key"]) == (99, 2, {"unknown": "aabb"})
    newer = decode_payload(OFFSETS, OFFSET_KEY, bytes.fromhex("0005 aabb"))
    assert (newer.name, newer.version) == ("OffsetCommit", 5)


def covers(topic: str, key: bytes | None, value: bytes) -> dict[str, Cover]:
    spans = decode_payload(topic, key, value, traced=True).spans
    return {span.path: span.cover for span in spans if span.cover is not None}


def test_lengths_and_counts_say_what_they_cover() -> None:
    assert covers(METADATA, None, b"\1\x17\0\1\0\2\2n") == {
        "value.tagSize": Cover("length", 6, 8),
        "value.nameLength": Cover("length", 7, 8, 1),
    }
    assert covers(OFFSETS, OFFSET_KEY, OFFSET_VALUE)["value.metadataLength"] == Cover("length", 16, 18)
    assert covers(OFFSETS, TASKS_KEY, TASKS_HEAD + b"\2" + b"\1\1\0" + b"\1" * 5 + b"\0")[
        "value.activeTasksCount"
    ] == Cover("count", 12, 15, 1)


# --- the bytes that members of a classic group send ---


def group(protocol: str, subscription: bytes) -> bytes:
    """Return GroupMetadata of version 0 with one member."""
    text = [protocol.encode(), b"range", b"leader"]
    head = b"\0\0" + _text(text[0]) + (1).to_bytes(4) + _text(text[1]) + _text(text[2]) + (1).to_bytes(4)
    member = b"".join(map(_text, (b"member", b"client", b"host"))) + (9).to_bytes(4)
    return head + member + len(subscription).to_bytes(4) + subscription + bytes(4)


def _text(data: bytes) -> bytes:
    return len(data).to_bytes(2) + data


GROUP_KEY = bytes.fromhex("0002 0001 67")
SUBSCRIPTION = bytes.fromhex("0000 00000001 0001 74 ffffffff")
"""Version 0: topic t, no user data."""


def subscription_in(value: bytes) -> object:
    payload = decode_payload(OFFSETS, GROUP_KEY, value)
    return payload.fields["value"]["members"][0]["subscription"]


def test_the_subscription_of_a_consumer_is_decoded() -> None:
    want = {"version": "0", "topics": ["t"], "userData": None}
    assert subscription_in(group("consumer", SUBSCRIPTION)) == want


def test_a_subscription_of_a_newer_version_is_read_as_the_newest_and_the_rest_is_kept() -> None:
    data = bytes.fromhex("0009 00000000 ffffffff 00000000 00000007 ffff beef")
    want = {
        "version": "9", "topics": [], "userData": None, "ownedPartitions": [], "generationId": "7",
        "rackId": None, "rest": "beef",
    }  # fmt: skip
    assert subscription_in(group("consumer", data)) == want


@each(
    "protocol, data",
    [
        ("connect", SUBSCRIPTION),
        ("consumer", SUBSCRIPTION[:-1]),
        ("consumer", b""),
        ("consumer", b"\xff\xff" + SUBSCRIPTION[2:]),
    ],
)
def test_other_bytes_of_a_member_stay_bytes(protocol: str, data: bytes) -> None:
    assert subscription_in(group(protocol, data)) == data.hex()


# --- refusals: each differs from an accepted payload in one place ---

REGISTERED = bytes.fromhex("01 02 00 02 74 00000000000000000000000000000007 00")
"""TopicRecord: name t, topic id, no tagged fields."""


TASKS_KEY = bytes.fromhex("0016 0001 67 0001 6d")
"""StreamsGroupCurrentMemberAssignment of group g, member m."""

TASKS_HEAD = bytes(2 + 4 + 4 + 1)
"""Its value in version 0, up to its six lists of tasks; the smallest element of these has three bytes."""


def length_of_group(length: str) -> bytes:
    """Return the key of an offset with another length of the name of the group."""
    return OFFSET_KEY[:2] + bytes.fromhex(length) + OFFSET_KEY[4:]


REFUSALS = [
    ("no key", OFFSETS, None, OFFSET_VALUE, "null-not-allowed", 0, "key"),
    ("an empty key", OFFSETS, b"", OFFSET_VALUE, "truncated", 0, "key.type"),
    ("an empty value", OFFSETS, OFFSET_KEY, b"", "truncated", 0, "value.version"),
    ("a null string", OFFSETS, length_of_group("ffff"), None, "null-not-allowed", 2, "key.groupLength"),
    ("a negative length", OFFSETS, length_of_group("fffe"), None, "negative-length", 2, "key.groupLength"),
    ("a length past the end", OFFSETS, length_of_group("7fff"), None, "truncated", 4, "key.group"),
    ("bytes after a key", OFFSETS, OFFSET_KEY + b"\0", OFFSET_VALUE, "trailing-data", 12, "key"),
    ("bytes after a value", OFFSETS, OFFSET_KEY, OFFSET_VALUE + b"\0", "trailing-data", 26, "value"),
    ("bytes after a framed value", METADATA, None, REGISTERED + b"\0", "trailing-data", 22, "value"),
    ("no framed value", METADATA, None, None, "null-not-allowed", 0, "value"),
    ("a type above int16", METADATA, None, b"\1\x80\x80\x02\0", "invalid-value", 1, "value.type"),
    (
        "a compact null", METADATA, None, REGISTERED.replace(b"\2t", b"\0"),
        "null-not-allowed", 3, "value.nameLength",
    ),
    (
        "a length of six bytes", METADATA, None, REGISTERED.replace(b"\2t", b"\x82\x80\x80\x80\x80\0t"),
        "bad-varint", 3, "value.nameLength",
    ),
    (
        "a length above int32", METADATA, None, REGISTERED.replace(b"\2t", b"\xff\xff\xff\xff\x0ft"),
        "bad-varint", 3, "value.nameLength",
    ),
    (
        "a string above 32767 bytes", METADATA, None,
        b"\1\2\0" + encode_uvarint(MAX_STRING + 2) + bytes(MAX_STRING + 18),
        "bad-length", 3, "value.nameLength",
    ),
    ("more tagged fields than bytes", METADATA, None, b"\1\x14\0\7", "length-past-end", 3, "value.tagCount"),
    (
        "a tagged field of one byte", METADATA, None, b"\1\x14\0\1\x64",
        "length-past-end", 3, "value.tagCount",
    ),
    (
        "two elements of three bytes in five bytes", OFFSETS, TASKS_KEY, TASKS_HEAD + b"\3" + bytes(5),
        "length-past-end", 11, "value.activeTasksCount",
    ),
    (
        "too many tagged fields", METADATA, None,
        b"\1\x14\0" + encode_uvarint(MAX_TAGS + 1) + b"\x64\0" * (MAX_TAGS + 1),
        "limit-exceeded", 3, "value.tagCount",
    ),
    (
        "an unknown tagged field past the end", METADATA, None, b"\1\x14\0\1\x64\5\0",
        "truncated", 6, "value.tagged",
    ),
    ("a tagged field past the end", METADATA, None, b"\1\x17\0\1\0\3\2n", "truncated", 6, "value.tagSize"),
    (
        "a tagged field of a later version", METADATA, None,
        bytes.fromhex("01 11 00 00000001 0000000000000002 01 01 01 03"),  # BrokerRegistrationChangeRecord
        "unknown-field", 16, "value.tag",
    ),
    (
        "a tagged field longer than its value", METADATA, None,
        b"\1\x17\0\1\0\3\2n\0",  # BeginTransactionRecord, tag 0: name n
        "length-mismatch", 8, "value.name",
    ),
]  # fmt: skip


@each("topic, key, value, cls, at, path", [pytest.param(*row[1:], id=row[0]) for row in REFUSALS])
def test_a_payload_is_refused_where_it_is_wrong(
    topic: str, key: bytes | None, value: bytes | None, cls: str, at: int, path: str
) -> None:
    with pytest.raises(Rejected) as refused:
        decode_payload(topic, key, value)
    assert (refused.value.cls, refused.value.at, refused.value.path) == (cls, at, path)


def test_bytes_after_the_fields_leave_the_payload_before_them() -> None:
    with pytest.raises(Rejected) as refused:
        decode_payload(OFFSETS, OFFSET_KEY, OFFSET_VALUE + b"\0\0")
    assert refused.value.before.fields == decode_payload(OFFSETS, OFFSET_KEY, OFFSET_VALUE).fields


# --- bounds ---


def members(count: int) -> bytes:
    """Return GroupMetadata of version 0 that has this number of members, and none of them."""
    return group("consumer", b"").split(b"leader")[0] + b"leader" + count.to_bytes(4, signed=True)


@pytest.mark.parametrize("count", [1, MAX_ELEMENTS, (1 << 31) - 1])
def test_a_count_is_refused_before_anything_is_allocated(count: int) -> None:
    with pytest.raises(Rejected) as refused:
        decode_payload(OFFSETS, GROUP_KEY, members(count))
    assert (refused.value.cls, refused.value.path) == ("length-past-end", "value.membersCount")
    assert decode_payload(OFFSETS, GROUP_KEY, members(0)).fields["value"]["members"] == []


def change(*lists: int) -> bytes:
    """Return PartitionChangeRecord with tagged lists of in-sync replicas, of replicas and so on."""
    data = b"\1\5\0" + bytes(4) + bytes(16) + encode_uvarint(len(lists))
    for tag, count in zip((0, 2, 3, 4), lists, strict=False):
        part = encode_uvarint(count + 1) + bytes(4 * count)
        data += encode_uvarint(tag) + encode_uvarint(len(part)) + part
    return data


def test_a_list_has_at_most_a_million_elements() -> None:
    payload = decode_payload(METADATA, None, change(MAX_ELEMENTS - 1))  # and a tagged field
    assert len(payload.fields["value"]["isr"]) == MAX_ELEMENTS - 1
    for count in (MAX_ELEMENTS, MAX_ELEMENTS + 1):
        with pytest.raises(Rejected, match=f"limit-exceeded at .*{count} elements"):
            decode_payload(METADATA, None, change(count))


def test_all_lists_of_a_value_have_at_most_a_million_elements() -> None:
    half = MAX_ELEMENTS // 2
    assert len(decode_payload(METADATA, None, change(half - 2, half)).fields["value"]["replicas"]) == half
    with pytest.raises(Rejected, match=r"limit-exceeded at .*value\.replicasCount"):
        decode_payload(METADATA, None, change(half, half))


def test_structs_of_few_bytes_are_read_in_bounded_memory() -> None:
    """Elements of three bytes in a value of 60 MB, each a dict: only the count is looked at."""
    count = 20_000_000
    value = TASKS_HEAD + encode_uvarint(count + 1) + bytes(3 * count)
    tracemalloc.start()
    with pytest.raises(Rejected) as refused:
        decode_payload(OFFSETS, TASKS_KEY, value)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (refused.value.cls, refused.value.path) == ("limit-exceeded", "value.activeTasksCount")
    assert peak < 1 << 20


def test_a_table_names_known_types_only() -> None:
    with pytest.raises(ValueError, match="members \\[\\]Member: Member is no type"):
        read_tables("Group 0\n    members []Member\n", "")


# --- beside Kafka's own classes ---


EDITS = 12
"""Edits of each example that Kafka's classes are asked about."""


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


@pytest.mark.tools
@needs("java", "mvn")
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
