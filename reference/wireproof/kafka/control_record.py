"""Control records: kafka.md §1.9.

An invalid key, or an invalid value of ABORT or COMMIT, is rejected as `bad-control` (K01 to K03, K06, K07).
Kafka fails there only when it parses the record, as its broker, its recovery and its consumer under
read_committed do. A reader that skips a marker which it cannot parse would deliver aborted data. Only the
first record of a batch is checked. The values of the KRaft types are opaque to consumers: an invalid one gets
a remark.
"""

from collections.abc import Callable
from typing import Final, TypeVar

from wireproof.kafka.control_types import (
    ABORT,
    COMMIT,
    KRAFT_VERSION,
    KRAFT_VOTERS,
    LEADER_CHANGE,
    SNAPSHOT_FOOTER,
    SNAPSHOT_HEADER,
)
from wireproof.kafka.values import Control, Endpoint, Voter
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected

T = TypeVar("T")


def parse(
    reader: Reader, key: bytes | None, key_at: int, value: bytes | None, value_at: int
) -> Control | None:
    """Parse the key and the value of a control record: §1.9.

    Args:
        reader: the reader of the record, which is not moved.
        key: the key of the record.
        key_at: its position in the space of the reader.
        value: the value of the record.
        value_at: its position in the space of the reader.

    Returns:
        The control record; for a type that §1.9 does not list, without a version (W46, K12). None for an
        invalid record that is not the first of its batch.

    Raises:
        Rejected: `bad-control`, for the first record of a batch.
    """
    try:
        return _parse(reader, key, key_at, value, value_at)
    except Rejected:
        first = reader.scope is None or reader.scope[2] == 0
        if first:
            raise
        return None


def _parse(reader: Reader, key: bytes | None, key_at: int, value: bytes | None, value_at: int) -> Control:
    kind = _type(reader, key, key_at)
    if kind in (ABORT, COMMIT):
        return _end_of_transaction(reader, kind, value, value_at)
    if kind not in _KRAFT_FIELDS:
        return Control(kind)
    try:
        return _kraft_value(reader, kind, value, value_at)
    except Rejected:
        reader.remark("control-value", "value", at=value_at)
        return Control(kind)


def _type(reader: Reader, key: bytes | None, at: int) -> int:
    """Read the key, int16 version and int16 type, and return the type.

    A version above 0 is read as 0, and extra bytes are ignored (K04, K05).
    """
    if key is None:
        raise reader.reject("bad-control", "key", "null", at=at, detail="CONTROL_KEY_NULL")
    if len(key) < 4:
        raise reader.reject("bad-control", "key", f"{len(key)} bytes", at=at, detail="CONTROL_KEY_SHORT")
    inner = _reader_of(reader, "key", key, at)
    version = inner.int16("version")
    if version < 0:
        text = f"version {version}"
        raise inner.reject("bad-control", "version", text, at=at, detail="CONTROL_VERSION_NEGATIVE")
    return inner.int16("type")


def _end_of_transaction(reader: Reader, kind: int, value: bytes | None, at: int) -> Control:
    """Read int16 version, int32 coordinatorEpoch; a higher version and extra bytes are accepted (K08)."""
    if value is None or len(value) < 6:
        size = "null" if value is None else f"{len(value)} bytes"
        raise reader.reject("bad-control", "value", size, at=at, detail="CONTROL_VALUE_SHORT")
    inner = _reader_of(reader, "value", value, at)
    version = inner.int16("version")
    if version < 0:
        text = f"version {version}"
        raise inner.reject("bad-control", "version", text, at=at, detail="CONTROL_VALUE_VERSION")
    return Control(kind, version, inner.int32("coordinatorEpoch"))


def _reader_of(reader: Reader, name: str, data: bytes, at: int) -> Reader:
    """Return a reader of bytes that `reader` has already passed; `reader` itself does not move."""
    pos, end = reader.pos, reader.end
    reader.pos, reader.end = at, at + len(data)
    inner = reader.window(name, len(data), "bad-control")
    inner.enter(name)
    reader.pos, reader.end = pos, end
    return inner


# --- KRaft: flexible versions, in which lengths and counts are unsigned varints, plus one (§4) ---


def _kraft_value(reader: Reader, kind: int, value: bytes | None, at: int) -> Control:
    if value is None:
        raise reader.reject("bad-control", "value", "null", at=at)
    inner = _reader_of(reader, "value", value, at)
    version = inner.int16("version")
    if not 0 <= version <= _NEWEST_VERSIONS[kind]:  # §1.9 does not describe its fields
        return Control(kind, version)
    control = _KRAFT_FIELDS[kind](inner, version)
    _tags(inner)
    return control


def _leader_change(reader: Reader, version: int) -> Control:
    leader = reader.int32("leaderId")
    voters = _array(reader, "voters", lambda: _leader_voter(reader, version))
    granting = _array(reader, "grantingVoters", lambda: _leader_voter(reader, version))
    return Control(LEADER_CHANGE, version, leader_id=leader, voters=voters, granting_voters=granting)


def _leader_voter(reader: Reader, version: int) -> Voter:
    voter = Voter(reader.int32("id"), reader.take("directoryId", 16) if version else None)
    _tags(reader)
    return voter


def _snapshot_header(reader: Reader, version: int) -> Control:
    return Control(
        SNAPSHOT_HEADER, version, last_contained_log_timestamp=reader.int64("lastContainedLogTimestamp")
    )


def _snapshot_footer(_: Reader, version: int) -> Control:
    return Control(SNAPSHOT_FOOTER, version)


def _kraft_version(reader: Reader, version: int) -> Control:
    return Control(KRAFT_VERSION, version, kraft_version=reader.int16("kraftVersion"))


def _kraft_voters(reader: Reader, version: int) -> Control:
    return Control(KRAFT_VOTERS, version, voters=_array(reader, "voters", lambda: _voter(reader)))


def _voter(reader: Reader) -> Voter:
    number, directory = reader.int32("id"), reader.take("directoryId", 16)
    endpoints = _array(reader, "endpoints", lambda: _endpoint(reader))
    min_version, max_version = reader.int16("minVersion"), reader.int16("maxVersion")
    _tags(reader)
    _tags(reader)
    return Voter(number, directory, endpoints, min_version, max_version)


def _endpoint(reader: Reader) -> Endpoint:
    endpoint = Endpoint(_text(reader, "name"), _text(reader, "host"), reader.uint16("port"))
    _tags(reader)
    return endpoint


def _text(reader: Reader, name: str) -> bytes:
    return reader.take(name, reader.uvarint(f"{name}Length") - 1)


def _array(reader: Reader, name: str, element: Callable[[], T]) -> tuple[T, ...] | None:
    """Read a compact array: 0 means null, else the count plus one. An element takes at least one byte."""
    count = reader.uvarint(f"{name}Count") - 1
    if count < 0:
        return None
    if count > reader.left:
        raise reader.reject("bad-control", name, f"{count} elements, {reader.left} bytes left")
    scope, elements = reader.scope, []
    for index in range(count):
        reader.scope = (scope, name, index)
        elements.append(element())
    reader.scope = scope
    return tuple(elements)


def _tags(reader: Reader) -> None:
    """Skip tagged fields: a count, then for each field a tag, a size and as many bytes."""
    count = reader.uvarint("tagCount")
    if count > reader.left:
        raise reader.reject("bad-control", "tagCount", f"{count} fields, {reader.left} bytes left")
    for _ in range(count):
        reader.uvarint("tag")
        reader.take("tagged", reader.uvarint("tagSize"))


_KRAFT_FIELDS: Final[dict[int, Callable[[Reader, int], Control]]] = {
    LEADER_CHANGE: _leader_change,
    SNAPSHOT_HEADER: _snapshot_header,
    SNAPSHOT_FOOTER: _snapshot_footer,
    KRAFT_VERSION: _kraft_version,
    KRAFT_VOTERS: _kraft_voters,
}
"""The function that reads the fields of each KRaft type after its version."""

_NEWEST_VERSIONS: Final = {
    LEADER_CHANGE: 1,
    SNAPSHOT_HEADER: 0,
    SNAPSHOT_FOOTER: 0,
    KRAFT_VERSION: 0,
    KRAFT_VOTERS: 0,
}
"""The newest version of each KRaft type that §1.9 describes."""
