"""A proxy before a broker that breaks some of its answers: every one, or one in so many."""

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final

from attrs import define, field, frozen
from kafka.protocol.consumer import FetchRequest, FetchResponse
from kafka.protocol.metadata import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
    MetadataRequest,
    MetadataResponse,
)
from kafka.protocol.producer import ProduceRequest

from wireproof.kafka.family.loopback_broker.server import HEAD, SIZE, TURNS_TO_CLOSE

ADDRESSES: Final = {
    MetadataRequest.API_KEY: (MetadataResponse, lambda reply: reply.brokers),
    FindCoordinatorRequest.API_KEY: (FindCoordinatorResponse, lambda reply: reply.coordinators or [reply]),
}
"""The answers that name brokers, and where: the proxy names itself there."""

CORRELATION: Final = slice(0, 4)


@frozen
class Answer:
    """An answer of the broker, without its size.

    Attributes:
        api, version: of its request.
        data: from the correlation id on.
    """

    api: int
    version: int
    data: bytes


Fault = Callable[[Answer], bytes | None]
"""Returns the broken answer with its size; None for an answer that it cannot break."""


def framed(data: bytes) -> bytes:
    return SIZE.pack(len(data)) + data


def bit_of_fetch(answer: Answer) -> bytes | None:
    """Flip a bit of the last byte of the records, which the checksum covers."""
    if answer.api != FetchRequest.API_KEY:
        return None
    reply: Any = FetchResponse.decode(answer.data, version=answer.version, header=True)
    found = [one for topic in reply.responses for one in topic.partitions if one.records]
    for one in found:
        records = bytes(one.records)
        one.records = records[:-1] + bytes([records[-1] ^ 1])
    return framed(_encoded(reply, answer)) if found else None


def correlation_id(answer: Answer) -> bytes | None:
    """Answer with the correlation id of another request."""
    (number,) = SIZE.unpack(answer.data[CORRELATION])
    return framed(SIZE.pack(number + 1000) + answer.data[4:]) if _is_about_records(answer) else None


def cut_frame(answer: Answer) -> bytes | None:
    """Leave out the end of an answer, with the size of what is left."""
    return framed(answer.data[: len(answer.data) // 2]) if _is_about_records(answer) else None


def negative_size(answer: Answer) -> bytes | None:
    """State a size of -1."""
    return SIZE.pack(-1) + answer.data if _is_about_records(answer) else None


def http(answer: Answer) -> bytes | None:
    """Answer as a web server does."""
    return b"HTTP/1.1 400 Bad Request\r\n\r\n" if _is_about_records(answer) else None


UNASKED: Final = 777_777_777
"""A correlation id that no request has."""


def tls(answer: Answer) -> bytes | None:
    """Answer with the alert of a TLS server."""
    return b"\x15\x03\x03\x00\x02\x02\x28" if _is_about_records(answer) else None


def largest_size(answer: Answer) -> bytes | None:
    """State a size of 2^31-1."""
    return SIZE.pack((1 << 31) - 1) + answer.data if _is_about_records(answer) else None


def twice(answer: Answer) -> bytes | None:
    """Answer twice."""
    return framed(answer.data) * 2 if _is_about_records(answer) else None


def unasked(answer: Answer) -> bytes | None:
    """Answer a request that was never sent, before the right answer."""
    return framed(SIZE.pack(UNASKED) + bytes(8)) + framed(answer.data) if _is_about_records(answer) else None


def long_frame(answer: Answer) -> bytes | None:
    """State five bytes more than the answer has, and be silent."""
    return SIZE.pack(len(answer.data) + 5) + answer.data if _is_about_records(answer) else None


def half_answer(answer: Answer) -> bytes | None:
    """Be silent after half an answer."""
    return framed(answer.data)[: len(answer.data) // 2] if _is_about_records(answer) else None


FRAMES: Final = (
    *(correlation_id, cut_frame, negative_size, http, tls, largest_size, twice, unasked),
    *(long_frame, half_answer),
)
"""The faults of a frame, whatever is in it."""

FAULTS: Final[Mapping[str, Fault]] = {
    fault.__name__.replace("_", "-"): fault for fault in (bit_of_fetch, *FRAMES)
}


def _is_about_records(answer: Answer) -> bool:
    return answer.api in (ProduceRequest.API_KEY, FetchRequest.API_KEY)


def _encoded(reply: Any, answer: Answer) -> bytes:
    (number,) = SIZE.unpack(answer.data[CORRELATION])
    reply.with_header(correlation_id=number)
    return bytes(reply.encode(header=True, framed=False))


@define
class Proxy:
    """Passes on requests and answers.

    Attributes:
        broker: host and port.
        fault: what is done to an answer.
        every: one answer in so many that the fault can break is broken.
        port: where it listens.
        broken: the number of broken answers.
    """

    broker: tuple[str, int]
    fault: Fault
    every: int
    port: int = 0
    broken: int = 0
    _seen: int = 0
    servers: list[asyncio.Server] = field(factory=list)

    async def start(self) -> None:
        """Listen."""
        self.servers.append(await asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.port = self.servers[0].sockets[0].getsockname()[1]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            upstream, to_broker = await asyncio.open_connection(*self.broker)
            try:
                while True:
                    request = await _frame(reader)
                    api, version, _ = HEAD.unpack_from(request)
                    to_broker.write(framed(request))
                    answer = Answer(api, version, await _frame(upstream))
                    writer.write(self._passed_on(answer))
                    await writer.drain()
            finally:
                to_broker.close()
        writer.close()

    def _passed_on(self, answer: Answer) -> bytes:
        if answer.api in ADDRESSES:
            kind, named = ADDRESSES[answer.api]
            reply: Any = kind.decode(answer.data, version=answer.version, header=True)
            for one in named(reply):
                one.port = self.port
            return framed(_encoded(reply, answer))
        broken = self.fault(answer)
        if broken is None:
            return framed(answer.data)
        self._seen += 1
        if self._seen % self.every:
            return framed(answer.data)
        self.broken += 1
        return broken


async def _frame(reader: asyncio.StreamReader) -> bytes:
    (size,) = SIZE.unpack(await reader.readexactly(SIZE.size))
    return await reader.readexactly(size)


@contextmanager
def running(broker: str, fault: str, every: int = 1) -> Iterator[Proxy]:
    """Run a proxy before a broker in a thread until the block ends."""
    host, _, port = broker.rpartition(":")
    proxy, loop = Proxy((host, int(port)), FAULTS[fault], every), asyncio.new_event_loop()
    loop.run_until_complete(proxy.start())
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        asyncio.run_coroutine_threadsafe(_end(proxy), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _end(proxy: Proxy) -> None:
    for server in proxy.servers:
        server.close()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    for _ in range(TURNS_TO_CLOSE):
        await asyncio.sleep(0)
