"""Bytes of Heka messages and frames from named parts, their values, and the shelves the cases stand on.

Nothing here comes from the codec under test: heka.md, sections 1, 2, 3 and 8.
"""

# fmt: off


import hashlib
import hmac
import json
import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

from book import Book
from heka_rulebook import FRAME, MINIMAL, message
from kafka_shelf import Shelf

UUID = bytes.fromhex("101112131415161718191a1b1c1d2e2f")
F = bytes.fromhex(FRAME)
M = bytes.fromhex(MINIMAL)
GIVEN = ["feature:given-header"]
"""What an encoder must take: the fields of a header as they are given, where those that it signs with are not."""
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


# --- shelves ---


class Heka(Shelf):
    """Cases of one Heka format."""

    def scan(self, name: str, title: str, chunks: list[bytes], items: list[Json], *, doc: str, why: str, rules: tuple[str, ...], **more: Any) -> str:
        remarks = more.pop("remarks", ())
        accept: dict[str, Any] = {"value": {"items": items}, "consumed": sum(map(len, chunks))}
        accept |= {"remarks": sorted(remarks)} if remarks else {}
        return self.other(name, title, "scan", {"chunks": [chunk.hex() for chunk in chunks]}, {"accept": accept}, doc=doc, why=why, rules=rules, **more)

    def encode(self, name: str, title: str, given: Json, data: bytes | None, *, doc: str, why: str, rules: tuple[str, ...], back: Json = None, **more: Any) -> str:
        accept: dict[str, Any] = {"value": back or given}
        accept |= {} if data is None else {"bytes": [data.hex()]}
        return self.other(name, title, "encode", {"value": given}, {"accept": accept}, doc=doc, why=why, rules=rules, **more)

    def unfit(self, name: str, title: str, given: Json, twin: str, *, doc: str, why: str, rules: tuple[str, ...], **more: Any) -> str:
        reject = {"class": "invalid-value", "also": ["bad-length", "limit-exceeded", "type-mismatch", "auth-failed"]}
        return self.other(name, title, "encode", {"value": given}, {"reject": reject}, doc=doc, why=why, rules=rules, twin=self.prefix + twin, **more)

    def other(self, name: str, title: str, op: str, given: Json, expect: Json, *, doc: str, why: str, rules: tuple[str, ...], **more: Any) -> str:
        level, origin = more.pop("level", "must"), more.pop("origin", "builder")
        case = {"id": self.prefix + name, "title": title, "why": why, "op": op, "level": level, "rules": list(rules), "input": given, "expect": expect,
                "source": {"origin": origin, "document": doc}, **more}
        return self.book.add(case)


def whole(at: int, length: int, content: Json, cls: str | None = None) -> Json:
    """A frame of a scan; one that Go's framing delivers undecoded has a class in place of a value."""
    row = {"kind": "frame", "at": at, "length": length}
    return row | ({"value": content} if content is not None else {}) | ({"class": cls} if cls else {})


def garbage(at: int, length: int, cls: str | None = None) -> Json:
    return {"kind": "garbage", "at": at, "length": length} | ({"class": cls} if cls else {})


def tail(at: int, length: int) -> Json:
    return {"kind": "tail", "at": at, "length": length}


def rule_bytes(name: str) -> bytes:
    """A message of section 4."""
    return message(name)


# --- witnesses ---


def witness(book: Book) -> dict[str, int]:
    """Run protobuf's two Python decoders on every plain message, read or written; note where each agrees."""
    cases = [case for case in book.cases.values() if case["id"].startswith("heka.message/") and "options" not in case and _bytes(case)]
    counts = {}
    for kind in ("upb", "python"):
        lines = "".join(_bytes(case)[0] + "\n" for case in cases)
        program = Path(__file__).resolve().parent / "heka_witness.py"
        done = subprocess.run([sys.executable, str(program)], input=lines, capture_output=True, text=True, check=True, env={**os.environ, "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": kind})
        said = [json.loads(line) for line in done.stdout.splitlines()]
        name, version = f"protobuf-{said[0]['kind']}", said[0]["version"]
        if said[0]["kind"] != kind:
            raise ValueError(f"asked for protobuf's {kind}, got {name}")
        agreeing = [case for case, answer in zip(cases, said[1:], strict=True) if _agrees(case["expect"], answer)]
        for case in agreeing:
            case["source"].setdefault("witnesses", []).append({"name": name, "version": version})
        counts[name] = len(agreeing)
    return counts


def _agrees(expect: Json, answer: Json) -> bool:
    return answer is None if "reject" in expect else answer == expect["accept"]["value"]


def _bytes(case: Json) -> list[str]:
    """The message of a decode case, in a list of one, or the first bytes that an encode case takes."""
    return [case["input"]["hex"]] if case["op"] == "decode" else case["expect"].get("accept", {}).get("bytes", [])[:1]
