"""`iggy.json.send` of 0.7 to 0.10 and `iggy.json.poll` of 0.7, 0.9 and 0.10: iggy.md §8, §11.1. JSON text in hex."""

# fmt: off

import json
from typing import Any

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.iggy.case_builder import CaseBuilder
from tests.authoring.iggy.headers_from_0_9 import KEY1, OPAQUE, Keyed, block, keyed_value
from tests.authoring.iggy.json_send import CAPTURE, PID7, PID7_VALUE
from tests.authoring.iggy.message_bytes import (
    ALL,
    HELLO,
    WORLD,
    Header,
    b64,
    json_headers,
    kind_value,
    map_value,
    text,
    tlv,
    u32,
)
from tests.authoring.iggy.message_bytes import KEY1 as OLD1
from tests.authoring.iggy.message_bytes_from_0_7 import OT, ST

SEND, POLL = "iggy.md §8.1", "iggy.md §8.2"
UUID = "00112233-4455-6677-8899-aabbccddeeff"
BIG = 1 << 64
TOP = (1 << 128) - 1

CAPTURE_90 = b'{"partitioning":{"kind":"partition_id","value":"BwAAAA=="},"messages":[{"payload":"aGVsbG8=","id":0}]}'
"""§8.1 [RUN-R09]: the order of the members is another."""
CAPTURE_110 = (
    b'{"partitioning":{"kind":"partition_id","value":"BwAAAA=="},"messages":[{"id":2,"payload":"d29ybGQ=","user_headers":[{"key":{"kind":"string","value":"a2V5LTE="},'
    b'"value":{"kind":"string","value":"VmFsdWUgMQ=="}},{"key":{"kind":"int32","value":"ewAAAA=="},"value":{"kind":"bool","value":"AQ=="}}]}]}'
)
"""§8.1 [RUN-R11]."""


def write(writer: FixtureWriter) -> None:
    for revision in ("0.7", "0.8", "0.9", "0.10"):
        _send(CaseBuilder(writer, "iggy.json.send", revision), revision)
    for revision in ("0.7", "0.9", "0.10"):
        _poll(CaseBuilder(writer, "iggy.json.poll", revision), revision)


def listed(*headers: Keyed) -> list[Any]:
    return [{"key": {"kind": a, "value": b64(b)}, "value": {"kind": c, "value": b64(d)}} for a, b, c, d in headers]


def _keyed(revision: str) -> bool:
    return revision in ("0.9", "0.10")


def _name(revision: str) -> str:
    return "user_headers" if _keyed(revision) else "headers"


# --- sends ---


def _body(*messages: Any, partitioning: Any = None) -> dict[str, Any]:
    return {"partitioning": PID7 if partitioning is None else partitioning, "messages": list(messages)}


def _value(*messages: Any, partitioning: Any = None) -> dict[str, Any]:
    return {"partitioning": PID7_VALUE if partitioning is None else partitioning, "messages": list(messages)}


def _row(number: int, payload: bytes, headers: Any = ()) -> dict[str, Any]:
    return {"id": str(number), "headers": list(headers) if isinstance(headers, tuple | list) else headers, "payload": payload.hex()}


def _message(number: Any, payload: bytes, **more: Any) -> dict[str, Any]:
    return {"id": number, "payload": b64(payload), **more}


def _send(s: CaseBuilder, revision: str) -> None:
    shape, ident, fields = ("iggy.json.send.shape",), ("iggy.json.id.later",), ("iggy.json.fields",)
    plain = "send/captured"
    one = _value(_row(0, HELLO))
    s.accepts(plain, "As captured from the Rust SDK", CAPTURE_90 if _keyed(revision) else CAPTURE, one, doc=SEND + (" [RUN-R09]" if _keyed(revision) else " [RUN-R08]"), origin="document", rules=(*shape, "iggy.json.types", "iggy.json.base64", "iggy.json.send.partitioning", "iggy.json.text"), why="Any order of the members is one value.")
    s.accepts("send/id-absent", "Without an id", text(_body({"payload": b64(HELLO)})), one, doc=SEND, rules=ident, why="0: the server mints one.")
    s.accepts("send/balanced", "Balanced", text(_body(_message(1, HELLO), partitioning={"kind": "balanced", "value": ""})), _value(_row(1, HELLO), partitioning=kind_value("balanced", b"")), doc=SEND, rules=("iggy.json.send.partitioning", *shape), why="An empty text is no bytes.")
    filled = text(_body(_message(1, HELLO), partitioning={"kind": "balanced", "value": b64(b"x")}))
    if _keyed(revision):
        s.rejects("send/balanced-value", "Balanced with a value", filled, "bad-length", at=filled.index(b'"eA=="'), also=("length-mismatch", "invalid-value"), twin="send/balanced", doc="iggy.md §2.2", level="should", rules=("iggy.json.send.partitioning",), why="8594d7d4c looks at the length of every kind in the binary form; JSON goes past it.")
    else:
        s.accepts("send/balanced-value", "Balanced with a value", filled, _value(_row(1, HELLO), partitioning=kind_value("balanced", b"x")), doc="iggy.md §2.2", remarks=("iggy-balanced-value",), rules=("iggy.json.send.partitioning",), why="Not looked at up to 8594d7d4c.")
    _ids(s, revision, plain, ident)
    _send_headers(s, revision, plain)
    empty, none = text(_body(_message(1, b""))), text(_body())
    s.rejects("send/payload-empty", "An empty payload", empty, "bad-length", at=empty.rindex(b'""'), also=("invalid-value", "missing-field"), twin=plain, doc=SEND, rules=("iggy.json.send.count",), why="The builder refuses it.")
    s.rejects("send/messages-none", "No messages", none, "count-mismatch", at=none.index(b"[]"), also=("missing-field", "bad-length"), twin=plain, doc=SEND, rules=("iggy.json.send.count",), why="InvalidMessagesCount.")
    s.rejects("send/payload-number", "A payload that is a number", text(_body({"id": 1, "payload": 5})), "type-mismatch", twin=plain, doc=SEND, rules=("iggy.json.types",), why="It is a text of base64.")
    s.rejects("send/no-payload", "Without a payload", text(_body({"id": 1})), "missing-field", twin=plain, doc=SEND, rules=fields, why="There is no default.")
    writes = ("iggy.json.send.shape",)
    s.writes("encode/plain", "One message", one, doc=SEND, rules=writes, why="Judged by decoding back.")
    s.writes("encode/id-63-bits", "Id 2^63 − 1", _value(_row((1 << 63) - 1, HELLO)), doc=SEND, rules=writes, why="As a double it is 2^63.")
    if revision == "0.7":
        s.refuses("encode/id-65-bits", "Id 2^64", _value(_row(BIG, HELLO)), twin="encode/plain", doc="iggy.md §11.1 R13", rules=("iggy.json.encode",), why="The server of 0.7.x takes it for 0, without a word.")
    else:
        for label, number in (("65-bits", BIG), ("max", TOP)):
            s.writes(f"encode/id-{label}", f"Id {number}", _value(_row(number, HELLO)), doc="iggy.md §8.1, §11.1 R14", rules=("iggy.json.id.text",), why="As a text: the Rust client panics, a number is an error.")
    shown = keyed_value(KEY1) if _keyed(revision) else map_value(OLD1)
    s.writes("encode/header", "A message with a header", _value(_row(1, HELLO, shown)), doc=SEND, rules=("iggy.json.headers.array",), why="An object to 0.8.x, an array from 0.9.0 on.")
    s.writes("encode/header-id-0", "The same, its id minted by the server", _value(_row(0, HELLO, shown)), doc=SEND, rules=("iggy.json.headers.array",), why="Java's client loses ids over HTTP (J7); what else it writes shows here.")


def _ids(s: CaseBuilder, revision: str, plain: str, ident: tuple[str, ...]) -> None:
    """§8.1: a number to 64 bits; from 0.8.0 on a text of up to 128, decimal or of a UUID."""
    for label, number in (("above-2-53", (1 << 53) + 1), ("64-bits", BIG - 1)):
        s.accepts(f"id/{label}", f"Id {number}", text(_body(_message(number, HELLO))), _value(_row(number, HELLO)), doc=SEND, rules=ident, why="As a double it is another.")
    wide, at = text(_body(_message(BIG, HELLO))), len(b'{"partitioning":{"kind":"partition_id","value":"BwAAAA=="},"messages":[{"id":')
    _no_number(s, revision, "65-bits", "A number of 2^64", wide, {"class": "invalid-value", "also": ["type-mismatch", "limit-exceeded"], "at": at}, twin="id/64-bits")
    for label, bad in (("negative", b"-1"), ("fraction", b"1.0"), ("exponent", b"1e0"), ("null", b"null"), ("object", b"{}")):
        _no_number(s, revision, label, f"An id of another type: {label}", text(_body(_message(7, HELLO))).replace(b'"id":7', b'"id":' + bad), {"class": "type-mismatch", "also": ["invalid-value"], "at": at}, twin=plain)
    texts = (("text-decimal", "5", 5), ("text-max", str(TOP), TOP), ("text-65-bits", str(BIG), BIG), ("text-zeros", "007", 7), ("uuid", UUID, int(UUID.replace("-", ""), 16)), ("uuid-bare", UUID.replace("-", ""), int(UUID.replace("-", ""), 16)), ("uuid-upper", UUID.upper(), int(UUID.replace("-", ""), 16)), ("text-32-digits", "1" * 32, int("1" * 32)))
    for label, said, number in texts:
        data = text(_body(_message(said, HELLO)))
        if revision == "0.7":
            _no_number(s, revision, label, f"An id as a text: {label}", data, {"class": "type-mismatch", "also": ["invalid-value"], "at": at}, twin=plain)
        else:
            s.accepts(f"id/{label}", f"An id as a text: {label}", data, _value(_row(number, HELLO)), doc="iggy.md §8.1, §11.2", rules=("iggy.json.id.text",), why="The digits of a UUID are those of the number, so that the wire shows them backwards; 32 decimal digits are decimal.")
    nested = text(_body({"header": {"id": 5}, "payload": b64(HELLO)}))
    s.accepts("id/nested-in-header", "An id inside a header, as Java once sent it", nested, _value(_row(0, HELLO)), doc="iggy.md §11.1 J7", remarks=("iggy-json-unknown-field",), rules=("iggy.json.fields",), why="The server ignores it and mints another.")
    if revision != "0.7":
        for label, bad in (("empty", ""), ("word", "not-a-valid-id"), ("129-bits", str(1 << 128)), ("31-digits", "f" * 31), ("33-digits", "f" * 33), ("minus-1", "-1"), ("blank", " 5")):
            s.rejects(f"id/text-{label}", f"A text that is no id: {label}", text(_body(_message(bad, HELLO))), "invalid-value", at=at, also=("type-mismatch", "bad-json"), twin="id/text-decimal", doc=SEND, rules=("iggy.json.id.text",), why="Neither decimal nor a UUID.")


def _no_number(s: CaseBuilder, revision: str, label: str, title: str, data: bytes, reject: dict[str, Any], *, twin: str) -> None:
    """Add an id that is no number of 64 bits: 0.7.x takes it for 0, later servers refuse it, §11.1 R13."""
    rules, doc = ("iggy.json.id.later",), "iggy.md §8.1, §11.1 R13"
    if revision == "0.7":
        behaviours = {"refused": {"reject": reject}, "zero": {"accept": {"value": _value(_row(0, HELLO))}}}
        s.either(f"id/{label}", title, data, behaviours, doc=doc, rules=rules, why="The server of 0.7.x takes it for 0, without a word.")
    else:
        s.rejects(f"id/{label}", title, data, reject["class"], at=reject["at"], also=tuple(reject["also"]), twin=twin, doc=doc, rules=rules, why="An id is a whole number of 64 bits, or a text.")


def _send_headers(s: CaseBuilder, revision: str, plain: str) -> None:
    name, forms, array, field = _name(revision), ("iggy.json.headers.forms",), ("iggy.json.headers.array",), ("iggy.json.headers.length",)
    head = text(_body(_message(1, HELLO, **{name: 0})))
    at = head.rindex(b":0") + 1

    def made(tree: Any) -> bytes:
        return text(_body(_message(1, HELLO, **{name: tree})))

    s.accepts("headers/null", "null", made(None), _value(_row(1, HELLO)), doc=SEND, rules=forms if _keyed(revision) else ("iggy.json.headers",), why="None.")
    if _keyed(revision):
        both = (KEY1, ("int32", u32(123), "bool", b"\1"))
        s.accepts("headers/captured", "Two headers as captured from iggy 0.11.0", CAPTURE_110, _value(_row(2, WORLD, keyed_value(*both))), doc=SEND + " [RUN-R11]", origin="document", rules=(*array, "iggy.json.headers.keyed"), why="A key is kind and value too.")
        rows = tuple(("string", *header) for header in ALL)
        s.accepts("headers/all", "All fifteen kinds", made(listed(*rows)), _value(_row(1, HELLO, keyed_value(*rows))), doc=SEND, rules=("iggy.json.headers.keyed", *field), why="Integers are base64 of their little-endian bytes.")
        s.accepts("headers/empty", "An empty array", made([]), _value(_row(1, HELLO)), doc=SEND, rules=array, why="None.")
        twice: tuple[Keyed, ...] = (("string", b"k", "string", b"a"), ("string", b"k", "string", b"b"))
        s.accepts("headers/duplicate", "One key twice", made(listed(*twice)), _value(_row(1, HELLO, keyed_value(*twice))), doc=POLL, remarks=("iggy-duplicate-header",), rules=("iggy.json.headers.keyed",), why="The last one wins in Rust.")
        s.rejects("headers/object", "The object of 0.8", made(json_headers(OLD1)), "type-mismatch", at=at, twin="headers/captured", doc="iggy.md §8.1, §11.1 R15", rules=forms, why="Accepted, its headers would be lost.")
        s.rejects("headers/kind-str", "A kind that there is none of", made([{"key": {"kind": "str", "value": "aw=="}, "value": {"kind": "raw", "value": "dg=="}}]), "bad-kind", at=made([{"key": {"kind": "str"}}]).rindex(b'"str"'), twin="headers/captured", doc=POLL, rules=("iggy.json.headers.kind",), why="Fifteen names.")
        s.rejects("headers/no-value", "An entry without a value", made([{"key": {"kind": "raw", "value": "aw=="}}]), "missing-field", twin="headers/captured", doc=SEND, rules=("iggy.json.fields",), why="There is no default.")
        for label, row in (("key-empty", ("string", b"", "raw", b"v")), ("value-empty", ("string", b"k", "raw", b"")), ("key-256-bytes", ("string", b"k" * 256, "raw", b"v"))):
            s.rejects(f"headers/{label}", f"A length of 0 or 256: {label}", made(listed(row)), "bad-length", also=("invalid-value",), twin="headers/all", doc="iggy.md §9", level="should", rules=field, why="InvalidHeaderKey or InvalidHeaderValue.")
    else:
        s.accepts("headers/one", "One header", made(json_headers(OLD1)), _value(_row(1, HELLO, map_value(OLD1))), doc=SEND, rules=(*array, *field, "iggy.json.headers.kind"), why="The form of the announcement.")
        upper: Header = (b"Trace-ID", "string", b"a")
        s.accepts("headers/upper-case-key", "An upper-case key", made(json_headers(upper)), _value(_row(1, HELLO, map_value(upper))), doc="iggy.md §11.1 R1", rules=("iggy.json.headers.case",), why="JSON does not lowercase.")
        s.rejects("headers/array", "The array of 0.9", made(listed(KEY1)), "type-mismatch", at=at, twin="headers/one", doc=SEND, rules=forms, why="A client of 0.9 at a server of 0.8.")
        s.rejects("headers/value-empty", "A value of no bytes", made(json_headers((b"k", "raw", b""))), "bad-length", also=("invalid-value",), twin="headers/one", doc="iggy.md §9", level="should", rules=field, why="InvalidHeaderValue.")
    packed, opaque = block(KEY1) if _keyed(revision) else tlv(OLD1), made(b64(OPAQUE))
    if revision == "0.10":
        rule = ("iggy.json.headers.packed",)
        s.accepts("headers/encrypted", "A base64 text of an encrypted block", opaque, _value(_row(1, HELLO, OPAQUE.hex())), doc=SEND, remarks=("iggy-opaque-headers",), rules=rule, why="What encrypts headers cannot give a map.")
        s.accepts("headers/packed", "A base64 text of a block that is a map", made(b64(packed)), _value(_row(1, HELLO, keyed_value(KEY1))), doc=SEND, rules=rule, why="The bytes are those of the map.")
        s.rejects("headers/no-base64", "A text that is no base64", made("not base64"), "bad-json", at=at, also=("type-mismatch",), twin="headers/encrypted", doc=SEND, rules=("iggy.json.base64",), why="Nobody can tell its bytes.")
        s.writes("encode/encrypted", "An encrypted block", _value(_row(1, HELLO, OPAQUE.hex())), doc=SEND, rules=rule, why="As a text.")
    else:
        s.rejects("headers/packed", "A base64 text", made(b64(packed)), "type-mismatch", at=at, twin=plain, doc=SEND, rules=forms, why="What came with 0.10.0.")


# --- polls ---


def _poll(s: CaseBuilder, revision: str) -> None:  # noqa: C901 - a row of cases; what differs by edition stands where it differs
    keyed = _keyed(revision)
    one: Any = KEY1 if keyed else OLD1

    def tree(*headers: Any) -> Any:
        return listed(*headers) if keyed else json_headers(*headers)

    def told(*headers: Any) -> list[Any]:
        return keyed_value(*headers) if keyed else map_value(*headers)

    def size(*headers: Any) -> int:
        return len(block(*headers) if keyed else tlv(*headers))

    def row(offset: int, payload: bytes, *, length: int = 0, header: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
        fields = {"checksum": 7 + offset, "id": offset + 1, "offset": offset, "timestamp": ST, "origin_timestamp": OT + offset, "user_headers_length": length, "payload_length": len(payload)}
        fields |= {"reserved": 0} if keyed else {}
        return {"header": {**fields, **(header or {})}, "payload": b64(payload), **more}

    def shown(offset: int, payload: bytes, headers: Any = (), /, **more: int) -> dict[str, Any]:
        fields = {"checksum": 7 + offset, "id": offset + 1, "offset": offset, "timestamp": ST, "origin_timestamp": OT + offset, **more}
        return {**{name: str(number) for name, number in fields.items()}, "headers": list(headers) if isinstance(headers, tuple | list) else headers, "payload": payload.hex()}

    def page(*rows: Any, count: int | None = None, **more: Any) -> bytes:
        return text({"partition_id": 1, "current_offset": 1, "count": len(rows) if count is None else count, "messages": list(rows), **more})

    def value(*rows: Any) -> dict[str, Any]:
        return {"partition_id": "1", "current_offset": "1", "messages": list(rows)}

    shape, forms, fields, ident = ("iggy.json.poll.headed.shape",), ("iggy.json.poll.headed.forms",), ("iggy.json.poll.fields",), ("iggy.json.poll.headed.id",)
    plain, header = "messages/one", size(one)
    s.accepts(plain, "One message without headers", page(row(0, HELLO)), value(shown(0, HELLO)), doc=POLL, rules=(*shape, *forms, *fields, "iggy.json.types"), why="Headers that are left out are none.")
    s.accepts("messages/two", "Two messages, the second with a header", page(row(0, HELLO), row(1, WORLD, length=header, user_headers=tree(one))), value(shown(0, HELLO), shown(1, WORLD, told(one))), doc=POLL, rules=(*shape, *forms), why="The fields of a message header are an object of their own.")
    s.accepts("messages/none", "No messages", page(), value(), doc=POLL, rules=shape, why="The consumer is up to date.")
    wide = {"checksum": (1 << 64) - 1, "offset": (1 << 63) + 1, "timestamp": 0x0102030405060708, "origin_timestamp": (1 << 53) + 1}
    s.accepts("messages/wide", "Numbers beyond what a double holds", page(row(0, HELLO, header=wide)), value(shown(0, HELLO, **wide)), doc=POLL, rules=(*shape, *ident), why="Bare numbers of 64 bits.")
    for label, number in (("above-2-53", (1 << 53) + 1), ("65-bits", BIG), ("max", TOP)):
        s.accepts(f"id/{label}", f"Id {number}", page(row(0, HELLO, header={"id": number})), value(shown(0, HELLO, id=number)), doc=POLL, rules=ident, why="A bare number of 128 bits, also above 2^64.")
    texted = page(row(0, HELLO, header={"id": "1"}))
    s.rejects("id/text", "An id as a text", texted, "type-mismatch", at=texted.index(b'"id":') + 5, twin="id/max", doc=POLL, rules=ident, why="Every released client refuses it.")
    s.accepts("messages/empty-payload", "An empty payload", page(row(0, b"")), value(shown(0, b"")), doc=POLL, rules=shape, why="Delivered as in the binary form.")
    s.accepts("messages/unordered", "Offset 1 before offset 0", page(row(1, WORLD), row(0, HELLO)), value(shown(1, WORLD), shown(0, HELLO)), doc=POLL, rules=shape, why="Nobody sorts.")
    for number in (0, 9):
        s.accepts(f"messages/count-{number}", f"Count {number} for two", page(row(0, HELLO), row(1, WORLD), count=number), value(shown(0, HELLO), shown(1, WORLD)), doc=POLL, remarks=("iggy-message-count",), rules=("iggy.json.poll.headed.lengths",), why="The array tells how many there are.")
    for name in ("user_headers_length", "payload_length"):
        s.accepts(f"messages/{name.replace('_', '-')}-9", f"{name} of 9", page(row(0, HELLO, header={name: 9})), value(shown(0, HELLO)), doc=POLL, remarks=("iggy-json-length",), rules=("iggy.json.poll.headed.lengths",), why="The text tells how long it is.")
    s.accepts("messages/unknown-field", "A member that nobody knows", page(row(0, HELLO, x=1)), value(shown(0, HELLO)), doc=POLL, remarks=("iggy-json-unknown-field",), rules=fields, why="A later server may add one.")
    _poll_headers(s, revision, row, shown, page, value, forms)
    for label, data in (("header", page({"payload": b64(HELLO)})), ("payload", page({"header": row(0, HELLO)["header"]})), ("offset", page(row(0, HELLO)).replace(b'"offset":0,', b""))):
        s.rejects(f"messages/no-{label}", f"Without {label}", data, "missing-field", twin=plain, doc=POLL, rules=("iggy.json.poll.offset",) if keyed and label == "offset" else fields, why="There is no default.")
    old = text({"partition_id": 1, "current_offset": 0, "messages": [{"offset": 0, "state": "available", "timestamp": ST, "id": 1, "checksum": 7, "headers": None, "payload": b64(HELLO)}]})
    s.rejects("editions/0-6", "A response of 0.6", old, "missing-field", at=0, also=("unknown-field", "type-mismatch"), twin=plain, doc="iggy.md §8.2", rules=fields, why="Neither a count nor a header.")
    lean = json.loads(page(row(0, HELLO)))
    lean["messages"][0]["header"].pop("reserved", None)
    if keyed:
        reserved = ("iggy.json.poll.headed.reserved",)
        data = text(lean)
        s.rejects("editions/0-8", "A response of 0.8: no reserved", data, "missing-field", at=data.index(b'{"checksum"'), twin=plain, doc="iggy.md §8.2, §11.1 R16", rules=("iggy.json.poll.headed.editions",), why="A client of 0.9 cannot read a server of 0.8.")
        s.accepts("messages/reserved-1", "reserved is 1", page(row(0, HELLO, header={"reserved": 1})), value(shown(0, HELLO)), doc="iggy.md §8.2, §11.1 R16", remarks=("iggy-json-reserved",), rules=reserved, why="Refused in the binary form, and not looked at here.")
        s.accepts("messages/reserved-0", "reserved is 0", page(row(0, HELLO)), value(shown(0, HELLO)), doc=POLL, rules=reserved, why="What every server writes.")
    else:
        s.accepts("messages/reserved-1", "reserved is 1, as of 0.9", page(row(0, HELLO, header={"reserved": 1})), value(shown(0, HELLO)), doc="iggy.md §8.2", remarks=("iggy-json-unknown-field",), rules=fields, why="0.8.0 ignores it.")
    s.writes("encode/two", "Two messages, the second with a header", value(shown(0, HELLO), shown(1, WORLD, told(one))), doc=POLL, rules=shape, why="Judged by decoding back.")
    s.writes("encode/none", "No messages", value(), doc=POLL, rules=shape, why="An empty array.")
    s.writes("encode/empty-payload", "An empty payload", value(shown(0, b"")), doc=POLL, rules=shape, why="An empty text, and no null.")
    s.refuses("encode/offset-65-bits", "An offset of 65 bits", value(shown(0, HELLO, offset=BIG)), twin="encode/two", doc=POLL, rules=("iggy.json.encode",), why="No client reads it.")


def _poll_headers(s: CaseBuilder, revision: str, row: Any, shown: Any, page: Any, value: Any, forms: tuple[str, ...]) -> None:
    """§8.2: what released Rust clients accept."""
    def refused(label: str, tree: Any, level: str = "must") -> None:
        data = page(row(0, HELLO, user_headers=tree))
        s.rejects(f"headers/{label}", f"user_headers as {label}", data, "type-mismatch", at=data.index(b'"user_headers":') + 15, twin="messages/two", doc=POLL + ", §11.1 R15", level=level, rules=forms, why="A form of another edition: accepted, headers would be lost.")

    def accepted(label: str, tree: Any, headers: Any, length: int = 0, remarks: tuple[str, ...] = (), level: str = "must") -> None:
        s.accepts(f"headers/{label}", f"user_headers as {label}", page(row(0, HELLO, length=length, user_headers=tree)), value(shown(0, HELLO, headers)), doc=POLL, remarks=remarks, level=level, rules=forms, why="What the client of this edition reads.")

    keyed, packed = _keyed(revision), block(KEY1)
    if keyed:
        accepted("array", listed(KEY1), keyed_value(KEY1), len(packed))
        accepted("empty-array", [], ())
        # From 0.10.0 on Rust accepts the object and loses the headers; C# refuses it.
        refused("object", json_headers(OLD1), "should" if revision == "0.10" else "must")
        twice: tuple[Keyed, ...] = (("string", b"k", "string", b"a"), ("string", b"k", "string", b"b"))
        accepted("duplicate", listed(*twice), keyed_value(*twice), len(block(*twice)), ("iggy-duplicate-header",))
        short: Keyed = ("string", b"k", "int32", b"\1\2\3")
        accepted("int32-3-bytes", listed(short), keyed_value(short), len(block(short)), ("iggy-header-size",), "should")
        data = page(row(0, HELLO, user_headers=[{"key": {"kind": "str", "value": "aw=="}, "value": {"kind": "raw", "value": "dg=="}}]))
        s.rejects("headers/kind-str", "A kind that there is none of", data, "bad-kind", at=data.index(b'"str"'), twin="messages/two", doc=POLL, rules=("iggy.json.headers.kind",), why="Every released client refuses it.")
        data = page(row(0, HELLO, user_headers=listed(("string", b"k", "raw", b""))))
        s.rejects("headers/value-empty", "A value of no bytes", data, "bad-length", at=data.rindex(b'""'), twin="messages/two", doc=POLL, level="should", rules=("iggy.json.headers.length",), why="Released clients deliver the message and no headers.")
    else:
        accepted("object", json_headers(OLD1), map_value(OLD1), len(tlv(OLD1)))
        refused("array", listed(KEY1))
        refused("empty-array", [])
    if revision == "0.10":
        accepted("null", None, ())
        accepted("packed", b64(packed), keyed_value(KEY1), len(packed))
        accepted("encrypted", b64(OPAQUE), OPAQUE.hex(), len(OPAQUE), ("iggy-opaque-headers",))
    else:
        data = page(row(0, HELLO, user_headers=None))
        behaviours = {"refused": {"reject": {"class": "type-mismatch", "at": data.index(b'"user_headers":') + 15}}, "none": {"accept": {"value": value(shown(0, HELLO))}}}
        s.either("headers/null", "user_headers as null", data, behaviours, doc=POLL + ", §11.1 R15", rules=forms, why="Rust refuses it to 0.9, C# takes it for none.")
        refused("packed", b64(packed))
