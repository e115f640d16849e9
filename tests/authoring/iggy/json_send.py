"""`iggy.json.send` of 0.0.30: iggy.md §8.1. The input is JSON text in hex."""

from typing import Any

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.iggy.case_builder import CaseBuilder
from tests.authoring.iggy.message_bytes import (
    BLOG,
    HELLO,
    WORLD,
    b64,
    json_headers,
    kind_value,
    sent_value,
    text,
    u32,
)

PID7 = {"kind": "partition_id", "value": b64(u32(7))}
PID7_VALUE = kind_value("partition_id", u32(7))
CAPTURE = (
    b'{"partitioning":{"kind":"partition_id","value":"BwAAAA=="},"messages":[{"id":0,"payload":"aGVsbG8="}]}'
)
"""iggy.md §8.1, captured from iggy 0.8.0."""

TWIN = "send/captured"


def body(*messages: Any, partitioning: Any = None) -> dict[str, Any]:
    return {"partitioning": PID7 if partitioning is None else partitioning, "messages": list(messages)}


def message(number: int, payload: bytes, **more: Any) -> dict[str, Any]:
    return {"id": number, "payload": b64(payload), **more}


def value(*messages: Any, partitioning: Any = None) -> dict[str, Any]:
    return {"partitioning": PID7_VALUE if partitioning is None else partitioning, "messages": list(messages)}


def write(writer: FixtureWriter) -> None:
    s = CaseBuilder(writer, "iggy.json.send", "0.0.30")
    _shape(s)
    _ids(s)
    _headers(s)
    _written(s)


def _shape(s: CaseBuilder) -> None:
    doc, shape, fields = "iggy.md §8.1", ("iggy.json.send.shape",), ("iggy.json.fields",)
    one = value(sent_value(0, HELLO))
    s.accepts(
        TWIN,
        "One message, as captured from the Rust client 0.8.0",
        CAPTURE,
        one,
        doc=doc + " [RUN-R08]",
        origin="document",
        rules=(
            *shape,
            "iggy.json.text",
            "iggy.json.base64",
            "iggy.json.types",
        ),
        why="The form did not change from 0.0.30 to 0.8.x.",
    )
    s.writer.cases[s.prefix + TWIN]["source"]["witnesses"] = [{"name": "iggy", "version": "0.8.0"}]
    s.accepts(
        "send/no-id",
        "No id",
        text(body({"payload": b64(HELLO)})),
        one,
        doc=doc,
        rules=fields,
        why="It defaults to 0, and the server mints one.",
    )
    s.accepts(
        "send/other-order",
        "Fields in another order",
        text(
            {
                "messages": [{"payload": b64(HELLO), "id": 0}],
                "partitioning": {"value": PID7["value"], "kind": "partition_id"},
            }
        ),
        one,
        doc=doc,
        rules=shape,
        why="iggy 0.9.0 writes them so; an object has no order.",
    )
    s.accepts(
        "send/balanced",
        "Balanced",
        text(body(message(0, HELLO), partitioning={"kind": "balanced", "value": ""})),
        value(sent_value(0, HELLO), partitioning=kind_value("balanced", b"")),
        doc=doc,
        rules=("iggy.json.send.partitioning",),
        why="The value is the empty string, not absent.",
    )
    s.accepts(
        "send/messages-key",
        "By key",
        text(body(message(0, HELLO), partitioning={"kind": "messages_key", "value": b64(b"order-7")})),
        value(sent_value(0, HELLO), partitioning=kind_value("messages_key", b"order-7")),
        doc=doc,
        rules=("iggy.json.send.partitioning",),
        why="The key is base64 like all bytes.",
    )
    s.accepts(
        "send/two",
        "Two messages",
        text(body(message(1, HELLO), message(2, WORLD))),
        value(sent_value(1, HELLO), sent_value(2, WORLD)),
        doc=doc,
        rules=shape,
        why="In order.",
    )
    s.accepts(
        "send/unknown-field",
        "A field that nobody knows",
        text({**body(message(0, HELLO)), "note": {"a": [1, None, True]}}),
        one,
        doc=doc,
        remarks=("iggy-json-unknown-field",),
        rules=(*fields, "iggy.json.depth"),
        why="The server ignores it; so do misspelt headers get lost.",
    )
    for label, tree in (
        ("partitioning", {"messages": [message(0, HELLO)]}),
        ("messages", {"partitioning": PID7}),
        ("payload", body({"id": 0})),
        ("partitioning-value", body(message(0, HELLO), partitioning={"kind": "balanced"})),
    ):
        s.rejects(
            f"send/no-{label}",
            f"{label.replace('-', ' ')} is missing",
            text(tree),
            "missing-field",
            twin=TWIN,
            doc=doc,
            rules=fields,
            why="It has no default.",
        )
    s.rejects(
        "send/id-twice",
        "Two ids in one message",
        CAPTURE.replace(b'"id":0', b'"id":0,"id":1'),
        "duplicate-field",
        also=("bad-json",),
        twin=TWIN,
        doc=doc,
        rules=fields,
        why="Two readers that keep another of the two disagree on what was sent.",
    )
    s.rejects(
        "send/messages-none",
        "No messages",
        text(body()),
        "count-mismatch",
        also=("missing-field", "bad-length"),
        twin=TWIN,
        doc="iggy.md §3.1",
        rules=("iggy.json.send.count",),
        why="InvalidMessagesCount, as in the binary form.",
    )
    s.rejects(
        "send/payload-empty",
        "An empty payload",
        text(body(message(0, b""))),
        "bad-length",
        also=("invalid-value", "missing-field"),
        twin=TWIN,
        doc="iggy.md §3.1",
        rules=("iggy.json.send.count",),
        why="EmptyMessagePayload, as in the binary form.",
    )
    s.rejects(
        "send/kind-unknown",
        "A partitioning of kind random",
        text(body(message(0, HELLO), partitioning={"kind": "random", "value": ""})),
        "bad-kind",
        also=("bad-json", "type-mismatch"),
        twin=TWIN,
        doc=doc,
        rules=("iggy.json.send.partitioning",),
        why="There is none.",
    )
    s.rejects(
        "send/partition-id-3-bytes",
        "A partition id of three bytes",
        text(body(message(0, HELLO), partitioning={"kind": "partition_id", "value": b64(b"\x07\x00\x00")})),
        "bad-length",
        also=("length-mismatch",),
        twin=TWIN,
        doc="iggy.md §2.2",
        level="should",
        rules=("iggy.json.send.partitioning", "iggy.partitioning.length"),
        why="It is a u32; the server takes another length and fails later.",
    )
    for label, tree in (
        ("array", [PID7, [message(0, HELLO)]]),
        ("messages-object", {"partitioning": PID7, "messages": message(0, HELLO)}),
        ("payload-null", body({"id": 0, "payload": None})),
        ("payload-number", body({"id": 0, "payload": 1})),
        ("id-null", body({"id": None, "payload": b64(HELLO)})),
    ):
        s.rejects(
            f"types/{label}",
            f"Another JSON type: {label.replace('-', ' ')}",
            text(tree),
            "type-mismatch",
            also=("bad-json", "missing-field"),
            twin=TWIN,
            doc=doc,
            rules=("iggy.json.types",),
            why="A value of another type has no meaning here.",
        )


def _ids(s: CaseBuilder) -> None:
    doc, rule = "iggy.md §8.1", ("iggy.json.id",)
    for label, number in (
        ("above-2-53", (1 << 53) + 1),
        ("above-2-64", (1 << 64) + 1),
        ("max", (1 << 128) - 1),
    ):
        s.accepts(
            f"id/{label}",
            f"Id {number}",
            text(body(message(number, HELLO))),
            value(sent_value(number, HELLO)),
            doc=doc,
            rules=rule,
            why="A number read as a double, or into 64 bits, is another id; 0.7.x made it 0.",
        )
    for label, digits, cls in (
        ("2-128", str(1 << 128), "invalid-value"),
        ("of-1000-digits", "9" * 1000, "invalid-value"),
        ("negative", "-1", "type-mismatch"),
        ("fraction", "1.5", "type-mismatch"),
        ("exponent", "1e3", "type-mismatch"),
        ("text", '"1"', "type-mismatch"),
        ("leading-zero", "01", "bad-json"),
    ):
        s.rejects(
            f"id/{label}",
            f"Id {digits[:40]}",
            CAPTURE.replace(b'"id":0', b'"id":' + digits.encode()),
            cls,
            also=("invalid-value", "type-mismatch", "bad-json", "limit-exceeded"),
            twin="id/max",
            doc=doc,
            rules=rule,
            limits={"ms": 1000},
            why="Ids are whole numbers of 128 bits; text and UUIDs come with 0.8.0.",
        )


def _headers(s: CaseBuilder) -> None:
    doc, rule = "iggy.md §8.1", ("iggy.json.headers",)
    none = value(sent_value(0, HELLO))
    s.accepts(
        "headers/blog",
        "The three headers of the announcement",
        text(body(message(2, WORLD, headers=json_headers(*BLOG)))),
        value(sent_value(2, WORLD, *BLOG)),
        doc=doc,
        rules=(*rule, "iggy.json.headers.kind", "iggy.json.headers.length"),
        why="Numbers are base64 of their little-endian bytes.",
    )
    s.accepts(
        "headers/null",
        "headers: null",
        text(body(message(0, HELLO, headers=None))),
        none,
        doc=doc,
        rules=rule,
        why="None.",
    )
    s.accepts(
        "headers/empty",
        "headers: {}",
        text(body(message(0, HELLO, headers={}))),
        none,
        doc=doc,
        rules=rule,
        why="None and an empty map are one.",
    )
    s.accepts(
        "headers/upper-case-key",
        "An upper-case key",
        text(body(message(0, HELLO, headers=json_headers((b"Trace-ID", "raw", b"\x00"))))),
        value(sent_value(0, HELLO, (b"Trace-ID", "raw", b"\x00"))),
        doc="iggy.md §11.1 R1",
        rules=("iggy.json.headers.case",),
        why="The JSON reader does not lowercase.",
    )
    s.accepts(
        "headers/two-cases",
        "K and k",
        text(body(message(0, HELLO, headers=json_headers((b"K", "raw", b"a"), (b"k", "raw", b"b"))))),
        value(sent_value(0, HELLO, (b"K", "raw", b"a"), (b"k", "raw", b"b"))),
        doc="iggy.md §11.1 R1",
        rules=("iggy.json.headers.case",),
        why="Lowercased, one of the two is lost.",
    )
    escaped = text(body(message(0, HELLO, headers=json_headers((b"k", "raw", b"a"))))).replace(
        b'"k":', b'"\\u00e9\\ud83d\\ude00":'
    )
    s.accepts(
        "headers/escaped-key",
        "A key of two escaped characters",
        escaped,
        value(sent_value(0, HELLO, ("é😀".encode(), "raw", b"a"))),
        doc="RFC 8259 §7",
        rules=rule,
        why="A surrogate pair is one character of four bytes.",
    )
    twice = text(
        body(message(0, HELLO, headers=json_headers((b"k", "raw", b"a"), (b"j", "raw", b"b"))))
    ).replace(b'"j":', b'"k":')
    s.accepts(
        "headers/duplicate-key",
        "One key twice",
        twice,
        value(sent_value(0, HELLO, (b"k", "raw", b"a"), (b"k", "raw", b"b"))),
        doc="iggy.md §10.1",
        remarks=("iggy-duplicate-header",),
        rules=rule,
        why="The server's map keeps the last.",
    )
    odd = (b"k", "int32", b"\x01\x02\x03")
    s.accepts(
        "headers/int32-3-bytes",
        "An int32 of three bytes",
        text(body(message(0, HELLO, headers=json_headers(odd)))),
        value(sent_value(0, HELLO, odd)),
        doc="iggy.md §8.2",
        remarks=("iggy-header-size",),
        rules=rule,
        why="JSON passes the constructors by.",
    )
    kinds = ("iggy.json.headers.kind",)
    for kind in ("str", "String", "float", ""):
        tree = body(message(0, HELLO, headers={"k": {"kind": kind, "value": b64(b"a")}}))
        s.rejects(
            f"headers/kind-{kind.lower() + ('-title' if kind == 'String' else '') or 'empty'}",
            f"Kind {kind!r}",
            text(tree),
            "bad-kind",
            also=("bad-json", "type-mismatch"),
            twin="headers/blog",
            doc="iggy.md §8.2",
            rules=kinds,
            why="The names are a closed list, in lower case.",
        )
    for label, key, held in (
        ("value-empty", "k", b""),
        ("value-256-bytes", "k", b"v" * 256),
        ("key-empty", "", b"v"),
        ("key-256-bytes", "k" * 256, b"v"),
    ):
        tree = body(message(0, HELLO, headers={key: {"kind": "raw", "value": b64(held)}}))
        s.rejects(
            f"headers/{label}",
            f"A header with {label.replace('-', ' ')}",
            text(tree),
            "bad-length",
            also=("invalid-value",),
            twin="headers/blog",
            doc="iggy.md §8.2, §9",
            level="should",
            rules=("iggy.json.headers.length",),
            why="Stored so, the message makes every binary poll of its partition fail.",
        )


def _written(s: CaseBuilder) -> None:
    doc, rule = "iggy.md §8.1", ("iggy.json.send.shape",)
    s.writes(
        "encode/captured",
        "One message, as the Rust client 0.8.0 writes it",
        value(sent_value(0, HELLO)),
        doc=doc,
        rules=rule,
        why="Judged by decoding back: field order and blanks are free.",
    )
    s.writes(
        "encode/headers",
        "A message with the three headers",
        value(sent_value(2, WORLD, *BLOG)),
        doc=doc,
        rules=rule,
        why="Judged by decoding back.",
    )
    s.writes(
        "encode/id-max",
        "Id 2^128 − 1",
        value(sent_value((1 << 128) - 1, HELLO)),
        doc=doc,
        rules=("iggy.json.id",),
        why="The Rust HTTP client of 0.8.0 panics.",
    )
    for label, bad in (
        ("none", value()),
        ("payload-empty", value(sent_value(0, b""))),
        ("id-129-bits", value(sent_value(1 << 128, HELLO))),
        ("bool-is-2", value(sent_value(0, HELLO, (b"k", "bool", b"\x02")))),
        ("key-bad-utf8", value(sent_value(0, HELLO, (b"\xff", "raw", b"a")))),
        ("key-empty", value(sent_value(0, HELLO), partitioning=kind_value("messages_key", b""))),
    ):
        s.refuses(
            f"encode/{label}",
            f"A send that no server takes: {label.replace('-', ' ')}",
            bad,
            twin="encode/captured",
            doc=doc,
            rules=("iggy.json.encode",),
            also=("bad-length", "bad-utf8", "count-mismatch", "type-mismatch"),
            why="What the binary form refuses, this one refuses too.",
        )
