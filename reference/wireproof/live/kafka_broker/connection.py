"""One connection to a broker: its frames, each fault of which has a name, and how it begins (TLS, SASL).

The frames are ours, because a fault of a frame is what is judged; the messages in them are kafka-python's,
whose classes are made from Kafka's own definitions. A connection that raised an error is not used again.
"""

import socket
import time
from collections.abc import Mapping, Sequence
from struct import Struct
from typing import Any, Final

from kafka import errors
from kafka.net.sasl import get_sasl_mechanism
from kafka.protocol.api_header import ResponseClassRegistry
from kafka.protocol.api_key import ApiKey
from kafka.protocol.metadata import ApiVersionsRequest
from kafka.protocol.sasl import SaslAuthenticateRequest, SaslHandshakeRequest

from wireproof import __version__
from wireproof.live.frames import BadFrameError, FrameStream
from wireproof.wire.text import one_line

CONNECT_SECONDS: Final = 5.0
LARGEST_ANSWER: Final = 128 * 1024 * 1024
MOST_OF_ERROR: Final = 200

NEXT_SECONDS: Final = 0.2
"""Time in which the right answer comes behind one that nobody asked for, so that both are known apart."""

SIZE: Final = Struct(">i")

ENDED: Final = "ended"
"""What came on a connection that the broker has closed."""

UNSUPPORTED_VERSION: Final = 35
PLAIN_API_VERSIONS: Final = 2
"""The newest ApiVersions without tagged fields. A broker that does not know the version of a request answers
in the form of version 0 (KIP-511), but librdkafka's mock cluster in a form that no version has."""

Versions = Mapping[int, tuple[int, int]]
"""For each key of an API, the least and the newest version that a broker accepts."""


class FrameError(errors.KafkaProtocolError):  # type: ignore[misc] # the library has no types
    """What the broker sent is no answer to the request; the text is one line with request and version."""

    def __str__(self) -> str:
        """Return the text without the name of the class."""
        return " ".join(map(str, self.args))


class Connection:
    """A connection, which begins with its TLS, the versions of the broker, and the login.

    Attributes:
        versions: what the broker accepts.
    """

    def __init__(self, host: str, port: int, settings: Mapping[str, Any], newest: int | None = None) -> None:
        """Connect, with ApiVersions of the version `newest` at most.

        Raises:
            KafkaError: the broker ends the connection, refuses the login, or does not answer as Kafka does.
        """
        self._number = 0
        self._quiet_until = 0.0
        context = settings.get("ssl_context")
        try:
            self._socket = socket.create_connection((host, port), CONNECT_SECONDS)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if context is not None:
                self._socket = context.wrap_socket(self._socket, server_hostname=host)
        except OSError as error:
            raise errors.KafkaConnectionError(f"{host}:{port}: {error}") from None
        self._stream = FrameStream(
            self._socket, prefix=SIZE.size, size=lambda data: SIZE.unpack(data)[0], most=LARGEST_ANSWER
        )
        try:
            self.versions = self._read_versions(newest)
            if "sasl_mechanism" in settings:
                self._log_in(settings)
        except BaseException:
            self._socket.close()
            raise

    # --- the beginning ---

    def _read_versions(self, newest: int | None) -> Versions:
        version: int = ApiVersionsRequest.max_version if newest is None else newest
        while True:
            request = ApiVersionsRequest(
                client_software_name="wireproof", client_software_version=__version__
            )
            (answer,) = self.exchange([(request, version)], 2 * CONNECT_SECONDS)
            found = {one.api_key: (one.min_version, one.max_version) for one in answer.api_keys}
            if answer.error_code != UNSUPPORTED_VERSION or version == 0:
                break
            version = min(version - 1, found.get(request.API_KEY, (0, 0))[1])
        if answer.error_code:
            raise errors.for_code(answer.error_code)("ApiVersions")
        return found

    def _log_in(self, settings: Mapping[str, Any]) -> None:
        name = settings["sasl_mechanism"]
        self._accepted(SaslHandshakeRequest(mechanism=name), 1)
        mechanism = get_sasl_mechanism(name)(**settings)
        _, known = self.versions.get(SaslAuthenticateRequest.API_KEY, (0, 0))
        newest = min(SaslAuthenticateRequest.max_version, known)
        while not mechanism.is_done():
            answer = self._accepted(SaslAuthenticateRequest(auth_bytes=mechanism.auth_bytes()), newest)
            try:
                mechanism.receive(answer.auth_bytes)
            except (ValueError, KeyError) as error:
                raise errors.SaslAuthenticationFailedError(f"{name}: {error}") from None
        if not mechanism.is_authenticated():
            raise errors.SaslAuthenticationFailedError(name)

    def _accepted(self, request: Any, version: int) -> Any:  # noqa: ANN401 - the library has no types
        """Return the answer to a request of a login; raise the error that it has."""
        (answer,) = self.exchange([(request, version)], 2 * CONNECT_SECONDS)
        if answer.error_code:
            raise errors.for_code(answer.error_code)(getattr(answer, "error_message", None) or "")
        return answer

    # --- requests and answers ---

    def exchange(self, rows: Sequence[tuple[Any, int]], seconds: float) -> list[Any]:
        """Send requests in their versions, none of them after an answer; return the answers in order.

        Raises:
            FrameError: what came is no answer to one of them.
            RequestTimedOutError: an answer did not come, or not whole, in so many seconds.
            KafkaConnectionError: the broker ended the connection.
        """
        time.sleep(max(0.0, self._quiet_until - time.monotonic()))
        deadline = time.monotonic() + seconds
        self._socket.settimeout(seconds)
        first = self._number + 1
        try:
            for request, version in rows:
                self._number += 1
                request.API_VERSION = version
                request.with_header(correlation_id=self._number, client_id="wireproof")
                self._socket.sendall(request.encode(header=True, framed=True))
        except TimeoutError:
            raise errors.RequestTimedOutError(f"{named(request)}: not read in {seconds:g} s") from None
        except OSError as error:
            raise errors.KafkaConnectionError(f"{named(request)}: {error}") from None
        answers = [self._answer(request, number, deadline) for number, (request, _) in enumerate(rows, first)]
        if self._stream.arrived() and self._stream.buffer:
            raise FrameError(f"{named(rows[-1][0])}: {self._unasked()} behind the answer")
        return answers

    def _answer(self, request: Any, number: int, deadline: float) -> Any:  # noqa: ANN401 - of the library
        try:
            _, frame = self._stream.take(deadline)
        except BadFrameError as error:
            raise FrameError(f"{named(request)}: {error}") from None
        except TimeoutError as error:
            raise errors.RequestTimedOutError(f"{named(request)}: {error}") from None
        except OSError as error:  # the end, or an alert of TLS, which has its reason
            raise errors.KafkaConnectionError(f"{named(request)}: {error}") from None
        if len(frame) < SIZE.size:
            raise FrameError(f"{named(request)}: an answer of {_count(frame)}, without a correlation id")
        (found,) = SIZE.unpack_from(frame)
        if found != number:
            raise FrameError(f"{named(request)}: {self._other(found, number)}")
        kind = ResponseClassRegistry.get_response_class(request.header)
        answer = read_whole(kind, frame, named(request))
        throttled = getattr(answer, "throttle_time_ms", None) or 0
        self._quiet_until = time.monotonic() + throttled / 1000
        return answer

    def _other(self, found: int, number: int) -> str:
        """Return the name of an answer with another correlation id than that of its request."""
        if 0 < found < number:
            return f"request {found} is answered again (request {number} is open)"
        self._stream.more(time.monotonic() + NEXT_SECONDS, 2 * SIZE.size)
        behind = self._stream.buffer
        if len(behind) >= 2 * SIZE.size and SIZE.unpack_from(behind, SIZE.size)[0] == number:
            return f"an answer without a request, with correlation id {found}, before that to {number}"
        return f"the correlation id of the answer is {found}, not {number}"

    def _unasked(self) -> str:
        """Return what is there that nobody asked for."""
        start = bytes(self._stream.buffer[: 2 * SIZE.size])
        if len(start) == 2 * SIZE.size and (number := SIZE.unpack_from(start, SIZE.size)[0]) > 0:
            again = f"request {number} is answered again" if number <= self._number else ""
            return again or f"an answer without a request, with correlation id {number},"
        return f"bytes that nobody asked for ({start.hex()})"

    def idle_end(self) -> str:
        """Return what came since the last answer; `ENDED` if the broker closed the connection, else empty."""
        if not self._stream.arrived():
            return ""
        return self._unasked() if self._stream.buffer else ENDED

    def close(self) -> str:
        """Close; return what came after the last answer, if anything did."""
        found = self.idle_end()
        self._socket.close()
        return "" if found == ENDED else found


def said_by(error: errors.KafkaError) -> str:
    """Return the text of an error of kafka-python on one line; the name of its class if it has none."""
    return one_line(" ".join(map(str, error.args)) or type(error).__name__, MOST_OF_ERROR)


def named(request: Any) -> str:  # noqa: ANN401 - of the library
    """Return name and version of a request, such as `Fetch 17`."""
    return f"{ApiKey(request.API_KEY).name} {request.API_VERSION}"


def read_whole(kind: Any, frame: bytes, name: str) -> Any:  # noqa: ANN401 - of the library
    """Return the answer in a frame, which has no byte too many and none too few; raise `FrameError`.

    The library's decoder takes a field for shorter that is cut, so one more byte may not change what it
    reads; and it ignores bytes behind an answer, so the frame may not begin with what it writes.
    """
    try:
        answer = kind.decode(frame, header=True)
    except Exception as error:  # noqa: BLE001 - of whatever kind
        reason = one_line(f"{type(error).__name__}: {error}", 120)
        raise FrameError(f"{name}: an answer that cannot be read, of {_count(frame)} ({reason})") from None
    if (longer := _decoded(kind, frame + b"\0")) is not None and longer.to_dict() != answer.to_dict():
        raise FrameError(f"{name}: an answer that is too short, of {_count(frame)}")
    written = _written(answer)
    if written and len(written) < len(frame) and frame.startswith(written):
        more = len(frame) - len(written)
        raise FrameError(f"{name}: {more} bytes behind the answer, of {_count(frame)}")
    return answer


def _decoded(kind: Any, frame: bytes) -> Any:  # noqa: ANN401 - as above
    try:
        return kind.decode(frame, header=True)
    except Exception:  # noqa: BLE001 - a text, which has no sense with another byte
        return None


def _written(answer: Any) -> bytes:  # noqa: ANN401 - as above
    try:
        answer.with_header(correlation_id=answer.header.correlation_id)
        return bytes(answer.encode(header=True))
    except Exception:  # noqa: BLE001 - an answer in the form of another version
        return b""


def _count(frame: bytes) -> str:
    """Return the number of bytes of an answer that cannot be read, and the first of them."""
    return f"{len(frame)} bytes: {frame[:16].hex()}{'…' if len(frame) > 16 else ''}"


def message(kind: Any, version: int | None = None, **fields: Any) -> Any:  # noqa: ANN401 - a class of kafka-python
    """Return a request or a response from plain values: in kafka-python each part has a class of its own.

    A field that is left out has the default of Kafka's message definition; one that the version does not have
    is not sent.

    Args:
        kind: a class of kafka-python, which is generated from Kafka's own message definitions.
        version: of the message; without one it is set when the message is sent.
        fields: by their names; parts are mappings, or lists of mappings.

    Raises:
        KeyError: a field is not one of the message.
    """
    return kind(version=version, **_parts(kind, fields))


def _parts(kind: Any, fields: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ANN401 - as above
    parts = dict(fields)
    for name, value in fields.items():
        field = kind.fields[name]
        if value is not None and field.is_struct_array():
            parts[name] = [field.data_class(**_parts(field.data_class, one)) for one in value]
    return parts
