"""The case that kills each faulty client: it passes on the sound one, and is a finding on this one."""

from collections.abc import Mapping
from typing import Final

DELIVERED: Final = "kafka.log/mixed/delivered"
ENTRIES: Final = "kafka.log/mixed/entries"
DAMAGED: Final = "kafka.log/mixed/damaged"
TAIL: Final = "kafka.log/mixed/tail"
V2: Final = "kafka.batch/v2"

KILLED_BY: Final[Mapping[str, str]] = {
    "advances-by-count": f"{ENTRIES}/gap-at-the-end",
    "always-create-time": f"{V2}/timestamps/log-append",
    "delivers-aborted": f"{DELIVERED}/read-committed",
    "delivers-below-offset": f"{DELIVERED}/from-second",
    "delivers-damage": f"{DAMAGED}/second-crc",
    "delivers-markers": f"{DELIVERED}/from-hides-control",
    "drops-after-gap": f"{V2}/batch/compacted-gaps",
    "ends-at-cut-tail": f"{TAIL}/60-bytes",
    "fetches-damage-for-ever": f"{DAMAGED}/first-crc",
    "hides-aborted-from-uncommitted": f"{DELIVERED}/from-uncommitted",
    "jumps-over-next-batch": f"{ENTRIES}/one",
    "keeps-aborted-producer": f"{DELIVERED}/commits-after-abort",
    "loses-headers": f"{V2}/headers/five",
    "loses-second-of-equal-headers": f"{V2}/headers/duplicate-order",
    "nulls-of-old-messages": "kafka.batch/v0/message/key-and-value",
    "panics-at-damage": f"{DAMAGED}/first-crc",
    "reads-first-batch-only": f"{ENTRIES}/three",
    "refuses-cut-tail": f"{TAIL}/60-bytes",
    "repeats-batch": f"{ENTRIES}/one",
    "skips-damage": f"{DAMAGED}/second-crc",
    "spins-when-nothing-is-delivered": f"{DELIVERED}/only-control",
    "stops-at-empty-batch": f"{ENTRIES}/data-then-empty",
    "stops-silently": f"{DAMAGED}/second-crc",
}
