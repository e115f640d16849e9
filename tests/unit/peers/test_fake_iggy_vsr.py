"""The fake Iggy server in the framing from 0.11.0 on, on bytes of the format document: iggy.md §2.1, §13."""

import socket

from wireproof_peers.fake_iggy_vsr import FakeIggyVsr

HEADER = 256


def header(size: int, operation: int, code: int, *, command: int = 5) -> bytes:
    """iggy.md §13, W29 and W30: client 1, request 1, session 9."""
    start = bytes(48) + size.to_bytes(4, "little") + bytes(8) + bytes([command]) + bytes(67)
    names = b"\x01" + bytes(39) + b"\x01" + bytes(7) + bytes([operation]) + bytes(7)
    return start + names + b"\x09" + bytes(11) + code.to_bytes(4, "little") + bytes(56)


def test_a_poll_is_answered_with_the_bytes_of_the_case_and_the_reply_names_its_request() -> None:
    with FakeIggyVsr({}) as server:
        server.serve(100, b"case")
        reply = asked(server, header(296, 2, 100) + b"p" * 40)
        assert server.sent(100) == [b"p" * 40]
    assert reply[HEADER:] == b"case"
    assert reply[48:52] == (HEADER + 4).to_bytes(4, "little")
    assert reply[60] == 8
    assert reply[160:176] == (1).to_bytes(16, "little")
    assert reply[200:208] == (1).to_bytes(8, "little")
    assert (reply[208], reply[216:220]) == (2, bytes(4))


def test_a_send_is_kept_by_the_code_of_its_command() -> None:
    with FakeIggyVsr({}) as server:
        assert len(asked(server, header(259, 160, 0) + b"abc")) == HEADER
        assert server.sent(101) == [b"abc"]


def test_the_client_learns_that_its_server_leads_the_cluster() -> None:
    with FakeIggyVsr({}) as server:
        reply = asked(server, header(HEADER, 2, 12))
        port = int(server.address.rpartition(":")[2])
    assert reply[HEADER:].endswith(b"127.0.0.1" + port.to_bytes(2, "little") + bytes(8))


def test_what_is_no_request_or_shorter_than_a_header_ends_the_connection() -> None:
    with FakeIggyVsr({}) as server:
        assert asked(server, header(HEADER, 2, 1, command=8)) == b""
        assert asked(server, header(255, 2, 1)[:255]) == b""


def asked(server: FakeIggyVsr, data: bytes) -> bytes:
    """Return the answer of the server before it closes the connection, or a whole reply."""
    host, port = server.address.split(":")
    with socket.create_connection((host, int(port)), timeout=5) as client:
        client.sendall(data)
        client.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: client.recv(65536), b""))
