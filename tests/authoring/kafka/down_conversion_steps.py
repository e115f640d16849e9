"""What an old version of Fetch returns of batches: `kafka.log/mixed/down-conversion`, kafka.md §1.16."""

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka.fetch_steps import COMPACT, LATER, OUT
from tests.authoring.kafka.steps import (
    GZIP,
    ZSTD,
    Producer,
    Sequences,
    fetch,
    idempotent,
    marker,
    old_fetch,
    plain,
    produce,
    refused_fetch,
)
from wireproof.kafka.append import APPEND_TIME

MAGIC, TIMES, HEADERS = "kafka.old-fetch.magic", "kafka.old-fetch.timestamps", "kafka.old-fetch.headers"
WRAPPER, INSIDE, CONTROL = "kafka.old-fetch.wrapper", "kafka.old-fetch.inside", "kafka.old-fetch.control"
DISABLED, CODEC, CLEANED, WHOLE = (
    "kafka.old-fetch.disabled", "kafka.old-fetch.zstd", "kafka.old-fetch.cleaned", "kafka.old-fetch.whole-batch",
)  # fmt: skip
RANGE = "kafka.fetch.range"

OLD = "A consumer from before Kafka 0.11 knows messages only; what it cannot read it takes for damage."
V0, V1 = 1, 3
"""The newest versions of Fetch with messages of v0, and of v1."""

STAMPED = {"message.timestamp.type": "LogAppendTime"}


def write(writer: FixtureWriter) -> None:
    cases = Sequences(writer, "down-conversion", "§1.16", ["feature:down-conversion"])
    _messages(cases)
    _compressed(cases)
    _places(cases)
    _transactions(cases)
    _cleaned(cases)
    _refused(cases)


def _messages(cases: Sequences) -> None:
    batch = plain("a", "b", "c", deltas=(0, 5, 2))
    new, old = batch.messages(1, 0), batch.messages(0, 0)
    cases.case("v1", "Fetch 2 and 3 return messages of v1", OLD, [MAGIC, TIMES], produce(batch, 0), old_fetch(2, 3, *new), old_fetch(V1, 3, *new))
    cases.case("v0", "Fetch 0 and 1 return messages of v0, without timestamps", OLD, [MAGIC, TIMES], produce(batch, 0), old_fetch(0, 3, *old), old_fetch(V0, 3, *old))
    cases.case(
        "every-version", "one log, asked for by old and new versions in turn", "The log itself must stay as it was produced.", [MAGIC],
        produce(batch, 0), old_fetch(V0, 3, *old), fetch(3, batch.stored(0)), old_fetch(V1, 3, *new), fetch(3, batch.stored(0)),
    )  # fmt: skip
    stamped = batch.messages(1, 0, stamp=APPEND_TIME)
    cases.case(
        "append-time", "a topic with append time: the messages have it, and its type", "A consumer must know whose clock it reads.", [TIMES],
        produce(batch, 0), old_fetch(V1, 3, *stamped), old_fetch(V0, 3, *old), topic=STAMPED,
    )  # fmt: skip
    headed = plain("a", "b", headers=((b"h", b"1"), (b"", None)))
    cases.case(
        "headers", "records with headers: the messages have none", "Old messages have no place for headers; key and value must stay.", [HEADERS],
        produce(headed, 0), old_fetch(V1, 2, *headed.messages(1, 0)), old_fetch(V0, 2, *headed.messages(0, 0)),
    )  # fmt: skip
    nulls = plain(None, "", "v", keys=("k", "", None))
    cases.case(
        "nulls", "a null value, empty texts, and a null key", "A tombstone that becomes an empty value no longer deletes.", [MAGIC],
        produce(nulls, 0), old_fetch(V1, 3, *nulls.messages(1, 0)), old_fetch(V0, 3, *nulls.messages(0, 0)),
    )  # fmt: skip
    owned = idempotent("a", "b", sequence=0)
    cases.case(
        "producer", "a batch of an idempotent producer, whose numbers have no place in messages", OLD, [MAGIC],
        produce(owned, 0), old_fetch(V1, 2, *owned.messages(1, 0)), produce(owned, 0), old_fetch(V0, 2, *owned.messages(0, 0)),
        needs=["feature:idempotent"],
    )  # fmt: skip


def _compressed(cases: Sequences) -> None:
    packed, free = plain("a", "b", "c", codec=GZIP, deltas=(0, 5, 2)), plain("d")
    needs = ["codec:gzip"]
    why = "A wrapper with wrong inner offsets gives every record another offset."
    for name, version, magic in (("v1", V1, 1), ("v0", V0, 0)):
        cases.case(
            f"compressed-{name}", f"a compressed batch becomes a wrapper of {name}, behind another batch", why, [WRAPPER, MAGIC],
            produce(free, 0), produce(packed, 1),
            old_fetch(version, 4, *free.messages(magic, 0), *packed.messages(magic, 1)), needs=needs,
        )  # fmt: skip
    headed = plain("a", "b", codec=GZIP, headers=((b"h", b"1"),))
    cases.case(
        "compressed-headers", "a compressed batch with headers: the messages of the wrapper have none", why, [WRAPPER, HEADERS],
        produce(headed, 0), old_fetch(V1, 2, *headed.messages(1, 0)), old_fetch(V0, 2, *headed.messages(0, 0)), needs=needs,
    )  # fmt: skip
    stamped = [*free.messages(1, 0, stamp=APPEND_TIME), *packed.messages(1, 1, stamp=APPEND_TIME)]
    cases.case(
        "compressed-append-time", "a compressed batch of a topic with append time: the wrapper has it, and its type", why, [WRAPPER, TIMES],
        produce(free, 0), produce(packed, 1), old_fetch(V1, 4, *stamped), topic=STAMPED, needs=needs,
    )  # fmt: skip
    cases.case(
        "compressed-inside", "from an offset inside a compressed batch: the whole wrapper comes",
        "A wrapper is one entry; a consumer drops the messages before its offset.", [WRAPPER, INSIDE],
        produce(packed, 0), old_fetch(V1, 3, *packed.messages(1, 0), offset=1), old_fetch(V0, 3, *packed.messages(0, 0), offset=2),
        needs=needs, level="should",
    )  # fmt: skip


def _places(cases: Sequences) -> None:
    first, second = plain("a", "b", "c"), plain("d")
    both = (produce(first, 0), produce(second, 3))
    tail = [*first.messages(1, 0, kept=[1, 2]), *second.messages(1, 3)]
    cases.case(
        "inside", "from an offset inside a batch without compression: the messages from there on",
        "An old consumer expects the message of its offset first; some take an earlier one for a new one.", [INSIDE],
        *both, old_fetch(V1, 4, *tail, offset=1), old_fetch(V0, 4, *second.messages(0, 3), offset=3), level="should",
    )  # fmt: skip
    cases.case("at-end", "from the end of the log: nothing, and no error", "A consumer that has read all waits there.", [RANGE], *both, old_fetch(V1, 4, offset=4), old_fetch(V0, 4, offset=4))
    cases.case(
        "past-end", "from the offset after the end", "A consumer with such an offset would wait for ever.", [RANGE],
        *both, refused_fetch(5, OUT, version=str(V1)), refused_fetch(5, OUT, version=str(V0)), twin="at-end",
    )  # fmt: skip
    cases.case(
        "limit", "a limit of one byte: the whole first batch comes, as messages",
        "A consumer with a small limit must be able to go on, also if the messages take more bytes than the batch.", [WHOLE],
        *both, old_fetch(V1, 4, *first.messages(1, 0), partitionMaxBytes="1"), level="should",
    )  # fmt: skip
    packed = plain("a", "b", "c", codec=GZIP)
    cases.case(
        "limit-compressed", "a limit of one byte: the whole first wrapper comes", "A wrapper that is cut cannot be unpacked.", [WHOLE],
        produce(packed, 0), produce(second, 3), old_fetch(V1, 4, *packed.messages(1, 0), partitionMaxBytes="1"), needs=["codec:gzip"],
        level="should",
    )  # fmt: skip


def _transactions(cases: Sequences) -> None:
    needs = ["feature:idempotent", "feature:transactions"]
    one, free = Producer(), plain("x")
    batch = one.batch("a", "b", sequence=0)
    begin = (one.init(0), one.add(0), one.produce(batch, 0))
    why = "An old consumer takes a marker for a message with a strange key."
    stored = {name: (batch.stored(0), marker(name, 2, one.number)) for name in ("commit", "abort")}
    cases.case(
        "commit", "a committed transaction: old versions return its records, and no marker", why, [CONTROL],
        *begin, one.end(commit=True), fetch(3, *stored["commit"], until="3"), produce(free, 3),
        old_fetch(V1, 4, *batch.messages(1, 0), *free.messages(1, 3)), old_fetch(V0, 4, *batch.messages(0, 0), *free.messages(0, 3)),
        needs=needs, level="should",
    )  # fmt: skip
    cases.case(
        "abort", "an aborted transaction: old versions return its records too", "Isolation begins with Fetch 4.", [CONTROL],
        *begin, one.end(commit=False), fetch(3, *stored["abort"], until="3", isolation="read_committed", aborted=[(str(one.number), "0")]),
        old_fetch(V1, 3, *batch.messages(1, 0)), needs=needs, level="should",
    )  # fmt: skip
    done = (*begin, one.end(commit=True), fetch(3, *stored["commit"], until="3"))
    cases.case(
        "marker-last", "from the offset of a marker at the end of the log: nothing", why, [CONTROL],
        *done, old_fetch(V1, 3, offset=2), old_fetch(V0, 3, offset=2), needs=needs, level="should",
    )  # fmt: skip
    cases.case(
        "marker-first", "from the offset of a marker: the record behind it comes, once",
        "A consumer that stands on a marker would process the record twice.", [CONTROL],
        *done, produce(free, 3), old_fetch(V1, 4, *free.messages(1, 3), offset=2), old_fetch(V0, 4, *free.messages(0, 3), offset=2),
        needs=needs, level="should",
    )  # fmt: skip
    cases.case(
        "open-transaction", "a transaction that is open: old versions return its records", "Isolation begins with Fetch 4.", [CONTROL],
        *begin, fetch(2, isolation="read_committed", stable=0), old_fetch(V1, 2, *batch.messages(1, 0)), one.end(commit=True),
        needs=needs, level="should",
    )  # fmt: skip


def _cleaned(cases: Sequences) -> None:
    needs = ["feature:compaction"]
    why = "The offsets of the messages that are left must stay those of their records."
    last = plain("z", keys=("z",), shift=LATER)
    for name, codec in (("cleaned", 0), ("cleaned-compressed", GZIP)):
        first = plain("1", "2", "3", keys=("a", "b", "c"), codec=codec)
        second = plain("4", keys=("b",))
        left = (first.stored(0, kept=[0, 2]), second.stored(3), last.stored(4))
        cases.case(
            name, f"a batch {'with compression ' if codec else ''}whose second record was cleaned away", why,
            [CLEANED, *([WRAPPER] if codec else [])],
            produce(first, 0), produce(second, 3), produce(last, 4), fetch(5, *left, compacted="4"),
            old_fetch(V1, 5, *first.messages(1, 0, kept=[0, 2]), *second.messages(1, 3), *last.messages(1, 4)),
            old_fetch(V0, 5, *first.messages(0, 0, kept=[0, 2]), *second.messages(0, 3), *last.messages(0, 4)),
            topic=COMPACT, needs=[*needs, *(["codec:gzip"] if codec else [])], level="should",
        )  # fmt: skip


def _refused(cases: Sequences) -> None:
    batch = plain("a", "b", "c")
    cases.case(
        "disabled", "a topic without down-conversion: old versions are refused",
        "An operator who forbids the work of converting must not get it, and the consumer must see why.", [DISABLED],
        produce(batch, 0), refused_fetch(0, "UNSUPPORTED_VERSION", version=str(V1)), refused_fetch(0, "UNSUPPORTED_VERSION", version=str(V0)),
        fetch(3, batch.stored(0)), topic={"message.downconversion.enable": "false"}, twin="v1",
    )  # fmt: skip
    packed = plain("a", "b", codec=ZSTD)
    codec = "UNSUPPORTED_COMPRESSION_TYPE"
    cases.case(
        "zstd", "a batch in zstd, which no message can have", "A consumer that cannot unpack the records must not get them.", [CODEC],
        produce(packed, 0), refused_fetch(0, codec, version=str(V1)), refused_fetch(0, codec, version=str(V0)), fetch(2, packed.stored(0)),
        twin="compressed-v1", needs=["codec:zstd"],
    )  # fmt: skip
