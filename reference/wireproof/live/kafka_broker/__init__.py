"""A live Kafka broker as an adapter, `kafka-broker:HOST:PORT[:FILE]`: its registry entry."""

from typing import Final

from wireproof.adapters.registry.live_servers import server_entry
from wireproof.adapters.registry.registered import Entry

KIND: Final = "kafka-broker"

CASE_SECONDS: Final = 150.0
"""Least time limit of a case: its requests have limits of their own, and the broker may be started again."""


def entry_of_broker(spec: str) -> Entry:
    """Return the entry of `kafka-broker:HOST:PORT[:FILE]`, for one run; raise `UnknownAdapter`."""
    entry = Entry(
        spec,
        "a running Kafka broker",
        extra="broker",
        modules=("kafka",),
        relay=f"{__name__}.relay:connected",
        formats=("kafka",),
        case_seconds=CASE_SECONDS,
    )
    return server_entry(entry, f"{__name__}.worker")
