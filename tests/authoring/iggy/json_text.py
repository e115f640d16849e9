"""The JSON text and the base64 of `iggy.json.send`: RFC 8259, RFC 4648."""

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.iggy.case_builder import CaseBuilder
from tests.authoring.iggy.json_send import CAPTURE, TWIN, body, message, value
from tests.authoring.iggy.message_bytes import HELLO, sent_value, text


def write(writer: FixtureWriter) -> None:
    s = CaseBuilder(writer, "iggy.json.send", "0.0.30")
    _text(s)
    _base64(s)


def _text(s: CaseBuilder) -> None:
    doc, rule = "RFC 8259", ("iggy.json.text",)
    one = value(sent_value(0, HELLO))
    spaced = b" \t\r\n" + CAPTURE.replace(b",", b" ,\n ").replace(b":", b"\t: ") + b" \n"
    s.accepts(
        "text/blanks",
        "Blanks between all tokens",
        spaced,
        one,
        doc=doc + " §2",
        rules=rule,
        why="Blanks mean nothing, at the end neither.",
    )
    s.accepts(
        "text/escaped-names",
        "A field name and a payload with escapes",
        CAPTURE.replace(b'"id"', b'"\\u0069d"').replace(b"aGVsbG8=", b"aGVsb\\u0047\\u0038="),
        one,
        doc=doc + " §7",
        rules=rule,
        why="An escaped letter is the letter.",
    )
    for label, data, cls in (
        ("empty", b"", "bad-json"),
        ("cut", CAPTURE[:-1], "bad-json"),
        ("trailing-value", CAPTURE + b"{}", "trailing-data"),
        ("trailing-comma", CAPTURE[:-1] + b",}", "bad-json"),
        ("nan", CAPTURE.replace(b'"id":0', b'"id":NaN'), "bad-json"),
        ("infinity", CAPTURE.replace(b'"id":0', b'"id":Infinity'), "bad-json"),
        ("single-quotes", CAPTURE.replace(b'"', b"'"), "bad-json"),
        ("comment", b"/**/" + CAPTURE, "bad-json"),
        ("byte-order-mark", b"\xef\xbb\xbf" + CAPTURE, "bad-json"),
        ("control-character", CAPTURE.replace(b"partition_id", b"partition\nid"), "bad-json"),
        ("bad-utf8", CAPTURE.replace(b"partition_id", b"partition\xffid"), "bad-utf8"),
        ("overlong-utf8", CAPTURE.replace(b"partition_id", b"partition\xc0\xafid"), "bad-utf8"),
        (
            "lone-surrogate",
            CAPTURE.replace(b'"id":0', b'"headers":{"\\ud83d":{"kind":"raw","value":"YQ=="}}'),
            "bad-utf8",
        ),
        ("bad-escape", CAPTURE.replace(b"partition_id", b"partition\\qid"), "bad-json"),
    ):
        s.rejects(
            f"text/{label}",
            f"No JSON: {label.replace('-', ' ')}",
            data,
            cls,
            also=("bad-json", "truncated", "trailing-data", "bad-utf8", "bad-kind"),
            twin=TWIN,
            doc=doc,
            rules=rule,
            why="Where readers of JSON differ, one message becomes two.",
        )
    deep = b'{"note":' + b"[" * 5000 + b"]" * 5000 + b"," + CAPTURE[1:]
    followed = {"accept": {"value": one, "consumed": len(deep), "remarks": ["iggy-json-unknown-field"]}}
    s.either(
        "text/deep",
        "Five thousand brackets in a field that nobody knows",
        deep,
        {
            "refused": {"reject": {"class": "bad-nesting", "also": ["bad-json", "limit-exceeded"]}},
            "ignored": followed,
        },
        doc="RFC 8259 §9",
        level="must",
        rules=("iggy.json.depth",),
        why="A parser that calls itself overflows its stack.",
    )


def _base64(s: CaseBuilder) -> None:
    doc, rule = "iggy.md §8", ("iggy.json.base64",)
    for size in (1, 2, 3):
        payload = b"\xfb\xff\xfe"[:size]
        s.accepts(
            f"base64/payload-{size}",
            f"A payload of {size} bytes",
            text(body(message(0, payload))),
            value(sent_value(0, payload)),
            doc=doc,
            rules=rule,
            why="Two, one and no padding; the letters + and / of the standard alphabet.",
        )
    for label, letters in (
        ("no-padding", "aGVsbG8"),
        ("url-alphabet", "-__-"),
        ("blank", "aGVs bG8="),
        ("newline", "aGVs\\nbG8="),
        ("padding-inside", "aGVs=bG8"),
        ("one-letter", "a"),
        ("too-much-padding", "aGVsbG8=="),
        ("no-letters", "===="),
        ("no-base64", "hello!!!"),
    ):
        s.rejects(
            f"base64/{label}",
            f"A payload of {letters}",
            CAPTURE.replace(b"aGVsbG8=", letters.encode()),
            "bad-json",
            also=("invalid-value", "type-mismatch", "bad-length"),
            twin="base64/payload-3",
            doc=doc,
            rules=rule,
            why="Standard base64 with padding and nothing else; a lax reader gives other bytes or none.",
        )
    s.accepts(
        "base64/bits-left-over",
        "The last letter holds bits that mean nothing",
        CAPTURE.replace(b"aGVsbG8=", b"aGVsbG9="),
        value(sent_value(0, HELLO)),
        doc="RFC 4648 §3.5",
        remarks=("iggy-base64-bits",),
        rules=rule,
        why="A strict reader refuses it, a common one drops the bits.",
    )
