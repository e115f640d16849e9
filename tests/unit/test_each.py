"""`each` of `tests/support`: one test for many rows."""

import pytest
from each import each


def test_every_row_that_fails_is_in_the_report() -> None:
    seen: list[int] = []

    @each("number, square", [(1, 1), (2, 5), (3, 9), (4, 15)], ids=lambda row: f"of {row[0]}")
    def check(number: int, square: int, factor: int) -> None:
        seen.append(number)
        assert factor * number * number == square

    with pytest.raises(AssertionError) as caught:
        check(factor=1)
    lines = str(caught.value).splitlines()
    assert [line.partition(": ")[0] for line in lines] == ["2 of 4:", "of 2", "of 4"]
    assert isinstance(caught.value.__cause__, AssertionError)
    assert seen == [1, 2, 3, 4]


def test_a_row_that_is_left_out_hides_no_other() -> None:
    seen: list[int] = []

    @each("number", [1, 2, 3])
    def check(number: int, wrong: int) -> None:
        if number == 1:
            pytest.skip("no tool for it")  # what is tested here
        seen.append(number)
        assert number != wrong

    with pytest.raises(AssertionError, match="1 of 3:\n3: AssertionError"):
        check(wrong=3)
    with pytest.raises(pytest.skip.Exception, match="1 of 3: 1: no tool for it"):
        check(wrong=0)
    assert seen == [2, 3, 2, 3]


def test_no_rows_are_no_test() -> None:
    @each("name", [])
    def check(name: str) -> None:
        raise ValueError(name)

    with pytest.raises(AssertionError, match="there are no rows"):
        check()
