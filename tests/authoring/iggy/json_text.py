"""The JSON text and the base64 of `iggy.json.send`: RFC 8259, RFC 4648."""

from binascii import a2b_base64

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.iggy.case_builder import CaseBuilder
from tests.authoring.iggy.json_send import CAPTURE, TWIN, body, message, value
from tests.authoring.iggy.message_bytes import (
    HELLO,
    kind_value,
    polled40_value,
    sent_value,
    text,
)

EXTENSIONS = frozenset({
    "byte-order-mark", "comment", "control-character", "infinity", "lone-surrogate", "nan", "single-quotes", "trailing-comma",
})  # fmt: skip
"""What a parser may accept beyond the grammar: RFC 8259 §8.1, §8.2 and §9."""


def write(writer: FixtureWriter) -> None:
    s = CaseBuilder(writer, "iggy.json.send", "0.0.30")
    for chapter in (_text, _base64, _escapes, _base64_lengths):
        chapter(s)
    _letters(s, CaseBuilder(writer, "iggy.json.poll", "0.0.60"))


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
            level="should" if label in EXTENSIONS else "must",
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
    bare = {
        "refused": {
            "reject": {"class": "bad-json", "also": ["invalid-value", "type-mismatch", "bad-length"]}
        },
        "decoded": {"accept": {"value": value(sent_value(0, HELLO))}},
    }
    s.either(
        "base64/no-padding",
        "A payload of aGVsbG8",
        CAPTURE.replace(b"aGVsbG8=", b"aGVsbG8"),
        bare,
        doc=doc,
        rules=rule,
        why="RFC 4648 wants padding of writers; the server to 0.6 decodes text without it, later ones refuse it.",
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


def _escapes(s: CaseBuilder) -> None:
    doc = "iggy.md §8.1"
    balanced = value(sent_value(0, HELLO), partitioning=kind_value("balanced", b""))
    s.writes(
        "encode/balanced",
        "Balanced, written",
        balanced,
        doc=doc,
        rules=("iggy.json.send.partitioning",),
        why="Its value is the empty string.",
    )
    wrong = {**balanced, "partitioning": kind_value("balanced", b"\x01")}
    s.refuses(
        "encode/balanced-value",
        "Balanced, with a value",
        wrong,
        twin="encode/balanced",
        doc=doc,
        rules=("iggy.json.encode",),
        why="What the binary form refuses to write, this one refuses too.",
    )
    for name, title, inside in (
        ("name-true", "true in place of a name", b"true:1"),
        ("name-number", "A number in place of a name", b"1:1"),
        ("name-end", "The end of the object in place of a second name", b'"z":1,'),
    ):
        wrong_text = CAPTURE[:-1] + b"," + inside + b"}"
        s.rejects(
            f"text/{name}",
            title,
            wrong_text,
            "bad-json",
            at=len(wrong_text) - 1 if name == "name-end" else len(CAPTURE),
            twin=TWIN,
            doc="iggy.md §8; RFC 8259 §4",
            rules=("iggy.json.text",),
            why="Names are strings.",
        )


def _base64_lengths(s: CaseBuilder) -> None:
    """RFC 4648 §3.5: left-over bits, and letters that sort otherwise than they count. RFC 8259 §4."""
    for letters in ("A9==", "AA9=", "Az==", "A/=="):
        payload = a2b_base64(letters)
        s.accepts(
            f"base64/bits-left-over-{letters.rstrip('=').lower().replace('/', 'slash')}",
            f"A payload of {letters}",
            CAPTURE.replace(b"aGVsbG8=", letters.encode()),
            value(sent_value(0, payload)),
            doc="RFC 4648 §3.5",
            remarks=("iggy-base64-bits",),
            rules=("iggy.json.base64",),
            why="A strict reader refuses it, a common one drops the bits.",
        )
    here = CAPTURE.index(b'"id":0') + len(b'"id"')
    for label, title, changed, at in (
        ("colon-is-comma", "A comma in place of a colon", b'"id",0', here),
        ("colon-is-number", "A number in place of a colon", b'"id" 5 0', here + 1),
        ("colon-missing", "No colon", b'"id" 0', here + 1),
        ("colon-is-bracket", "A bracket in place of a colon", b'"id"[0', here),
    ):
        s.rejects(
            f"text/{label}",
            title,
            CAPTURE.replace(b'"id":0', changed),
            "bad-json",
            at=at,
            twin=TWIN,
            doc="iggy.md §8; RFC 8259 §4",
            rules=("iggy.json.text",),
            why="Between a name and its value stands a colon.",
        )


def _letters(sends: CaseBuilder, polls: CaseBuilder) -> None:
    """§8: standard base64; RFC 4648 §4, letters 62 and 63, in which the alphabet for URLs differs."""
    data, doc, why = (
        a2b_base64("+/+/"),
        "iggy.md §8; RFC 4648 §4",
        "Written in the alphabet for URLs, the server refuses it.",
    )
    rules = ("iggy.json.base64", "iggy.json.send.shape")
    sends.writes(
        "encode/base64-letters-payload",
        "A payload of letters 62 and 63, written",
        value(sent_value(0, data)),
        doc=doc,
        rules=rules,
        why=why,
    )
    sends.writes(
        "encode/base64-letters-header",
        "A header value of letters 62 and 63, written",
        value(sent_value(0, b"hello", (b"k", "raw", data))),
        doc=doc,
        rules=rules,
        why=why,
    )
    sends.writes(
        "encode/base64-letters-key",
        "A messages key of letters 62 and 63, written",
        value(sent_value(0, b"hello"), partitioning=kind_value("messages_key", data)),
        doc=doc,
        rules=rules,
        why=why,
    )
    page = {
        "partition_id": "1",
        "current_offset": "0",
        "messages": [polled40_value(0, data, (b"k", "raw", data))],
    }
    polls.writes(
        "encode/base64-letters",
        "A payload and a header value of letters 62 and 63, written",
        page,
        doc="iggy.md §8, §8.2; RFC 4648 §4",
        rules=("iggy.json.base64", "iggy.json.poll.shape"),
        why="Written in the alphabet for URLs, a client refuses it.",
    )
