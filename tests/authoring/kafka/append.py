"""What a topic stores of what a producer sends: `kafka.log/mixed/append`, kafka.md §1.12.

The sent bytes and the stored value are stated apart: the fields that a broker sets have their own names here.
Its log begins at offset 0, its leader epoch is 0, and its clock stands at `NOW`.
"""

from collections.abc import Mapping
from typing import Any

from attrs import evolve, field, frozen

from tests.authoring.case_builder import CaseBuilder
from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.generated import MIB, add_generated
from tests.authoring.kafka.entry_bytes import (
    T,
    batch,
    batch_value,
    body,
    framed,
    gzip,
    lz4,
    message,
    record,
    record_value,
    snappy_block,
    xerial,
    zstd,
)
from wireproof.cases.generate.recipe import Recipe
from wireproof.kafka.family.made_entries import produced

NOW = 2_000_000_000_000
"""The time of the append in expected values."""

FUTURE = 4_000_000_000_000
"""The year 2096: later than any clock of a broker, and within its bounds if it has none."""

BIT_3, HORIZON = 0x08, 0x40
PACKED = {0: lambda data: data, 1: gzip, 2: lambda data: xerial(snappy_block(data)), 3: lz4, 4: zstd}
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
STAMPED = {"message.timestamp.type": "LogAppendTime"}
COMPACT = {"cleanup.policy": "compact"}
LIMITS = {"ms": 30_000}
"""The first case of a topic waits until that is created."""

MANY_SIZES = (1, 2, 127, 128, 1000, 16_383, 16_384, 100_000, 262_144, 524_288, 1_000_000, MIB)
SOME_SIZES = (1, 1000, 100_000, MIB)
ROOMY = {"max.message.bytes": str(2 * MIB)}
"""Room for 1 MiB, which the default limit of brokers has not with its header."""

REFUSED = "Half a set that is stored, or a refusal that stores something, is a record that its producer sends again."


@frozen
class Row:
    """A record: its parts, and its timestamp as distance from the base."""

    key: bytes | None = b"k"
    value: bytes | None = b"v"
    headers: tuple[tuple[bytes, bytes | None], ...] = ()
    ts: int = 0
    off: int = 0
    attributes: int = 0

    def bytes(self) -> bytes:
        return record(self.key, self.value, self.headers, ts=self.ts, off=self.off, attributes=self.attributes)


def rows(*given: Row) -> tuple[Row, ...]:
    """Count the offsets."""
    return tuple(evolve(row, off=number) for number, row in enumerate(given))


PAIR = rows(Row(b"a", b"1"), Row(b"b", b"2", ts=4))
MIXED = rows(
    Row(None, b"no key"), Row(b"gone", None), Row(b"", b""), Row(b"h", b"v", ((b"x", b"1"), (b"x", None), (b"", b""))),
    Row("\u00e9".encode(), bytes(range(16)), ts=3), Row(b"k", b"v", ts=-5),
)


@frozen
class Sent:
    """A batch as it is sent: its rows and codec, and fields of its header."""

    rows: tuple[Row, ...] = PAIR
    codec: int = 0
    fields: Mapping[str, int] = field(factory=dict)
    base_ts: int = T

    @property
    def times(self) -> list[int]:
        return [self.base_ts + row.ts for row in self.rows]

    def bytes(self, count: int | None = None) -> bytes:
        raw = PACKED[self.codec](b"".join(row.bytes() for row in self.rows))
        fields = {"epoch": -1, "max_ts": max(self.times), **self.fields}
        fields["attributes"] = fields.get("attributes", 0) | self.codec
        return batch(raw, len(self.rows) if count is None else count, base_ts=self.base_ts, **fields)

    def stored(self, *, attributes: int | None = None, max_ts: int | None = None, stamped: bool = False) -> Any:
        """Return the batch with its records as they were sent."""
        found = {name: number for name, number in self.fields.items() if name in ("pid", "pepoch", "seq")}
        sent_bits = self.fields.get("attributes", 0) | self.codec
        bits = (sent_bits if attributes is None else attributes) | (BIT_3 if stamped else 0)
        latest = NOW if stamped else max(self.times) if max_ts is None else max_ts
        return batch_value(
            [_row_value(row, self.base_ts, NOW if stamped else None) for row in self.rows],
            epoch=0, base_ts=self.base_ts, max_ts=latest, attributes=bits, **found,
        )  # fmt: skip

    def rebuilt(self, codec: int, *, stamped: bool = False, bits: int = 0) -> Any:
        """Return a new batch of the same records: counted again, from the time of the first one."""
        first = self.times[0]
        again = tuple(evolve(row, ts=time - first, off=number, attributes=0) for number, (row, time) in enumerate(zip(self.rows, self.times, strict=True)))
        fields = {name: number for name, number in self.fields.items() if name in ("pid", "pepoch", "seq")}
        return evolve(self, rows=again, codec=codec, base_ts=first, fields={**fields, "attributes": bits}).stored(stamped=stamped)


def _row_value(row: Row, base_ts: int, append: int | None) -> Any:
    return record_value(row.key, row.value, row.headers, ts=row.ts, off=row.off, attributes=row.attributes, base_ts=base_ts, append=append)


APPENDED: Mapping[str, Any] = {"options": {"topic": {}}, "needs": ["feature:append"], "limits": LIMITS}
"""The fields of a request to a topic without settings."""

OLD: Mapping[str, Any] = {**APPENDED, "needs": ["feature:append", "feature:append-legacy"]}
"""The same, of messages of v0 or v1."""

NOTHING: Mapping[str, Any] = {"before": {"batches": []}}
"""What a refused request leaves."""


def _of_topic(topic: Mapping[str, str] | None) -> tuple[str, ...]:
    """The features of an append to a topic with settings, or without."""
    return ("feature:append", "feature:topic-settings") if topic else ("feature:append",)


def write(writer: FixtureWriter) -> None:
    s = CaseBuilder(writer, "kafka.log", "mixed")
    for chapter in (
        _records, _sizes, _large, _fields, _times, _deltas, _bits, _stamped, _compression, _refused, _damaged, _limits, _bounds, _compacted, _legacy,
    ):  # fmt: skip
        chapter(s)


def _keeps(s: CaseBuilder, name: str, title: str, data: bytes, stored: Any, rule: str | tuple[str, ...], why: str, *, topic: Mapping[str, str] | None = None, codecs: tuple[int, ...] = (), needs: tuple[str, ...] = (), **more: Any) -> None:
    names = (rule,) if isinstance(rule, str) else rule
    atoms = [f"codec:{CODECS[codec]}" for codec in sorted(set(codecs) - {0})]
    s.accepts(
        f"append/{name}", title, data, {"batches": [stored]}, doc="kafka.md §1.12", rules=tuple(f"kafka.append.{one}" for one in names), why=why,
        profile="produce", options={"topic": dict(topic or {})}, needs=[*atoms, *_of_topic(topic), *needs], level=more.pop("level", "should"), limits=LIMITS, **more,
    )  # fmt: skip


def _refuses(s: CaseBuilder, name: str, title: str, data: bytes, cls: str, twin: str, rules: tuple[str, ...], why: str = REFUSED, *, topic: Mapping[str, str] | None = None, also: tuple[str, ...] = (), needs: tuple[str, ...] = (), **more: Any) -> None:
    s.rejects(
        f"append/{name}", title, data, cls, twin=f"append/{twin}", doc="kafka.md §1.12", rules=rules if more.get("level") == "must" else ("kafka.append.nothing", *rules), why=why, also=also, before={"batches": []},
        profile="produce", options={"topic": dict(topic or {})}, needs=[*needs, *_of_topic(topic)], level=more.pop("level", "should"), limits=LIMITS, **more,
    )  # fmt: skip


def _records(s: CaseBuilder) -> None:
    """What the producer wrote comes back, in its order."""
    why = "A consumer that finds other keys, values or headers has lost data that its producer believes safe."
    for codec, name in enumerate(CODECS):
        for sent, shape, title in ((Sent(PAIR, codec), "two", "Two records"), (Sent(MIXED, codec), "mixed", "Nulls, empty texts, headers and times that go back")):
            _keeps(s, f"{shape}-{name}", f"{title}, codec {name}", sent.bytes(), sent.stored(), ("records", "offsets"), why, codecs=(codec,), level="must")
    for number in (1, 16, 300):
        many = Sent(rows(*(Row(str(n).encode(), None) for n in range(number))))
        _keeps(s, f"count-{number}", f"{number} records", many.bytes(), many.stored(), ("offsets", "records"), "An offset that is left out, or given twice, stops consumers that count.", level="must")


def _sizes(s: CaseBuilder) -> None:
    why = "A length that changes its width on the way shifts all that follows."
    for size in (0, 1, 63, 64, 8191, 8192, 65536):
        sent = Sent((Row(b"k", bytes(size)),), 0)
        _keeps(s, f"value-{size}", f"A value of {size} bytes", sent.bytes(), sent.stored(), ("records",), why, level="must")


def _large(s: CaseBuilder) -> None:
    """Values from 1 byte to 1 MiB by a rule, 1,000 records of 1,000 bytes, and one byte above the limit."""
    why = "A buffer of a fixed size on the way to the disk shows at one size alone."
    for codec in CODECS:
        for size in MANY_SIZES if codec == "none" else SOME_SIZES:
            _generated(s, f"value-{size}-{codec}", f"{codec}: a value of {size:,} bytes", {"value": size}, codec, "records", why, topic=ROOMY if size == MIB else {})
        _generated(s, f"records-1000-{codec}", f"{codec}: 1,000 records of 1,000 bytes", {"records": 1000, "value": 1000}, codec, "offsets", why)
        limit = "The default limit of brokers is 1 MiB and 12 bytes: what is at it must pass, and what is above it must not."
        size = len(produced(Recipe("kafka.log/mixed", value=MIB, codec=codec)))
        exact = f"size-{codec}-1m-0-below"
        _generated(s, exact, f"{codec}: a value of 1 MiB, in a batch as large as max.message.bytes", {"value": MIB}, codec, "size", limit, topic={"max.message.bytes": str(size)})
        _generated(s, f"size-{codec}-1m-1-above", f"{codec}: a value of 1 MiB, in a batch 1 byte above max.message.bytes", {"value": MIB}, codec, "size", limit, topic={"max.message.bytes": str(size - 1)}, reject={"class": "limit-exceeded", "before": {"batches": []}}, twin=f"append/{exact}")


def _generated(s: CaseBuilder, name: str, title: str, recipe: dict[str, Any], codec: str, rule: str, why: str, *, topic: Mapping[str, str] | None = None, **more: Any) -> None:
    packed = {} if codec == "none" else {"codec": codec}
    add_generated(
        s.writer, f"append/{name}", title, {"kind": "kafka.log/mixed", **recipe, **packed}, rules=(f"kafka.append.{rule}",), why=why, doc="kafka.md §1.12",
        needs=(*((f"codec:{codec}",) if packed else ()), *_of_topic(topic)), options={"topic": dict(topic or {})}, profile="produce", limits=LIMITS, **more,
    )  # fmt: skip


def _fields(s: CaseBuilder) -> None:
    for epoch, name in ((-1, "minus-1"), (0, "0"), (5, "5"), ((1 << 31) - 1, "int32-max")):
        sent = Sent(PAIR, 0, {"epoch": epoch})
        _keeps(s, f"leader-epoch-{name}", f"partitionLeaderEpoch {epoch}", sent.bytes(), sent.stored(), ("leader-epoch",), "Consumers find a truncated log by the epoch: a producer's number there is wrong for each of them.", level="must")
    why = "The broker finds duplicates by these three, and so does everybody who reads the log again."
    for name, fields in (("producer-0", (0, 0, 0)), ("producer-1000", (1000, 3, 0)), ("producer-max", ((1 << 63) - 1, (1 << 15) - 1, 0))):
        for codec in (0, 1):
            sent = Sent(PAIR, codec, dict(zip(("pid", "pepoch", "seq"), fields, strict=True)))
            _keeps(s, f"{name}-{CODECS[codec]}", f"producerId {fields[0]}, epoch {fields[1]}, sequence 0, codec {CODECS[codec]}", sent.bytes(), sent.stored(), ("producer",), why, codecs=(codec,), needs=("feature:idempotent",))


def _times(s: CaseBuilder) -> None:
    three = rows(Row(b"a", b"1"), Row(b"b", b"2", ts=4), Row(b"c", b"3", ts=2))
    why = "Lookups by time, retention by time and followers use maxTimestamp: a wrong one hides or deletes records."
    for codec in (0, 1, 4):
        for name, latest, title in (("right", T + 4, "the latest record's"), ("first", T, "the first record's"), ("last", T + 2, "the last record's"), ("none", -1, "−1"), ("late", T + 99, "later than every record's")):
            sent = Sent(three, codec, {"max_ts": latest})
            _keeps(s, f"max-timestamp-{name}-{CODECS[codec]}", f"maxTimestamp is {title}, codec {CODECS[codec]}", sent.bytes(), sent.stored(), ("max-timestamp",), why, codecs=(codec,))
    for name, base, title in (("none", -1, "no record has a time"), ("zero", 0, "all times are 0"), ("future", FUTURE, "all times are in 2096")):
        sent = Sent(rows(Row(b"a", b"1"), Row(b"b", b"2")), 0, {}, base)
        _keeps(s, f"times-{name}", f"A topic without bounds: {title}", sent.bytes(), sent.stored(), ("max-timestamp", "records"), "A time that is no time of day is the producer's business.")


def _deltas(s: CaseBuilder) -> None:
    """Counted wrongly by a producer: rebuilt, as Kafka's comment wants it, or refused, as Kafka does (§1.12)."""
    again = "Offsets that a producer made up reach nobody: two records at one offset are one for a consumer that goes on by it."
    for name, offs, title in (("twice-0", (0, 0), "offset deltas 0 and 0"), ("descending", (1, 0), "offset deltas 1 and 0"), ("gap", (0, 5), "offset deltas 0 and 5")):
        given = tuple(evolve(row, off=off) for row, off in zip(PAIR, offs, strict=True))
        for codec in (1, 2, 3, 4):
            sent = Sent(given, codec)
            data = sent.bytes()
            rebuilt = {"accept": {"value": {"batches": [sent.rebuilt(codec)]}, "consumed": len(data)}}
            refused = {"reject": {"class": "not-permitted", "also": ["other"], "before": {"batches": []}}}
            s.either(
                f"append/deltas-{name}-{CODECS[codec]}", f"{CODECS[codec]}: {title}", data, {"rebuilt": rebuilt, "refused": refused}, doc="kafka.md §1.12", rules=("kafka.append.deltas",), why=again,
                level="may", profile="produce", options={"topic": {}}, needs=[f"codec:{CODECS[codec]}", "feature:append"], limits=LIMITS,
            )  # fmt: skip
        plain = Sent(given)
        latest = evolve(plain).stored()
        if name != "gap":
            _keeps(s, f"deltas-{name}-none", f"none: {title}", plain.bytes(), {**latest, "lastOffsetDelta": "1"}, ("deltas",), "Stored as they are: this is what Kafka does, and a consumer sees it.")


def _bits(s: CaseBuilder) -> None:
    why = "A bit without a meaning, or the cleaner's, that a consumer finds is one that nobody explains to it."
    for bits, name in ((0x80, "7"), (0x100, "8"), (0x4000, "14"), (HORIZON, "6")):
        needs = ("feature:delete-horizon",) if bits == HORIZON else ()
        kept = Sent(PAIR, 0, {"attributes": bits})
        _keeps(s, f"bit-{name}-kept", f"Attribute bit {name}, and nothing to write anew", kept.bytes(), kept.stored(), ("bits",), why, needs=needs)
        lost = Sent(PAIR, 0, {"attributes": bits, "max_ts": T})
        left = bits & HORIZON
        _keeps(s, f"bit-{name}-written-anew", f"Attribute bit {name}, and a maxTimestamp that is corrected", lost.bytes(), lost.stored(attributes=left), ("bits", "max-timestamp"), why, needs=needs)
    for codec in (0, 1):
        sent = Sent(tuple(evolve(row, attributes=1) for row in PAIR), codec)
        _keeps(s, f"record-attributes-{CODECS[codec]}", f"Attributes 1 of each record, codec {CODECS[codec]}", sent.bytes(), sent.stored(), ("bits", "records"), why, codecs=(codec,))
    for codec in (0, 1):
        sent = Sent(PAIR, codec, {"attributes": BIT_3, "max_ts": T + 9})
        _keeps(s, f"append-time-bit-{CODECS[codec]}", f"Bit 3 of a producer on a topic of create time, codec {CODECS[codec]}", sent.bytes(), sent.stored(attributes=codec, max_ts=T + 9), ("append-time-bit",), "Left as it is, every consumer takes the producer's time for the broker's.", codecs=(codec,), needs=("feature:log-append-time",))


def _stamped(s: CaseBuilder) -> None:
    why = "The bit, the time and the checksum change together: one of the three left out is a batch that consumers refuse or date wrongly."
    for codec, name in enumerate(CODECS):
        sent = Sent(PAIR, codec)
        _keeps(s, f"stamped-{name}", f"LogAppendTime, codec {name}", sent.bytes(), sent.stored(stamped=True), ("append-time",), why, topic=STAMPED, codecs=(codec,), level="must")
    for name, sent, title in (
        ("mixed", Sent(MIXED), "nulls, headers and times that go back"), ("no-times", Sent(rows(Row(b"a", b"1"), Row(b"b", b"2")), 0, {}, -1), "no record has a time"),
        ("max-timestamp-none", Sent(PAIR, 0, {"max_ts": -1}), "maxTimestamp −1"), ("producer", Sent(PAIR, 0, {"pid": 1000, "pepoch": 3, "seq": 0}), "producer fields"),
        ("future", Sent(rows(Row(b"a", b"1")), 0, {}, FUTURE), "times in 2096"), ("one", Sent((Row(),)), "one record"),
    ):
        _keeps(s, f"stamped-{name}", f"LogAppendTime: {title}", sent.bytes(), sent.stored(stamped=True), ("append-time",), why, topic=STAMPED, needs=("feature:idempotent",) if name == "producer" else (), level="should" if name == "producer" else "must")
    refused = "A producer that sets the broker's bit claims a time that the broker did not give."
    for codec, latest, name in ((0, T + 4, "none"), (1, T + 4, "gzip"), (0, -1, "no-time")):
        sent = Sent(PAIR, codec, {"attributes": BIT_3, "max_ts": latest})
        _refuses(s, f"stamped-bit-{name}", f"LogAppendTime, and bit 3 of the producer: {name}", sent.bytes(), "invalid-value", f"stamped-{CODECS[codec]}", ("kafka.append.append-time-bit",), refused, topic=STAMPED, also=("not-permitted",) if latest < 0 else (), needs=("feature:log-append-time", *((f"codec:{CODECS[codec]}",) if codec else ())))


def _compression(s: CaseBuilder) -> None:
    why = "The topic's owner chose the codec, for consumers that know no other or for the disk: the records stay the same."
    targets = (("uncompressed", 0), *((name, codec) for codec, name in enumerate(CODECS) if codec))
    for target, codec in targets:
        other = 4 if codec == 1 else 1
        for source in dict.fromkeys((0, codec, other)):
            sent = Sent(MIXED, source)
            same = source == codec
            _keeps(s, f"to-{target}-from-{CODECS[source]}", f"compression.type {target}, sent as {CODECS[source]}", sent.bytes(), sent.stored() if same else sent.rebuilt(codec), ("compression", "records"), why, topic={"compression.type": target}, codecs=(codec, source), level="must")
    _keeps(s, "to-producer", "compression.type producer, sent as lz4", Sent(MIXED, 3).bytes(), Sent(MIXED, 3).stored(), ("compression",), why, topic={"compression.type": "producer"}, codecs=(3,), level="must")
    for name, level, codec in (("gzip", "9", 1), ("lz4", "12", 3), ("zstd", "10", 4)):
        sent = Sent(MIXED)
        _keeps(s, f"level-{name}", f"compression.type {name} with level {level}", sent.bytes(), sent.rebuilt(codec), ("compression",), "A level that changes more than the size changes the data (KIP-390).", topic={"compression.type": name, f"compression.{name}.level": level}, codecs=(codec,))
    producer = Sent(PAIR, 0, {"pid": 1000, "pepoch": 3, "seq": 0})
    _keeps(s, "to-zstd-producer", "Packed by the broker: producer fields", producer.bytes(), producer.rebuilt(4), ("compression", "producer"), "Without them the broker takes the retry of this batch for a new one.", topic={"compression.type": "zstd"}, codecs=(4,), needs=("feature:idempotent",))
    for codec in (1, 4):
        sent = Sent(PAIR)
        _keeps(s, f"to-{CODECS[codec]}-stamped", f"LogAppendTime, packed by the broker as {CODECS[codec]}", sent.bytes(), sent.rebuilt(codec, stamped=True), ("compression", "append-time"), why, topic={**STAMPED, "compression.type": CODECS[codec]}, codecs=(codec,), level="must")
    late = Sent(rows(Row(b"a", b"1", ts=7), Row(b"b", b"2", ts=9)))
    _keeps(s, "to-gzip-rebased", "Packed by the broker: no record has the base timestamp", late.bytes(), late.rebuilt(1), ("compression", "records"), "The times stay, whatever base they are counted from.", topic={"compression.type": "gzip"}, codecs=(1,))
    odd = Sent(tuple(evolve(row, attributes=1) for row in PAIR), 0, {"attributes": 0x80})
    _keeps(s, "to-gzip-bits", "Packed by the broker: bits without a meaning", odd.bytes(), odd.rebuilt(1), ("compression", "bits"), "The new batch has only bits that have a meaning.", topic={"compression.type": "gzip"}, codecs=(1,))


def _refused(s: CaseBuilder) -> None:
    """kafka.md §1.7, and nothing of it is stored."""
    def refuses(name, title, data, rule, cls="not-permitted", also=("bad-offset", "count-mismatch"), needs=(), **more):
        _refuses(s, name, title, data, cls, "two-none", (rule,), also=also, needs=needs, **more)
    for base in (-1, 1, 5):
        refuses(f"base-offset-{'minus-1' if base < 0 else base}", f"baseOffset {base}", Sent(PAIR, 0, {"base": base}).bytes(), "kafka.produce.base-offset")
    for last, name in ((0, "0"), (2, "2"), (-1, "minus-1"), ((1 << 31) - 1, "int32-max")):
        refuses(f"last-offset-delta-{name}", f"Two records, lastOffsetDelta {last}", Sent(PAIR, 0, {"last": last}).bytes(), "kafka.produce.count")
    refuses("empty", "A batch without records", batch(b"", 0, epoch=-1), "kafka.produce.records", level="must", needs=("feature:empty-batch",))
    refuses("control-bit", "The control bit", Sent((Row(bytes(4), bytes(6)),), 0, {"attributes": 0x20}).bytes(), "kafka.produce.control", level="must", needs=("feature:control-batch",))
    refuses("control-bit-gzip", "The control bit, compressed", Sent((Row(bytes(4), bytes(6)),), 1, {"attributes": 0x20}).bytes(), "kafka.produce.control", level="must", needs=("codec:gzip", "feature:control-batch"))
    refuses("no-sequence", "A producerId and no sequence", Sent(PAIR, 0, {"pid": 1000, "pepoch": 0, "seq": -1}).bytes(), "kafka.produce.sequence", level="must", needs=("feature:idempotent",))
    two = Sent(PAIR).bytes()
    refuses("two-batches", "Two batches", two + two, "kafka.produce.one-batch")
    refuses("two-batches-gzip", "Two compressed batches", Sent(PAIR, 1).bytes() * 2, "kafka.produce.one-batch", needs=("codec:gzip",))
    refuses("good-then-empty", "A good batch, then one without records", two + batch(b"", 0, epoch=-1), "kafka.produce.one-batch", needs=("feature:empty-batch",))
    refuses("no-bytes", "No byte", b"", "kafka.produce.one-batch", also=())
    refuses("cut", "A batch without its last byte", two[:-1], "kafka.produce.one-batch", also=("truncated", "length-past-end"), needs=("feature:partial-tail",))
    _keeps(s, "then-cut", "A batch, then 20 bytes of another", two + two[:20], Sent(PAIR).stored(), ("trimmed",), "What is left of a write that was cut is not the producer's.", consumed=len(two), needs=("feature:partial-tail",))


def _damaged(s: CaseBuilder) -> None:
    """What no consumer could read is not stored: kafka.md §1.5."""
    def refuses(name, title, data, cls, rule, also=(), twin="two-none", needs=(), level="should"):
        _refuses(s, name, title, data, cls, twin, (rule,), "Stored, it stops every consumer of the partition at this offset.", also=also, needs=needs, level=level)
    two = Sent(PAIR).bytes()
    for name, at in (("value", len(two) - 2), ("attributes", 22), ("count", 60), ("crc", 17)):
        flipped = bytearray(two)
        flipped[at] ^= 1
        refuses(f"crc-{name}", f"One wrong bit in the {name}", bytes(flipped), "crc-mismatch", "kafka.v2.crc", level="must")
    for codec in (1, 2, 3, 4):
        packed = bytearray(Sent(PAIR, codec).bytes())
        packed[-3] ^= 1
        refuses(f"crc-{CODECS[codec]}", f"One wrong bit in the compressed records, codec {CODECS[codec]}", bytes(packed), "crc-mismatch", "kafka.v2.crc", twin=f"two-{CODECS[codec]}", level="must", needs=(f"codec:{CODECS[codec]}",))
    raw = b"".join(row.bytes() for row in PAIR)
    held = {"max_ts": T + 4, "epoch": -1}
    refuses("declared-3", "Two records, count 3", batch(raw, 3, **held), "count-mismatch", "kafka.v2.count", also=("not-permitted", "truncated", "length-past-end"))
    refuses("declared-1", "Two records, count 1", batch(raw, 1, **held), "trailing-data", "kafka.v2.count", also=("not-permitted", "count-mismatch"))
    refuses("declared-minus-1", "recordsCount −1", batch(raw, -1, last=1, **held), "negative-length", "kafka.v2.count.negative", also=("not-permitted", "count-mismatch"))
    inner = body(b"a", b"1")
    refuses("record-one-more", "The length of a record is one more than the record", batch(framed(inner, 1), 1, epoch=-1), "length-past-end", "kafka.v2.record.length", also=("not-permitted", "truncated", "length-mismatch"))
    refuses("record-one-less", "The length of a record is one less than the record", batch(framed(inner, -1), 1, epoch=-1), "length-mismatch", "kafka.v2.record.length", also=("not-permitted", "length-past-end", "truncated"))


def _limits(s: CaseBuilder) -> None:
    why = "The limit protects the memory of consumers and followers; one byte less than it must pass."
    for codec in (0, 1):
        data = Sent(PAIR, codec).bytes()
        for extra in (0, 1):
            _keeps(s, f"size-{CODECS[codec]}-{extra}-below", f"{CODECS[codec]}: max.message.bytes is the size of the batch plus {extra}", data, Sent(PAIR, codec).stored(), ("size",), why, topic={"max.message.bytes": str(len(data) + extra)}, codecs=(codec,), level="must")
        for over in (1, 20):
            _refuses(s, f"size-{CODECS[codec]}-{over}-above", f"{CODECS[codec]}: the batch has {over} bytes more than max.message.bytes", data, "limit-exceeded", f"size-{CODECS[codec]}-0-below", ("kafka.append.size",), why, topic={"max.message.bytes": str(len(data) - over)}, level="must", needs=(f"codec:{CODECS[codec]}",) if codec else ())


def _bounds(s: CaseBuilder) -> None:
    why = "Times far from the clock keep segments for ever, or delete them at once."
    old, late = {"message.timestamp.before.max.ms": "1000"}, {"message.timestamp.after.max.ms": "1000"}
    bound = ("kafka.append.time-bounds",)
    for codec in (0, 1):
        needs = (f"codec:{CODECS[codec]}",) if codec else ()
        past, coming = Sent(PAIR, codec), Sent(PAIR, codec, {}, FUTURE)
        timeless = Sent(rows(Row(b"a", b"1"), Row(b"b", b"2")), codec, {}, -1)
        name = CODECS[codec]
        _keeps(s, f"before-no-time-{name}", f"{name}: only the last second is allowed, and the records have no time", timeless.bytes(), timeless.stored(), ("time-bounds",), why, topic=old, codecs=(codec,), level="must")
        _refuses(s, f"before-{name}", f"{name}: only the last second is allowed, and the records are years old", past.bytes(), "invalid-value", f"before-no-time-{name}", bound, why, topic=old, needs=needs, level="must")
        _keeps(s, f"after-past-{name}", f"{name}: only the next second is allowed, and the records are years old", past.bytes(), past.stored(), ("time-bounds",), why, topic=late, codecs=(codec,), level="must")
        _refuses(s, f"after-{name}", f"{name}: only the next second is allowed, and the records are of 2096", coming.bytes(), "invalid-value", f"after-past-{name}", bound, why, topic=late, needs=needs, level="must")
    mixed = Sent(rows(Row(b"a", b"1"), Row(b"b", b"2", ts=FUTURE - T)))
    _refuses(s, "after-second-record", "Only the second record is of 2096", mixed.bytes(), "invalid-value", "after-past-none", bound, why, topic=late, level="must")
    _keeps(s, "after-stamped", "LogAppendTime: the bounds do not apply", Sent(PAIR, 0, {}, FUTURE).bytes(), Sent(PAIR, 0, {}, FUTURE).stored(stamped=True), ("time-bounds", "append-time"), why, topic={**late, **STAMPED}, level="must")


def _compacted(s: CaseBuilder) -> None:
    why = "The cleaner keeps the last record of each key: one without a key it can neither keep nor remove."
    for codec in (0, 1):
        name, needs = CODECS[codec], (f"codec:{CODECS[codec]}",) if codec else ()
        keyed = Sent(rows(Row(b"a", b"1"), Row(b"a", None, ts=1)), codec)
        _keeps(s, f"compact-keys-{name}", f"{name}: a record and a tombstone with keys", keyed.bytes(), keyed.stored(), ("compacted",), why, topic=COMPACT, codecs=(codec,))
        for which, given in (("first", (Row(None, b"1"), Row(b"b", b"2"))), ("second", (Row(b"a", b"1"), Row(None, b"2")))):
            _refuses(s, f"compact-no-key-{which}-{name}", f"{name}: the {which} of two records has no key", Sent(rows(*given), codec).bytes(), "not-permitted", f"compact-keys-{name}", ("kafka.append.compacted",), why, topic=COMPACT, needs=needs)
    empty = Sent((Row(b"", b"1"),))
    _keeps(s, "compact-empty-key", "An empty key is a key", empty.bytes(), empty.stored(), ("compacted",), why, topic=COMPACT)
    both = {"cleanup.policy": "compact,delete"}
    _keeps(s, "compact-delete-key", "compact,delete: a key", Sent((Row(),)).bytes(), Sent((Row(),)).stored(), ("compacted",), why, topic=both)
    _refuses(s, "compact-delete-no-key", "compact,delete: no key", Sent((Row(None),)).bytes(), "not-permitted", "compact-delete-key", ("kafka.append.compacted",), why, topic=both)
    _keeps(s, "delete-no-key", "cleanup.policy delete: no key", Sent((Row(None),)).bytes(), Sent((Row(None),)).stored(), ("compacted",), why, topic={"cleanup.policy": "delete"})


def _legacy(s: CaseBuilder) -> None:
    """Messages of v0 and v1, which brokers up to 3.9 take and store as a batch."""
    why = "Clients before 0.11 still write them where brokers let them; what they wrote must come back."
    needs = ("feature:append-legacy",)
    for magic, time in ((0, -1), (1, T)):
        stored = Sent((Row(),), 0, {}, time)
        _keeps(s, f"v{magic}-one", f"A message of v{magic}", message(magic, b"k", b"v"), stored.stored(), ("legacy",), why, needs=needs)
        two = Sent(rows(Row(), Row(None, b"w")), 0, {}, time)
        _keeps(s, f"v{magic}-two", f"Two messages of v{magic}, at offsets 3 and 7", message(magic, b"k", b"v", offset=3) + message(magic, None, b"w", offset=7), two.stored(), ("legacy", "offsets"), why, needs=needs)
        inner = message(magic, b"k", b"v", offset=0) + message(magic, None, b"w", offset=1)
        wrapped = Sent(two.rows, 1, {}, time)
        _keeps(s, f"v{magic}-wrapper", f"Two messages of v{magic} in gzip: each gets an offset", message(magic, None, gzip(inner), attributes=1, offset=1), wrapped.stored(), ("legacy", "offsets"), why, codecs=(1,), needs=needs)
        _keeps(s, f"v{magic}-stamped", f"A message of v{magic} on a topic of LogAppendTime", message(magic, b"k", b"v"), stored.stored(stamped=True), ("legacy", "append-time"), why, topic=STAMPED, needs=needs)
        _keeps(s, f"v{magic}-compact-key", f"A message of v{magic} with a key on a compacted topic", message(magic, b"k", b"v"), stored.stored(), ("legacy", "compacted"), why, topic=COMPACT, needs=needs)
        _refuses(s, f"v{magic}-compact-no-key", f"A message of v{magic} without a key on a compacted topic", message(magic, None, b"v"), "not-permitted", f"v{magic}-compact-key", ("kafka.append.compacted",), why, topic=COMPACT, needs=needs)
        _refuses(s, f"v{magic}-crc", f"A message of v{magic} with a wrong CRC", message(magic, b"k", b"v", crc=1), "crc-mismatch", f"v{magic}-one", ("kafka.legacy.crc",), why, needs=needs, level="must")
