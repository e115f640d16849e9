"""Profile `produce`: fields of which the text says what a producer writes, or that it may write anything. kafka.md §1.7, §2.1."""

from typing import Any

from tests.authoring.case_builder import CaseBuilder
from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka import append as stored_by_topic
from tests.authoring.kafka.entry_bytes import batch, batch_value, message, message_value, record, record_value
from tests.authoring.kafka.log import log, old

HELD = {"profile": "produce"}


def write(writer: FixtureWriter) -> None:
    v0, v1, v2 = (CaseBuilder(writer, "kafka.batch", f"v{magic}") for magic in (0, 1, 2))
    for magic, builder in ((0, v0), (1, v1)):
        _unused_bits(builder, magic)
        _plain_offsets(builder, magic)
    _request_offsets(CaseBuilder(writer, "kafka.log", "mixed"))
    _leader_epoch(v2)


def _encode(s: CaseBuilder, name: str, title: str, data: bytes, value: Any, why: str, rule: str) -> None:
    s.writer.add({"id": f"{s.prefix}produce/encode-{name}", "title": title, "why": why, "op": "encode", "level": "must", "rules": [rule], "input": {"value": value}, "expect": {"accept": {"value": value, "bytes": [data.hex()]}},
                  "source": {"origin": "builder", "document": "kafka.md §1.7, §2.1"}, **HELD})


def _unused_bits(s: CaseBuilder, magic: int) -> None:
    """§2.1: bits 4 to 7 have no meaning in v1, and bit 3 has none in v0."""
    rule, why = "kafka.produce.legacy.unused-bits", "The text asks a producer for 0; whoever gives a bit a meaning finds old messages that have it."
    bits = [(f"bit-{bit}", f"Attribute bit {bit}", 1 << bit) for bit in range(4 if magic else 3, 8)]
    for name, title, attributes in bits:
        shown = attributes - 256 if attributes > 127 else attributes
        s.accepts(f"produce/{name}", title, message(magic, b"k", b"v", attributes=attributes), message_value(magic, b"k", b"v", attributes=shown), doc="kafka.md §2.1", why=why, rules=(rule,), remarks=("unknown-attr-bits",), **HELD)
    s.accepts("produce/attributes-0", "Attributes 0", message(magic, b"k", b"v"), message_value(magic, b"k", b"v"), doc="kafka.md §2.1", why="What the text asks for.", rules=(rule,), **HELD)
    _encode(s, "attributes-0", "A plain message: attributes 0", message(magic, b"k", b"v"), message_value(magic, b"k", b"v"), why, rule)


def _plain_offsets(s: CaseBuilder, magic: int) -> None:
    """§2.1: the broker gives a plain message its offset."""
    rule, why = "kafka.produce.plain-offset", "A producer does not know the offset: a broker, or a test, that asks for 0 refuses good producers."
    for name, offset in (("1", 1), ("2-to-the-40", 1 << 40), ("int64-max", (1 << 63) - 1)):
        s.accepts(f"produce/offset-{name}", f"A plain message at offset {offset}", message(magic, b"k", b"v", offset=offset), message_value(magic, b"k", b"v", offset=offset), doc="kafka.md §2.1", why=why, rules=(rule,), **HELD)


def _request_offsets(s: CaseBuilder) -> None:
    rows = [old(1, 3), old(1, 7)]
    s.accepts("produce/plain-offsets", "A request of two v1 messages at offsets 3 and 7", b"".join(raw for raw, _ in rows), log(stored_by_topic.Sent(stored_by_topic.rows(stored_by_topic.Row(), stored_by_topic.Row())).stored()), doc="kafka.md §2.1, §1.12", why="Plain messages of a request need not count from 0, nor by one.",
              rules=("kafka.produce.plain-offset",), **HELD, **stored_by_topic.OLD)


def _leader_epoch(s: CaseBuilder) -> None:
    """§1.1: the broker writes the epoch, which lies outside the CRC."""
    rule, why = "kafka.produce.leader-epoch", "The broker overwrites it: who refuses an epoch of a producer, or builds the CRC over it, refuses good batches."
    value = [record_value(b"k", b"v")]
    for name, epoch in (("minus-1", -1), ("0", 0), ("5", 5), ("int32-max", (1 << 31) - 1)):
        s.accepts(f"produce/leader-epoch-{name}", f"partitionLeaderEpoch {epoch}", batch(record(b"k", b"v"), 1, epoch=epoch), batch_value(value, epoch=epoch), doc="kafka.md §1.1, §1.7", why=why, rules=(rule,), **HELD)
    _encode(s, "leader-epoch-5", "partitionLeaderEpoch 5", batch(record(b"k", b"v"), 1, epoch=5), batch_value(value, epoch=5), why, rule)
