"""The registry entry of a live server."""

from typing import Final

from wireproof.adapters.registry_entry import Entry
from wireproof.adapters.server_address import ServerAddress, server_entry

HTTP: Final = "http"
SCHEMES: Final = (HTTP,)
"""The protocols that a name can have before the host; without one it is TCP."""

PROGRAMS: Final = "wireproof.iggy.family.live_server"
"""The package of the programs `worker` and `cleanup`."""


def entry_of_server(spec: str) -> Entry:
    """Return the entry of `iggy-server:[http://]HOST:PORT[:FILE]`, for one run; raise `UnknownAdapter`."""
    return server_entry(Entry(spec, "a running Iggy server", formats=("iggy",)), PROGRAMS, SCHEMES)


def address_of(spec: str) -> ServerAddress:
    """Return the address in a name; raise `UnknownAdapter`."""
    return ServerAddress.of(spec, SCHEMES)
