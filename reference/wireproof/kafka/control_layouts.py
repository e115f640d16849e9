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
from wireproof.wire.layout import (
    Count,
    Layout,
    Length,
    Nested,
    Number,
    Octets,
    Part,
    Repeated,
    When,
    tagged_fields,
)

KEY: Final = Layout(
    "ControlRecordKey",
    (Number("version", "int16"), Number("type", "int16", codes=CONTROL_TYPES)),
    cites="kafka.md §1.9",
)

_VERSION: Final = Number("version", "int16")

_MARKER: Final = Layout("EndTxnMarker", (_VERSION, Number("coordinatorEpoch", "int32")))


def _kraft(name: str, *parts: Part) -> Layout:
    """Return a value of flexible versions: its version, its fields, tagged fields."""
    return Layout(name, (_VERSION, *parts, *tagged_fields()))


def _compact_array(name: str, of: Layout) -> tuple[Part, ...]:
    """Return an array whose count is stored plus one."""
    return Count(f"{name}Count", "uvarint", of=name), Repeated(name, of=of)


_VOTER: Final = Layout(
    "Voter",
    (
        Number("id", "int32"),
        When(Octets("directoryId", size=16, structure=True), number="version", values=(1,)),
        *tagged_fields(),
    ),
)

_ENDPOINT: Final = Layout(
    "Endpoint",
    (
        Length("nameLength", "uvarint", of="name"),
        Octets("name", text=True, structure=True),
        Length("hostLength", "uvarint", of="host"),
        Octets("host", text=True, structure=True),
        Number("port", "uint16"),
        *tagged_fields(),
    ),
)

_FEATURE: Final = Layout(
    "KRaftVersionFeature",
    (Number("minVersion", "int16"), Number("maxVersion", "int16"), *tagged_fields()),
)

_KRAFT_VOTER: Final = Layout(
    "KRaftVoter",
    (
        Number("id", "int32"),
        Octets("directoryId", size=16, structure=True),
        *_compact_array("endpoints", _ENDPOINT),
        Nested("kRaftVersionFeature", of=_FEATURE),
        *tagged_fields(),
    ),
)

VALUES: Final = {
    ABORT: _MARKER,
    COMMIT: _MARKER,
    LEADER_CHANGE: _kraft(
        "LeaderChange",
        Number("leaderId", "int32"),
        *_compact_array("voters", _VOTER),
        *_compact_array("grantingVoters", _VOTER),
    ),
    SNAPSHOT_HEADER: _kraft("SnapshotHeader", Number("lastContainedLogTimestamp", "int64")),
    SNAPSHOT_FOOTER: _kraft("SnapshotFooter"),
    KRAFT_VERSION: _kraft("KRaftVersion", Number("kraftVersion", "int16")),
    KRAFT_VOTERS: _kraft("KRaftVoters", *_compact_array("voters", _KRAFT_VOTER)),
}
"""The layout of the value by the type in the key."""
