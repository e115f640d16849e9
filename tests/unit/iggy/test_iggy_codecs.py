"""Iggy's codecs: limits of sends and of later revisions, remarks, hostile bytes. iggy.md §3, §5, §9, §10."""

from collections.abc import Iterator
from re._constants import MAX_REPEAT, MIN_REPEAT
from re._parser import SubPattern
from re._parser import parse as parsed
from struct import pack
from typing import Any

import pytest
from goldens import load
from iggy_bytes import PLACE, WORKED, decode, encode, entry, refusal, remarks, sent

from wireproof.adapters.contract import Claim, Hello
from wireproof.cases.outcome import Accepted
from wireproof.iggy.http import json_body
from wireproof.judge.judge import judge
from wireproof.wire.json_values import to_json

MIB10 = 10 * 1024 * 1024
SEND = "iggy.send/0.0.30"


@pytest.mark.parametrize(
    ("size", "seen"),
    [(10_000_000, []), (10_000_001, ["iggy-lowered-limit"]), (MIB10, ["iggy-lowered-limit"])],
)
def test_payloads_up_to_ten_mebibytes_are_taken_and_over_ten_million_remarked(
    size: int, seen: list[str]
) -> None:
    half = size // 2
    assert remarks(SEND, PLACE + sent(1, b"x" * half) + sent(2, b"x" * (size - half))) == seen


def test_payloads_over_ten_mebibytes_in_all_are_refused() -> None:
    rejected = refusal(SEND, PLACE + sent(1, b"x" * MIB10) + sent(2, b"x"))
    assert (rejected.cls, rejected.detail) == ("limit-exceeded", "TooBigMessagePayload")


def test_keys_do_not_count_towards_the_limit() -> None:
    keys = b"".join(entry(b"%0255d" % number, 1, b"v") for number in range(500))
    assert remarks(SEND, PLACE + sent(1, b"x", keys)) == []


# --- the revisions from 0.7.0 on ---


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
    assert (rejected.cls, rejected.at) == ("limit-exceeded", 48)


def _frame(data: bytes) -> Any:
    names = ("client", "timestamp", "request", "session", "user_id", "code")
    return {"header": {**dict.fromkeys(names, "1"), "operation": "2"}, "body": data.hex()}


# --- remarks ---


TWICE = entry(b"k", 2, b"a") + entry(b"k", 2, b"b")


def test_a_duplicate_key_names_the_first_and_the_last_as_other_answers() -> None:
    (remark,) = decode("iggy.headers/0.0.30", entry(b"z", 2, b"z") + TWICE).remarks
    assert remark.rejectable
    first, last = (
        [
            [key, {"kind": "string", "value": value, "typed": None}]
            for key, value in (("6b", one), ("7a", "7a"))
        ]
        for one in ("61", "62")
    )
    assert {other.name: other.value for other in remark.others} == {"first-wins": first, "last-wins": last}
    assert {other.path for other in remark.others} == {"headers"}
    assert remark.at == 0


def test_messages_out_of_order_may_be_returned_sorted_but_not_refused() -> None:
    data = WORKED["W12"][2]
    second = data[49:]
    swapped = data[:4] + second + data[4:49]
    (remark,) = decode("iggy.poll/0.0.30", swapped).remarks
    assert not remark.rejectable
    (other,) = remark.others
    assert [row["offset"] for row in other.value] == ["0", "1"]
    assert other.path == "messages"


def test_an_adapter_that_shows_no_headers_may_return_messages_sorted() -> None:
    case = load().by_id["iggy.poll/0.0.60/messages/unordered"]
    hello = Hello("x", "1", {"iggy.poll/0.0.60": Claim(observes=("messages[].offset", "messages[].payload"))})
    rows = [{"offset": "0", "payload": b"hello".hex()}, {"offset": "1", "payload": b"world".hex()}]
    assert judge(case, Accepted({"messages": rows}), hello=hello).label == "info:iggy-message-order"
    swapped = [{**rows[0], "payload": rows[1]["payload"]}, {**rows[1], "payload": rows[0]["payload"]}]
    assert judge(case, Accepted({"messages": swapped}), hello=hello).label == "fail:wrong-value"


# --- hostile bytes ---


@pytest.mark.parametrize(
    "text", ['{"id"}', '{"id":}', '{"id":1,}', '{"id":1]', "{,}", "[}", "[1,]", "[,]", "[1 2]"]
)
def test_a_text_that_is_no_json_is_refused_as_such(text: str) -> None:
    assert refusal("iggy.json.error/0.0.30", text.encode()).cls == "bad-json"


def test_no_token_of_json_is_matched_a_second_time() -> None:
    """A repetition that gives bytes back may try them again in as many ways as there are; one byte may."""
    assert not list(_given_back(parsed(json_body._TOKEN.pattern, json_body._TOKEN.flags)))
    assert list(_given_back(parsed(b"(?:a|b)*c")))


def _given_back(tree: Any) -> Iterator[object]:
    """The repetitions in the tree of a regular expression that are not possessive and may repeat."""
    if isinstance(tree, tuple) and tree and tree[0] in (MAX_REPEAT, MIN_REPEAT) and tree[1][1] > 1:
        yield tree
    for part in tree if isinstance(tree, tuple | list | SubPattern) else ():
        yield from _given_back(part)
