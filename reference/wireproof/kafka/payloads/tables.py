"""The tables of `records.txt`: Kafka's internal topics and the structs of their records. kafka.md §15.

Something precedes the fields of a record and shows which struct they are. A keyed record has an int16 before
the fields of its key, which is the type of the record, and an int16 before those of its value, which is the
version of the value. A framed record has no key, and three unsigned varints before the fields of its value:
the version of the frame, the type and the version.
"""

from collections.abc import Mapping
from importlib.resources import files
from typing import Any, Final, TypeAlias

from attrs import evolve, frozen

from wireproof.schema.tables import Table, Tables, blocks, code_names
from wireproof.wire.json_values import Json, to_json
from wireproof.wire.reader import Reader, TracingReader
from wireproof.wire.rejection import Rejected
from wireproof.wire.trace import FieldSpan

FRAME_VERSION: Final = 1
"""The only version of the frame; version 0 was that of a preview."""


@frozen
class KeyedRecord:
    """A record type whose number is in the key."""

    name: str
    key: Table
    value: Table


@frozen
class KeyedTopic:
    """A topic whose records have their type in the key; `records` has them by type."""

    records: Mapping[int, KeyedRecord]


@frozen
class FramedTopic:
    """A topic whose records have no key; `records` has the structs of their values by type."""

    records: Mapping[int, Table]


InternalTopic: TypeAlias = KeyedTopic | FramedTopic


def _read(text: str) -> tuple[Tables, dict[str, InternalTopic]]:
    """Return the tables of a text, and the topics whose records they are."""
    tables, topics = Tables("kafka.md §15"), dict[str, InternalTopic]()
    records: dict[int, Any] = {}
    for block in blocks(text):
        if block.words[0] == "topic":
            _, kind, topic = block.words
            records = {}
            topics[topic] = KeyedTopic(records) if kind == "keyed" else FramedTopic(records)
        elif (struct := tables.add(block)) is not None and block.words[1:2] and block.words[1].isdigit():
            name = struct.name.removesuffix("Value")
            if isinstance(topics[topic], FramedTopic):
                records[int(block.words[1])] = struct
            elif name != struct.name:
                records[int(block.words[1])] = KeyedRecord(name, tables.structs[f"{name}Key"], struct)
    return tables, topics


TABLES, _TOPICS = _read((files("wireproof.kafka.payloads") / "records.txt").read_text("utf-8"))

INTERNAL_TOPICS: Final[Mapping[str, InternalTopic]] = _TOPICS
"""The topics whose keys and values have a layout, by name."""


# --- decode ---


@frozen
class PayloadPart:
    """A key or a value.

    Attributes:
        struct: the table of its fields; None if its type or its version is not known.
        version: the version of its fields; -1 if it shows none.
        value: its fields; None if no table is known.
        unknown: the bytes for which no table is known, after what precedes the fields; all bytes of a value
            in a frame of an unknown version.
    """

    struct: Table | None
    version: int
    value: Any = None
    unknown: bytes = b""

    @property
    def fields(self) -> Json:
        """Return the JSON form of its fields, or of the bytes for which no table is known."""
        if self.struct is None:
            return {"unknown": self.unknown.hex()}
        return to_json(self.value, with_derived=True)


@frozen
class Payload:
    """The key and the value of a record of an internal topic.

    Attributes:
        name: the type of the record, such as `OffsetCommit`; empty if it is not known.
        type: its number; -1 if the record shows none.
        version: the version of the value; -1 if there is no value.
        key, value: the two parts; None for null.
        spans: the fields of the bytes with their positions, if they were asked for. Those of the key have
            paths that begin with `key.`, and positions in the key; those of the value likewise.
        note: what is not known about it, or empty.
    """

    name: str
    type: int
    version: int
    key: PayloadPart | None
    value: PayloadPart | None
    spans: tuple[FieldSpan, ...] = ()
    note: str = ""

    @property
    def fields(self) -> dict[str, Json]:
        """Return the JSON form of both parts."""
        parts = {"key": self.key, "value": self.value}
        return {name: None if part is None else part.fields for name, part in parts.items()}

    @property
    def code_names(self) -> Mapping[str, str]:
        """Return the names of the numbers that are codes, such as `Ongoing`, by path."""
        found: dict[str, str] = {}
        for name, part in (("key", self.key), ("value", self.value)):
            if part is not None and part.struct is not None:
                found |= code_names(part.struct.at(part.version), part.value, f"{name}.")
        return found


def is_internal_topic(topic: str) -> bool:
    return topic in INTERNAL_TOPICS


def decode_payload(topic: str, key: bytes | None, value: bytes | None, *, traced: bool = False) -> Payload:
    """Decode the key and the value of a record that is no control record.

    Types and versions that no table has are named, and their bytes are kept.

    Args:
        topic: a name of `INTERNAL_TOPICS`.
        key: the key.
        value: the value.
        traced: whether the payload has spans.

    Raises:
        Rejected: the bytes are no payload of the topic. The position is that in the key or in the value; the
            path begins with `key` or `value`. If only bytes after the fields are wrong, which some readers
            ignore, `before` is the payload without them.
        KeyError: the topic has no layout.
    """
    table, spans = INTERNAL_TOPICS[topic], list[FieldSpan]()

    def reader_of(name: str, data: bytes | None) -> Reader | None:
        scope = (None, name, -1)
        if data is None:
            return None
        return TracingReader(data, scope=scope, spans=spans) if traced else Reader(data, scope=scope)

    at_key, at_value = reader_of("key", key), reader_of("value", value)
    payload = (_keyed if isinstance(table, KeyedTopic) else _framed)(table.records, at_key, at_value)
    payload = evolve(payload, spans=tuple(spans))
    for reader in (at_key, at_value) if payload.name else ():
        if reader is not None and reader.left:  # a controller refuses them, a coordinator ignores them
            text = f"{reader.left} bytes after the fields"
            raise reader.reject("trailing-data", "", text).with_before(payload)
    return payload


def _keyed(records: Mapping[int, Any], at_key: Reader | None, at_value: Reader | None) -> Payload:
    if at_key is None:
        text = "null, in a topic whose keys have the type of the record"
        raise Rejected("null-not-allowed", 0, "key", text)
    kind = at_key.int16("type")
    record: KeyedRecord | None = records.get(kind)
    first = _part(at_key, None) if record is None else _part(at_key, record.key, record.key.newest)
    version = -1 if at_value is None else at_value.int16("version")
    second = _part(at_value, None if record is None else record.value, version)
    if record is None:
        return Payload("", kind, version, first, second, note=f"type {kind} is not known")
    return Payload(record.name, kind, version, first, second, note=_note(record.value, second))


def _framed(records: Mapping[int, Any], at_key: Reader | None, at_value: Reader | None) -> Payload:
    if at_value is None:
        text = "null, in a topic whose values have the type of the record"
        raise Rejected("null-not-allowed", 0, "value", text)
    first = _part(at_key, None)
    frame = _number(at_value, "frameVersion")
    if frame != FRAME_VERSION:
        at_value.rest("unknown")
        second = PayloadPart(None, -1, unknown=at_value.data)
        return Payload("", -1, -1, first, second, note=f"version {frame} of the frame is not known")
    kind, version = _number(at_value, "type"), _number(at_value, "version")
    struct: Table | None = records.get(kind)
    part = _part(at_value, struct, version)
    if struct is None:
        return Payload("", kind, version, first, part, note=f"type {kind} is not known")
    return Payload(struct.name, kind, version, first, part, note=_note(struct, part))


def _number(reader: Reader, name: str) -> int:
    """Read a number of a frame: an unsigned varint that fits an int16."""
    start = reader.pos
    number = reader.uvarint(name, 32)
    if number > 0x7FFF:
        raise reader.reject("invalid-value", name, f"{number}, at most {0x7FFF}", at=start)
    return number


def _part(reader: Reader | None, struct: Table | None, version: int = -1) -> PayloadPart | None:
    """Read the fields of a key or a value, or the rest of its bytes if no table has this version."""
    if reader is None:
        return None
    if struct is None or version not in struct.versions:
        return PayloadPart(None, version, unknown=reader.rest("unknown"))
    return PayloadPart(struct, version, struct.read(reader, version))


def _note(struct: Table, part: PayloadPart | None) -> str:
    if part is None or part.struct is not None:
        return ""
    return f"version {part.version} of {struct.name} is not known"


# --- in a listing ---


def record_meaning(folder: str, cells: tuple[Any, ...]) -> dict[str, Json] | None:
    """Return what key and value of a record mean; None for a record of another topic and a control record.

    Args:
        folder: the name of the folder of the log, which is that of the partition: `__consumer_offsets-12`.
        cells: those of the record, as `RECORD_COLUMNS` of the listing names them.
    """
    topic = folder.rpartition("-")[0]
    *_, key, value, _, control = cells
    if control is not None or not is_internal_topic(topic):
        return None
    try:
        return payload_tree(decode_payload(topic, key, value))
    except Rejected as refused:
        before = payload_tree(refused.before) if isinstance(refused.before, Payload) else {}
        return {**before, "wrong": f"{refused.cls} at {refused.at} ({refused.path}): {refused.text}"}


def payload_tree(payload: Payload) -> dict[str, Json]:
    """Return what a payload means, as a tree."""
    tree: dict[str, Json] = {
        "name": payload.name,
        "type": payload.type,
        "version": payload.version,
        **payload.fields,
    }
    if payload.code_names:
        tree["codes"] = dict(payload.code_names)
    return {**tree, "note": payload.note} if payload.note else tree
