"""A line of the linter."""

from attrs import frozen


@frozen
class Problem:
    """What is wrong, and where: the id of a case or rule, or a file."""

    where: str
    text: str

    def __str__(self) -> str:
        """`id: what is wrong`."""
        return f"{self.where}: {self.text}"
