"""A live Kafka broker as an adapter, `kafka-broker:HOST:PORT[:FILE]`: its registry entry."""

from wireproof.adapters.registry.live_servers import server_entry
from wireproof.adapters.registry.registered import Entry


def entry_of_broker(spec: str) -> Entry:
    """Return the entry of `kafka-broker:HOST:PORT[:FILE]`, for one run; raise `UnknownAdapter`."""
    entry = Entry(
        spec,
        "a running Kafka broker",
        extra="broker",
        modules=("kafka",),
        relay=f"{__name__}.relay:connected",
        formats=("kafka",),
        case_seconds=150.0,  # its requests have limits of their own, and the broker may be started again
    )
    return server_entry(entry, f"{__name__}.worker")
