"""The revisions from 0.7.0 on: limits, blocks of headers that are no map, frames. iggy.md §5, §9."""

from struct import pack
from typing import Any

import pytest
from each import each
from iggy_bytes import WORKED, decode, encode, refusal, remarks

from wireproof.wire.json_values import from_json, to_json
from wireproof.wire.rejection import Rejected

PLACE = bytes.fromhex("010401000000020673616d706c650100")
"""Stream 1, topic "sample", balanced."""

EDGE_OPERATIONS = {
    *(1, 2, 3, 128, 130, 132, 134, 160, 161, 162),
    *range(64, 69),
    *range(70, 76),
    *range(136, 142),
    *range(143, 151),
    *range(166, 170),
}
"""128 to 150 without the five that are retired."""

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


def test_a_block_that_is_no_map_names_no_headers_as_the_other_answer() -> None:
    format_id, _, data = WORKED["W24"]
    remark, _ = decode(format_id, data[:-22] + b"\0" + data[-21:]).remarks  # the checksum has one, too
    assert (remark.cls, remark.path, remark.rejectable) == (
        "iggy-opaque-headers",
        "messages[1].headers",
        False,
    )
    assert [(other.name, other.path, other.value) for other in remark.others] == [
        ("no-headers", "messages[1].headers", [])
    ]


def test_headers_are_a_list_or_a_text_of_hex_in_json() -> None:
    row = decode(*_worked("W24")).value
    tree: Any = to_json(row)
    tree["messages"][0]["headers"] = "00ff"
    again = from_json(type(row), tree)
    assert again.messages[0].headers == b"\x00\xff"
    assert to_json(again) == tree


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


def test_a_message_of_one_revision_is_never_read_as_another_without_a_remark() -> None:
    """iggy.md §1: 0.7 and 0.8 differ in the checksum alone, 0.9 in the size of the header too."""
    for name in ("W18", "W19", "W24"):
        format_id, _, data = WORKED[name]
        for other in ("0.7", "0.8", "0.9"):
            if format_id != f"iggy.poll/{other}":
                said = refusal(f"iggy.poll/{other}", data)
                assert said is not None or "iggy-message-checksum" in remarks(f"iggy.poll/{other}", data)


def _worked(name: str) -> tuple[str, bytes]:
    format_id, _, data = WORKED[name]
    return format_id, data


@each(
    "revision, command, at, known",
    [
        ("0.11", 5, 176, {1, 2, 3, *range(64, 69), *range(128, 150), 160, 161, 162}),
        ("0.11", 8, 208, {0, 1, 2, 3, *range(64, 69), *range(128, 150), 160, 161, 162}),
        ("0.11", 13, 255, set(range(1, 16))),
        ("0.11.1-edge", 5, 176, EDGE_OPERATIONS),
        ("0.11.1-edge", 8, 208, {0, *EDGE_OPERATIONS}),
        ("0.11.1-edge", 13, 255, set(range(1, 16))),
    ],
)
def test_a_frame_has_a_known_operation_or_reason(
    revision: str, command: int, at: int, known: set[int]
) -> None:
    # The sets are the discriminants of `Operation` and `EvictionReason` in the crate of each revision.
    name, template = f"iggy.frame/{revision}", bytearray(256)
    template[48:52], template[60], template[at] = pack("<I", 256), command, 1
    value: Any = to_json(decode(name, bytes(template)).value)
    field = "reason" if command == 13 else "operation"
    for number in range(256):
        template[at] = number
        rejected = refusal(name, bytes(template))
        assert (rejected is None) == (number in known), number
        assert rejected is None or (rejected.cls, rejected.at) == ("bad-kind", at)
        value["header"][field] = str(number)
        if number in known:
            encode(name, value)
        else:
            with pytest.raises(Rejected, match="invalid-value"):
                encode(name, value)
