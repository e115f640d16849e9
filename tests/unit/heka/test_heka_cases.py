"""Golden cases of Heka, damaged: no signer where a bit was flipped, no message but where a field ends."""

from functools import cache

import pytest
from goldens import load

from wireproof import formats
from wireproof.cases.case import Case, Data
from wireproof.formats import FORMATS, Format
from wireproof.wire.rejection import Rejected


@cache
def cases() -> dict[str, Case]:
    return {case.id: case for case in load().cases if case.format.startswith("heka.")}


def row_of(case: Case) -> Format:
    return FORMATS[case.format_id]


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
