"""The frames of a live server by another prefix than Kafka's, that of Iggy: status and length."""

import socket
import time
from struct import Struct

import pytest
from each import each

from wireproof.live.frames import BadFrameError, EndedError, FrameStream

HEAD = Struct("<II")
SECONDS = 0.2
MOST = 100


def taken(data: bytes, *, ends: bool = False) -> tuple[bytes, bytes]:
    near, far = socket.socketpair()
    with near, far:
        far.sendall(data)
        if ends:
            far.shutdown(socket.SHUT_WR)
        frames = FrameStream(near, prefix=HEAD.size, size=lambda head: HEAD.unpack(head)[1], most=MOST)
        return frames.take(time.monotonic() + SECONDS)


def test_a_frame_is_its_prefix_and_its_body() -> None:
    assert taken(HEAD.pack(0, 3) + b"abcrest") == (HEAD.pack(0, 3), b"abc")
    assert taken(HEAD.pack(789, 0)) == (HEAD.pack(789, 0), b"")  # 15 03 00 00: no version of TLS


@each(
    "data, ends, kind, text",
    [
        (b"", False, TimeoutError, "no answer in time"),
        (
            HEAD.pack(0, 3)[:5],
            False,
            TimeoutError,
            "0 of an unknown number of bytes of the answer",
        ),
        (HEAD.pack(0, 3) + b"a", False, TimeoutError, "1 of 3 bytes of the answer came, then nothing"),
        (b"", True, EndedError, "closed without an answer"),
        (HEAD.pack(0, 3) + b"a", True, EndedError, "1 of 3 bytes of the answer came"),
        (HEAD.pack(0, MOST + 1), False, BadFrameError, "an answer of length 101"),
        (b"HTTP/1.1 400 Bad Request", False, BadFrameError, "an answer of HTTP: 48545450"),
        (b"\x15\x03\x03\x00\x02\x02\x28\x00", False, BadFrameError, "an answer of TLS: 15030300"),
    ],
)
def test_what_is_no_whole_frame_is_named(data: bytes, *, ends: bool, kind: type[OSError], text: str) -> None:
    with pytest.raises(kind, match=f"^{text}"):
        taken(data, ends=ends)
