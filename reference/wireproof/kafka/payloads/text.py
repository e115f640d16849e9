"""Payloads as one line of text, for listings: kafka.md §15."""

import json
import re
from typing import Any, Final

from wireproof.kafka.payloads.decode import Payload, PayloadPart, decode_payload, is_internal_topic
from wireproof.wire.rejection import Rejected
from wireproof.wire.struct_codec import UNKNOWN_TAGS, HeldStruct, StructValues
from wireproof.wire.struct_json import uuid_text
from wireproof.wire.struct_table import Kind, ListOf, StructField, VersionedStruct, fields_in

_FOLDER: Final = re.compile(r"(?P<topic>.+)-\d+")


def topic_of_folder(name: str) -> str:
    """Return the internal topic of a partition's folder, such as `__consumer_offsets-0`, else nothing."""
    found = _FOLDER.fullmatch(name)
    return found["topic"] if found and is_internal_topic(found["topic"]) else ""


def payload_text(topic: str, key: bytes | None, value: bytes | None) -> str:
    """Return a payload as one line of ASCII, with the names of codes; raise nothing for any bytes.

    The line ends with the refusal if the bytes are no payload, and with what is not known about them.
    """
    try:
        return text_of(decode_payload(topic, key, value))
    except Rejected as rejected:
        before = text_of(rejected.before) + "  " if isinstance(rejected.before, Payload) else ""
        return f"{before}refused: {ascii_text(str(rejected))}"


def text_of(payload: Payload) -> str:
    """Return a decoded payload as one line of ASCII."""
    version = "" if payload.version < 0 else f" v{payload.version}"
    parts = [f"{payload.name or f'type {payload.type}'}{version}"]
    for name, part in (("key", payload.key), ("value", payload.value)):
        if part is not None:
            parts.append(f"{name} {_part_text(part)}")
    if payload.value is None:
        parts.append("deleted")
    return "  ".join([*parts, *([payload.note] if payload.note else [])])


def _part_text(part: PayloadPart) -> str:
    return part.unknown.hex() if part.struct is None else _struct(part.struct, part.version, part.values)


def _struct(struct: VersionedStruct, version: int, values: StructValues) -> str:
    """Return the fields of a struct; without tagged fields that have their default, as Kafka's tools do."""
    shown = [
        f"{one.name} {_value(one, one.kind, version, values[one.name])}"
        for one in fields_in(struct, version)
        if one.tag is None or values[one.name] != one.default_in(version)
    ]
    shown += [f"tag {tag} {data.hex()}" for tag, data in values.get(UNKNOWN_TAGS, ())]
    return f"{{{', '.join(shown)}}}"


def _value(one: StructField, kind: Kind, version: int, value: Any) -> str:  # noqa: ANN401 - of any type
    match kind:
        case ListOf(of=of) if value is not None:
            return f"[{', '.join(_value(one, of, version, element) for element in value)}]"
        case VersionedStruct() if value is not None:
            return _struct(kind, version, value)
        case "bytes" if isinstance(value, HeldStruct) and one.holds is not None:
            fields = _struct(one.holds, min(value.version, one.holds.newest), value.values)
            return f"v{value.version} {fields}" + (f" {value.rest.hex()}" if value.rest else "")
    return _plain(one, kind, value)


def _plain(one: StructField, kind: Kind, value: Any) -> str:  # noqa: ANN401 - of any type
    match kind:
        case "string" | "bool":
            return json.dumps(value)
        case "bytes" | "uuid" if value is not None:
            return f"0x{value.hex()}" if kind == "bytes" else uuid_text(value)
        case _ if value is None:
            return "null"
    name = (one.codes or {}).get(value)
    return f"{value} {name}" if name else str(value)


def ascii_text(text: str) -> str:
    """Return a text with everything escaped that is not printable ASCII."""
    return json.dumps(text)[1:-1]
