"""The records of a batch: kafka.md §1.3, §1.5.

This is the hot loop of the reference: it assigns the scope and the end of the reader directly, instead of
calls to `enter`, `leave` and `window`.
"""

from itertools import islice
from typing import Final

from attrs import evolve, frozen

from wireproof.kafka import control_record
from wireproof.kafka.attribute_bits import CODEC_MASK, CONTROL, LOG_APPEND_TIME, MAX_INT64, wrap64
from wireproof.kafka.remark_classes import with_default_detail
from wireproof.kafka.values import Record, RecordHeader
from wireproof.wire.compression import compress, decompress_prefix
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import OtherAnswer, Rejected
from wireproof.wire.writer import Writer

MIN_LENGTH: Final = 6
"""The smallest length of a record: attributes, two deltas, two lengths, a count, each of one byte: §1.3."""


@frozen
class BatchContext:
    """The properties of a batch that decoding of its records needs.

    Attributes:
        base_offset, base_timestamp: the values to which the deltas are added.
        append_timestamp: the timestamp of every record under LogAppendTime (§1.8), else None.
        compressed: True for a compressed batch. There a field may not go past the end of its record. In an
            uncompressed batch it may, and the record is rejected after its last field (§1.5).
        control: True for a batch of control records.
        defect: the rejection at the end of the decompressed bytes, see `decompress_prefix`; or None.
    """

    base_offset: int
    base_timestamp: int
    append_timestamp: int | None
    compressed: bool
    control: bool
    defect: Rejected | None


def read_region(
    reader: Reader,
    *,
    base_offset: int,
    base_timestamp: int,
    max_timestamp: int,
    attributes: int,
    records_count: int,
) -> tuple[Record, ...]:
    """Read the records, from byte 61 to the end of the batch: raw, or one compressed stream.

    Of a batch of no record nothing is read or decompressed (§1.5).

    Raises:
        Rejected: as `read_records`.
    """
    if records_count == 0:
        reader.region("records", "ignored", reader.pos, reader.end)
        return ()
    codec = attributes & CODEC_MASK
    inner, defect = decompress_prefix(reader, "records", codec) if codec else (reader, None)
    context = BatchContext(
        base_offset,
        base_timestamp,
        append_timestamp=max_timestamp if attributes & LOG_APPEND_TIME else None,
        compressed=codec != 0,
        control=bool(attributes & CONTROL),
        defect=defect,
    )
    return tuple(read_records(inner, context, records_count))


def read_records(reader: Reader, context: BatchContext, count: int) -> list[Record]:
    """Read `count` records, which must fill the window exactly: §1.5.

    Raises:
        Rejected: `before` is the list of the records decoded so far. It does not have the last one if the
            defect comes after it: Kafka checks the end of the batch while it reads the last record (N11).
    """
    records: list[Record] = []
    scope, end, before = reader.scope, reader.end, len(reader.remarks)
    try:
        for index in range(count):
            reader.scope = (scope, "records", index)
            records.append(_read(reader, context, end))
            reader.end = end
    except Rejected as rejected:
        raise with_default_detail(rejected, "FIELD_PAST_END").with_before(tuple(records)) from None
    reader.scope = scope
    if len(reader.remarks) > before:
        _add_absolute_answers(reader, context, before)
    if records and context.defect is not None:
        raise context.defect.with_before(tuple(records[:-1]))
    if records and reader.pos < end:
        text = f"{end - reader.pos} bytes after the last record"
        trailing = reader.reject("trailing-data", "records", text, detail="TRAILING_BYTES")
        raise trailing.with_before(tuple(records[:-1]))
    return records


def _read(reader: Reader, context: BatchContext, end: int) -> Record:
    """Read one record: the nine fields of §1.3, in order."""
    start = reader.pos
    length = _length(reader, context, end)
    stop = reader.pos + length
    if context.compressed:
        reader.end = stop
    attributes_at = reader.pos
    attributes = reader.int8("attributes")
    timestamp_delta = reader.varlong("timestampDelta")
    offset_delta = reader.varint("offsetDelta")
    at = reader.pos
    size = reader.varint("keyLength")
    key_at = reader.pos
    key = reader.take("key", size) if size >= 0 else _null(reader, "keyLength", size, at)
    at = reader.pos
    size = reader.varint("valueLength")
    value_at = reader.pos
    value = reader.take("value", size) if size >= 0 else _null(reader, "valueLength", size, at)
    at = reader.pos
    count = reader.varint("headerCount")
    headers_at = reader.pos
    headers = _headers(reader, count, at) if count else ()
    if reader.tracing:
        reader.cover("headerCount", "count", headers_at, reader.pos)
    if reader.pos != stop:
        text = f"length {length}, {reader.pos - stop + length} bytes read"
        raise reader.reject("length-mismatch", "length", text, at=start, detail="RECORD_LENGTH_MISMATCH")
    if attributes:  # §1.11: R09, R10, R45
        reader.remark_once("record-attrs", "attributes", at=attributes_at)
    typed = control_record.parse(reader, key, key_at, value, value_at) if context.control else None
    offset = context.base_offset + offset_delta
    if not -MAX_INT64 <= offset <= MAX_INT64:
        offset = _wrap(reader, "offset", offset, start)
    timestamp = context.append_timestamp
    if timestamp is None:
        timestamp = context.base_timestamp + timestamp_delta
        if not -MAX_INT64 <= timestamp <= MAX_INT64:
            timestamp = _wrap(reader, "timestamp", timestamp, start)
    return Record(attributes, timestamp_delta, offset_delta, key, value, headers, offset, timestamp, typed)


def _add_absolute_answers(reader: Reader, context: BatchContext, before: int) -> None:
    """Allow another offset or timestamp too where a remark allows another delta (§4: T04, T13).

    A reader that keeps the bits which Kafka drops from a delta also computes another absolute value.
    The first `before` remarks belong to the batches before this one.
    """
    bases = {"offsetDelta": ("offset", context.base_offset)}
    if context.append_timestamp is None:
        bases["timestampDelta"] = ("timestamp", context.base_timestamp)
    for index, remark in enumerate(islice(reader.remarks, before, None), before):
        parent, _, name = remark.path.rpartition(".")
        if remark.cls == "varint-dropped-bits" and name in bases and len(remark.others) == 1:
            absolute, base = bases[name]
            value = str(wrap64(base + int(remark.others[0].value)))
            other = OtherAnswer(remark.others[0].name, f"{parent}.{absolute}", value)
            reader.remarks[index] = evolve(remark, others=(*remark.others, other))


def _length(reader: Reader, context: BatchContext, end: int) -> int:
    """Read the length of the next record; reject a missing record and an invalid length: §1.5."""
    start = reader.pos
    if start == end:
        if context.defect is not None:
            raise context.defect
        raise reader.reject("count-mismatch", "length", "fewer records than counted", detail="PREMATURE_EOF")
    try:
        length = reader.varint("length")
    except Rejected as rejected:
        if context.defect is not None and rejected.cls == reader.short:
            raise context.defect from None
        raise
    if reader.tracing:
        reader.cover_next("length", length)
    if length >= MIN_LENGTH and length <= end - reader.pos:
        return length
    text = f"length {length}, {end - reader.pos} left"
    if length < 0:  # R02, R07, R46
        raise reader.reject("negative-length", "length", text, at=start, detail="RECORD_LENGTH_NEGATIVE")
    if length < MIN_LENGTH:  # R01
        raise reader.reject("bad-length", "length", text, at=start, detail="RECORD_TOO_SHORT")
    if context.defect is not None:
        raise context.defect
    raise reader.reject("length-past-end", "length", text, at=start, detail="RECORD_PAST_END")


def _null(reader: Reader, name: str, size: int, at: int) -> bytes | None:
    """Return None: every negative length means null, but writers write -1 (R11 to R13, R23)."""
    null = None
    if size < -1:
        reader.remark_once("length-below-minus1", name, at=at)
    return null


def _wrap(reader: Reader, name: str, value: int, at: int) -> int:
    """Wrap an offset or a timestamp to 64 bits: §1.10 (C16, R31)."""
    wrapped = wrap64(value)
    if wrapped != value:
        reader.remark_once(f"{name}-overflow", name, at=at)
    return wrapped


def _headers(reader: Reader, count: int, at: int) -> tuple[RecordHeader, ...]:
    """Read `count` headers: §1.3, fields 7 to 9. `at` is the position of the count.

    A header takes at least two bytes, so the bytes left limit the count.
    """
    if count < 0:  # R16
        raise reader.reject(
            "negative-length", "headerCount", f"{count}", at=at, detail="HEADER_COUNT_NEGATIVE"
        )
    if count > reader.left:  # R17, R18, R38
        text = f"{count} headers, {reader.left} bytes left"
        raise reader.reject("count-mismatch", "headerCount", text, at=at, detail="HEADER_COUNT_EXCESSIVE")
    headers: list[RecordHeader] = []
    scope = reader.scope
    for index in range(count):
        reader.scope = (scope, "headers", index)
        headers.append(_header(reader))
    reader.scope = scope
    return tuple(headers)


def _header(reader: Reader) -> RecordHeader:
    start = reader.pos
    size = reader.varint("keyLength")
    if size < 0:  # R21, R22
        raise reader.reject("null-not-allowed", "key", f"length {size}", at=start, detail="HEADER_KEY_NULL")
    key = reader.take("key", size)
    if not key.isascii():
        try:
            key.decode()
        except UnicodeDecodeError:  # Kafka reads U+FFFD, the value keeps the bytes (R24)
            replaced = key.decode(errors="replace").encode().hex()
            others = (reader.other("replaced", "key", replaced),)
            reader.remark_once("header-key-utf8", "key", at=reader.pos - size, others=others)
    at = reader.pos
    size = reader.varint("valueLength")
    value = reader.take("value", size) if size >= 0 else _null(reader, "valueLength", size, at)
    return key, value


# --- writing ---


def write_region(writer: Writer, records: tuple[Record, ...], attributes: int) -> None:
    """Write the records of a batch, compressed with the codec of its attributes."""
    codec = attributes & CODEC_MASK
    if not codec:
        write_records(writer, records)
        return
    inner = Writer(scope=writer.scope)
    write_records(inner, records)
    writer.put("records", compress(codec, bytes(inner.data)))


def write_records(writer: Writer, records: tuple[Record, ...]) -> None:
    """Write the records. `offset`, `timestamp` and `control_record` are computed fields and are ignored."""
    scope = writer.scope
    for index, record in enumerate(records):
        writer.scope = (scope, "records", index)
        body = Writer(scope=writer.scope)  # fields 2 to 9 of §1.3; varints in their shortest form, null as -1
        body.int8("attributes", record.attributes)
        body.varlong("timestampDelta", record.timestamp_delta)
        body.varint("offsetDelta", record.offset_delta)
        _write_bytes(body, "key", record.key)
        _write_bytes(body, "value", record.value)
        body.varint("headerCount", len(record.headers))
        for number, (key, value) in enumerate(record.headers):
            body.scope = (writer.scope, "headers", number)
            _write_bytes(body, "key", key)
            _write_bytes(body, "value", value)
        writer.varint("length", len(body.data))
        writer.put("body", bytes(body.data))
    writer.scope = scope


def _write_bytes(writer: Writer, name: str, data: bytes | None) -> None:
    if data is None:
        writer.varint(f"{name}Length", -1)
        return
    writer.varint(f"{name}Length", len(data))
    writer.put(name, data)
