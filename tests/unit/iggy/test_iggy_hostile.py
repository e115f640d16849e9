"""Hostile bytes: nothing but `Rejected` leaves a codec, and no byte costs more than its share."""

from collections.abc import Callable, Iterator
from re._constants import MAX_REPEAT, MIN_REPEAT
from re._parser import SubPattern
from re._parser import parse as parsed
from typing import Any

import pytest
from each import each
from iggy_bytes import FRAME, WORKED, decode, refusal, u32
from one_of_a_kind import each_format
from work_counter import growth

from wireproof import formats
from wireproof.cases.mutate.encodings import sample
from wireproof.formats import FORMATS
from wireproof.iggy import json_parser
from wireproof.wire.rejection import Rejected

IGGY = [name for name in FORMATS if name.startswith("iggy.")]
SEEDS: dict[str, list[bytes]] = {name: [] for name in IGGY}
for _joined, _, _data in WORKED.values():
    SEEDS[_joined].append(_data)
SEEDS["iggy.send/0.0.30"].append(FRAME[8:])
SEEDS["iggy.frame/0.0.30"].append(FRAME)
SEEDS["iggy.frame/0.11"].append(bytes(48) + u32(258) + bytes(8) + b"\x05" + bytes(195) + b"hi")
SEEDS["iggy.reply/0.0.30"].append(u32(0) + u32(2) + b"ok")
SEEDS["iggy.log/0.7"].append(WORKED["W18"][2][16:])
SEEDS["iggy.log/0.8"].append(WORKED["W19"][2][16:])
SEEDS["iggy.log/0.9"].append(WORKED["W24"][2][16:])
SEEDS["iggy.log/0.11"].append(WORKED["W26"][2][16:])
SEEDS["iggy.headers/0.9"].append(WORKED["W21"][2])
SEEDS["iggy.headers/0.10"].append(WORKED["W22"][2])
SEEDS["iggy.send/0.8"].append(WORKED["W17"][2])
SEEDS["iggy.identifier/0.8"].append(b"\x01\x04\0\0\0\0")
SEEDS["iggy.partitioning/0.9"].append(b"\x02\x04\0\0\0\0")
SEEDS["iggy.identifier/0.0.30"].append(b"\x02\x06sample")
SEEDS["iggy.log/0.0.40"].append(WORKED["W13"][2][4:])
SEEDS["iggy.json.send/0.0.30"].append(
    b'{"partitioning":{"kind":"balanced","value":""},"messages":[{"id":1,"payload":"aGVsbG8=",'
    b'"headers":{"k\\u00e9":{"kind":"uint8","value":"/w=="}}}]}'
)
for _revision, _name in (("0.0.30", "W12"), ("0.0.40", "W13"), ("0.0.60", "W14")):
    _value = formats.to_json(decode(f"iggy.poll/{_revision}", WORKED[_name][2]).value)
    SEEDS[f"iggy.json.poll/{_revision}"].append(
        formats.encode(formats.get("iggy.json.poll", _revision), _value)
    )
for _name in IGGY:
    SEEDS[_name] = SEEDS[_name] or [sample(FORMATS[_name])]


def test_every_format_has_a_seed() -> None:
    assert all(SEEDS.values())


def _only_rejected(format_id: str, data: bytes) -> None:
    """A decode answers or refuses, with a trace as without one."""
    row = FORMATS[format_id]
    layout = formats.decode_with_trace(row, data)
    if layout.rejected is None:
        assert formats.decode(row, data) == layout.decoded
        return
    with pytest.raises(Rejected) as caught:
        formats.decode(row, data)
    assert str(caught.value) == str(layout.rejected)


BITS = (0, 3, 7)


def flipped(seed: bytes, at: int, bit: int) -> bytes:
    return seed[:at] + bytes((seed[at] ^ 1 << bit,)) + seed[at + 1 :]


@pytest.mark.parametrize("format_id", each_format(IGGY))
def test_every_truncation_and_every_bit_flip_is_answered_or_refused(format_id: str) -> None:
    for seed in SEEDS[format_id]:
        for at in range(len(seed)):
            _only_rejected(format_id, seed[:at])
            _only_rejected(format_id, flipped(seed, at, BITS[at % len(BITS)]))


@pytest.mark.parametrize("format_id", each_format(name for name in IGGY if not name.startswith("iggy.json")))
def test_bytes_that_are_all_alike_are_answered_or_refused(format_id: str) -> None:
    for byte in (0, 1, 2, 3, 4, 127, 128, 255):
        for size in (1, 4, 12, 40, 45, 90, 500):
            _only_rejected(format_id, bytes([byte]) * size)


TEXTS: dict[str, Callable[[int], bytes]] = {
    "brackets": lambda n: b"[" * n,
    "braces": lambda n: b'{"a":' * n,
    "digits": lambda n: b"1" * n,
    "digits in an id": lambda n: b'{"messages":[{"id":' + b"9" * n + b"}]}",
    "an exponent": lambda n: b'{"messages":[{"id":1e' + b"9" * n + b"}]}",
    "quotes, escaped, without an end": lambda n: b'"' + b'\\"' * n,
    "backslashes": lambda n: b'"' + b"\\" * n,
    "blanks": lambda n: b" " * n,
    "blanks between": lambda n: b"[" + b" ," * n,
    "commas": lambda n: b"[" + b"0," * n,
    "names": lambda n: b"{" + b'"a":0,' * n + b'"b":0}',
    "zeros of a fraction": lambda n: b"0." + b"0" * n + b"x",
    "surrogates": lambda n: b'"' + b"\\ud83d" * n + b'"',
}
"""By name: a hostile text of any length."""


@each("name", TEXTS)
def test_the_work_for_hostile_json_grows_with_its_length_and_no_faster(name: str) -> None:
    def refusing(size: int) -> Callable[[], object]:
        data = TEXTS[name](size)
        return lambda: refusal("iggy.json.send/0.0.30", data)

    assert refusal("iggy.json.send/0.0.30", TEXTS[name](1000)) is not None
    assert growth(refusing, 1000) < 1.1


def test_no_token_of_json_is_matched_a_second_time() -> None:
    """A repetition that gives bytes back may try them again in as many ways as there are; one byte may."""
    assert not list(_given_back(parsed(json_parser._TOKEN.pattern, json_parser._TOKEN.flags)))
    assert list(_given_back(parsed(b"(?:a|b)*c")))


def _given_back(tree: Any) -> Iterator[object]:
    """The repetitions in the tree of a regular expression that are not possessive and may repeat."""
    if isinstance(tree, tuple) and tree and tree[0] in (MAX_REPEAT, MIN_REPEAT) and tree[1][1] > 1:
        yield tree
    for part in tree if isinstance(tree, tuple | list | SubPattern) else ():
        yield from _given_back(part)


def test_the_work_for_a_header_block_of_one_key_grows_with_its_entries_and_no_faster() -> None:
    def reading(count: int) -> Callable[[], object]:
        block = (u32(1) + b"k" + b"\x01" + u32(1) + b"v") * count
        return lambda: decode("iggy.headers/0.0.30", block)

    found: Any = reading(500)()
    assert [remark.cls for remark in found.remarks] == ["iggy-duplicate-header"]
    assert growth(reading, 500) < 1.1


def test_a_huge_count_costs_nothing() -> None:
    rejected = refusal("iggy.poll/0.0.30", u32(0xFFFFFFFF))
    assert rejected is not None
    assert rejected.cls == "count-mismatch"
