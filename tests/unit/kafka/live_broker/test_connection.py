"""A connection to a broker: what comes in place of an answer has a name, and so has what comes behind it."""

import socket
from collections.abc import Callable, Iterator

import pytest
from each import each

pytest.importorskip("kafka", reason="pip install 'wireproof[broker]'")

from kafka import errors
from kafka.protocol.metadata import ApiVersionsRequest, ApiVersionsResponse, MetadataRequest, MetadataResponse

from wireproof.live.frames import FrameStream
from wireproof.live.kafka_broker import connection
from wireproof.live.kafka_broker.cluster import CERTIFICATE_ALERT
from wireproof.live.kafka_broker.connection import SIZE, Connection, FrameError, message

NUMBER = 2
"""The correlation id of the first request after ApiVersions."""

SECONDS = 0.2


def framed(data: bytes) -> bytes:
    return SIZE.pack(len(data)) + data


def metadata(number: int = NUMBER, version: int = 1) -> bytes:
    brokers = [{"node_id": 1, "host": "h", "port": 9092, "rack": None}]
    reply = message(MetadataResponse, version, brokers=brokers, controller_id=1, topics=[])
    reply.with_header(correlation_id=number)
    return bytes(reply.encode(header=True))


def versions(number: int = 1, version: int = ApiVersionsRequest.max_version, **fields: object) -> bytes:
    known = {"api_key": ApiVersionsRequest.API_KEY, "min_version": 0, "max_version": 4}
    reply = message(ApiVersionsResponse, version, **{"api_keys": [known], **fields})
    reply.with_header(correlation_id=number)
    return framed(bytes(reply.encode(header=True)))


Connected = tuple[Connection, socket.socket]


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[bytes], Connected]]:
    ends: list[socket.socket] = []

    def connect(greeting: bytes) -> Connected:
        for one in ends:
            one.close()
        ends[:] = socket.socketpair()
        near, far = ends
        monkeypatch.setattr(connection.socket, "create_connection", lambda *_: Near(near))
        far.sendall(greeting)
        return Connection("h", 1, {}), far

    yield connect
    for one in ends:
        one.close()


class Near:
    """A socket of a pair, which has no option of TCP."""

    def __init__(self, near: socket.socket) -> None:
        self._near = near

    def setsockopt(self, *_: int) -> None:
        pass

    def __getattr__(self, name: str) -> object:
        return getattr(self._near, name)


def asked(one: Connection, version: int = 1) -> object:
    (answer,) = one.exchange([(message(MetadataRequest, topics=[]), version)], SECONDS)
    return answer.brokers[0].port


def test_an_answer_is_read_whole(connected: Callable[[bytes], Connected]) -> None:
    one, far = connected(versions())
    assert one.versions == {ApiVersionsRequest.API_KEY: (0, 4)}
    far.sendall(framed(metadata()))
    assert asked(one) == 9092
    assert (one.idle_end(), one.close()) == ("", "")


OLDER = {"error_code": 35, "api_keys": [{"api_key": 18, "min_version": 0, "max_version": 2}]}


def test_a_broker_without_the_version_is_asked_for_the_newest_that_it_names(
    connected: Callable[[bytes], Connected], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FrameStream, "arrived", lambda _: False)  # both answers are there at once
    one, _ = connected(versions(1, 0, **OLDER) + versions(2, 2))
    assert one.versions == {ApiVersionsRequest.API_KEY: (0, 4)}


@each(
    "data, text",
    [
        (framed(metadata() + bytes(5)), "Metadata 1: 5 bytes behind the answer, of 34 bytes: 00000002"),
        (framed(metadata()[:-6]), "an answer that cannot be read, of 23 bytes"),
        (framed(metadata()[:13]), "an answer that cannot be read, of 13 bytes"),
        (framed(b"\0\0"), "an answer of 2 bytes: 0000, without a correlation id"),
        (SIZE.pack(-1), "an answer of length -1"),
        (SIZE.pack(-(1 << 31)), "an answer of length -2147483648"),
        (SIZE.pack((1 << 31) - 1), "an answer of length 2147483647"),
        (b"HTTP/1.1 400 Bad Request", "an answer of HTTP: 48545450"),
        (b"\x15\x03\x03\0\2\2\x28", "an answer of TLS: 15030300"),
        (framed(metadata(1002)), "the correlation id of the answer is 1002, not 2"),
        (framed(metadata(1)), r"request 1 is answered again \(request 2 is open\)"),
        (
            framed(metadata(77)) + framed(metadata()),
            "an answer without a request, with correlation id 77, before that to 2",
        ),
        (framed(metadata()) * 2, "request 2 is answered again behind the answer"),
        (
            framed(metadata()) + framed(metadata(77)),
            "an answer without a request, with correlation id 77, behind",
        ),
        (framed(metadata()) + b"\xff", r"bytes that nobody asked for \(ff\) behind the answer"),
    ],
)
def test_what_is_no_answer_is_named(connected: Callable[[bytes], Connected], data: bytes, text: str) -> None:
    one, far = connected(versions())
    far.sendall(data)
    with pytest.raises(FrameError, match=f"^Metadata 1: .*{text.removeprefix('Metadata 1: ')}"):
        asked(one)


def test_a_field_that_is_cut_is_too_short(connected: Callable[[bytes], Connected]) -> None:
    """The library takes a text for shorter if the frame ends in it."""
    one, far = connected(versions())
    brokers = [{"node_id": 1, "host": "h", "port": 9092}]
    reply = message(
        MetadataResponse, 2, brokers=brokers, cluster_id="of ten chars", controller_id=1, topics=[]
    )
    reply.with_header(correlation_id=NUMBER)
    whole = bytes(reply.encode(header=True))
    end = whole.index(b"of ten chars") + 5
    far.sendall(framed(whole[:end] + bytes(3)))
    with pytest.raises(FrameError, match=r"an answer that (is too short|cannot be read)"):
        asked(one, 2)


@each(
    "data, text",
    [
        (b"", "Metadata 1: no answer in time"),
        (framed(metadata())[:3], "0 of an unknown number of bytes of the answer came, then nothing"),
        (framed(metadata())[:4], "0 of 29 bytes of the answer came, then nothing"),
        (framed(metadata())[:9], "5 of 29 bytes of the answer came, then nothing"),
    ],
)
def test_a_silence_is_named_with_what_came(
    connected: Callable[[bytes], Connected], data: bytes, text: str
) -> None:
    one, far = connected(versions())
    far.sendall(data)
    with pytest.raises(errors.RequestTimedOutError, match=text):
        asked(one)


@each(
    "data, text",
    [(b"", "closed without an answer"), (framed(metadata())[:9], "5 of 29 bytes of the answer came")],
)
def test_an_end_is_named_with_what_came(
    connected: Callable[[bytes], Connected], data: bytes, text: str
) -> None:
    one, far = connected(versions())
    far.sendall(data)
    far.shutdown(socket.SHUT_WR)
    with pytest.raises(errors.KafkaConnectionError, match=text):
        asked(one)


@each(
    "data, ends, text",
    [(b"", True, "ended"), (framed(metadata(1)), False, "request 1 is answered again"), (b"", False, "")],
)
def test_what_comes_between_two_requests_is_known(
    connected: Callable[[bytes], Connected], data: bytes, *, ends: bool, text: str
) -> None:
    one, far = connected(versions())
    far.sendall(data)
    if ends:
        far.shutdown(socket.SHUT_WR)
    assert one.idle_end() == text
    assert one.close() == ("" if ends else text)


@each(
    "text, found",
    [
        ("[SSL: SSLV3_ALERT_BAD_CERTIFICATE] sslv3 alert bad certificate", True),
        ("[SSL: TLSV13_ALERT_CERTIFICATE_REQUIRED] tlsv13 alert certificate required", True),
        ("[SSL: TLSV1_ALERT_UNKNOWN_CA] tlsv1 alert unknown ca", True),
        ("[SSL: SSLV3_ALERT_HANDSHAKE_FAILURE] sslv3 alert handshake failure", False),
    ],
)
def test_an_alert_about_a_certificate_is_known(text: str, *, found: bool) -> None:
    assert bool(CERTIFICATE_ALERT.search(text)) is found
