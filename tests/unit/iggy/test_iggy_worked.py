"""The worked examples of iggy.md §13: bytes to value to the same bytes."""

import hashlib

from each import each
from iggy_bytes import FRAME, WORKED, decode, encode

from wireproof.wire.json_values import to_json


@each("name", WORKED)
def test_the_bytes_are_those_that_the_rule_book_prints(name: str) -> None:
    _, seal, data = WORKED[name]
    assert hashlib.sha256(data).hexdigest().startswith(seal)


@each("name", WORKED)
def test_a_worked_example_decodes_without_a_remark_and_encodes_to_its_own_bytes(name: str) -> None:
    format_id, _, data = WORKED[name]
    decoded = decode(format_id, data)
    assert decoded.consumed == len(data)
    assert decoded.remarks == ()
    assert encode(format_id, to_json(decoded.value)) == data


def test_the_send_of_w5_decodes_to_the_two_messages_of_its_table() -> None:
    assert hashlib.sha256(FRAME).hexdigest().startswith("a4e6b90fcb30d1ec")
    value = decode("iggy.send/0.0.30", FRAME[8:]).value
    assert value.stream.value == b"\1\0\0\0"
    assert value.topic.value == b"sample"
    assert value.partitioning.kind == "balanced"
    assert [(row.id, row.payload) for row in value.messages] == [(0, b"hello-world"), (2, b"world")]
    assert [(key, held.value) for key, held in value.messages[1].headers] == [(b"key-1", b"Value 1")]
    assert encode("iggy.send/0.0.30", to_json(value)) == FRAME[8:]


def test_the_poll_of_w14_has_its_prefix_and_its_checksums() -> None:
    value = decode(*_worked("W14")).value
    assert (value.partition_id, value.current_offset) == (1, 1)
    assert [row.checksum for row in value.messages] == [0x3610A686, 0x3A771143]
    assert [row.timestamp for row in value.messages] == [1692374400000000, 1692374400000001]
    assert {row.state for row in value.messages} == {"available"}


def test_the_json_poll_holds_the_same_messages_as_the_binary_one() -> None:
    for revision, name in (("0.0.30", "W12"), ("0.0.40", "W13"), ("0.0.60", "W14")):
        value = decode(*_worked(name)).value
        text = encode(f"iggy.json.poll/{revision}", to_json(value))
        assert decode(f"iggy.json.poll/{revision}", text).value == value


def test_a_segment_file_of_0_0_40_is_the_messages_of_its_poll() -> None:
    format_id, data = _worked("W13")
    stored, polled = decode("iggy.log/0.0.40", data[4:]).value, decode(format_id, data).value
    assert to_json(stored) == to_json(polled)


def _worked(name: str) -> tuple[str, bytes]:
    format_id, _, data = WORKED[name]
    return format_id, data
