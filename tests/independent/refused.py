"""What the independent readers raise for bytes that they refuse."""

from typing import Any


class RefusedError(Exception):
    """Bytes that no value can be read from.

    Attributes:
        cls: the class of the refusal, as in the adapter contract.
        at: the position of the first wrong byte; `61>2` in a region that was decompressed.
        before: the value of what was read before, for formats that deliver it.
    """

    def __init__(self, cls: str, at: int | str, before: Any = None) -> None:
        super().__init__(f"{cls} at {at}")
        self.cls, self.at, self.before = cls, at, before

    def shifted(self, by: int) -> "RefusedError":
        """Return the same refusal in bytes that begin `by` bytes earlier."""
        at = self.at if isinstance(self.at, str) else self.at + by
        return RefusedError(self.cls, at, self.before)
