"""A connection to an Iggy server over HTTP: iggy.md, section 8. The client is that of Python's library."""

import http.client
import json
from typing import Any, Final, Self

from attrs import frozen

from wireproof.adapters.server_address import ServerAddress
from wireproof.iggy.family.live_server.connection import LARGEST, SECONDS, ConnectionEndedError

JSON: Final = "application/json"


@frozen
class HttpReply:
    """An answer: the HTTP status, the body, and the type of the body."""

    status: int
    body: bytes
    kind: str = ""

    @property
    def success(self) -> bool:
        """Return True for a status from 200 to 299."""
        return 200 <= self.status < 300

    @property
    def is_json(self) -> bool:
        """Return True if the body is announced as JSON."""
        return self.kind.startswith(JSON)

    def value(self) -> Any:  # noqa: ANN401 - any JSON
        """Return the JSON value of the body; None if it is none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


class HttpConnection:
    """One connection, kept for several requests. Every method raises `OSError`."""

    def __init__(self, address: ServerAddress, token: str = "") -> None:
        """Connect; `token` is that of a login."""
        self._client = http.client.HTTPConnection(address.host, address.port, timeout=SECONDS)
        self._client.auto_open = 0  # a connection that ended stays ended
        self._client.connect()
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def request(
        self, method: str, path: str, body: bytes | None = None, seconds: float = SECONDS
    ) -> HttpReply:
        """Send a request whole, and return its answer; a body is sent as JSON."""
        headers = self._headers | ({} if body is None else {"Content-Type": JSON})
        try:
            if self._client.sock is None:
                raise ConnectionEndedError("the server closes the connection")
            self._client.sock.settimeout(seconds)
            self._client.request(method, path, body, headers)
            reply = self._client.getresponse()
            data = reply.read(LARGEST + 1)
        except http.client.HTTPException as error:
            raise ConnectionEndedError(f"no answer of HTTP: {type(error).__name__} {error}") from None
        if len(data) > LARGEST:
            raise ConnectionEndedError(f"a reply of more than {LARGEST} bytes")
        return HttpReply(reply.status, data, reply.headers.get("Content-Type", ""))

    def close(self) -> None:
        """Close it."""
        self._client.close()

    def __enter__(self) -> Self:
        """Return the connection."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
        self.close()
