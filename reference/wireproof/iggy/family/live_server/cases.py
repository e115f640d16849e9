"""The server at an address, over TCP or HTTP, and the cases that it is asked."""

from typing import TypeAlias, assert_never

from wireproof.adapters.contract import Hello, Request
from wireproof.adapters.server_address import ServerAddress
from wireproof.cases.outcome import Outcome
from wireproof.cases.steps import SEQUENCE
from wireproof.iggy.family.live_server.claims import hello_of_server
from wireproof.iggy.family.live_server.client_properties import IggyClientProperties
from wireproof.iggy.family.live_server.entry import HTTP
from wireproof.iggy.family.live_server.http_case import HttpSendCases
from wireproof.iggy.family.live_server.http_server import HttpServer
from wireproof.iggy.family.live_server.send_case import SendCases
from wireproof.iggy.family.live_server.sequence_case import PollSequences
from wireproof.iggy.family.live_server.server import Server

AnyServer: TypeAlias = Server | HttpServer


class TcpCases:
    """Runs the cases of a server over TCP."""

    def __init__(self, server: Server, names: str) -> None:
        """Use streams whose names begin with the prefix and `names`."""
        self._sends = SendCases(server, names)
        self._sequences = PollSequences(server, names)
        self.check = self._sends.check

    def run(self, request: Request) -> Outcome:
        """Return what the server does with a request."""
        return self._sequences.run(request) if request.op == SEQUENCE else self._sends.decode(request)


Cases: TypeAlias = TcpCases | HttpSendCases


def server_at(address: ServerAddress, properties: IggyClientProperties) -> AnyServer:
    """Return the server at an address; raise `AdapterStartError`."""
    kind = HttpServer if address.scheme == HTTP else Server
    return kind(address, properties)


def cases_of(server: AnyServer, names: str) -> Cases:
    """Return what runs the cases; the names of its streams begin with `names`."""
    match server:
        case Server():
            return TcpCases(server, names)
        case HttpServer():
            return HttpSendCases(server, names)
        case _:
            assert_never(server)


def hello_of(server: AnyServer) -> Hello:
    """Return the claims about a server."""
    protocol = server.protocol
    over_http = isinstance(server, HttpServer)
    format_id = f"iggy.json.send/{protocol.json_send}" if over_http else f"iggy.send/{protocol.send}"
    return hello_of_server(server.properties.name, server.version, format_id, over_http=over_http)
