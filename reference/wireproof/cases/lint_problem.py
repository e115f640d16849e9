"""A problem that the linter reports."""

from attrs import frozen


@frozen
class Problem:
    """A fault, and its place: the id of a case or rule, or a file."""

    where: str
    text: str

    def __str__(self) -> str:
        """Return `id: fault`."""
        return f"{self.where}: {self.text}"
