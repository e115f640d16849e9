"""A program that uses the public interface of a Kafka client as an adapter: `kafka-client:COMMAND`.

The suite is its broker, on the loopback. See `clients.md`.
"""

import os
import sys

from wireproof.adapters.registry.registered import Entry
from wireproof.live.kafka_client.program import listed_options, parse_spec


def entry_of_client(spec: str) -> Entry:
    """Return the entry of `kafka-client:[NAME=VALUE …] COMMAND`; raise `UnknownAdapter`."""
    options, words = parse_spec(spec)
    worker = (sys.executable, "-m", "wireproof.live.kafka_client.worker")
    return Entry(
        spec,
        "a Kafka client by its public interface",
        command=(*worker, options.json(), *words),
        environment={"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        extra="broker",
        modules=("kafka",),
        formats=("kafka",),
        start_seconds=120.0,  # the program starts several times
        case_seconds=120.0,  # it starts for each case, and may pause before it asks again
        options=listed_options(),
        client=True,
    )
