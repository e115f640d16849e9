"""Brokers with one fault each: `FAULTS`, by name, and the case that kills each.

The case passes on the right broker, and is a finding on this one. Those of `serve broker` are in the package.
"""

from collections.abc import Mapping
from typing import Any, Final

from tests.live.mock_broker import step_faults
from tests.live.mock_broker.append_faults import APPEND_FAULTS
from wireproof.live.loopback_broker import faults as served
from wireproof.live.loopback_broker.partition import CleaningPartition, ServedPartition

LOG: Final = "kafka.log/mixed"

SERVED: Final = {
    "answers-next-offset": "count-1",
    "drops-data": "count-1",
    "drops-headers": "mixed-none",
    "empties-tombstones": "mixed-none",
    "shifts-timestamps": "two-none",
    "stores-duplicate": "producer-1000-none",
    "stores-twice": "count-1",
    "stores-wrong-crc": "count-1",
}
"""The end of the id of the case that kills each broker of `serve broker`."""

TOPICS: Final[Mapping[str, Mapping[str, tuple[str, type[Any]]]]] = {
    "append": {
        **APPEND_FAULTS,
        **{name: (SERVED[name], one.partition) for name, one in served.FAULTS.items()},
    },
    "down-conversion": step_faults.DOWN_CONVERSION,
    "expiry": step_faults.EXPIRY,
    "fetch": step_faults.FETCH,
    "idempotence": step_faults.IDEMPOTENCE,
    "list-offsets": step_faults.LIST_OFFSETS,
    "restart": step_faults.RESTART,
    "transaction": step_faults.TRANSACTION,
    "transaction-v2": step_faults.TRANSACTION_V2,
}
"""The faults by the topic of the cases by which a broker is judged."""

FAULTS: Final[Mapping[str, type[ServedPartition]]] = {
    name: partition for rows in TOPICS.values() for name, (_, partition) in rows.items()
}
"""The faulty partitions by name, such as `stores-wrong-crc`."""

KILLED_BY: Final[Mapping[str, str]] = {
    name: f"{LOG}/{topic}/{case}" for topic, rows in TOPICS.items() for name, (case, _) in rows.items()
}


def partition_class(fault: str | None) -> type[ServedPartition]:
    """Return the partition with this fault, the right one for None; raises `KeyError`."""
    return FAULTS[fault] if fault else CleaningPartition
