"""`iggy.send`, `iggy.poll` and `iggy.log` of 0.11: batches and their frames, iggy.md §6. No code of the codec."""

# fmt: off

from typing import Any

import xxhash

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.iggy.case_builder import CaseBuilder
from tests.authoring.iggy.documented_bytes import W23, W24, W25, W26, W27
from tests.authoring.iggy.headers_from_0_9 import KEY1, OPAQUE, Keyed, block, keyed_value
from tests.authoring.iggy.message_bytes import HELLO, WORLD, kind_value, tagged, u32, u64, u128
from tests.authoring.iggy.message_bytes_from_0_7 import OT, ST, metadata
from tests.authoring.iggy.send_and_poll_from_0_7 import value

DOC = "iggy.md §6"
HEAD, BATCH, FRAME = 16, 256, 48
"""Bytes of the prefix of a poll, and of the headers of a batch and of a frame."""
TO_0: dict[str, Any] = {"partitioning": tagged(2, u32(0))}
AT_0 = kind_value("partition_id", u32(0))
START = 28
"""Where the batch of a send to a partition begins."""
xxh3 = xxhash.xxh3_64_intdigest


def frame(number: int, payload: bytes, headers: bytes = b"", *, delta: int = 0, late: int = 0, reserved: int = 0, checksum: int | None = None, headers_length: int | None = None, payload_length: int | None = None) -> bytes:
    sizes = (len(headers) if headers_length is None else headers_length, len(payload) if payload_length is None else payload_length)
    rest = u128(number) + u32(delta) + u32(late) + u32(sizes[0]) + u32(sizes[1]) + u64(reserved) + payload + headers
    return u64(xxh3(rest) if checksum is None else checksum) + rest


def batch(*frames: bytes, partition: int = 0, base: int = 0, timestamp: int = ST, origin: int = OT, length: int | None = None, count: int | None = None, checksum: int | None = None, reserved: bytes = bytes(204)) -> bytes:
    fields = u64(partition) + u64(base) + u64(timestamp) + u64(origin) + u64(BATCH + sum(map(len, frames)) if length is None else length)
    number = u32(len(frames) if count is None else count)
    seal = xxh3(fields + number + b"".join(one[:8] for one in frames)) if checksum is None else checksum
    return fields + u64(seal) + number + reserved + b"".join(frames)


def sent(*frames: bytes, count: int | None = None, behind: bytes = b"", **more: Any) -> bytes:
    """A send to partition 0, which a producer leaves to the server to set."""
    return metadata(len(frames) if count is None else count, **TO_0) + batch(*frames, **{"timestamp": 0, **more}) + behind


def sent_value(number: int, payload: bytes, *headers: Keyed, late: int = 0, kept: bytes | None = None) -> dict[str, Any]:
    return {"id": str(number), "origin_timestamp": str(OT + late), "headers": keyed_value(*headers) if kept is None else kept.hex(), "payload": payload.hex()}


def sends(*rows: Any) -> dict[str, Any]:
    return value(*rows, partitioning=AT_0)


def told(data: bytes, *headers: Keyed, base: int = 0, timestamp: int = ST, origin: int = OT, kept: bool = False) -> dict[str, Any]:
    """The value of a frame, from its bytes."""
    def number(at: int, size: int) -> int:
        return int.from_bytes(data[at : at + size], "little")

    stop = FRAME + number(36, 4)
    return {"checksum": str(number(0, 8)), "id": str(number(8, 16)), "offset_delta": str(number(24, 4)), "timestamp_delta": str(number(28, 4)), "headers": data[stop:].hex() if kept else keyed_value(*headers),
            "payload": data[FRAME:stop].hex(), "offset": str((base + number(24, 4)) % (1 << 64)), "timestamp": str(timestamp), "origin_timestamp": str((origin + number(28, 4)) % (1 << 64))}


def head(data: bytes, count: int) -> dict[str, str]:
    """The value of the header of a batch, from its bytes."""
    places = {"partition_id": 0, "base_offset": 8, "base_timestamp": 16, "origin_timestamp": 24}
    fields = {name: str(int.from_bytes(data[at : at + 8], "little")) for name, at in places.items()}
    return {**fields, "message_count": str(count), "batch_checksum": str(int.from_bytes(data[40:48], "little"))}


def polls(batches: list[Any], rows: list[Any], *, partition: int = 0, current: int = 1) -> dict[str, Any]:
    return {"partition_id": str(partition), "current_offset": str(current), "batches": batches, "messages": rows}


def poll(count: int, *batches: bytes, partition: int = 0, current: int = 1) -> bytes:
    return u32(partition) + u64(current) + u32(count) + b"".join(batches)


ONE, TWO = frame(1, HELLO), frame(2, WORLD, block(KEY1), delta=1, late=5)
PLAIN = frame(2, WORLD, delta=1, late=5)
PAIR = batch(ONE, TWO)
TWIN = "messages/two"


def write(writer: FixtureWriter) -> None:
    s, p = CaseBuilder(writer, "iggy.send", "0.11"), CaseBuilder(writer, "iggy.poll", "0.11")
    _sends(s)
    _send_faults(s)
    _polls(p)
    _poll_faults(p)
    _blocks(s, p)
    _crossed(s, p)
    _log(CaseBuilder(writer, "iggy.log", "0.11"))


def _sends(s: CaseBuilder) -> None:
    layout, check, count = ("iggy.send.batch.layout",), ("iggy.send.batch.checksum",), ("iggy.send.batch.count",)
    two = sends(sent_value(1, HELLO), sent_value(2, WORLD, KEY1, late=5))
    every = (*layout, *check, *count, "iggy.send.batch.length", "iggy.send.batch.reserved", "iggy.send.headed.metadata")
    s.accepts(TWIN, "Two messages, the second with a header (W25)", W25, two, doc="iggy.md §13 W25 [RUN-R11]", origin="document", rules=every, why="The first frame was captured byte for byte from iggy 0.11.0.")
    s.accepts("messages/one", "One message", sent(ONE), sends(sent_value(1, HELLO)), doc=DOC, rules=every, why="The smallest useful send.")
    s.accepts("messages/origins", "The second message is the older one", sent(frame(1, HELLO, late=7), frame(2, WORLD, delta=1)), sends(sent_value(1, HELLO, late=7), sent_value(2, WORLD)), doc=DOC, rules=("iggy.send.batch.origin",), why="The batch has the least of them, and each message what it is later.")
    s.accepts("messages/origin-not-least", "A batch older than each of its messages", sent(frame(1, HELLO, late=9), frame(2, WORLD, delta=1, late=(1 << 32) - 1)), sends(sent_value(1, HELLO, late=9), sent_value(2, WORLD, late=(1 << 32) - 1)), doc=DOC, rules=("iggy.send.batch.origin",), why="The deltas count, and the largest is 2^32 − 1 microseconds.")
    for label, more in (("partition-set", {"partition": 3}), ("base-offset-set", {"base": 9}), ("base-timestamp-set", {"timestamp": ST})):
        s.accepts(f"messages/{label}", f"A field that the server sets: {label}", sent(ONE, **more), sends(sent_value(1, HELLO)), doc=DOC, remarks=("iggy-unset-field",), rules=("iggy.send.batch.unset",), why="The server overwrites it.")
    s.accepts("messages/offset-delta-5", "An offset delta that is not the message's place", sent(frame(1, HELLO, delta=5)), sends(sent_value(1, HELLO)), doc=DOC, remarks=("iggy-offset-delta",), rules=("iggy.send.batch.unset",), why="Kept, it would leave a gap in the partition.")
    s.accepts("messages/id-0", "Id 0", sent(frame(0, HELLO)), sends(sent_value(0, HELLO)), doc="iggy.md §2.5 [RUN-R11]", remarks=("iggy-unminted-id",), rules=("iggy.send.batch.id",), why="The producer mints ids from 0.11.0 on; the server does not look.")
    top = (1 << 128) - 1
    s.accepts("messages/id-max", "Id 2^128 − 1", sent(frame(top, HELLO)), sends(sent_value(top, HELLO)), doc="iggy.md §2.5", rules=("iggy.send.batch.id", "iggy.send.id"), why="128 bits.")
    s.accepts("messages/payload-empty", "An empty payload", sent(frame(1, b""), PLAIN), sends(sent_value(1, b""), sent_value(2, WORLD, late=5)), doc=DOC, remarks=("iggy-empty-payload",), rules=("iggy.send.headed.payload.empty",), why="The server does not look; the client's builder refuses it.")
    refused = ("iggy.send.encode",)
    s.writes("encode/two", "Two messages (W25)", two, W25, doc="iggy.md §13 W25", rules=(*layout, *check), why="The worked example.")
    s.writes("encode/one", "One message", sends(sent_value(1, HELLO)), sent(ONE), doc=DOC, rules=layout, why="256 bytes of header and 48 of frame.")
    some = 0x0102030405060708090A0B0C0D0E0F10
    s.writes("encode/id-bytes", "An id of sixteen different bytes", sends(sent_value(some, HELLO)), sent(frame(some, HELLO)), doc="iggy.md §2.5, §11.1 J5", rules=("iggy.send.batch.id",), why="Java writes the id of a polled message backwards.")
    s.writes("encode/origins", "The second message is the older one", sends(sent_value(1, HELLO, late=7), sent_value(2, WORLD)), sent(frame(1, HELLO, late=7), frame(2, WORLD, delta=1)), doc=DOC, rules=("iggy.send.batch.origin",), why="The origin of the batch is the least.")
    s.writes("encode/encrypted", "An encrypted block of headers", sends(sent_value(1, HELLO, kept=OPAQUE)), sent(frame(1, HELLO, OPAQUE)), doc="iggy.md §1, 4ca3cf2b3", rules=("iggy.send.headed.opaque",), why="Headers are encrypted together with the payload.")
    rows = (("string", b"b", "raw", b"1"), ("string", b"a", "raw", b"2"))
    s.writes("encode/two-headers", "Two headers, in either order", sends(sent_value(1, HELLO, *rows)), *(sent(frame(1, HELLO, block(*order))) for order in (rows, rows[::-1])), doc="iggy.md §2.4", rules=layout, why="Rust sorts them, others keep the order of insertion.")
    for label, bad in (("none", sends()), ("payload-empty", sends(sent_value(1, b""))), ("origins-too-far", sends(sent_value(1, HELLO), sent_value(2, WORLD, late=1 << 32)))):
        s.refuses(f"encode/{label}", f"A send that no client writes: {label}", bad, twin="encode/one", doc=DOC, rules=refused, also=("bad-length", "type-mismatch", "count-mismatch", "limit-exceeded"), why="Cut, a delta of 2^32 is 0.")


def _send_faults(s: CaseBuilder) -> None:
    check, count, length, reserved = ("iggy.send.batch.checksum",), ("iggy.send.batch.count",), ("iggy.send.batch.length",), ("iggy.send.batch.reserved",)
    both = ONE + TWO
    s.rejects("checksum/frame", "A frame with another checksum", sent(frame(1, HELLO, checksum=1)), "crc-mismatch", at=START + BATCH, twin=TWIN, doc=DOC, rules=check, why="The server verifies every frame.")
    s.rejects("checksum/payload-flipped", "A payload with another bit", sent(ONE[:-1] + b"n"), "crc-mismatch", at=START + BATCH, twin=TWIN, doc=DOC, rules=check, why="What the checksum is there for.")
    s.rejects("checksum/batch", "A batch with another checksum", sent(ONE, checksum=1), "crc-mismatch", at=START + 40, twin=TWIN, doc=DOC, rules=check, why="InvalidBatchChecksum 4039.")
    s.rejects("checksum/batch-over-frames", "A batch checksum over whole frames", sent(ONE, checksum=xxh3(batch(ONE, timestamp=0)[:40] + u32(1) + ONE)), "crc-mismatch", at=START + 40, twin=TWIN, doc=DOC, rules=check, why="It is over the fields and the checksums of the frames.")
    for label, number in (("batch-1", 1), ("batch-3", 3), ("batch-huge", 0xFFFFFFFF)):
        s.rejects(f"count/{label}", f"A batch of two frames that counts {number}", metadata(2, **TO_0) + batch(ONE, TWO, timestamp=0, count=number), "count-mismatch", at=START + 48, also=("truncated", "trailing-data", "length-mismatch"), twin=TWIN, doc=DOC, rules=count, flags=["resource"], limits={"ms": 1000, "rss_mb": 512}, why="The server compares it.")
    for label, number in (("body-1", 1), ("body-3", 3)):
        s.rejects(f"count/{label}", f"A body of two messages that counts {number}", sent(ONE, TWO, count=number), "count-mismatch", also=("truncated", "trailing-data", "length-mismatch"), twin=TWIN, doc=DOC, rules=count, why="InvalidMessagesCount.")
    s.rejects("count/none", "A batch without frames", sent(), "count-mismatch", also=("missing-field", "bad-length", "truncated"), twin=TWIN, doc=DOC, rules=count, why="InvalidMessagesCount.")
    size = BATCH + len(both)
    for label, number, cls, at in (("one-more", size + 1, "truncated", START + BATCH), ("one-less", size - 1, "length-past-end", None), ("header-only", len(both), "bad-length" if len(both) < BATCH else "truncated", START + 32), ("zero", 0, "bad-length", START + 32), ("huge", (1 << 64) - 1, "truncated", START + BATCH)):
        s.rejects(f"length/{label}", f"A batch length of {label}", sent(ONE, TWO, length=number), cls, at=at, also=("truncated", "length-past-end", "length-mismatch", "trailing-data", "bad-length", "limit-exceeded", "negative-length"), twin=TWIN, doc=DOC, rules=length, flags=["resource"], limits={"ms": 1000, "rss_mb": 512}, why="It counts the header, and is exact.")
    s.rejects("length/one-byte-behind", "A byte behind the batch", sent(ONE, behind=b"\0"), "trailing-data", at=START + BATCH + len(ONE), also=("length-mismatch", "count-mismatch", "truncated"), twin=TWIN, doc=DOC, rules=length, why="One batch, and nothing else.")
    s.rejects("length/two-batches", "Two batches", metadata(2, **TO_0) + batch(ONE, timestamp=0) + batch(frame(2, WORLD), timestamp=0), "count-mismatch", also=("trailing-data", "length-mismatch"), twin=TWIN, doc=DOC, rules=length, why="A send is one batch.")
    s.rejects("length/index-of-0-9", "An index before the batch, as in 0.9", metadata(1, **TO_0) + u32(0) + u32(len(ONE)) + u64(0) + batch(ONE, timestamp=0), "bad-length", also=("truncated", "length-past-end", "reserved-nonzero", "length-mismatch", "limit-exceeded"), twin=TWIN, doc=DOC, rules=("iggy.send.headed.editions",), why="There is no index any more.")
    for label, data, at in (("batch-first", sent(ONE, reserved=b"\1" + bytes(203)), START + 52), ("batch-last", sent(ONE, reserved=bytes(203) + b"\1"), START + 52), ("frame", sent(frame(1, HELLO, reserved=1)), START + BATCH + 40)):
        s.rejects(f"reserved/{label}", f"A reserved byte that is not 0: {label}", data, "reserved-nonzero", at=at, also=("not-permitted", "invalid-value"), twin=TWIN, doc=DOC, rules=reserved, why="Bytes that a later edition may give a meaning.")
    whole = sent(ONE, TWO)
    for label, data in (("one-byte-missing", whole[:-1]), ("in-a-frame", whole[: START + BATCH + 20]), ("in-the-header", whole[: START + 100])):
        s.rejects(f"torn/{label}", f"A body cut: {label}", data, "truncated", also=("length-past-end", "length-mismatch", "count-mismatch"), twin=TWIN, doc=DOC, rules=("iggy.send.batch.length",), why="What is missing may be a message.")


def _polls(p: CaseBuilder) -> None:
    layout, slices, offsets, check = ("iggy.poll.batch.layout",), ("iggy.poll.batch.slices",), ("iggy.poll.batch.offsets",), ("iggy.poll.batch.checksum",)
    first = (told(ONE), told(TWO, KEY1))
    p.accepts(TWIN, "Two messages, the second with a header (W26)", W26, polls([head(PAIR, 2)], list(first)), doc="iggy.md §13 W26 [RUN]", origin="document", rules=(*layout, *check, "iggy.poll.batch.reserved", "iggy.poll.batch.truncated", "iggy.poll.batch.frame"), why="Rust 0.11.0, Java, Node and Go read the same.")
    sliced = W27[HEAD:]
    p.accepts("messages/sliced", "A record that the server sliced (W27)", W27, polls([head(sliced, 1)], [told(TWO, KEY1)]), doc="iggy.md §13 W27", origin="document", rules=(*slices, *offsets), why="Its first delta is 1: counted from 0 the offset is one too low, and the message comes twice.")
    late, other = batch(frame(3, b"c"), partition=0, base=2, timestamp=ST + 9, origin=OT + 8), [told(frame(3, b"c"), base=2, timestamp=ST + 9, origin=OT + 8)]
    p.accepts("messages/two-batches", "Two batches of two messages and one", poll(3, PAIR, late, current=2), polls([head(PAIR, 2), head(late, 1)], [*first, *other], current=2), doc=DOC, rules=(*layout, *offsets), why="Each has offsets and times of its own.")
    p.accepts("messages/none", "No messages", poll(0), polls([], []), doc=DOC, rules=layout, why="The consumer is up to date.")
    p.accepts("messages/resync", "Partition 2^32 − 1, no records", poll(0, partition=0xFFFFFFFF, current=0), polls([], [], partition=0xFFFFFFFF, current=0), doc=DOC + " [RUN]", rules=("iggy.poll.batch.resync",), why="The sentinel of a resync: an empty list, and no error.")
    p.accepts("messages/resync-with-offset", "Partition 2^32 − 1, and a current offset", poll(0, partition=0xFFFFFFFF, current=7), polls([], [], partition=0xFFFFFFFF, current=7), doc=DOC, rules=("iggy.poll.batch.resync",), why="It is the number of no partition.")
    empty = batch(frame(1, b""), frame(2, b"", block(KEY1), delta=1))
    p.accepts("messages/empty-payloads", "Two empty payloads", poll(2, empty), polls([head(empty, 2)], [told(frame(1, b"")), told(frame(2, b"", block(KEY1), delta=1), KEY1)]), doc=DOC + " [RUN]", rules=layout, why="All four readers deliver them.")
    gap = batch(frame(1, HELLO, delta=3), frame(2, WORLD, delta=0xFFFFFFFF, late=0xFFFFFFFF), base=1 << 40)
    rows = [told(frame(1, HELLO, delta=3), base=1 << 40), told(frame(2, WORLD, delta=0xFFFFFFFF, late=0xFFFFFFFF), base=1 << 40)]
    p.accepts("messages/deltas", "Deltas of 3 and 2^32 − 1", poll(2, gap), polls([head(gap, 2)], rows), doc=DOC, rules=offsets, why="They have 32 bits without a sign, and are added in 64.")
    fields = batch(ONE, partition=0x8102030405060708, base=0x8112131415161718, timestamp=0x8122232425262728, origin=0x8132333435363738)
    p.accepts("messages/header-bytes", "A batch header of different bytes", poll(1, fields), polls([head(fields, 1)], [told(ONE, base=0x8112131415161718, timestamp=0x8122232425262728, origin=0x8132333435363738)]), doc=DOC, rules=(*layout, "iggy.poll.headed.timestamps"), why="Each field in its place, little-endian, without a sign.")
    for label, data in (("batch", batch(ONE, checksum=1)), ("batch-zero", batch(ONE, checksum=0))):
        p.accepts(f"checksum/{label}", f"Another checksum of a {label}", poll(1, data), polls([head(data, 1)], [told(ONE)]), doc=DOC + " [RUN]", remarks=("iggy-batch-checksum",), rules=check, why="No client compares it.")
    wrong = frame(1, HELLO, checksum=1)
    p.accepts("checksum/frame", "Another checksum of a frame", poll(1, batch(wrong)), polls([head(batch(wrong), 1)], [told(wrong)]), doc=DOC + " [RUN]", remarks=("iggy-message-checksum",), rules=check, why="No client compares it.")
    for number in (1, 3):
        data = batch(ONE, TWO, count=number)
        p.accepts(f"count/batch-{number}", f"A batch of two frames that counts {number}", poll(2, data), polls([head(data, number)], list(first)), doc=DOC + " [RUN], §11.1 R9", remarks=("iggy-batch-count",), rules=("iggy.poll.batch.count",), why="No client looks at it.")
    p.accepts("count/zero-for-two", "Count 0, two messages", poll(0, PAIR), polls([head(PAIR, 2)], list(first)), doc=DOC + " [RUN], §11.1 GO3", remarks=("iggy-message-count",), rules=("iggy.poll.batch.messages-count",), why="Rust, Java and Node deliver both, Go fails.")
    p.accepts("batches/empty", "A batch without frames", poll(0, batch()), polls([head(batch(), 0)], []), doc=DOC, rules=layout, why="256 bytes are a batch.")
    p.writes("encode/worked", "Two messages (W26)", polls([head(PAIR, 2)], list(first)), W26, doc="iggy.md §13 W26", rules=(*layout, *check), why="The worked example.")
    p.writes("encode/sliced", "A sliced record (W27)", polls([head(sliced, 1)], [told(TWO, KEY1)]), W27, doc="iggy.md §13 W27", rules=slices, why="The deltas are written, not counted.")
    p.writes("encode/none", "No messages", polls([], []), poll(0), doc=DOC, rules=layout, why="A prefix and a count.")
    p.refuses("encode/delta-33-bits", "A delta of 33 bits", polls([head(PAIR, 1)], [{**first[0], "offset_delta": str(1 << 32)}]), twin="encode/worked", doc=DOC, rules=("iggy.poll.encode",), why="Cut, it is offset 0.")
    p.refuses("encode/counts-of-others", "Batches that count more than there is", polls([head(PAIR, 3)], list(first)), twin="encode/worked", doc=DOC, rules=("iggy.poll.encode",), also=("count-mismatch",), why="A message would be in no batch.")


def _poll_faults(p: CaseBuilder) -> None:
    reserved, torn, also = ("iggy.poll.batch.reserved",), ("iggy.poll.batch.truncated",), ("length-past-end", "trailing-data", "bad-length", "count-mismatch")
    for label, data, at in (("batch-first", batch(ONE, reserved=b"\1" + bytes(203)), HEAD + 52), ("batch-last", batch(ONE, reserved=bytes(203) + b"\xff"), HEAD + 52), ("frame", batch(frame(1, HELLO, reserved=1 << 63)), HEAD + BATCH + 40)):
        p.rejects(f"reserved/{label}", f"A reserved byte that is not 0: {label}", poll(1, data), "reserved-nonzero", at=at, also=("not-permitted", "invalid-value"), twin=TWIN, doc=DOC + " [RUN], §11.1 GO3, J9, C5", rules=reserved, why="Rust refuses those of a batch; Go, Java, Node and C# look at those of a frame only.")
    for label, number in (("nine", 9), ("huge", 0xFFFFFFFF)):
        p.rejects(f"count/{label}-for-two", f"Count {number}, two messages", poll(number, PAIR), "count-mismatch", at=12, also=("truncated", "limit-exceeded"), twin=TWIN, doc=DOC + ", §11.1 R9, GO3", rules=("iggy.poll.batch.messages-count",), flags=["resource"], limits={"ms": 1000, "rss_mb": 512}, why="Batches may be missing; Go alone notices.")
    whole = poll(2, PAIR)
    for label, data, cls in (("one-byte-missing", whole[:-1], "truncated"), ("one-byte-more", whole + b"\0", "trailing-data"), ("header-of-zeros-more", whole + bytes(BATCH), "bad-length"), ("in-a-header", whole[: HEAD + 100], "truncated"), ("in-a-frame", whole[: HEAD + BATCH + 20], "truncated"), ("in-the-prefix", whole[:15], "truncated"), ("empty", b"", "truncated")):
        p.rejects(f"torn/{label}", f"A body that ends too soon or too late: {label}", data, cls, also=[one for one in ("truncated", *also) if one != cls], twin=TWIN, doc=DOC + " [RUN]", rules=("iggy.poll.batch.empty-body",) if label == "empty" else torn, why="Go takes an empty body for an empty poll; the others fail.")
    for label, data, cls, at in (("zero", batch(ONE, length=0), "bad-length", HEAD + 32), ("255", batch(ONE, length=255), "bad-length", HEAD + 32), ("one-more", batch(ONE, length=BATCH + len(ONE) + 1), "truncated", None), ("one-less", batch(ONE, length=BATCH + len(ONE) - 1), "length-past-end", None), ("huge", batch(ONE, length=(1 << 64) - 1), "truncated", None), ("header-left-out", batch(ONE, length=len(ONE)), "bad-length", HEAD + 32)):
        p.rejects(f"length/{label}", f"A batch length that is wrong: {label}", poll(1, data), cls, at=at, also=[one for one in ("truncated", "length-mismatch", "limit-exceeded", "negative-length", *also) if one != cls], twin=TWIN, doc=DOC, rules=torn, flags=["resource"], limits={"ms": 1000, "rss_mb": 512}, why="The next batch begins there.")
    for label, field in (("payload", "payload_length"), ("headers", "headers_length")):
        for number in (6 if label == "payload" else 1, 0xFFFFFFFF):
            data = batch(frame(1, HELLO, **{field: number}))
            p.rejects(f"frames/{label}-length-{number}", f"A length of the {label} of {number}", poll(1, data), "length-past-end", at=HEAD + BATCH + FRAME + (5 if label == "headers" else 0), also=("truncated", "bad-length", "trailing-data"), twin=TWIN, doc=DOC, rules=("iggy.poll.batch.frame",), flags=["resource"], limits={"ms": 1000, "rss_mb": 512}, why="A frame lies inside its batch.")
    p.rejects("frames/47-bytes", "A batch with 47 bytes of a second frame", poll(1, batch(ONE, TWO[:47])), "length-past-end", also=("truncated", "trailing-data", "bad-length"), twin=TWIN, doc=DOC, rules=("iggy.poll.batch.frame",), why="Less than the header of a frame is none.")


def _blocks(s: CaseBuilder, p: CaseBuilder) -> None:
    """§6, §10.2: the golden body of the repository has opaque headers."""
    one = block(KEY1)
    twice: tuple[Keyed, ...] = (("string", b"k", "string", b"a"), ("string", b"k", "string", b"b"))
    for label, kept in (("opaque", OPAQUE), ("cut", one[:-1]), ("one-byte-more", one + b"\xff"), ("kind-16", one.replace(b"key-1\2", b"key-1\x10")), ("key-kind-255", b"\xff" + one[1:]), ("value-empty", block(("string", b"k", "string", b"")))):
        data = frame(1, HELLO, kept)
        s.accepts(f"headers/{label}", f"A block that is no map: {label}", sent(data), sends(sent_value(1, HELLO, kept=kept)), doc="iggy.md §6, §10.2, §11.1 R11", remarks=("iggy-opaque-headers",), rules=("iggy.send.headed.opaque",), why="The server does not look inside.")
        p.accepts(f"headers/{label}", f"A block that is no map: {label}", poll(2, batch(data, PLAIN)), polls([head(batch(data, PLAIN), 2)], [told(data, kept=True), told(PLAIN)]), doc="iggy.md §6, §10.2, §11.1 R11, N4", remarks=("iggy-opaque-headers",), level="should" if "kind-" in label else "must", rules=("iggy.poll.headed.opaque",), why="Rust and Java give no headers, Go the bytes; Node throws the whole poll away.")
    data = frame(1, HELLO, block(*twice))
    p.accepts("headers/duplicate-key", "One key twice, and a message behind it", poll(2, batch(data, PLAIN)), polls([head(batch(data, PLAIN), 2)], [told(data, *twice), told(PLAIN)]), doc="iggy.md §10.1", remarks=("iggy-duplicate-header",), rules=("iggy.poll.headed.frame",), why="Rust and Java keep the last, Go and Node both.")
    short: Keyed = ("string", b"k", "int32", b"\1\2\3")
    data = frame(1, HELLO, block(short))
    p.accepts("headers/int32-3-bytes", "An int32 of three bytes", poll(2, batch(data, PLAIN)), polls([head(batch(data, PLAIN), 2)], [told(data, short), told(PLAIN)]), doc="iggy.md §10.2", remarks=("iggy-header-size",), level="should", rules=("iggy.poll.headed.frame",), why="The wire validator passes it, what makes a map of it does not.")
    unsorted: tuple[Keyed, ...] = (("string", b"b", "raw", b"1"), ("string", b"a", "raw", b"2"))
    data = frame(1, HELLO, block(*unsorted))
    p.accepts("headers/unsorted", "Two headers in the order of their insertion", poll(1, batch(data)), polls([head(batch(data), 1)], [told(data, *unsorted)]), doc="iggy.md §2.4, §10.1", rules=("iggy.poll.headed.headers",), why="Node, Go and C# do not sort.")


def _crossed(s: CaseBuilder, p: CaseBuilder) -> None:
    also = ("truncated", "length-past-end", "bad-length", "reserved-nonzero", "trailing-data", "limit-exceeded", "count-mismatch", "length-mismatch")
    p.rejects("editions/0-9", "A response of 0.9 (W24)", W24, "bad-length", also=[one for one in also if one != "bad-length"], twin=TWIN, doc="iggy.md §1, §6", rules=("iggy.poll.headed.editions",), why="Messages without a batch.")
    s.rejects("editions/0-9", "A send of 0.9 (W23)", W23, "bad-length", also=[one for one in also if one != "bad-length"], twin=TWIN, doc="iggy.md §1, §6", rules=("iggy.send.headed.editions",), why="An index without a batch.")
    CaseBuilder(p.writer, "iggy.poll", "0.9").rejects("editions/0-11", "A response of 0.11 (W26)", W26, "truncated", also=[one for one in also if one != "truncated"], twin="messages/worked", doc="iggy.md §1, §6", rules=("iggy.poll.headed.editions",), why="The header of a batch is taken for that of a message.")
    CaseBuilder(p.writer, "iggy.send", "0.9").rejects("editions/0-11", "A send of 0.11 (W25)", W25, "reserved-nonzero", also=[one for one in also if one != "reserved-nonzero"], twin=TWIN, doc="iggy.md §1, §6", rules=("iggy.send.headed.editions",), why="A client of 0.11 at a server of 0.9.")


# --- segment files ---


def _log(s: CaseBuilder) -> None:
    """§7: batch records as served."""
    doc, tail, check, layout = "iggy.md §6, §7", ("iggy.log.batch.tail",), ("iggy.log.batch.checksum",), ("iggy.log.batch.layout",)

    def record(data: bytes, rows: list[Any]) -> dict[str, Any]:
        fields = head(data, 0)
        del fields["message_count"]
        return {**fields, "messages": rows}

    def file(*rows: Any) -> dict[str, Any]:
        return {"batches": list(rows)}

    a = record(PAIR, [told(ONE), told(TWO, KEY1)])
    later = batch(frame(3, b"c"), base=2)
    b = record(later, [told(frame(3, b"c"), base=2)])
    s.accepts("records/worked", "The batch of W26, as it lies on disk", W26[HEAD:], file(a), doc="iggy.md §7, §13 W26", origin="document", rules=(*layout, *check), why="The record is the batch as it is served.")
    s.accepts("records/two", "Two batches", PAIR + later, file(a, b), doc=doc, rules=(*layout, *check, "iggy.log.batch.frame"), why="Back to back, no file header.")
    s.accepts("records/none", "An empty file", b"", file(), doc=doc, rules=tail, why="A segment that was opened and not written.")
    bare = batch(base=2)
    s.accepts("records/batch-of-none", "A batch without messages", bare, file(record(bare, [])), doc=doc, rules=(*layout, *check), why="256 bytes are a batch.")
    for label, size in (("last-byte", 1), ("in-the-header", len(later) - 100), ("in-the-length", len(later) - 35)):
        s.accepts(f"records/torn-{label}", f"The second batch is torn: {label}", (PAIR + later)[:-size], file(a), consumed=len(PAIR), doc=doc, rules=tail, why="What is whole before it must not be lost.")
    shown = {"before": file(a), "twin": "records/two", "doc": doc}
    start = len(PAIR)
    s.rejects("records/payload-flipped", "A payload with another bit", PAIR + later[:-1] + b"d", "crc-mismatch", at=start + BATCH, rules=check, why="A disk that lost a bit.", **shown)
    s.rejects("records/batch-checksum", "Another checksum of a batch", PAIR + batch(frame(3, b"c"), base=2, checksum=1), "crc-mismatch", at=start + 40, rules=check, why="InvalidBatchChecksum.", **shown)
    s.rejects("records/count-2", "A batch of one frame that counts two", PAIR + batch(frame(3, b"c"), base=2, count=2), "count-mismatch", at=start + 48, also=("crc-mismatch", "truncated", "length-past-end"), rules=("iggy.log.batch.frame",), why="One of them is lost.", **shown)
    s.rejects("records/reserved", "A reserved byte that is not 0", PAIR + batch(frame(3, b"c"), base=2, reserved=bytes(203) + b"\1"), "reserved-nonzero", at=start + 52, also=("crc-mismatch", "not-permitted"), rules=("iggy.log.batch.frame",), why="It is in no checksum.", **shown)
    s.rejects("records/length-255", "A batch length of 255", PAIR + batch(frame(3, b"c"), base=2, length=255), "bad-length", at=start + 32, also=("crc-mismatch", "truncated", "length-mismatch"), rules=("iggy.log.batch.frame",), why="Less than the header that says so.", **shown)
    kept = batch(frame(1, HELLO, OPAQUE))
    s.accepts("records/opaque-headers", "Headers that are encrypted", kept, file(record(kept, [told(frame(1, HELLO, OPAQUE), kept=True)])), doc=doc, remarks=("iggy-opaque-headers",), rules=layout, why="The server stores what it cannot read.")
    rotten = later[:-1] + b"d"
    s.scans("scan/garbage", "A rotten batch between two", (PAIR + rotten, later), [{"kind": "frame", "at": 0, "length": start, "value": a}, {"kind": "garbage", "at": start, "length": len(later), "class": "crc-mismatch"}, {"kind": "frame", "at": start + len(later), "length": len(later), "value": b}], doc=doc, rules=("iggy.log.scan",), why="Its length holds, so that the next one is found.")
    s.scans("scan/torn", "A cut tail, in three pieces", (PAIR[:10], PAIR[10:] + later[:5], later[5:200]), [{"kind": "frame", "at": 0, "length": start, "value": a}, {"kind": "tail", "at": start, "length": 200}], doc=doc, rules=("iggy.log.scan",), why="Every byte is accounted for.")
    s.scans("scan/length-zero", "A batch whose length is 0", (bytes(BATCH) + later,), [{"kind": "garbage", "at": 0, "length": BATCH, "class": "bad-length"}, {"kind": "frame", "at": BATCH, "length": len(later), "value": b}], doc=doc, rules=("iggy.log.scan",), why="A hole of zeros in a file: the scan must go on.")
    s.writes("encode/worked", "The batch of W26", file(a), W26[HEAD:], doc="iggy.md §7, §13 W26", rules=layout, why="The worked example.")
    s.writes("encode/none", "An empty file", file(), b"", doc=doc, rules=tail, why="Nothing.")
    s.writes("encode/batch-of-none", "A batch without messages", file(record(bare, [])), bare, doc=doc, rules=layout, why="256 bytes are a batch.")
