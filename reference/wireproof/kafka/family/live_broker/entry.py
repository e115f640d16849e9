"""The registry entry of a live broker."""

from typing import Final

from wireproof.adapters.registry_entry import Entry
from wireproof.adapters.server_address import server_entry

KIND: Final = "kafka-broker"

PROGRAMS: Final = "wireproof.kafka.family.live_broker"
"""The package of the programs `worker` and `cleanup`."""


def entry_of_broker(spec: str) -> Entry:
    """Return the entry of `kafka-broker:HOST:PORT[:FILE]`, for one run; raise `UnknownAdapter`."""
    entry = Entry(
        spec,
        "a running Kafka broker",
        extra="broker",
        modules=("kafka",),
        relay=f"{PROGRAMS}.relay:connected",
        formats=("kafka",),
    )
    return server_entry(entry, PROGRAMS)
