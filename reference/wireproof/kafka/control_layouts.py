"""The layouts of control records, the key and the values by type: kafka.md §1.9."""

from typing import Final

from wireproof.kafka.control_types import (
    ABORT,
    COMMIT,
    CONTROL_TYPES,
    KRAFT_VERSION,
    KRAFT_VOTERS,
    LEADER_CHANGE,
    SNAPSHOT_FOOTER,
    SNAPSHOT_HEADER,
)
from wireproof.schema.tables import flexible_layout, read_tables
from wireproof.wire.layout import Layout, Number

KEY: Final = Layout(
    "ControlRecordKey",
    (Number("version", "int16"), Number("type", "int16", codes=CONTROL_TYPES)),
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
    LEADER_CHANGE: _TABLES["LeaderChange"],
    SNAPSHOT_HEADER: _TABLES["SnapshotHeader"],
    SNAPSHOT_FOOTER: _TABLES["SnapshotFooter"],
    KRAFT_VERSION: _TABLES["KRaftVersion"],
    KRAFT_VOTERS: _TABLES["KRaftVoters"],
}
"""The values of the KRaft types after their version, in the versions that §1.9 describes."""

VALUES: Final = {
    ABORT: _MARKER,
    COMMIT: _MARKER,
    **{kind: flexible_layout(table, _VERSION) for kind, table in KRAFT_VALUES.items()},
}
"""The layout of the value by the type in the key."""
