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
