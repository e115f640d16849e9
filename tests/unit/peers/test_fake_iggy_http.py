"""The fake Iggy server over HTTP: iggy.md, section 8."""

from http.client import HTTPConnection

from wireproof_peers.fake_iggy_http import FakeIggyHttp

MESSAGES = "/streams/1/topics/sample/messages"


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
