"""The records of a batch: kafka.md §1.3, §1.5.

This is the hot loop of the reference: it uses the reader's primitives by their names, as everything
does, but keeps scopes and bounds by assignment.
"""

from itertools import islice
from typing import Final

from attrs import evolve, field, frozen

from wireproof.kafka import control
from wireproof.kafka.arithmetic import INT63, wrap64
from wireproof.kafka.notes import Notes, named
from wireproof.kafka.values import Header, Record
from wireproof.wire.reader import Reader
from wireproof.wire.rejected import Other, Rejected
from wireproof.wire.writer import Writer

SMALLEST: Final = 6
"""Attributes, two deltas, two lengths and a count, each of one byte: §1.3."""


@frozen
class Shape:
    """What the header says of all the records of its batch.

    Attributes:
        base_offset, base_timestamp: what the deltas count from.
        append: the timestamp of every record under LogAppendTime (§1.8), else None.
        bounded: fields end with their record (compressed batches) rather than with the region (§1.5:
            an uncompressed record may run over its length, and is refused afterwards).
        control: the records are control records.
        torn: what meets the reader behind the last unpacked byte, see `decompress_prefix`.
        notes: the remarks of the batch.
    """

    base_offset: int
    base_timestamp: int
    append: int | None
    bounded: bool
    control: bool
    torn: Rejected | None
    notes: Notes = field(factory=Notes)


def read_all(reader: Reader, shape: Shape, count: int) -> list[Record]:
    """`count` records that fill the window exactly: §1.5.

    Raises:
        Rejected: with the list of the records decoded before in `before`. The last record of the count is
            not returned if anything is wrong behind it: the check belongs to its reading (N11).
    """
    records: list[Record] = []
    scope, end, before = reader.scope, reader.end, len(reader.remarks)
    try:
        for index in range(count):
            reader.scope = (scope, "records", index)
            records.append(_read(reader, shape, end))
            reader.end = end
    except Rejected as refused:
        raise named(refused, "FIELD_PAST_END").delivering(records) from None
    reader.scope = scope
    if len(reader.remarks) > before:
        _follow_deltas(reader, shape, before)
    if records and shape.torn is not None:
        raise shape.torn.delivering(records[:-1])
    if records and reader.pos < end:
        text = f"{end - reader.pos} bytes after the last record"
        raise reader.reject("trailing-data", "records", text, detail="TRAILING_BYTES").delivering(
            records[:-1]
        )
    return records


def _read(reader: Reader, shape: Shape, end: int) -> Record:
    """One record: the nine fields of §1.3, in order."""
    start = reader.pos
    length = _length(reader, shape, end)
    stop = reader.pos + length
    if shape.bounded:
        reader.end = stop
    attributes_at = reader.pos
    attributes = reader.int8("attributes")
    timestamp_delta = reader.varlong("timestampDelta")
    offset_delta = reader.varint("offsetDelta")
    at = reader.pos
    size = reader.varint("keyLength")
    key_at = reader.pos
    key = reader.take("key", size) if size >= 0 else _null(reader, shape, "keyLength", size, at)
    at = reader.pos
    size = reader.varint("valueLength")
    value_at = reader.pos
    value = reader.take("value", size) if size >= 0 else _null(reader, shape, "valueLength", size, at)
    at = reader.pos
    count = reader.varint("headerCount")
    headers_at = reader.pos
    headers = _headers(reader, shape, count, at) if count else ()
    if reader.tracing:
        reader.cover("headerCount", "count", headers_at, reader.pos)
    if reader.pos != stop:
        text = f"length {length}, {reader.pos - stop + length} bytes read"
        raise reader.reject("length-mismatch", "length", text, at=start, detail="RECORD_LENGTH_MISMATCH")
    if reader.tracing:
        reader.cover("length", "length", stop - length, stop)
    if attributes:  # §1.11: R09, R10, R45
        shape.notes.once(reader, "record-attrs", "attributes", attributes_at)
    typed = control.parse(reader, key, key_at, value, value_at) if shape.control else None
    offset = shape.base_offset + offset_delta
    if not -INT63 <= offset <= INT63:
        offset = _wrapped(reader, shape, "offset", offset, start)
    timestamp = shape.append
    if timestamp is None:
        timestamp = shape.base_timestamp + timestamp_delta
        if not -INT63 <= timestamp <= INT63:
            timestamp = _wrapped(reader, shape, "timestamp", timestamp, start)
    return Record(attributes, timestamp_delta, offset_delta, key, value, headers, offset, timestamp, typed)


def _follow_deltas(reader: Reader, shape: Shape, before: int) -> None:
    """Who keeps the bits that §4 drops from a delta has another offset or timestamp too (T04, T13).

    The first `before` remarks are of the batches before this one.
    """
    bases = {"offsetDelta": ("offset", shape.base_offset)}
    if shape.append is None:
        bases["timestampDelta"] = ("timestamp", shape.base_timestamp)
    for place, remark in enumerate(islice(reader.remarks, before, None), before):
        head, _, name = remark.path.rpartition(".")
        if remark.cls == "varint-dropped-bits" and name in bases and len(remark.others) == 1:
            absolute, base = bases[name]
            follows = str(wrap64(base + int(remark.others[0].value)))
            other = Other(remark.others[0].name, f"{head}.{absolute}", follows)
            reader.remarks[place] = evolve(remark, others=(*remark.others, other))


def _length(reader: Reader, shape: Shape, end: int) -> int:
    """§1.5: records that run out, and a length that cannot be."""
    start = reader.pos
    if start == end:
        if shape.torn is not None:
            raise shape.torn
        raise reader.reject("count-mismatch", "length", "fewer records than counted", detail="PREMATURE_EOF")
    try:
        length = reader.varint("length")
    except Rejected as refused:
        if shape.torn is not None and refused.cls == reader.short:
            raise shape.torn from None
        raise
    if length >= SMALLEST and length <= end - reader.pos:
        return length
    text = f"length {length}, {end - reader.pos} left"
    if length < 0:  # R02, R07, R46
        raise reader.reject("negative-length", "length", text, at=start, detail="RECORD_LENGTH_NEGATIVE")
    if length < SMALLEST:  # R01
        raise reader.reject("bad-length", "length", text, at=start, detail="RECORD_TOO_SHORT")
    if shape.torn is not None:
        raise shape.torn
    raise reader.reject("length-past-end", "length", text, at=start, detail="RECORD_PAST_END")


def _null(reader: Reader, shape: Shape, name: str, size: int, at: int) -> bytes | None:
    """None, as any negative length has it, which stands at `at`; a writer makes -1: R11 to R13, R23."""
    null = None
    if size < -1:
        shape.notes.once(reader, "length-below-minus1", name, at)
    return null


def _wrapped(reader: Reader, shape: Shape, name: str, value: int, at: int) -> int:
    """§1.10: a plain 64-bit wrap (C16, R31)."""
    wrapped = wrap64(value)
    if wrapped != value:
        shape.notes.once(reader, f"{name}-overflow", name, at)
    return wrapped


def _headers(reader: Reader, shape: Shape, count: int, at: int) -> tuple[Header, ...]:
    """§1.3, fields 7 to 9, behind the count at `at`.

    Each header takes two bytes or more, so a count is bounded by what is left.
    """
    if count < 0:  # R16
        raise reader.reject(
            "negative-length", "headerCount", f"{count}", at=at, detail="HEADER_COUNT_NEGATIVE"
        )
    if count > reader.left:  # R17, R18, R38
        text = f"{count} headers, {reader.left} bytes left"
        raise reader.reject("count-mismatch", "headerCount", text, at=at, detail="HEADER_COUNT_EXCESSIVE")
    headers: list[Header] = []
    scope = reader.scope
    for index in range(count):
        reader.scope = (scope, "headers", index)
        headers.append(_header(reader, shape))
    reader.scope = scope
    return tuple(headers)


def _header(reader: Reader, shape: Shape) -> Header:
    start = reader.pos
    size = reader.varint("keyLength")
    if size < 0:  # R21, R22
        raise reader.reject("null-not-allowed", "key", f"length {size}", at=start, detail="HEADER_KEY_NULL")
    key = reader.take("key", size)
    if not key.isascii():
        _utf8(reader, shape, key, reader.pos - size)
    at = reader.pos
    size = reader.varint("valueLength")
    value = reader.take("value", size) if size >= 0 else _null(reader, shape, "valueLength", size, at)
    return key, value


def _utf8(reader: Reader, shape: Shape, key: bytes, at: int) -> None:
    """Kafka reads U+FFFD for what is no UTF-8; the value keeps the bytes (R24)."""
    try:
        key.decode()
    except UnicodeDecodeError:
        replaced = key.decode(errors="replace").encode().hex()
        others = (reader.other("replaced", "key", replaced),)
        shape.notes.once(reader, "header-key-utf8", "key", at, others)


# --- writing ---


def write_all(writer: Writer, records: tuple[Record, ...]) -> None:
    """The records one after another; offsets, timestamps and `control` are computed and not looked at."""
    scope = writer.scope
    for index, record in enumerate(records):
        writer.scope = (scope, "records", index)
        body = Writer(scope=writer.scope)
        _write_body(body, record)
        writer.varint("length", len(body.data))
        writer.put("body", bytes(body.data))
    writer.scope = scope


def _write_body(writer: Writer, record: Record) -> None:
    """§1.3, fields 2 to 9; varints as short as they can be, null as -1."""
    writer.int8("attributes", record.attributes)
    writer.varlong("timestampDelta", record.timestamp_delta)
    writer.varint("offsetDelta", record.offset_delta)
    _write_octets(writer, "key", record.key)
    _write_octets(writer, "value", record.value)
    writer.varint("headerCount", len(record.headers))
    scope = writer.scope
    for index, (key, value) in enumerate(record.headers):
        writer.scope = (scope, "headers", index)
        _write_octets(writer, "key", key)
        _write_octets(writer, "value", value)
    writer.scope = scope


def _write_octets(writer: Writer, name: str, data: bytes | None) -> None:
    if data is None:
        writer.varint(f"{name}Length", -1)
        return
    writer.varint(f"{name}Length", len(data))
    writer.put(name, data)
