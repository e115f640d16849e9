"""The case that kills each faulty client: it passes on the sound one, and is a finding on this one."""

from collections.abc import Mapping
from typing import Final

DELIVERED: Final = "kafka.log/mixed/delivered"
ENTRIES: Final = "kafka.log/mixed/entries"
DAMAGED: Final = "kafka.log/mixed/damaged"
TRANSACTIONS: Final = "kafka.log/mixed/transactions"
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
    "drops-null-headers": f"{DELIVERED}/header-null",
    "drops-null-keys": f"{DELIVERED}/key-null",
    "drops-null-values": f"{DELIVERED}/value-null",
    "empty-for-null-header": f"{DELIVERED}/header-null",
    "empty-for-null-key": f"{DELIVERED}/key-null",
    "empty-for-null-value": f"{DELIVERED}/value-null",
    "ends-at-cut-tail": f"{TAIL}/60-bytes",
    "fetches-damage-for-ever": f"{DAMAGED}/first-crc",
    "hides-aborted-from-uncommitted": f"{TRANSACTIONS}/uncommitted-aborted-list",
    "holds-last-record": f"{ENTRIES}/one",
    "jumps-over-next-batch": f"{ENTRIES}/one",
    "keeps-aborted-producer": f"{DELIVERED}/commits-after-abort",
    "loses-headers": f"{DELIVERED}/headers-two",
    "loses-second-of-equal-headers": f"{DELIVERED}/headers-repeated",
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

PRODUCE: Final = f"{V2}/produce"

PRODUCERS_KILLED_BY: Final[Mapping[str, str]] = {
    "begins-at-sequence-one": f"{PRODUCE}/encode-idempotent",
    "forgets-max-timestamp": f"{PRODUCE}/encode-max-timestamp",
    "reports-next-offset": f"{PRODUCE}/encode-three-records",
    "retries-with-next-sequence": f"{PRODUCE}/encode-idempotent",
    "retries-with-other-records": f"{PRODUCE}/encode-idempotent",
    "sends-each-record-alone": f"{PRODUCE}/encode-three-records",
    "writes-empty-for-null": f"{V2}/encode/nulls",
    "writes-next-epoch": f"{PRODUCE}/encode-idempotent",
    "writes-no-codec": f"{PRODUCE}/encode-gzip",
    "writes-no-last-offset-delta": f"{PRODUCE}/encode-three-records",
    "writes-no-transactional-bit": f"{PRODUCE}/encode-transactional",
    "writes-one-header": f"{V2}/encode/headers",
}
"""The same for producers, whose first answers are lost if they have an id."""
