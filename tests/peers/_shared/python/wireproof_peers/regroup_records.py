"""From the records that a consumer delivered back to the entries of the log that was served.

A consumer shows no entries. The server knows where each begins and which offsets it spans, as a broker
does that never looks inside; a record belongs to the entry whose span it lies in. Nothing else of the
bytes is used but for a wrapper's own fields, which no consumer shows: they stand as they were served.
"""

from collections.abc import Iterator, Sequence
from struct import Struct
from typing import Final

from attrs import define, field, frozen

from wireproof.wire.values import Json
from wireproof_peers.record_fields import shown, to_hex

_HEAD: Final = Struct(">qi")
"""Base offset and size of any entry: kafka.md §1.1, §2.1."""

_MAGIC_AT: Final = 16
_ATTRIBUTES_AT: Final = 17
"""Where a message has its attributes."""

_LAST_DELTA: Final = Struct(">i")
_LAST_DELTA_AT: Final = 23
_COUNT: Final = Struct(">i")
_COUNT_AT: Final = 57
"""Where a record batch tells how many records it has: kafka.md §1.1."""

_KEY_LENGTH: Final = Struct(">i")
_TIME: Final = Struct(">q")

_OVERHEAD: Final = 12
_SMALLEST: Final = 14
"""The least size that any entry gives: kafka.md §1.4, step 2."""

_LEAST: Final = {0: 26, 1: 34, 2: 61}
"""Bytes of the shortest entry of each magic."""

_CODEC: Final = 0x07
_NEWEST: Final = 2


@frozen
class Record:
    """A delivered record."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[bytes, bytes | None], ...] = ()


@define
class Served:
    """An entry of the log that was served, and what was delivered of it.

    Attributes:
        data: its bytes.
        first, last: the offsets that it spans; `first` is known of a record batch only.
        count: how many records it says that it has; known of a record batch only.
    """

    data: bytes
    magic: int
    first: int | None
    last: int
    records: list[Record] = field(factory=list)
    count: int | None = None

    def spans(self, offset: int) -> bool:
        """Whether a record of this offset may be one of its own."""
        return (self.first is None or self.first <= offset) and offset <= self.last

    @property
    def has_all(self) -> bool:
        """Whether as many records are its own as it says that it has."""
        return self.count is not None and len(self.records) >= self.count


@frozen
class Log:
    """A log as a broker sees it.

    Attributes:
        entries: the whole ones.
        sound: whether nothing follows them but, at most, the beginning of one more.
    """

    entries: tuple[Served, ...]
    sound: bool

    def is_read(self, upto: int) -> bool:
        """Whether a consumer that asks for the offset `upto` next has all that was served behind it."""
        return self.sound and (not self.entries or upto > self.entries[-1].last)


def log_of(data: bytes) -> Log:
    """Cut `data` into its entries; what has no length that an entry can have ends it."""
    entries: list[Served] = []
    at = 0
    while len(data) - at >= _HEAD.size:
        base, size = _HEAD.unpack_from(data, at)
        whole = size + _OVERHEAD
        magic = data[at + _MAGIC_AT] if len(data) - at > _MAGIC_AT else 0
        if size < _SMALLEST or magic not in _LEAST:
            return Log(tuple(entries), sound=False)
        if whole > len(data) - at:
            break
        if whole < _LEAST[magic]:
            return Log(tuple(entries), sound=False)
        entries.append(_served(data[at : at + whole], magic, base))
        at += whole
    return Log(tuple(entries), sound=True)


def _served(data: bytes, magic: int, base: int) -> Served:
    if magic < _NEWEST:
        return Served(data, magic, None, base)
    last = base + _LAST_DELTA.unpack_from(data, _LAST_DELTA_AT)[0]
    return Served(data, magic, base, last, count=_COUNT.unpack_from(data, _COUNT_AT)[0])


def shared_out(log: Log, records: Sequence[Record]) -> tuple[Served, ...]:
    """The entries with their records, each given to the one that it lies in; both in the order of the log.

    An offset that does not grow, and one behind as many records as the entry at hand counts, is of a later
    entry, where one spans it: a lastOffsetDelta may reach over the batches behind. What no entry spans stays
    with the entry at hand, for its records may lie anywhere; where no entry is whole, it makes up one.
    """
    entries = log.entries or ((Served(b"", _NEWEST, None, 0),) if records else ())
    at, before = 0, None
    for record in records:
        grows = before is None or record.offset > before or not entries[at].records
        begin = at if grows and not entries[at].has_all else at + 1
        at = next((place for place in range(begin, len(entries)) if entries[place].spans(record.offset)), at)
        entries[at].records.append(record)
        before = record.offset
    return entries


def value_of(entries: Sequence[Served], *, whole: bool) -> Json:
    """The value of a log; unless it is `whole`, entries of which nothing was delivered are left out."""
    return {"batches": list(_values(entries, whole=whole))}


def _values(entries: Sequence[Served], *, whole: bool) -> Iterator[Json]:
    for entry in entries:
        if entry.magic >= _NEWEST and (entry.records or whole):
            yield {"records": [shown(record) | _headers(record) for record in entry.records]}
        elif entry.data[_ATTRIBUTES_AT] & _CODEC and (entry.records or whole):
            yield _wrapper(entry) | {"messages": [shown(record) for record in entry.records]}
        elif entry.magic < _NEWEST:
            yield from (shown(record) | {"messages": None} for record in entry.records)


def _headers(record: Record) -> dict[str, Json]:
    return {"headers": [[key.hex(), to_hex(part)] for key, part in record.headers]}


def _wrapper(entry: Served) -> dict[str, Json]:
    """What a consumer cannot show of a wrapper: as it was served (kafka.md §2.1)."""
    at = _ATTRIBUTES_AT + 1 + 8 * entry.magic
    time = _TIME.unpack_from(entry.data, at - 8)[0] if entry.magic else -1
    size = _KEY_LENGTH.unpack_from(entry.data, at)[0]
    key = None if size < 0 else entry.data[at + 4 : at + 4 + size]
    return {"offset": str(entry.last), "timestamp": str(time), "key": to_hex(key), "value": None}
