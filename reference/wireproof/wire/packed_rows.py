"""Sequences of many small rows in little memory: a row becomes an object when it is asked for."""

from array import array
from collections.abc import Callable, Iterable, Sequence
from typing import Generic, TypeVar, overload

from attrs import frozen

Row = TypeVar("Row")


@frozen(eq=False)
class PackedRows(Sequence[Row], Generic[Row]):
    """Rows that are made of bytes, or of anything else, by their number.

    Attributes:
        size: how many there are.
        make: returns a row by its number.
    """

    size: int
    make: Callable[[int], Row]

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.size

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...

    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        """Return a row, or a list of rows; raises `IndexError` as a list does."""
        numbers = range(self.size)[index]
        return self.make(numbers) if isinstance(numbers, int) else [self.make(number) for number in numbers]


class NumberRows(Sequence[Row], Generic[Row]):
    """Rows of integers of 64 bits, in 8 bytes each."""

    def __init__(self, names: Sequence[str], make: Callable[..., Row], *, signed: bool = True) -> None:
        """Begin with no row. `make` returns one from its integers, in the order of `names`."""
        self._names, self._make = tuple(names), make
        self._numbers = array("q" if signed else "Q")
        self._columns: dict[str, array[int]] = {}

    def add(self, numbers: Iterable[int]) -> None:
        """Add a row."""
        self._columns.clear()
        self._numbers.extend(numbers)

    def column(self, name: str) -> "array[int]":
        """Return one integer of every row."""
        if name not in self._columns:
            self._columns[name] = self._numbers[self._names.index(name) :: len(self._names)]
        return self._columns[name]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._numbers) // len(self._names)

    def __eq__(self, other: object) -> bool:
        """Return whether another sequence has the same rows."""
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment] # rows may be added

    @overload
    def __getitem__(self, index: int) -> Row: ...

    @overload
    def __getitem__(self, index: slice) -> list[Row]: ...

    def __getitem__(self, index: int | slice) -> Row | list[Row]:
        """Return a row, or a list of rows; raises `IndexError` as a list does."""
        numbers, width = range(len(self))[index], len(self._names)
        if isinstance(numbers, int):
            return self._make(*self._numbers[numbers * width : (numbers + 1) * width])
        return [self[number] for number in numbers]
