"""Values of apache-iggy from 0.9 on as this project's JSON values, and back."""

import struct
from typing import Any, Final

from wireproof.iggy.header_kinds import KINDS_BY_NAME
from wireproof.wire.json_values import Json

CAMEL: Final = {name: name.capitalize().replace("Uint", "UnsignedInt") for name in KINDS_BY_NAME}
_NAMES: Final = {camel: name for name, camel in CAMEL.items()}
_FLOATS: Final = {"float32": "<f", "float64": "<d"}


def message_json(message: Any) -> Json:  # noqa: ANN401 - of the library
    return {
        "offset": str(message.offset()),
        "timestamp": str(message.timestamp()),
        "origin_timestamp": str(message.origin_timestamp()),
        "id": str(message.id()),
        "checksum": str(message.checksum()),
        "headers": [[_part(key), _part(value)] for key, value in (message.user_headers() or {}).items()],
        "payload": bytes(message.payload()).hex(),
    }


def _part(part: Any) -> Json:  # noqa: ANN401 - a key or value of the library
    kind = _NAMES[type(part).__name__.rpartition("_")[2]]
    return {"kind": kind, "value": _bytes(kind, part.value).hex()}


def _bytes(kind: str, value: Any) -> bytes:  # noqa: ANN401 - of the kind: iggy.md, section 2.3
    match value:
        case bytes():
            return value
        case str():
            return value.encode()
        case float():
            return struct.pack(_FLOATS[kind], value)
        case _:
            return int(value).to_bytes(KINDS_BY_NAME[kind].size or 0, "little", signed=kind.startswith("int"))


def header_argument(kind: str, value: str) -> Any:  # noqa: ANN401 - what `_bytes` takes
    """Return the value of a header, given in hex, as the library's argument for this kind."""
    data = bytes.fromhex(value)
    match kind:
        case "raw":
            return data
        case "string":
            return data.decode()
        case "bool":
            return data != b"\0"
        case "float32" | "float64":
            return struct.unpack(_FLOATS[kind], data)[0]
        case _:
            return int.from_bytes(data, "little", signed=kind.startswith("int"))


def confirmation_json(one: Any) -> Json:  # noqa: ANN401 - of the library
    return {
        name: str(getattr(one, name)) for name in ("stream_id", "topic_id", "partition_id", "base_offset")
    }
