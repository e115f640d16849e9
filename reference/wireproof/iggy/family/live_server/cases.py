"""The server at an address, over TCP or HTTP, and the cases that it is asked."""

from typing import Final, TypeAlias, assert_never

from wireproof.adapters.contract import Claim, Hello, Request
from wireproof.adapters.live_servers import ServerAddress
from wireproof.cases.outcome import Outcome
from wireproof.cases.steps import SEQUENCE
from wireproof.formats import FORMATS
from wireproof.iggy.family.live_server import send_case
from wireproof.iggy.family.live_server.entry import HTTP
from wireproof.iggy.family.live_server.send_case import HttpSendCases, SendCases
from wireproof.iggy.family.live_server.sequence_case import PollSequences
from wireproof.iggy.family.live_server.server import HttpServer, IggyClientProperties, Server

# --- claims ---
#
# What a server is asked: the sends of its revision.


OBSERVED: Final = {False: send_case.FIELDS, True: send_case.HTTP_FIELDS}
"""The fields of messages that a poll shows, over TCP and over HTTP; the partition is that of this adapter."""


SEQUENCES: Final = Claim((SEQUENCE,), ("none",), ("reader", "produce"))
"""Only cases with steps are about polls of a server: it writes polls, and reads none."""


def hello_of_server(name: str, version: str, format_id: str, *, over_http: bool) -> Hello:
    """Return the claims about a server that takes sends of a format."""
    observed = tuple(f"messages[].{field}" for field in OBSERVED[over_http])
    features = tuple(
        atom.partition(":")[2] for atom in FORMATS[format_id].capabilities if atom.startswith("feature:")
    )
    claim = Claim(("decode",), ("none",), ("reader", "produce"), observed, features)
    sequences = {} if over_http else {format_id.replace("send", "poll"): SEQUENCES}
    return Hello(name, version, {format_id: claim, **sequences}, errors="coarse", cost="slow")


# --- cases ---


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
