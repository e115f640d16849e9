"""Profile `produce`: entries that brokers refuse, that they take though nobody should write them, and encodes.

kafka.md §1.7, §2.2, §3. An encode case of this profile passes only if a broker would take the bytes without
a remark.
"""

from typing import Any

from tests.authoring.case_builder import CaseBuilder
from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka import append as stored_by_topic
from tests.authoring.kafka.entry_bytes import (
    TWO,
    T,
    batch,
    batch_value,
    gzip,
    marker,
    message,
    message_value,
    record,
    record_value,
)  # fmt: skip  # fmt: skip
from tests.authoring.kafka.log import log, old, one
from tests.authoring.kafka.message_sets import pair, pair_value


def write(writer: FixtureWriter) -> None:
    v0, v1, v2 = (CaseBuilder(writer, "kafka.batch", f"v{magic}") for magic in (0, 1, 2))
    logs = CaseBuilder(writer, "kafka.log", "mixed")
    for chapter in (_refused, _fields, _times, _encoded, _packed, _batch_limits, _sequences):
        chapter(v2)
    _wrapper(v0, 0)
    _wrapper(v1, 1)
    _odd_wrapper(v1)
    _messages(v1)
    _limits(v2, {0: v0, 1: v1, 2: v2}, logs)
    _requests(logs)


HELD = {"profile": "produce"}


WRAPPED = ["codec:gzip", "feature:wrapper"]


KV = (record_value(b"k", b"v"),)


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
         batch_value([record_value(b"a", b"1"), record_value(b"b", b"2", ts=1, off=1)], max_ts=T + 1, pid=1000, pepoch=0, seq=(1 << 31) - 1), doc="kafka.md §1.7, §1.10", rules=("kafka.produce.sequence", "kafka.v2.sequence.wrap"),
         why="The sequence behind it is 0, not below zero.", **HELD)


def _times(s: CaseBuilder) -> None:
    raw, values = rows(0, 4, 2)
    s.accepts("produce/max-timestamp", "Times 0, 4 and 2 behind the base, maxTimestamp 4 behind it", batch(raw, 3, max_ts=T + 4), batch_value(values, max_ts=T + 4), doc="kafka.md §1.1, §12", rules=("kafka.produce.max-timestamp", "kafka.produce.deltas"),
         why="Neither the last record's time nor the first one's.", **HELD)
    for name, most, title in (("of-last", T + 2, "the last record's"), ("of-first", T, "the first record's"), ("none", -1, "−1")):
        s.accepts(f"produce/max-timestamp-{name}", f"maxTimestamp is {title}", batch(raw, 3, max_ts=most), batch_value(values, max_ts=most), doc="kafka.md §1.1, §12", rules=("kafka.produce.max-timestamp",), remarks=("max-timestamp",),
             why="An index by time is built from it: records that are later are not found.", **HELD)


def _encode(s: CaseBuilder, name: str, title: str, value: Any, why: str, rules: tuple[str, ...], data: bytes | None = None, needs: tuple[str, ...] = ()) -> None:
    accept = {"value": value} | ({} if data is None else {"bytes": [data.hex()]})
    s.writer.add({"id": f"{s.prefix}produce/encode-{name}", "title": title, "why": why, "op": "encode", "level": "must", "rules": list(rules), "input": {"value": value}, "expect": {"accept": accept},
                "needs": list(needs), "source": {"origin": "builder", "document": "kafka.md §1.7"}, **HELD})


def _encoded(s: CaseBuilder) -> None:
    """Check the fields that a producer writes; without compression there is one way only."""
    def accepts(name: str, title: str, why: str, rules: tuple[str, ...], *stamps: int, needs: tuple[str, ...] = (), **fields: int) -> None:
        raw, values = rows(*stamps)
        fields = {"epoch": -1, "max_ts": T + max(stamps), **fields}
        _encode(s, name, title, batch_value(values, **fields), why, rules, batch(raw, len(stamps), **fields), needs)
    counted = "The broker refuses a range of offsets that is not the count, or once stored it."
    accepts("three-records", "Three records: lastOffsetDelta 2, deltas 0, 1 and 2", counted, ("kafka.produce.deltas",), 0, 0, 0)
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
                ("kafka.produce.snappy",) if name == "snappy" else ("kafka.v2.encode.codec",), needs=(f"codec:{name}",))


def _wrapper(s: CaseBuilder, magic: int) -> None:
    """§2.2: one wrapper around the whole set, inner offsets 0, 1, 2, no outer key."""
    inner = pair(magic)[0]
    fields = {"offset": 1, "attributes": 1, "ts": T + 1}
    value = message_value(magic, None, None, messages=pair_value(magic, (0, 1)), **fields)
    rules = ("kafka.produce.inner-offsets", "kafka.produce.outer-key", "kafka.produce.wrapper-crc")
    s.accepts("produce/wrapper-from-zero", "A wrapper at offset 1 around inner offsets 0 and 1", message(magic, None, gzip(inner), **fields), value, doc="kafka.md §1.7, §2.2", rules=rules, needs=WRAPPED,
         why="The broker counts on from here without packing the set again.", **HELD)
    text = "31" * 300
    for codec, name in ((1, "gzip"), (2, "snappy"), (3, "lz4")):
        held = {**fields, "attributes": codec}
        longer = [{**one, "value": text} for one in pair_value(magic, (0, 1))]
        _encode(s, f"wrapper-{name}", f"Two messages in one {name} wrapper", message_value(magic, None, None, messages=longer, **held), "A wrapper for each message, offsets that do not count, or a key outside: the broker packs all of it again.",
                (*rules[:2], *(("kafka.produce.snappy",) if name == "snappy" else ())), needs=(f"codec:{name}", "feature:wrapper"))


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
    raw = message(1, None, gzip(pair(1)[0]), **fields)
    value = stored_by_topic.Sent(stored_by_topic.rows(stored_by_topic.Row(b"a", b"1"), stored_by_topic.Row(b"b", b"2", ts=1))).rebuilt(1)
    held = {**stored_by_topic.OLD, "needs": [WRAPPED[0], *stored_by_topic.OLD["needs"], WRAPPED[1]]}
    rules = ("kafka.produce.one-wrapper",)
    s.accepts("produce/one-wrapper", "A request of one wrapper", raw, log(value), doc="kafka.md §1.7, §1.12", rules=rules, why="What brokers take.", **HELD, **held)
    for name, title, data in (("two-wrappers", "A request of two wrappers", raw * 2), ("wrapper-then-message", "A wrapper, and a message that is not packed", raw + message(1, b"k", b"v", offset=2))):
        s.rejects(f"produce/{name}", title, data, "not-permitted", at=len(data), twin="produce/one-wrapper", doc="kafka.md §1.7", rules=rules, also=("bad-offset", "count-mismatch"), **stored_by_topic.NOTHING, **held,
             why="A compressed set is one wrapper: the broker refuses the request.", **HELD)


def _refused(s: CaseBuilder) -> None:
    one, value = record(b"k", b"v"), [record_value(b"k", b"v")]
    held = {"profile": "produce"}
    s.accepts("produce/good", "A batch that a producer may send", batch(one, 1, epoch=-1), batch_value(value, epoch=-1), doc="kafka.md §1.7",
         rules=("kafka.produce.records", "kafka.produce.control", "kafka.produce.sequence"), why="The accepted neighbour.", **held)
    def rejects(name, title, data, rule, why):
        s.rejects(f"produce/{name}", title, data, "not-permitted", twin="produce/good", doc="kafka.md §1.7", rules=(f"kafka.produce.{rule}",), why=why,
             also=("bad-offset", "count-mismatch"), **held)
    rejects("base-offset-5", "baseOffset 5", batch(one, 1, base=5, epoch=-1), "base-offset", "The broker refuses it: INVALID_RECORD.")
    rejects("empty", "No record", batch(b"", 0, last=0, epoch=-1), "records", "A producer may not send an empty batch.")
    rejects("count-not-range", "lastOffsetDelta 0 over two records", batch(TWO, 2, last=0, max_ts=T + 1, epoch=-1), "count", "KAFKA-6554: the broker took it once.")
    rejects("control", "A control batch", batch(record(*marker(1)), 1, attributes=0x30, pid=1000, pepoch=0, seq=0, epoch=-1), "control", "Only brokers write markers.")
    rejects("no-sequence", "producerId without sequence", batch(one, 1, pid=1000, pepoch=0, seq=-1, epoch=-1), "sequence", "The broker cannot find duplicates.")


def _limits(s: CaseBuilder, builders: dict[int, CaseBuilder], logs: CaseBuilder) -> None:
    """§1.7: what a broker looks at before it takes a batch."""
    why = "The broker refuses the whole request: nothing of it is stored."
    def accepts(name, title, raw, value, rules, remarks=()):
        s.accepts(f"produce/{name}", title, raw, value, doc="kafka.md §1.7", why="A check that is too strict refuses what brokers take.", rules=rules, remarks=remarks, profile="produce")
    def rejects(name, title, raw, at, rule, twin="produce/good", builder=s, cls="not-permitted", also=("bad-offset", "count-mismatch"), **more):
        builder.rejects(f"produce/{name}", title, raw, cls, at=at, twin=twin, doc="kafka.md §1.7", rules=(rule,), why=why, profile="produce", also=also, **more)
    one_record = record(b"k", b"v")
    count, sequence, append = "kafka.produce.count", "kafka.produce.sequence", "kafka.produce.append-time"
    three = b"".join(record(b"k", b"v", off=n) for n in range(3))
    values = [record_value(b"k", b"v", off=n) for n in range(3)]
    accepts("three-records", "Three records", batch(three, 3), batch_value(values), (count, "kafka.produce.base-offset"))
    rejects("range-below-count", "lastOffsetDelta 1 over three records", batch(three, 3, last=1), 23, count)
    rejects("range-above-count", "lastOffsetDelta 3 over three records", batch(three, 3, last=3), 23, count)
    rejects("no-records-last-minus-1", "No record, lastOffsetDelta −1", batch(b"", 0, last=-1), 57, "kafka.produce.records")
    rejects("base-offset-minus-1", "baseOffset −1", batch(one_record, 1, base=-1), 0, "kafka.produce.base-offset")
    rejects("base-offset-1", "baseOffset 1", batch(one_record, 1, base=1), 0, "kafka.produce.base-offset")
    fields = {"pid": 0, "pepoch": 0, "seq": 0}
    accepts("producer-0", "producerId 0 with sequence 0", batch(one_record, 1, **fields), batch_value([record_value(b"k", b"v")], **fields), (sequence,))
    rejects("producer-0-no-sequence", "producerId 0 without sequence", batch(one_record, 1, pid=0, pepoch=0, seq=-1), 53, sequence)
    fields, timed = {"attributes": 8, "max_ts": T + 5}, (append, "kafka.produce.timestamp-type")
    accepts("append-time", "LogAppendTime with a time", batch(one_record, 1, **fields), batch_value([record_value(b"k", b"v", append=T + 5)], **fields), timed, ("produce-append-time",))
    fields = {"attributes": 8, "max_ts": 0}
    accepts("append-time-0", "LogAppendTime with the time 0", batch(one_record, 1, **fields), batch_value([record_value(b"k", b"v", append=0)], **fields), timed, ("produce-append-time",))
    rejects("append-time-none", "LogAppendTime without a time", batch(one_record, 1, attributes=8, max_ts=-1), 35, append, also=("invalid-value",))
    accepts("create-time-none", "No time at all", batch(one_record, 1, base_ts=-1, max_ts=-1), batch_value([record_value(b"k", b"v", base_ts=-1)], base_ts=-1, max_ts=-1), (append,))
    v1 = builders[1]
    v1.accepts("produce/append-time-0", "LogAppendTime with the time 0", message(1, b"k", b"v", attributes=8, ts=0), message_value(1, b"k", b"v", attributes=8, ts=0), doc="kafka.md §1.7",
          why="0 is a time.", rules=timed, remarks=("produce-append-time",), profile="produce")
    v1.accepts("produce/create-time-none", "No time", message(1, b"k", b"v", ts=-1), message_value(1, b"k", b"v", ts=-1), doc="kafka.md §1.7", why="Without the bit there may be none.", rules=(append,), profile="produce")
    rejects("append-time-none", "LogAppendTime without a time", message(1, b"k", b"v", attributes=8, ts=-1), 18, append, "produce/append-time-0", v1, also=("invalid-value",))
    raw = gzip(pair(1)[0])
    good = message(1, None, raw, offset=11, attributes=1, ts=T + 1)
    v1.accepts("produce/wrapper", "A wrapper of two messages", good, message_value(1, None, None, offset=11, attributes=1, ts=T + 1, messages=pair_value(1)), doc="kafka.md §1.7",
          why="What 0.10 producers sent.", rules=("kafka.produce.wrapper-crc", "kafka.produce.inner-offsets"), remarks=("produce-inner-offsets",), profile="produce", needs=["codec:gzip", "feature:wrapper"])
    rejects("inner-magic", "Messages of v0 in a wrapper of v1", message(1, None, gzip(pair(0)[0]), offset=11, attributes=1, ts=T + 1), 0, "kafka.produce.inner-magic", "produce/wrapper", v1, also=("bad-magic",))
    crc = int.from_bytes(good[12:16], "big") ^ 1
    rejects("wrapper-crc", "A wrong CRC of a wrapper", message(1, None, raw, offset=11, attributes=1, ts=T + 1, crc=crc), 12, "kafka.produce.wrapper-crc", "produce/wrapper", v1, "crc-mismatch", ())
    def request(name, title, entries, stored, held):
        logs.accepts(f"produce/{name}", title, b"".join(raw for raw, _ in entries), log(stored), doc="kafka.md §1.7, §1.12", why="What brokers take.",
                rules=("kafka.produce.one-batch", "kafka.produce.one-magic"), profile="produce", **held)
    request("one-batch", "A request of one batch", [one(0)], one(0)[1], stored_by_topic.APPENDED)
    request("two-messages", "A request of two v1 messages", [old(1, 0), old(1, 1)], stored_by_topic.Sent(stored_by_topic.rows(stored_by_topic.Row(), stored_by_topic.Row())).stored(), stored_by_topic.OLD)
    rejects("two-batches", "A request of two batches", one(0)[0] * 2, 140, "kafka.produce.one-batch", "produce/one-batch", logs, also=(), **stored_by_topic.APPENDED, **stored_by_topic.NOTHING)
    rejects("two-magics", "A v0 and a v1 message", old(0, 0)[0] + old(1, 0)[0], len(old(0, 0)[0] + old(1, 0)[0]), "kafka.produce.one-magic", "produce/two-messages", logs, also=(), **stored_by_topic.OLD, **stored_by_topic.NOTHING)


def _batch_limits(s: CaseBuilder) -> None:
    s.accepts("produce/transactional-no-time", "A transactional batch without times", batch(record(b"k", b"v"), 1, attributes=0x10, base_ts=-1, max_ts=-1, pid=7, pepoch=0, seq=0),
         batch_value([record_value(b"k", b"v", base_ts=-1)], attributes=0x10, base_ts=-1, max_ts=-1, pid=7, pepoch=0, seq=0), doc="kafka.md §1.7", profile="produce", needs=["feature:transactional"],
         rules=("kafka.produce.append-time",), why="Only LogAppendTime wants a time.")


def _messages(s: CaseBuilder) -> None:
    """§1.7: only LogAppendTime wants a time; a codec is no reason."""
    stamps = (-1, -1)
    s.accepts("produce/wrapper-no-time", "A wrapper without a time", message(1, None, gzip(pair(1, stamps=stamps)[0]), offset=11, attributes=1, ts=-1),
         message_value(1, None, None, offset=11, attributes=1, ts=-1, messages=pair_value(1, stamps=stamps)), doc="kafka.md §1.7", why="What a producer without clock sends, packed.",
         rules=("kafka.produce.append-time", "kafka.produce.inner-magic"), remarks=("produce-inner-offsets",), profile="produce", needs=["codec:gzip", "feature:wrapper"])


def _sequences(s: CaseBuilder) -> None:
    s.rejects("produce/sequence-overflowed", "baseSequence −2^31, one more than 2^31 − 1 in 32 bits", batch(record(b"k", b"v"), 1, pid=1000, pepoch=0, seq=-(1 << 31)), "not-permitted", at=53, twin="produce/good",
         doc="kafka.md §1.7, §1.10", rules=("kafka.produce.sequence",), profile="produce", why="Behind 2^31 − 1 comes 0: a producer that counts on is refused for good.")
