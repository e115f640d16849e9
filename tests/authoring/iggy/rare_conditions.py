"""Cases of Iggy that stand alone at a corner: iggy.md §3.1, §3.3, §8, §9; RFC 8259; RFC 4648."""

# fmt: off

from binascii import a2b_base64

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.iggy.case_builder import CaseBuilder
from tests.authoring.iggy.json_send import CAPTURE, TWIN
from tests.authoring.iggy.json_send import value as json_value
from tests.authoring.iggy.message_bytes import (
    PLACE,
    kind_value,
    map_value,
    name,
    numeric,
    polled30,
    polled30_value,
    polled40_value,
    sent,
    sent_value,
    tagged,
    tlv,
    u32,
)
from tests.authoring.iggy.send import send, value


def write(writer: FixtureWriter) -> None:
    _json(CaseBuilder(writer, "iggy.json.send", "0.0.30"))
    _limits(CaseBuilder(writer, "iggy.send", "0.0.30"))
    _poll(CaseBuilder(writer, "iggy.poll", "0.0.30"))
    _places(CaseBuilder(writer, "iggy.send", "0.0.30"))
    _zero_bytes(CaseBuilder(writer, "iggy.headers", "0.0.30"), CaseBuilder(writer, "iggy.json.send", "0.0.30"))
    _letters(CaseBuilder(writer, "iggy.json.send", "0.0.30"), CaseBuilder(writer, "iggy.json.poll", "0.0.60"))


def _json(s: CaseBuilder) -> None:
    """RFC 4648 §3.5: left-over bits, and letters that sort otherwise than they count. RFC 8259 §4."""
    for letters in ("A9==", "AA9=", "Az==", "A/=="):
        payload = a2b_base64(letters)
        s.accepts(f"base64/bits-left-over-{letters.rstrip('=').lower().replace('/', 'slash')}", f"A payload of {letters}", CAPTURE.replace(b"aGVsbG8=", letters.encode()), json_value(sent_value(0, payload)), doc="RFC 4648 §3.5",
             remarks=("iggy-base64-bits",), rules=("iggy.json.base64",), why="A strict reader refuses it, a common one drops the bits.")
    here = CAPTURE.index(b'"id":0') + len(b'"id"')
    for label, title, text, at in (
        ("colon-is-comma", "A comma in place of a colon", b'"id",0', here),
        ("colon-is-number", "A number in place of a colon", b'"id" 5 0', here + 1),
        ("colon-missing", "No colon", b'"id" 0', here + 1),
        ("colon-is-bracket", "A bracket in place of a colon", b'"id"[0', here),
    ):
        s.rejects(f"text/{label}", title, CAPTURE.replace(b'"id":0', text), "bad-json", at=at, twin=TWIN, doc="iggy.md §8; RFC 8259 §4", rules=("iggy.json.text",), why="Between a name and its value stands a colon.")


def _limits(s: CaseBuilder) -> None:
    """§9: one byte over the limit of 0.0.116; `iggy_send` holds the limit itself."""
    first = tuple((b"k%03d" % number, "raw", b"v" * 250) for number in range(200))
    last = (*first[1:], (b"m", "raw", b"v" * 251))
    s.accepts("limits/headers-100001", "100,001 bytes of header values in two messages", send(sent(1, b"hello", tlv(*first)), sent(2, b"hello", tlv(*last))),
         value(sent_value(1, b"hello", *first), sent_value(2, b"hello", *last)), doc="iggy.md §3.1, §9", rules=("iggy.send.limit.headers",), remarks=("iggy-lowered-limit",), profile="produce",
         why="A server since 0.0.116 refuses it, one of 0.0.30 does not.")


def _poll(s: CaseBuilder) -> None:
    """§3.3: more messages than one byte counts."""
    numbers = range(257)
    s.accepts("count/257", "257 messages", u32(257) + b"".join(polled30(number, b"p") for number in numbers), {"messages": [polled30_value(number, b"p") for number in numbers]}, doc="iggy.md §3.3",
         rules=("iggy.poll.count", "iggy.poll.layout"), why="The count has four bytes.")


def _places(s: CaseBuilder) -> None:
    """§2.2: a topic behind a stream of five bytes."""
    rest = send(sent(1, b"hello"))[len(PLACE) :]
    s.rejects("place/topic-kind-9-at-5", "Kind 9 of the topic, behind a stream of five bytes", name(b"abc") + tagged(9, b"sample") + rest, "bad-kind", at=5, twin="messages/one", doc="iggy.md §2.2", rules=("iggy.send.place",),
         why="Read as a name or a number, the messages go to another place.")
    s.rejects("place/topic-0-at-5", "Topic 0, behind a stream of five bytes", name(b"abc") + numeric(0) + rest, "invalid-value", at=7, also=("not-permitted", "other"), twin="messages/one", doc="iggy.md §2.2", rules=("iggy.send.place",),
         why="No topic has the number 0: up to 0.7.x the server refuses it.")


def _zero_bytes(block: CaseBuilder, json: CaseBuilder) -> None:
    """§2.4, §9: a length ends a key, and a zero byte is UTF-8 as any other."""
    doc, rules, why = "iggy.md §2.4, §9", ("iggy.headers.layout", "iggy.headers.key-length"), "Read as a string of C, the key ends too soon, and two keys become one."
    one, other = (b"k\0a", "raw", b"v"), (b"k\0b", "raw", b"w")
    block.accepts("bounds/key-zero-byte", "A key with a zero byte inside", tlv(one), {"headers": map_value(one)}, doc=doc, rules=rules, why=why)
    block.accepts("bounds/key-only-zero-byte", "A key of one zero byte", tlv((b"\0", "raw", b"v")), {"headers": map_value((b"\0", "raw", b"v"))}, doc=doc, rules=rules, why="It has one byte, and is not empty.")
    block.accepts("map/keys-alike-to-a-zero-byte", "Two keys that differ behind a zero byte", tlv(one, other), {"headers": map_value(one, other)}, doc=doc, rules=rules, why=why)
    block.writes("encode/key-zero-byte", "A key with a zero byte inside, written", {"headers": map_value(one)}, tlv(one), doc=doc, rules=rules, why=why)
    text = CAPTURE.replace(b'"payload"', b'"headers":{"k\\u0000a":{"kind":"raw","value":"dg=="}},"payload"', 1)
    json.accepts("headers/key-zero-byte", "A key with a zero byte inside, escaped", text, json_value(sent_value(0, b"hello", one)), doc="iggy.md §8.1; RFC 8259 §7", rules=("iggy.json.headers",), why=why)


def _letters(sends: CaseBuilder, polls: CaseBuilder) -> None:
    """§8: standard base64; RFC 4648 §4, letters 62 and 63, in which the alphabet for URLs differs."""
    data, doc, why = a2b_base64("+/+/"), "iggy.md §8; RFC 4648 §4", "Written in the alphabet for URLs, the server refuses it."
    rules = ("iggy.json.base64", "iggy.json.send.shape")
    sends.writes("encode/base64-letters-payload", "A payload of letters 62 and 63, written", json_value(sent_value(0, data)), doc=doc, rules=rules, why=why)
    sends.writes("encode/base64-letters-header", "A header value of letters 62 and 63, written", json_value(sent_value(0, b"hello", (b"k", "raw", data))), doc=doc, rules=rules, why=why)
    sends.writes("encode/base64-letters-key", "A messages key of letters 62 and 63, written", json_value(sent_value(0, b"hello"), partitioning=kind_value("messages_key", data)), doc=doc, rules=rules, why=why)
    page = {"partition_id": "1", "current_offset": "0", "messages": [polled40_value(0, data, (b"k", "raw", data))]}
    polls.writes("encode/base64-letters", "A payload and a header value of letters 62 and 63, written", page, doc="iggy.md §8, §8.2; RFC 4648 §4", rules=("iggy.json.base64", "iggy.json.poll.shape"), why="Written in the alphabet for URLs, a client refuses it.")
