"""Edge values of each field of a Heka message and header, to read and to write: heka.md §1 and §4.

A message is a row of data: `message_bytes` and `message_value` make its bytes and its value. The table of
states in writing-a-case.md says which edge values there are.
"""

# fmt: off

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from attrs import evolve, frozen

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.heka.case_builder import HekaCaseBuilder
from tests.authoring.heka.frame_bytes import (
    GIVEN,
    UUID,
    field,
    frame,
    frame_value,
    frames,
    num,
    signature,
    sub,
    value,
    vi,
    whole,
)

TAGS = {"uuid": 1, "timestamp": 2, "type": 3, "logger": 4, "severity": 5, "payload": 6, "env_version": 7, "pid": 8, "hostname": 9}
TYPES = ("STRING", "BYTES", "INTEGER", "DOUBLE", "BOOL")
ARRAYS = ("strings", "octets", "integers", "doubles", "bools")
"""The names that `frame_bytes.field` has for the arrays of the types."""

Json = Any


@frozen
class Field:
    """A Field of a message: doubles are 8 bytes, big-endian, and bools the numbers on the wire.

    `form` is that of numbers: `packed`, `unpacked`, or `mixed`, the first unpacked and the others packed.
    """

    name: bytes
    type: str | None = None
    representation: bytes | None = None
    values: tuple[Any, ...] = ()
    form: str = "packed"

    @property
    def kind(self) -> int:
        """The number of its type."""
        return TYPES.index(self.type or "STRING")


@frozen
class Message:
    """A message: its parts that are not absent."""

    parts: Mapping[str, Any]
    fields: tuple[Field, ...] = ()


NONE: Mapping[str, bytes] = MappingProxyType({})


def message_bytes(message: Message, lengths: Mapping[str, bytes] = NONE) -> bytes:
    """The bytes of a message; `lengths` has other bytes for the lengths of the parts at some paths."""
    def octets(path: str, tag: int, data: bytes) -> bytes:
        return vi(tag << 3 | 2) + lengths.get(path, vi(len(data))) + data
    parts = (octets(name, TAGS[name], part) if isinstance(part, bytes) else num(TAGS[name], part) for name, part in message.parts.items())
    rows = ((f"fields[{at}]", one) for at, one in enumerate(message.fields))
    return b"".join((*parts, *(octets(path, 10, _field_bytes(one, lambda name, tag, data, at=path: octets(f"{at}.{name}", tag, data))) for path, one in rows)))


def _field_bytes(row: Field, octets: Any) -> bytes:
    data = octets("name", 1, row.name)
    data += b"" if row.type is None else num(2, row.kind)
    data += b"" if row.representation is None else octets("representation", 3, row.representation)
    tag, array = row.kind + 4, f"value_{TYPES[row.kind].lower()}"
    if row.kind < 2:
        return data + b"".join(octets(array, tag, part) for part in row.values)
    numbers = [one[::-1] if isinstance(one, bytes) else vi(one) for one in row.values]
    bare = {"packed": 0, "unpacked": len(numbers), "mixed": 1}[row.form]
    data += b"".join(vi(tag << 3 | (1 if TYPES[row.kind] == "DOUBLE" else 0)) + one for one in numbers[:bare])
    return data + (octets(array, tag, b"".join(numbers[bare:])) if numbers[bare:] or row.form == "packed" else b"")


def message_value(message: Message) -> Json:
    """The value of a message."""
    parts = {"uuid": None, "timestamp": None} | dict(message.parts)
    rows = [field(one.name, one.type, one.representation, **{ARRAYS[one.kind]: [bool(part) if one.kind == 4 else part for part in one.values]}) for one in message.fields]
    return value(**parts, fields=rows)


def remarks_of(message: Message) -> tuple[str, ...]:
    """What the reference remarks on a message that it accepts: heka.md §4.1, warnings."""
    holds = {
        "timestamp-negative": message.parts["timestamp"] < 0,
        "severity-range": not 0 <= message.parts.get("severity", 7) <= 7,
        "field-empty-name": not all(one.name for one in message.fields),
        "field-no-value": not all(one.values for one in message.fields),
        "packed-empty": any(one.kind >= 2 and not one.values and one.form == "packed" for one in message.fields),
        "bool-not-01": any(one.kind == 4 and not {0, 1}.issuperset(one.values) for one in message.fields),
    }
    return tuple(name for name, is_so in holds.items() if is_so)


# --- messages ---

COUNTED = 0x0102030405060708
LEAST, GREATEST = -(2**63), 2**63 - 1
LEAST_INT32, GREATEST_INT32 = -(2**31), 2**31 - 1
ALL_ONES = b"\xff" * 9 + b"\x01"
"""2^64 − 1 as a varint."""


def parts(*given: Any) -> dict[str, Any]:
    """The parts of a message in the order of their tags."""
    return dict(zip(TAGS, given, strict=True))


def counted(first: int, size: int) -> bytes:
    """Bytes that count up, so that each differs from its neighbours."""
    return bytes(range(first, first + size))


def wide(letter: str, size: int) -> bytes:
    """A text whose length takes two bytes: its letter, and digits that tell its places."""
    return (letter.encode() + b"0123456789" * 20)[:size]


EVERY = Message(
    parts(counted(0x11, 16), COUNTED, b"Type", b"Logger", 0x21222324, b"Payload", b"Version", 0x31323334, b"Hostname"),
    (
        Field(b"integers", "INTEGER", b"count", (0x4142434445464748, 0x5152535455565758)),
        Field(b"doubles", "DOUBLE", b"ms", (counted(0x61, 8), counted(0x71, 8))),
        Field(b"unpacked", "DOUBLE", None, (counted(0x81, 8),), "unpacked"),
        Field(b"octets", "BYTES", b"raw", (counted(0x91, 16), counted(0xB1, 4))),
        Field(b"texts", "STRING", b"text", (b"one", b"other")),
        Field(b"bools", "BOOL", b"bit", (1, 0)),
    ),
)

ZEROS = Message(
    parts(bytes(16), 0, b"", b"", 0, b"", b"", 0, b""),
    (
        Field(b"i", "INTEGER", b"", (0,)), Field(b"d", "DOUBLE", b"", (bytes(8),), "unpacked"), Field(b"t", "BOOL", b"", (0,)),
        Field(b"", "STRING", b"", (b"",)), Field(b"b", "BYTES", b"", (b"",)),
    ),
)

ONES = Message(
    parts(UUID, 1, b"T", b"L", 1, b"P", b"V", 1, b"H"),
    (
        Field(b"i", "INTEGER", b"a", (1,)), Field(b"d", "DOUBLE", b"b", (b"\x3f\xf0" + bytes(6),)), Field(b"t", "BOOL", b"c", (1,)),
        Field(b"s", "STRING", b"e", (b"x",)), Field(b"b", "BYTES", b"f", (b"y",)),
    ),
)

WIDE = Message(
    parts(UUID, 1428523950123456789, wide("T", 128), wide("L", 129), 6, wide("P", 130), wide("V", 131), 1234, wide("H", 132)),
    (
        Field(wide("i", 133), "INTEGER", wide("r", 134), tuple(-one for one in range(1, 14))),
        Field(wide("d", 135), "DOUBLE", wide("s", 136), tuple(counted(16 * one + 1, 8) for one in range(1, 16)) * 2),
        Field(wide("t", 137), "BOOL", wide("u", 138), (1, 0, 0, 1, 1, 0, 1) * 20),
        Field(wide("n", 139), "STRING", wide("v", 140), (wide("x", 141), wide("y", 142))),
        Field(wide("b", 143), "BYTES", wide("w", 144), (counted(0x50, 145),)),
    ),
)

GREATEST_OF_ALL = Message(
    parts(b"\xff" * 16, GREATEST, b"T", b"L", GREATEST_INT32, b"P", b"V", GREATEST_INT32, b"H"),
    (Field(b"i", "INTEGER", None, (GREATEST,)), Field(b"d", "DOUBLE", None, (b"\xff" * 8,), "unpacked")),
)

LEAST_OF_ALL = Message(parts(UUID, LEAST, b"T", b"L", LEAST_INT32, b"P", b"V", LEAST_INT32, b"H"), (Field(b"i", "INTEGER", None, (LEAST, -1)),))

BOOLS = Message({"uuid": UUID, "timestamp": 1}, (Field(b"t", "BOOL", None, (2**64 - 1, COUNTED, 0), "unpacked"),))

NO_NUMBERS = Message({"uuid": UUID, "timestamp": 1}, (Field(b"d", "DOUBLE"), Field(b"t", "BOOL")))

PRESENCE, INT32, PACKED, UNICODE = "heka.message.presence", "heka.message.int32", "heka.message.field.packed", "heka.message.text.unicode"
NUMBERS = ("heka.message.timestamp.signed", INT32, "heka.message.varint.wide", "heka.message.field.integer", "heka.message.field.double")

READ: tuple[tuple[str, str, Message, tuple[str, ...], str], ...] = (
    ("every-byte-differs", "A message in which every byte of every number differs", EVERY, (*NUMBERS, PACKED), "Half of a number, two numbers exchanged, or bytes in another order: each gives other numbers."),
    ("zeros", "Every part zero or empty", ZEROS, (PRESENCE, "heka.message.field.no-value", "heka.message.field.name"), "Zero and empty are not absent."),
    ("ones", "Every number 1, every text one byte", ONES, (PRESENCE, UNICODE, PACKED), "The shortest text that is one, and single numbers in a chunk."),
    ("wide", "Every length in two bytes", WIDE, (UNICODE, "heka.message.field.octets", PACKED), "A length of 128 or more takes a further byte, in each field anew."),
    ("greatest", "Every number the greatest of its type", GREATEST_OF_ALL, NUMBERS, "A double loses its low bits, and 32 bits lose the upper half."),
    ("least", "Every number the least of its type", LEAST_OF_ALL, NUMBERS[:4], "The C API takes the least pid for absent; a sign of 32 bits alone is lost."),
    ("bools-of-64-bits", "2^64 − 1 and 0x0102030405060708 as bools", BOOLS, ("heka.message.field.bool",), "Lua looks at 32 bits, others at a byte."),
    ("no-numbers", "A packed chunk of no doubles, one of no bools", NO_NUMBERS, ("heka.message.field.no-value",), "A chunk of nothing is no error and no value."),
)

WRITTEN = {
    "every-byte-differs": ("heka.encode.range", "heka.encode.arrays", "heka.encode.double"),
    "zeros": (PRESENCE, "heka.encode.arrays"),
    "ones": (PRESENCE, "heka.encode.arrays"),
    "wide": (UNICODE, "heka.encode.arrays"),
    "least": ("heka.encode.range",),
}
"""The rules of those that are written too."""


def write(writer: FixtureWriter) -> None:
    message, stream = HekaCaseBuilder(writer, "heka.message", "0.10"), HekaCaseBuilder(writer, "heka.stream", "0.10")
    for chapter in (_accepted, _lengths, _unfit):
        chapter(message)
    for chapter in (_frames, _header_lengths):
        chapter(stream)


def _accepted(s: HekaCaseBuilder) -> None:
    for name, title, message, rules, why in READ:
        s.accepts(f"states/{name}", title, message_bytes(message), message_value(message), doc="heka.md §1", why=why, rules=rules, remarks=remarks_of(message))
        if name in WRITTEN:
            s.encode(f"states/{name}-written", f"{title}, to write", message_value(message), None, doc="heka.md §1", why=why, rules=WRITTEN[name])


def _lengths(s: HekaCaseBuilder) -> None:
    """§4, M44: each length of `ONES` as 2^64 − 1, and those of one byte and of two that are wrong."""
    def rejects(name: str, title: str, data: bytes, cls: str, at: int, rule: str, why: str, **more: Any) -> None:
        s.rejects(f"states/{name}", title, data, cls, at=at, twin="states/ones", doc="heka.md §4", why=why, rules=(f"heka.message.{rule}",), **more)
    inner = {0: "value_integer", 1: "value_double", 2: "value_bool", 3: "value_string", 4: "value_bytes"}
    paths = ["uuid", "type", "logger", "env_version", "hostname", "fields[0]", "fields[0].name", "fields[0].representation"]
    for path in (*paths, *(f"fields[{at}].{array}" for at, array in inner.items())):
        data, name = message_bytes(ONES, {path: ALL_ONES}), path.rpartition(".")[2].partition("[")[0].replace("_", "-")
        rejects(f"length-greatest-{name}", f"A length of 2^64 − 1: {path}", data, "length-past-end", data.index(ALL_ONES), "length", "Position and length wrap around, in the code of each field anew: M44.",
                also=("negative-length", "truncated", "limit-exceeded"), flags=["security"])
    for size in (1, 128):
        data = message_bytes(evolve(ONES, parts={**ONES.parts, "uuid": wide("u", size)}))
        rejects(f"uuid-of-{size}", f"A uuid of {size} byte{'s' * (size > 1)}", data, "bad-length", 2 if size < 128 else 3, "uuid.size", "Duplicates are found by uuid.")
    data = message_bytes(ONES, {"fields[0]": b"\x01"})
    start = len(message_bytes(evolve(ONES, fields=())))
    rejects("field-of-one-byte", "A Field of one byte", data, "length-past-end", start + 3, "length", "The key of its name, and nothing behind it.", also=("truncated", "bad-varint", "missing-field"))
    data = message_bytes(ONES, {"fields[1].value_double": b"\x01"})
    rejects("double-of-one-byte", "A chunk of doubles of one byte", data, "bad-length", data.index(ONES.fields[1].values[0][::-1]), "field.double.size", "Go and C read on behind it.", also=("truncated", "length-past-end"))


def _unfit(s: HekaCaseBuilder) -> None:
    """§1: values that their fields cannot hold, to write."""
    def rejects(name: str, title: str, given: Json, rule: str, twin: str = "least-written", **more: Any) -> None:
        s.unfit(f"states/unfit-{name}", title, given, f"states/{twin}", doc="heka.md §1", why="It would come back as another value.", rules=(f"heka.encode.{rule}",), **more)
    rejects("pid-below-32-bits", "A pid of −2^31 − 1", value(pid=LEAST_INT32 - 1), "range")
    rejects("pid-of-65-bits", "A pid of 2^64", value(pid=2**64), "range")
    rejects("severity-of-65-bits", "A severity of 2^64 + 6", value(severity=2**64 + 6), "range")
    rejects("timestamp-of-65-bits", "A timestamp of 2^64 + 1", value(timestamp=2**64 + 1), "range")
    for name, number in (("below-64-bits", LEAST - 1), ("of-65-bits", 2**64 + 5)):
        rejects(f"integer-{name}", f"A value_integer of {'−2^63 − 1' if number < 0 else '2^64 + 5'}", value(fields=[field(b"n", "INTEGER", integers=[1, number])]), "range")
    rejects("uuid-of-17-bytes", "A uuid of 17 bytes", value(uuid=UUID + b"\0"), "uuid", "ones-written", level="should")
    for size in (0, 9):
        bits = (counted(1, 8) + b"\x09")[:size]
        rejects(f"double-of-{size}-bytes", f"A double of {size} bytes", value(fields=[field(b"d", "DOUBLE", doubles=[bits])]), "double", "ones-written")


# --- headers ---

VERSION, SIGNER, KEY = 0x11121314, b"Signer", b"A key"
KEYS = {f"{SIGNER.decode()}_{VERSION}": KEY.hex()}
SIGNED = {"options": {"keys": KEYS}, "needs": ["feature:hmac"]}


def _frames(s: HekaCaseBuilder) -> None:
    content = message_bytes(EVERY)
    header = signature(content, KEY, SIGNER, VERSION, 1)
    data, signed = frame(content, header), {"function": "SHA1", "signer": SIGNER, "version": VERSION}
    made = frame_value(message_value(EVERY), len(content), SIGNER, digest=header[-20:], **signed)
    texts = evolve(EVERY, fields=tuple(one for one in EVERY.fields if one.kind < 2))  # numbers may be packed or not
    size, digest = len(message_bytes(texts)), signature(message_bytes(texts), KEY, SIGNER, VERSION, 1)[-20:]
    given, written = frame_value(message_value(texts), **signed), frame_value(message_value(texts), size, SIGNER, digest=digest, **signed)
    why = "Half of a number, or two numbers exchanged, gives other numbers."
    title = "A signed frame in which every byte of every number differs"
    remarks = remarks_of(EVERY)
    s.accepts("states/every-byte-differs", title, data, frames(made), doc="heka.md §2, §3", why=why, rules=("heka.stream.frame", "heka.stream.header.presence"), remarks=remarks, **SIGNED)
    s.scan("states/every-byte-differs-scanned", f"{title}, in three pieces", [data[:50], data[50:90], data[90:]], [whole(0, len(data), made)], doc="heka.md §2, §3", why=why, rules=("heka.stream.frame", "heka.stream.header.presence"), remarks=remarks, **SIGNED)
    s.other("states/every-byte-differs-written", f"{title}, to write", "encode", {"value": frames(_given(given))}, {"accept": {"value": frames(written)}}, doc="heka.md §2, §3", why=why, rules=("heka.encode.frame", "heka.encode.range", "heka.encode.sign"), **SIGNED)
    body = message_bytes(ONES)
    rows = [{"signer": b"", "digest": b""}, {"signer": b"s", "digest": b"d"}, {"signer": b"Signer", "version": COUNTED >> 32, "digest": counted(0x40, 130)}]
    heads = [sub(4, row["signer"]) + (num(5, row["version"]) if "version" in row else b"") + sub(6, row["digest"]) for row in rows]
    values = [frame_value(message_value(ONES), len(body), **row) for row in rows]
    title, why, rest = "Signer and HMAC of no byte, of one, of many", "Who asks for no check gets a header as it stands.", {"level": "should", "doc": "heka.md §1, §3"}
    s.accepts("states/header", title, b"".join(frame(body, head) for head in heads), frames(*values), why=why, rules=("heka.stream.header.presence", "heka.stream.hmac.claim"), **rest)
    s.other("states/header-written", f"{title}, to write", "encode", {"value": frames(*map(_given, values))}, {"accept": {"value": frames(*values)}}, why=why, rules=("heka.encode.frame", "heka.encode.sign"), needs=GIVEN, **rest)
    for name, tag, rule, remark in (("encoding", 2, "heka.stream.header.unknown", "legacy-encoding-json"), ("function", 3, "heka.stream.hmac.function.unsigned", "header-unknown-function")):
        heads = [num(tag, number) for number in (COUNTED, 2**64 - 1)]
        values = [frame_value(message_value(ONES), len(body)) for _ in heads]
        s.accepts(f"states/{name}-of-64-bits", f"{'message_encoding' if tag == 2 else 'hmac_hash_function'} 0x0102030405060708, then 2^64 − 1, nothing signed", b"".join(frame(body, head) for head in heads), frames(*values),
                  doc="heka.md §1", why="What is passed over may be any number.", rules=(rule,), remarks=(remark,), level="must" if tag == 2 else "should")


def _given(row: Json) -> Json:
    """A frame as a caller gives it: without what is computed."""
    header = {key: part for key, part in row["header"].items() if key != "message_length"}
    return {"header": header, "message": row["message"]}


def _header_lengths(s: HekaCaseBuilder) -> None:
    body = message_bytes(ONES)
    for name, tag, rest in (("signer", 4, b"s"), ("hmac", 6, b"d")):
        data = frame(body, vi(tag << 3 | 2) + ALL_ONES + rest)
        s.rejects(f"states/length-greatest-{name}", f"A length of 2^64 − 1: hmac{'_signer' * (tag == 4)}", data, "length-past-end", at=data.index(ALL_ONES), before=frames(), twin="states/header", doc="heka.md §4", rules=("heka.stream.header.undecodable",),
                  why="Position and length wrap around, in the code of each field anew: M44.", also=("negative-length", "truncated", "limit-exceeded"), flags=["security"], level="should")
    s.rejects("states/message-length-greatest", "A message_length of 2^32 − 1", frame(body, length=2**32 - 1) + frame(body), "limit-exceeded", at=2, before=frames(), twin="states/header", doc="heka.md §2, limits", rules=("heka.stream.length.limit",),
              why="A reader with 32 bits and a sign finds −1.", also=("bad-length", "negative-length", "other"))
