"""The fixture nearest to some bytes, for `explain`."""

import pytest
from each import each
from goldens import load

from wireproof.cases.case import Case, Data, Reject, Value
from wireproof.cases.id_patterns import most_similar, similarity


@each(
    "one, other, share",
    [
        (b"", b"", 1.0),
        (b"abcd", b"abcd", 1.0),
        (b"abcd", b"", 0.0),
        (b"abcd", b"abXd", 0.75),
        (b"abcd", b"abcdef", 4 / 6),
        (b"abcd", b"wxyz", 0.0),
        (b"aaaa", b"aa", 0.5),
        (b"abab", b"abXab", 0.8),
    ],
)
def test_likeness_is_the_share_of_bytes_at_both_ends(one: bytes, other: bytes, share: float) -> None:
    assert similarity(one, other) == pytest.approx(share)
    assert similarity(other, one) == pytest.approx(share)


def test_each_golden_input_is_nearest_to_itself() -> None:
    cases = load().cases
    for name in ("kafka.batch/v2/crc/zero", "kafka.batch/v1/wrapper/gzip"):
        case = load().by_id[name]
        assert isinstance(case.input, Data)
        cls = case.expect.cls if isinstance(case.expect, Reject) else None
        found = most_similar(case.input.data, case.format_id, cls, cases)
        assert found is not None
        assert found.input == case.input


def test_a_case_of_the_same_refusal_is_nearer_than_one_of_like_bytes() -> None:
    def made(name: str, data: bytes, cls: str) -> Case:
        return Case(f"a.b/v/t/{name}", "a.b", "v", Data(data), Reject(cls))  # type: ignore[arg-type]

    cases = [made("like", b"abcd", "truncated"), made("same", b"zzzz", "bad-magic")]
    found = most_similar(b"abcd", "a.b/v", "bad-magic", cases)
    assert found is not None
    assert found.id == "a.b/v/t/same"


def test_a_format_without_bytes_has_no_nearest() -> None:
    encode = Case("a.b/v/t/n", "a.b", "v", Value({}), Reject("invalid-value"), op="encode")
    assert most_similar(b"x", "a.b/v", None, [encode]) is None
