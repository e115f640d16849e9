"""The Heka reference meets every golden case; damaged, their bytes bring nothing but `Rejected`."""

from functools import cache

import pytest
from each import each
from goldens import load

from wireproof import formats
from wireproof.cases.case import Accept, Case, Chunks, Data, Reject, Value
from wireproof.cases.made_case import made_case
from wireproof.formats import FORMATS, Format
from wireproof.wire.json_values import to_json
from wireproof.wire.options import Options
from wireproof.wire.rejection import Rejected


@cache
def cases() -> dict[str, Case]:
    return {case.id: case for case in load().cases if case.format.startswith("heka.")}


def ids(op: str, kind: type) -> list[str]:
    return [case.id for case in cases().values() if case.op == op and isinstance(case.expect, kind)]


def row_of(case: Case) -> Format:
    return FORMATS[case.format_id]


def test_the_tables_of_the_rule_book_are_there_in_number() -> None:
    assert len(ids("decode", Accept)) >= 90
    assert len(ids("decode", Reject)) >= 80
    assert len(ids("scan", Accept)) >= 60
    assert len(ids("encode", Reject)) >= 3


@each("name", ids("decode", Accept))
def test_an_accepted_message_or_stream_gives_its_value_bytes_and_remarks(name: str) -> None:
    case = made_case(cases()[name])
    assert isinstance(case.input, Data)
    assert isinstance(case.expect, Accept)
    decoded = formats.decode(row_of(case), case.input.data, case.options)
    assert to_json(decoded.value) == case.expect.value
    assert decoded.consumed == case.expect.consumed
    assert {remark.cls for remark in decoded.remarks} == set(case.expect.remarks)


@each("name", ids("decode", Reject))
def test_a_refused_message_or_stream_names_class_position_and_what_came_before(name: str) -> None:
    case = cases()[name]
    assert isinstance(case.input, Data)
    assert isinstance(case.expect, Reject)
    with pytest.raises(Rejected) as caught:
        formats.decode(row_of(case), case.input.data, case.options)
    assert caught.value.cls == case.expect.cls
    assert caught.value.at == case.expect.at
    if case.expect.before is not None:
        assert to_json(caught.value.before) == case.expect.before


@each("name", ids("scan", Accept))
def test_a_scan_gives_its_items_however_the_bytes_are_cut(name: str) -> None:
    case = cases()[name]
    assert isinstance(case.input, Chunks)
    assert isinstance(case.expect, Accept)
    data = b"".join(case.input.chunks)
    for chunks in (case.input.chunks, (data,), tuple(bytes([byte]) for byte in data)):
        items = tuple(formats.scan(row_of(case), chunks, case.options))
        assert formats.items_json(items) == case.expect.value
        assert {remark.cls for item in items for remark in item.remarks} == set(case.expect.remarks)


@each("name", ids("encode", Accept))
def test_an_encoded_value_has_its_bytes_and_decodes_back(name: str) -> None:
    case = made_case(cases()[name])
    assert isinstance(case.input, Value)
    assert isinstance(case.expect, Accept)
    data = formats.encode(row_of(case), case.input.value, case.options)
    assert not case.expect.data or data in case.expect.data
    assert to_json(formats.decode(row_of(case), data, case.options).value) == case.expect.value
    for other in case.expect.data:
        assert to_json(formats.decode(row_of(case), other, case.options).value) == case.expect.value


@each("name", ids("encode", Reject))
def test_a_value_that_cannot_be_written_is_refused(name: str) -> None:
    case = cases()[name]
    assert isinstance(case.input, Value)
    with pytest.raises(Rejected, match="invalid-value"):
        formats.encode(row_of(case), case.input.value, case.options)


def answers(row: Format, data: bytes, options: Options) -> None:
    """Decode and scan; anything but an answer or `Rejected` fails the test by itself."""
    try:
        decoded = formats.decode(row, data, options)
    except Rejected as rejected:
        assert isinstance(rejected.at, str) or 0 <= rejected.at <= len(data)  # noqa: PT017 - the refusal is the answer
    else:
        assert 0 <= decoded.consumed <= len(data)
    if row.scan is not None:
        at = 0
        for item in formats.scan(row, [data], options):
            assert item.at == at
            assert item.length > 0
            at += item.length
        assert at == len(data)


DAMAGED = [
    "heka.message/0.10/message/every-field",
    "heka.message/0.10/message/lua-forms",
    "heka.message/0.10/snappy/literal",
    "heka.stream/0.10/frames/separators-in-payload",
    "heka.stream/0.10/hmac/sha1",
    "heka.stream/0.10/hmac/signed-then-unsigned",
    "heka.stream/0.10/content/cut-in-front-of-frames",
    "heka.stream/0.10/worked/w03-every-type",
]


@each("name", DAMAGED)
def test_every_prefix_and_every_flipped_bit_is_answered(name: str) -> None:
    case = cases()[name]
    assert isinstance(case.input, Data)
    data = case.input.data
    for end in range(len(data)):
        answers(row_of(case), data[:end], case.options)
    for bit in range(8 * len(data)):
        flipped = bytearray(data)
        flipped[bit >> 3] ^= 1 << (bit & 7)
        answers(row_of(case), bytes(flipped), case.options)


@pytest.mark.parametrize("name", ["heka.stream/0.10/hmac/sha1", "heka.stream/0.10/hmac/md5"])
def test_no_flipped_bit_of_a_signed_frame_leaves_its_signer(name: str) -> None:
    case = cases()[name]
    assert isinstance(case.input, Data)
    data = case.input.data
    for bit in range(8 * len(data)):
        flipped = bytearray(data)
        flipped[bit >> 3] ^= 1 << (bit & 7)
        try:
            frames = formats.decode(row_of(case), bytes(flipped), case.options).value.frames
        except Rejected:
            continue
        assert all(frame.signer is None for frame in frames), f"bit {bit}"


def test_a_message_cut_anywhere_is_refused_but_where_a_field_ends() -> None:
    case = cases()["heka.message/0.10/message/every-field"]
    assert isinstance(case.input, Data)
    data, whole = case.input.data, []
    for end in range(len(data)):
        try:
            formats.decode(row_of(case), data[:end])
        except Rejected as rejected:
            assert rejected.cls in ("truncated", "missing-field")  # noqa: PT017 - the refusal is the answer
        else:
            whole.append(end)
    # heka.md §8 W2: behind uuid and timestamp (28), then behind each further field
    assert whole == [28, 36, 44, 46, 50, 53, 56, 60]
