"""The registry entry of a live server."""

import os
import secrets
import sys
from typing import Final

from wireproof.adapters.registry_entry import Entry
from wireproof.iggy.family.live_server.address import ServerAddress

PROGRAMS: Final = "wireproof.iggy.family.live_server"
"""The package of the programs `worker` and `cleanup`."""

START_SECONDS: Final = 60.0
"""Time limit of a hello, before which a stream is created and deleted."""

TOKEN_BYTES: Final = 8


def entry_of_server(spec: str) -> Entry:
    """Return the entry of `iggy-server:HOST:PORT[:FILE]`, for one run; raise `UnknownAdapter`."""
    ServerAddress.of(spec)
    token = secrets.token_hex(TOKEN_BYTES)
    return Entry(
        spec,
        "a running Iggy server",
        command=_python("worker", spec, token),
        cleanup=_python("cleanup", spec, token),
        environment={"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        formats=("iggy",),
        start_seconds=START_SECONDS,
    )


def _python(module: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", f"{PROGRAMS}.{module}", *arguments)
