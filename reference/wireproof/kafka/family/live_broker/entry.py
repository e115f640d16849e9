"""The registry entry of a live broker."""

from typing import Final

from wireproof.adapters.live_servers import server_entry
from wireproof.adapters.registry_entry import Entry

KIND: Final = "kafka-broker"

PROGRAMS: Final = "wireproof.kafka.family.live_broker"
"""The package of the programs `worker` and `cleanup`."""


CASE_SECONDS: Final = 150.0
"""Least time limit of a case: its requests have limits of their own, and the broker may be started again."""


def entry_of_broker(spec: str) -> Entry:
    """Return the entry of `kafka-broker:HOST:PORT[:FILE]`, for one run; raise `UnknownAdapter`."""
    entry = Entry(
        spec,
        "a running Kafka broker",
        extra="broker",
        modules=("kafka",),
        relay=f"{PROGRAMS}.relay:connected",
        formats=("kafka",),
        case_seconds=CASE_SECONDS,
    )
    return server_entry(entry, PROGRAMS)
