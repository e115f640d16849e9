"""The tables of payloads beside the schemas in Kafka's jars, and the reader beside Kafka's own classes."""

import json
import random
import re
from collections.abc import Iterator
from functools import cache
from typing import Any
from zipfile import ZipFile

import pytest
from kafka_payloads import KafkaPayload, ask_kafka, jars, kafka_json, kafka_payloads
from machine import needs

from wireproof.kafka.payloads import decode_payload
from wireproof.kafka.payloads.tables import INTERNAL_TOPICS, TABLES, KeyedTopic
from wireproof.schema.layout import attribute_of
from wireproof.schema.tables import Row, Table, default_of, versions_of
from wireproof.wire.rejection import Rejected

pytestmark = [pytest.mark.tools, needs("java", "mvn")]

MEMBERS = ("ConsumerProtocolSubscription", "ConsumerProtocolAssignment")
"""The structs of the bytes that members of a classic group of consumers exchange."""

EDITS = 12
"""Edits of each example that Kafka's classes are asked about."""


@cache
def schemas() -> dict[str, dict[str, Any]]:
    """Return the schemas in the jars, by name."""
    found = {}
    for jar in jars():
        with ZipFile(jar) as archive:
            for name in archive.namelist():
                if name.endswith(".json") and re.search(r"(^|/)(message|metadata)/", name):
                    tree = json.loads(re.sub(r"//.*$", "", archive.read(name).decode(), flags=re.MULTILINE))
                    found[tree["name"]] = tree
    return found


def structs() -> Iterator[tuple[Table, int | None]]:
    """Yield every outermost struct of the tables, and its number."""
    yield from ((TABLES.structs[name], None) for name in MEMBERS)
    for table in INTERNAL_TOPICS.values():
        for number, one in table.records.items():
            yield from (
                (part, number) for part in ((one.key, one.value) if not isinstance(one, Table) else (one,))
            )


@pytest.mark.parametrize(("struct", "number"), [pytest.param(*row, id=row[0].name) for row in structs()])
def test_a_table_has_the_fields_of_the_schema(struct: Table, number: int | None) -> None:
    schema = schemas()[struct.name]
    assert schema.get("apiKey") == number
    assert (struct.versions, struct.flexible) == _ranges(schema, "validVersions", "flexibleVersions")
    common = {one["name"]: one for one in schema.get("commonStructs", ())}
    assert [_row(one, struct) for one in struct.rows] == [_wanted(one, common) for one in schema["fields"]]


def _ranges(schema: dict[str, Any], *names: str) -> tuple[range, ...]:
    return tuple(versions_of(schema[name]) for name in names)


def _row(one: Row, outer: Table) -> tuple[Any, ...]:
    default: Any = "of no effect"
    if one.tag is not None:
        found = default_of(one, outer.newest, outer)
        inner = one.type.rows if isinstance(one.type, Table) and found is not None and not one.many else ()
        default = {row.name: getattr(found, attribute_of(row.name)) for row in inner} if inner else found
    return one.name, _shape(one, outer), one.versions, one.nullable, one.tag, default


def _shape(one: Row, outer: Table) -> Any:
    kind = (
        [one.type.name, [_row(row, outer) for row in one.type.rows]]
        if isinstance(one.type, Table)
        else one.type
    )
    return ["list", kind] if one.many else kind


def _wanted(one: dict[str, Any], common: dict[str, Any]) -> tuple[Any, ...]:
    name = one["name"][0].lower() + one["name"][1:]
    versions = one.get("versions") or one["taggedVersions"]
    assert one.get("taggedVersions", versions) == versions, (
        "a field is tagged in all its versions, or in none"
    )
    nullable = versions_of(one.get("nullableVersions", "none"))
    default = _default(one, common) if "tag" in one else "of no effect"
    shape = _wanted_shape(one["type"], one, common)
    return name, shape, versions_of(versions), nullable, one.get("tag"), default


def _wanted_shape(kind: str, one: dict[str, Any], common: dict[str, Any]) -> Any:
    if kind.startswith("[]"):
        return ["list", _wanted_shape(kind[2:], one, common)]
    if not kind[0].isupper():
        return kind
    fields = one.get("fields") or common[kind]["fields"]
    return [kind, [_wanted(inner, common) for inner in fields]]


EMPTY = {"string": "", "bytes": b"", "bool": False, "uuid": "A" * 22}


def _default(one: dict[str, Any], common: dict[str, Any]) -> Any:
    """Return the default of a tagged field; `null` without quotes is no default for Kafka's generator."""
    kind, stated = one["type"], one.get("default")
    if stated == "null":
        return None
    if kind.startswith("[]"):
        return ()
    if kind[0].isupper():
        fields = one.get("fields") or common[kind]["fields"]
        return {inner["name"][0].lower() + inner["name"][1:]: _default(inner, common) for inner in fields}
    return EMPTY[kind] if kind in EMPTY else int(stated or 0)


def test_every_schema_of_a_record_has_a_table_and_no_other_has_one() -> None:
    kinds = {"coordinator-key", "coordinator-value", "metadata"}
    records = {name for name, one in schemas().items() if one["type"] in kinds}
    assert records | set(MEMBERS) == {struct.name for struct, _ in structs()}


ENUMS = [
    ("coordinator.transaction.TransactionState", "id", "stateName"),
    ("common.config.ConfigResource$Type", "id", "name"),
    ("common.resource.ResourceType", "code", "name"),
    ("common.resource.PatternType", "code", "name"),
    ("common.acl.AclOperation", "code", "name"),
    ("common.acl.AclPermissionType", "code", "name"),
    ("clients.admin.ScramMechanism", "type", "name"),
    ("metadata.LeaderRecoveryState", "value", "name"),
    ("metadata.BrokerRegistrationFencingChange", "value", "name"),
    ("metadata.BrokerRegistrationInControlledShutdownChange", "value", "name"),
    ("coordinator.group.modern.MemberState", "value", "name"),
    ("coordinator.group.streams.MemberState", "value", "name"),
    ("server.log.remote.storage.RemoteLogSegmentState", "id", "name"),
    ("server.log.remote.storage.RemotePartitionDeleteState", "id", "name"),
]  # fmt: skip
"""The class in `org.apache.kafka`, whose last words name the table, and the methods of its constants that
return number and name."""


def test_the_names_of_codes_are_those_of_kafkas_classes() -> None:
    requests = [
        {"codes": f"org.apache.kafka.{cls}", "number": number, "name": name} for cls, number, name in ENUMS
    ]
    answers = dict(zip((cls for cls, *_ in ENUMS), ask_kafka(requests), strict=True))
    tables = {
        cls: next(codes for name, codes in TABLES.codes.items() if cls.replace("$", ".").endswith(f".{name}"))
        for cls, *_ in ENUMS
    }
    assert answers == {
        cls: {str(number): name for number, name in codes.items()} for cls, codes in tables.items()
    }


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
