"""Read Iggy's binary formats by the tables of `layouts` and iggy.md §2 to §7, to check the golden cases.

Nothing here comes from the codec under test.
"""

import struct
import zlib
from collections.abc import Mapping
from operator import itemgetter
from typing import Any, Final

import xxhash

from tests.independent.iggy import layouts
from tests.independent.iggy.header_numbers import with_numbers
from tests.independent.iggy.layouts import CHECKSUMS, NUMBERS, Layout
from tests.independent.refused import RefusedError

Json = Any

KINDS: Final = (
    "raw", "string", "bool", "int8", "int16", "int32", "int64", "int128",
    "uint8", "uint16", "uint32", "uint64", "uint128", "float32", "float64",
)  # fmt: skip
STATES: Final = {code: name for name, code in layouts.STATES.items()}
OPAQUE_SINCE: Final = ("0.7", "0.8", "0.9", "0.11", "0.11.1-edge")
"""The revisions whose headers are kept as they are where they are no entries: §5, §6."""
BATCH: Final = 256


class Bytes:
    """Bytes that are read from front to back."""

    def __init__(self, data: bytes, at: int = 0, end: int | None = None, cut: str = "truncated") -> None:
        self.data, self.at, self.end, self.cut = data, at, len(data) if end is None else end, cut

    @property
    def left(self) -> int:
        return self.end - self.at

    def take(self, size: int) -> bytes:
        """Return so many bytes; refuse them at their beginning."""
        if size > self.left:
            raise RefusedError(self.cut, self.at)
        self.at += size
        return self.data[self.at - size : self.at]

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "little")


# --- headers, names ---


def read_map(source: Bytes, *, keyed: bool) -> list[Json]:
    """Return the entries (§2.4), sorted by kind and bytes of the key; equal keys stay in order."""
    found: list[tuple[int, bytes, Json]] = []
    while source.left:
        key_kind, key = _part(source) if keyed else (2, _text(source, _length(source)))
        kind, value = _part(source)
        shown = {"kind": KINDS[kind - 1], "value": value.hex()}
        named = {"kind": KINDS[key_kind - 1], "value": key.hex()} if keyed else key.hex()
        found.append((key_kind, key, [named, shown]))
    return [pair for _, _, pair in sorted(found, key=itemgetter(0, 1))]


def _length(source: Bytes) -> int:
    at = source.at
    size = source.number(4)
    if not 1 <= size <= 255:
        raise RefusedError("bad-length", at)
    return size


def _text(source: Bytes, size: int) -> bytes:
    at, data = source.at, source.take(size)
    try:
        data.decode()
    except UnicodeDecodeError:
        raise RefusedError("bad-utf8", at) from None
    return data


def _part(source: Bytes) -> tuple[int, bytes]:
    at = source.at
    kind = source.number(1)
    if not 1 <= kind <= len(KINDS):
        raise RefusedError("bad-kind", at)
    size = _length(source)
    return kind, source.take(size)


def _headers(source: Bytes, size: int, *, keyed: bool, opaque: bool) -> Json:
    data = source.data[source.at : source.at + size]
    inner = Bytes(source.data, source.at, source.at + size, "length-past-end")
    source.take(size)
    try:
        return read_map(inner, keyed=keyed)
    except RefusedError:
        if opaque:
            return data.hex()
        raise


def read_named(source: Bytes, names: tuple[str, ...], *, zero: bool) -> Json:
    """Return an identifier or a partitioning: §2.2."""
    at = source.at
    kind = source.number(1)
    if not 1 <= kind <= len(names):
        raise RefusedError("bad-kind", at)
    size = source.number(1)
    name = names[kind - 1]
    if (name in ("numeric", "partition_id") and size != 4) or (
        name in ("string", "messages_key") and not size
    ):
        raise RefusedError("bad-length", at + 1)
    if name == "balanced" and size:
        raise RefusedError("bad-length", at + 1)
    value = _text(source, size) if name == "string" else source.take(size)
    if name == "numeric" and not zero and not any(value):
        raise RefusedError("invalid-value", at + 2)
    return {"kind": name, "value": value.hex()}


# --- layouts ---


class Reader:
    """Reads layouts of one revision."""

    def __init__(self, source: Bytes, revision: str) -> None:
        self.source, self.revision = source, revision
        self.zero = revision not in ("0.0.30", "0.0.40", "0.0.60", "0.0.92", "0.7")
        self.opaque = revision in OPAQUE_SINCE

    def read(self, layout: Layout, places: dict[str, int] | None = None) -> Json:
        """Return the value of a layout, nested by the dots of its paths; `places` gets where fields are."""
        value: dict[str, Any] = {}
        sizes: dict[str, int] = {}
        start = self.source.at
        for path, kind in layout:
            if places is not None:
                places[path] = self.source.at
            name, _, detail = kind.partition(":")
            if name == "len":
                sizes[detail] = self.source.number(4)
            elif name == "gap":
                at = self.source.at
                if any(self.source.take(int(detail))) and path == "reserved" and int(detail) == 8:
                    raise RefusedError("reserved-nonzero", at)  # that of a message: §5 and §6
            elif name in ("size", "present"):
                sizes[name] = self.source.number(4 if name == "size" else 1)
            else:
                rest = start + 4 + sizes["size"] - self.source.at if "size" in sizes else self.source.left
                _set(value, path, self._part(name, sizes.get(path, rest)))
        if sizes.get("present", 1) != 1:
            value["partition_id"] = None
        return value

    def _part(self, kind: str, size: int) -> Json:
        source = self.source
        if kind in NUMBERS or kind in CHECKSUMS:
            return str(source.number(NUMBERS.get(kind) or CHECKSUMS[kind]))
        if kind in ("map", "keyed"):
            return _headers(source, size, keyed=kind == "keyed", opaque=self.opaque)
        if kind == "data":
            return source.take(size).hex()
        if kind == "flag":
            number = source.number(1)
            return number == 1 if self.revision in ("0.0.30", "0.0.92", "0.8") else bool(number)
        if kind in ("id", "key"):
            return read_named(source, layouts.KINDS[kind], zero=self.zero)
        at, code = source.at, source.number(1)
        names = STATES if kind == "state" else dict(enumerate(layouts.KINDS[kind], 1))
        if code not in names or (names[code] == "external_group" and self.revision != "0.11.1-edge"):
            raise RefusedError("bad-kind", at)
        return names[code]


def _set(value: dict[str, Any], path: str, part: Json) -> None:
    *steps, last = path.split(".")
    for step in steps:
        value = value.setdefault(step, {})
    value[last] = part


def check_end(source: Bytes) -> None:
    if source.left:
        raise RefusedError("trailing-data", source.at)


# --- batches of 0.11 ---


def read_batch(source: Bytes, revision: str, *, verify: bool) -> tuple[Json, list[Json]]:
    """Return the header of a batch and its messages: §6 and §6.1."""
    at, places = source.at, dict[str, int]()
    if source.left < BATCH:
        raise RefusedError("truncated", at)
    value = Reader(source, revision).read(layouts.BATCHES[revision], places)
    size, seal, count = (
        int.from_bytes(source.data[at + place : at + place + width], "little")
        for place, width in ((32, 8), (40, 8), (48, 4))
    )
    if size < BATCH:
        raise RefusedError("bad-length", at + 32)
    _check_reserved(source.data, at, value, revision)
    if at + size > source.end:
        raise RefusedError("truncated", at + BATCH)
    inner = Bytes(source.data, at + BATCH, at + size, "length-past-end")
    rows, sums = [], []
    while inner.left:
        begin = inner.at
        row = Reader(inner, revision).read(layouts.FRAME)
        if verify and int(row["checksum"]) != xxhash.xxh3_64_intdigest(source.data[begin + 8 : inner.at]):
            raise RefusedError("crc-mismatch", begin)
        sums.append(source.data[begin : begin + 8])
        rows.append(_with_times(value, row))
    if verify:
        if count != len(rows):
            raise RefusedError("count-mismatch", at + 48)
        if seal != _seal(source.data, at, sums, has_producer=value.get("producer") is not None):
            raise RefusedError("crc-mismatch", at + 40)
    source.at = at + size
    return {**value, "message_count": str(count), "batch_checksum": str(seal)}, rows


def _check_reserved(data: bytes, at: int, value: Json, revision: str) -> None:
    """Refuse reserved bytes that are not 0; 0.11.1-edge has a producer in some of them."""
    flags, has_producer = data[at + 52], False
    if revision != "0.11":
        if flags > 1:
            raise RefusedError("reserved-nonzero", at + 52)
        has_producer = flags == 1
    gaps = (
        ((52, 256),)
        if revision == "0.11"
        else ((53, 56), (66, 68), (72, 256))
        if has_producer
        else ((53, 256),)
    )
    numbers = ((56, 8), (64, 2), (68, 4)) if has_producer else ()
    checks = sorted(
        [(place, "gap", end) for place, end in gaps] + [(place, "number", width) for place, width in numbers]
    )
    for place, kind, end in checks:
        if kind == "gap" and any(data[at + place : at + end]):
            raise RefusedError("reserved-nonzero", at + place)
        if kind == "number" and data[at + place + end - 1] > 127:
            raise RefusedError("invalid-value", at + place)
    if revision != "0.11" and not has_producer:
        value["producer"] = None


def _seal(data: bytes, at: int, sums: list[bytes], *, has_producer: bool) -> int:
    producer = b"\1" + data[at + 56 : at + 66] + data[at + 68 : at + 72] if has_producer else b""
    return int(
        xxhash.xxh3_64_intdigest(b"".join((data[at : at + 40], data[at + 48 : at + 52], producer, *sums)))
    )


def _with_times(batch: Json, row: Json) -> Json:
    top = 1 << 64
    offset = (int(batch["base_offset"]) + int(row["offset_delta"])) % top
    origin = (int(batch["origin_timestamp"]) + int(row["timestamp_delta"])) % top
    return {
        **row,
        "offset": str(offset),
        "timestamp": batch["base_timestamp"],
        "origin_timestamp": str(origin),
    }


# --- sends and polls ---


def read_send(source: Bytes, revision: str) -> Json:
    """Return a send: §3.1, §5 and §6."""
    reader = Reader(source, revision)
    if revision == "0.0.30":
        return _send30(reader)
    stated = source.number(4)
    value = reader.read(layouts.DESTINATION)
    at = source.at
    count = source.number(4)
    if stated != at:
        raise RefusedError("length-mismatch", 0)
    if not revision.startswith("0.11"):
        value["messages"] = _indexed(reader, count)
        check_end(source)
        return value
    batch, rows = read_batch(source, revision, verify=True)
    check_end(source)
    if not rows or count != len(rows):
        raise RefusedError("count-mismatch", at)
    kept = ("id", "origin_timestamp", "headers", "payload")
    value["messages"] = [{name: row[name] for name in kept} for row in rows]
    return value if revision == "0.11" else {**value, "producer": batch["producer"]}


def _indexed(reader: Reader, count: int) -> list[Json]:
    """Return the messages behind their index, which has the end of each: §5."""
    source = reader.source
    if not count:
        raise RefusedError("count-mismatch", source.at)
    entries = [(source.at, *struct.unpack("<IIQ", source.take(16))) for _ in range(count)]
    start, rows = source.at, []
    places: dict[str, int] = {}
    for place, offset, end, time in entries:
        rows.append(reader.read(layouts.SENT[reader.revision], places))
        if source.at - places["headers"] > 100_000:
            raise RefusedError("limit-exceeded", places["headers"])
        if offset or time:
            raise RefusedError("reserved-nonzero", place + (0 if offset else 8))
        if end != source.at - start:
            raise RefusedError("length-mismatch", place + 4)
    return rows


def _send30(reader: Reader) -> Json:
    source = reader.source
    value, start, rows, total = reader.read(layouts.DESTINATION), reader.source.at, [], 0
    places: dict[str, int] = {}
    while source.left:
        rows.append(reader.read(layouts.SENT["0.0.30"], places))
        if not rows[-1]["payload"]:
            raise RefusedError("bad-length", source.at)
        total += sum(len(entry[1]["value"]) // 2 for entry in rows[-1]["headers"])
        if total > 102_400:
            raise RefusedError("limit-exceeded", start)
    if not rows:
        raise RefusedError("count-mismatch", source.at)
    return {**value, "messages": rows}


def read_poll(source: Bytes, revision: str) -> Json:
    """Return a poll response: §3.3, §5, §6 and §6.1."""
    reader = Reader(source, revision)
    places: dict[str, int] = {}
    value = reader.read(layouts.PREFIXES[revision], places)
    at = places["count"]
    count = int.from_bytes(source.data[at : at + 4], "little")
    rows: list[Json] = []
    if revision.startswith("0.11"):
        batches = []
        while source.left:
            batch, inside = read_batch(source, revision, verify=False)
            batches.append(batch)
            rows += inside
        value["batches"] = batches
    else:
        rows = _polled(reader, count)
    if count > len(rows):
        raise RefusedError("count-mismatch", at)
    return {**value, "messages": rows}


def _polled(reader: Reader, count: int) -> list[Json]:
    """Return the messages up to the end; a count of 0 means nothing, more than another count is too much."""
    source, rows = reader.source, list[Json]()
    layout = layouts.POLLED[reader.revision]
    while source.left:
        at = source.at
        if count and len(rows) == count:
            try:
                reader.read(layout)
            except RefusedError as refused:
                at = int(refused.at)
            raise RefusedError("trailing-data", at)
        rows.append(reader.read(layout))
    return rows


# --- segments ---


def read_log(source: Bytes, revision: str) -> Json:
    """Return the messages or batches of a segment: §7. What the bytes end in is not read."""
    has_batches = revision.startswith("0.11") or revision == "0.2.7"
    name, rows = "batches" if has_batches else "messages", list[Json]()
    while source.left:
        try:
            entry = _batch_entry(source, revision) if has_batches else _message_entry(source, revision)
        except RefusedError as refused:
            raise RefusedError(refused.cls, refused.at, {name: rows}) from None
        if entry is None:
            break
        rows.append(entry)
    return {name: rows}


def _message_entry(source: Bytes, revision: str) -> Json:
    """Return a message with a right checksum, or None if the bytes end in it."""
    at, places, layout = source.at, dict[str, int](), layouts.STORED[revision]
    try:
        row = Reader(source, revision).read(layout, places)
    except RefusedError as refused:
        source.at = at
        if refused.cls == "truncated":
            return None
        raise
    _check_sum(source.data, row, places, layout, source.at)
    return row


def _check_sum(data: bytes, row: Json, places: Mapping[str, int], layout: Layout, end: int) -> None:
    kind = dict(layout)["checksum"]
    at = places["checksum"]
    if kind == "crc":
        found = zlib.crc32(bytes.fromhex(row["payload"]))
    else:
        found = (zlib.crc32 if kind == "wide-crc" else xxhash.xxh3_64_intdigest)(data[at + 8 : end])
    if int(row["checksum"]) != found:
        raise RefusedError("crc-mismatch", at)


def _batch_entry(source: Bytes, revision: str) -> Json:
    """Return a batch with its messages, or None if the bytes end in it."""
    at = source.at
    try:
        batch, rows = (
            _retained(source, revision) if revision == "0.2.7" else read_batch(source, revision, verify=True)
        )
    except RefusedError as refused:
        source.at = at
        if refused.cls == "truncated":
            return None
        raise
    batch.pop("message_count", None)
    return {**batch, "messages": rows}


def _retained(source: Bytes, revision: str) -> tuple[Json, list[Json]]:
    places: dict[str, int] = {}
    batch = Reader(source, revision).read(layouts.RETAINED, places)
    size = int.from_bytes(source.data[places["length"] : places["length"] + 4], "little")
    end = source.at + size
    if end > source.end:
        raise RefusedError("truncated", source.at)
    inner, rows = Bytes(source.data, source.at, end, "length-past-end"), []
    while inner.left:
        length = int.from_bytes(source.data[inner.at : inner.at + 4], "little")
        if length < 41 or length + 4 > inner.left:
            raise RefusedError("length-past-end", inner.at)
        part, found = Bytes(source.data, inner.at, inner.at + 4 + length, "length-past-end"), dict[str, int]()
        row = Reader(part, revision).read(layouts.STORED[revision], found)
        row.pop("length", None)
        _check_sum(source.data, row, found, layouts.STORED[revision], part.at)
        rows.append(row)
        inner.at = part.at
    source.at = end
    return batch, rows


def first_entry(revision: str, data: bytes, at: int) -> tuple[Json, int] | None:
    """Return the message or batch of a segment at a position, and its end; None if the bytes end in it."""
    source = Bytes(data, at)
    if revision.startswith("0.11") or revision == "0.2.7":
        entry: Json = _batch_entry(source, revision)
    else:
        entry = _message_entry(source, revision)
    return None if entry is None else (with_numbers(entry), source.at)
