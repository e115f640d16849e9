"""An adapter for wireproof: one file of plain Python 3.8 or newer, on whatever Python your codec wants.

    wireproof check 'exec:python3 adapter.py' --run 'iggy.identifier/**'

As it stands it is a whole codec of a small format, Iggy's identifier: kind (1 byte), length (1 byte), value.
Put yours in its place: NAME, VERSION, CLAIMS, decode, encode. What is below "the wire" can stay as it is.
"""

from __future__ import annotations

import json
import struct
import sys
from typing import Any

NAME, VERSION = "my-codec", "1.0"

# "exact": the classes of refusals are judged too; "coarse": only that it refuses; "none": it has no reasons.
ERRORS = "exact"


class RefusedError(Exception):
    """Bytes or a value that the codec does not take: a class of the contract, where, and a text."""

    def __init__(self, cls: str, at: int, text: str) -> None:
        super().__init__(text)
        self.cls, self.at = cls, at


# --- the codec: yours goes here ---

# What the codec can do, by format and revision (`wireproof show` lists them). Only claims are asked.
# May hold more: "codecs", "profiles", "features", and "observes", the fields that it shows, if not all.
CLAIMS = {
    "iggy.identifier/0.0.30": {"ops": ["decode", "encode"]},
    "iggy.identifier/0.8": {"ops": ["decode", "encode"]},
}


def decode(revision: str, data: bytes) -> tuple[Any, int]:
    """Return the value at the start of `data`, and its number of bytes."""
    if not data:
        raise RefusedError("truncated", 0, "no kind")
    kind = {1: "numeric", 2: "string"}.get(data[0])
    if kind is None:
        raise RefusedError("bad-kind", 0, f"kind {data[0]}")
    if len(data) == 1:
        raise RefusedError("truncated", 1, "no length")
    length = data[1]
    if length == 0 or (kind == "numeric" and length != 4):
        raise RefusedError("bad-length", 1, f"{kind} of {length} bytes")
    content = data[2 : 2 + length]
    if len(content) < length:
        raise RefusedError("truncated", 2, f"{length} bytes announced, {len(content)} there")
    if kind == "string" and not is_utf8(content):
        raise RefusedError("bad-utf8", 2, "no UTF-8")
    if kind == "numeric" and revision == "0.0.30" and not any(content):
        raise RefusedError("invalid-value", 2, "0 names nothing before 0.8")
    return {"kind": kind, "value": content.hex()}, 2 + length


def encode(revision: str, value: dict[str, Any]) -> bytes:
    """The bytes of a value in the form that `decode` gives it."""
    kind, content = value["kind"], bytes.fromhex(value["value"])
    if len(content) > 255:
        raise RefusedError("invalid-value", 0, f"{kind} of {len(content)} bytes")
    wire = bytes([{"numeric": 1, "string": 2}[kind], len(content)]) + content
    try:
        decode(revision, wire)
    except RefusedError as error:  # what does not decode again is no value
        raise RefusedError("invalid-value", 0, str(error)) from None
    return wire


def is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


# --- the wire: u32 big-endian length, a JSON header of that length, then as many raw bytes as "blob" says ---


def answer(head: dict[str, Any], blob: bytes) -> tuple[dict[str, Any], bytes | None]:
    """The answer to one request, and its bytes."""
    if "hello" in head:
        hello = {"protocol": 1, "name": NAME, "version": VERSION, "revisions": CLAIMS, "errors": ERRORS}
        return {"hello": {**hello, "window": 64}}, None
    said = {"id": head["id"]}
    try:
        return answered(said, head, blob)
    except RefusedError as error:
        return {**said, "outcome": "refused", "class": error.cls, "at": error.at, "text": str(error)}, None
    except Exception as error:  # noqa: BLE001 - nothing that the codec documents: untyped
        no = {"outcome": "refused", "class": "other", "text": repr(error)[:300], "untyped": True}
        return {**said, **no}, None


def answered(said: dict[str, Any], head: dict[str, Any], blob: bytes) -> tuple[dict[str, Any], bytes | None]:
    op, revision, format_id = head["op"], head["revision"], f"{head['format']}/{head['revision']}"
    if op not in CLAIMS.get(format_id, {}).get("ops", ()):
        return {**said, "outcome": "unsupported", "text": f"no {op} of {format_id}"}, None
    said["outcome"] = "accepted"
    if op == "encode":
        return said, encode(revision, head["value"])
    value, consumed = decode(revision, blob)
    return {**said, "value": value, "consumed": consumed}, None


def main() -> None:
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while length := source.read(4):
        head = json.loads(source.read(struct.unpack(">I", length)[0]))
        said, data = answer(head, source.read(head.get("blob", 0)))
        if data is not None:
            said["blob"] = len(data)
        header = json.dumps(said).encode()
        sink.write(struct.pack(">I", len(header)) + header + (data or b""))
        sink.flush()


if __name__ == "__main__":
    main()
