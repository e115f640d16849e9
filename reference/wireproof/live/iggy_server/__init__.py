"""A live Iggy server as an adapter: `iggy-server:[http://]HOST:PORT[:FILE]`; its registry entry."""

from typing import Final

from wireproof.adapters.registry.live_servers import server_entry
from wireproof.adapters.registry.registered import Entry

HTTP: Final = "http"
SCHEMES: Final = (HTTP,)
"""The protocols that a name can have before the host; without one it is TCP."""


def entry_of_server(spec: str) -> Entry:
    """Return the entry of `iggy-server:[http://]HOST:PORT[:FILE]`, for one run; raise `UnknownAdapter`."""
    # the requests of a case have limits of their own, and the server may be started again
    entry = Entry(spec, "a running Iggy server", formats=("iggy",), case_seconds=60.0)
    return server_entry(entry, f"{__name__}.worker", SCHEMES)
