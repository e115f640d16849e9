"""Parts of a Heka message beside each other: each two states of two parts stand together in a message: heka.md §1.

One array is of the parts of a message, to read and to write, another of the parts of a Field. Each message takes as
many Fields of the second array as its row says.
"""

# fmt: off

from collections.abc import Mapping
from typing import Any

from tests.authoring.covering import Row, covering_rows
from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.heka.case_builder import HekaCaseBuilder
from tests.authoring.heka.frame_bytes import UUID
from tests.authoring.heka.states import (
    COUNTED,
    GREATEST,
    GREATEST_INT32,
    INT32,
    PACKED,
    PRESENCE,
    UNICODE,
    Field,
    Message,
    message_bytes,
    message_value,
    remarks_of,
    wide,
)

TEXTS = ("type", "logger", "payload", "env_version", "hostname")
TEXT = ("absent", "empty", "one", "wide")
NUMBER = ("absent", "zero", "minus-one", "greatest")
NUMBERS = {"zero": 0, "minus-one": -1, "greatest": GREATEST_INT32}
TIMESTAMPS = {"zero": 0, "minus-one": -1, "greatest": GREATEST, "counted": COUNTED}
OPS = ("decode", "encode")

MESSAGE: Mapping[str, tuple[str, ...]] = {
    "op": OPS, "timestamp": tuple(TIMESTAMPS), "type": TEXT, "logger": TEXT, "severity": NUMBER, "payload": TEXT, "env_version": TEXT, "pid": NUMBER, "hostname": TEXT,
    "fields": ("none", "one", "several"),
}
FIELD: Mapping[str, tuple[str, ...]] = {
    "op": OPS, "name": TEXT[1:], "value_type": ("absent", "STRING", "BYTES", "INTEGER", "DOUBLE", "BOOL"), "representation": TEXT,
    "values": ("none", "one", "two"), "form": ("packed", "unpacked", "mixed"), "first": ("zero", "one", "greatest"),
}
TESTED: tuple[Row, ...] = tuple(
    {"op": op, **dict.fromkeys(TEXTS, text), **numbers}
    for op in OPS
    for text, numbers in (
        ("absent", {"severity": "absent", "pid": "absent", "fields": "none"}),
        ("empty", {"severity": "zero", "pid": "zero", "timestamp": "zero", "fields": "several"}),
        ("one", {"fields": "several"}),
        ("wide", {"fields": "several"}),
    )
)
"""The rows of message/minimal, and of zeros, ones and wide of the states."""


def allowed(row: Row) -> bool:
    """Whether a Field can be: only numbers have a form, which a writer chooses; of no values none is the first."""
    number = row.get("value_type", "INTEGER") in ("INTEGER", "DOUBLE", "BOOL")
    form, none = row.get("form", "packed"), row.get("values") == "none"
    if form != "packed" and (not number or row.get("op") == "encode"):
        return False
    return not none or (row.get("first", "zero") == "zero" and form != "mixed")


def write(writer: FixtureWriter) -> None:
    s = HekaCaseBuilder(writer, "heka.message", "0.10")
    rows = {op: [row for row in covering_rows(FIELD, allowed) if row["op"] == op] for op in OPS}
    messages = covering_rows(MESSAGE, tested=TESTED)
    for at, row in enumerate(messages, 1):
        op = row["op"]
        last = not [later for later in messages[at:] if later["op"] == op and later["fields"] == "several"]
        size = {"none": 0, "one": 1, "several": len(rows[op]) if last else 2}[row["fields"]]
        fields, rows[op] = rows[op][:size], rows[op][size:]
        _case(s, at, row, fields)


def _case(s: HekaCaseBuilder, at: int, row: Row, fields: list[Row]) -> None:
    message = Message(_parts(row), tuple(map(_field, fields)))
    shown = ", ".join(f"{name} {state}" for name, state in row.items() if name not in ("op", "fields"))
    title, why = f"{shown}; Fields: {len(fields)}", "Two rare states beside each other: what a reader or a writer shares between two parts shows here."
    if row["op"] == "decode":
        s.accepts(f"states/pairs-{at:02}", title, message_bytes(message), message_value(message), doc="heka.md §1", why=why, rules=(PRESENCE, INT32, UNICODE, PACKED), remarks=remarks_of(message))
    else:
        s.encode(f"states/pairs-{at:02}", f"{title}, to write", message_value(message), None, doc="heka.md §1", why=why, rules=("heka.encode.range", "heka.encode.arrays"))


def _parts(row: Row) -> dict[str, Any]:
    parts: dict[str, Any] = {"uuid": UUID, "timestamp": TIMESTAMPS[row["timestamp"]]}
    for name, state in row.items():
        if name in TEXTS and state != "absent":
            parts[name] = _text(name, state, 128 + TEXTS.index(name))
        elif name in ("severity", "pid") and state != "absent":
            parts[name] = NUMBERS[state]
    return parts


def _text(name: str, state: str, size: int) -> bytes:
    return {"empty": b"", "one": name[:1].encode(), "wide": wide(name[:1], size)}[state]


def _field(row: Row) -> Field:
    kind = None if row["value_type"] == "absent" else row["value_type"]
    words = {"zero": b"", "one": b"v", "greatest": wide("v", 130)}
    firsts: Mapping[str, Mapping[str, Any]] = {
        "INTEGER": {"zero": 0, "one": 1, "greatest": GREATEST},
        "DOUBLE": {"zero": bytes(8), "one": b"\x3f\xf0" + bytes(6), "greatest": b"\x7f\xef" + b"\xff" * 6},
        "BOOL": {"zero": 0, "one": 1, "greatest": 1},
    }
    seconds: Mapping[str, Any] = {"INTEGER": 300, "DOUBLE": b"\xbf\xf8" + bytes(6), "BOOL": 0}
    values = (firsts.get(kind or "", words)[row["first"]], seconds.get(kind or "", b"second"))
    representation = None if row["representation"] == "absent" else _text("representation", row["representation"], 134)
    return Field(_text("name", row["name"], 133), kind, representation, values[: ("none", "one", "two").index(row["values"])], row["form"])
