"""Control records: kafka.md §1.9.

An invalid key, or an invalid value of ABORT or COMMIT, is rejected as `bad-control` (K01 to K03, K06, K07).
Kafka fails there only when it parses the record, as its broker, its recovery and its consumer under
read_committed do. A reader that skips a marker which it cannot parse would deliver aborted data. Only the
first record of a batch is checked. The values of the KRaft types are opaque to consumers: an invalid one gets
a remark.
"""

from base64 import urlsafe_b64decode
from typing import Any, Final

from wireproof.kafka import control_types
from wireproof.kafka.values import Control, Endpoint, Voter
from wireproof.schema.layout import Layout, Number, attribute_of
from wireproof.schema.tables import flexible_layout, read_tables
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected

KEY: Final = Layout(
    "ControlRecordKey",
    (Number("version", "int16"), Number("type", "int16", codes=control_types.CONTROL_TYPES)),
    cites="kafka.md §1.9",
)

_VERSION: Final = Number("version", "int16")

_MARKER: Final = Layout("EndTxnMarker", (_VERSION, Number("coordinatorEpoch", "int32")))


_TABLES: Final = read_tables(
    """
Voter
    id int32
    directoryId uuid 1+

LeaderChange versions=0-1 flexible=0+
    leaderId int32
    voters []Voter
    grantingVoters []Voter

SnapshotHeader versions=0 flexible=0+
    lastContainedLogTimestamp int64

SnapshotFooter versions=0 flexible=0+

KRaftVersion versions=0 flexible=0+
    kraftVersion int16

Endpoint
    name string
    host string
    port uint16

KRaftVersionFeature
    minVersion int16
    maxVersion int16

KRaftVoter
    id int32
    directoryId uuid
    endpoints []Endpoint
    kRaftVersionFeature KRaftVersionFeature

KRaftVoters versions=0 flexible=0+
    voters []KRaftVoter
""",
    "",
)

KRAFT_VALUES: Final = {
    control_types.LEADER_CHANGE: _TABLES["LeaderChange"],
    control_types.SNAPSHOT_HEADER: _TABLES["SnapshotHeader"],
    control_types.SNAPSHOT_FOOTER: _TABLES["SnapshotFooter"],
    control_types.KRAFT_VERSION: _TABLES["KRaftVersion"],
    control_types.KRAFT_VOTERS: _TABLES["KRaftVoters"],
}
"""The values of the KRaft types after their version, in the versions that §1.9 describes."""

VALUES: Final = {
    control_types.ABORT: _MARKER,
    control_types.COMMIT: _MARKER,
    **{kind: flexible_layout(table, _VERSION) for kind, table in KRAFT_VALUES.items()},
}
"""The layout of the value by the type in the key."""


def parse(
    reader: Reader, key: bytes | None, key_at: int, value: bytes | None, value_at: int
) -> Control | None:
    """Parse the key and the value of a control record: §1.9.

    The reader is that of the record, and is not moved; key and value come with their positions in its space.

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
    if kind in (control_types.ABORT, control_types.COMMIT):
        return _end_of_transaction(reader, kind, value, value_at)
    if kind not in KRAFT_VALUES:
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


# --- KRaft: flexible versions (§4), whose fields are tables ---


def _kraft_value(reader: Reader, kind: int, value: bytes | None, at: int) -> Control:
    if value is None:
        raise reader.reject("bad-control", "value", "null", at=at)
    inner = _reader_of(reader, "value", value, at)
    version = inner.int16("version")
    if version not in KRAFT_VALUES[kind].versions:  # §1.9 does not describe its fields
        return Control(kind, version)
    layout = KRAFT_VALUES[kind].at(version)
    found = KRAFT_VALUES[kind].read(inner, version)
    names = [part.name for part in layout.parts if part.name != "unknownTags"]
    values = {attribute_of(name): getattr(found, attribute_of(name)) for name in names}
    for name in values.keys() & {"voters", "granting_voters"}:
        values[name] = tuple(map(_voter, values[name]))
    return Control(kind, version, **values)


def _voter(found: Any) -> Voter:  # noqa: ANN401 - a voter of the tables
    """Return a voter of types 2 and 6; the latter has endpoints and a range of versions."""
    directory = getattr(found, "directory_id", None)
    feature = getattr(found, "k_raft_version_feature", None)
    endpoints = tuple(map(_endpoint, found.endpoints)) if hasattr(found, "endpoints") else None
    return Voter(
        found.id,
        None if directory is None else urlsafe_b64decode(f"{directory}=="),
        endpoints,
        getattr(feature, "min_version", None),
        getattr(feature, "max_version", None),
    )


def _endpoint(found: Any) -> Endpoint:  # noqa: ANN401 - an endpoint of the tables
    name, host = (one.encode(errors="surrogateescape") for one in (found.name, found.host))
    return Endpoint(name, host, found.port)
