"""A program that uses the public interface of a Kafka client as an adapter: `kafka-client:COMMAND`.

The suite is its broker, on the loopback. See `clients.md`.
"""

import os
import sys
from typing import Final

from wireproof.adapters.registry.registered import Entry
from wireproof.live.kafka_client.program import listed_options, parse_spec

START_SECONDS: Final = 120.0
"""Time limit of a hello: the program starts several times."""

CASE_SECONDS: Final = 120.0
"""Least time limit of a case: the program starts for each, and may pause before it asks again."""


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
        start_seconds=START_SECONDS,
        case_seconds=CASE_SECONDS,
        options=listed_options(),
        client=True,
    )
