"""The fake Iggy server over HTTP: iggy.md, section 8."""

from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Final

import pytest

from wireproof_peers.fake_iggy_http import FakeIggyHttp
from wireproof_peers.loopback_server import MAX_REQUEST

MESSAGES = "/streams/1/topics/sample/messages"

LARGEST_PAYLOAD: Final = 12 * 1024 * 1024
"""Bytes of the payload of `iggy.json.send/0.10/size-encode/payload-12m`."""


def test_a_poll_is_answered_with_the_bytes_of_the_case_and_a_send_is_kept_until_the_next() -> None:
    web = FakeIggyHttp()
    try:
        web.serve(b"\xff[")
        client = HTTPConnection(web.address, timeout=10)
        client.request("GET", f"{MESSAGES}?count=10")
        assert client.getresponse().read() == b"\xff["
        client.request("POST", MESSAGES, body=b'{"messages":[]}')
        assert client.getresponse().read() == b""
        client.request("POST", "/users/login", body=b"{}")
        assert b"access_token" in client.getresponse().read()
        assert web.sent() == [b'{"messages":[]}']
        web.serve(b"")
        assert web.sent() == []
        client.close()
    finally:
        web.close()


@pytest.fixture
def web() -> Iterator[FakeIggyHttp]:
    """A server that is closed at the end."""
    server = FakeIggyHttp()
    yield server
    server.close()


def test_the_body_of_a_send_of_the_largest_payload_is_kept_whole(web: FakeIggyHttp) -> None:
    body = b"\x20" * (4 * LARGEST_PAYLOAD // 3 + 1024)  # in base64, and what stands around it
    client = HTTPConnection(web.address, timeout=30)
    client.request("POST", MESSAGES, body=body)
    assert client.getresponse().status == 200
    assert [len(sent) for sent in web.sent()] == [len(body)]
    client.close()


def test_a_body_over_the_limit_is_refused_and_not_cut(web: FakeIggyHttp) -> None:
    client = HTTPConnection(web.address, timeout=10)
    client.putrequest("POST", MESSAGES)
    client.putheader("Content-Length", str(MAX_REQUEST + 1))
    client.endheaders()
    assert client.getresponse().status == 413
    assert web.sent() == []
    client.close()
