"""Read Kafka batches, messages and logs by kafka.md §1 to §4, to check the golden cases.

Nothing here comes from the codec under test: fields are taken by `struct`, checksums and compressed blocks
come from their own libraries. The order of the checks is that of §1.4 and §1.5.
"""

import struct
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import google_crc32c

from tests.independent.kafka.frames import CODECS, FrameError
from tests.independent.kafka.next_offset import log_end, with_offsets
from tests.independent.refused import RefusedError

Json = Any

V2_HEAD: Final = struct.Struct(">qiibIhiqqqhii")
V2_NAMES: Final = (
    "baseOffset", "batchLength", "partitionLeaderEpoch", "magic", "crc", "attributes", "lastOffsetDelta",
    "baseTimestamp", "maxTimestamp", "producerId", "producerEpoch", "baseSequence", "recordsCount",
)  # fmt: skip
RECORDS: Final = V2_HEAD.size
LEAST: Final = {0: 14, 1: 22, 2: 49}
"""The least size of an entry, without offset and size."""
LEAST_RECORD: Final = 6
INT32: Final = (1 << 31) - 1
BIT_3: Final = 8


class Bytes:
    """Bytes that are read from front to back; positions are told with a prefix, as in `61>12`."""

    def __init__(self, data: bytes, at: int = 0, end: int | None = None, prefix: str = "") -> None:
        self.data, self.at, self.end, self.prefix = data, at, len(data) if end is None else end, prefix

    def place(self, at: int | None = None) -> int | str:
        """Return a position as a refusal has it."""
        number = self.at if at is None else at
        return f"{self.prefix}{number}" if self.prefix else number

    def refuse(self, cls: str, at: int | None = None) -> RefusedError:
        return RefusedError(cls, self.place(at))

    def number(self, form: str) -> int:
        """Return a number of fixed width."""
        size = struct.calcsize(form)
        if self.at + size > self.end:
            raise self.refuse("length-past-end")
        (found,) = struct.unpack_from(form, self.data, self.at)
        self.at += size
        return int(found)

    def varint(self, bits: int = 32) -> int:
        """Return a zigzag varint; the bits that do not fit are dropped: §4."""
        raw = self.unsigned(bits) & (1 << bits) - 1
        return (raw >> 1) ^ -(raw & 1)

    def unsigned(self, bits: int = 32) -> int:
        begin, raw, most = self.at, 0, 5 if bits == 32 else 10
        while True:
            if self.at >= self.end:
                raise self.refuse("length-past-end", begin)
            if self.at - begin == most:
                raise self.refuse("bad-varint", begin)
            byte = self.data[self.at]
            raw |= (byte & 127) << 7 * (self.at - begin)
            self.at += 1
            if byte < 128:
                return raw

    def take(self, size: int) -> bytes:
        """Return so many bytes."""
        if not 0 <= size <= self.end - self.at:
            raise self.refuse("length-past-end")
        self.at += size
        return self.data[self.at - size : self.at]

    def nullable(self, size: int) -> str | None:
        """Return bytes in hex; every negative length is null."""
        return None if size < 0 else self.take(size).hex()


# --- v2 ---


def read_batch(data: bytes, at: int, end: int) -> Json:
    """Return a whole batch of v2: §1.1 to §1.5."""
    if end - at < RECORDS:
        raise RefusedError("bad-length", at + 8)
    fields = dict(zip(V2_NAMES, V2_HEAD.unpack_from(data, at), strict=True))
    if google_crc32c.value(data[at + 21 : end]) != fields["crc"]:
        raise RefusedError("crc-mismatch", at + 17)
    codec = fields["attributes"] & 7
    if codec > 4:
        raise RefusedError("unknown-codec", at + 21)
    count = fields["recordsCount"]
    if count < 0:
        raise RefusedError("negative-length", at + 57)
    value = {
        name: str(fields[name]) for name in V2_NAMES if name not in ("batchLength", "crc", "recordsCount")
    }
    source, rows = Bytes(data, at + RECORDS, end), list[Json]()
    if codec:
        source = Bytes(_unpacked(codec, data, at + RECORDS, end, 2), prefix=f"{at + RECORDS}>")
    try:
        rows.extend(_records(source, fields, count) if count else ())
    except RefusedError as refused:
        raise RefusedError(refused.cls, refused.at, with_offsets({**value, "records": rows})) from None
    return with_offsets({**value, "records": rows})


def _records(source: Bytes, batch: Mapping[str, int], count: int) -> Iterator[Json]:
    for number in range(count):
        if source.at >= source.end:
            raise source.refuse("count-mismatch")
        row = _record(source, batch)
        if number == count - 1 and source.at < source.end:
            raise source.refuse("trailing-data")
        if isinstance(row["control"], RefusedError):
            if not number:
                raise row["control"]
            row["control"] = None  # a consumer looks at the first record alone
        yield row


def _record(source: Bytes, batch: Mapping[str, int]) -> Json:
    begin = source.at
    length = source.varint()
    if length < 0:
        raise source.refuse("negative-length", begin)
    if not length:
        raise source.refuse("bad-length", begin)
    if length > source.end - source.at:
        raise source.refuse("length-past-end", begin)
    end = source.at + length
    part = Bytes(source.data, source.at, end if source.prefix else source.end, source.prefix)
    try:
        attributes, time, offset = part.number(">b"), part.varint(64), part.varint()
        size, key_at = part.varint(), part.at
        key = part.nullable(size)
        size, value_at = part.varint(), part.at
        value = part.nullable(size)
        headers = _headers(part)
    except RefusedError as refused:
        raise source.refuse(refused.cls, begin) if length < LEAST_RECORD else refused from None
    if part.at != end:
        raise source.refuse("bad-length" if length < LEAST_RECORD else "length-mismatch", begin)
    source.at = end
    stamped = batch["attributes"] & BIT_3
    row: dict[str, Any] = {
        "attributes": str(attributes), "timestampDelta": str(time), "offsetDelta": str(offset), "key": key,
        "value": value, "headers": headers, "offset": str(_wrapped(batch["baseOffset"] + offset)),
        "timestamp": str(batch["maxTimestamp"] if stamped else _wrapped(batch["baseTimestamp"] + time)),
        "control": None,
    }  # fmt: skip
    if batch["attributes"] & 0x20:
        row["control"] = _control(key, value, part.place(key_at), part.place(value_at))
    return row


def _headers(part: Bytes) -> list[Json]:
    begin, rows = part.at, []
    count = part.varint()
    if count < 0:
        raise part.refuse("negative-length", begin)
    if count > part.end - part.at:
        raise part.refuse("count-mismatch", begin)
    for _ in range(count):
        at = part.at
        size = part.varint()
        if size < 0:
            raise part.refuse("null-not-allowed", at)
        key = part.take(size).hex()
        rows.append([key, part.nullable(part.varint())])
    return rows


def _wrapped(number: int) -> int:
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


# --- control records ---


CONTROL: Final = (
    "type", "version", "coordinatorEpoch", "leaderId", "voters", "grantingVoters",
    "lastContainedLogTimestamp", "kraftVersion",
)  # fmt: skip


def _control(
    key: str | None, value: str | None, key_at: int | str, value_at: int | str
) -> Json | RefusedError:
    """Return a control record's typed key and value (§1.9), or how it is refused.

    The key and the value of ABORT and COMMIT must be whole. Of other types only the type is known if they are
    not.
    """
    head = bytes.fromhex(key or "")
    if len(head) < 4 or head[0] > 127:
        return RefusedError("bad-control", key_at)
    kind = struct.unpack_from(">h", head, 2)[0]
    found: dict[str, Any] = dict.fromkeys(CONTROL) | {"type": str(kind)}
    if kind not in _CONTROL_VALUES:
        return found
    versions, read = _CONTROL_VALUES[kind]
    content = Bytes(bytes.fromhex(value or ""))
    try:
        version = content.number(">h")
        known = kind < 2 or version in versions
        typed = read(content, version) if known else {}
        if known and kind > 1:
            _tags(content)
    except RefusedError:
        return found if kind > 1 else RefusedError("bad-control", value_at)
    if kind < 2 and version < 0:
        return RefusedError("bad-control", value_at)
    return found | {"version": str(version)} | typed


def _tags(content: Bytes) -> None:
    for _ in range(content.unsigned() & 0xFFFFFFFF):
        content.unsigned()
        content.take(content.unsigned())


def _array(content: Bytes, element: Callable[[Bytes], Json]) -> list[Json]:
    count = content.unsigned() & 0xFFFFFFFF
    if not count:
        raise content.refuse("null-not-allowed")
    return [element(content) for _ in range(count - 1)]


def _text(content: Bytes) -> str:
    return content.take((content.unsigned() & 0xFFFFFFFF) - 1).hex()


def _voter(content: Bytes, version: int) -> Json:
    ident = content.number(">i")
    directory = content.take(16).hex() if version else None
    _tags(content)
    return {
        "id": str(ident),
        "directoryId": directory,
        "endpoints": None,
        "minVersion": None,
        "maxVersion": None,
    }


def _leader_change(content: Bytes, version: int) -> Json:
    leader = content.number(">i")
    voters, granting = (_array(content, lambda part: _voter(part, version)) for _ in range(2))
    return {"leaderId": str(leader), "voters": voters, "grantingVoters": granting}


def _endpoint(content: Bytes) -> Json:
    row = {"name": _text(content), "host": _text(content), "port": str(content.number(">H"))}
    _tags(content)
    return row


def _kraft_voter(content: Bytes) -> Json:
    ident, directory = content.number(">i"), content.take(16).hex()
    endpoints = _array(content, _endpoint)
    least, most = content.number(">h"), content.number(">h")
    _tags(content)
    _tags(content)
    return {
        "id": str(ident),
        "directoryId": directory,
        "endpoints": endpoints,
        "minVersion": str(least),
        "maxVersion": str(most),
    }


_CONTROL_VALUES: Final[Mapping[int, tuple[Sequence[int], Callable[[Bytes, int], Json]]]] = {
    0: ((), lambda content, _: {"coordinatorEpoch": str(content.number(">i"))}),
    1: ((), lambda content, _: {"coordinatorEpoch": str(content.number(">i"))}),
    2: ((0, 1), _leader_change),
    3: ((0,), lambda content, _: {"lastContainedLogTimestamp": str(content.number(">q"))}),
    4: ((0,), lambda _content, _version: {}),
    5: ((0,), lambda content, _: {"kraftVersion": str(content.number(">h"))}),
    6: ((0,), lambda content, _: {"voters": _array(content, _kraft_voter)}),
}
"""The versions of each type of control record, and the fields behind the version."""


# --- v0 and v1 ---


def read_message(data: bytes, at: int, end: int, prefix: str = "") -> Json:
    """Return a whole message of v0 or v1, with the messages inside it: §2.1 and §2.2."""
    source = Bytes(data, at, end, prefix)
    offset, _, crc = source.number(">q"), source.number(">i"), source.number(">I")
    magic, attributes = source.number(">b"), source.number(">b")
    if end - at - 12 < LEAST[magic]:
        raise source.refuse("bad-length", at + 8)
    if zlib.crc32(data[at + 16 : end]) != crc:
        raise source.refuse("crc-mismatch", at + 12)
    codec = attributes & 7
    if codec and prefix:
        raise source.refuse("bad-nesting", at + 17)
    if codec > 3:
        raise source.refuse("unknown-codec", at + 17)
    time = source.number(">q") if magic else -1
    key = source.nullable(source.number(">i"))
    before_length = source.at
    size = source.number(">i")
    begin = source.at
    value = source.nullable(size)
    row = {
        "offset": str(offset),
        "magic": str(magic),
        "attributes": str(attributes),
        "timestamp": str(time),
        "key": key,
        "value": value,
        "messages": None,
    }
    if not codec:
        return row
    if size < 0:
        raise source.refuse("null-not-allowed", before_length)
    if not size:
        raise source.refuse("decompress-failed", before_length)
    plain, inner = _unpacked(codec, data, begin, begin + size, magic), list[Json]()
    row["value"] = None
    try:
        inner.extend(_inner(plain, f"{begin}>"))
    except RefusedError as refused:
        before = (
            with_offsets({**row, "messages": _placed(row, inner, _last_offset(plain), at)}) if inner else None
        )
        raise RefusedError(refused.cls, refused.at, before) from None
    if not inner:
        raise RefusedError("count-mismatch", f"{begin}>0")
    return {**row, "messages": _placed(row, inner, _last_offset(plain), at)}


def _inner(data: bytes, prefix: str) -> Iterator[Json]:
    at = 0
    while len(data) - at >= 12:
        source = Bytes(data, prefix=prefix)
        size = struct.unpack_from(">i", data, at + 8)[0]
        if size < 14:
            raise source.refuse("bad-length", at + 8)
        if at + 12 + size > len(data):
            break
        if data[at + 16] > 1:
            raise source.refuse("bad-nesting" if data[at + 16] == 2 else "bad-magic", at + 16)
        yield read_message(data, at, at + 12 + size, prefix)
        at += 12 + size


def _last_offset(data: bytes) -> int:
    """Return the offset of the last whole message of a set."""
    at = last = 0
    while len(data) - at >= 17:
        offset, size = struct.unpack_from(">qi", data, at)
        at += 12 + size
        if size < 14 or at > len(data):
            break
        last = offset
    return last


def _placed(wrapper: Json, inner: list[Json], last: int, at: int) -> list[Json]:
    """Return the messages of a wrapper with their offsets and, under bit 3, its time."""
    outer = int(wrapper["offset"])
    if wrapper["magic"] == "0" or not outer:
        base = 0
    elif outer < last:
        raise RefusedError("bad-offset", at)
    else:
        base = outer - last
    stamped = wrapper["magic"] == "1" and int(wrapper["attributes"]) & BIT_3
    time = {"timestamp": wrapper["timestamp"]} if stamped else {}
    return [{**one, "offset": str(base + int(one["offset"])), **time} for one in inner]


def _unpacked(codec: int, data: bytes, begin: int, end: int, magic: int) -> bytes:
    try:
        return CODECS[codec](data[begin:end], magic)
    except FrameError as error:
        raise RefusedError(error.cls, begin + error.at) from None


# --- entries and logs ---


def entry_end(data: bytes, at: int, *, most: int = INT32, segment: bool = False) -> int | None:
    """Return the end of the entry at a position, or None if the bytes end in it: §1.4."""
    left = len(data) - at
    if left < 12 or (segment and left <= 17):
        return None
    (size,) = struct.unpack_from(">i", data, at + 8)
    if size < 14:
        raise RefusedError("bad-length", at + 8)
    if size > most:
        raise RefusedError("limit-exceeded", at + 8)
    if left < 17:
        return None
    whole = left >= size + 12
    if not 0 <= struct.unpack_from(">b", data, at + 16)[0] <= 2 and (whole or not segment):
        raise RefusedError("bad-magic", at + 16)
    return at + 12 + size if whole else None


def read_entry(data: bytes, at: int, end: int) -> Json:
    """Return the batch or message between two positions."""
    return read_batch(data, at, end) if data[at + 16] == 2 else with_offsets(read_message(data, at, end))


def refused_produce(value: Json, at: int) -> RefusedError | None:
    """Return how a broker refuses an entry that a reader takes: §1.7, as far as its bytes show it."""
    stamped = int(value["attributes"]) & BIT_3
    if value["magic"] != "2":
        inner = value["messages"] or ()
        mixed = any(one["magic"] != value["magic"] for one in inner)
        holds = {18: value["magic"] == "1" and stamped and value["timestamp"] == "-1", 0: mixed}
    else:
        count, last, base = len(value["records"]), int(value["lastOffsetDelta"]), int(value["baseSequence"])
        holds = {
            0: value["baseOffset"] != "0",
            21: int(value["attributes"]) & 0x20,
            57: not count,
            23: count != last + 1,
            53: int(value["producerId"]) >= 0 and base < 0,
            35: stamped and value["maxTimestamp"] == "-1",
        }
    return next((RefusedError("not-permitted", at + place) for place, is_so in holds.items() if is_so), None)


def read_single(data: bytes, revision: str, profile: str) -> tuple[Json, int]:
    """Return the entry that the bytes begin with, and how many bytes it has."""
    if len(data) >= 17 and data[16] != int(revision[1:]):
        entry_end(data, 0)
        raise RefusedError("bad-magic", 16)
    end = entry_end(data, 0)
    if end is None:
        raise RefusedError("truncated", len(data))
    value = read_entry(data, 0, end)
    if profile == "produce" and (refused := refused_produce(value, 0)):
        raise refused
    return value, end


def read_log(data: bytes, options: Mapping[str, Any]) -> tuple[Json, int]:
    """Return the entries of a log, and where the last whole one ends."""
    at, entries = 0, []
    try:
        while (
            end := entry_end(
                data, at, most=options.get("max_message", INT32), segment=options.get("source") == "segment"
            )
        ) is not None:
            entries.append(read_entry(data, at, end))
            at = end
    except RefusedError as refused:
        raise RefusedError(refused.cls, refused.at, {"batches": entries, "nextOffset": None}) from None
    return {"batches": entries, "nextOffset": log_end(data[:at])}, at
