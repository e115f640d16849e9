"""`iggy.json.reply` and `iggy.json.error`: iggy.md §8.1, §8.3. JSON text in hex."""

# fmt: off

from typing import Any

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.iggy.case_builder import CaseBuilder
from tests.authoring.iggy.message_bytes import text

NAMES = ("stream_id", "topic_id", "partition_id", "base_offset")
WIDE = (0xFFFFFFFF, 0x81020304, 0x82030405, (1 << 64) - 1)


def write(writer: FixtureWriter) -> None:
    """Add the replies of each revision."""
    _confirmations(CaseBuilder(writer, "iggy.json.reply", "0.11"))
    for revision in ("0.0.30", "0.0.40"):
        _errors(CaseBuilder(writer, "iggy.json.error", revision), later=revision != "0.0.30")


# --- the reply to a send ---


def _row(*numbers: Any) -> dict[str, Any]:
    return dict(zip(NAMES, numbers, strict=True))


def _body(*rows: Any, **more: Any) -> bytes:
    return text({"confirmations": list(rows), **more})


def _value(*rows: tuple[int, ...]) -> dict[str, Any]:
    return {"confirmations": [_row(*map(str, row)) for row in rows]}


def _confirmations(s: CaseBuilder) -> None:
    doc, shape, fields, width, empty = "iggy.md §8.1", ("iggy.json.reply.shape",), ("iggy.json.reply.fields",), ("iggy.json.reply.range",), ("iggy.json.reply.empty",)
    one = "reply/one"
    s.accepts(one, "One confirmation", _body(_row(1, 2, 3, 4)), _value((1, 2, 3, 4)), doc=doc, rules=(*shape, *fields, "iggy.json.types"), why="A producer stores where its messages are.")
    s.accepts("reply/two", "Two partitions, with numbers of 32 and 64 bits", _body(_row(*WIDE), _row(0, 0, 0, (1 << 53) + 1)), _value(WIDE, (0, 0, 0, (1 << 53) + 1)), doc=doc, rules=(*shape, *width), why="As doubles the offsets are others.")
    s.accepts("reply/other-order", "Members in another order", text({"confirmations": [dict(reversed(_row(1, 2, 3, 4).items()))]}), _value((1, 2, 3, 4)), doc=doc, rules=shape, why="An object has no order.")
    s.accepts("reply/none", "No confirmations", _body(), _value(), doc=doc, rules=empty, why="The messages are stored, and the server does not say where: they must not be sent again.")
    s.accepts("reply/empty", "An empty body", b"", _value(), doc=doc, rules=empty, why="A server of 0.10 answers so; read as an error, the messages are sent again.")
    s.accepts("reply/unknown-member", "A member that nobody knows", _body({**_row(1, 2, 3, 4), "epoch": 7}), _value((1, 2, 3, 4)), doc=doc, remarks=("iggy-json-unknown-field",), rules=shape, why="Later servers may say more.")
    for name in NAMES:
        row = {key: number for key, number in _row(1, 2, 3, 4).items() if key != name}
        s.rejects(f"reply/no-{name.replace('_', '-')}", f"Without {name}", _body(row), "missing-field", at=len(b'{"confirmations":['), also=("type-mismatch", "bad-json"), twin=one, doc=doc, rules=fields, why="0 is another place.")
    s.rejects("reply/no-confirmations", "Without the array", text({}), "missing-field", at=0, also=("type-mismatch", "bad-json"), twin="reply/none", doc=doc, level="should", rules=shape, why="Another object, such as that of an error; Java may take it for none.")
    for name, at in (("stream_id", 1), ("topic_id", 2), ("partition_id", 3), ("base_offset", 4)):
        wrong = {**_row(1, 2, 3, 4), name: "1"}
        data = _body(wrong)
        s.rejects(f"reply/{name.replace('_', '-')}-text", f"A {name} that is text", data, "type-mismatch", at=data.index(b'"1"'), also=("bad-json", "invalid-value"), twin=one, doc=doc, level="should", rules=("iggy.json.types",), why="Rust refuses it; Java may take the number in it.")
        for label, number in (("negative", -1), ("too-wide", 1 << (64 if at == 4 else 32))):
            data = _body({**_row(1, 2, 3, 4), name: number})
            s.rejects(f"reply/{name.replace('_', '-')}-{label}", f"{name} of {number}", data, "type-mismatch" if number < 0 else "invalid-value", at=data.index(str(number).encode()), also=("invalid-value", "type-mismatch", "bad-json", "limit-exceeded"), twin="reply/two", doc=doc, rules=width, why="Cut to its width it is another place.")
    s.rejects("reply/cut", "The last byte is missing", _body(_row(1, 2, 3, 4))[:-1], "bad-json", also=("truncated",), twin=one, doc=doc, rules=("iggy.json.text",), why="A reply that is not whole.")
    s.rejects("reply/array", "The array without its object", text([_row(1, 2, 3, 4)]), "type-mismatch", at=0, also=("bad-json", "missing-field"), twin=one, doc=doc, level="should", rules=shape, why="Serde reads a struct from an array too, but this one has an object in the place of the array.")
    s.writes("encode/one", "One confirmation", _value((1, 2, 3, 4)), doc=doc, rules=shape, why="Judged by decoding back.")
    s.writes("encode/two", "Two partitions, with numbers of 32 and 64 bits", _value(WIDE, (0, 0, 0, 1)), doc=doc, rules=shape, why="All bits are kept.")
    s.writes("encode/none", "None", _value(), doc=doc, rules=empty, why="An empty array.")
    s.refuses("encode/stream-33-bits", "A stream of 33 bits", _value((1 << 32, 2, 3, 4)), twin="encode/one", doc=doc, rules=("iggy.json.reply.encode",), why="Cut, it is another.")


# --- errors ---

FOUND = {"id": 1009, "code": "stream_id_not_found", "reason": "Stream with ID: 1 was not found."}
STATUS = {"id": 404, "code": "not_found", "reason": "Resource not found"}
BEYOND = {"id": (1 << 32) - 1, "code": "é", "reason": 'a "quoted" \\ line\n and \U0001f600\0'}


def _error(tree: dict[str, Any], *, later: bool, field: str | None = None) -> dict[str, Any]:
    """Return the body of an error, with a field if the revision has it."""
    return {**tree, "field": field} if later else dict(tree)


def _error_value(tree: dict[str, Any]) -> dict[str, Any]:
    return {name: str(part) if isinstance(part, int) else part if part is None else part.encode().hex() for name, part in tree.items()}


def _errors(s: CaseBuilder, *, later: bool) -> None:
    doc, shape, field, fields, ident = "iggy.md §8.3", ("iggy.json.error.shape",), ("iggy.json.error.field",), ("iggy.json.error.fields",), ("iggy.json.error.id",)
    found = _error(FOUND, later=later, field="stream_id")
    named = (*shape, *field) if later else shape
    s.accepts("error/found", "A stream that there is none of", text(found), _error_value(found), doc=doc, rules=(*named, "iggy.json.types"), why="The caller decides by the id, and shows the reason.")
    status = _error(STATUS, later=later)
    s.accepts("error/status", "An error of the HTTP layer", text(status), _error_value(status), doc=doc, rules=(*named, *ident), why="Its id is the HTTP status; it is no code of an error.")
    wide = _error(BEYOND, later=later, field="é" if later else None)
    s.accepts("error/text", "Texts beyond ASCII, and an id of 32 bits", text(wide), _error_value(wide), doc=doc, rules=(*shape, *ident, "iggy.json.text"), why="A reason has the name that the caller sent, whatever is in it.")
    empty = _error({"id": 0, "code": "", "reason": ""}, later=later, field="" if later else None)
    s.accepts("error/empty-texts", "Empty texts", text(empty), _error_value(empty), doc=doc, rules=(*shape, *fields), why="An empty text is not an absent one.")
    s.accepts("error/other-order", "Members in another order", text(dict(reversed(found.items()))), _error_value(found), doc=doc, rules=shape, why="An object has no order.")
    s.accepts("error/unknown-member", "A member that nobody knows", text({**found, "trace": [1]}), _error_value(found), doc=doc, remarks=("iggy-json-unknown-field",), rules=shape, why="Later servers may say more.")
    if later:
        s.accepts("error/no-field", "Without field", text(FOUND), _error_value({**FOUND, "field": None}), doc=doc, rules=field, why="Servers of 0.0.30 do not have it.")
    else:
        s.accepts("error/field", "With the field of 0.0.40", text({**FOUND, "field": "stream_id"}), _error_value(FOUND), doc=doc, remarks=("iggy-json-unknown-field",), rules=shape, why="A client of 0.0.30 at a later server.")
    for name in FOUND:
        s.rejects(f"error/no-{name}", f"Without {name}", text({key: part for key, part in found.items() if key != name}), "missing-field", at=0, also=("type-mismatch", "bad-json"), twin="error/found", doc=doc, rules=fields, why="Without it the caller does not know what happened.")
    for label, bad, cls in (("text", '"1009"', "type-mismatch"), ("negative", "-1", "type-mismatch"), ("33-bits", str(1 << 32), "invalid-value")):
        s.rejects(f"error/id-{label}", f"An id that is {bad}", text(found).replace(b"1009", bad.encode(), 1), cls, at=len(b'{"id":'), also=("type-mismatch", "invalid-value", "bad-json"), twin="error/found", doc=doc, rules=ident, why="It is no code of an error.")
    s.rejects("error/cut", "The last byte is missing", text(found)[:-1], "bad-json", also=("truncated",), twin="error/found", doc=doc, rules=("iggy.json.text",), why="A reply that is not whole.")
    s.writes("encode/found", "A stream that there is none of", _error_value(found), doc=doc, rules=shape, why="Judged by decoding back.")
    s.writes("encode/text", "Texts beyond ASCII", _error_value(wide), doc=doc, rules=shape, why="Quotes, control characters and characters of four bytes.")
    s.writes("encode/empty-texts", "Empty texts", _error_value(empty), doc=doc, rules=named, why="An empty text is not an absent one.")
    s.refuses("encode/id-33-bits", "An id of 33 bits", {**_error_value(found), "id": str(1 << 32)}, twin="encode/found", doc=doc, rules=("iggy.json.error.encode",), why="Cut, it is another.")
    s.refuses("encode/reason-no-text", "A reason that is not UTF-8", {**_error_value(found), "reason": "ff"}, twin="encode/found", doc=doc, rules=("iggy.json.error.encode",), also=("bad-utf8",), why="JSON has no place for it.")
