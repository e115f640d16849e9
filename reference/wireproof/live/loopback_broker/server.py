"""The cluster as servers on 127.0.0.1: frames, headers, connections. Nothing that a client sends ends it."""

import asyncio
import sys
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from inspect import isawaitable
from struct import Struct
from typing import Any, Final

from kafka.protocol.api_header import ResponseClassRegistry
from kafka.protocol.metadata import ApiVersionsRequest, ApiVersionsResponse
from kafka.protocol.producer import ProduceRequest

from wireproof.live.kafka_broker.connection import message
from wireproof.live.loopback_broker import replies
from wireproof.live.loopback_broker.append_rules import ErrorCode
from wireproof.live.loopback_broker.cluster import LoopbackCluster

SIZE: Final = Struct(">i")
HEAD: Final = Struct(">hhi")
"""API key, version and correlation id."""

LARGEST: Final = 64 * 1024 * 1024
"""Bytes of a request; a larger one ends its connection."""

MOST_CONNECTIONS: Final = 256
"""Open connections; one more is closed at once."""


class Hang(Exception):  # noqa: N818 - an order to the server
    """The server must not answer any more."""


class Die(Exception):  # noqa: N818 - an order to the server
    """The server must close everything."""


class HangUp(Exception):  # noqa: N818 - an order to the server
    """The server must close this connection without an answer."""


class LoopbackServer:
    """The servers of a cluster, one for each node.

    Attributes:
        cluster: what they serve, as the first node sees it.
    """

    def __init__(self, cluster: LoopbackCluster, nodes: int = 1) -> None:
        self.cluster = cluster
        self._nodes = [cluster, *(cluster.other_node(cluster.node + more) for more in range(1, nodes))]
        self._servers: list[asyncio.Server] = []
        self._connections: set[asyncio.StreamWriter] = set()

    async def start(self, port: int = 0) -> None:
        """Listen, the first node on this port of 127.0.0.1; 0 is any free one."""
        for node in self._nodes:
            server = await asyncio.start_server(partial(self._serve, node), "127.0.0.1", port)
            node.ports[node.node] = server.sockets[0].getsockname()[1]
            self._servers.append(server)
            port = 0

    async def stop(self) -> None:
        for server in self._servers:
            server.close()
        for writer in list(self._connections):
            writer.close()

    async def _serve(
        self, node: LoopbackCluster, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._connections.add(writer)
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while len(self._connections) <= MOST_CONNECTIONS:
                (size,) = SIZE.unpack(await reader.readexactly(SIZE.size))
                if not HEAD.size <= size <= LARGEST:
                    break
                reply = await self._reply(node, await reader.readexactly(size))
                if reply is None:
                    break
                writer.write(reply)
                await writer.drain()
        self._connections.discard(writer)
        writer.close()

    async def _reply(self, node: LoopbackCluster, frame: bytes) -> bytes | None:
        """Return the framed answer, empty for none; None to close the connection."""
        key, version, correlation = HEAD.unpack_from(frame)
        apis = {one.API_KEY: (one, span) for one, span in replies.versions_of(node).items()}
        kind, (least, newest) = apis.get(key, (None, (0, -1)))
        if kind is None or (not least <= version <= newest and kind is not ApiVersionsRequest):
            return None
        try:
            if not least <= version <= newest:  # is answered in the form of version 0: KIP-511
                known = {"api_key": key, "min_version": least, "max_version": newest}
                fields: Any = {"error_code": ErrorCode.UNSUPPORTED_VERSION, "api_keys": [known]}
                return _framed(ApiVersionsResponse, 0, fields, correlation)
            request = kind.decode(frame, version=version, header=True)
            *_, answer = node.apis.get(kind) or replies.APIS[kind]
            fields = answer(node, request)
            fields = await fields if isawaitable(fields) else fields
            reply = _framed(
                ResponseClassRegistry.get_response_class(request.header), version, fields, correlation
            )
        except Hang:
            await asyncio.Event().wait()
        except Die:
            await self.stop()
            return None
        except HangUp:
            return None
        except Exception as error:  # noqa: BLE001 - bytes that are no request, or fields that no client sends
            sys.stderr.write(f"loopback broker: API {key} in version {version}: {error!r}\n")
            return None
        silent = isinstance(request, ProduceRequest) and not request.acks
        return b"" if silent else reply


def _framed(kind: Any, version: int, fields: Mapping[str, Any], correlation: int) -> bytes:  # noqa: ANN401 - a class of kafka-python
    reply = message(kind, version, **fields)
    reply.with_header(correlation_id=correlation)
    return bytes(reply.encode(header=True, framed=True))


@contextmanager
def running(cluster: LoopbackCluster, *, nodes: int = 1, port: int = 0) -> Iterator[str]:
    """Run a cluster in a thread; yield the address of its first node, and stop it at the end."""
    server = LoopbackServer(cluster, nodes)
    with in_thread(server.start(port), server.stop):
        yield f"127.0.0.1:{cluster.port}"


@contextmanager
def in_thread(start: Coroutine[Any, Any, None], stop: Callable[[], Awaitable[None]]) -> Iterator[None]:
    """Start servers, and run them in a thread; at the end stop them, and wait for their connections."""
    loop = asyncio.new_event_loop()
    loop.run_until_complete(start)
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield
    finally:
        asyncio.run_coroutine_threadsafe(_end(stop), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _end(stop: Callable[[], Awaitable[None]]) -> None:
    await stop()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    for _ in range(3):  # a closed transport lets go of its socket in a later turn of the loop
        await asyncio.sleep(0)
