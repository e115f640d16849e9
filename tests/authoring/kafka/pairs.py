"""Values beside each other: each pair of states of two parts of a record, and of two properties of a batch. kafka.md §1.2, §1.3, §1.8, §2.

The rows are a covering array of strength two, made here in thirty lines. A library (allpairspy) would do, but a later
release of it may give other rows, and a case that has landed keeps its bytes: the rows are part of the cases.
Each row of a table is one case, whose id names its states.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, product
from typing import Any, Final

from tests.authoring.case_builder import CaseBuilder
from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka.control_bytes import control_value
from tests.authoring.kafka.entry_bytes import (
    T,
    batch,
    batch_value,
    gzip,
    lz4,
    marker,
    message,
    message_value,
    record,
    record_value,
    snappy_block,
    xerial,
    zstd,
)
from tests.authoring.kafka.states import HIGH64, read, written

Row = Mapping[str, Any]


def write(writer: FixtureWriter) -> None:
    v2 = CaseBuilder(writer, "kafka.batch", "v2")
    for row in covering(PARTS, possible_parts):
        _parts(v2, row)
    for row in covering(PROPERTIES, possible_properties):
        _properties(v2, row)
    for magic in (0, 1):
        for row in covering(OLD_PARTS, lambda _row: True):
            _old_parts(CaseBuilder(writer, "kafka.batch", f"v{magic}"), magic, row)


def covering(factors: Mapping[str, Sequence[Any]], possible: Callable[[Row], bool]) -> list[Row]:
    """Return rows in which each possible pair of states of two factors occurs, found greedily.

    All rows are looked at for each one that is taken, so it is for some thousands of them.
    """
    rows = [row for states in product(*factors.values()) if possible(row := dict(zip(factors, states, strict=True)))]
    pairs = [set(combinations(enumerate(row.values()), 2)) for row in rows]
    left, found = set[Any]().union(*pairs), []
    while left:
        best = max(range(len(rows)), key=lambda index: len(pairs[index] & left))
        left -= pairs[best]
        found.append(rows[best])
    return found


# --- the parts of a record ---

TEXTS: Final = {"null": None, "empty": b"", "one": b"x", "long": b"y" * 64}
"""The states of a text: a length of 64 takes two bytes as a varint."""

ABSENT: Final = "absent"

PARTS: Final[Mapping[str, Sequence[Any]]] = {
    "codec": ("none", "gzip", "snappy", "lz4", "zstd"),
    "key": tuple(TEXTS),
    "value": tuple(TEXTS),
    "headers": ("none", "one", "many"),
    "header_key": (ABSENT, "empty", "one", "long"),
    "header_value": (ABSENT, *TEXTS),
}

PAYING: Final = (b"f", b"v" * 300)
"""A record behind the one of the row, which makes the codec pay: a writer may leave one out that does not."""


def possible_parts(row: Row) -> bool:
    """Return whether header key and header value are absent just where no header is there."""
    return {row[name] == ABSENT for name in ("header_key", "header_value")} == {row["headers"] == "none"}


def headers_of(row: Row) -> tuple[tuple[bytes, bytes | None], ...]:
    if row["headers"] == "none":
        return ()
    first = (TEXTS[row["header_key"]] or b"", TEXTS[row["header_value"]])
    return (first, *((b"n", b"1") for _ in range(63 if row["headers"] == "many" else 0)))


def pressed(codec: str, data: bytes, *, magic: int = 2) -> bytes:
    """Return data in the frame of a codec, or as it is."""
    match codec:
        case "gzip":
            return gzip(data)
        case "snappy":
            return xerial(snappy_block(data))
        case "lz4":
            return lz4(data, kip57=magic == 0)
        case "zstd":
            return zstd(data)
        case _:
            return data


def _parts(s: CaseBuilder, row: Row) -> None:
    number = PARTS["codec"].index(row["codec"])
    first = (TEXTS[row["key"]], TEXTS[row["value"]], headers_of(row))
    rows = [first, *([(*PAYING, ())] if number else [])]
    plain = b"".join(record(*parts, off=off) for off, parts in enumerate(rows))
    data = batch(pressed(row["codec"], plain), len(rows), attributes=number)
    value = batch_value([record_value(*parts, off=off) for off, parts in enumerate(rows)], attributes=number)
    header = f"headers {row['headers']}" + (f", the first {row['header_key']} and {row['header_value']}" if row["headers"] != "none" else "")
    title = f"{row['codec']}: key {row['key']}, value {row['value']}, {header}"
    name = "-".join(str(state) for state in row.values() if state != ABSENT)
    why = "Two rare states beside each other: what tells each alone may still take one for the other here."
    rules = ["kafka.v2.null", *(["kafka.v2.headers", "kafka.v2.headers.null-value"] if row["headers"] != "none" else []), *(["kafka.v2.compression"] if number else [])]
    read(s, f"pairs/{name}", title, data, value, why, rules, doc="kafka.md §1.3, §3")
    encode = ["kafka.v2.encode.null", *(["kafka.v2.encode.headers"] if row["headers"] != "none" else []), *(["kafka.v2.encode.codec"] if number else [])]
    written(s, f"pairs/write-{name}", f"{title}, to write", None if number else data, value, why, encode, doc="kafka.md §1.3, §3")


OLD_PARTS: Final[Mapping[str, Sequence[Any]]] = {
    "codec": ("none", "gzip", "snappy", "lz4"),
    "key": tuple(TEXTS),
    "value": tuple(TEXTS),
    "direction": ("read", "write"),
}


def _old_parts(s: CaseBuilder, magic: int, row: Row) -> None:
    number = OLD_PARTS["codec"].index(row["codec"])
    parts = (TEXTS[row["key"]], TEXTS[row["value"]])
    data, value = message(magic, *parts), message_value(magic, *parts)
    if number:
        inner = data + message(magic, *PAYING, offset=1)
        data = message(magic, None, pressed(row["codec"], inner, magic=magic), offset=1, attributes=number)
        value = message_value(magic, None, None, offset=1, attributes=number, messages=[value, message_value(magic, *PAYING, offset=1)])
    name = "-".join(row[key] for key in ("codec", "key", "value"))
    title = f"{row['codec']}: key {row['key']}, value {row['value']}"
    why = "Two rare states beside each other, plain and in a wrapper of each codec."
    if row["direction"] == "read":
        read(s, f"pairs/{name}", title, data, value, why, ("kafka.legacy.null", *(("kafka.lz4.kip57",) if row["codec"] == "lz4" else ())))
    else:
        written(s, f"pairs/write-{name}", f"{title}, to write", None if number else data, value, why, ("kafka.legacy.encode.null", *(("kafka.legacy.encode.codec",) if number else ())))


# --- the properties of a batch ---

PROPERTIES: Final[Mapping[str, Sequence[Any]]] = {
    "base": (-1, 0, T, HIGH64),
    "most": (-1, 0, T + 5000, HIGH64),
    "records": ("none", "marker", "two"),
    "append": (False, True),
    "transactional": (False, True),
    "horizon": (False, True),
}


def possible_properties(row: Row) -> bool:
    """Return whether a batch under CreateTime has the time of its last record: any under LogAppendTime.

    A delete horizon of -1 is none, with which Kafka's builder leaves the bit out.
    """
    return bool(not (row["horizon"] and row["base"] < 0)) and bool(row["append"] or row["records"] == "none" or row["most"] == row["base"] or (row["records"] == "two" and row["base"] >= 0 and row["most"] > row["base"]))


def _remarks(row: Row) -> Iterator[str]:
    """Yield what a reader remarks: kafka.md §5 on control, timestamps below none, and what no broker writes."""
    if row["records"] == "marker" and not row["transactional"]:
        yield "control-not-transactional"
    if (row["append"] and row["most"] < 0) or (row["horizon"] and row["base"] < 0):
        yield "negative-timestamp"


def _properties(s: CaseBuilder, row: Row) -> None:
    bits = 8 * row["append"] + 16 * row["transactional"] + 32 * (row["records"] == "marker") + 64 * row["horizon"]
    owner = row["transactional"] or row["records"] == "marker"
    fields = {"base": 9, "attributes": bits, "base_ts": row["base"], "max_ts": row["most"], "last": 1 if row["records"] != "marker" else 0, "pid": 1000 if owner else -1, "pepoch": 3 if owner else -1,
              "seq": 7 if owner and row["records"] != "marker" else -1}  # fmt: skip
    delta = 0 if row["append"] else row["most"] - row["base"]
    rows: list[tuple[Any, Any, int, int]] = []
    if row["records"] == "marker":
        rows = [(*marker(1), 0, 0)]
    elif row["records"] == "two":
        rows = [(b"a", b"1", 0, 0), (b"b", None, delta, 1)]
    append = row["most"] if row["append"] else None
    values = [record_value(key, value, ts=ts, off=off, base=9, base_ts=row["base"], append=append, control=control_value(key, value) if row["records"] == "marker" else None) for key, value, ts, off in rows]
    data = batch(b"".join(record(key, value, ts=ts, off=off) for key, value, ts, off in rows), len(rows), **fields)
    whole = batch_value(values, **fields)
    words = [word for word in ("append", "transactional", "horizon") if row[word]]
    times = {-1: "none", 0: "zero", T: "now", T + 5000: "later", HIGH64: "greatest"}
    name = "-".join([f"records-{row['records']}" if row["records"] != "marker" else "marker", *words, f"base-{times[row['base']]}", f"most-{times[row['most']]}"])
    many = {"none": "no records", "marker": "a COMMIT marker", "two": "two records"}[row["records"]]
    title = f"A batch of {many}: {', '.join(words) or 'no'} bit, base timestamp {times[row['base']]}, greatest {times[row['most']]}"
    why = "Who sets the times, whose they are and whether there is a record are three questions: each answer stands beside each."
    rules = ["kafka.v2.attributes", *(["kafka.v2.log-append-time"] if row["append"] else ["kafka.v2.timestamp"]), *(["kafka.v2.delete-horizon"] if row["horizon"] else []), *(["kafka.v2.empty"] if row["records"] == "none" else [])]
    read(s, f"pairs/{name}", title, data, whole, why, rules, remarks=tuple(_remarks(row)), doc="kafka.md §1.2, §1.5, §1.8")
    written(s, f"pairs/write-{name}", f"{title}, to write", data, whole, why, ("kafka.v2.encode", "kafka.v2.encode.times"), doc="kafka.md §1.8")
