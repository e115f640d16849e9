"""The case that kills each faulty broker: it passes on the right broker, and is a finding on this one."""

from collections.abc import Mapping
from typing import Final

APPEND: Final = "kafka.log/mixed/append"

KILLED_BY: Final[Mapping[str, str]] = {
    "accepts-any-size": f"{APPEND}/size-none-1-above",
    "accepts-any-time": f"{APPEND}/after-none",
    "accepts-bad-crc": f"{APPEND}/crc-value",
    "accepts-base-offset": f"{APPEND}/base-offset-5",
    "accepts-empty": f"{APPEND}/empty",
    "accepts-keyless": f"{APPEND}/compact-no-key-first-none",
    "accepts-no-sequence": f"{APPEND}/no-sequence",
    "accepts-several-batches": f"{APPEND}/two-batches",
    "always-gzip": f"{APPEND}/two-none",
    "answers-next-offset": f"{APPEND}/count-1",
    "answers-no-error": f"{APPEND}/empty",
    "answers-other-partition": f"{APPEND}/two-none",
    "answers-other-time": f"{APPEND}/stamped-none",
    "append-time-of-yesterday": f"{APPEND}/stamped-none",
    "append-time-without-crc": f"{APPEND}/stamped-none",
    "appends-half-of-refused": f"{APPEND}/compact-no-key-second-none",
    "dies": f"{APPEND}/count-16",
    "drops-data": f"{APPEND}/count-1",
    "drops-headers": f"{APPEND}/mixed-none",
    "empties-tombstones": f"{APPEND}/mixed-none",
    "forgets-max-timestamp": f"{APPEND}/two-none",
    "hangs": f"{APPEND}/count-16",
    "ignores-append-time": f"{APPEND}/stamped-none",
    "ignores-compression-type": f"{APPEND}/to-gzip-from-none",
    "ignores-control-bit": f"{APPEND}/control-bit",
    "keeps-append-time-bit": f"{APPEND}/append-time-bit-none",
    "keeps-max-timestamp": f"{APPEND}/max-timestamp-late-none",
    "leaves-gap": f"{APPEND}/two-none",
    "loses-last-offset-delta": f"{APPEND}/two-none",
    "loses-leader-epoch": f"{APPEND}/leader-epoch-5",
    "loses-producer": f"{APPEND}/producer-1000-none",
    "recompresses-wrongly": f"{APPEND}/to-gzip-from-none",
    "refuses-leader-epoch": f"{APPEND}/leader-epoch-0",
    "reorders-records": f"{APPEND}/mixed-none",
    "shifts-timestamps": f"{APPEND}/two-none",
    "stores-refused": f"{APPEND}/compact-no-key-first-none",
    "stores-twice": f"{APPEND}/count-1",
    "stores-wrong-crc": f"{APPEND}/count-1",
    "trusts-count": f"{APPEND}/last-offset-delta-2",
    "trusts-last-offset-delta": f"{APPEND}/last-offset-delta-2",
}

NOT_KILLED: Final[Mapping[str, str]] = {
    "keeps-base-offset": "a partition is empty before the append: 0 is its offset",
    "reads-from-next-batch": "nothing is fetched from inside a batch",
    "refusal-cuts-log": "a partition is empty before the append: nothing is there to be cut",
    "stores-duplicate": "no batch is sent twice",
}
"""The faults that no case shows, and why."""
