"""Rows of a fixed size, made from their bytes when they are asked for: a million of them take no memory."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar, overload

from attrs import frozen

Row = TypeVar("Row")


@frozen(eq=False)
class PackedRows(Sequence[Row], Generic[Row]):
    """A sequence of rows.

    Attributes:
        count: how many there are.
        make: returns a row by its number.
    """

    count: int
    make: Callable[[int], Row]

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.count

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...

    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        """Return a row, or a list of rows; raises `IndexError` as a list does."""
        numbers = range(self.count)[index]
        return self.make(numbers) if isinstance(numbers, int) else [self.make(number) for number in numbers]
