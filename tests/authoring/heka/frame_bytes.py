"""Bytes of Heka messages and frames from named parts, their values, and the items of a scan.

Nothing here comes from the codec under test: heka.md, sections 1, 2, 3 and 8.
"""

# fmt: off


import hashlib
import hmac
import struct
from typing import Any

UUID = bytes.fromhex("101112131415161718191a1b1c1d2e2f")
M = b"\x0a\x10" + UUID + b"\x10\x01"
"""The smallest message, `…` of heka.md."""
F = b"\x1e\x02\x08\x14\x1f" + M
"""Its frame."""
KEYS = {"test_1": b"testkey".hex(), "test_0": b"zero".hex(), "_1": b"noname".hex()}
"""The keys of section 3's table."""

Json = Any


# --- bytes ---


def vi(number: int) -> bytes:
    """Base 128 of the 64-bit two's complement."""
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])




def num(tag: int, value: int) -> bytes:
    return vi(tag << 3) + vi(value)


def sub(tag: int, data: bytes) -> bytes:
    return vi(tag << 3 | 2) + vi(len(data)) + data


def dbl(value: float) -> bytes:
    return struct.pack("<d", value)


def fld(name: bytes, *parts: bytes) -> bytes:
    """A Field of a message: its name, and its other parts as they are given."""
    return sub(10, sub(1, name) + b"".join(parts))


def msg(*parts: bytes, timestamp: int = 1) -> bytes:
    return sub(1, UUID) + num(2, timestamp) + b"".join(parts)


def frame(body: bytes, header: bytes = b"", *, length: int | None = None) -> bytes:
    """A frame; `header` follows message_length."""
    head = num(1, len(body) if length is None else length) + header
    return b"\x1e" + bytes([len(head)]) + head + b"\x1f" + body


def signature(body: bytes, key: bytes, signer: bytes, version: int | None = 1, function: int | None = None) -> bytes:
    """The header fields 3 to 6: section 3."""
    digest = hmac.new(key, body, hashlib.sha1 if function == 1 else hashlib.md5).digest()
    parts = (None if function is None else num(3, function), sub(4, signer), None if version is None else num(5, version))
    return b"".join(part for part in parts if part) + sub(6, digest)


# --- values ---


def value(**fields: Any) -> Json:
    """A message; what is not given is absent."""
    names = ("uuid", "timestamp", "type", "logger", "severity", "payload", "env_version", "pid", "hostname")
    given = {"uuid": UUID, "timestamp": 1, **fields}
    return {**{name: plain(given.get(name)) for name in names}, "fields": fields.get("fields", [])}


def plain(part: Any) -> Json:
    match part:
        case bytes():
            return part.hex()
        case bool() | None:
            return part
        case int():
            return str(part)
        case float():
            return struct.pack(">d", part).hex()
        case _:
            return part


def field(name: bytes, kind: str | None = None, representation: bytes | None = None, **arrays: Any) -> Json:
    """A Field; `strings`, `octets`, `integers`, `doubles`, `bools` are its arrays."""
    row = {"name": name.hex(), "value_type": kind, "representation": plain(representation)}
    for array, short in (("string", "strings"), ("bytes", "octets"), ("integer", "integers"), ("double", "doubles"), ("bool", "bools")):
        row[f"value_{array}"] = [plain(part) for part in arrays.get(short, ())]
    return row


def header_value(length: int, function: str | None = None, signer: bytes | None = None, version: int | None = None, digest: bytes | None = None) -> Json:
    return {"message_length": str(length), "hmac_hash_function": function, "hmac_signer": plain(signer), "hmac_key_version": plain(version), "hmac": plain(digest)}


def frame_value(content: Json = None, length: int = 20, signed_by: bytes | None = None, **header: Any) -> Json:
    return {"header": header_value(length, **header), "message": content or value(), "signer": plain(signed_by)}


def frames(*parts: Json) -> Json:
    return {"frames": list(parts)}


FV = frame_value()
"""The value of `F`."""


# --- items of a scan ---


def whole(at: int, length: int, content: Json, cls: str | None = None) -> Json:
    """A frame of a scan; one that Go's framing delivers undecoded has a class in place of a value."""
    row = {"kind": "frame", "at": at, "length": length}
    return row | ({"value": content} if content is not None else {}) | ({"class": cls} if cls else {})


def garbage(at: int, length: int, cls: str | None = None) -> Json:
    return {"kind": "garbage", "at": at, "length": length} | ({"class": cls} if cls else {})


def tail(at: int, length: int) -> Json:
    return {"kind": "tail", "at": at, "length": length}
