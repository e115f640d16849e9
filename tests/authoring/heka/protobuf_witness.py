"""An independent reader of Heka messages: protobuf with the schema of heka.md, section 1.

Reads a message in hex a line; writes its value as JSON a line, or null where protobuf refuses it, a
required field is missing or a field is unknown. The first line says which implementation this is.
"""

# fmt: off


import json
import struct
import sys
from typing import Any

import google.protobuf
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.internal import api_implementation
from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

P = descriptor_pb2.FieldDescriptorProto
MESSAGE = (("uuid", "BYTES", "REQUIRED"), ("timestamp", "INT64", "REQUIRED"), ("type", "STRING", "OPTIONAL"), ("logger", "STRING", "OPTIONAL"), ("severity", "INT32", "OPTIONAL"),
           ("payload", "STRING", "OPTIONAL"), ("env_version", "STRING", "OPTIONAL"), ("pid", "INT32", "OPTIONAL"), ("hostname", "STRING", "OPTIONAL"), ("fields", "MESSAGE", "REPEATED"))
FIELD = (("name", "STRING", "REQUIRED"), ("value_type", "ENUM", "OPTIONAL"), ("representation", "STRING", "OPTIONAL"), ("value_string", "STRING", "REPEATED"), ("value_bytes", "BYTES", "REPEATED"),
         ("value_integer", "INT64", "REPEATED"), ("value_double", "DOUBLE", "REPEATED"), ("value_bool", "BOOL", "REPEATED"))
TYPES = ("STRING", "BYTES", "INTEGER", "DOUBLE", "BOOL")


def schema() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="heka.proto", package="message", syntax="proto2")
    for name, rows in (("Field", FIELD), ("Message", MESSAGE)):
        kind = file.message_type.add(name=name)
        for number, (field, type_, label) in enumerate(rows, 1):
            row = kind.field.add(name=field, number=number, type=getattr(P, f"TYPE_{type_}"), label=getattr(P, f"LABEL_{label}"))
            if type_ in ("MESSAGE", "ENUM"):
                row.type_name = {"MESSAGE": ".message.Field", "ENUM": ".message.Field.ValueType"}[type_]
            if number >= 6 and name == "Field":
                row.options.packed = True
        if name == "Field":
            enum = kind.enum_type.add(name="ValueType")
            for number, value in enumerate(TYPES):
                enum.value.add(name=value, number=number)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("message.Message"))


def shown(part: Any) -> Any:
    match part:
        case bool():
            return part
        case bytes():
            return part.hex()
        case str():
            return part.encode("utf-8", "surrogateescape").hex()
        case int():
            return str(part)
        case float():
            return struct.pack(">d", part).hex()


def tree(message: Any, rows: Any) -> Any:
    out: dict[str, Any] = {}
    for name, kind, label in rows:
        part = getattr(message, name)
        if kind == "MESSAGE":
            out[name] = [tree(one, FIELD) for one in part]
        elif label == "REPEATED":
            out[name] = [shown(one) for one in part]
        elif not message.HasField(name):
            out[name] = None
        else:
            out[name] = TYPES[part] if kind == "ENUM" else shown(part)
    return out


def read(kind: Any, data: bytes) -> Any:
    message = kind()
    try:
        message.ParseFromString(data)
        if not message.IsInitialized() or len(UnknownFieldSet(message)) or any(len(UnknownFieldSet(one)) for one in message.fields):
            return None
        return tree(message, MESSAGE)
    except (DecodeError, UnicodeDecodeError):
        return None


if __name__ == "__main__":
    sys.stdout.write(json.dumps({"kind": api_implementation.Type(), "version": google.protobuf.__version__}) + "\n")
    made = schema()
    for line in sys.stdin:
        sys.stdout.write(json.dumps(read(made, bytes.fromhex(line.strip()))) + "\n")
