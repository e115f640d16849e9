"""The mock broker as a server on 127.0.0.1: frames, headers, and connections."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from struct import Struct
from typing import Any, Final

from kafka.protocol.consumer import FetchRequest
from kafka.protocol.metadata import ApiVersionsRequest, ApiVersionsResponse
from kafka.protocol.producer import ProduceRequest

from tests.live.mock_broker import replies, transaction_replies
from tests.live.mock_broker.faults import Die, Hang, partition_class
from tests.live.mock_broker.replies import REQUESTS, VERSIONS, Cluster, has_data

SIZE: Final = Struct(">i")
HEAD: Final = Struct(">hhi")
"""API key, version and correlation id."""

LARGEST: Final = 64 * 1024 * 1024
UNSUPPORTED_VERSION: Final = 35
LOOK_SECONDS: Final = 0.01
ANSWERS: Final = {**replies.ANSWERS, **transaction_replies.ANSWERS}


TURNS_TO_CLOSE: Final = 3
"""Turns of the loop after which every closed connection has ended."""


class Server:
    """The server of a cluster.

    Attributes:
        cluster: what it serves.
    """

    def __init__(self, fault: str | None) -> None:
        """Prepare a cluster with this fault; None for none; raises `KeyError` for an unknown one."""
        self.cluster = Cluster(partition_class(fault))
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.StreamWriter] = set()

    async def start(self, port: int) -> None:
        """Listen on a port of 127.0.0.1, 0 for any free one."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", port)
        self.cluster.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Close the listener and every connection."""
        if self._server is not None:
            self._server.close()
        for writer in list(self._connections):
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections.add(writer)
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                (size,) = SIZE.unpack(await reader.readexactly(SIZE.size))
                if not HEAD.size <= size <= LARGEST:
                    break
                reply = await self._reply(await reader.readexactly(size))
                if reply is None:
                    break
                writer.write(reply)
                await writer.drain()
        self._connections.discard(writer)
        writer.close()

    async def _reply(self, frame: bytes) -> bytes | None:
        """Return the framed answer, empty for none; None to close the connection."""
        key, version, correlation = HEAD.unpack_from(frame)
        request_class = REQUESTS.get(key)
        if request_class is None:
            return None
        least, most = VERSIONS[request_class]
        if not least <= version <= most:
            return _unsupported(correlation) if request_class is ApiVersionsRequest else None
        request = request_class.decode(frame, version=version, header=True)
        try:
            reply = await self._answer(request)
        except Hang:
            await asyncio.Event().wait()
        except Die:
            await self.stop()
            return None
        if isinstance(request, ProduceRequest) and not request.acks:
            return b""
        return _framed(reply, correlation)

    async def _answer(self, request: Any) -> Any:
        answer = ANSWERS[request.API_KEY]
        reply = answer(self.cluster, request)
        if isinstance(request, FetchRequest):
            loop = asyncio.get_running_loop()
            end = loop.time() + request.max_wait_ms / 1000
            while request.min_bytes and not has_data(reply) and loop.time() < end:
                await asyncio.sleep(LOOK_SECONDS)
                reply = answer(self.cluster, request)
        return reply


def _framed(reply: Any, correlation: int) -> bytes:
    reply.with_header(correlation_id=correlation)
    return bytes(reply.encode(header=True, framed=True))


def _unsupported(correlation: int) -> bytes:
    """Return the answer to ApiVersions in an unknown version, in the form of version 0: KIP-511."""
    span = VERSIONS[ApiVersionsRequest]
    known = ApiVersionsResponse.ApiVersion(
        api_key=ApiVersionsRequest.API_KEY, min_version=span[0], max_version=span[1], version=0
    )
    return _framed(ApiVersionsResponse[0](error_code=UNSUPPORTED_VERSION, api_keys=[known]), correlation)


@contextmanager
def running(fault: str | None = None, port: int = 0) -> Iterator[str]:
    """Run a mock broker in a thread; yield its address, and stop it at the end."""
    server, loop = Server(fault), asyncio.new_event_loop()
    loop.run_until_complete(server.start(port))
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.cluster.port}"
    finally:
        asyncio.run_coroutine_threadsafe(_end(server), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _end(server: Server) -> None:
    """Stop the server, and wait until its connections have ended."""
    await server.stop()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    for _ in range(TURNS_TO_CLOSE):  # a closed transport lets go of its socket in a later turn of the loop
        await asyncio.sleep(0)
