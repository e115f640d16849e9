"""`iggy.poll` of 0.0.30, 0.0.40 and 0.0.60: iggy.md §3.3."""

from typing import Any

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.iggy.case_builder import CaseBuilder
from tests.authoring.iggy.message_bytes import (
    HELLO,
    KEY1,
    STATES,
    WORLD,
    entry,
    polled30,
    polled30_value,
    polled40,
    polled40_value,
    tlv,
    u32,
    u64,
    unhex,
)


def write(writer: FixtureWriter) -> None:
    first, second = CaseBuilder(writer, "iggy.poll", "0.0.30"), CaseBuilder(writer, "iggy.poll", "0.0.40")
    third = CaseBuilder(writer, "iggy.poll", "0.0.60")
    _first(first)
    _headers(first)
    _shared(first, b"", {}, polled30, polled30_value, 40)
    _shared(second, b"", {}, polled40, polled40_value, 45)
    _shared(
        third, u32(1) + u64(1), {"partition_id": "1", "current_offset": "1"}, polled40, polled40_value, 45
    )
    _second(second)
    _third(third)
    _count_limits(first)


W12 = unhex(
    "0200000000000000000000000060f09e3403060001000000000000000000000000000000000000000500000068656c6c6f01000000"
    "000000000160f09e340306000200000000000000000000000000000015000000050000006b65792d31020700000056616c75652031"
    "05000000776f726c64"
)


W13 = unhex(
    "020000000000000000000000010060f09e340306000100000000000000000000000000000086a61036000000000500000068656c6c"
    "6f0100000000000000010160f09e34030600020000000000000000000000000000004311773a15000000050000006b65792d310207"
    "00000056616c7565203105000000776f726c64"
)


W14 = unhex("010000000100000000000000") + W13


LOSS = "The Rust client stops here and drops what is left without a word."


def count(number: int, *messages: bytes) -> bytes:
    return u32(number) + b"".join(messages)


def messages(*rows: Any) -> dict[str, Any]:
    return {"messages": list(rows)}


def _shared(s: CaseBuilder, head: bytes, top: dict[str, str], made: Any, shown: Any, fixed: int) -> None:
    """What the three editions have in common; `head` stands before the count, `top` beside the messages."""
    doc, twin = "iggy.md §3.3", "messages/plain"
    a, b = made(0, HELLO), made(1, WORLD)
    two, one = {**top, **messages(shown(0, HELLO), shown(1, WORLD))}, {**top, **messages(shown(0, HELLO))}
    numbers, torn = ("iggy.poll.count",), ("iggy.poll.truncated",)
    s.accepts(
        twin,
        "Two messages without headers",
        head + count(2, a, b),
        two,
        doc=doc,
        rules=("iggy.poll.layout",),
        why="The common response.",
    )
    s.accepts(
        "messages/none",
        "No messages",
        head + count(0),
        {**top, **messages()},
        doc=doc,
        rules=("iggy.poll.layout",),
        why="The consumer is up to date.",
    )
    s.accepts(
        "messages/one",
        "One message",
        head + count(1, a),
        one,
        doc=doc,
        rules=("iggy.poll.layout",),
        why="The smallest useful response.",
    )
    s.accepts(
        "count/zero-for-two",
        "Count 0, two messages",
        head + count(0, a, b),
        two,
        doc=doc + " [RUN-R06]",
        remarks=("iggy-message-count",),
        rules=("iggy.poll.count.more",),
        why="No client looks at the count; one that did would lose both.",
    )
    s.rejects(
        "count/nine-for-two",
        "Count 9, two messages",
        head + count(9, a, b),
        "count-mismatch",
        also=("truncated",),
        at=len(head),
        twin=twin,
        doc=doc,
        rules=numbers,
        why="A body cut between two messages looks so; no client notices.",
    )
    s.rejects(
        "count/huge",
        "Count 2^32 − 1, two messages",
        head + count(0xFFFFFFFF, a, b),
        "count-mismatch",
        also=("truncated", "limit-exceeded"),
        at=len(head),
        twin=twin,
        doc=doc,
        rules=numbers,
        flags=["resource"],
        limits={"ms": 1000, "rss_mb": 512},
        why="The count must not be trusted for an allocation.",
    )
    s.accepts(
        "messages/unordered",
        "Offset 1 before offset 0",
        head + count(2, b, a),
        {**top, **messages(shown(1, WORLD), shown(0, HELLO))},
        doc=doc + " [RUN-R06]",
        remarks=("iggy-message-order",),
        rules=("iggy.poll.order",),
        why="The Rust client of this edition sorts, the later ones do not.",
    )
    s.accepts(
        "messages/empty-payload-last",
        "The last payload is empty",
        head + count(2, a, made(1, b"")),
        {**top, **messages(shown(0, HELLO), shown(1, b""))},
        doc=doc + ", §11.1 R10",
        remarks=("iggy-empty-payload",),
        rules=("iggy.poll.payload.empty",),
        why=LOSS,
    )
    s.accepts(
        "messages/empty-payload-first",
        "The first payload is empty",
        head + count(2, made(0, b""), b),
        {**top, **messages(shown(0, b""), shown(1, WORLD))},
        doc=doc,
        remarks=("iggy-empty-payload",),
        rules=("iggy.poll.layout",),
        why="It has a place in the stream like any other.",
    )
    for label, data, cls in (
        ("one-byte-missing", count(2, a, b[:-1]), "truncated"),
        ("last-payload-missing", count(2, a, b[:-5]), "truncated"),
        ("cut-in-fixed-part", count(2, a, b[:30]), "truncated"),
        ("one-byte-more", count(2, a, b, b"\xff"), "trailing-data"),
        (f"{fixed}-bytes-more", count(2, a, b, b"\x01" * fixed), "trailing-data"),
    ):
        s.rejects(
            f"torn/{label}",
            f"A body with {label.replace('-', ' ')}",
            head + data,
            cls,
            also=("truncated", "trailing-data", "length-past-end"),
            twin=twin,
            doc=doc + ", §11.1 R10",
            rules=torn,
            why=LOSS,
        )
    s.rejects(
        "torn/count-cut",
        "The count itself is cut",
        (head + count(0))[:-1],
        "truncated",
        twin="messages/none",
        doc=doc,
        rules=torn,
        why="Not even the number of messages is there.",
    )
    s.rejects(
        "torn/payload-length-huge",
        "payload_len 2^32 − 1",
        head + count(1, made(0, HELLO, payload_len=0xFFFFFFFF)),
        "truncated",
        also=("length-past-end", "negative-length"),
        twin="messages/one",
        doc=doc,
        rules=torn,
        flags=["resource"],
        limits={"ms": 1000, "rss_mb": 512},
        why="The length must not be trusted for an allocation.",
    )
    s.either(
        "torn/empty-body",
        "A body of no bytes",
        b"",
        {
            "truncated": {"reject": {"class": "truncated"}},
            "no-messages": {"accept": {"value": {**dict.fromkeys(top, "0"), **messages()}, "consumed": 0}},
        },
        doc=doc + " [RUN-R06]",
        rules=torn,
        why="The prefix is not optional, but the Rust client gives an empty list.",
    )
    headed = {**top, **messages(shown(0, HELLO, KEY1))}
    s.writes(
        "encode/plain",
        "Two messages",
        two,
        head + count(2, a, b),
        doc=doc,
        rules=("iggy.poll.layout",),
        why="Count, lengths and checksums are computed.",
    )
    s.writes(
        "encode/headers",
        "A message with a header",
        headed,
        head + count(1, made(0, HELLO, tlv(KEY1))),
        doc=doc,
        rules=("iggy.poll.layout",),
        why="Headers lie before the payload.",
    )
    s.writes(
        "encode/none",
        "No messages",
        {**top, **messages()},
        head + count(0),
        doc=doc,
        rules=("iggy.poll.layout",),
        why="A count of 0.",
    )
    wide = {**shown(0, HELLO), "offset": str(1 << 64)}
    s.refuses(
        "encode/offset-65-bits",
        "Offset 2^64",
        {**top, **messages(wide)},
        twin="encode/plain",
        doc=doc,
        rules=("iggy.poll.encode",),
        why="Cut to 64 bits it is offset 0.",
    )


def _first(s: CaseBuilder) -> None:
    value = messages(polled30_value(0, HELLO), polled30_value(1, WORLD, KEY1))
    s.accepts(
        "messages/worked",
        "Two messages, the second with a header (W12)",
        W12,
        value,
        doc="iggy.md §13 W12",
        origin="document",
        rules=("iggy.poll.layout", "iggy.poll.headers"),
        why="The worked example.",
    )


def _headers(s: CaseBuilder) -> None:
    rule, doc, twin = ("iggy.poll.headers",), "iggy.md §10.3", "messages/worked"
    twice = ((b"k", "string", b"a"), (b"k", "string", b"b"))
    s.accepts(
        "headers/duplicate-key",
        "One key twice, and a message behind it",
        count(2, polled30(0, HELLO, tlv(*twice)), polled30(1, WORLD)),
        messages(polled30_value(0, HELLO, *twice), polled30_value(1, WORLD)),
        doc="iggy.md §10.1, §10.4",
        remarks=("iggy-duplicate-header",),
        rules=rule,
        why="The next message begins where the lengths say, not where a map of one entry would end.",
    )
    for label, block, cls in (
        ("kind-0", entry(b"k", 0, b"v"), "bad-kind"),
        ("key-empty", entry(b"", "string", b"v"), "bad-length"),
        ("key-bad-utf8", entry(b"\xff\xfe", "string", b"v"), "bad-utf8"),
        ("value-missing", unhex("010000006b0201000000"), "length-past-end"),
        ("length-cut", unhex("010000006b020100"), "length-past-end"),
    ):
        s.rejects(
            f"headers/{label}",
            f"A header block with {label.replace('-', ' ')}",
            count(1, polled30(0, HELLO, block)),
            cls,
            also=("truncated", "bad-length"),
            twin=twin,
            doc=doc,
            rules=rule,
            flags=["security"],
            why="One bad block fails the poll; Rust 0.6 panics where it is cut.",
        )


def _second(s: CaseBuilder) -> None:
    doc, state = "iggy.md §3.3", ("iggy.poll.state",)
    value = messages(polled40_value(0, HELLO), polled40_value(1, WORLD, KEY1))
    s.accepts(
        "messages/worked",
        "Two messages, the second with a header (W13)",
        W13,
        value,
        doc="iggy.md §13 W13",
        origin="document",
        rules=("iggy.poll.layout", "iggy.poll.checksum", *state),
        why="The worked example.",
    )
    for name, code in STATES.items():
        s.accepts(
            f"state/{name.replace('_', '-')}",
            f"State {code}",
            count(1, polled40(0, HELLO, state=code)),
            messages(polled40_value(0, HELLO, state=name)),
            doc=doc,
            rules=state,
            why="A poisoned message is not one to be handed on as if it were sound.",
        )
    for code in (0, 2, 255):
        s.rejects(
            f"state/code-{code}",
            f"State {code}",
            count(1, polled40(0, HELLO, state=code)),
            "bad-kind",
            at=12,
            twin="state/available",
            doc=doc,
            rules=state,
            why="InvalidCommand.",
        )
    s.accepts(
        "checksum/wrong",
        "A checksum that does not match",
        count(1, polled40(0, HELLO, checksum=1)),
        messages(polled40_value(0, HELLO, checksum=1)),
        doc=doc + " [RUN-R06]",
        remarks=("iggy-payload-checksum",),
        rules=("iggy.poll.checksum",),
        why="With server-side encryption it covers the ciphertext; no client verifies it.",
    )
    s.accepts(
        "checksum/bytes",
        "The payload 123456789",
        count(1, polled40(0, b"123456789", checksum=0xCBF43926)),
        messages(polled40_value(0, b"123456789", checksum=0xCBF43926)),
        doc=doc,
        rules=("iggy.poll.checksum",),
        why="The check value of CRC-32 ISO-HDLC.",
    )
    s.accepts(
        "checksum/headers-not-covered",
        "Headers lie outside the checksum",
        count(1, polled40(0, HELLO, tlv(KEY1), checksum=0x3610A686)),
        messages(polled40_value(0, HELLO, KEY1, checksum=0x3610A686)),
        doc=doc,
        rules=("iggy.poll.checksum",),
        why="It covers the payload only.",
    )
    s.writes(
        "encode/states",
        "A message in each state",
        messages(*(polled40_value(0, HELLO, state=name) for name in STATES)),
        count(len(STATES), *(polled40(0, HELLO, state=code) for code in STATES.values())),
        doc=doc,
        rules=state,
        why="A server that writes 1 for all of them hands on what was marked for deletion.",
    )
    bad = {**polled40_value(0, HELLO), "state": "lost"}
    s.refuses(
        "encode/unknown-state",
        "A state that does not exist",
        messages(bad),
        twin="encode/plain",
        doc=doc,
        rules=("iggy.poll.encode",),
        also=("bad-kind", "type-mismatch"),
        why="There is no code for it.",
    )


def _third(s: CaseBuilder) -> None:
    value = {
        "partition_id": "1",
        "current_offset": "1",
        **messages(polled40_value(0, HELLO), polled40_value(1, WORLD, KEY1)),
    }
    rule = ("iggy.poll.prefix",)
    s.accepts(
        "messages/worked",
        "Two messages, the second with a header (W14)",
        W14,
        value,
        doc="iggy.md §13 W14",
        origin="document",
        rules=("iggy.poll.layout", *rule),
        why="The worked example, decoded by the released Rust client.",
    )
    top = {"partition_id": str(0x01020304), "current_offset": str((1 << 64) - 1)}
    s.accepts(
        "prefix/bytes",
        "Partition 0x01020304, offset 2^64 − 1",
        unhex("04030201") + b"\xff" * 8 + count(0),
        {**top, **messages()},
        doc="iggy.md §3.3",
        rules=rule,
        why="Four and eight bytes, little-endian, unsigned.",
    )
    s.rejects(
        "prefix/cut",
        "A prefix of eleven bytes",
        (u32(1) + u64(1))[:11],
        "truncated",
        twin="messages/none",
        doc="iggy.md §3.3",
        rules=("iggy.poll.truncated",),
        why="A response of 0.0.40 without messages is as long as partition_id alone.",
    )
    s.refuses(
        "encode/partition-33-bits",
        "Partition 2^32",
        {"partition_id": str(1 << 32), "current_offset": "0", **messages()},
        twin="encode/plain",
        doc="iggy.md §3.3",
        rules=("iggy.poll.encode",),
        why="Cut to 32 bits it is partition 0.",
    )


def _count_limits(s: CaseBuilder) -> None:
    """§3.3: more messages than one byte counts."""
    numbers = range(257)
    s.accepts(
        "count/257",
        "257 messages",
        u32(257) + b"".join(polled30(number, b"p") for number in numbers),
        {"messages": [polled30_value(number, b"p") for number in numbers]},
        doc="iggy.md §3.3",
        rules=("iggy.poll.layout",),
        why="The count has four bytes.",
    )
