"""Assigns the records that a consumer delivered to the entries of the log that a broker served.

A consumer does not return entries. As a broker does, this module reads only where each entry begins and
which offsets it spans; a record belongs to the entry that spans its offset. A wrapper's own fields, which no
consumer returns, are copied from the served bytes.
"""

from collections.abc import Sequence
from struct import unpack_from
from typing import Final

from attrs import define, field, frozen

from wireproof.kafka.attribute_bits import CODEC_MASK
from wireproof.kafka.entry import V2
from wireproof.kafka.layouts import HEADS
from wireproof.kafka.size_and_magic import MAGIC_AT, peek_whole_entry
from wireproof.wire.json_values import Json
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected

_ATTRIBUTES_AT: Final = MAGIC_AT + 1
"""The position of a message's attributes: kafka.md §2.1."""


@frozen
class SeenRecord:
    """A delivered record; `timestamp_type` is None if the consumer does not report one."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[bytes, bytes | None], ...] = ()
    timestamp_type: str | None = None


@define
class ServedEntry:
    """An entry of the log that was served, with the records delivered of it.

    Attributes:
        data: its bytes.
        magic: its version.
        first, last: the offsets that it spans; `first` is None unless it is a record batch.
        records: the delivered ones.
        count: the number of records in its header; None unless it is a record batch.
    """

    data: bytes
    magic: int
    first: int | None
    last: int
    records: list[SeenRecord] = field(factory=list)
    count: int | None = None

    def spans(self, offset: int) -> bool:
        """Report whether a record with this offset may belong to the entry."""
        return (self.first is None or self.first <= offset) and offset <= self.last


@frozen
class RegroupedLog:
    """A log as a broker sees it.

    Attributes:
        entries: the complete ones.
        sound: whether nothing follows them, or only the beginning of one more entry.
    """

    entries: tuple[ServedEntry, ...]
    sound: bool

    def is_read(self, upto: int) -> bool:
        """Report whether a consumer whose next offset is `upto` has read everything that was served."""
        return self.sound and (not self.entries or upto > self.entries[-1].last)


def split_log(data: bytes) -> RegroupedLog:
    """Split `data` into its entries, up to the first size that no entry can have."""
    reader, entries = Reader(data), list[ServedEntry]()
    try:
        while prefix := peek_whole_entry(reader):
            entry = data[reader.pos : reader.pos + prefix.total]
            if prefix.magic < V2:
                one = ServedEntry(entry, prefix.magic, None, int.from_bytes(entry[:8], signed=True))
            else:
                numbers = dict(zip(HEADS[V2].names, HEADS[V2].peek(entry), strict=True))
                last = numbers["baseOffset"] + numbers["lastOffsetDelta"]
                count = numbers["recordsCount"]
                one = ServedEntry(entry, prefix.magic, numbers["baseOffset"], last, count=count)
            entries.append(one)
            reader.pos += prefix.total
    except Rejected:
        return RegroupedLog(tuple(entries), sound=False)
    return RegroupedLog(tuple(entries), sound=True)


def assign_records(log: RegroupedLog, records: Sequence[SeenRecord]) -> tuple[ServedEntry, ...]:
    """Return the entries with each record added to the entry that spans its offset, in the order of the log.

    A record belongs to a later entry, if one spans its offset, when the offset does not grow or the current
    entry has all its records: a lastOffsetDelta may reach over the following batches. A record that no entry
    spans is added to the current entry. Without any complete entry, one is made up for all records.
    """
    entries = log.entries or ((ServedEntry(b"", V2, None, 0),) if records else ())
    at, before = 0, None
    for record in records:
        one = entries[at]
        grows = before is None or record.offset > before or not one.records
        has_all = one.count is not None and len(one.records) >= one.count
        begin = at if grows and not has_all else at + 1
        at = next((place for place in range(begin, len(entries)) if entries[place].spans(record.offset)), at)
        entries[at].records.append(record)
        before = record.offset
    return entries


def log_value(entries: Sequence[ServedEntry], *, whole: bool) -> Json:
    """Return the value of a log; unless `whole`, without the entries of which nothing was delivered."""
    values: list[Json] = []
    for entry in entries:
        rows = [_record_json(one) for one in entry.records]
        if entry.magic >= V2 and (rows or whole):
            headers = ([[key.hex(), _hex(part)] for key, part in one.headers] for one in entry.records)
            values.append(
                {"records": [row | {"headers": own} for row, own in zip(rows, headers, strict=True)]}
            )
        elif entry.data[_ATTRIBUTES_AT] & CODEC_MASK and (rows or whole):
            values.append(_wrapper(entry) | {"messages": rows})
        elif entry.magic < V2:
            values += (row | {"messages": None} for row in rows)
    return {"batches": values}


def _record_json(record: SeenRecord) -> dict[str, Json]:
    kind = record.timestamp_type
    value: dict[str, Json] = {
        "offset": str(record.offset),
        "timestamp": str(record.timestamp),
        "key": _hex(record.key),
        "value": _hex(record.value),
    }
    return value if kind is None else value | {"timestampType": kind}


def _hex(data: bytes | None) -> str | None:
    return None if data is None else data.hex()


def _wrapper(entry: ServedEntry) -> dict[str, Json]:
    """Return the fields of a wrapper that no consumer returns, from the served bytes (kafka.md §2.1)."""
    at = _ATTRIBUTES_AT + 1 + 8 * entry.magic
    (time,) = unpack_from(">q", entry.data, at - 8) if entry.magic else (-1,)
    (size,) = unpack_from(">i", entry.data, at)
    key = None if size < 0 else entry.data[at + 4 : at + 4 + size]
    return {"offset": str(entry.last), "timestamp": str(time), "key": _hex(key), "value": None}
