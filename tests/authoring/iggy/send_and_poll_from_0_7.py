"""`iggy.send` and `iggy.poll` of 0.7, 0.8 and 0.9: iggy.md §5, §10, §11.1."""

# fmt: off

from collections.abc import Iterator
from typing import Any

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.iggy.case_builder import CaseBuilder
from tests.authoring.iggy.documented_bytes import W17, W18, W19, W23, W24
from tests.authoring.iggy.headers_from_0_9 import OPAQUE
from tests.authoring.iggy.message_bytes import (
    HELLO,
    PLACE_VALUE,
    WORLD,
    kind_value,
    name,
    numeric,
    tagged,
    u32,
    u64,
)
from tests.authoring.iggy.message_bytes_from_0_7 import (
    E7,
    E8,
    E9,
    OT,
    REVISIONS,
    Edition,
    ends,
    index,
    metadata,
    send,
)

DOC = "iggy.md §5"
TWO, ONE = "messages/two", "messages/one"


def write(writer: FixtureWriter) -> None:
    for e in REVISIONS:
        s = CaseBuilder(writer, "iggy.send", e.revision)
        _sent(s, e)
        _place(s, e)
        _metadata(s, e)
        _index(s, e)
        _torn_send(s, e)
        _written(s, e)
        p = CaseBuilder(writer, "iggy.poll", e.revision)
        _polled(p, e)
        _count(p, e)
        _torn_poll(p, e)
        _polls_written(p, e)
        for builder, made, shown, top in ((s, e.sent, e.sent_value, _sends), (p, e.polled, e.polled_value, _polls)):
            _blocks(builder, e, made, shown, top)
    _reserved(CaseBuilder(writer, "iggy.send", "0.9"), CaseBuilder(writer, "iggy.poll", "0.9"))
    _crossed(writer)


def value(*messages: Any, partitioning: Any = None, **place: Any) -> dict[str, Any]:
    chosen = kind_value("balanced", b"") if partitioning is None else partitioning
    return {**PLACE_VALUE, **place, "partitioning": chosen, "messages": list(messages)}


def poll(count: int, *messages: bytes, partition: int = 1, current: int = 1) -> bytes:
    return u32(partition) + u64(current) + u32(count) + b"".join(messages)


def polled(*messages: Any, partition: int = 1, current: int = 1) -> dict[str, Any]:
    return {"partition_id": str(partition), "current_offset": str(current), "messages": list(messages)}


def _sends(rows: list[bytes], shown: list[Any]) -> tuple[bytes, Any]:
    return send(*rows), value(*shown)


def _polls(rows: list[bytes], shown: list[Any]) -> tuple[bytes, Any]:
    return poll(len(rows), *rows), polled(*shown)


def _pair(e: Edition) -> dict[str, Any]:
    return value(e.sent_value(1, HELLO), e.sent_value(2, WORLD, e.one, origin=OT + 5))


# --- sends ---


def _sent(s: CaseBuilder, e: Edition) -> None:
    layout, number = ("iggy.send.headed.layout",), ("iggy.send.id",)
    worked, doc = (W23, "iggy.md §13 W23") if e.keyed else (W17, "iggy.md §13 W17")
    rules = (*layout, "iggy.send.headed.metadata", "iggy.send.place")
    s.accepts(TWO, "Two messages, the second with a header (the worked example)", worked, _pair(e), doc=doc, origin="document", rules=rules, why="The payload stands before the headers, and the index before both.")
    s.accepts(ONE, "One message", send(e.sent(1, HELLO)), value(e.sent_value(1, HELLO)), doc=DOC, rules=rules, why="The smallest useful send.")
    s.accepts("messages/partition-id", "As the Rust SDK was captured: to partition 7", send(e.sent(0, HELLO), partitioning=tagged(2, u32(7))), value(e.sent_value(0, HELLO), partitioning=kind_value("partition_id", u32(7))), doc="iggy.md §5 [RUN-R07 to RUN-R10]", rules=(*layout, *number), why="Id 0 asks the server to mint one.")
    top = (1 << 128) - 1
    s.accepts("messages/id-max", "Id 2^128 − 1", send(e.sent(top, HELLO)), value(e.sent_value(top, HELLO)), doc="iggy.md §2.5", rules=number, why="In 64 or 53 bits two ids are one.")
    some = 0x0102030405060708090A0B0C0D0E0F10
    s.accepts("messages/id-bytes", "An id of sixteen different bytes", send(e.sent(some, HELLO)), value(e.sent_value(some, HELLO)), doc="iggy.md §2.5, §11.2", rules=number, why="The whole is little-endian; UUIDs are written in four orders by five SDKs.")
    late = 0x0102030405060708
    s.accepts("messages/origin-timestamp", "An origin timestamp of eight different bytes", send(e.sent(1, HELLO, origin=late)), value(e.sent_value(1, HELLO, origin=late)), doc=DOC + ", §11.1 N8", rules=("iggy.send.headed.origin", *layout), why="Microseconds: Node wrote milliseconds from 22fd92c11 to 18a159a13.")
    s.accepts("messages/origin-timestamp-0", "Origin timestamp 0", send(e.sent(1, HELLO, origin=0)), value(e.sent_value(1, HELLO, origin=0)), doc=DOC, rules=("iggy.send.headed.origin",), why="It is kept as it is.")
    for label, fields in (("checksum", {"checksum": 0x3610A686}), ("offset", {"offset": 1}), ("timestamp", {"timestamp": 1})):
        s.accepts(f"messages/{label}-set", f"A {label} that the client sets", send(e.sent(1, HELLO, **fields)), value(e.sent_value(1, HELLO)), doc=DOC + ", §11.1 J8", remarks=("iggy-unset-field",), rules=("iggy.send.headed.unset",), why="The server overwrites it; Java sent the CRC-32 of the payload until b5323d368.")
    s.accepts("messages/payload-empty", "An empty payload", send(e.sent(1, b""), e.sent(2, WORLD)), value(e.sent_value(1, b""), e.sent_value(2, WORLD)), doc=DOC, remarks=("iggy-empty-payload",), rules=("iggy.send.headed.payload.empty",), why="The client's builder refuses it, the server does not look.")
    s.accepts("messages/payload-empty-last", "The last payload is empty", send(e.sent(1, HELLO), e.sent(2, b"", e.block(e.one))), value(e.sent_value(1, HELLO), e.sent_value(2, b"", e.one)), doc=DOC, remarks=("iggy-empty-payload",), rules=("iggy.send.headed.payload.empty",), why="What stands behind the header is its headers, not its payload.")


def _place(s: CaseBuilder, e: Edition) -> None:
    doc, rule = "iggy.md §2.2, §5", ("iggy.send.place",)
    one, shown = e.sent(1, HELLO), e.sent_value(1, HELLO)
    named = {"stream": kind_value("string", b"s1"), "topic": kind_value("numeric", u32(7))}
    s.accepts("place/name-and-number", "A stream by name, a topic by number", send(one, place=name(b"s1") + numeric(7)), value(shown, **named), doc=doc, rules=rule, why="Both kinds stand in both places.")
    s.accepts("place/messages-key", "Partitioned by key", send(one, partitioning=tagged(3, b"order-7")), value(shown, partitioning=kind_value("messages_key", b"order-7")), doc=doc, rules=rule, why="The count stands behind the key.")
    s.rejects("place/stream-kind-0", "A stream of kind 0", send(one, place=tagged(0, u32(1)) + name(b"sample")), "bad-kind", at=4, twin=ONE, doc=doc, rules=rule, why="InvalidCommand.")
    s.rejects("place/messages-key-empty", "An empty key", send(one, partitioning=tagged(3, b"")), "bad-length", at=19, twin="place/messages-key", doc=doc, level="should", rules=(*rule, "iggy.partitioning.length"), why="InvalidKeyValueLength, of the constructor: the reader to 0.9 takes it.")
    zero = send(one, place=numeric(0) + name(b"sample"))
    if e is E7:
        s.rejects("place/stream-0", "Stream 0", zero, "invalid-value", at=6, also=("not-permitted", "other"), twin=ONE, doc=doc, level="should", rules=(*rule, "iggy.identifier.zero"), why="InvalidIdentifier up to 0.7.x, of the constructor: the reader takes it.")
    else:
        s.accepts("place/stream-0", "Stream 0", zero, value(shown, stream=kind_value("numeric", u32(0))), doc=doc, rules=(*rule, "iggy.identifier.zero-based"), why="The first stream from 0.8.0 on.")
    filled = send(one, partitioning=tagged(1, b"\xaa"))
    if e is E9:
        s.rejects("place/balanced-value", "Balanced with a byte", filled, "bad-length", at=19, also=("length-mismatch", "trailing-data"), twin=ONE, doc=doc, rules=rule, why="8594d7d4c looks at the length of every kind.")
    else:
        s.accepts("place/balanced-value", "Balanced with a byte", filled, value(shown, partitioning=kind_value("balanced", b"\xaa")), doc=doc, remarks=("iggy-balanced-value",), rules=rule, why="Not looked at up to 8594d7d4c.")


def _metadata(s: CaseBuilder, e: Edition) -> None:
    one, two, rule = e.sent(1, HELLO), (e.sent(1, HELLO), e.sent(2, WORLD)), ("iggy.send.headed.metadata",)
    for label, length in (("one-less", 19), ("one-more", 21), ("zero", 0), ("with-itself", 24), ("huge", 0xFFFFFFFF)):
        s.rejects(f"metadata/length-{label}", f"A metadata length of {length}", send(one, length=length), "length-mismatch", at=0, also=("truncated", "length-past-end", "bad-length", "negative-length"), twin=ONE, doc=DOC, rules=rule, why="Index and messages are found by it: off by one, the count is another.")
    count = ("iggy.send.headed.count",)
    s.rejects("metadata/no-messages", "No messages", metadata(0), "count-mismatch", at=24, also=("truncated", "missing-field", "bad-length"), twin=ONE, doc=DOC, rules=count, why="InvalidMessagesCount.")
    s.rejects("metadata/count-1-for-2", "Two messages, one counted and indexed", send(*two, count=1, entries=index(len(two[0]))), "trailing-data", at=24 + 16 + len(two[0]), also=("count-mismatch", "length-mismatch"), twin=TWO, doc=DOC, rules=count, why="InvalidMessagesSize: the second would be lost.")
    s.rejects("metadata/count-3-for-2", "Two messages, three counted and two indexed", send(*two, count=3), "length-mismatch", also=("truncated", "count-mismatch", "length-past-end", "reserved-nonzero"), twin=TWO, doc=DOC, rules=count, why="The first message is taken for an entry of the index.")
    s.rejects("metadata/count-huge", "Count 2^32 − 1", send(one, count=0xFFFFFFFF), "truncated", also=("length-past-end", "count-mismatch", "limit-exceeded", "reserved-nonzero"), twin=ONE, doc=DOC, rules=count, flags=["resource"], limits={"ms": 1000, "rss_mb": 512}, why="An index of 64 GiB must not be reserved.")


def _index(s: CaseBuilder, e: Edition) -> None:
    rule = ("iggy.send.headed.index",)
    two = (e.sent(1, HELLO), e.sent(2, WORLD))
    a, b = ends(two)
    for label, entries, at in (("first-one-less", index(a - 1, b), 28), ("first-one-more", index(a + 1, b), 28), ("last-one-more", index(a, b + 1), 44), ("starts-not-ends", index(0, a), 28),
                               ("sizes-not-ends", index(a, b - a), 44), ("backwards", index(b, a), 28), ("zero", index(0, 0), 28)):
        s.rejects(f"index/{label}", f"An index that ends elsewhere: {label}", send(*two, entries=entries), "length-mismatch", at=at, also=("truncated", "length-past-end", "trailing-data", "bad-offset", "bad-length"), twin=TWO, doc=DOC, rules=rule, why="InvalidIndexesByteSize or InvalidMessagesSize: positions increase, and the last is the size of all.")
    s.rejects("index/offset-1", "An offset in the index", send(*two, entries=index(a, b, offset=1)), "reserved-nonzero", at=24, also=("bad-offset", "not-permitted", "invalid-value"), twin=TWO, doc=DOC + ", §9", rules=("iggy.send.headed.index-zero",), why="NonZeroOffset 4031.")
    s.rejects("index/timestamp-1", "A timestamp in the index", send(*two, entries=index(a, b, timestamp=1)), "reserved-nonzero", at=32, also=("not-permitted", "invalid-value"), twin=TWO, doc=DOC + ", §9", rules=("iggy.send.headed.index-zero",), why="NonZeroTimestamp 4032.")
    three = (e.sent(1, b"a"), e.sent(2, b"bb"), e.sent(3, b"ccc", e.block(e.one)))
    s.accepts("index/three", "Three messages of three sizes", send(*three), value(e.sent_value(1, b"a"), e.sent_value(2, b"bb"), e.sent_value(3, b"ccc", e.one)), doc=DOC, rules=("iggy.send.headed.index-ends",), why="Each entry is the sum of the sizes so far.")


def _torn_send(s: CaseBuilder, e: Edition) -> None:
    rule, cut = ("iggy.send.headed.truncated",), ("length-past-end", "trailing-data", "length-mismatch")
    whole = send(e.sent(1, HELLO), e.sent(2, WORLD))
    start = 24 + 32
    for label, data, at in (("one-byte-missing", whole[:-1], len(whole) - 5), ("payload-missing", whole[:-5], len(whole) - 5), ("in-the-header", whole[: start + 30], None), ("in-the-index", whole[:50], None), ("in-the-metadata", whole[:13], None)):
        s.rejects(f"torn/{label}", f"A body cut {label.replace('-', ' ')}", data, "truncated", at=at, also=cut, twin=TWO, doc=DOC + ", §11.1 R6", rules=rule, flags=["security"], why="Up to 8594d7d4c it panics.")
    for label, more in (("one-byte-more", b"\0"), ("a-header-of-zeros-more", bytes(e.size)), ("80-zeros-more", bytes(80))):
        s.rejects(f"torn/{label}", f"A body with {label.replace('-', ' ')}", whole + more, "trailing-data", at=len(whole), also=("length-mismatch", "truncated", "count-mismatch"), twin=TWO, doc=DOC + ", §11.1 R8", rules=rule, why="Neither counted nor in the index: it is no message.")
    for label, field in (("payload", "payload_length"), ("headers", "headers_length")):
        for size, length in (("past-end", 200), ("huge", 0xFFFFFFFF)):
            s.rejects(f"torn/{label}-length-{size}", f"A length of the {label} of {length}", send(e.sent(1, HELLO, **{field: length})), "truncated", at=24 + 16 + e.size + (5 if label == "headers" else 0), also=("length-past-end", "negative-length", "length-mismatch"), twin=ONE, doc=DOC, rules=rule, flags=["security", "resource"],
                 limits={"ms": 1000, "rss_mb": 512}, why="The length must not be trusted for a slice, nor for an allocation.")


def _written(s: CaseBuilder, e: Edition) -> None:
    layout, refused = ("iggy.send.headed.layout",), ("iggy.send.encode",)
    worked = W23 if e.keyed else W17
    s.writes("encode/two", "Two messages (the worked example)", _pair(e), worked, doc="iggy.md §13", rules=(*layout, "iggy.send.headed.metadata", "iggy.send.headed.index-ends"), why="The worked example.")
    pid, one = kind_value("partition_id", u32(7)), value(e.sent_value(1, HELLO))
    s.writes("encode/one", "One message", one, send(e.sent(1, HELLO)), doc=DOC, rules=layout, why="Checksum, offset and timestamp are the server's.")
    s.writes("encode/partition-id", "To partition 7", value(e.sent_value(0, HELLO), partitioning=pid), send(e.sent(0, HELLO), partitioning=tagged(2, u32(7))), doc=DOC, rules=layout, why="As the Rust SDK was captured.")
    some = 0x0102030405060708090A0B0C0D0E0F10
    s.writes("encode/id-bytes", "An id of sixteen different bytes", value(e.sent_value(some, HELLO)), send(e.sent(some, HELLO)), doc="iggy.md §2.5, §11.1 J5, N9, C4", rules=("iggy.send.id",), why="SDKs swapped the bytes or the halves of an id that they had polled.")
    kept = value(e.sent_value(1, HELLO, kept=OPAQUE))
    if e is E9:
        s.writes("encode/encrypted", "A message with an encrypted block of headers", kept, send(e.sent(1, HELLO, OPAQUE)), doc="iggy.md §1, 4ca3cf2b3", rules=("iggy.send.headed.opaque",), why="From 0.10.0 on headers are encrypted together with the payload.")
        s.refuses("encode/map-as-bytes", "A map given as bytes", value(e.sent_value(1, HELLO, kept=e.block(e.one))), twin="encode/encrypted", doc=DOC, rules=refused, also=("bad-kind",), why="Read back, it is the map.")
    else:
        s.refuses("encode/encrypted", "A message with an encrypted block of headers", kept, twin="encode/one", doc="iggy.md §1, 4ca3cf2b3, §11.1 R17", rules=refused, also=("bad-kind", "not-permitted"), why="To 0.9.x no client encrypts headers.")
    for label, bad in (("none", value()), ("payload-empty", value(e.sent_value(1, b""))), ("id-129-bits", value(e.sent_value(1 << 128, HELLO))), ("header-value-empty", value(e.sent_value(1, HELLO, e.text(b"k", b""))))):
        s.refuses(f"encode/{label}", f"A send that no client writes: {label}", bad, twin="encode/one", doc=DOC + ", §9", rules=refused, also=("bad-length", "type-mismatch", "count-mismatch"), why="The builder refuses it.")


# --- what sends and polls share ---


def _blocks(s: CaseBuilder, e: Edition, made: Any, shown: Any, top: Any) -> None:
    """Blocks of headers, sound and not: nobody looks inside before they are asked for, §5, §10.2, §11.1 R5 to R11."""
    family = s.prefix.partition("/")[0]
    frame, opaque = (f"{family}.headed.frame",), (f"{family}.headed.opaque",)
    typed = "should" if e.keyed else "must"  # from 0.9 on readers differ on a size or a kind that is wrong
    twice = (e.text(b"k", b"a"), e.text(b"k", b"b"))
    data, want = top([made(1, HELLO, e.block(*twice)), made(2, WORLD)], [shown(1, HELLO, *twice), shown(2, WORLD)])
    s.accepts("headers/duplicate-key-then-another", "One key twice, and a message behind it", data, want, doc="iggy.md §10.4, §11.1 R5", remarks=("iggy-duplicate-header",), rules=frame, why="Framed by its lengths a message ends where they say: servers to 0.4.x counted entries of the map.")
    three = (e.text(b"k", b"\x01\x02\x03", "int32"),)
    data, want = top([made(1, HELLO, e.block(*three)), made(2, WORLD)], [shown(1, HELLO, *three), shown(2, WORLD)])
    s.accepts("headers/size-fault-then-another", "An int32 of three bytes, and a message behind it", data, want, doc="iggy.md §10.2, §10.3", remarks=("iggy-header-size",), level=typed, rules=frame, why="The wire validator passes it, and Java; the conversion of Rust from 0.9 on and Go give no headers.")
    upper = (e.text(b"Trace-ID", b"a"),)
    data, want = top([made(1, HELLO, e.block(*upper))], [shown(1, HELLO, *upper)])
    s.accepts("headers/upper-case-key", "An upper-case key", data, want, doc="iggy.md §11.1 R1", rules=(f"{family}.headed.headers",), why="The key that was sent is the key that is delivered.")
    data, want = top([made(1, HELLO, e.block(e.one)), made(2, WORLD, e.block(e.one))], [shown(1, HELLO, e.one), shown(2, WORLD, e.one)])
    s.accepts("headers/each", "A header of each of two messages", data, want, doc=DOC, rules=(f"{family}.headed.headers", *frame), why="Each block stands behind its own payload.")
    for label, kept, why in _broken(e):
        data, want = top([made(1, HELLO, kept), made(2, WORLD)], [shown(1, HELLO, kept=kept), shown(2, WORLD)])
        s.accepts(f"headers/{label}", f"A block that is no map: {label}", data, want, doc="iggy.md §5, §10.2, §11.1 R11, N4", remarks=("iggy-opaque-headers",), rules=(*opaque, *frame), why=why, **({"level": typed} if label == "kind-16" and family == "iggy.poll" else {}))


def _broken(e: Edition) -> Iterator[tuple[str, bytes, str]]:
    one = e.block(e.one)
    yield "opaque", OPAQUE, "Encrypted: the payload is there all the same, and Node throws the whole poll away."
    yield "cut", one[:-1], "To 0.8.x what reads the map panics (R2), later it gives none."
    yield "one-byte-more", one + b"\xff", "A whole entry and a byte is no map."
    yield "kind-16", e.block(e.text(b"k", b"v")).replace(b"k\x02", b"k\x10"), "The map cannot be told; the message can."
    yield "key-empty", e.block(e.text(b"k", b"v")).replace(b"\x01\0\0\0k", bytes(4)), "A length that is not allowed."


# --- polls ---

HEAD = 16
"""Bytes before the first message."""


def _polled(s: CaseBuilder, e: Edition) -> None:
    layout, prefix, check = ("iggy.poll.headed.layout",), ("iggy.poll.prefix",), ("iggy.poll.headed.checksum",)
    worked, doc, partition = {"0.7": (W18, "W18", 1), "0.8": (W19, "W19", 0), "0.9": (W24, "W24", 0)}[e.revision]
    pair = (e.polled_value(0, HELLO), e.polled_value(1, WORLD, e.one))
    s.accepts("messages/worked", f"Two messages, the second with a header ({doc})", worked, polled(*pair, partition=partition), doc=f"iggy.md §13 {doc}", origin="document", rules=(*layout, *prefix, *check), why="The worked example; the payload stands before the headers.")
    a, b = e.polled(0, HELLO), e.polled(1, WORLD)
    shown = (e.polled_value(0, HELLO), e.polled_value(1, WORLD))
    s.accepts(TWO, "Two messages without headers", poll(2, a, b), polled(*shown), doc=DOC, rules=layout, why="The common response.")
    s.accepts("messages/none", "No messages", poll(0), polled(), doc=DOC, rules=prefix, why="The consumer is up to date.")
    s.accepts("messages/prefix-bytes", "A prefix of different bytes", poll(0, partition=0x01020304, current=0x8102030405060708), polled(partition=0x01020304, current=0x8102030405060708), doc=DOC, rules=prefix, why="Both are little-endian and without a sign.")
    full = e.polled(5, HELLO, timestamp=0x0102030405060708, origin=0x8000000000000001)
    told = {**e.polled_value(5, HELLO), "timestamp": str(0x0102030405060708), "origin_timestamp": str(0x8000000000000001), "checksum": str(int.from_bytes(full[:8], "little"))}
    s.accepts("messages/timestamps", "Two timestamps of different bytes", poll(1, full), polled(told), doc=DOC + ", §11.1 N8", rules=("iggy.poll.headed.timestamps", *layout), why="Microseconds of 64 bits; a Date of milliseconds loses three digits.")
    micro = e.polled(0, HELLO)
    s.accepts("messages/timestamp-microseconds", "100 microseconds behind a millisecond", poll(1, micro), polled(shown[0]), doc="iggy.md §6, §11.1 N8", rules=("iggy.poll.headed.timestamps",), why="1745000000000100: Node gives …000.")
    s.accepts("messages/unordered", "Offset 1 before offset 0", poll(2, b, a), polled(shown[1], shown[0]), doc=DOC, rules=("iggy.poll.headed.order",), why="From 0.7.0 on the Rust client keeps the order of the wire.")
    s.accepts("messages/ordered-gap", "Offset 5 behind offset 0", poll(2, a, e.polled(5, WORLD)), polled(shown[0], e.polled_value(5, WORLD)), doc=DOC, rules=("iggy.poll.headed.order",), why="What was deleted leaves a gap, and nobody fills it.")
    for label, rows in (("last", (e.polled(0, HELLO), e.polled(1, b""))), ("first", (e.polled(0, b""), e.polled(1, WORLD))), ("only", (e.polled(0, b""),))):
        values = [e.polled_value(at, data[e.size :]) for at, data in enumerate(rows)]
        s.accepts(f"messages/empty-payload-{label}", f"The {label} payload is empty", poll(len(rows), *rows), polled(*values), doc=DOC + ", §11.1 R10", rules=layout if label == "first" else ("iggy.poll.headed.payload.empty",), why="To 0.6.x the client drops the last one; from 0.7.0 on it is delivered.")
    for label, wrong in (("wrong", e.polled(1, WORLD)[:1][0] ^ 1), ("zero", 0), ("crc32-of-payload", 0x3A771143)):
        data = e.polled(1, WORLD, checksum=wrong)
        s.accepts(f"checksum/{label}", f"A checksum that is not of the message: {label}", poll(2, a, data), polled(shown[0], e.polled_value(1, WORLD, checksum=wrong)), doc=DOC + ", §11.1 R9", remarks=("iggy-message-checksum",), rules=check, why="No client compares it.")


def _count(s: CaseBuilder, e: Edition) -> None:
    a, b, count = e.polled(0, HELLO), e.polled(1, WORLD), ("iggy.poll.count",)
    shown = (e.polled_value(0, HELLO), e.polled_value(1, WORLD))
    s.accepts("count/zero-for-two", "Count 0, two messages", poll(0, a, b), polled(*shown), doc=DOC + ", §11.1 R9", remarks=("iggy-message-count",), rules=("iggy.poll.count.more",), why="No client looks at the count.")
    for label, number in (("three", 3), ("huge", 0xFFFFFFFF)):
        s.rejects(f"count/{label}-for-two", f"Count {number}, two messages", poll(number, a, b), "count-mismatch", at=12, also=("truncated", "limit-exceeded"), twin=TWO, doc=DOC + ", §11.1 R9", rules=count, flags=["resource"], limits={"ms": 1000, "rss_mb": 512}, why="A body cut between two messages looks so; no client notices.")
    phantom, also = ("iggy.poll.headed.phantom",), ("truncated", "length-past-end", "count-mismatch", "reserved-nonzero", "crc-mismatch")
    s.accepts("phantom/none", "One message, and no more", poll(1, a), polled(shown[0]), doc=DOC, rules=phantom, why="The twin of those with more behind it.")
    for label, more in (("header-of-zeros", bytes(e.size)), ("80-zeros", bytes(80)), ("one-byte", b"\0"), ("70-ff", b"\xff" * 70)):
        s.rejects(f"phantom/{label}", f"Behind the last message stands what is none: {label}", poll(1, a, more), "reserved-nonzero" if label == "70-ff" and e.keyed else "trailing-data", at=None if label in ("one-byte", "70-ff") else HEAD + len(a), also=(*also, "trailing-data"), twin="phantom/none", doc=DOC + ", §11.1 R8", rules=phantom,
             why="The Rust client delivers a message of id 0 and offset 0 that nobody sent, or drops what is there.")


def _torn_poll(s: CaseBuilder, e: Edition) -> None:
    rule, also = ("iggy.poll.truncated",), ("length-past-end", "count-mismatch", "trailing-data")
    whole = poll(2, e.polled(0, HELLO), e.polled(1, WORLD))
    for label, data, at in (("in-the-last-payload", whole[:-1], len(whole) - 5), ("last-payload-missing", whole[:-5], len(whole) - 5), ("in-a-header", whole[: HEAD + e.size + 5 + 30], None), ("in-the-prefix", whole[:15], 12), ("empty", b"", 0)):
        s.rejects(f"torn/{label}", f"A body cut: {label}", data, "truncated", at=at, also=also, twin=TWO, doc=DOC + ", §11.1 R6, R7", rules=rule, why="The Rust client panics to 0.8.x and drops the message without a word later.")
    for label, field in (("payload", "payload_length"), ("headers", "headers_length")):
        for size, length in (("past-end", 200), ("huge", 0xFFFFFFFF)):
            s.rejects(f"torn/{label}-length-{size}", f"A length of the {label} of {length}", poll(1, e.polled(0, HELLO, **{field: length})), "truncated", at=HEAD + e.size + (5 if label == "headers" else 0), also=(*also, "negative-length"), twin=TWO, doc=DOC + ", §11.1 R6, R7", rules=rule, flags=["resource"], limits={"ms": 1000, "rss_mb": 512},
                 why="Panic to 0.8.x, an empty list without an error from 0.9.0 on.")


def _polls_written(s: CaseBuilder, e: Edition) -> None:
    layout, partition = ("iggy.poll.headed.layout",), 1 if e is E7 else 0
    worked = {"0.7": W18, "0.8": W19, "0.9": W24}[e.revision]
    s.writes("encode/worked", "Two messages (the worked example)", polled(e.polled_value(0, HELLO), e.polled_value(1, WORLD, e.one), partition=partition), worked, doc="iggy.md §13", rules=(*layout, "iggy.poll.headed.checksum"), why="The checksum is computed over all that stands behind it.")
    s.writes("encode/none", "No messages", polled(), poll(0), doc=DOC, rules=layout, why="A prefix and a count.")
    for label, bad in (("id-129-bits", {"id": str(1 << 128)}), ("offset-negative", {"offset": "-1"}), ("origin-65-bits", {"origin_timestamp": str(1 << 64)})):
        s.refuses(f"encode/{label}", f"A number that its field cannot hold: {label}", polled({**e.polled_value(0, HELLO), **bad}), twin="encode/none", doc=DOC, rules=("iggy.poll.encode",), why="Cut, it is another one.")


def _reserved(s: CaseBuilder, p: CaseBuilder) -> None:
    doc, also = "iggy.md §5, §9", ("not-permitted", "invalid-value")
    for number in (1, 1 << 63):
        s.rejects(f"messages/reserved-{number}", f"reserved is {number}", send(E9.sent(1, HELLO, reserved=number)), "reserved-nonzero", at=24 + 16 + 56, also=also, twin=ONE, doc=doc, rules=("iggy.send.headed.reserved",), why="InvalidReservedField 4101.", level="should")
        p.rejects(f"messages/reserved-{number}", f"reserved is {number}", poll(1, E9.polled(0, HELLO, reserved=number)), "reserved-nonzero", at=HEAD + 56, also=also, twin="phantom/none", doc=doc, rules=("iggy.poll.headed.reserved",), why="InvalidReservedField: eight bytes that a later edition may give a meaning.")
    s.accepts("messages/reserved-0", "reserved is 0", send(E9.sent(1, HELLO)), value(E9.sent_value(1, HELLO)), doc=doc, rules=("iggy.send.headed.reserved",), why="What every client writes.")
    p.accepts("messages/reserved-0", "reserved is 0", poll(1, E9.polled(0, HELLO)), polled(E9.polled_value(0, HELLO)), doc=doc, rules=("iggy.poll.headed.reserved",), why="What every server writes.")


def _crossed(writer: FixtureWriter) -> None:
    """Bytes of one edition given to another: refused or remarked, where the bytes can tell."""
    rule, doc = ("iggy.poll.headed.editions",), "iggy.md §1, §5"
    pair = (E7.polled_value(0, HELLO), E7.polled_value(1, WORLD, E7.one))
    CaseBuilder(writer, "iggy.poll", "0.8").accepts("editions/0-7", "A response of 0.7 (W18)", W18, polled(*pair), doc=doc, remarks=("iggy-message-checksum",), rules=("iggy.poll.headed.checksum",), why="The layout is one, the checksums are CRC-32: who compares them sees another edition.")
    shown = (E8.polled_value(0, HELLO), E8.polled_value(1, WORLD, E8.one))
    CaseBuilder(writer, "iggy.poll", "0.7").accepts("editions/0-8", "A response of 0.8 (W19)", W19, polled(*shown, partition=0), doc=doc, remarks=("iggy-message-checksum",), rules=("iggy.poll.headed.checksum",), why="As above, the other way.")
    CaseBuilder(writer, "iggy.poll", "0.9").rejects("editions/0-8", "A response of 0.8 (W19)", W19, "reserved-nonzero", at=HEAD + 56, also=("truncated", "length-past-end"), twin="messages/worked", doc=doc, rules=rule, why="The payload stands where `reserved` is.")
    CaseBuilder(writer, "iggy.poll", "0.8").rejects("editions/0-9", "A response of 0.9 (W24)", W24, "truncated", also=("length-past-end", "count-mismatch", "trailing-data"), twin="messages/worked", doc=doc, rules=rule, why="Eight zeros are taken for the payload, and the next header begins too early.")
    CaseBuilder(writer, "iggy.send", "0.9").rejects("editions/0-8", "A send of 0.8 (W17)", W17, "reserved-nonzero", at=24 + 32 + 56, also=("truncated", "length-past-end", "length-mismatch"), twin=TWO, doc=doc, rules=("iggy.send.headed.editions",), why="A client of 0.8 at a server of 0.9.")
    CaseBuilder(writer, "iggy.send", "0.8").rejects("editions/0-9", "A send of 0.9 (W23)", W23, "length-mismatch", at=24 + 4, also=("truncated", "length-past-end"), twin=TWO, doc=doc, rules=("iggy.send.headed.editions",), why="A client of 0.9 at a server of 0.8: the index says where its messages end.")
