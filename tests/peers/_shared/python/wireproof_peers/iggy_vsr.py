"""The adapter of apache-iggy from 0.9 on (Rust SDK 0.11), whose server speaks VSR.

Its messages have ids and headers. Besides polls and sends it returns the confirmations of a send, and a poll
names consumer, partition and strategy.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final, Literal

from attrs import evolve

from wireproof.adapters.contract import Claim, Request
from wireproof.cases.outcome import Accepted, Outcome, Stalled, Unsupported
from wireproof_peers.exception_map import Refusals
from wireproof_peers.fake_iggy_tcp import FakeIggyTcp
from wireproof_peers.fake_iggy_vsr import REGISTERED, FakeIggyVsr
from wireproof_peers.iggy_sdk import (
    ASKED,
    ASKED_OVER_HTTP,
    LOGIN_USER,
    MANY,
    POLL_MESSAGES,
    SEND_MESSAGES,
    SdkClient,
    identifier,
)
from wireproof_peers.iggy_vsr_values import CAMEL, confirmation_json, header_argument, message_json

MESSAGE: Final = ("offset", "timestamp", "origin_timestamp", "id", "checksum", "headers", "payload")
POLLED: Final = Claim(
    ops=("decode",), profiles=("reader",), observes=tuple(f"messages[].{name}" for name in MESSAGE)
)
SENT: Final = Claim(
    ops=("encode",),
    profiles=("reader",),
    features=("message-id", "headers"),
    observes=ASKED,
)
SENT_OVER_HTTP: Final = evolve(SENT, observes=ASKED_OVER_HTTP)
CLAIMS: Final = {
    "iggy.poll/0.11": POLLED,
    "iggy.send/0.11": SENT,
    "iggy.json.poll/0.10": POLLED,
    "iggy.json.send/0.10": SENT_OVER_HTTP,
    "iggy.reply/0.11": Claim(ops=("decode",), profiles=("reader",)),
    "iggy.poll-request/0.10": Claim(ops=("encode",), profiles=("reader",)),
}

EMPTY_POLL: Final = bytes(16)
"""The reply to a poll of which only the request is tested: iggy.md, section 6."""

WITH_VALUE: Final = ("offset", "timestamp")
"""The strategies whose constructor takes a value; that of the others is always 0."""

ONE_CALL: Final = 1_000_000
"""Microseconds that the times of messages of one call may differ by."""


class VsrClient(SdkClient):
    """One version of apache-iggy from 0.9 on."""

    documented = (RuntimeError, ValueError, OverflowError, TypeError)
    """The exceptions that the SDK documents for send_messages and user_headers."""
    refusals = Refusals(documented=documented)
    cost: Literal["fast", "slow"] = "fast"

    def __init__(self, sdk: Any, name: str, version: str) -> None:  # noqa: ANN401 - a module; see its base
        """Keep the arguments; the first request starts server and client."""
        super().__init__(
            sdk=sdk, name=name, version=version, revisions=CLAIMS, shown=message_json, binary=True
        )

    def decode(self, request: Request) -> Outcome:
        """Decode as `SdkClient` does; a reply of confirmations is the reply to a send."""
        if request.format != "iggy.reply":
            return super().decode(request)
        server = self._serving(SEND_MESSAGES, request.data)
        return self._outcome(self._confirmed(self._connected(server)), request)

    def encode(self, request: Request) -> Outcome:
        """Encode as `SdkClient` does, and requests of polls; unsupported if no argument sets a field."""
        if request.format == "iggy.poll-request":
            return self._asking(request)
        if lacking := _lacking(request.value):
            return Unsupported(f"send_messages has no say over {lacking}")
        return super().encode(request)

    def _listening(self) -> FakeIggyTcp:
        return FakeIggyVsr({LOGIN_USER: REGISTERED})

    def _polled(self, client: Any) -> Awaitable[list[Any]]:  # noqa: ANN401 - of the library
        polled: Awaitable[list[Any]] = client.poll_messages(
            1,
            1,
            consumer=self._sdk.Consumer.Single(1),
            polling_strategy=self._sdk.PollingStrategy.Next(),
            count=MANY,
            auto_commit=False,
            partition_id=1,
        )
        return polled

    def _message(self, message: Any) -> Any:  # noqa: ANN401 - a JSON value, and a message of the library
        headers = {
            self._header("HeaderKey", key): self._header("HeaderValue", value)
            for key, value in message["headers"]
        }
        known = int(message["id"]) or None
        return self._sdk.SendMessage(bytes.fromhex(message["payload"]), headers or None, known)

    def _header(self, of: str, part: Any) -> Any:  # noqa: ANN401 - a JSON value, and a header of the library
        return getattr(getattr(self._sdk, of), CAMEL[part["kind"]])(
            header_argument(part["kind"], part["value"])
        )

    def _beyond(self, value: Any) -> str | None:  # noqa: ANN401 - a JSON value
        return None if value["partitioning"]["kind"] == "partition_id" else "partitioning.kind"

    async def _confirmed(self, connected: Awaitable[Any]) -> Outcome:
        client = await connected
        sent = await client.send_messages(1, 1, 0, [self._sdk.SendMessage(b"x")])
        return Accepted(value={"confirmations": [confirmation_json(one) for one in sent.confirmations]})

    def _asking(self, request: Request) -> Outcome:
        value: Any = request.value
        if value["partition_id"] is None:
            return Unsupported("poll_messages sets partition_id: the first one, or that of the group")
        strategy = value["strategy"]
        if strategy["kind"] not in WITH_VALUE and int(strategy["value"]):
            return Unsupported(f"PollingStrategy.{strategy['kind'].capitalize()} takes no strategy.value")
        server = self._serving(POLL_MESSAGES, EMPTY_POLL)
        sent = partial(server.sent, POLL_MESSAGES)
        return self._outcome(self._ask(self._connected(server), value, sent), request)

    async def _ask(
        self,
        connected: Awaitable[Any],
        value: Any,  # noqa: ANN401 - a JSON value
        sent: Callable[[], list[bytes]],
    ) -> Outcome:
        client, consumer = await connected, value["consumer"]
        kind = {"consumer": "Single", "group": "Group"}[consumer["kind"]]
        await client.poll_messages(
            identifier(value["stream"]),
            identifier(value["topic"]),
            consumer=getattr(self._sdk.Consumer, kind)(identifier(consumer["id"])),
            polling_strategy=self._strategy(value["strategy"]),
            count=int(value["count"]),
            auto_commit=value["auto_commit"],
            partition_id=int(value["partition_id"]),
        )
        bodies = sent()
        return Accepted(data=bodies[0]) if bodies else Stalled("poll_messages returned and sent nothing")

    def _strategy(self, value: Any) -> Any:  # noqa: ANN401 - a JSON value, and one of the library
        kind = getattr(self._sdk.PollingStrategy, value["kind"].capitalize())
        return kind(int(value["value"])) if value["kind"] in WITH_VALUE else kind()


def _lacking(value: Any) -> str | None:  # noqa: ANN401 - a JSON value
    """Return the first field that no argument sets: raw headers, or times that one call would not write."""
    if any(isinstance(message["headers"], str) for message in value["messages"]):
        return "the bytes of headers"
    times = [int(message.get("origin_timestamp", 0)) for message in value["messages"]]
    return "origin_timestamp" if times and max(times) - min(times) > ONE_CALL else None
