"""A part of a run: every N-th case of the plan, for machines that share the work: `event_files.joined`."""

import re
from collections.abc import Sequence
from typing import Final, Self, TypeVar

from attrs import frozen

T = TypeVar("T")

MAX_COUNT: Final = 1000
_FORM: Final = re.compile(r"([0-9]{1,4})/([0-9]{1,4})")


@frozen
class Shard:
    """The shard `number` of `count`, from 1 on."""

    number: int
    count: int

    @classmethod
    def of(cls, text: str) -> Self:
        """Return the shard of a text such as `2/5`; raises `ValueError`."""
        found = _FORM.fullmatch(text)
        number, count = map(int, found.groups()) if found else (0, 0)
        if not 1 <= number <= count <= MAX_COUNT:
            raise ValueError(f"{text!r} is no shard: write 2/5 for the second of five")
        return cls(number, count)

    def __str__(self) -> str:
        """Return `2/5`."""
        return f"{self.number}/{self.count}"

    def part(self, plan: Sequence[T]) -> Sequence[T]:
        return plan[self.number - 1 :: self.count]

    def place(self, seq: int) -> int:
        """Return the place in the whole plan of item `seq` of `part`.

        Items after the plan, such as the cases derived from it, get places that no other shard has.
        """
        return seq * self.count + self.number - 1
