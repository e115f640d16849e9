"""The case that kills each faulty broker: it passes on the right broker, and is a finding on this one."""

from collections.abc import Mapping
from typing import Final

APPEND: Final = "kafka.log/mixed/append"
IDEMPOTENCE: Final = "kafka.log/mixed/idempotence"
TRANSACTION: Final = "kafka.log/mixed/transaction"
TRANSACTION_V2: Final = "kafka.log/mixed/transaction-v2"
FETCH: Final = "kafka.log/mixed/fetch"

KILLED_BY: Final[Mapping[str, str]] = {
    "accepts-any-size": f"{APPEND}/size-none-1-above",
    "accepts-any-time": f"{APPEND}/after-none",
    "accepts-bad-crc": f"{APPEND}/crc-value",
    "accepts-base-offset": f"{APPEND}/base-offset-5",
    "accepts-empty": f"{APPEND}/empty",
    "accepts-gap": f"{IDEMPOTENCE}/gap",
    "accepts-keyless": f"{APPEND}/compact-no-key-first-none",
    "accepts-no-sequence": f"{APPEND}/no-sequence",
    "accepts-old-epoch": f"{IDEMPOTENCE}/epoch-back",
    "accepts-plain-in-transaction": f"{TRANSACTION}/plain-inside",
    "accepts-several-batches": f"{APPEND}/two-batches",
    "always-gzip": f"{APPEND}/two-none",
    "answers-next-offset": f"{APPEND}/count-1",
    "answers-no-error": f"{APPEND}/empty",
    "answers-other-partition": f"{APPEND}/two-none",
    "answers-other-time": f"{APPEND}/stamped-none",
    "answers-retry-with-end": f"{IDEMPOTENCE}/duplicate",
    "append-time-of-yesterday": f"{APPEND}/stamped-none",
    "append-time-without-crc": f"{APPEND}/stamped-none",
    "appends-half-of-refused": f"{APPEND}/compact-no-key-second-none",
    "commit-is-abort": f"{TRANSACTION}/commit",
    "dies": f"{APPEND}/count-16",
    "drops-data": f"{APPEND}/count-1",
    "drops-headers": f"{APPEND}/mixed-none",
    "empties-tombstones": f"{APPEND}/mixed-none",
    "forgets-deleted-producer": f"{IDEMPOTENCE}/after-delete",
    "forgets-max-timestamp": f"{APPEND}/two-none",
    "hangs": f"{APPEND}/count-16",
    "ignores-append-time": f"{APPEND}/stamped-none",
    "ignores-compression-type": f"{APPEND}/to-gzip-from-none",
    "ignores-control-bit": f"{APPEND}/control-bit",
    "keeps-append-time-bit": f"{APPEND}/append-time-bit-none",
    "keeps-base-offset": f"{IDEMPOTENCE}/in-order",
    "keeps-max-timestamp": f"{APPEND}/max-timestamp-late-none",
    "leaves-gap": f"{APPEND}/two-none",
    "loses-last-offset-delta": f"{APPEND}/two-none",
    "loses-leader-epoch": f"{APPEND}/leader-epoch-5",
    "loses-producer": f"{APPEND}/producer-1000-none",
    "marker-keeps-epoch": f"{TRANSACTION_V2}/commit",
    "names-all-aborted": f"{TRANSACTION}/aborted-range",
    "names-no-aborted": f"{TRANSACTION}/abort",
    "new-epoch-is-retry": f"{IDEMPOTENCE}/epoch-next-same-sequences",
    "reads-deleted": f"{FETCH}/deleted-before",
    "reads-from-next-batch": f"{FETCH}/inside-batch",
    "recompresses-wrongly": f"{APPEND}/to-gzip-from-none",
    "refuses-large-first-batch": f"{FETCH}/limit-of-partition",
    "refuses-leader-epoch": f"{APPEND}/leader-epoch-0",
    "remembers-one-batch": f"{IDEMPOTENCE}/duplicate-of-fifth",
    "reorders-records": f"{APPEND}/mixed-none",
    "reuses-deleted-offsets": f"{FETCH}/deleted-all",
    "sequences-do-not-wrap": f"{IDEMPOTENCE}/wrap",
    "shifts-timestamps": f"{APPEND}/two-none",
    "stable-offset-is-end": f"{TRANSACTION}/commit",
    "stable-offset-of-ended": f"{TRANSACTION}/first-open",
    "stable-offset-of-last": f"{TRANSACTION}/first-open",
    "stores-duplicate": f"{IDEMPOTENCE}/duplicate",
    "stores-refused": f"{APPEND}/compact-no-key-first-none",
    "stores-twice": f"{APPEND}/count-1",
    "stores-wrong-crc": f"{APPEND}/count-1",
    "trusts-count": f"{APPEND}/last-offset-delta-2",
    "trusts-last-offset-delta": f"{APPEND}/last-offset-delta-2",
    "waits-past-end": f"{FETCH}/past-end",
}

NOT_KILLED: Final[Mapping[str, str]] = {
    "refusal-cuts-log": "PLACEHOLDER",
}
"""The faults that no case shows, and why."""
