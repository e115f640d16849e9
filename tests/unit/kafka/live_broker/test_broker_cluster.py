"""The connections to a cluster."""

import pytest
from each import each

pytest.importorskip("kafka", reason="pip install 'wireproof[broker]'")

from kafka import errors

from wireproof.kafka.family.live_broker.cluster import CERTIFICATE_ALERT, Received, _data_before_end

END = ConnectionError("socket disconnected")


@pytest.mark.parametrize(
    ("read", "kept"),
    [((b"answer", END), (b"answer", None)), ((b"answer", None), (b"answer", None)), ((b"", END), (b"", END))],
)
def test_an_answer_right_before_the_end_is_not_lost(
    read: tuple[bytes, Exception | None], kept: tuple[bytes, Exception | None]
) -> None:
    assert _data_before_end(lambda: read) == kept


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


FIRST, SECOND = b"\0\0\0\5hello", b"\0\0\0\2hi"


@each(
    "pieces, progress",
    [
        ([], ""),
        ([FIRST + SECOND], ""),
        ([FIRST[:2]], "0 of an unknown number of bytes"),
        ([FIRST[:4]], "0 of 5 bytes"),
        ([FIRST + SECOND[:5]], "1 of 2 bytes"),
        ([FIRST[:6], FIRST[6:]], ""),
        ([FIRST[:2], FIRST[2:7]], "3 of 5 bytes"),
        ([bytes([one]) for one in FIRST + SECOND[:-1]], "1 of 2 bytes"),
    ],
)
def test_the_bytes_of_an_answer_are_counted_and_passed_on(pieces: list[bytes], progress: str) -> None:
    got: list[bytes] = []
    received = Received(got.append)
    for piece in pieces:
        received(piece)
    assert got == pieces
    assert received.progress == (progress and f"{progress} of the answer came, then nothing")


@each("data, name", [(b"HTTP/1.1 400 Bad Request", "HTTP"), (b"\x15\x03\x03\0\2\2\x28", "TLS")])
def test_an_answer_of_another_protocol_is_named(data: bytes, name: str) -> None:
    received = Received(lambda _: None)
    received(FIRST + data[:1])
    with pytest.raises(errors.KafkaProtocolError, match=f"an answer of {name}, not of Kafka"):
        received(data[1:])
