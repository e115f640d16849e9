"""Keys and values of control records, and their typed form in a value: kafka.md §1.9."""

import struct
from typing import Any

FIELDS = (
    "type", "version", "coordinatorEpoch", "leaderId", "voters", "grantingVoters",
    "lastContainedLogTimestamp", "kraftVersion",
)  # fmt: skip


def control(**fields: Any) -> dict[str, Any]:
    """Every field, those not given null."""
    return dict.fromkeys(FIELDS) | fields


def voter(ident: str) -> dict[str, Any]:
    return {"id": ident, "directoryId": None, "endpoints": None, "minVersion": None, "maxVersion": None}


LEADER_CHANGE = control(type="2", version="0", leaderId="1", voters=[voter("1")], grantingVoters=[voter("1")])


def kraft_version(version: int) -> dict[str, Any]:
    return control(type="5", version="0", kraftVersion=str(version))


def control_value(key: bytes | None, value: bytes | None) -> Any:
    """ABORT and COMMIT with their epoch; of another type only the type is known."""
    kind = struct.unpack_from(">h", key or b"", 2)[0]
    if kind not in (0, 1):
        return control(type=str(kind))
    version, epoch = struct.unpack_from(">hi", value or b"")
    return control(type=str(kind), version=str(version), coordinatorEpoch=str(epoch))
