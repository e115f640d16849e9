"""`iggy.send/0.0.30`, sizes and lengths at and near their limits: iggy.md §3.1, §9."""

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.iggy.case_builder import CaseBuilder
from tests.authoring.iggy.message_bytes import (
    HELLO,
    PLACE,
    name,
    numeric,
    sent,
    sent_value,
    tagged,
    tlv,
    u32,
)
from tests.authoring.iggy.send import send, value


def write(writer: FixtureWriter) -> None:
    s = CaseBuilder(writer, "iggy.send", "0.0.30")
    for chapter in (_sizes, _lengths, _limits, _places):
        chapter(s)


def _sizes(s: CaseBuilder) -> None:
    for size in (2561, 6000):
        payload = b"p" * size
        s.accepts(
            f"limits/payload-{size}",
            f"A payload of {size} bytes",
            send(sent(1, payload)),
            value(sent_value(1, payload)),
            doc="iggy.md §3.1, §9",
            rules=("iggy.send.layout",),
            why="The limit is ten mebibytes: nothing near this may be refused.",
        )
    many = tuple((b"k%03d" % number, "raw", b"v") for number in range(300))
    s.accepts(
        "headers/three-hundred",
        "Three hundred headers",
        send(sent(1, HELLO, tlv(*many))),
        value(sent_value(1, HELLO, *many)),
        doc="iggy.md §2.3",
        rules=("iggy.send.headers",),
        why="Their bytes are limited, their number is not.",
    )


def _lengths(s: CaseBuilder) -> None:
    kinds = (("stream", 0, tagged(9, u32(1)) + PLACE[6:]), ("topic", 6, numeric(1) + tagged(9, b"sample")))
    for part, at, place in kinds:
        s.rejects(
            f"place/{part}-kind-9",
            f"Kind 9 of the {part}",
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
        level="should",
        rules=("iggy.send.place", "iggy.identifier.zero"),
        why="No topic has the number 0: up to 0.7.x the constructor refuses it.",
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


def _limits(s: CaseBuilder) -> None:
    """§3.1, §9: the limits of 0.0.116 and of 0.0.30, and a byte over each."""
    first = tuple((b"k%03d" % number, "raw", b"v" * 250) for number in range(200))
    s.accepts(
        "limits/headers-100000",
        "100,000 bytes of header values in two messages",
        send(sent(1, b"hello", tlv(*first)), sent(2, b"hello", tlv(*first))),
        value(sent_value(1, b"hello", *first), sent_value(2, b"hello", *first)),
        doc="iggy.md §3.1, §9",
        rules=("iggy.send.limit.headers",),
        profile="produce",
        why="Keys and lengths do not count.",
    )
    over = (*first, *((b"m%03d" % n, "raw", b"v" * 240) for n in range(10)), (b"z", "raw", b"v"))
    s.rejects(
        "limits/headers-102401",
        "102,401 bytes of header values in two messages",
        send(sent(1, b"hello", tlv(*over)), sent(2, b"hello", tlv(*first))),
        "limit-exceeded",
        twin="limits/headers-100000",
        doc="iggy.md §3.1, §9",
        rules=("iggy.send.limit.headers",),
        profile="produce",
        why="The limit of 100 KB is one of the whole request, not of a message.",
    )
    last = (*first[1:], (b"m", "raw", b"v" * 251))
    s.accepts(
        "limits/headers-100001",
        "100,001 bytes of header values in two messages",
        send(sent(1, b"hello", tlv(*first)), sent(2, b"hello", tlv(*last))),
        value(sent_value(1, b"hello", *first), sent_value(2, b"hello", *last)),
        doc="iggy.md §3.1, §9",
        rules=("iggy.send.limit.headers",),
        remarks=("iggy-lowered-limit",),
        profile="produce",
        why="A server since 0.0.116 refuses it, one of 0.0.30 does not.",
    )
    within = (*((b"k%03d" % n, "raw", b"v" * 250) for n in range(380)), (b"last", "raw", b"v" * 47))
    s.accepts(
        "limits/headers-of-one-message-100000",
        "Headers of 100,000 bytes, keys and lengths included, in one message",
        send(sent(1, b"hello", tlv(*within))),
        value(sent_value(1, b"hello", *within)),
        doc="iggy.md §3.1, §9",
        rules=("iggy.send.limit.total",),
        profile="produce",
        why="The blog allows 100 KB of headers, however they are counted.",
    )
    beyond = (*((b"k%03d" % n, "raw", b"v" * 250) for n in range(409)), (b"last", "raw", b"v" * 151))
    s.rejects(
        "limits/headers-of-one-message-102401",
        "102,401 bytes of header values in one message",
        send(sent(1, b"hello", tlv(*beyond))),
        "limit-exceeded",
        twin="limits/headers-of-one-message-100000",
        doc="iggy.md §3.1, §9",
        rules=("iggy.send.limit.total",),
        profile="produce",
        why="It is over 100 KB, however they are counted.",
    )


def _places(s: CaseBuilder) -> None:
    """§2.2: a topic behind a stream of five bytes."""
    rest = send(sent(1, b"hello"))[len(PLACE) :]
    s.rejects(
        "place/topic-kind-9-at-5",
        "Kind 9 of the topic, behind a stream of five bytes",
        name(b"abc") + tagged(9, b"sample") + rest,
        "bad-kind",
        at=5,
        twin="messages/one",
        doc="iggy.md §2.2",
        rules=("iggy.send.place",),
        why="Read as a name or a number, the messages go to another place.",
    )
    s.rejects(
        "place/topic-0-at-5",
        "Topic 0, behind a stream of five bytes",
        name(b"abc") + numeric(0) + rest,
        "invalid-value",
        at=7,
        also=("not-permitted", "other"),
        twin="messages/one",
        doc="iggy.md §2.2",
        level="should",
        rules=("iggy.send.place", "iggy.identifier.zero"),
        why="No topic has the number 0: up to 0.7.x the constructor refuses it.",
    )
