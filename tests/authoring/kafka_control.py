"""The control records that a value shows typed: kafka.md §1.9."""

from typing import Any

LEADER_CHANGE: Any = None


def kraft_version(version: int) -> Any:
    return None


def control_value(key: bytes | None, value: bytes | None) -> Any:
    return None
