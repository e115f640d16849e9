"""`heka.message/0.10`: heka.md §1, §4, §5, §7, §8."""

# fmt: off

from typing import Any

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.heka.case_builder import HekaCaseBuilder
from tests.authoring.heka.frame_bytes import (
    UUID,
    M,
    dbl,
    field,
    fld,
    msg,
    num,
    overlong,
    rule_bytes,
    sub,
    value,
    vi,
)


def write(writer: FixtureWriter) -> None:
    s = HekaCaseBuilder(writer, "heka.message", "0.10")
    for chapter in (
        _whole, _required, _varints, _int32, _int32_limits, _duplicate, _text, _unknown, _keys, _key_limits, _long_keys, _lengths, _torn, _field,
        _types, _arrays, _order, _snappy, _reported,
    ):  # fmt: skip
        chapter(s)


R = "heka.message."


BIG = 2**63 - 1


def _accepts(s: HekaCaseBuilder, name: str, title: str, row: str | bytes, given: Any, rules: tuple[str, ...], why: str, **more: Any) -> None:
    """An accepted message: a row of section 4, or bytes of the builder."""
    data = rule_bytes(row) if isinstance(row, str) else row
    origin = {"doc": f"heka.md §4 {row}", "origin": "document"} if isinstance(row, str) else {"doc": more.pop("doc", "heka.md §1")}
    s.accepts(name, title, data, given, why=why, rules=tuple(R + rule for rule in rules), **origin, **more)


def _rejects(s: HekaCaseBuilder, name: str, title: str, row: str | bytes, cls: str, at: int, rules: tuple[str, ...], why: str, twin: str = "message/minimal", **more: Any) -> None:
    data = rule_bytes(row) if isinstance(row, str) else row
    origin = {"doc": f"heka.md §4 {row}", "origin": "document"} if isinstance(row, str) else {"doc": more.pop("doc", "heka.md §4")}
    s.rejects(name, title, data, cls, at=at, twin=twin, why=why, rules=tuple(R + rule for rule in rules), **origin, **more)


def _one(*args: Any, **kwargs: Any) -> Any:
    """A message with one Field."""
    return value(fields=[field(*args, **kwargs)])


def _whole(s: HekaCaseBuilder) -> None:
    _accepts(s, "message/minimal", "uuid and timestamp", "M01", value(), ("required", "uuid.size", "wiretype", "key", "key.minimal", "unknown", "length", "presence", "text.utf8"),
        "The least that is a message; nothing absent is filled in.")
    every = {"type": b"WebLog", "logger": b"apache", "severity": 6, "payload": b"hi", "env_version": b"1", "pid": 1234, "hostname": b"h1"}
    data = msg(sub(3, b"WebLog"), sub(4, b"apache"), num(5, 6), sub(6, b"hi"), sub(7, b"1"), num(8, 1234), sub(9, b"h1"),
               fld(b"n", num(2, 2), sub(3, b"count"), sub(6, vi(1) + vi(300))), timestamp=1428523950000000000)
    counted = [field(b"n", "INTEGER", b"count", integers=[1, 300])]
    _accepts(s, "message/every-field", "Every field of the schema", data, value(timestamp=1428523950000000000, **every, fields=counted), ("presence", "field.packed", "varint.wide"),
        "mozilla-services/lua_sandbox 2a5e0dc: a timestamp shifted in 32 bits.", doc="heka.md §7 bug 11, §8 W2")
    _accepts(s, "message/defaults-written", "Severity 7 and value_type STRING, written", msg(num(5, 7), fld(b"a", num(2, 0), sub(3, b""), sub(4, b"b"))),
        value(severity=7, fields=[field(b"a", "STRING", b"", strings=[b"b"])]), ("presence", "encoder-forms"), "Written as its default is not the same as absent: an encoder that drops either changes the bytes that are signed.")
    _accepts(s, "message/empties-written", "Every text empty", msg(*(sub(tag, b"") for tag in (3, 4, 6, 7, 9))), value(type=b"", logger=b"", payload=b"", env_version=b"", hostname=b""), ("presence",),
        "Empty is not absent.")
    forms = (fld(b"a", sub(4, b"b")), fld(b"n", num(2, 2), num(6, 5)), fld(b"d", num(2, 3), vi(0x39) + dbl(1.5)), fld(b"t", num(2, 4), num(8, 1)))
    _accepts(s, "message/lua-forms", "One value of each type, as lua_sandbox writes them", msg(*forms), value(fields=[
        field(b"a", None, None, strings=[b"b"]), field(b"n", "INTEGER", integers=[5]), field(b"d", "DOUBLE", doubles=[1.5]), field(b"t", "BOOL", bools=[True])]), ("encoder-forms", "field.packed"),
        "One sandbox writes single numbers unpacked, the Go client packs them; a reader takes both.", doc="heka.md §1, encoder forms; §7 bug 15")


def _required(s: HekaCaseBuilder) -> None:
    why = "Go's decoder does not check: an empty message is delivered and routed."
    _rejects(s, "message/empty", "No bytes", "M02", "missing-field", 0, ("required",), why)
    _rejects(s, "message/no-uuid", "No uuid", "M03", "missing-field", 2, ("required",), why)
    _rejects(s, "message/no-timestamp", "No timestamp", "M04", "missing-field", 18, ("required",), why)
    size = "Duplicates are found by uuid; 15 bytes padded with a zero are another one."
    for name, row, title in (("15-bytes", "M05", "15 bytes"), ("17-bytes", "M06", "17 bytes"), ("empty", "M07", "no bytes"), ("as-text", "M08", "36 characters of text")):
        _rejects(s, f"uuid/{name}", f"A uuid of {title}", row, "bad-length", 2, ("uuid.size",), size)
    _rejects(s, "uuid/15-bytes-message-19", "A message of 19 bytes", "M95", "bad-length", 2, ("uuid.size",), "Lua's reader wants 20 bytes of message instead.")


def _varints(s: HekaCaseBuilder) -> None:
    _accepts(s, "timestamp/minus-one", "Timestamp -1", "M09", value(timestamp=-1), ("varint.bits", "varint.size", "timestamp.signed"), "Ten bytes; a reader of unsigned numbers tells 2^64 - 1.", remarks=("timestamp-negative",))
    _accepts(s, "timestamp/largest", "The largest timestamp", "M98", value(timestamp=BIG), ("timestamp.signed", "varint.wide", "varint.bits"), "Lua keeps it in a double: 9223372036854775808.")
    _accepts(s, "timestamp/nanoseconds", "A timestamp that no double holds", msg(timestamp=1428523950123456789), value(timestamp=1428523950123456789), ("varint.wide",), "Lua's sandbox writes it back as ...768.", doc="heka.md §7 bug 44")
    _rejects(s, "timestamp/65-bits", "Bits above the 64th", "M10", "bad-varint", 19, ("varint.bits",), "Every reader drops them, each re-encodes to other bytes.", twin="timestamp/minus-one", level="may")
    _rejects(s, "timestamp/eleven-bytes", "A varint of 11 bytes", "M11", "bad-varint", 19, ("varint.size",), "Go takes any length: bytes that others refuse are delivered.", twin="timestamp/minus-one")
    _accepts(s, "timestamp/two-bytes-for-one", "1 in two bytes", "M12", value(), ("varint.nonminimal",), "Encoders that reserve room pad numbers.", remarks=("varint-nonminimal",))
    _accepts(s, "timestamp/ten-bytes-for-one", "1 in ten bytes", "M13", value(), ("varint.nonminimal", "varint.size"), "protobuf-java reads -9223372036854775807.", remarks=("varint-nonminimal",))


def _int32(s: HekaCaseBuilder) -> None:
    _accepts(s, "int32/minus-one-ten-bytes", "Severity -1 in ten bytes", "M14", value(severity=-1), ("int32.negative", "severity.range"), "lua_sandbox #63: its encoder never ended on it.", remarks=("severity-range",))
    _accepts(s, "int32/minus-one-five-bytes", "Severity -1 in five bytes", "M15", value(severity=-1), ("int32.negative", "severity.range"), "Go's encoder writes it; Lua's reader tells 4294967295.",
        remarks=("int32-five-byte-negative", "severity-range"))
    _accepts(s, "int32/severity-99", "Severity 99", "M16", value(severity=99), ("severity.range",), "No reader holds it to syslog's levels; a filter by severity must see 99.", remarks=("severity-range",))
    _accepts(s, "int32/lowest", "The lowest pid in ten bytes", "M18", value(pid=-(2**31)), ("int32", "int32.negative", "int32.range"), "The C API takes it for absent.")
    _accepts(s, "int32/lowest-five-bytes", "The lowest pid in five bytes", "M19", value(pid=-(2**31)), ("int32.negative",), "Lua's reader tells 2147483648.", remarks=("int32-five-byte-negative",))
    _accepts(s, "int32/largest", "The largest pid", msg(num(8, 2**31 - 1)), value(pid=2**31 - 1), ("int32", "int32.range"), "The accepted neighbour.", doc="heka.md §1")
    _rejects(s, "int32/33-bits", "A pid of 2^32 + 5", "M17", "bad-varint", 21, ("int32.range",), "Lua tells 4294967301, the others 5.", twin="int32/largest", level="may")


def _duplicate(s: HekaCaseBuilder) -> None:
    why = "Two readers that pick differently see two messages."
    remark = ("duplicate-scalar",)
    _accepts(s, "duplicate/uuid", "Two uuids", "M32", value(uuid=b"\xff" * 16), ("duplicate",), why, remarks=remark)
    _accepts(s, "duplicate/timestamp", "Two timestamps", "M33", value(timestamp=2), ("duplicate",), why, remarks=remark)
    _accepts(s, "duplicate/payload", "Two payloads", "M34", value(payload=b"b"), ("duplicate",), why, remarks=remark)
    _accepts(s, "duplicate/severity", "Two severities", "M35", value(severity=2), ("duplicate",), why, remarks=remark)
    _accepts(s, "duplicate/field-name", "A Field with two names", "M88", _one(b"z", strings=[b"b"]), ("duplicate",), why, remarks=remark)


def _text(s: HekaCaseBuilder) -> None:
    why, remark = "Log lines hold what programs wrote; Java replaces it, pure Python refuses it, Go and C keep it.", ("bad-utf8",)
    _accepts(s, "text/no-utf8", "A payload of ff", "M36", value(payload=b"\xff"), ("text.utf8",), "mozilla/python_moztelemetry #117: one such byte ended the whole file.", remarks=remark, level="should")
    _accepts(s, "text/overlong", "A payload of c0 80", "M37", value(payload=b"\xc0\x80"), ("text.utf8",), why, remarks=remark, level="should")
    _accepts(s, "text/surrogate", "A payload of ed a0 80", "M38", value(payload=b"\xed\xa0\x80"), ("text.utf8",), why, remarks=remark, level="should")
    _accepts(s, "text/nul", "A NUL inside a payload", "M39", value(payload=b"a\0b"), ("text.utf8",), "C strings end there.")
    _accepts(s, "text/field-value", "A value_string of ff fe", "M85", _one(b"a", strings=[b"\xff\xfe"]), ("text.utf8",), why, remarks=remark, level="should")
    _accepts(s, "text/field-name", "A Field name of ff", "M86", _one(b"\xff", strings=[b"b"]), ("text.utf8",), why, remarks=remark, level="should")


def _unknown(s: HekaCaseBuilder) -> None:
    why = "Go and protobuf keep it, C and Lua refuse the message: the same bytes are two streams."
    for name, row, title in (("varint", "M20", "varint"), ("two-byte-key", "M21", "varint of tag 16"), ("bytes", "M22", "length-delimited field"), ("group", "M23", "group"), ("fixed32", "M24", "fixed32")):
        _rejects(s, f"unknown/{name}", f"An unknown {title}", row, "unknown-field", 20, ("unknown",), why, level="may")
    _rejects(s, "unknown/in-field", "An unknown tag in a Field, behind its value", "M79", "unknown-field", 28, ("unknown",), "C does not look behind the first value.", twin="field/two-of-one-name", level="may")
    _rejects(s, "unknown/in-field-first", "An unknown tag in a Field, before its value", "M80", "unknown-field", 25, ("unknown",), why, twin="field/two-of-one-name", level="may")
    wrong = "Go and C refuse the message, Java and Python take the field for an unknown one."
    for name, row, at, title in (("uuid-varint", "M25", 0, "A uuid as varint"), ("timestamp-bytes", "M26", 18, "A timestamp as bytes"), ("severity-fixed32", "M27", 20, "A severity as fixed32"), ("payload-varint", "M28", 20, "A payload as varint")):
        _rejects(s, f"wiretype/{name}", title, row, "type-mismatch", at, ("wiretype",), wrong, level="should", also=("bad-kind",))
    inner = "Go ignores the errors of a nested message: the Field is half read and delivered."
    _rejects(s, "wiretype/double-fixed32", "A double as fixed32", "M74", "type-mismatch", 27, ("wiretype",), inner, twin="double/unpacked", level="should", also=("bad-kind", "bad-length"))
    _rejects(s, "wiretype/name-varint", "A Field name as varint", "M81", "type-mismatch", 22, ("wiretype",), inner, level="should", also=("bad-kind", "missing-field"))
    _rejects(s, "wiretype/value-format", "The value_format of before June 2013", "M82", "type-mismatch", 25, ("wiretype",), "Old bytes, tag 3 as varint: Go loses the value behind it.", level="should", also=("bad-kind",))


def _keys(s: HekaCaseBuilder) -> None:
    why = "What no key can be is the first sign of damage."
    _rejects(s, "key/tag-zero", "Field number 0", "M29", "bad-kind", 20, ("key",), "Go takes it for an unknown field.", also=("unknown-field",))
    _rejects(s, "key/wire-type-6", "Wire type 6", "M30", "bad-kind", 20, ("key",), why)
    _rejects(s, "key/wire-type-7", "Wire type 7", "M31", "bad-kind", 20, ("key",), why)
    _rejects(s, "key/stray-group-end", "The end of no group", "M96", "bad-kind", 20, ("key",), "Go skips it.", also=("bad-nesting", "unknown-field"))
    _rejects(s, "key/overlong", "The key of uuid in three bytes", "M40", "bad-varint", 0, ("key.minimal",), "C reads tag 17; Go and Java read uuid.", level="may", also=("missing-field", "unknown-field"))
    _rejects(s, "key/overlong-unknown", "The key of an unknown field in three bytes", "M41", "bad-varint", 20, ("key.minimal",), "Go stores the wrong bytes and writes another message back.", level="may", also=("unknown-field",))


def _lengths(s: HekaCaseBuilder) -> None:
    why = "A reader that trusts the length reads behind its buffer."
    _accepts(s, "length/record-128", "A Field of 141 bytes", msg(fld(b"string", sub(4, b"0123456789" * 13))), _one(b"string", strings=[b"0123456789" * 13]), ("length", "field.repeat-name"), "Two bytes of length.", doc="heka.md §4 M99")
    _rejects(s, "length/lone-key", "A key and nothing behind it", "M42", "truncated", 21, ("length",), why)
    _rejects(s, "length/five-of-one", "A payload of 5 bytes, 1 there", "M43", "truncated", 22, ("length",), why, also=("length-past-end",))
    _rejects(s, "length/64-bits", "A length of 2^64 - 1", "M44", "length-past-end", 21, ("length",), "gogo/protobuf: Go's process dies; lua_sandbox #226 overflowed a pointer.", flags=["security"], also=("negative-length", "truncated", "limit-exceeded"))
    _rejects(s, "length/2-to-the-63", "A length of 2^63", "M45", "length-past-end", 21, ("length",), "Go's process dies; Java keeps 32 bits and reads an empty payload.", flags=["security"], also=("negative-length", "truncated", "limit-exceeded"))
    _rejects(s, "length/33-bits", "A length of 2^32 + 1, one byte there", "M46", "truncated", 26, ("length",), "Java read a payload of one byte: another message than everybody else.", also=("length-past-end", "limit-exceeded"), flags=["security"])
    _rejects(s, "length/field-overrun", "A Field longer than the message", "M47", "truncated", 22, ("length",), why, also=("length-past-end",))
    torn = sub(10, sub(1, b"a") + num(2, 1) + b"\x2a\x05b") + sub(6, b"payload")
    _rejects(s, "length/bytes-past-field", "A bytes value of 5 bytes in a Field that ends after 1, and a payload behind it", msg(torn), "length-past-end", 29, ("length",), "protobufjs/protobuf.js #64 took as many bytes as there were.", twin="value-type/bytes", also=("truncated",))
    _rejects(s, "length/garbage-in-field", "Garbage behind the value of a Field", "M83", "length-past-end", 28, ("length",), "Go and C deliver the message.", also=("truncated", "bad-varint"), twin="field/two-of-one-name")


def _field(s: HekaCaseBuilder) -> None:
    _rejects(s, "field/empty-record", "An empty Field at the end", "M48", "missing-field", 22, ("field.name",), "lua_sandbox reads one byte behind its buffer.", flags=["security"])
    _rejects(s, "field/empty-record-then-pid", "An empty Field, then a pid", "M49", "missing-field", 22, ("field.name",), "Go delivers a nameless Field.")
    _rejects(s, "field/nameless", "A Field without name", "M50", "missing-field", 25, ("field.name",), "Go delivers it.", twin="field/two-of-one-name")
    _accepts(s, "field/no-value", "A Field with only a name", "M51", _one(b"a"), ("field.no-value", "field.name"), "An encoder of Heka's indexes its values and dies.", remarks=("field-no-value",))
    _accepts(s, "field/empty-name", "A Field of empty name", "M52", _one(b"", strings=[b"b"]), ("field.name",), "Empty is a name.", remarks=("field-empty-name",))
    _accepts(s, "field/empty-string", "A Field of one empty string", msg(fld(b"a", sub(4, b""))), _one(b"a", strings=[b""]), ("field.no-value",), "Mozilla's Beam reader asked for its first character.", doc="heka.md §7 bug 24")
    _accepts(s, "field/empty-bytes", "A Field of one empty bytes value", msg(fld(b"a", num(2, 1), sub(5, b""))), _one(b"a", "BYTES", octets=[b""]), ("field.no-value",), "mozilla-services/heka #1284: the Go sandbox died.", doc="heka.md §7 bug 17")
    _accepts(s, "field/packed-empty", "A packed chunk of no integers", "M66", _one(b"a", "INTEGER"), ("field.no-value",), "Lua's reader refuses the message.", remarks=("field-no-value", "packed-empty"))
    _accepts(s, "field/two-of-one-name", "Two Fields named a", "M87", value(fields=[field(b"a", strings=[b"b"]), field(b"a", strings=[b"c"])]), ("field.repeat-name", "unknown", "field.name", "length"), "Readers that build maps keep one of them.")
    _accepts(s, "field/octets", "Bytes that are no text", "M84", _one(b"a", "BYTES", octets=[b"\xff\xfe"]), ("field.no-value",), "value_bytes are not text.")


def _types(s: HekaCaseBuilder) -> None:
    why = "C keeps the number, Java takes the Field for a STRING, Go keeps 5."
    for name, row, title in (("five", "M56", "value_type 5"), ("minus-one", "M57", "value_type -1"), ("2-to-the-32", "M58", "value_type 2^32")):
        _rejects(s, f"value-type/{name}", title, row, "bad-kind", 26, ("field.type",), why, twin="value-type/bytes", level="may", also=("unknown-field", "bad-varint"))
    _accepts(s, "value-type/bytes", "value_type 1", msg(fld(b"a", num(2, 1), sub(5, b"b"))), _one(b"a", "BYTES", octets=[b"b"]), ("field.type", "field.arrays"), "The accepted neighbour.")
    only = "No reader checks; C reads the bytes of one array as values of the other."
    _rejects(s, "value-type/integer-holds-string", "INTEGER, but value_string", "M59", "type-mismatch", 27, ("field.arrays",), only, twin="value-type/bytes", level="should")
    _rejects(s, "value-type/string-holds-integer", "STRING, but value_integer", "M60", "type-mismatch", 25, ("field.arrays",), only, twin="value-type/bytes", level="should")
    _rejects(s, "value-type/two-arrays", "INTEGER with both", "M61", "type-mismatch", 27, ("field.arrays",), only, twin="value-type/bytes", level="should")
    _rejects(s, "value-type/bytes-and-string", "BYTES with both", "M97", "type-mismatch", 30, ("field.arrays",), "C and Lua merge the two arrays.", twin="value-type/bytes", level="should")


def _arrays(s: HekaCaseBuilder) -> None:
    def integers(*numbers: int) -> Any:
        return _one(b"a", "INTEGER", integers=list(numbers))
    leak = "C reads the keys between the values as values."
    _accepts(s, "integer/unpacked", "5, 6, unpacked", "M62", integers(5, 6), ("field.packed", "field.packed.end"), leak)
    _accepts(s, "integer/packed", "5, 6, packed", "M63", integers(5, 6), ("field.packed", "field.packed.end"), "The Go client's form.")
    _accepts(s, "integer/mixed", "5 unpacked, then 6, 7 packed", "M64", integers(5, 6, 7), ("field.packed",), leak)
    _accepts(s, "integer/two-chunks", "Two packed chunks", "M65", integers(5, 6, 7, 8), ("field.packed",), "Lua's reader tells 5, 6, 50, 2, 7, 8.")
    _accepts(s, "integer/packed-then-unpacked", "5, 6 packed, then 7 unpacked", msg(fld(b"a", num(2, 2), sub(6, vi(5) + vi(6)), num(6, 7))), integers(5, 6, 7), ("field.packed",), "A reader that settles on the first form loses the rest.", doc="heka.md §4, packed and unpacked numbers")
    _accepts(s, "integer/minus-one", "-1", "M89", integers(-1), ("field.integer",), "Ten bytes.")
    _accepts(s, "integer/above-a-double", "2^53 + 1", "M90", integers(2**53 + 1), ("field.integer",), "C and Lua keep doubles: 9007199254740992.")
    _rejects(s, "integer/chunk-cut-field-goes-on", "A chunk that ends inside a number, the Field goes on", "M67", "length-past-end", 29, ("field.packed.end",), "Go reads on into the next tag: 3328.", twin="integer/packed", also=("truncated", "bad-varint"))
    _rejects(s, "integer/chunk-cut", "A chunk that ends inside a number", "M68", "length-past-end", 30, ("field.packed.end",), "Go keeps 5, Lua 5 and 0.", twin="integer/packed", also=("truncated", "bad-varint"))
    two = _one(b"a", "DOUBLE", doubles=[1.0, 2.0])
    _accepts(s, "double/unpacked", "1.0, 2.0, unpacked", "M69", two, ("field.double", "wiretype"), "C's second value is 2.8e-322.")
    _accepts(s, "double/packed", "1.0, 2.0, packed", "M70", two, ("field.double", "field.double.size"), "The Go client's form.")
    _accepts(s, "double/nan", "NaN", "M73", {**value(), "fields": [{**field(b"a", "DOUBLE"), "value_double": ["7ff8000000000000"]}]}, ("field.double",), "Compared by its bits: NaN is not equal to itself.")
    quiet, odd = "fff8000000000000", "7ff4000000000001"
    _accepts(s, "double/nan-bits", "A NaN with its sign, and one that signals", msg(fld(b"a", num(2, 3), sub(7, bytes.fromhex(quiet)[::-1] + bytes.fromhex(odd)[::-1]))), {**value(), "fields": [{**field(b"a", "DOUBLE"), "value_double": [quiet, odd]}]}, ("field.double",),
        "A reader that holds a number in place of its bits tells one NaN for all.", doc="heka.md §4 M73")
    _rejects(s, "double/seven-bytes", "A chunk of 7 bytes", "M71", "bad-length", 29, ("field.double.size",), "Go and C deliver the message.", twin="double/packed", also=("length-past-end", "truncated"))
    _rejects(s, "double/twelve-bytes", "A chunk of 12 bytes", "M72", "bad-length", 29, ("field.double.size",), "Go keeps the first double.", twin="double/packed", also=("length-past-end", "truncated"))
    _accepts(s, "bool/packed", "true, false, true", "M78", _one(b"a", "BOOL", bools=[True, False, True]), ("field.bool",), "Three bytes.")
    _accepts(s, "bool/two", "2 as a bool", "M75", _one(b"a", "BOOL", bools=[True]), ("field.bool",), "Any number other than 0 is true.", remarks=("bool-not-01",))
    _accepts(s, "bool/2-to-the-32", "2^32 as a bool", "M77", _one(b"a", "BOOL", bools=[True]), ("field.bool",), "Lua's reader tells false.", remarks=("bool-not-01",))
    _accepts(s, "bool/zero-in-two-bytes", "0 in two bytes", "M76", _one(b"a", "BOOL", bools=[False]), ("field.bool", "varint.nonminimal"), "A reader of single bytes tells true.", remarks=("varint-nonminimal",))


def _order(s: HekaCaseBuilder) -> None:
    _accepts(s, "order/value-then-name", "A value before its name", "M53", _one(b"a", strings=[b"b"]), ("order",), "C refuses the message: it never sees the name.")
    _accepts(s, "order/value-then-type", "An integer before its value_type", "M54", _one(b"a", "INTEGER", integers=[5]), ("order",), "C loses the type and reads no value.")
    _accepts(s, "order/representation-last", "The representation behind two values", "M55", _one(b"a", None, b"keys", strings=[b"s1", b"s2"]), ("order",), "C invents a third value, keys.")
    _accepts(s, "order/fields-first", "Field, timestamp, uuid", "M91", _one(b"a", strings=[b"b"]), ("order",), "Nothing says that uuid comes first.")


def _snappy(s: HekaCaseBuilder) -> None:
    snappy = {"options": {"compression": "snappy"}, "needs": ["codec:snappy"]}
    both, other = rule_bytes("M92"), "A reader that tries snappy on everything reads another message, uuid ABCCC."
    _accepts(s, "snappy/plain-that-inflates", "A plain message that is a snappy block too", "M92", value(uuid=both[2:18], timestamp=128), ("snappy.declared",), other, flags=["security"])
    block = bytes.fromhex("144c") + M
    _accepts(s, "snappy/literal", "A block of one literal, declared", block, value(), ("snappy.declared", "snappy.block"), "The message of a frame as Mozilla's SnappyEncoder writes it.", doc="heka.md §8 W10", **snappy)
    _rejects(s, "snappy/not-declared", "The same block, not declared", block, "bad-kind", 0, ("snappy.declared",), "Compression is declared, never guessed.", doc="heka.md §8 W10", also=("unknown-field", "type-mismatch", "missing-field"))
    _rejects(s, "snappy/inflates-to-another", "The plain message, declared as snappy", both, "bad-length", "0>2", ("snappy.declared", "uuid.size"), "It inflates to a uuid of 5 bytes.", doc="heka.md §8 W9", twin="snappy/literal", **snappy)
    _rejects(s, "snappy/cut", "A block that ends early", block[:-1], "decompress-failed", 0, ("snappy.block",), "Readers that sniff fall back to the bytes as they are.", doc="heka.md §5", twin="snappy/literal", also=("truncated",), **snappy)
    claim = vi(2**32 - 1) + b"\x00a"
    _rejects(s, "snappy/claims-4-gib", "A block of 7 bytes that claims 4 GiB", claim, "limit-exceeded", 0, ("snappy.block",), "Allocating what is claimed ends the process.", doc="heka.md §5", twin="snappy/literal", also=("decompress-failed",),
        **{**snappy, "flags": ["security", "resource"], "limits": {"ms": 1000, "rss_mb": 256}})


def _key_limits(s: HekaCaseBuilder) -> None:
    """§4, M31: a key is a varint of the shortest form."""
    why = "Readers that find fields by the bytes of their keys pass over such a field; others read it."
    for name, title, data, at in (("uuid", "The key of uuid in two bytes", b"\x8a\x00" + msg()[1:], 0), ("timestamp-three-bytes", "The key of timestamp in three bytes", sub(1, UUID) + b"\x90\x80\x00\x01", 18)):
        s.rejects(f"key/nonminimal-{name}", title, data, "bad-varint", at=at, twin="message/minimal", doc="heka.md §4 M31", why=why, rules=("heka.message.key.minimal",), also=("unknown-field", "bad-kind"), level="should")
    s.rejects("key/65-bits", "A key of 2^64", b"\x80" * 9 + b"\x02" + msg(), "bad-varint", at=0, twin="message/minimal", doc="heka.md §4 M29 to M31", why="Cut to 64 bits it is another field.", rules=("heka.message.key",),
         also=("bad-kind",), level="should")
    back = b"\x5b\x5a" + vi(2**64 - 11) + b"\x5c"
    s.rejects("length/back-in-a-group", "A group that holds bytes of a length of 2^64 - 11", msg(back), "truncated", at=32, twin="message/minimal", doc="heka.md §4 M23, M44", also=("length-past-end", "negative-length", "limit-exceeded", "unknown-field"), flags=["security"],
         why="As a signed number the length is -11, and leads back to the start of the field: gogo's Skip reads it for ever.", rules=("heka.message.length",))
    for size, number in ((2, 16), (3, 2048)):  # `may` as M20 to M24: Go and protobuf keep what C and Lua refuse; M21 has the very bytes of the first
        s.rejects(f"key/unknown-of-{size}-bytes", f"Field {number}, whose key takes {size} bytes", msg(num(number, 1)), "unknown-field", at=20, twin="message/minimal", doc="heka.md §4 M20", why="Its key is as short as it can be: what is wrong is the number.",
             rules=("heka.message.unknown",), level="may")


def _long_keys(s: HekaCaseBuilder) -> None:
    """§4, keys: at most 2^32 - 1 and five bytes, as the conformance tests of protobuf require since December 2025.

    The low 32 bits of each key are those of pid, of uuid, or of the value of a Field.
    """
    pid, more = 8 << 3, ("unknown-field", "bad-kind")
    shared = {"twin": "message/minimal", "doc": "heka.md §4, keys", "also": more}
    why = "Readers that take such a key differ: one finds the field that the key names, another one an unknown field."
    for size in range(6, 11):
        key = overlong(pid, size)
        s.rejects(f"key/overlong-{size}-bytes", f"The key of pid in {size} bytes", msg(key, b"\x01"), "bad-varint", at=20, why=why, rules=(R + "key.size",), **shared)
    s.rejects("key/overlong-11-bytes", "The key of pid in 11 bytes: no varint has so many", msg(overlong(pid, 11), b"\x01"), "bad-varint", at=20, why=why, rules=(R + "key.size", R + "varint.size"), **shared)
    cut = "Cut to 32 bits it is the key of pid; a reader that keeps 64 bits finds an unknown field, and another message."
    for bit in (32, 34, 35, 63):
        s.rejects(f"key/2-to-the-{bit}", f"A key of 2^{bit} and the key of pid", msg(vi(1 << bit | pid), b"\x01"), "bad-varint", at=20, why=cut, rules=(R + "key.largest",), **shared)
    uuid = vi(1 << 32 | 1 << 3 | 2) + msg()[1:]
    s.rejects("key/2-to-the-32-uuid", "A key of 2^32 and the key of uuid, in front of the uuid", uuid, "bad-varint", at=0, why="Cut to 32 bits it is the key of uuid; a reader that keeps 64 bits finds no uuid.", rules=(R + "key.largest",),
        **{**shared, "also": (*more, "missing-field")})
    for name, title, key, rule in (("overlong-6-bytes-in-field", "The key of a Field's value in six bytes", overlong(4 << 3 | 2, 6), "key.size"), ("2-to-the-32-in-field", "A key of 2^32 and the key of a Field's value", vi(1 << 32 | 4 << 3 | 2), "key.largest")):
        s.rejects(f"key/{name}", title, msg(fld(b"a", key + b"\x01b")), "bad-varint", at=25, why="A Field is read as a message is.", rules=(R + rule,), **shared)


def _int32_limits(s: HekaCaseBuilder) -> None:
    """§4, M14 to M19: which 64-bit varints are an int32."""
    why = "Readers cut what does not fit, each to another number."
    for name, number in (("2-32", 2**32), ("below-lowest", -(2**31) - 1), ("2-33", 2**33)):
        s.rejects(f"int32/{name}", f"A pid of {number}", msg(num(8, number)), "bad-varint", at=21, twin="int32/largest", doc="heka.md §4 M17", why=why, rules=("heka.message.int32.range",), level="may")
    five = vi(8 << 3) + vi(2**32 - 1)
    s.accepts("int32/pid-minus-one-five-bytes", "A pid of −1 in five bytes", msg(five), value(pid=-1), doc="heka.md §4 M15", why="The highest of the five-byte forms.", rules=("heka.message.int32.negative",), remarks=("int32-five-byte-negative",))


def _torn(s: HekaCaseBuilder) -> None:
    """§4, M42: the end inside a number, at positions that differ in one bit and in many."""
    for size, end in ((8, 32), (7, 31)):
        head = msg(sub(6, b"p" * size))
        s.rejects(f"length/number-torn-at-{end}", f"A pid whose number goes on behind byte {end - 1}, the last", head + b"\x40\x80", "truncated", at=end - 1, twin="message/minimal", doc="heka.md §4 M42", rules=("heka.message.length",),
             also=("length-past-end",), why="What is there is no number that is too long, it is one that is cut.")
    s.accepts("length/number-whole-at-32", "The same pid, whole", msg(sub(6, b"p" * 8)) + b"\x40\x7f", value(payload=b"p" * 8, pid=127), doc="heka.md §4", rules=("heka.message.length",), why="The accepted neighbour.")


def _reported(s: HekaCaseBuilder) -> None:
    s.accepts("timestamp/above-32-bits", "A timestamp above 32 bits", msg(timestamp=1428523950000000000), value(timestamp=1428523950000000000), doc="heka.md §7 bug 11", rules=("heka.message.presence",),
         why="lua_sandbox shifted the bytes of a varint in 32 bits.")
    s.rejects("length/63-bits", "A length of 2^63 − 1", msg() + b"\x32" + b"\xff" * 8 + b"\x7f", "truncated", at=30, twin="message/minimal", doc="heka.md §7 bug 13", rules=("heka.message.length",), also=("length-past-end", "limit-exceeded"), flags=["security"],
         why="mozilla-services/lua_sandbox #226: position plus length wrapped around, and passed for less than the end.")
    for name, title, chunk in (("unpacked", "not packed", b"\x39" + dbl(1.0)), ("packed", "packed", sub(7, dbl(1.0)))):
        s.accepts(f"double/one-{name}", f"1.0, {title}", msg(fld(b"a", num(2, 3), chunk)), value(fields=[field(b"a", "DOUBLE", doubles=[1.0])]), doc="heka.md §7 bug 15", rules=("heka.message.field.packed", "heka.message.field.double"),
             why="A single number: lua_sandbox wrote it in one form, Heka's own decoder took the other alone.")
