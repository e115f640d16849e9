"""The registry entry of a live broker."""

import os
import secrets
import sys
from typing import Final

from wireproof.adapters.registry_entry import Entry
from wireproof.kafka.family.live_broker.address import BrokerAddress

PROGRAMS: Final = "wireproof.kafka.family.live_broker"
"""The package of the programs `worker` and `cleanup`."""

START_SECONDS: Final = 60.0
"""Time limit of a hello, before which the first topic is created."""

TOKEN_BYTES: Final = 8


def entry_of_broker(spec: str) -> Entry:
    """Return the entry of `kafka-broker:HOST:PORT[:FILE]`, for one run; raise `UnknownAdapter`."""
    BrokerAddress.of(spec)
    token = secrets.token_hex(TOKEN_BYTES)
    return Entry(
        spec,
        "a running Kafka broker",
        command=_python("worker", spec, token),
        cleanup=_python("cleanup", spec, token),
        environment={"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        extra="broker",
        modules=("kafka",),
        relay=f"{PROGRAMS}.relay:connected",
        formats=("kafka",),
        start_seconds=START_SECONDS,
    )


def _python(module: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", f"{PROGRAMS}.{module}", *arguments)
