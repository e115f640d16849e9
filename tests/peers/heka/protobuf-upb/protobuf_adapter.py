"""Google's protobuf for Python on Heka messages, with a descriptor made here: heka.md §1.

One package holds two parsers, upb (C) and pure Python; the environment variable
`PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION` chooses one before the first import, so two adapters use this
module, with different environments. A message is parsed as Heka's readers do, with `ParseFromString` alone,
which does not check required fields.
"""

from collections.abc import Callable, Iterable
from struct import pack, unpack
from typing import Any, Final

from google.protobuf import (
    __version__,
    descriptor_pb2,
    descriptor_pool,
    message_factory,
)
from google.protobuf.internal import api_implementation
from google.protobuf.message import DecodeError, EncodeError

from wireproof.adapters.contract import Claim, Request
from wireproof.cases.outcome import Accepted, Outcome
from wireproof.wire.json_values import Json
from wireproof_peers.exception_map import Refusals

PROTO: Final = descriptor_pb2.FieldDescriptorProto

MESSAGE: Final = (
    (1, "uuid", "required", "bytes"),
    (2, "timestamp", "required", "int64"),
    (3, "type", "optional", "string"),
    (4, "logger", "optional", "string"),
    (5, "severity", "optional", "int32"),
    (6, "payload", "optional", "string"),
    (7, "env_version", "optional", "string"),
    (8, "pid", "optional", "int32"),
    (9, "hostname", "optional", "string"),
    (10, "fields", "repeated", "message"),
)
FIELD: Final = (
    (1, "name", "required", "string"),
    (2, "value_type", "optional", "enum"),
    (3, "representation", "optional", "string"),
    (4, "value_string", "repeated", "string"),
    (5, "value_bytes", "repeated", "bytes"),
    (6, "value_integer", "repeated", "int64"),
    (7, "value_double", "repeated", "double"),
    (8, "value_bool", "repeated", "bool"),
)
DEFAULTS: Final = {"severity": "7", "value_type": "STRING"}
PACKED: Final = frozenset({"int64", "double", "bool"})
"""The types whose repeated fields are packed: heka.md §1."""
VALUE_TYPES: Final = ("STRING", "BYTES", "INTEGER", "DOUBLE", "BOOL")

REFUSALS: Final = Refusals(documented=(DecodeError, EncodeError))


def _message_class() -> Any:  # noqa: ANN401 - a class that the library makes
    file = descriptor_pb2.FileDescriptorProto(name="message.proto", package="message", syntax="proto2")
    _describe(file.message_type.add(name="Message"), MESSAGE, ".message.Field")
    field = file.message_type.add(name="Field")
    _describe(field, FIELD, ".message.Field.ValueType")
    kinds = field.enum_type.add(name="ValueType")
    for number, name in enumerate(VALUE_TYPES):
        kinds.value.add(name=name, number=number)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("message.Message"))


def _describe(into: Any, rows: Iterable[tuple[int, str, str, str]], named: str) -> None:  # noqa: ANN401 - a proto
    for number, name, label, kind in rows:
        field = into.field.add(name=name, number=number)
        field.label = getattr(PROTO, f"LABEL_{label.upper()}")
        field.type = getattr(PROTO, f"TYPE_{kind.upper()}")
        if kind in ("message", "enum"):
            field.type_name = named
        if name in DEFAULTS:
            field.default_value = DEFAULTS[name]
        if label == "repeated" and kind in PACKED:
            field.options.packed = True


class Protobuf:
    """protobuf as an adapter of `heka.message`."""

    name = f"protobuf-{api_implementation.Type()}"
    version = __version__
    documented = REFUSALS.documented
    revisions: Final = {
        "heka.message/0.10": Claim(ops=("decode", "encode"), codecs=("none",), profiles=("reader",))
    }

    def __init__(self) -> None:
        self._message = _message_class()

    def decode(self, request: Request) -> Outcome:
        """Parse `request.data`, all of it."""
        try:
            message = self._message()
            consumed = message.ParseFromString(request.data)
            return Accepted(value=_shown(message, MESSAGE), consumed=consumed)
        except Exception as error:  # noqa: BLE001 - whatever the library raises is its answer
            return REFUSALS.outcome(error)

    def encode(self, request: Request) -> Outcome:
        try:
            message = self._message()
            _set(message, MESSAGE, request.value)
            return Accepted(data=message.SerializeToString())
        except Exception as error:  # noqa: BLE001 - whatever the library raises is its answer
            return REFUSALS.outcome(error)


def _shown(message: Any, rows: Iterable[tuple[int, str, str, str]]) -> Json:  # noqa: ANN401 - of the library
    """Return every field; a missing one is null, even if the schema has a default."""
    shown: dict[str, Json] = {}
    for _, name, label, kind in rows:
        if label == "repeated":
            shown[name] = [_json(kind, part) for part in getattr(message, name)]
        else:
            shown[name] = _json(kind, getattr(message, name)) if message.HasField(name) else None
    return shown


def _json(kind: str, part: Any) -> Json:  # noqa: ANN401 - of the library
    if kind == "message":
        return _shown(part, FIELD)
    return SHOW.get(kind, str)(part)


def _text(part: str | bytes) -> str:
    """Return text in hex; upb returns bytes if it is not UTF-8."""
    return (part if isinstance(part, bytes) else part.encode()).hex()


SHOW: Final[dict[str, Callable[[Any], Json]]] = {
    "bytes": bytes.hex,
    "string": _text,
    "double": lambda part: pack(">d", part).hex(),
    "bool": bool,
    "enum": lambda part: VALUE_TYPES[part],
}
"""Functions from a value of each kind to JSON; integers become decimal strings."""


def _set(message: Any, rows: Iterable[tuple[int, str, str, str]], value: Any) -> None:  # noqa: ANN401 - JSON
    for _, name, label, kind in rows:
        part = value.get(name)
        if kind == "message":
            for inner in part or ():
                _set(message.fields.add(), FIELD, inner)
        elif label == "repeated":
            getattr(message, name).extend(TAKE.get(kind, int)(item) for item in part or ())
        elif part is not None:
            setattr(message, name, TAKE.get(kind, int)(part))


TAKE: Final[dict[str, Callable[[Any], object]]] = {
    "bytes": bytes.fromhex,
    "string": lambda part: bytes.fromhex(part).decode(),
    "double": lambda part: unpack(">d", bytes.fromhex(part))[0],
    "bool": bool,
    "enum": VALUE_TYPES.index,
}
"""Functions from JSON to a value of each kind."""


adapter: Final = Protobuf()
