"""Cases of Iggy on the brink, where a reader or writer that is off by one gives itself away: iggy.md §2, §3, §8."""

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.iggy.case_builder import CaseBuilder
from tests.authoring.iggy.json_send import CAPTURE, TWIN
from tests.authoring.iggy.json_send import value as json_value
from tests.authoring.iggy.message_bytes import (
    HELLO,
    PLACE,
    kind_value,
    numeric,
    sent,
    sent_value,
    tagged,
    tlv,
    u32,
)
from tests.authoring.iggy.send import send, value


def write(writer: FixtureWriter) -> None:
    _address(
        CaseBuilder(writer, "iggy.identifier", "0.0.30"), CaseBuilder(writer, "iggy.partitioning", "0.0.30")
    )
    _send(CaseBuilder(writer, "iggy.send", "0.0.30"))
    _json(CaseBuilder(writer, "iggy.json.send", "0.0.30"))


def _address(names: CaseBuilder, parts: CaseBuilder) -> None:
    names.rejects(
        "identifier/numeric-5-bytes",
        "A numeric of five bytes",
        tagged(1, u32(1) + b"\0"),
        "bad-length",
        at=1,
        also=("length-mismatch",),
        twin="identifier/numeric",
        doc="iggy.md §2.2",
        rules=("iggy.identifier.length",),
        why="A reader that takes four bytes all the same reads the fifth as the next kind.",
    )
    parts.accepts(
        "partitioning/key-of-1-byte",
        "A key of one byte, three bytes in all",
        tagged(3, b"k"),
        kind_value("messages_key", b"k"),
        doc="iggy.md §2.2",
        rules=("iggy.partitioning.layout", "iggy.partitioning.length"),
        why="Three bytes are what the server's reader wants to see.",
    )


def _send(s: CaseBuilder) -> None:
    kinds = (("stream", 0, tagged(9, u32(1)) + PLACE[6:]), ("topic", 6, numeric(1) + tagged(9, b"sample")))
    for name, at, place in kinds:
        s.rejects(
            f"place/{name}-kind-9",
            f"Kind 9 of the {name}",
            place + send(sent(1, HELLO))[len(PLACE) :],
            "bad-kind",
            at=at,
            twin="messages/one",
            doc="iggy.md §2.2",
            rules=("iggy.send.place",),
            why="Read as a name or a number, the messages go to another place.",
        )
    s.rejects(
        "place/topic-0",
        "Topic 0",
        numeric(1) + numeric(0) + send(sent(1, HELLO))[len(PLACE) :],
        "invalid-value",
        at=8,
        also=("not-permitted", "other"),
        twin="messages/one",
        doc="iggy.md §2.2",
        rules=("iggy.send.place",),
        why="No topic has the number 0: up to 0.7.x the server refuses it.",
    )
    first = tuple((b"k%03d" % number, "raw", b"v" * 250) for number in range(200))
    last = (*first, *((b"m%03d" % number, "raw", b"v" * 240) for number in range(10)))
    s.accepts(
        "limits/headers-102400",
        "102,400 bytes of header values in two messages",
        send(sent(1, HELLO, tlv(*last)), sent(2, HELLO, tlv(*first))),
        value(sent_value(1, HELLO, *last), sent_value(2, HELLO, *first)),
        doc="iggy.md §3.1, §9",
        rules=("iggy.send.limit.headers",),
        remarks=("iggy-lowered-limit",),
        profile="produce",
        why="100 KiB is what the server of 0.0.30 takes, to the byte.",
    )
    payload = b"p" * 200
    s.writes(
        "encode/payload-200",
        "A payload longer than all that stands before it",
        value(sent_value(1, payload)),
        send(sent(1, payload)),
        doc="iggy.md §3.1",
        rules=("iggy.send.layout",),
        why="The length is that of the payload alone.",
    )


def _json(s: CaseBuilder) -> None:
    doc, shape = "iggy.md §8.1", ("iggy.json.send.partitioning", "iggy.json.encode")
    balanced = json_value(sent_value(0, HELLO), partitioning=kind_value("balanced", b""))
    s.writes(
        "encode/balanced",
        "Balanced, written",
        balanced,
        doc=doc,
        rules=shape,
        why="Its value is the empty string.",
    )
    wrong = {**balanced, "partitioning": kind_value("balanced", b"\x01")}
    s.refuses(
        "encode/balanced-value",
        "Balanced, with a value",
        wrong,
        twin="encode/balanced",
        doc=doc,
        rules=shape,
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
