"""What ListOffsets answers for a time and for -3, -4 and -5: `kafka.log/mixed/list-offsets`, kafka.md §1.15."""

from typing import Any

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka.fetch_steps import COMPACT, EARLIEST, LATER
from tests.authoring.kafka.steps import (
    APPENDED,
    FUTURE,
    GZIP,
    ZSTD,
    Batch,
    Producer,
    Sequences,
    Step,
    delete,
    fetch,
    idempotent,
    marker,
    offset_at,
    offset_of,
    plain,
    produce,
)

TIME, LARGEST = "kafka.list-offsets.time", "kafka.list-offsets.max-timestamp"
LOCAL, TIERED, VERSION = "kafka.list-offsets.local", "kafka.list-offsets.tiered", "kafka.list-offsets.version"
COMMITTED: dict[str, Any] = {"isolation": "read_committed"}
APPEND_TIME = {"message.timestamp.type": "LogAppendTime"}
NONE = (-1, -1)
MAX, EARLIEST_LOCAL, LATEST_TIERED, NO_NUMBER = -3, -4, -5, -99
UNSUPPORTED = "UNSUPPORTED_VERSION"
APART = {"afterMs": "30"}
"""Batches that are appended apart have different times of their append."""

SEEK = "A consumer that begins at a time must miss no record from it on, and get none of hours before."
PLACE = "Who finds the batch alone answers its first record, and a consumer gets records from before the time."
NEEDS_MAX = ["feature:list-max-timestamp"]


def at(shift: int, offset: int, **fields: Any) -> Step:
    """The first record at a shift or after it has exactly this time."""
    return offset_at(FUTURE + shift, (offset, FUTURE + shift), **fields)


def between(shift: int, offset: int, found: int, **fields: Any) -> Step:
    """The first record after a shift, at another one."""
    return offset_at(FUTURE + shift, (offset, FUTURE + found), **fields)


def write(writer: FixtureWriter) -> None:
    cases = Sequences(writer, "list-offsets", "§1.15", [])
    _times(cases)
    _orders(cases)
    _append_times(cases)
    _parts_of_a_log(cases)
    _largest(cases)
    _tiers(cases)


def _three(codec: int = 0) -> tuple[Step, ...]:
    """Three batches with rising times: 0, 10, 20; 100, 110; 200."""
    rows = (("abc", (0, 10, 20), 0), ("de", (0, 10), 100), ("f", (0,), 200))
    batches = [plain(*values, deltas=deltas, shift=shift, codec=codec) for values, deltas, shift in rows]
    return tuple(produce(one, base) for one, base in zip(batches, (0, 3, 5), strict=True))


def _times(cases: Sequences) -> None:
    log = _three()
    cases.case("before-first", "a time before the first record", SEEK, [TIME], *log, between(-1, 0, 0), offset_at(0, (0, FUTURE)))
    cases.case("at-record", "the time of the first record of each batch", SEEK, [TIME], *log, at(0, 0), at(100, 3), at(200, 5))
    cases.case("inside-batch", "the time of a record inside a batch", PLACE, [TIME], *log, at(10, 1), at(20, 2), at(110, 4))
    cases.case("between-records", "a time between two records of a batch", PLACE, [TIME], *log, between(1, 1, 10), between(11, 2, 20), between(101, 4, 110))
    cases.case("between-batches", "a time between two batches", SEEK, [TIME], *log, between(21, 3, 100), between(99, 3, 100), between(111, 5, 200))
    cases.case("behind-last", "a time after the last record: there is none, and no error", "The consumer waits at the end.", [TIME], *log, offset_at(FUTURE + 201, NONE), at(200, 5))
    cases.case("empty", "a time in a log without records", "A consumer may begin before the first producer.", [TIME], offset_at(FUTURE, NONE), offset_at(0, NONE))
    cases.case(
        "oldest-version", "a time by ListOffsets 1, 2 and 4", "Old clients name no leader epoch and no isolation level.", [TIME],
        *log, *(at(10, 1, version=str(version)) for version in (1, 2, 4)), between(21, 3, 100, version="1"), offset_at(FUTURE + 201, NONE, version="1"),
    )  # fmt: skip
    for name, codec in (("gzip", GZIP), ("zstd", ZSTD)):
        cases.case(
            f"inside-{name}", f"a time inside a batch in {name}", "The times of single records are compressed too: a broker must unpack the batch.", [TIME],
            *_three(codec), at(10, 1), between(11, 2, 20), between(21, 3, 100), at(110, 4), needs=[f"codec:{name}"],
        )  # fmt: skip
    far = [plain(value * 5000, shift=shift) for value, shift in zip("abcde", (0, 100, 200, 300, 400), strict=True)]
    cases.case(
        "large", "a time in a log with entries of its time index between the batches", SEEK, [TIME],
        *(produce(one, base) for base, one in enumerate(far)), at(100, 1), between(101, 2, 200), at(300, 3), between(301, 4, 400), offset_at(FUTURE + 401, NONE),
    )  # fmt: skip


def _orders(cases: Sequences) -> None:
    why = "Clients choose times: they need not rise, and may be equal."
    equal = (plain("a", "b", deltas=(0, 0)), plain("c", "d", deltas=(0, 0)), plain("e", "f", deltas=(10, 10)))
    sent = [produce(one, base) for one, base in zip(equal, (0, 2, 4), strict=True)]
    cases.case("equal", "several records and batches with one time: the first of them", why, [TIME], *sent, at(0, 0), between(1, 4, 10), at(10, 4))
    batches = (plain("a", shift=200), plain("b", shift=100), plain("c", shift=300))
    back = [produce(one, base) for base, one in enumerate(batches)]
    cases.case(
        "back", "a batch with earlier times than the one before it: the first record in the log counts", why, [TIME],
        *back, between(50, 0, 200), between(100, 0, 200), at(200, 0), between(201, 2, 300), at(300, 2),
    )  # fmt: skip
    mixed = (plain("a", "b", "c", deltas=(0, -20, -10)), plain("d", shift=5))
    inside = [produce(one, base) for one, base in zip(mixed, (0, 3), strict=True)]
    cases.case(
        "back-inside", "a batch whose first record has the greatest time", why, [TIME],
        *inside, between(-15, 0, 0), at(0, 0), between(1, 3, 5), offset_at(FUTURE + 6, NONE),
    )  # fmt: skip
    late = [produce(plain(value * 5000, shift=shift), base) for base, (value, shift) in enumerate(zip("abcde", (0, 300, 100, 200, 400), strict=True))]
    cases.case(
        "large-back", "a time in a large log whose times go back", why, [TIME],
        *late, between(50, 1, 300), between(200, 1, 300), at(300, 1), between(301, 4, 400),
    )  # fmt: skip


def _append_times(cases: Sequences) -> None:
    why = "With append time a record has the time of its batch at the broker, whatever its producer wrote."
    first, second = plain("a", "b", deltas=(0, 10)), plain("c", "d")
    for name, codec, needs in (("append-time", 0, []), ("append-time-gzip", GZIP, ["codec:gzip"])):
        packed = [Batch(one.values, deltas=one.deltas, codec=codec) for one in (first, second)]
        cases.case(
            name, "the time of an append" + (", in gzip" if codec else ""), why, [TIME, "kafka.append.append-time"],
            produce(packed[0], 0), produce(packed[1], 2, **APART),
            offset_at(0, (0, APPENDED)), offset_at(0, (0, APPENDED), timestampOf="0"), offset_at(1, (2, APPENDED), timestampOf="0"),
            offset_at(0, (2, APPENDED), timestampOf="2"), offset_at(1, NONE, timestampOf="2"), offset_at(FUTURE, NONE),
            topic=APPEND_TIME, needs=needs,
        )  # fmt: skip


def _parts_of_a_log(cases: Sequences) -> None:
    needs = ["feature:delete-records"]
    log = _three()
    cases.case(
        "deleted", "times of records that are deleted: the first one that is left", "No consumer can read from a deleted offset.", [TIME, "kafka.fetch.deleted"],
        *log, delete(3, 3), between(0, 3, 100), between(20, 3, 100), at(110, 4), needs=needs,
    )  # fmt: skip
    cases.case(
        "deleted-inside", "the log begins inside a batch: the first record from there on", "The batch is still whole in the file.", [TIME, "kafka.fetch.deleted"],
        *log, delete(1, 1), between(0, 1, 10), at(20, 2), needs=needs,
    )  # fmt: skip
    cases.case(
        "deleted-all", "a time in a log whose records are all deleted", "Nothing of the file is part of the log.", [TIME, "kafka.fetch.deleted"],
        *log, delete(-1, 6), offset_at(FUTURE, NONE), offset_at(0, NONE), needs=needs,
    )  # fmt: skip
    one = Producer()
    free, inside = plain("x"), Batch(("a",), one.number, 0, 0, transactional=True, shift=100)
    begun = (produce(free, 0), one.init(0), one.add(0), one.produce(inside, 1))
    cases.case(
        "open-transaction", "for committed records, no offset from the open transaction on", "A consumer of committed records cannot read there yet.",
        [TIME, "kafka.transaction.stable-offset"],
        *begun, at(100, 1), at(0, 0, **COMMITTED), offset_at(FUTURE + 1, NONE, **COMMITTED), one.end(commit=True),
        fetch(3, free.stored(0), inside.stored(1), marker("commit", 2, one.number), until="3"), between(1, 1, 100, **COMMITTED),
        needs=["feature:transactions"],
    )  # fmt: skip
    old, new = idempotent("1", "2", "3", sequence=0, keys=("a", "b", "c"), deltas=(0, 10, 20)), plain("4", keys=("b",), shift=50)
    end = plain("z", keys=("z",), shift=LATER)
    cases.case(
        "cleaned", "the time of a record that was cleaned away: the next one that is left", SEEK, [TIME, "kafka.fetch.cleaned"],
        produce(old, 0), produce(new, 3), produce(end, 4), fetch(5, old.stored(0, kept=[0, 2]), new.stored(3), end.stored(4), compacted="4"),
        at(0, 0), between(1, 2, 20), between(10, 2, 20), between(21, 3, 50), between(51, 4, LATER), topic=COMPACT, needs=["feature:compaction", "feature:idempotent"],
    )  # fmt: skip
    before, gone, kept = plain("0", keys=("y",), shift=-10), plain("1", keys=("b",)), plain("2", keys=("c",), shift=10)
    cases.case(
        "cleaned-batch", "the time of a batch that was cleaned away", SEEK, [TIME, "kafka.fetch.cleaned"],
        produce(before, 0), produce(gone, 1), produce(kept, 2), produce(new, 3), produce(end, 4),
        fetch(5, before.stored(0), kept.stored(2), new.stored(3), end.stored(4), compacted="4"),
        at(-10, 0), between(-9, 2, 10), between(0, 2, 10), between(11, 3, 50), topic=COMPACT, needs=["feature:compaction"],
    )  # fmt: skip


def _largest(cases: Sequences) -> None:
    why = "A tool asks so how far a partition has come; the greatest time need not be at the end of the log."
    cases.case("max", "-3: the record with the greatest time is the last one", why, [LARGEST], *_three(), offset_at(MAX, (5, FUTURE + 200)), needs=NEEDS_MAX)
    early, late = plain("a", "b", deltas=(0, 10), shift=200), plain("c", shift=100)
    cases.case(
        "max-first-batch", "-3: the greatest time is in an earlier batch", why, [LARGEST],
        produce(early, 0), produce(late, 2), offset_at(MAX, (1, FUTURE + 210)), needs=NEEDS_MAX,
    )  # fmt: skip
    for name, codec in (("", 0), ("-gzip", GZIP), ("-zstd", ZSTD)):
        sent = plain("a", "b", "c", deltas=(0, 30, 10), codec=codec)
        cases.case(
            f"max-inside{name}", "-3: the greatest time is inside a batch" + (f" in {name[1:]}" if name else ""), why, [LARGEST],
            produce(sent, 0), produce(plain("d", shift=20), 3), offset_at(MAX, (1, FUTURE + 30)),
            needs=[*NEEDS_MAX, *([f"codec:{name[1:]}"] if name else [])],
        )  # fmt: skip
    cases.case("max-empty", "-3 of a log without records", "No record has the greatest time.", [LARGEST], offset_at(MAX, NONE), needs=NEEDS_MAX)
    equal = plain("a", "b", "c", deltas=(0, 30, 30))
    one_of = {"either": {"first": {"offset": "1", "timestamp": str(FUTURE + 30)}, "last": {"offset": "2", "timestamp": str(FUTURE + 30)}}}
    cases.case(
        "max-equal", "-3: two records have the greatest time: the text does not say which of them", why, [LARGEST],
        produce(equal, 0), produce(plain("d", shift=20), 3), {**offset_at(MAX, NONE), "expect": one_of}, needs=NEEDS_MAX, level="should",
    )  # fmt: skip
    stamped = {"either": {name: {"offset": offset, "timestamp": str(APPENDED)} for name, offset in (("first", "2"), ("last", "3"))}}
    cases.case(
        "max-append-time", "-3 with append time: a record of the last batch", why, [LARGEST, "kafka.append.append-time"],
        produce(plain("a", "b", deltas=(0, 99)), 0), produce(plain("c", "d", deltas=(0, -5)), 2, **APART), {**offset_at(MAX, NONE), "expect": stamped},
        topic=APPEND_TIME, needs=NEEDS_MAX, level="should",
    )  # fmt: skip
    one = Producer()
    free, inside = plain("x"), Batch(("a",), one.number, 0, 0, transactional=True, shift=100)
    cases.case(
        "max-committed", "-3 after the end of a transaction, for committed records", why, [LARGEST, "kafka.transaction.stable-offset"],
        produce(free, 0), one.init(0), one.add(0), one.produce(inside, 1), offset_at(MAX, (1, FUTURE + 100)), one.end(commit=True),
        fetch(3, free.stored(0), inside.stored(1), marker("commit", 2, one.number), until="3"), offset_at(MAX, (1, FUTURE + 100), **COMMITTED),
        needs=[*NEEDS_MAX, "feature:transactions"],
    )  # fmt: skip


def _tiers(cases: Sequences) -> None:
    local, tiered, gone = ["feature:list-earliest-local"], ["feature:list-latest-tiered"], ["feature:delete-records"]
    why = "Without tiered storage the whole log is on the disk of the broker."
    log = _three()
    cases.case("local", "-4 without tiered storage: the beginning of the log", why, [LOCAL], *log, offset_of(EARLIEST_LOCAL, 0), offset_of(EARLIEST, 0), needs=local)
    cases.case(
        "local-deleted", "-4 after records are deleted", why, [LOCAL, "kafka.fetch.deleted"],
        *log, delete(4, 4), offset_of(EARLIEST_LOCAL, 4), offset_of(EARLIEST, 4), needs=[*local, *gone],
    )  # fmt: skip
    none = "Without tiered storage no record is in it."
    cases.case("tiered", "-5 without tiered storage: no offset", none, [TIERED], *log, offset_of(LATEST_TIERED, -1), needs=tiered)
    cases.case("tiered-empty", "-5 of a log without records", none, [TIERED], offset_of(LATEST_TIERED, -1), needs=tiered)
    older = "A broker that takes the number for a time answers the beginning of the log, and the client believes it."
    for name, number, version, twin, needs in (
        ("max", MAX, 6, "max", NEEDS_MAX), ("local", EARLIEST_LOCAL, 7, "local", local), ("tiered", LATEST_TIERED, 8, "tiered", tiered),
    ):  # fmt: skip
        cases.case(
            f"{name}-older-version", f"{number} in ListOffsets {version}, which does not have it", older, [VERSION],
            *log, {**offset_of(number, 0, version=str(version)), "expect": {"error": UNSUPPORTED}}, twin=twin, needs=needs, level="should",
        )  # fmt: skip
    cases.case(
        "no-number", "a number below 0 that no version has", older, [VERSION],
        *log, {**offset_of(NO_NUMBER, 0), "expect": {"error": UNSUPPORTED}}, twin="max", needs=NEEDS_MAX, level="should",
    )  # fmt: skip
