"""Encode cases of Kafka: values in, bytes out; kafka.md §1.3, §1.7, §2.2."""

from typing import Any

from tests.authoring.case_builder import CaseBuilder
from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka.control_bytes import control_value
from tests.authoring.kafka.entry_bytes import (
    DAY,
    TWO,
    T,
    batch,
    batch_value,
    hexed,
    marker,
    message,
    message_value,
    record,
    record_value,
    two_values,
)  # fmt: skip  # fmt: skip
from tests.authoring.kafka.message_sets import pair_value

ENCODED = {0: "kafka.batch/v0/encode/key-and-value", 1: "kafka.batch/v1/encode/key-and-value"}


def write(writer: FixtureWriter) -> None:
    v2 = CaseBuilder(writer, "kafka.batch", "v2")
    for chapter in (_v2, _v2_refused, _legacy, _wrappers, _timestamps_v0, _other_magic):
        chapter(writer)
    for chapter in (_limits, _rewritten, _times_below):
        chapter(v2)


def _case(writer: FixtureWriter, ident: str, title: str, value: Any, expect: Any, why: str, rules: tuple[str, ...], doc: str, **more: Any) -> None:
    writer.add({"id": ident, "title": title, "why": why, "op": "encode", "level": more.pop("level", "must"), "rules": list(rules), "input": {"value": value},
              "expect": expect, "source": {"origin": "builder", "document": doc}, **more})


def computed_left_out(value: Any) -> Any:
    """The value as a caller gives it: without what is computed."""
    records = [{k: v for k, v in r.items() if k not in ("offset", "timestamp", "control")} for r in value["records"]]
    return {**value, "records": records}


def _accepts(writer: FixtureWriter, ident: str, title: str, value: Any, why: str, rules: tuple[str, ...], doc: str, data: bytes | None = None, given: Any = None, **more: Any) -> None:
    accept: dict[str, Any] = {"value": value}
    accept |= {} if data is None else {"bytes": [hexed(data)]}
    _case(writer, ident, title, given or value, {"accept": accept}, why, rules, doc, **more)


def _rejects(writer: FixtureWriter, ident: str, title: str, value: Any, twin: str, why: str, rules: tuple[str, ...], doc: str, also: tuple[str, ...] = (), **more: Any) -> None:
    reject: dict[str, Any] = {"class": "invalid-value"} | ({"also": list(also)} if also else {})
    _case(writer, ident, title, value, {"reject": reject}, why, rules, doc, twin=twin, **more)


def _v2(writer: FixtureWriter) -> None:
    p = "kafka.batch/v2/encode/"
    one = batch_value([record_value(b"k", b"v")])
    _accepts(writer, p + "one-record", "One record", one, "The bytes are given: there is one way to write them.", ("kafka.v2.encode",), "kafka.md §6 E01", batch(record(b"k", b"v"), 1), computed_left_out(one))
    _accepts(writer, p + "nulls", "Null key and value", batch_value([record_value()]), "Null is −1.", ("kafka.v2.encode.null",), "kafka.md §1.3", batch(record(), 1))
    _accepts(writer, p + "empties", "Empty key and value", batch_value([record_value(b"", b"")]), "Empty is 0.", ("kafka.v2.encode.null",), "kafka.md §1.3", batch(record(b"", b""), 1))
    two = batch_value(two_values(), max_ts=T + 1)
    _accepts(writer, p + "two-records", "Two records", two, "Deltas count from the first.", ("kafka.v2.encode",), "kafka.md §7 W04", batch(TWO, 2, max_ts=T + 1), computed_left_out(two))
    pairs = ((b"h", b"1"), (b"h", b"2"), (b"n", None), (b"e", b""), (b"", b"x"))
    _accepts(writer, p + "headers", "Five headers", batch_value([record_value(b"k", b"v", pairs)]), "Order, duplicates, null and empty are kept.", ("kafka.v2.encode.headers",), "kafka.md §6 E04",
        batch(record(b"k", b"v", pairs), 1), needs=["feature:headers"])
    _accepts(writer, p + "idempotent", "Producer fields", batch_value(two_values(), max_ts=T + 1, pid=1000, pepoch=3, seq=7), "The broker finds duplicates by them.", ("kafka.v2.encode",), "kafka.md §7 W14",
        batch(TWO, 2, max_ts=T + 1, pid=1000, pepoch=3, seq=7), needs=["feature:idempotent"])
    longer = [record_value(b"a", b"1" * 300), record_value(b"b", b"2" * 300, ts=1, off=1)]
    for codec, name in ((1, "gzip"), (2, "snappy"), (3, "lz4"), (4, "zstd")):
        _accepts(writer, p + name, f"Two records that {name} makes smaller", batch_value(longer, max_ts=T + 1, attributes=codec),
            "Compressed bytes are free; what they unpack to is not. Some writers leave out a codec that does not pay.",
            ("kafka.v2.encode.codec",), "kafka.md §3", needs=[f"codec:{name}"])
    _accepts(writer, p + "wide-varints", "timestampDelta 3,000,000,000", batch_value([record_value(None, b"a"), record_value(None, b"b", ts=3_000_000_000, off=1)], max_ts=T + 3_000_000_000),
        "zendesk/ruby-kafka 9a7dd54 wrote wide varints wrong.", ("kafka.v2.encode.varint",), "kafka.md §6 E18", batch(record(None, b"a") + record(None, b"b", ts=3_000_000_000, off=1), 2, max_ts=T + 3_000_000_000))
    _accepts(writer, p + "long-value", "A value of 200 bytes", batch_value([record_value(b"k", b"v" * 200)]), "Its length takes two bytes.", ("kafka.v2.encode.varint",), "kafka.md §4", batch(record(b"k", b"v" * 200), 1))
    key, value = marker(1)
    fields = {"base": 9, "attributes": 0x30, "pid": 1000, "pepoch": 0}
    _accepts(writer, p + "control", "A COMMIT marker", batch_value([record_value(key, value, base=9, control=control_value(key, value))], **fields), "Brokers write them.", ("kafka.v2.encode",), "kafka.md §6 E12",
        batch(record(key, value), 1, **fields), needs=["feature:control-batch"])
    _accepts(writer, p + "empty", "An empty batch", batch_value([], base=100, last=3, base_ts=-1, pid=1000, pepoch=0, seq=4), "The cleaner writes it.", ("kafka.v2.encode",), "kafka.md §6 E14",
        batch(b"", 0, base=100, last=3, base_ts=-1, pid=1000, pepoch=0, seq=4), needs=["feature:empty-batch"])


def _v2_refused(writer: FixtureWriter) -> None:
    p = "kafka.batch/v2/encode/"
    good = batch_value([record_value(b"k", b"v")])
    def changed(**fields):
        return {**good, **fields}
    def rec(**fields):
        return {**good, "records": [{**good["records"][0], **fields}]}
    doc, rule = "kafka.md §1.1, §1.3", ("kafka.v2.encode.range",)
    def rejects(name, title, value, why, rules=rule, **more):
        _rejects(writer, p + name, title, value, p + "one-record", why, rules, doc, **more)
    rejects("header-key-null", "A null header key", rec(headers=[[None, "31"]]), "Kafka's builder refuses it: no reader could read it back.", ("kafka.v2.encode.headers",), needs=["feature:headers"], also=("null-not-allowed",))
    rejects("offset-delta-over-int32", "offsetDelta 2^31", rec(offsetDelta=str(1 << 31)), "It does not fit its varint.")
    rejects("timestamp-delta-over-int64", "timestampDelta 2^63", rec(timestampDelta=str(1 << 63)), "It does not fit its varlong.")
    rejects("base-offset-over-int64", "baseOffset 2^63", changed(baseOffset=str(1 << 63)), "It does not fit its field.")
    rejects("last-offset-delta-over-int32", "lastOffsetDelta 2^31", changed(lastOffsetDelta=str(1 << 31)), "It does not fit its field.")
    rejects("producer-epoch-over-int16", "producerEpoch 2^15", changed(producerEpoch=str(1 << 15)), "It does not fit its field.")
    rejects("record-attributes-over-int8", "Record attributes 128", rec(attributes="128"), "It does not fit its byte.")
    rejects("attributes-over-int16", "Attributes 2^15", changed(attributes=str(1 << 15)), "It does not fit its field.")
    rejects("codec-5", "Codec 5", changed(attributes="5"), "There is no such codec.", ("kafka.v2.encode.codec",), also=("unknown-codec",))
    rejects("magic-3", "Magic 3", changed(magic="3"), "There is no such format.", ("kafka.v2.encode.range",), also=("bad-magic",))


def _legacy(writer: FixtureWriter) -> None:
    for magic in (0, 1):
        p = f"kafka.batch/v{magic}/encode/"
        rules, doc = ("kafka.legacy.encode",), "kafka.md §2.1"
        _accepts(writer, p + "key-and-value", "k→v", message_value(magic, b"k", b"v"), "There is one way to write it.", rules, doc, message(magic, b"k", b"v"))
        _accepts(writer, p + "nulls", "Null key and value", message_value(magic, None, None), "Null is −1.", ("kafka.legacy.encode.null",), doc, message(magic, None, None))
        _accepts(writer, p + "empties", "Empty key and value", message_value(magic, b"", b""), "Empty is 0.", ("kafka.legacy.encode.null",), doc, message(magic, b"", b""))
        good = message_value(magic, b"k", b"v")
        def rejects(name, title, value, why, rule="kafka.legacy.encode.range", p=p, doc=doc, **more):
            _rejects(writer, p + name, title, value, p + "key-and-value", why, (rule,), doc, **more)
        rejects("codec-zstd", "zstd", {**good, "attributes": "4", "value": None, "messages": [message_value(magic, b"a", b"1")]}, "zstd is for v2 only.", "kafka.legacy.encode.codec", also=("unknown-codec", "not-permitted"))
        rejects("offset-over-int64", "Offset 2^63", {**good, "offset": str(1 << 63)}, "It does not fit its field.")
        inner = [{**one, "value": (one["value"] or "") * 300} for one in pair_value(magic)]
        for codec, name in ((1, "gzip"), (2, "snappy"), (3, "lz4")):
            _accepts(writer, p + name, f"Two messages that {name} makes smaller", message_value(magic, None, None, offset=11, attributes=codec, ts=T + 1, messages=inner), "Inner offsets are absolute in v0, relative in v1.",
                ("kafka.legacy.encode.codec",), "kafka.md §2.2", needs=[f"codec:{name}", "feature:wrapper"])
    p = "kafka.batch/v1/encode/"
    _accepts(writer, p + "no-timestamp", "Timestamp −1", message_value(1, b"k", b"v", ts=-1), "−1 is no time.", ("kafka.legacy.encode",), "kafka.md §1.7", message(1, b"k", b"v", ts=-1))


def _limits(s: CaseBuilder) -> None:
    """§1.3, §4: the widest integers of a record."""
    low, high = -(1 << 31), (1 << 31) - 1
    rows = [record_value(b"k", b"v", off=low, ts=-(1 << 63), base_ts=0), record_value(b"k", b"v", off=high, ts=(1 << 63) - 1, base_ts=0)]
    raw = batch(record(b"k", b"v", off=low, ts=-(1 << 63)) + record(b"k", b"v", off=high, ts=(1 << 63) - 1), 2, base_ts=0, max_ts=(1 << 63) - 1, last=high)
    value = batch_value(rows, base_ts=0, max_ts=(1 << 63) - 1, last=high)
    s.writer.add({"id": s.prefix + "encode/deltas-widest", "title": "The lowest and the highest deltas", "why": "A writer that is too careful refuses what fits.", "op": "encode", "level": "must",
                "rules": ["kafka.v2.encode.varint", "kafka.v2.encode.range"], "input": {"value": value}, "expect": {"accept": {"value": value, "bytes": [raw.hex()]}},
                "source": {"origin": "builder", "document": "kafka.md §1.3, §4"}})


def _wrappers(writer: FixtureWriter) -> None:
    """§2.2: the codec of a message and its inner messages go together."""
    p = "kafka.batch/v1/encode/"
    whole = message_value(1, b"k", b"v")
    for name, title, given in (
        ("codec-without-messages", "A codec, and a value in place of messages", {**whole, "attributes": "1"}),
        ("messages-without-codec", "Messages, and no codec", {**whole, "value": None, "messages": [message_value(1, b"a", b"1")]}),
    ):
        writer.add({"id": p + name, "title": title, "why": "Every reader would unpack what is not packed, or hand on a packed set as a value.", "op": "encode", "level": "must", "rules": ["kafka.legacy.encode.codec"],
                  "input": {"value": given}, "expect": {"reject": {"class": "invalid-value"}}, "twin": p + "key-and-value", "source": {"origin": "builder", "document": "kafka.md §2.2"}})


def _timestamps_v0(writer: FixtureWriter) -> None:
    """§2.1: v0 has no timestamp. No text says whether a writer refuses what is asked of it, or drops it."""
    p = "kafka.batch/v0/encode/"
    for name, stamp in (("timestamp", T), ("timestamp-zero", 0)):
        writer.add({"id": p + name, "title": f"A timestamp of {stamp}", "why": "It would be lost: v0 has no field for it.", "op": "encode", "level": "may", "rules": ["kafka.legacy.encode.range"],
                  "input": {"value": {**message_value(0, b"k", b"v"), "timestamp": str(stamp)}}, "expect": {"reject": {"class": "invalid-value"}}, "twin": p + "key-and-value",
                  "source": {"origin": "builder", "document": "kafka.md §2.1"}})


def _rewritten(s: CaseBuilder) -> None:
    """No. 132 and 149: what a broker or a cleaner writes again keeps what it is not about to change."""
    def accepts(name: str, title: str, data: bytes, value: Any, why: str, needs: tuple[str, ...] = ()) -> None:
        s.writer.add({"id": f"{s.prefix}encode/{name}", "title": title, "why": why, "op": "encode", "level": "must", "rules": ["kafka.v2.encode", "kafka.v2.encode.times"], "input": {"value": value},
                    "expect": {"accept": {"value": value, "bytes": [data.hex()]}}, "needs": list(needs), "source": {"origin": "builder", "document": "kafka.md §1.8, §9 no. 132, 149"}})
    horizon = T + DAY
    accepts("delete-horizon", "A batch with a delete horizon: deltas relative to it", batch(record(b"k", None, ts=-DAY), 1, attributes=0x40, base_ts=horizon),
       batch_value([record_value(b"k", None, ts=-DAY, base_ts=horizon)], attributes=0x40, base_ts=horizon), "A cleaner that moves the base moves every record's time.", ("feature:delete-horizon",))
    accepts("log-append-time", "LogAppendTime: the base stays the create time", batch(TWO, 2, attributes=8, max_ts=T + 5000), batch_value(two_values(append=T + 5000), attributes=8, max_ts=T + 5000),
       "Deltas that count from the append time are other bytes, and wrong ones once the bit is cleared.", ("feature:log-append-time",))
    rows = record(b"a", b"1", off=1) + record(b"b", b"2", ts=5, off=3)
    accepts("compacted-gaps", "Offsets 11 and 13 of a batch of 10 to 15", batch(rows, 2, base=10, last=5, max_ts=T + 5),
       batch_value([record_value(b"a", b"1", off=1, base=10), record_value(b"b", b"2", ts=5, off=3, base=10)], base=10, last=5, max_ts=T + 5), "A cleaner that counts anew moves every record.")


def _other_magic(writer: FixtureWriter) -> None:
    builders = {magic: CaseBuilder(writer, "kafka.batch", f"v{magic}") for magic in (0, 1)}
    for magic, other in ((0, 1), (1, 0)):
        builder = builders[magic]
        value = message_value(other, b"k", b"v")
        builder.writer.add({"id": f"{builder.prefix}encode/magic-{other}", "title": f"A value of magic {other} to be written as v{magic}", "why": "The format that was asked for is the one that is written.", "op": "encode",
                        "level": "must", "rules": ["kafka.legacy.encode.range"], "input": {"value": value}, "expect": {"reject": {"class": "invalid-value", "also": ["bad-magic"]}},
                        "twin": ENCODED[magic], "source": {"origin": "builder", "document": "kafka.md §2.1"}})


def _times_below(s: CaseBuilder) -> None:
    """§13.2: Kafka's builder takes no timestamp below -1, and the field holds it."""
    value = batch_value([record_value(b"k", b"v", base_ts=-2)], base_ts=-2, max_ts=-2)
    raw = batch(record(b"k", b"v"), 1, base_ts=-2, max_ts=-2)
    rows = [{"id": "refused", "reject": {"class": "invalid-value"}}, {"id": "written", "accept": {"value": value, "bytes": [raw.hex()]}}]
    s.writer.add({"id": f"{s.prefix}encode/timestamp-minus-2", "title": "Timestamp −2", "why": "A producer has no use for it; whoever writes a log again must keep what is there.", "op": "encode", "level": "may",
                "rules": ["kafka.v2.encode.timestamp"], "input": {"value": value}, "expect": {"either": {"behaviours": rows}}, "source": {"origin": "builder", "document": "kafka.md §13.2"}})
