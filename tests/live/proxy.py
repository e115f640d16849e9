"""A proxy before a broker that breaks some of its answers: every one, one in so many, or one alone."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import count
from struct import pack_into
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

from wireproof.kafka.batch import BATCH
from wireproof.kafka.size_and_magic import MAGIC_AT
from wireproof.live.kafka_broker.requests import entries_of
from wireproof.live.loopback_broker.server import HEAD, SIZE, in_thread
from wireproof.wire.checksums import crc32c

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

    @property
    def is_about_records(self) -> bool:
        """Return True for an answer to Produce or to Fetch."""
        return self.api in (ProduceRequest.API_KEY, FetchRequest.API_KEY)


Edit = Callable[[Answer], bytes | None]
"""Returns the broken answer with its size; None for an answer that it cannot break."""


@frozen
class Fault:
    """What a proxy does to the answers that its edit can break.

    Attributes:
        edit: the broken bytes; None for an answer that stays.
        delay: seconds before they are sent.
        closes: whether the connection ends after them.
        sends_again: whether the request is sent to the broker twice.
        requests: after so many the connection ends; 0 for never.
    """

    edit: Edit = lambda _: None
    delay: float = 0
    closes: bool = False
    sends_again: bool = False
    requests: int = 0


def framed(data: bytes) -> bytes:
    return SIZE.pack(len(data)) + data


# --- faults of a frame, whatever is in it ---


def _of_frame(edit: Callable[[bytes], bytes]) -> Edit:
    return lambda answer: edit(answer.data) if answer.is_about_records else None


UNASKED: Final = 777_777_777
"""A correlation id that no request has."""


def _other_number(data: bytes) -> bytes:
    (number,) = SIZE.unpack(data[CORRELATION])
    return framed(SIZE.pack(number + 1000) + data[4:])


FRAMES: Final[Mapping[str, Fault]] = {
    name: Fault(_of_frame(edit))
    for name, edit in {
        "bytes-behind": lambda data: framed(data + bytes(5)),
        "correlation-id": _other_number,
        "cut-frame": lambda data: framed(data[: len(data) // 2]),
        "half-answer": lambda data: framed(data)[: len(data) // 2],
        "http": lambda _: b"HTTP/1.1 400 Bad Request\r\n\r\n",
        "largest-size": lambda data: SIZE.pack((1 << 31) - 1) + data,
        "long-frame": lambda data: SIZE.pack(len(data) + 5) + data,
        "negative-size": lambda data: SIZE.pack(-1) + data,
        "no-correlation-id": lambda _: framed(b"\0\0"),
        "silence": lambda _: b"",
        "tls": lambda _: b"\x15\x03\x03\x00\x02\x02\x28",
        "twice": lambda data: framed(data) * 2,
        "unasked": lambda data: framed(SIZE.pack(UNASKED) + bytes(8)) + framed(data),
    }.items()
}


# --- faults of what an answer says ---


def _of_fetch(edit: Callable[[Any], bool]) -> Edit:
    """Return the edit of the partitions of a Fetch; `edit` returns True if it has changed one."""

    def edited(answer: Answer) -> bytes | None:
        if answer.api != FetchRequest.API_KEY:
            return None
        reply: Any = FetchResponse.decode(answer.data, version=answer.version, header=True)
        changed = [edit(one) for topic in reply.responses for one in topic.partitions]
        return framed(_encoded(reply, answer)) if any(changed) else None

    return edited


def _of_records(edit: Callable[[list[bytes]], bytes], least: int = 1) -> Edit:
    """Return the edit of the entries of a partition that has so many."""

    def edited(one: Any) -> bool:
        entries = [data for _, data in entries_of(bytes(one.records or b""))]
        if len(entries) < least:
            return False
        one.records = edit(entries)
        return True

    return _of_fetch(edited)


def _flipped(entries: list[bytes]) -> bytes:
    """Flip a bit of the last byte of the records, which the checksum covers."""
    data = b"".join(entries)
    return data[:-1] + bytes([data[-1] ^ 1])


def _repaired(entries: list[bytes]) -> bytes:
    """Flip a bit of the last value of a batch, and repair the checksum."""
    data = bytearray(entries[-1])
    data[-2] ^= 1
    if data[MAGIC_AT] == 2:
        pack_into(">I", data, BATCH.offset("crc"), crc32c(bytes(data[BATCH.offset("attributes") :])))
    return b"".join(entries[:-1]) + bytes(data)


def _without_aborted(one: Any) -> bool:
    if not one.aborted_transactions:
        return False
    one.aborted_transactions = []
    return True


def _watermark(one: Any) -> bool:
    one.high_watermark += 1
    return True


def _joined(*places: int) -> Callable[[list[bytes]], bytes]:
    return lambda entries: b"".join(entries[place] for place in places)


CONTENTS: Final[Mapping[str, Fault]] = {
    name: Fault(edit)
    for name, edit in {
        "aborted-emptied": _of_fetch(_without_aborted),
        "batches-exchanged": _of_records(_joined(1, 0), 2),
        "bit-of-fetch": _of_records(_flipped),
        "bit-repaired": _of_records(_repaired),
        "first-batch-lost": _of_records(lambda entries: b"".join(entries[1:]), 2),
        "first-batch-twice": _of_records(lambda entries: b"".join([entries[0], *entries])),
        "last-batch-twice": _of_records(lambda entries: b"".join([*entries, entries[-1]])),
        "records-cut": _of_records(lambda entries: b"".join(entries)[:-5]),
        "watermark": _of_fetch(_watermark),
    }.items()
}


# --- faults of the connection ---


def _of_produce(answer: Answer) -> bytes | None:
    return framed(answer.data) if answer.api == ProduceRequest.API_KEY else None


def _lost(answer: Answer) -> bytes | None:
    return None if _of_produce(answer) is None else b""


CONNECTIONS: Final[Mapping[str, Fault]] = {
    "closed-inside": Fault(_of_frame(lambda data: framed(data)[: len(data) // 2]), closes=True),
    "dropped-after-40": Fault(requests=40),
    "late": Fault(_of_frame(framed), delay=0.2),
    "produce-lost": Fault(_lost, closes=True),
    "produce-twice": Fault(_of_produce, sends_again=True),
}

FAULTS: Final[Mapping[str, Fault]] = {**FRAMES, **CONTENTS, **CONNECTIONS}


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
        most: so many are broken at most; 0 for no limit.
        port: where it listens.
        broken: the number of broken answers.
    """

    broker: tuple[str, int]
    fault: Fault
    every: int
    most: int = 0
    port: int = 0
    broken: int = 0
    _seen: int = 0
    servers: list[asyncio.Server] = field(factory=list)

    async def start(self) -> None:
        """Listen."""
        self.servers.append(await asyncio.start_server(self._serve, "127.0.0.1", 0))
        self.port = self.servers[0].sockets[0].getsockname()[1]

    async def stop(self) -> None:
        for server in self.servers:
            server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            upstream, to_broker = await asyncio.open_connection(*self.broker)
            try:
                for number in count(1):
                    request = await _frame(reader)
                    if self.fault.requests and number > self.fault.requests:
                        self.broken += 1
                        break
                    api, version, _ = HEAD.unpack_from(request)
                    to_broker.write(framed(request))
                    answer = Answer(api, version, await _frame(upstream))
                    broken = self._broken(answer)
                    if broken is not None and self.fault.sends_again:
                        to_broker.write(framed(request))
                        await _frame(upstream)
                    if broken is not None:
                        await asyncio.sleep(self.fault.delay)
                    writer.write(self._passed_on(answer) if broken is None else broken)
                    await writer.drain()
                    if broken is not None and self.fault.closes:
                        break
            finally:
                to_broker.close()
        writer.close()

    def _broken(self, answer: Answer) -> bytes | None:
        """Return what is sent in place of an answer; None for one that stays."""
        found = self.fault.edit(answer)
        if found is None:
            return None
        self._seen += 1
        if self._seen % self.every or (self.most and self.broken >= self.most):
            return None
        self.broken += 1
        return found

    def _passed_on(self, answer: Answer) -> bytes:
        """Return an answer with its size, which names the proxy where it names a broker."""
        if answer.api not in ADDRESSES:
            return framed(answer.data)
        kind, named = ADDRESSES[answer.api]
        reply: Any = kind.decode(answer.data, version=answer.version, header=True)
        for one in named(reply):
            one.port = self.port
        return framed(_encoded(reply, answer))


async def _frame(reader: asyncio.StreamReader) -> bytes:
    (size,) = SIZE.unpack(await reader.readexactly(SIZE.size))
    return await reader.readexactly(size)


@contextmanager
def running(broker: str, fault: str, every: int = 1, most: int = 0) -> Iterator[Proxy]:
    """Run a proxy before a broker in a thread until the block ends."""
    host, _, port = broker.rpartition(":")
    proxy = Proxy((host, int(port)), FAULTS[fault], every, most)
    with in_thread(proxy.start(), proxy.stop):
        yield proxy
