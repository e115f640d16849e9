"""Profile `produce`: what brokers refuse, what they take though nobody should write it, what encoders write.

kafka.md §1.7, §2.2, §3. An encode case of this profile passes only if a broker would take the bytes without
a remark.
"""

from typing import Any

from tests.authoring.case_builder import CaseBuilder
from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka.batch_v2 import TWO
from tests.authoring.kafka.entry_bytes import (
    T,
    batch,
    batch_value,
    gzip,
    message,
    message_value,
    record,
    record_value,
)
from tests.authoring.kafka.log import log
from tests.authoring.kafka.message_sets import pair, pair_value

HELD = {"profile": "produce"}
WRAPPED = ["codec:gzip", "feature:wrapper"]
KV = (record_value(b"k", b"v"),)
RECORDS = "kafka.produce.count", "kafka.produce.deltas"


def write(writer: FixtureWriter) -> None:
    v0, v1, v2 = (CaseBuilder(writer, "kafka.batch", f"v{magic}") for magic in (0, 1, 2))
    for chapter in (_fields, _times, _encoded, _packed):
        chapter(v2)
    _wrapper(v0, 0)
    _wrapper(v1, 1)
    _odd_wrapper(v1)
    _requests(CaseBuilder(writer, "kafka.log", "mixed"))


def rows(*stamps: int, base_ts: int = T) -> tuple[bytes, list[Any]]:
    """A record of k and v at each of these timestamp deltas, and their values."""
    raw = b"".join(record(b"k", b"v", ts=ts, off=n) for n, ts in enumerate(stamps))
    return raw, [record_value(b"k", b"v", ts=ts, off=n, base_ts=base_ts) for n, ts in enumerate(stamps)]


def _fields(s: CaseBuilder) -> None:
    """§1.7: stored as they are, or lost when the broker writes the attributes anew."""
    def odd(name: str, title: str, raw: bytes, value: list[Any], remark: str, rule: str, why: str, needs: tuple[str, ...] = (), **fields: int) -> None:
        count = len(value)
        s.accepts(f"produce/{name}", title, batch(raw, count, **fields), batch_value(value, **fields), doc="kafka.md §1.7", rules=(f"kafka.produce.{rule}",), remarks=(remark,), why=why, needs=[*needs], **HELD)
    stored = "The broker counts and stores: every consumer finds offsets that nobody was told."
    odd("deltas-duplicate", "offsetDelta 0 twice", record(b"a", b"1") + record(b"b", b"2"), [record_value(b"a", b"1"), record_value(b"b", b"2")], "offset-delta", "deltas", stored, last=1)
    odd("deltas-descending", "offsetDelta 1, then 0", record(b"a", b"1", off=1) + record(b"b", b"2"), [record_value(b"a", b"1", off=1), record_value(b"b", b"2")], "offset-delta", "deltas", stored, last=1)
    lost = "The broker drops the bit where it writes the attributes again, and keeps it elsewhere."
    odd("unused-bit-7", "Attribute bit 7", record(b"k", b"v"), [*KV], "unknown-attr-bits", "unused-bits", lost, attributes=0x80)
    odd("record-attributes", "Record attributes 1", record(b"k", b"v", attributes=1), [record_value(b"k", b"v", attributes=1)], "record-attrs", "unused-bits", "Nobody gives the byte a meaning; whoever does later finds old bytes.")
    odd("delete-horizon", "The bit of the delete horizon", record(b"k", b"v"), [*KV], "produce-delete-horizon", "unused-bits", "The cleaner's bit: it makes of baseTimestamp the day on which records vanish.", ("feature:delete-horizon",), attributes=0x40)
    odd("no-epoch", "producerId and sequence without epoch", record(b"k", b"v"), [*KV], "producer-fields", "sequence", "Brokers cannot tell a fenced producer from this one.", pid=1000, seq=0)
    s.accepts("produce/sequence-last", "baseSequence 2^31 − 1 over two records", batch(TWO, 2, max_ts=T + 1, pid=1000, pepoch=0, seq=(1 << 31) - 1),
         batch_value([record_value(b"a", b"1"), record_value(b"b", b"2", ts=1, off=1)], max_ts=T + 1, pid=1000, pepoch=0, seq=(1 << 31) - 1), doc="kafka.md §1.7, §1.10", rules=("kafka.produce.sequence", "kafka.v2.sequence"),
         why="The sequence behind it is 0, not below zero.", **HELD)


def _times(s: CaseBuilder) -> None:
    raw, values = rows(0, 4, 2)
    s.accepts("produce/max-timestamp", "Times 0, 4 and 2 behind the base, maxTimestamp 4 behind it", batch(raw, 3, max_ts=T + 4), batch_value(values, max_ts=T + 4), doc="kafka.md §1.1, §12", rules=("kafka.produce.max-timestamp", *RECORDS),
         why="Neither the last record's time nor the first one's.", **HELD)
    for name, most, title in (("of-last", T + 2, "the last record's"), ("of-first", T, "the first record's"), ("none", -1, "−1")):
        s.accepts(f"produce/max-timestamp-{name}", f"maxTimestamp is {title}", batch(raw, 3, max_ts=most), batch_value(values, max_ts=most), doc="kafka.md §1.1, §12", rules=("kafka.produce.max-timestamp",), remarks=("max-timestamp",),
             why="An index by time is built from it: records that are later are not found.", **HELD)


def _encode(s: CaseBuilder, name: str, title: str, value: Any, why: str, rules: tuple[str, ...], data: bytes | None = None, needs: tuple[str, ...] = ()) -> None:
    accept = {"value": value} | ({} if data is None else {"bytes": [data.hex()]})
    s.writer.add({"id": f"{s.prefix}produce/encode-{name}", "title": title, "why": why, "op": "encode", "level": "must", "rules": list(rules), "input": {"value": value}, "expect": {"accept": accept},
                "needs": list(needs), "source": {"origin": "builder", "document": "kafka.md §1.7"}, **HELD})


def _encoded(s: CaseBuilder) -> None:
    """What a producer writes, field by field: one way only where nothing is packed."""
    def accepts(name: str, title: str, why: str, rules: tuple[str, ...], *stamps: int, needs: tuple[str, ...] = (), **fields: int) -> None:
        raw, values = rows(*stamps)
        fields = {"epoch": -1, "max_ts": T + max(stamps), **fields}
        _encode(s, name, title, batch_value(values, **fields), why, rules, batch(raw, len(stamps), **fields), needs)
    counted = "The broker refuses a range of offsets that is not the count, or once stored it."
    accepts("three-records", "Three records: lastOffsetDelta 2, deltas 0, 1 and 2", counted, (*RECORDS, "kafka.produce.base-offset"), 0, 0, 0)
    accepts("max-timestamp", "Times 0, 4 and 2 behind the base: maxTimestamp 4 behind it", "A time index is built from it.", ("kafka.produce.max-timestamp",), 0, 4, 2)
    accepts("create-time", "Create time: bits 3 and 6 to 15 are 0", "A broker refuses the bit of append time, or clears it.", ("kafka.produce.timestamp-type", "kafka.produce.unused-bits"), 0)
    producer = {"pid": 1000, "pepoch": 3}
    accepts("idempotent", "producerId, epoch and sequence 7", "The broker finds duplicates by these three.", ("kafka.produce.sequence",), 0, 1, needs=("feature:idempotent",), seq=7, **producer)
    accepts("sequence-last", "Sequence 2^31 − 1, which wraps behind the first of two records", "Kept in more than 31 bits it is one that the broker never expects.", ("kafka.produce.sequence",), 0, 1, needs=("feature:idempotent",), seq=(1 << 31) - 1, **producer)
    accepts("transactional", "A transactional batch", "The bit and the three fields of the producer go together.", ("kafka.produce.sequence",), 0, needs=("feature:transactional", "feature:idempotent"), seq=0, attributes=0x10, **producer)


def _packed(s: CaseBuilder) -> None:
    """§3: the frames of every codec, without what readers merely tolerate."""
    text = b"1" * 300
    whole = [record_value(b"a", text), record_value(b"b", text, ts=1, off=1)]
    for codec, name in ((1, "gzip"), (2, "snappy"), (3, "lz4"), (4, "zstd")):
        _encode(s, name, f"Two records in {name}", batch_value(whole, epoch=-1, max_ts=T + 1, attributes=codec), "What others tolerate in the frame of a codec is not for a producer to write: a strict reader refuses it.",
                ("kafka.v2.encode.codec", "kafka.produce.deltas"), needs=(f"codec:{name}",))


def _wrapper(s: CaseBuilder, magic: int) -> None:
    """§2.2: one wrapper around the whole set, inner offsets 0, 1, 2, no outer key."""
    inner = pair(magic)[0]
    fields = {"offset": 1, "attributes": 1, "ts": T + 1}
    value = message_value(magic, None, None, messages=pair_value(magic, (0, 1)), **fields)
    rules = ("kafka.produce.inner-offsets", "kafka.produce.outer-key", "kafka.produce.inner-magic", "kafka.produce.wrapper-crc")
    s.accepts("produce/wrapper-from-zero", "A wrapper at offset 1 around inner offsets 0 and 1", message(magic, None, gzip(inner), **fields), value, doc="kafka.md §1.7, §2.2", rules=rules, needs=WRAPPED,
         why="The broker counts on from here without packing the set again.", **HELD)
    text = "31" * 300
    for codec, name in ((1, "gzip"), (2, "snappy"), (3, "lz4")):
        held = {**fields, "attributes": codec}
        longer = [{**one, "value": text} for one in pair_value(magic, (0, 1))]
        _encode(s, f"wrapper-{name}", f"Two messages in one {name} wrapper", message_value(magic, None, None, messages=longer, **held), "A wrapper for each message, offsets that do not count, or a key outside: the broker packs all of it again.",
                rules[:2], needs=(f"codec:{name}", "feature:wrapper"))


def _odd_wrapper(s: CaseBuilder) -> None:
    fields = {"offset": 1, "attributes": 1, "ts": T + 1}
    def odd(name: str, title: str, remark: str, rule: str, why: str, *, key: bytes | None = None, stored: tuple[int, int] = (0, 1), offsets: tuple[int, int] = (0, 1), **other: int) -> None:
        held = {**fields, **other}
        s.accepts(f"produce/{name}", title, message(1, key, gzip(pair(1, stored)[0]), **held), message_value(1, key, None, messages=pair_value(1, offsets), **held), doc="kafka.md §1.7, §2.2", rules=(f"kafka.produce.{rule}",), remarks=(remark,) if remark != "both" else ("inner-offsets", "produce-inner-offsets"),
             why=why, needs=WRAPPED, **HELD)
    again = "The broker takes the set, packs it again and forgets this: it costs the broker, not the producer."
    odd("wrapper-inner-zero", "Both inner offsets 0", "both", "inner-offsets", again, stored=(0, 0), offsets=(1, 1))
    odd("wrapper-inner-gap", "Inner offsets 0 and 2", "produce-inner-offsets", "inner-offsets", again, stored=(0, 2), offsets=(0, 2), offset=2)
    odd("wrapper-key", "A key outside", "wrapper-key", "outer-key", "Nobody reads it, and a compacting broker once took it for the messages' own.", key=b"k")
    odd("wrapper-timestamp-low", "The wrapper's timestamp is the first message's", "max-timestamp", "max-timestamp", "Under create time it is the latest inner one.", ts=T)


def _requests(s: CaseBuilder) -> None:
    """LogValidator takes the first batch of a compressed set and refuses a second one."""
    fields = {"offset": 1, "attributes": 1, "ts": T + 1}
    raw, value = message(1, None, gzip(pair(1)[0]), **fields), message_value(1, None, None, messages=pair_value(1, (0, 1)), **fields)
    rules = ("kafka.produce.one-wrapper",)
    s.accepts("produce/one-wrapper", "A request of one wrapper", raw, log(value), doc="kafka.md §1.7", rules=rules, needs=WRAPPED, why="What brokers take.", **HELD)
    for name, title, data in (("two-wrappers", "A request of two wrappers", raw * 2), ("wrapper-then-message", "A wrapper, and a message that is not packed", raw + message(1, b"k", b"v", offset=2))):
        s.rejects(f"produce/{name}", title, data, "not-permitted", at=len(data), twin="produce/one-wrapper", doc="kafka.md §1.7", rules=rules, needs=WRAPPED, also=("bad-offset", "count-mismatch"),
             why="A compressed set is one wrapper: the broker refuses the request.", **HELD)
