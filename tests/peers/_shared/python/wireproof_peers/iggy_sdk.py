"""The adapters of Iggy's SDKs for Python, whose codecs cannot be called directly: clients of a fake server.

For a decode the server replies to PollMessages with the bytes of the case; for an encode the client sends,
and the server keeps the body of SendMessages. JSON goes the same way through the SDK's HTTP client, if there
is one (iggy.md, section 8). Every wait ends at the request's time limit: a client without an answer has
stalled.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final, Literal, TypeVar

from wireproof.adapters.contract import Claim, Request
from wireproof.cases.outcome import Accepted, Outcome, Stalled, Unsupported
from wireproof.wire.json_values import Json
from wireproof_peers.exception_map import Refusals
from wireproof_peers.fake_iggy_http import FakeIggyHttp
from wireproof_peers.fake_iggy_tcp import FakeIggyTcp

T = TypeVar("T")

LOGIN_USER: Final = 38
POLL_MESSAGES: Final = 100
SEND_MESSAGES: Final = 101
"""Command codes: iggy.md §2.1."""

USER_ID: Final = (1).to_bytes(4, "little")
"""The reply to a login."""

CONNECT_SECONDS: Final = 5.0
SHARE: Final = 0.8
"""The part of a request's time limit that a wait may take, so that the answer comes before the limit."""

MANY: Final = 1_000_000

JSON: Final = "iggy.json."
PLACE: Final = {
    "stream": {"kind": "numeric", "value": "01000000"},
    "topic": {"kind": "string", "value": b"sample".hex()},
}
"""Stream and topic of a send over HTTP, where they are in the path and may be any."""

ASKED: Final = (
    "stream",
    "topic",
    "partitioning",
    "messages[].id",
    "messages[].headers",
    "messages[].payload",
)
"""The observed fields of a send; the SDK writes the time of its own clock."""

ASKED_OVER_HTTP: Final = tuple(name for name in ASKED if name not in PLACE)
"""Over HTTP the path of the request names stream and topic, and its body does not."""

REFUSALS: Final = Refusals(documented=(RuntimeError,))
"""They document RuntimeError only; a panic of their Rust code arrives as another exception."""


class SdkClient:
    """One SDK as an adapter of the polls and sends of its version.

    Args:
        sdk: the module of the SDK.
        name: the adapter's name.
        version: the SDK's version.
        revisions: the adapter's claims.
        shown: returns the JSON value of a message of the SDK.
        binary: whether a payload may be any bytes; else it is text.
    """

    documented = REFUSALS.documented
    refusals = REFUSALS
    cost: Literal["fast", "slow"] = "slow"
    """After a refusal another client connects, which takes long in some versions."""

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
        """Keep the arguments; the first request starts server and client."""
        self.name, self.version, self.revisions = name, version, revisions
        self._sdk, self._shown, self._binary = sdk, shown, binary
        self._server: FakeIggyTcp | None = None
        self._runner: asyncio.Runner | None = None
        self._client: Any = None
        self._web: FakeIggyHttp | None = None
        self._over_http: Any = None

    def decode(self, request: Request) -> Outcome:
        """Poll once; the reply is `request.data`."""
        if request.format.startswith(JSON):
            web = self._web_serving(request.data)
            return self._outcome(self._poll(self._connected_over_http(web)), request)
        server = self._serving(POLL_MESSAGES, request.data)
        return self._outcome(self._poll(self._connected(server)), request)

    def encode(self, request: Request) -> Outcome:
        """Send the messages of `request.value`; unsupported if `send_messages` sets no such field."""
        if beyond := self._beyond(request.value):
            return Unsupported(f"send_messages has no say over {beyond}")
        if request.format.startswith(JSON):
            web = self._web_serving(b"")
            work = self._send(self._connected_over_http(web), _placed(request.value), web.sent)
            return self._outcome(work, request)
        server = self._serving(SEND_MESSAGES, b"")
        sent = partial(server.sent, SEND_MESSAGES)
        return self._outcome(self._send(self._connected(server), request.value, sent), request)

    def close(self) -> None:
        if self._web is not None:
            self._web.close()
        if self._server is not None:
            self._server.close()
        if self._runner is not None:
            self._runner.close()
        self._server = self._runner = self._client = self._web = self._over_http = None

    def _serving(self, code: int, body: bytes) -> FakeIggyTcp:
        if self._server is None:
            self._server = self._listening()
        self._server.serve(code, body)
        return self._server

    def _web_serving(self, body: bytes) -> FakeIggyHttp:
        if self._web is None:
            self._web = FakeIggyHttp()
        self._web.serve(body)
        return self._web

    def _outcome(self, work: Awaitable[Outcome], request: Request) -> Outcome:
        """Return the outcome of `work`; after any failure the next request gets a new client."""
        if self._runner is None:
            self._runner = asyncio.Runner()
        seconds = request.limits.ms * SHARE / 1000
        known = self._over_http if request.format.startswith(JSON) else self._client
        try:
            return self._runner.run(_bounded(work, seconds + (CONNECT_SECONDS if known is None else 0)))
        except TimeoutError:
            self._client = self._over_http = None
            return Stalled(f"nothing came in {seconds:g} s")
        except BaseException as error:  # noqa: BLE001 - a panic of its Rust code is no Exception
            self._client = self._over_http = None
            return self.refusals.outcome(error)

    async def _connected(self, server: FakeIggyTcp) -> Any:  # noqa: ANN401 - its methods give untyped awaitables
        if self._client is None:
            client = self._sdk.IggyClient(server.address)
            await client.connect()
            await client.login_user("iggy", "iggy")
            self._client = client
        return self._client

    async def _connected_over_http(self, web: FakeIggyHttp) -> Any:  # noqa: ANN401 - see `_connected`
        if self._over_http is None:
            client = self._sdk.IggyClient.from_connection_string(f"iggy+http://iggy:iggy@{web.address}")
            await client.connect()
            await client.login_user("iggy", "iggy")
            self._over_http = client
        return self._over_http

    async def _poll(self, connected: Awaitable[Any]) -> Outcome:
        messages = await self._polled(await connected)
        return Accepted(value={"messages": [self._shown(message) for message in messages]})

    async def _send(
        self,
        connected: Awaitable[Any],
        value: Any,  # noqa: ANN401 - a JSON value
        sent: Callable[[], list[bytes]],
    ) -> Outcome:
        client = await connected
        partition = int.from_bytes(bytes.fromhex(value["partitioning"]["value"]), "little")
        messages = [self._message(message) for message in value["messages"]]
        await client.send_messages(
            identifier(value["stream"]), identifier(value["topic"]), partition, messages
        )
        bodies = sent()
        return Accepted(data=bodies[0]) if bodies else Stalled("send_messages returned and sent nothing")

    # --- parts that versions of the SDK do differently ---

    def _listening(self) -> FakeIggyTcp:
        return FakeIggyTcp({LOGIN_USER: USER_ID})

    def _polled(self, client: Any) -> Awaitable[list[Any]]:  # noqa: ANN401 - of the library
        first = self._sdk.PollingStrategy.Next()
        polled: Awaitable[list[Any]] = client.poll_messages(1, 1, 1, first, MANY, False)  # noqa: FBT003 - its signature
        return polled

    def _message(self, message: Any) -> Any:  # noqa: ANN401 - a JSON value, and a message of the library
        payload = message["payload"]
        return self._sdk.SendMessage(bytes.fromhex(payload) if self._binary else _text(payload))

    def _beyond(self, value: Any) -> str | None:  # noqa: ANN401 - a JSON value
        return _beyond(value, binary=self._binary)


async def _bounded(work: Awaitable[T], seconds: float) -> T:
    return await asyncio.wait_for(work, seconds)


def identifier(value: Any) -> int | str:  # noqa: ANN401 - a JSON value
    """Return the argument for a stream or topic: a number or a name."""
    data = bytes.fromhex(value["value"])
    return int.from_bytes(data, "little") if value["kind"] == "numeric" else data.decode()


def _placed(value: Any) -> Any:  # noqa: ANN401 - a JSON value
    return {**PLACE, **value}


def _text(payload: str) -> str:
    return bytes.fromhex(payload).decode()


def _beyond(value: Any, *, binary: bool) -> str | None:  # noqa: ANN401 - a JSON value
    """Return the first field that `send_messages` has no argument for."""
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
