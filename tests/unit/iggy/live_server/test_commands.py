"""The bodies around a case, against requests and answers that server 0.5.0 takes and gives."""

from wireproof.iggy.family.live_server import requests
from wireproof.iggy.family.live_server.requests import BY_REVISION

NUMBERS = bytes(108)


def text(value: str) -> bytes:
    return len(value).to_bytes(4, "little") + value.encode()


def test_the_version_is_the_fifth_text_of_the_statistics() -> None:
    texts = [text(part) for part in ("host", "Linux", "12", "6.1", "0.5.0")]
    assert requests.version_in(NUMBERS + b"".join(texts) + b"\x88\x13\0\0\0\0\0\0") == "0.5.0"


def test_statistics_that_end_before_the_version_have_none() -> None:
    assert requests.version_in(NUMBERS + text("host")) == ""
    assert requests.version_in(b"") == ""


def test_the_list_of_streams_has_numbers_and_names() -> None:
    facts = bytes(28)
    body = b"\x05\0\0\0" + facts + b"\x06orders" + b"\x07\0\0\0" + facts + b"\x02ab"
    assert list(requests.streams_in(body)) == [(5, "orders"), (7, "ab")]


def test_a_topic_is_created_by_number_and_name() -> None:
    body = requests.create_topic(BY_REVISION["0.7"], 3, 7, b"sample", 2)
    assert body.hex(" ") == (
        "01 04 03 00 00 00 07 00 00 00 02 00 00 00 01 ff ff ff ff ff ff ff ff "
        "00 00 00 00 00 00 00 00 01 06 73 61 6d 70 6c 65"
    )


def test_from_0_6_on_a_creation_has_no_number() -> None:
    protocol = BY_REVISION["0.8"]
    assert requests.create_stream(protocol, "ab") == b"\x02ab"
    assert requests.create_topic(protocol, 3, 7, b"sample", 2).hex(" ") == (
        "01 04 03 00 00 00 02 00 00 00 01 ff ff ff ff ff ff ff ff "
        "00 00 00 00 00 00 00 00 01 06 73 61 6d 70 6c 65"
    )


def test_a_login_names_no_version_and_no_context() -> None:
    assert requests.login("iggy", "pw") == b"\x04iggy\x02pw" + bytes(8)
