"""The limits of the revisions from 0.7.0 on. iggy.md §5, §9."""

from struct import pack
from typing import Any

import pytest
from iggy_bytes import decode, encode, refusal

from wireproof.wire.json_values import to_json

PLACE = bytes.fromhex("010401000000020673616d706c650100")
"""Stream 1, topic "sample", balanced."""


SENDS = [("0.7", 56, 9), ("0.8", 56, 9), ("0.9", 64, 10)]
"""Revision, bytes of a message header, bytes of an entry of headers beside key and value."""


def body(size: int, payload: bytes, headers: bytes) -> bytes:
    """A send of one message: iggy.md §5."""
    message = bytes(48) + pack("<II", len(headers), len(payload)) + bytes(size - 56) + payload + headers
    index = pack("<IIQ", 0, len(message), 0)
    return pack("<I", len(PLACE) + 4) + PLACE + pack("<I", 1) + index + message


@pytest.mark.parametrize(("revision", "size", "_"), SENDS)
def test_a_payload_is_checked_against_the_limit_of_its_revision(revision: str, size: int, _: int) -> None:
    most = 10_000_000 if revision == "0.7" else 64_000_000
    assert refusal(f"iggy.send/{revision}", body(size, bytes(most), b"")) is None
    rejected = refusal(f"iggy.send/{revision}", body(size, bytes(most + 1), b""))
    assert rejected is not None
    assert (rejected.cls, rejected.detail) == ("limit-exceeded", "TooBigMessagePayload")


@pytest.mark.parametrize(("revision", "size", "fixed"), SENDS)
def test_a_message_holds_its_whole_block_of_headers_to_100000_bytes(
    revision: str, size: int, fixed: int
) -> None:
    keyed = fixed == 10

    def entry(number: int, value: int) -> bytes:
        key = b"%03d" % number
        return b"\x02" * keyed + pack("<I", 3) + key + b"\x01" + pack("<I", value) + bytes(value)

    rest = 100_000 - 390 * (fixed + 3 + 240)
    block = b"".join(entry(number, 240) for number in range(390)) + entry(999, 100)
    rest -= fixed + 3 + 100
    while rest > fixed + 3 + 240:
        block += entry(390 + rest % 400, 240)
        rest -= fixed + 3 + 240
    for more, refused in ((rest, False), (rest + 1, True)):
        whole = block + entry(998, more - fixed - 3)
        assert len(whole) == 100_000 + refused
        rejected = refusal(f"iggy.send/{revision}", body(size, b"p", whole))
        assert (rejected is not None and rejected.detail == "TooBigUserHeaders") == refused


def test_the_limits_are_of_each_message_and_not_of_their_sum() -> None:
    one = to_json(decode("iggy.send/0.7", body(56, bytes(6_000_000), b"")).value)
    assert isinstance(one, dict)
    two: Any = {**one, "messages": [*one["messages"], *one["messages"]]}  # type: ignore[misc] # a list
    assert len(encode("iggy.send/0.7", two)) > 12_000_000


def test_a_vsr_frame_has_64_mib_at_most() -> None:
    head = encode("iggy.frame/0.11", _frame(b""))
    most = 64 * 1024**2
    frame = head[:48] + pack("<I", most) + head[52:] + bytes(most - len(head))
    assert refusal("iggy.frame/0.11", frame) is None
    more = frame[:48] + pack("<I", most + 1) + frame[52:] + b"\0"
    rejected = refusal("iggy.frame/0.11", more)
    assert rejected is not None
    assert (rejected.cls, rejected.at) == ("limit-exceeded", 48)


def _frame(data: bytes) -> Any:
    names = ("client", "timestamp", "request", "session", "user_id", "code")
    return {"header": {**dict.fromkeys(names, "1"), "operation": "2"}, "body": data.hex()}
