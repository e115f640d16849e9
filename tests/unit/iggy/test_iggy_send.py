"""The limits of a send: iggy.md §3.1 and §9."""

import pytest
from iggy_bytes import PLACE, entry, refusal, remarks, sent

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
    assert rejected is not None
    assert (rejected.cls, rejected.detail) == ("limit-exceeded", "TooBigMessagePayload")


def test_keys_do_not_count_towards_the_limit() -> None:
    keys = b"".join(entry(b"%0255d" % number, 1, b"v") for number in range(500))
    assert remarks(SEND, PLACE + sent(1, b"x", keys)) == []
