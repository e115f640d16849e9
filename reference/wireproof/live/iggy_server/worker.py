"""The process of the adapter: `wireproof.live.worker`. It runs one case at a time."""

import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from attrs import evolve

from wireproof.adapters.errors import AdapterStartError
from wireproof.adapters.python_object import line_of
from wireproof.adapters.registry.live_servers import ServerAddress, left_by_others
from wireproof.live.iggy_server import HTTP, SCHEMES
from wireproof.live.iggy_server.cases import TcpCases, hello_of
from wireproof.live.iggy_server.send_case import HttpSendCases
from wireproof.live.iggy_server.server import HttpServer, RefusedError, Server, read_properties
from wireproof.live.worker import LiveServer, Service, main, note_of


@contextmanager
def connected(spec: str) -> Iterator[Server]:
    """Connect to the server that `spec` names; raise `AdapterStartError` also for what it refuses then."""
    address = ServerAddress.of(spec, SCHEMES)
    kind = HttpServer if address.scheme == HTTP else Server
    server = kind(address, read_properties(address.properties))
    try:
        yield server
    except RefusedError as error:
        raise AdapterStartError(f"{address}: {error}") from None
    except OSError as error:
        raise AdapterStartError(f"{address}: {line_of(error)}") from None


@contextmanager
def opened(spec: str, token: str) -> Iterator[Service]:
    """Connect, and check the permissions for what each case needs; raise `AdapterError`."""
    with connected(spec) as server:
        # a process that starts again after a fault takes other names
        kind = HttpSendCases if isinstance(server, HttpServer) else TcpCases
        cases = kind(server, f"{token}-{secrets.token_hex(2)}")
        others = server.names()
        cases.check()
    hello = evolve(hello_of(server), notes=left_by_others(spec, others, "streams"))
    yield Service(hello, cases.run, note=lambda: note_of(server.asked_again))


if __name__ == "__main__":
    streams = LiveServer("streams", opened, connected, Server.names, Server.delete_streams)
    sys.exit(main(streams, sys.argv[1:]))
