"""`iggy.send/0.0.30`: iggy.md §3.1, §10.4."""

from typing import Any

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.iggy.case_builder import CaseBuilder
from tests.authoring.iggy.message_bytes import (
    BALANCED,
    HELLO,
    KEY1,
    PLACE,
    PLACE_VALUE,
    WORLD,
    entry,
    kind_value,
    name,
    numeric,
    sent,
    sent_value,
    tagged,
    tlv,
    u32,
    unhex,
)

W5 = unhex(
    "010401000000020673616d706c65010000000000000000000000000000000000000000000b00000068656c6c6f2d776f726c64"
    "0200000000000000000000000000000015000000050000006b65792d31020700000056616c7565203105000000776f726c64"
)
"""The frame of W5 without its length and code."""

DESYNC = unhex(
    "010401000000020673616d706c65010001000000000000000000000000000000160000000100000"
    "06b020100000061010000006b0201000000620500000068656c6c6f"
)
"""desync30_body of §10.4."""

TWIN = "messages/one"
TWICE = ((b"k", "string", b"a"), (b"k", "string", b"b"))


def send(*messages: bytes, place: bytes = PLACE, partitioning: bytes = BALANCED) -> bytes:
    return place + partitioning + b"".join(messages)


def value(*messages: Any, partitioning: Any = None, **place: Any) -> dict[str, Any]:
    chosen = kind_value("balanced", b"") if partitioning is None else partitioning
    return {**PLACE_VALUE, **place, "partitioning": chosen, "messages": list(messages)}


def write(writer: FixtureWriter) -> None:
    s = CaseBuilder(writer, "iggy.send", "0.0.30")
    _messages(s)
    _place(s)
    _headers(s)
    _torn(s)
    _written(s)


def _messages(s: CaseBuilder) -> None:
    doc, layout = "iggy.md §3.1", ("iggy.send.layout",)
    two = value(sent_value(0, b"hello-world"), sent_value(2, WORLD, KEY1))
    s.accepts(
        "messages/two",
        "Two messages, the second with a header (W4, W5)",
        W5,
        two,
        doc="iggy.md §13 W4, W5",
        origin="document",
        rules=(*layout, "iggy.send.id", "iggy.send.headers-length"),
        why="The worked example: no count, no total length.",
    )
    s.accepts(
        TWIN,
        "One message",
        send(sent(1, HELLO)),
        value(sent_value(1, HELLO)),
        doc=doc,
        rules=layout,
        why="The smallest useful send.",
    )
    s.accepts(
        "messages/rust-capture",
        "As captured from the Rust SDK 0.6.202",
        send(sent(0, HELLO), partitioning=tagged(2, u32(1))),
        value(sent_value(0, HELLO), partitioning=kind_value("partition_id", u32(1))),
        doc="iggy.md §3.1 [RUN-R06 capture]",
        rules=layout,
        why="What the last client of this edition writes.",
    )
    s.accepts(
        "messages/three",
        "Three messages",
        send(sent(1, b"a"), sent(2, b"bb"), sent(3, b"ccc")),
        value(sent_value(1, b"a"), sent_value(2, b"bb"), sent_value(3, b"ccc")),
        doc=doc,
        rules=layout,
        why="The list runs to the end of the body.",
    )
    s.accepts(
        "messages/id-max",
        "Id 2^128 − 1",
        send(sent((1 << 128) - 1, HELLO)),
        value(sent_value((1 << 128) - 1, HELLO)),
        doc="iggy.md §2.5",
        rules=("iggy.send.id",),
        why="An id has 128 bits; in 64 or 53 two of them are one.",
    )
    number = 0x0102030405060708090A0B0C0D0E0F10
    s.accepts(
        "messages/id-bytes",
        "An id of sixteen different bytes",
        send(sent(number, HELLO)),
        value(sent_value(number, HELLO)),
        doc="iggy.md §2.5, §11.2",
        rules=("iggy.send.id",),
        why="The whole is little-endian; UUIDs are written in four orders by five SDKs.",
    )
    s.accepts(
        "messages/id-0",
        "Id 0",
        send(sent(0, HELLO)),
        value(sent_value(0, HELLO)),
        doc="iggy.md §2.5",
        rules=("iggy.send.id",),
        why="Not set: the server mints one. It is no null.",
    )
    s.accepts(
        "messages/binary-payload",
        "A payload of zeros and 255s",
        send(sent(1, b"\x00\xff\x00")),
        value(sent_value(1, b"\x00\xff\x00")),
        doc=doc,
        rules=layout,
        why="A payload is bytes.",
    )
    s.rejects(
        "messages/none",
        "No messages",
        send(),
        "count-mismatch",
        also=("truncated", "missing-field", "bad-length"),
        twin=TWIN,
        doc=doc,
        rules=("iggy.send.count",),
        why="InvalidMessagesCount.",
    )
    s.rejects(
        "messages/payload-empty",
        "An empty payload",
        send(sent(1, b"")),
        "bad-length",
        also=("invalid-value", "missing-field"),
        twin=TWIN,
        doc=doc,
        rules=("iggy.send.payload.empty",),
        why="EmptyMessagePayload: accepted, the poll would lose it without a word.",
    )
    s.rejects(
        "messages/second-payload-empty",
        "The second payload is empty",
        send(sent(1, HELLO), sent(2, b"")),
        "bad-length",
        also=("invalid-value", "missing-field"),
        twin=TWIN,
        doc=doc,
        rules=("iggy.send.payload.empty",),
        why="Each message is looked at, not their sum.",
    )


def _place(s: CaseBuilder) -> None:
    doc, rule = "iggy.md §2.2, §3.1", ("iggy.send.place",)
    named = {"stream": kind_value("string", b"s1"), "topic": kind_value("numeric", u32(7))}
    s.accepts(
        "place/name-and-number",
        "A stream by name, a topic by number",
        send(sent(1, HELLO), place=name(b"s1") + numeric(7)),
        value(sent_value(1, HELLO), **named),
        doc=doc,
        rules=rule,
        why="Both kinds stand in both places.",
    )
    s.accepts(
        "place/messages-key",
        "Partitioned by key",
        send(sent(1, HELLO), partitioning=tagged(3, b"order-7")),
        value(sent_value(1, HELLO), partitioning=kind_value("messages_key", b"order-7")),
        doc=doc,
        rules=rule,
        why="The messages begin behind the key.",
    )
    s.rejects(
        "place/stream-kind-0",
        "A stream of kind 0",
        send(sent(1, HELLO), place=tagged(0, u32(1)) + name(b"sample")),
        "bad-kind",
        at=0,
        twin=TWIN,
        doc=doc,
        rules=rule,
        why="InvalidCommand.",
    )
    s.rejects(
        "place/stream-0",
        "Stream 0",
        send(sent(1, HELLO), place=numeric(0) + name(b"sample")),
        "invalid-value",
        also=("not-permitted", "other"),
        twin=TWIN,
        doc=doc,
        level="should",
        rules=(*rule, "iggy.identifier.zero"),
        why="InvalidIdentifier up to 0.7.x, of the constructor: the reader takes it.",
    )
    s.rejects(
        "place/topic-name-empty",
        "A topic with an empty name",
        send(sent(1, HELLO), place=numeric(1) + name(b"")),
        "bad-length",
        twin=TWIN,
        doc=doc,
        rules=rule,
        why="InvalidCommand.",
    )
    s.rejects(
        "place/messages-key-empty",
        "An empty key",
        send(sent(1, HELLO), partitioning=tagged(3, b"")),
        "bad-length",
        twin="place/messages-key",
        doc=doc,
        level="should",
        rules=(*rule, "iggy.partitioning.length"),
        why="InvalidKeyValueLength, of the constructor: the reader takes it.",
    )
    s.rejects(
        "place/body-of-10-bytes",
        "A body of ten bytes",
        send()[:10],
        "truncated",
        also=("length-past-end",),
        twin=TWIN,
        doc="iggy.md §3.1",
        rules=("iggy.send.truncated",),
        why="The server wants eleven before it reads on.",
    )


def _headers(s: CaseBuilder) -> None:
    frame, doc = ("iggy.send.frame",), "iggy.md §3.1, §10.4"
    upper = (b"Trace-ID", "string", b"a")
    s.accepts(
        "headers/upper-case-key",
        "An upper-case key",
        send(sent(1, HELLO, tlv(upper))),
        value(sent_value(1, HELLO, upper)),
        doc="iggy.md §11.1 R1",
        rules=("iggy.send.layout",),
        why="The key that was sent is the key that is stored.",
    )
    s.accepts(
        "headers/duplicate-key",
        "One key twice (desync30_body)",
        DESYNC,
        value(sent_value(1, HELLO, *TWICE)),
        doc="iggy.md §10.4",
        origin="document",
        remarks=("iggy-duplicate-header",),
        rules=frame,
        why="The old server counts the entries of its map and reads what follows 11 bytes too early.",
    )
    s.accepts(
        "headers/duplicate-key-then-another",
        "One key twice, and a message behind it",
        send(sent(1, HELLO, tlv(*TWICE)), sent(2, WORLD)),
        value(sent_value(1, HELLO, *TWICE), sent_value(2, WORLD)),
        doc="iggy.md §10.4",
        remarks=("iggy-duplicate-header",),
        rules=frame,
        why="With enough bytes left the old server reads a phantom message.",
    )
    # Eleven bytes too early, the end of the first payload and the second message read as a message, too.
    phantom = int.from_bytes(b"abcde" + u32(0) + u32(16) + b"xyz", "little")
    s.accepts(
        "headers/duplicate-key-phantom",
        "One key twice, and a phantom message behind it",
        send(sent(1, b"0123456789abc", tlv(*TWICE)), sent(phantom, WORLD)),
        value(sent_value(1, b"0123456789abc", *TWICE), sent_value(phantom, WORLD)),
        doc="iggy.md §10.4",
        remarks=("iggy-duplicate-header",),
        rules=frame,
        why="A reader that counts the entries of its map delivers a message that nobody sent.",
    )
    s.accepts(
        "headers/size-fault-then-another",
        "An int32 of three bytes, and a message behind it",
        send(sent(1, HELLO, entry(b"k", "int32", b"\x01\x02\x03")), sent(2, WORLD)),
        value(sent_value(1, HELLO, (b"k", "int32", b"\x01\x02\x03")), sent_value(2, WORLD)),
        doc=doc,
        remarks=("iggy-header-size",),
        rules=frame,
        why="The block is as long as it says, whatever its kinds say.",
    )
    one = tlv(KEY1)
    for label, headers_len, cls in (
        ("short", len(one) - 1, "length-past-end"),
        ("long", len(one) + 1, "length-past-end"),
    ):
        s.rejects(
            f"headers/length-one-too-{label}",
            f"headers_len is one too {label}",
            send(sent(1, HELLO, one, headers_len=headers_len)),
            cls,
            also=("truncated", "bad-length", "trailing-data"),
            twin="messages/two",
            doc="iggy.md §3.1",
            rules=("iggy.send.headers-length",),
            why="The block ends inside an entry.",
        )
    for label, length in (("past-end", 200), ("huge", 0xFFFFFFFF)):
        s.rejects(
            f"headers/length-{label}",
            f"headers_len {length}",
            send(sent(1, HELLO, one, headers_len=length)),
            "truncated",
            also=("length-past-end", "negative-length"),
            twin="messages/two",
            doc="iggy.md §3.1",
            rules=("iggy.send.headers-length",),
            flags=["security", "resource"],
            limits={"ms": 1000, "rss_mb": 512},
            why="All servers up to 8594d7d4c panic here: one client takes a connection task down.",
        )
    s.rejects(
        "headers/kind-16",
        "An unknown kind inside",
        send(sent(1, HELLO, entry(b"k", 16, b"v"))),
        "bad-kind",
        twin="messages/two",
        doc="iggy.md §10.3",
        rules=("iggy.send.headers",),
        why="Stored, it makes every poll of this partition fail.",
    )
    s.accepts(
        "headers/all-but-none",
        "A block of one header of each message",
        send(sent(1, HELLO, one), sent(2, WORLD, one)),
        value(sent_value(1, HELLO, KEY1), sent_value(2, WORLD, KEY1)),
        doc="iggy.md §3.1",
        rules=("iggy.send.headers", *frame),
        why="Each message has its own.",
    )


def _torn(s: CaseBuilder) -> None:
    whole, rule = send(sent(1, HELLO), sent(2, WORLD)), ("iggy.send.truncated",)
    s.accepts(
        "torn/whole",
        "Two messages, whole",
        whole,
        value(sent_value(1, HELLO), sent_value(2, WORLD)),
        doc="iggy.md §3.1",
        rules=("iggy.send.layout",),
        why="The twin of the torn ones.",
    )
    for label, data, why in (
        ("one-byte-missing", whole[:-1], "Half a payload is another payload."),
        ("payload-missing", whole[:-5], "The payload's length says five."),
        (
            "one-byte-more",
            whole + b"\x00",
            "What is left over is no message; dropped, the next one might be too.",
        ),
        ("23-bytes-more", whole + b"\x00" * 23, "One byte less than the least that a message has."),
    ):
        s.rejects(
            f"torn/{label}",
            f"A body with {label.replace('-', ' ')}",
            data,
            "truncated",
            also=("length-past-end", "trailing-data"),
            twin="torn/whole",
            doc="iggy.md §3.1",
            rules=rule,
            flags=["security"],
            why=why,
        )
    s.rejects(
        "torn/payload-length-huge",
        "payload_len 2^32 − 1",
        send(sent(1, HELLO, payload_len=0xFFFFFFFF)),
        "truncated",
        also=("length-past-end", "negative-length"),
        twin="torn/whole",
        doc="iggy.md §3.1",
        rules=rule,
        flags=["security", "resource"],
        limits={"ms": 1000, "rss_mb": 512},
        why="The length must not be trusted for an allocation.",
    )


def _written(s: CaseBuilder) -> None:
    doc, layout, refused = "iggy.md §3.1", ("iggy.send.layout",), ("iggy.send.encode",)
    two = value(sent_value(0, b"hello-world"), sent_value(2, WORLD, KEY1))
    s.writes(
        "encode/two",
        "Two messages (W5)",
        two,
        W5,
        doc="iggy.md §13 W5",
        rules=layout,
        why="The worked example.",
    )
    s.writes(
        "encode/one",
        "One message",
        value(sent_value(1, HELLO)),
        send(sent(1, HELLO)),
        doc=doc,
        rules=layout,
        why="No headers are a length of 0.",
    )
    pid = kind_value("partition_id", u32(1))
    s.writes(
        "encode/partition-id",
        "To partition 1",
        value(sent_value(0, HELLO), partitioning=pid),
        send(sent(0, HELLO), partitioning=tagged(2, u32(1))),
        doc=doc,
        rules=layout,
        why="As the Rust SDK 0.6.202 was captured.",
    )
    s.writes(
        "encode/partition-id-two",
        "Two messages to partition 7",
        value(sent_value(0, HELLO), sent_value(0, WORLD), partitioning=kind_value("partition_id", u32(7))),
        send(sent(0, HELLO), sent(0, WORLD), partitioning=tagged(2, u32(7))),
        doc=doc,
        rules=layout,
        why="What every client has a say over, and no more.",
    )
    s.refuses(
        "encode/partition-id-payload-empty",
        "An empty payload to partition 1",
        value(sent_value(0, b""), partitioning=pid),
        twin="encode/partition-id",
        doc=doc,
        rules=refused,
        why="EmptyMessagePayload.",
    )
    for label, bad, why in (
        ("none", value(), "InvalidMessagesCount."),
        ("payload-empty", value(sent_value(1, b"")), "EmptyMessagePayload."),
        ("id-129-bits", value(sent_value(1 << 128, HELLO)), "Cut to 128 bits it is id 0."),
        ("id-negative", value(sent_value(-1, HELLO)), "Cut to 128 bits it is the highest id."),
        (
            "key-empty",
            value(sent_value(1, HELLO), partitioning=kind_value("messages_key", b"")),
            "InvalidKeyValueLength.",
        ),
        ("header-value-empty", value(sent_value(1, HELLO, (b"k", "string", b""))), "InvalidHeaderValue."),
    ):
        s.refuses(
            f"encode/{label}",
            f"A send that no server takes: {label.replace('-', ' ')}",
            bad,
            twin="encode/one",
            doc=doc,
            rules=refused,
            also=("bad-length", "type-mismatch", "count-mismatch"),
            why=why,
        )
