"""An independent reader of Heka messages: protobuf with the schema of heka.md, section 1.

Reads a message in hex a line; writes its value as JSON a line, or null where protobuf refuses it, a
required field is missing or a field is unknown. The first line says which implementation this is.
With `headers` as its argument it reads a stream of frames a line, whose lengths it takes from the headers.
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
HEADER = (("message_length", "UINT32", "REQUIRED"), ("message_encoding", "UINT32", "OPTIONAL"), ("hmac_hash_function", "ENUM", "OPTIONAL"), ("hmac_signer", "STRING", "OPTIONAL"),
          ("hmac_key_version", "UINT32", "OPTIONAL"), ("hmac", "BYTES", "OPTIONAL"))
FUNCTIONS = ("MD5", "SHA1")
ENUMS = {"value_type": ("ValueType", TYPES), "hmac_hash_function": ("HmacHashFunction", FUNCTIONS)}


def schema(wanted: str = "Message") -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="heka.proto", package="message", syntax="proto2")
    for name, rows in (("Field", FIELD), ("Message", MESSAGE), ("Header", HEADER)):
        kind = file.message_type.add(name=name)
        for number, (field, type_, label) in enumerate(rows, 1):
            row = kind.field.add(name=field, number=number, type=getattr(P, f"TYPE_{type_}"), label=getattr(P, f"LABEL_{label}"))
            if type_ == "MESSAGE":
                row.type_name = ".message.Field"
            if number >= 6 and name == "Field":
                row.options.packed = True
            if field in ENUMS:
                enum, names = ENUMS[field]
                row.type_name = f".message.{enum}"
                made = file.enum_type.add(name=enum)
                for at, value in enumerate(names):
                    made.value.add(name=value, number=at)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"message.{wanted}"))


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
            out[name] = ENUMS[name][1][part] if kind == "ENUM" else shown(part)
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


def read_frames(kind: Any, message_kind: Any, data: bytes) -> Any:
    """The frames that follow one another, and the place of the first header that protobuf refuses."""
    frames: list[Any] = []
    at = 0
    while at < len(data):
        end = at + 2 + data[at + 1] if at + 1 < len(data) else len(data)
        if data[at] != 0x1E or end >= len(data) or data[end] != 0x1F:
            return None  # no frame: that is not protobuf's to judge
        header = kind()
        try:
            header.ParseFromString(data[at + 2 : end])
            whole = header.IsInitialized()
        except DecodeError:
            whole = False
        if not whole:
            return {"frames": frames, "refused": [at, end]}
        at = end + 1 + header.message_length
        content = data[end + 1 : at]
        frames.append({"header": tree(header, HEADER), "message": read(message_kind, content), "content": content.hex()})
    return {"frames": frames, "refused": None} if at == len(data) else None


if __name__ == "__main__":
    sys.stdout.write(json.dumps({"kind": api_implementation.Type(), "version": google.protobuf.__version__}) + "\n")
    message, header = schema(), schema("Header")
    framed = sys.argv[1:] == ["headers"]
    for line in sys.stdin:
        data = bytes.fromhex(line.strip())
        sys.stdout.write(json.dumps(read_frames(header, message, data) if framed else read(message, data)) + "\n")
