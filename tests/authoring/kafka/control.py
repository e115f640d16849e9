"""Control batches of `kafka.batch/v2`: kafka.md §1.9."""

import struct

from tests.authoring.case_builder import CaseBuilder
from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka.control_bytes import control, control_value, voter
from tests.authoring.kafka.entry_bytes import (
    T,
    batch,
    batch_value,
    gzip,
    hexed,
    i16,
    i32,
    i64,
    marker,
    record,
    record_value,
)  # fmt: skip


def write(writer: FixtureWriter) -> None:
    v2 = CaseBuilder(writer, "kafka.batch", "v2")
    for chapter in (_control, _kraft, _versions, _further_vectors, _values):
        chapter(v2)


def _control(s: CaseBuilder) -> None:
    def ctl(key, value, **more):
        more = {"base": 9, "attributes": 0x30, "pid": 1000, "pepoch": 0, **more}
        return batch(record(key, value), 1, **more)
    def val(key, value, **more):
        more = {"base": 9, "attributes": 0x30, "pid": 1000, "pepoch": 0, **more}
        return batch_value([record_value(key, value, base=more["base"], control=control_value(key, value))], **more)
    need = {"needs": ["feature:control-batch"]}
    rules = ("kafka.control.key", "kafka.control.value")
    for kind, name, doc in ((1, "commit", "E12 W17"), (0, "abort", "E13 W18")):
        key, value = marker(kind)
        s.accepts(f"control/{name}", f"{name.upper()} marker", ctl(key, value), val(key, value), doc=f"kafka.md §6 {doc}", rules=rules, **need,
             why="kafka-python #2499: markers were handed to the application.")
    key, value = marker(1)
    s.accepts("control/key-version-1", "Key version 1 is read as 0", ctl(i16(1) + i16(1), value), val(i16(1) + i16(1), value), doc="kafka.md §7 K04",
         rules=("kafka.control.key",), why="Forward compatibility.", **need)
    s.accepts("control/key-6-bytes", "A key with two more bytes", ctl(key + i16(0), value), val(key + i16(0), value), doc="kafka.md §7 K05",
         rules=("kafka.control.key",), why="Forward compatibility: librdkafka bd71c96b3 tripped over left-over bytes.", **need)
    longer = i16(1) + i32(5) + i16(0)
    s.accepts("control/value-version-1", "A longer value of version 1", ctl(key, longer), val(key, longer), doc="kafka.md §7 K08",
         rules=("kafka.control.value",), why="Forward compatibility.", **need)
    s.accepts("control/unknown-type", "Type 99", ctl(i16(0) + i16(99), None), val(i16(0) + i16(99), None), doc="kafka.md §7 K12",
         rules=("kafka.control.type",), why="IBM/sarama #1898: an unknown type was an error.", **need)
    twin = "control/commit"
    for name, title, k, v, doc, rule in (
        ("key-null", "A control record without a key", None, value, "K01", "key"),
        ("key-2-bytes", "A key of two bytes", i16(0), value, "K02", "key"),
        ("key-version-negative", "Key version −1", i16(-1) + i16(1), value, "K03", "key"),
        ("value-5-bytes", "A value of five bytes", key, value[:5], "K06", "value"),
        ("value-version-negative", "Value version −1", key, i16(-1) + i32(5), "K07", "value"),
    ):
        s.rejects(f"control/{name}", title, ctl(k, v), "bad-control", twin=twin, doc=f"kafka.md §7 {doc}", rules=(f"kafka.control.{rule}",), **need,
             also=("null-not-allowed", "truncated", "length-past-end", "missing-field"),
             why="It fails where the control record is parsed: a read-committed reader cannot go on without it.")


def _kraft(s: CaseBuilder) -> None:
    """§1.9: the control records of KRaft's own log; lengths and counts are unsigned varints, one too high."""
    def accepts(name, title, kind, raw, typed, why="A tool that dumps a metadata log shows these.", **more):
        key = i16(0) + i16(kind)
        s.accepts(f"control/{name}", title, batch(record(key, raw), 1, attributes=0x20), batch_value([record_value(key, raw, control=typed)], attributes=0x20),
             doc="kafka.md §1.9", rules=("kafka.control.kraft",), needs=["feature:control-batch"], why=why, **more)
    def opaque(name, title, kind, raw):
        accepts(name, title, kind, raw, control(type=str(kind)), "KRaft's values are opaque to consumers: damage in one hides nothing but itself.", remarks=("control-value",))
    def leader(version, voters, granting):
        return control(type="2", version=str(version), leaderId="7", voters=voters, grantingVoters=granting)
    one_id, two_id = bytes(range(16)), bytes(range(16, 32))
    def voted(number, directory=None, **more):
        return {**voter(str(number)), "directoryId": hexed(directory), **more}
    none = b"\x00"
    accepts("leader-change-two-voters", "LEADER_CHANGE, two voters, none granting", 2, i16(0) + i32(7) + b"\x03" + i32(7) + none + i32(8) + none + b"\x01" + none,
       leader(0, [voted(7), voted(8)], []))
    accepts("leader-change-nulls", "LEADER_CHANGE, null arrays", 2, i16(0) + i32(7) + b"\x00\x00" + none, leader(0, None, None))
    accepts("leader-change-v1", "LEADER_CHANGE of version 1, with directories", 2, i16(1) + i32(7) + b"\x02" + i32(7) + one_id + none + b"\x02" + i32(8) + two_id + none + none,
       leader(1, [voted(7, one_id)], [voted(8, two_id)]))
    tags = b"\x02\x00\x01a\x05\x03bcd"
    accepts("leader-change-tags", "LEADER_CHANGE with tagged fields", 2, i16(0) + i32(7) + b"\x02" + i32(7) + tags + b"\x01" + tags, leader(0, [voted(7)], []))
    accepts("leader-change-v2", "LEADER_CHANGE of version 2, which nobody knows", 2, i16(2) + i32(7), control(type="2", version="2"))
    accepts("leader-change-v-minus-1", "LEADER_CHANGE of version −1", 2, i16(-1) + i32(7), control(type="2", version="-1"))
    accepts("snapshot-header", "SNAPSHOT_HEADER", 3, i16(0) + i64(T) + none, control(type="3", version="0", lastContainedLogTimestamp=str(T)))
    accepts("snapshot-header-v1", "SNAPSHOT_HEADER of version 1", 3, i16(1) + i64(T), control(type="3", version="1"))
    accepts("snapshot-footer", "SNAPSHOT_FOOTER", 4, i16(0) + none, control(type="4", version="0"))
    accepts("snapshot-footer-dropped-bits", "SNAPSHOT_FOOTER, a bit above 32 in the count of its tags", 4, i16(0) + b"\x80" * 4 + b"\x10", control(type="4", version="0"),
       "Kafka drops what does not fit 32 bits from the fifth byte.", remarks=("varint-dropped-bits",), level="should")
    accepts("snapshot-footer-v1", "SNAPSHOT_FOOTER of version 1", 4, i16(1), control(type="4", version="1"))
    accepts("kraft-version-v1", "KRAFT_VERSION of version 1", 5, i16(1) + i16(1), control(type="5", version="1"))
    ends = b"\x03" + b"\x05CTRL" + b"\x02h" + (65535).to_bytes(2, "big") + none + b"\x02B" + b"\x04abc" + (9092).to_bytes(2, "big") + none
    endpoints = [{"name": b"CTRL".hex(), "host": b"h".hex(), "port": "65535"}, {"name": b"B".hex(), "host": b"abc".hex(), "port": "9092"}]
    first = i32(1) + one_id + ends + i16(0) + i16(1) + none + none
    second = i32(2) + two_id + b"\x01" + i16(0) + i16(-1) + none + none
    accepts("kraft-voters", "KRAFT_VOTERS, two of them", 6, i16(0) + b"\x03" + first + second + none,
       control(type="6", version="0", voters=[voted(1, one_id, endpoints=endpoints, minVersion="0", maxVersion="1"), voted(2, two_id, endpoints=[], minVersion="0", maxVersion="-1")]))
    accepts("kraft-voters-v1", "KRAFT_VOTERS of version 1", 6, i16(1) + b"\x01" + none, control(type="6", version="1"))
    opaque("leader-change-null", "LEADER_CHANGE, null value", 2, None)
    opaque("leader-change-count-past-end", "LEADER_CHANGE of more voters than bytes", 2, i16(0) + i32(7) + b"\x04" + i32(7) + none)
    opaque("snapshot-header-short", "SNAPSHOT_HEADER, cut", 3, i16(0) + i64(T)[:7])
    opaque("snapshot-footer-without-tags", "SNAPSHOT_FOOTER without its count of tags", 4, i16(0))
    opaque("snapshot-footer-six-bytes", "SNAPSHOT_FOOTER, the count of its tags in six bytes", 4, i16(0) + b"\x80" * 5 + b"\x00")
    opaque("snapshot-footer-tag-past-end", "SNAPSHOT_FOOTER with a tag past the end", 4, i16(0) + b"\x01\x00\x02a")
    opaque("kraft-voters-name-past-end", "KRAFT_VOTERS, a name past the end", 6, i16(0) + b"\x02" + i32(1) + one_id + b"\x02\x40CTRL")


def _versions(s: CaseBuilder) -> None:
    """§1.9: the first record of a control batch alone is inspected; KRaft's lengths are varints like others."""
    need = ["feature:control-batch"]
    fields = {"base": 9, "attributes": 0x30, "pid": 1000, "pepoch": 0}
    key, value = marker(1)
    for name, title, second in (("short", "of two bytes", i16(0)), ("version-negative", "of version −1", i16(-1) + i16(1))):
        s.accepts(f"control/second-key-{name}", f"A COMMIT marker, and a second record with a key {title}", batch(record(key, value) + record(second, value, off=1), 2, **fields),
             batch_value([record_value(key, value, base=9, control=control_value(key, value)), record_value(second, value, off=1, base=9)], **fields),
             doc="kafka.md §1.9; §7 K09, K02, K03", rules=("kafka.control.key",), needs=need, remarks=("control-record-count",), why="Kafka's consumer looks at the first record alone: the second refuses nothing.")
    for kind, name in ((0, "abort"), (1, "commit")):
        key, value = marker(kind)
        plain = {**fields, "attributes": 0x20}
        s.accepts(f"control/{name}-not-transactional", f"{name.upper()} in a batch without the transactional bit", batch(record(key, value), 1, **plain), batch_value([record_value(key, value, base=9, control=control_value(key, value))], **plain),
             doc="kafka.md §5 CONTROL_NOT_TRANSACTIONAL; §7 K10", rules=("kafka.control.key", "kafka.control.value"), needs=need, remarks=("control-not-transactional",), why="Kafka's reader asks for the control bit alone.")
    one_id = bytes(range(16))
    raw = i16(0) + b"\x02" + i32(1) + one_id + b"\x02" + b"\x88\x80\x00" + b"CONTROL" + b"\x02h" + struct.pack(">H", 9093) + b"\x00" + i16(0) + i16(1) + b"\x00" * 3
    listener = {"name": b"CONTROL".hex(), "host": b"h".hex(), "port": "9093"}
    typed = control(type="6", version="0", voters=[{**voter("1"), "directoryId": one_id.hex(), "endpoints": [listener], "minVersion": "0", "maxVersion": "1"}])
    voters = i16(0) + i16(6)
    s.accepts("control/kraft-voters-overlong", "KRAFT_VOTERS, the length of a name in three bytes", batch(record(voters, raw), 1, attributes=0x20), batch_value([record_value(voters, raw, control=typed)], attributes=0x20),
         doc="kafka.md §1.9, §4", rules=("kafka.control.kraft", "kafka.varint.overlong"), needs=need, remarks=("varint-overlong",), why="An unsigned varint is as padded as a zigzag one.")
    foot = i16(0) + i16(4)
    raw = i16(0) + b"\x80" * 9 + b"\x00"
    s.accepts("control/snapshot-footer-overlong", "SNAPSHOT_FOOTER, the count of its tags in ten bytes", batch(record(foot, raw), 1, attributes=0x20), batch_value([record_value(foot, raw, control=control(type="4", version="0"))], attributes=0x20),
         doc="kafka.md §1.9, §4", rules=("kafka.control.kraft", "kafka.varint.overlong"), needs=need, remarks=("varint-overlong",), why="Ten bytes are the most that a varint of 64 bits takes.")


def _further_vectors(s: CaseBuilder) -> None:
    key, value = i16(0) + i16(7), i16(0) + i32(5)
    fields = {"base": 9, "attributes": 0x30, "pid": 1000, "pepoch": 0}
    s.accepts("control/unknown-type-with-value", "Type 7 over a value like a marker's", batch(record(key, value), 1, **fields),
         batch_value([record_value(key, value, base=9, control=control(type="7"))], **fields), doc="kafka.md §7 W46", rules=("kafka.control.type",), needs=["feature:control-batch"],
         why="A type of a later broker is passed over, not taken for the nearest one that is known.")
    key, value = marker(1)
    second = marker(0)
    s.accepts("control/two-markers", "A COMMIT marker and an ABORT marker in one batch", batch(record(key, value) + record(*second, off=1), 2, **fields),
         batch_value([record_value(key, value, base=9, control=control_value(key, value)), record_value(*second, off=1, base=9, control=control_value(*second))], **fields),
         doc="kafka.md §7 K09", rules=("kafka.control.key", "kafka.control.first"), needs=["feature:control-batch"], remarks=("control-record-count",), why="One batch ends one transaction: what stands behind the first record ends none.")
    packed = {**fields, "attributes": 0x31}
    s.accepts("control/gzip", "A COMMIT marker in gzip", batch(gzip(record(key, value)), 1, **packed),
         batch_value([record_value(key, value, base=9, control=control_value(key, value))], **packed), doc="kafka.md §7 K11", rules=("kafka.control.key", "kafka.control.value"),
         needs=["feature:control-batch", "codec:gzip"], remarks=("control-compressed",), why="No broker packs its markers, and the reader does not ask.")


def _values(s: CaseBuilder) -> None:
    key = i16(0) + i16(1)
    for name, raw in (("value-null", None), ("value-empty", b"")):
        s.rejects(f"control/{name}", f"A COMMIT marker, {name.replace('-', ' ')}", batch(record(key, raw), 1, base=9, attributes=0x30, pid=1000, pepoch=0), "bad-control", twin="control/commit",
             doc="kafka.md §7 K06", rules=("kafka.control.value",), needs=["feature:control-batch"], also=("null-not-allowed", "truncated", "length-past-end", "missing-field"),
             why="A marker without an epoch ends no transaction.")
