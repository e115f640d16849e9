"""`iggy.send`, `iggy.poll` and `iggy.log` of 0.11.1-edge: producers of batches, iggy.md §6.1. No code of the codec."""

# fmt: off

from typing import Any

import xxhash

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.iggy.batches_0_11 import (
    AT_0,
    BATCH,
    ONE,
    PLAIN,
    START,
    TO_0,
    frame,
    head,
    sent_value,
    told,
)
from tests.authoring.iggy.batches_0_11 import batch as plain_batch
from tests.authoring.iggy.case_builder import CaseBuilder
from tests.authoring.iggy.documented_bytes import W26
from tests.authoring.iggy.message_bytes import HELLO, WORLD, u8, u32, u64
from tests.authoring.iggy.message_bytes_from_0_7 import ST, metadata
from tests.authoring.iggy.send_and_poll_from_0_7 import value

DOC = "iggy.md §6.1"
REVISION = "0.11.1-edge"
HEAD = 40
"""Bytes of the prefix of a poll."""
SECTION = 20
"""Bytes 52 to 71 of the header of a batch."""
Numbers = tuple[int, int, int]
"""The id, the epoch and the base sequence of a producer."""
SMALL: Numbers = (4000, 3, 17)
LARGEST: Numbers = ((1 << 63) - 1, (1 << 15) - 1, (1 << 31) - 1)
BYTES: Numbers = (0x0102030405060708, 0x1112, 0x21222324)
ALSO = ("not-permitted", "invalid-value", "bad-kind", "reserved-nonzero", "limit-exceeded", "bad-length")
"""Other classes of a producer that is refused: the crate has one error for all of them."""
CONTEXT = (0x3132333435363738, 0x4142434445464748, 0x5152535455565758)


class ProvisionalCases(CaseBuilder):
    """Adds cases of one revision that only a pre-release has: one reader, so none of them is `must`."""

    def __init__(self, writer: FixtureWriter, form: str, revision: str = REVISION) -> None:
        super().__init__(writer, form, revision)

    def _add(self, *fields: Any, **more: Any) -> str:
        return super()._add(*fields, **{**more, "level": "should"})

    def _encode(self, *fields: Any, **more: Any) -> str:
        return super()._encode(*fields, **{**more, "level": "should"})


def u16(number: int) -> bytes:
    return number.to_bytes(2, "little")


def section(producer: Numbers | None, *, flags: int = 1, first: bytes = bytes(3), second: bytes = bytes(2)) -> bytes:
    if producer is None:
        return bytes(SECTION)
    number, epoch, sequence = producer
    return u8(flags) + first + u64(number) + u16(epoch) + second + u32(sequence)


def batch(*frames: bytes, producer: Numbers | None = SMALL, checksum: int | None = None, timestamp: int = ST, base: int = 0, rest: bytes = bytes(184), **odd: Any) -> bytes:
    """A batch with a producer; its checksum has the byte of its presence and its fields behind the count."""
    bare = plain_batch(*frames, timestamp=timestamp, base=base)
    named = b"" if producer is None else b"\1" + u64(producer[0]) + u16(producer[1]) + u32(producer[2])
    covered = bare[:40] + bare[48:52] + named + b"".join(one[:8] for one in frames)
    seal = xxhash.xxh3_64_intdigest(covered) if checksum is None else checksum
    return bare[:40] + u64(seal) + bare[48:52] + section(producer, **odd) + rest + bare[BATCH:]


def producer_value(producer: Numbers | None) -> dict[str, str] | None:
    if producer is None:
        return None
    return dict(zip(("producer_id", "epoch", "base_sequence"), map(str, producer), strict=True))


def sent(*frames: bytes, **more: Any) -> bytes:
    return metadata(len(frames), **TO_0) + batch(*frames, timestamp=0, **more)


def sends(*rows: Any, producer: Numbers | None = SMALL) -> dict[str, Any]:
    return {**value(*rows, partitioning=AT_0), "producer": producer_value(producer)}


def headed(data: bytes, count: int, producer: Numbers | None = SMALL) -> dict[str, Any]:
    return {**head(data, count), "producer": producer_value(producer)}


def poll(count: int, *batches: bytes, partition: int = 0, current: int = 1, context: Numbers = CONTEXT) -> bytes:
    return u32(partition) + u64(current) + u32(count) + b"".join(map(u64, context)) + b"".join(batches)


def polls(batches: list[Any], rows: list[Any], *, partition: int = 0, current: int = 1, context: Numbers = CONTEXT) -> dict[str, Any]:
    names = zip(("incarnation", "owner_generation", "metadata_op"), map(str, context), strict=True)
    return {"partition_id": str(partition), "current_offset": str(current), **dict(names), "batches": batches, "messages": rows}


HELD = sent_value(1, HELLO)
PAIR_VALUE = (HELD, sent_value(2, WORLD, late=5))
FAULTS: tuple[tuple[str, str, dict[str, Any], int, str], ...] = (
    ("flags-2", "flags of 2", {"flags": 2}, 0, "reserved-nonzero"),
    ("flags-3", "flags of 3", {"flags": 3}, 0, "reserved-nonzero"),
    ("flags-0", "a producer that the flags deny", {"flags": 0}, 1, "reserved-nonzero"),
    ("byte-53", "a byte behind the flags", {"first": b"\1\0\0"}, 1, "reserved-nonzero"),
    ("byte-55", "a byte before the id", {"first": b"\0\0\1"}, 1, "reserved-nonzero"),
    ("byte-67", "a byte behind the epoch", {"second": b"\0\1"}, 14, "reserved-nonzero"),
    ("byte-72", "a byte behind the base sequence", {"rest": b"\1" + bytes(183)}, 20, "reserved-nonzero"),
    ("byte-255", "the last byte of the header", {"rest": bytes(183) + b"\1"}, 20, "reserved-nonzero"),
)
"""Faults of a producer: name, description, the change, the position behind byte 52, and the class."""
RANGES: tuple[tuple[str, str, Numbers, int], ...] = (
    ("id-2-63", "an id of 2^63", (1 << 63, 3, 17), 4),
    ("epoch-2-15", "an epoch of 2^15", (4000, 1 << 15, 17), 12),
    ("sequence-2-31", "a base sequence of 2^31", (4000, 3, 1 << 31), 16),
)
"""Producers out of range: name, description, the producer, and the position behind byte 52."""


def write(writer: FixtureWriter) -> None:
    s, p, log = (ProvisionalCases(writer, name) for name in ("iggy.send", "iggy.poll", "iggy.log"))
    _sends(s)
    _send_faults(s)
    _polls(p)
    _poll_faults(p)
    _crossed(writer, p)
    _log(log)


def _sends(s: CaseBuilder) -> None:
    layout, check, reserved, limits = ("iggy.send.producer.layout",), ("iggy.send.producer.checksum",), ("iggy.send.producer.reserved",), ("iggy.send.producer.range",)
    s.accepts("messages/producer", "A message of an idempotent producer", sent(ONE), sends(HELD), doc=DOC, rules=(*layout, *check, *reserved, *limits), why="The server writes a batch of one producer once, also if it is sent again.")
    s.accepts("messages/two", "Two messages of a producer", sent(ONE, PLAIN), sends(*PAIR_VALUE), doc=DOC, rules=(*layout, *check), why="The sequence number is that of the first.")
    s.accepts("messages/no-producer", "A message without a producer", sent(ONE, producer=None), sends(HELD, producer=None), doc=DOC, rules=(*layout, *check, *reserved), why="The bytes and the checksum are those of 0.11.0.")
    s.accepts("messages/producer-bytes", "A producer of different bytes", sent(ONE, producer=BYTES), sends(HELD, producer=BYTES), doc=DOC, rules=layout, why="Each field in its place, little-endian.")
    s.accepts("messages/producer-largest", "The largest numbers of a producer", sent(ONE, producer=LARGEST), sends(HELD, producer=LARGEST), doc=DOC, rules=(*limits, *check), why="The ranges of Kafka, without the negative numbers.")
    s.accepts("messages/producer-0", "A producer of zeros", sent(ONE, producer=(0, 0, 0)), sends(HELD, producer=(0, 0, 0)), doc=DOC, rules=(*layout, *limits, *check), why="The flags announce it, not its numbers; it is in the checksum.")
    s.writes("encode/producer", "A message of a producer", sends(HELD), sent(ONE), doc=DOC, rules=(*layout, *check), why="The checksum has the producer behind the count.")
    s.writes("encode/no-producer", "A message without a producer", sends(HELD, producer=None), sent(ONE, producer=None), doc=DOC, rules=layout, why="As in 0.11.0.")
    s.writes("encode/producer-bytes", "A producer of different bytes", sends(HELD, producer=BYTES), sent(ONE, producer=BYTES), doc=DOC, rules=layout, why="Each field in its place.")
    for label, text, numbers, _ in RANGES:
        s.refuses(f"encode/{label}", f"A producer out of range: {text}", sends(HELD, producer=numbers), twin="encode/producer", doc=DOC, rules=("iggy.send.producer.encode",), why="The server would refuse the whole batch.")


def _send_faults(s: CaseBuilder) -> None:
    check, reserved, limits, twin = ("iggy.send.producer.checksum",), ("iggy.send.producer.reserved",), ("iggy.send.producer.range",), "messages/producer"
    bare = sent(ONE, producer=None)
    old = int.from_bytes(bare[START + 40 : START + 48], "little")
    s.rejects("checksum/without-producer", "A checksum that leaves out the producer", sent(ONE, checksum=old), "crc-mismatch", at=START + 40, twin=twin, doc=DOC, rules=check, why="The checksum of 0.11.0.")
    s.rejects("checksum/sequence-flipped", "Another sequence number", bytes((*(good := sent(ONE))[: START + 68], good[START + 68] ^ 1, *good[START + 69 :])), "crc-mismatch", at=START + 40, twin=twin, doc=DOC, rules=check, why="A batch that takes the place of another would be lost.")
    s.rejects("checksum/producer-zeroed", "A producer that was overwritten with zeros", good[: START + 52] + bytes(SECTION) + good[START + 52 + SECTION :], "crc-mismatch", at=START + 40, twin=twin, doc=DOC, rules=check, why="The batch would be written twice.")
    s.rejects("checksum/no-producer", "Another checksum, and no producer", sent(ONE, producer=None, checksum=old ^ 1), "crc-mismatch", at=START + 40, twin="messages/no-producer", doc=DOC, rules=check, why="InvalidBatchChecksum.")
    for label, text, odd, at, cls in FAULTS:
        s.rejects(f"producer/{label}", f"A malformed producer: {text}", sent(ONE, **odd), cls, at=START + 52 + at, also=[one for one in ALSO if one != cls], twin=twin, doc=DOC, rules=reserved, why="Bytes that no checksum covers, and that a later release may use.")
    for label, text, numbers, at in RANGES:
        s.rejects(f"producer/{label}", f"A producer out of range: {text}", sent(ONE, producer=numbers), "invalid-value", at=START + 52 + at, also=[one for one in ALSO if one != "invalid-value"], twin="messages/producer-largest", doc=DOC, rules=limits, why="One more than the largest.")


def _polls(p: CaseBuilder) -> None:
    layout, context, torn = ("iggy.poll.producer.layout",), ("iggy.poll.context.layout",), ("iggy.poll.context.truncated",)
    both = batch(ONE, PLAIN)
    rows = [told(ONE), told(PLAIN)]
    bare = batch(frame(3, b"c"), producer=None, base=2)
    last = [told(frame(3, b"c"), base=2)]
    p.accepts("messages/producer", "Two messages of a producer", poll(2, both), polls([headed(both, 2)], rows), doc=DOC, rules=(*layout, *context, *torn, "iggy.poll.producer.refused"), why="The batch is stored and served as it was sent.")
    p.accepts("messages/two-batches", "A batch of a producer, and one without", poll(3, both, bare, current=2), polls([headed(both, 2), headed(bare, 1, None)], [*rows, *last], current=2), doc=DOC, rules=(*layout, "iggy.poll.producer.refused"), why="Each batch has its own.")
    p.accepts("messages/none", "No messages", poll(0), polls([], []), doc=DOC, rules=(*context, *torn), why="The context is there also without messages.")
    p.accepts("messages/context-0", "A context of zeros", poll(1, bare, context=(0, 0, 0)), polls([headed(bare, 1, None)], last, context=(0, 0, 0)), doc=DOC, rules=context, why="Without a group there is no generation.")
    full = ((1 << 64) - 1, (1 << 64) - 2, (1 << 64) - 3)
    p.accepts("messages/context-max", "A context of the largest numbers", poll(0, context=full), polls([], [], context=full), doc=DOC, rules=context, why="64 bits without a sign.")
    p.accepts("messages/producer-bytes", "A producer of different bytes", poll(1, one := batch(ONE, producer=BYTES)), polls([headed(one, 1, BYTES)], [told(ONE)]), doc=DOC, rules=layout, why="Each field in its place, little-endian.")
    for label, numbers in (("1", 1), ("without-producer", int.from_bytes(plain_batch(ONE)[40:48], "little"))):
        other = batch(ONE, checksum=numbers)
        p.accepts(f"checksum/{label}", f"Another checksum of a batch: {label}", poll(1, other), polls([headed(other, 1)], [told(ONE)]), doc=DOC, remarks=("iggy-batch-checksum",), rules=("iggy.poll.producer.checksum",), why="The crate passes checksums of polls through.")
    p.writes("encode/producer", "Two messages of a producer", polls([headed(both, 2)], rows), poll(2, both), doc=DOC, rules=(*layout, *context), why="The prefix has 40 bytes.")
    p.writes("encode/none", "No messages", polls([], []), poll(0), doc=DOC, rules=context, why="A prefix alone.")


def _poll_faults(p: CaseBuilder) -> None:
    torn, refused, twin = ("iggy.poll.context.truncated",), ("iggy.poll.producer.refused",), "messages/producer"
    whole = poll(2, batch(ONE, PLAIN))
    for label, data in (("in-the-context", whole[:39]), ("behind-the-count", whole[:16]), ("in-the-producer", whole[: HEAD + 60]), ("one-byte-missing", whole[:-1])):
        p.rejects(f"torn/{label}", f"A body that is cut: {label}", data, "truncated", also=("length-past-end", "count-mismatch", "trailing-data", "bad-length"), twin=twin, doc=DOC, rules=torn, why="What is missing may be a message.")
    for label, text, odd, at, cls in FAULTS:
        p.rejects(f"producer/{label}", f"A malformed producer: {text}", poll(1, batch(ONE, **odd)), cls, at=HEAD + 52 + at, also=[one for one in ALSO if one != cls], twin=twin, doc=DOC, rules=refused, why="The reader of polls checks the layout of every header.")
    for label, text, numbers, at in RANGES:
        p.rejects(f"producer/{label}", f"A producer out of range: {text}", poll(1, batch(ONE, producer=numbers)), "invalid-value", at=HEAD + 52 + at, also=[one for one in ALSO if one != "invalid-value"], twin=twin, doc=DOC, rules=refused, why="The reader of polls checks the layout of every header.")


def _crossed(writer: FixtureWriter, p: CaseBuilder) -> None:
    also = ("truncated", "length-past-end", "bad-length", "reserved-nonzero", "trailing-data", "limit-exceeded", "count-mismatch")
    p.rejects("editions/0-11", "A response of 0.11.0 (W26)", W26, "truncated", also=[one for one in also if one != "truncated"], twin="messages/producer", doc=DOC, rules=("iggy.poll.context.truncated",), why="Its prefix has 16 bytes: the context is not there.")
    ProvisionalCases(writer, "iggy.poll", "0.11").rejects("editions/0-11-1-edge", "A response of 0.11.1-edge", poll(2, batch(ONE, PLAIN)), "bad-length", also=[one for one in also if one != "bad-length"], twin="messages/two", doc=DOC, rules=("iggy.poll.headed.editions",), why="The context is taken for the header of a batch.")
    ProvisionalCases(writer, "iggy.send", "0.11").rejects("editions/0-11-1-edge", "A send with a producer, of 0.11.1-edge", sent(ONE), "reserved-nonzero", at=START + 52, also=("crc-mismatch", "not-permitted", "invalid-value"), twin="messages/one", doc=DOC, rules=("iggy.send.batch.reserved",), why="The producer stands in bytes that 0.11.0 reserves.")


# --- segment files ---


def _log(s: CaseBuilder) -> None:
    """§6.1, §7: batch records as served."""
    doc, layout, refused = "iggy.md §6.1, §7", ("iggy.log.producer.layout",), ("iggy.log.producer.refused",)

    def record(data: bytes, rows: list[Any], producer: Numbers | None = SMALL) -> dict[str, Any]:
        fields = headed(data, 0, producer)
        del fields["message_count"]
        return {**fields, "messages": rows}

    def file(*rows: Any) -> dict[str, Any]:
        return {"batches": list(rows)}

    first, later = batch(ONE, PLAIN), batch(frame(3, b"c"), base=2, producer=(4000, 3, 19))
    bare = batch(frame(3, b"c"), base=2, producer=None)
    a = record(first, [told(ONE), told(PLAIN)])
    b = record(later, [told(frame(3, b"c"), base=2)], (4000, 3, 19))
    s.accepts("records/two", "Two batches of a producer", first + later, file(a, b), doc=doc, rules=(*layout, *refused), why="The second begins where the first ends, also in the sequence.")
    s.accepts("records/no-producer", "A batch of a producer, and one without", first + bare, file(a, record(bare, [told(frame(3, b"c"), base=2)], None)), doc=doc, rules=(*layout, *refused), why="Each batch has its own.")
    s.accepts("records/torn-in-the-producer", "The second batch is torn in its producer", first + later[:60], file(a), consumed=len(first), doc=doc, rules=layout, why="What is whole before it must not be lost.")
    shown = {"before": file(a), "twin": "records/two", "doc": doc, "rules": refused}
    start = len(first)
    for label, text, odd, at, cls in FAULTS:
        s.rejects(f"records/{label}", f"A malformed producer: {text}", first + batch(frame(3, b"c"), base=2, **odd), cls, at=start + 52 + at, also=(*(one for one in ALSO if one != cls), "crc-mismatch"), why="A disk that lost a bit.", **shown)
    for label, text, numbers, at in RANGES:
        s.rejects(f"records/{label}", f"A producer out of range: {text}", first + batch(frame(3, b"c"), base=2, producer=numbers), "invalid-value", at=start + 52 + at, also=(*(one for one in ALSO if one != "invalid-value"), "crc-mismatch"), why="No writer writes it.", **shown)
    s.rejects("records/checksum", "A checksum that leaves out the producer", first + batch(frame(3, b"c"), base=2, checksum=int.from_bytes(bare[40:48], "little")), "crc-mismatch", at=start + 40, why="The checksum of 0.11.0.", **shown)
    s.writes("encode/two", "Two batches of a producer", file(a, b), first + later, doc=doc, rules=layout, why="The batches as they were sent.")
    nothing = batch(base=2)
    for name, title, data, held, why in (
        ("none", "An empty file", b"", file(), "A segment that was opened and not written."),
        ("batch-of-none", "A batch of a producer, without messages", nothing, file(record(nothing, [])), "256 bytes are a batch."),
    ):
        s.accepts(f"records/{name}", title, data, held, doc=doc, rules=layout, why=why)
        s.writes(f"encode/{name}", title, held, data, doc=doc, rules=layout, why=why)
