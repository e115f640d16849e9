"""The Iggy SDKs for Python: clients that show no codec, behind a server on the loopback.

A decode serves the case's bytes as the answer to PollMessages; an encode sends, and takes the body of
SendMessages from what the server saw. Every wait is bounded by the request's own limit: a client that
says nothing in that time has stalled.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, TypeVar

from wireproof.adapters.bindings.refusing import Refusals
from wireproof.adapters.contract import Claim, Request
from wireproof.adapters.loopback import IggyServer
from wireproof.cases.outcome import Accepted, Outcome, Refused, Stalled
from wireproof.wire.values import Json

T = TypeVar("T")

LOGIN_USER: Final = 38
POLL_MESSAGES: Final = 100
SEND_MESSAGES: Final = 101
"""Command codes: iggy.md §2.1."""

USER_ID: Final = (1).to_bytes(4, "little")
"""The answer to a login."""

CONNECT_SECONDS: Final = 5.0
SHARE: Final = 0.8
"""Of a request's time limit that a wait may take: the binding answers before its worker is stopped."""

MANY: Final = 1_000_000

REFUSALS: Final = Refusals(documented=(RuntimeError,))
"""Their documentation knows RuntimeError only; a panic of their Rust code arrives as another exception."""


class SdkClient:
    """One SDK as an adapter of the polls and sends of its edition.

    Args:
        sdk: the module of the SDK.
        name: of the adapter.
        version: of the SDK.
        revisions: what it claims.
        shown: of a message of the SDK, its value.
        binary: whether a payload may be any bytes; else it is text.
    """

    documented = REFUSALS.documented

    def __init__(
        self,
        *,
        sdk: Any,  # noqa: ANN401 - a module that is not here when types are checked
        name: str,
        version: str,
        revisions: Mapping[str, Claim],
        shown: Callable[[Any], Json],
        binary: bool,
    ) -> None:
        """Nothing is started before the first request."""
        self.name, self.version, self.revisions = name, version, revisions
        self._sdk, self._shown, self._binary = sdk, shown, binary
        self._server: IggyServer | None = None
        self._runner: asyncio.Runner | None = None
        self._client: Any = None

    def decode(self, request: Request) -> Outcome:
        """Poll once, and be answered with `request.data`."""
        server = self._serving(POLL_MESSAGES, request.data)
        return self._outcome(self._poll(server), request)

    def encode(self, request: Request) -> Outcome:
        """Send the messages of `request.value`; what its `send_messages` has no argument for is refused."""
        if beyond := _beyond(request.value, binary=self._binary):
            return Refused(cls="invalid-value", path=beyond, text=f"send_messages has no say over {beyond}")
        server = self._serving(SEND_MESSAGES, b"")
        return self._outcome(self._send(server, request.value), request)

    def close(self) -> None:
        """End the server and the loop."""
        if self._server is not None:
            self._server.close()
        if self._runner is not None:
            self._runner.close()
        self._server = self._runner = self._client = None

    def _serving(self, code: int, body: bytes) -> IggyServer:
        if self._server is None:
            self._server = IggyServer({LOGIN_USER: USER_ID})
        self._server.serve(code, body)
        return self._server

    def _outcome(self, work: Awaitable[Outcome], request: Request) -> Outcome:
        """The outcome of `work`; after any failure the next request gets a new client."""
        if self._runner is None:
            self._runner = asyncio.Runner()
        seconds = request.limits.ms * SHARE / 1000
        try:
            return self._runner.run(
                _bounded(work, seconds + (CONNECT_SECONDS if self._client is None else 0))
            )
        except TimeoutError:
            self._client = None
            return Stalled(f"nothing came in {seconds:g} s")
        except BaseException as error:  # noqa: BLE001 - a panic of its Rust code is no Exception
            self._client = None
            return REFUSALS.outcome(error)

    async def _connected(self, server: IggyServer) -> Any:  # noqa: ANN401 - its methods give untyped awaitables
        if self._client is None:
            client = self._sdk.IggyClient(server.address)
            await client.connect()
            await client.login_user("iggy", "iggy")
            self._client = client
        return self._client

    async def _poll(self, server: IggyServer) -> Outcome:
        client = await self._connected(server)
        first = self._sdk.PollingStrategy.Next()
        messages = await client.poll_messages(1, 1, 1, first, MANY, False)  # noqa: FBT003 - its signature
        return Accepted(value={"messages": [self._shown(message) for message in messages]})

    async def _send(self, server: IggyServer, value: Any) -> Outcome:  # noqa: ANN401 - a JSON value
        client = await self._connected(server)
        partition = int.from_bytes(bytes.fromhex(value["partitioning"]["value"]), "little")
        messages = [self._sdk.SendMessage(self._payload(message["payload"])) for message in value["messages"]]
        await client.send_messages(_place(value["stream"]), _place(value["topic"]), partition, messages)
        bodies = server.sent(SEND_MESSAGES)
        return Accepted(data=bodies[0]) if bodies else Stalled("send_messages returned and sent nothing")

    def _payload(self, payload: str) -> str | bytes:
        return bytes.fromhex(payload) if self._binary else _text(payload)


async def _bounded(work: Awaitable[T], seconds: float) -> T:
    return await asyncio.wait_for(work, seconds)


def _place(value: Any) -> int | str:  # noqa: ANN401 - a JSON value
    """A stream or topic, as its client takes one: a number or a name."""
    data = bytes.fromhex(value["value"])
    return int.from_bytes(data, "little") if value["kind"] == "numeric" else data.decode()


def _text(payload: str) -> str:
    return bytes.fromhex(payload).decode()


def _beyond(value: Any, *, binary: bool) -> str | None:  # noqa: ANN401 - a JSON value
    """The first part that `send_messages` has no argument for."""
    if value["partitioning"]["kind"] != "partition_id":
        return "partitioning.kind"
    for message in value["messages"]:
        if message["id"] != "0":
            return "messages[].id"
        if message["headers"]:
            return "messages[].headers"
        if not binary and not _is_text(message["payload"]):
            return "messages[].payload"
    return None


def _is_text(payload: str) -> bool:
    try:
        _text(payload)
    except UnicodeDecodeError:
        return False
    return True
