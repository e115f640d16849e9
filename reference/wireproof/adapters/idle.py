"""Adapters that run and are asked nothing, kept for who asks next.

To start a process and import a library takes as long as some hundred answers. One that died, broke the
contract or owes an answer is never kept, nor one that has been asked so much that what it leaks might add up.
"""

from collections import defaultdict
from types import TracebackType
from typing import Final, Self

from wireproof.adapters.controller import Controller

RENEWED: Final = 256 * 1024 * 1024
"""Bytes of questions after which an adapter is started anew."""


class Idle:
    """A context manager: what is still kept at its end is ended."""

    def __init__(self) -> None:
        """Keep nothing yet."""
        self._kept: defaultdict[str, list[Controller]] = defaultdict(list)

    def __enter__(self) -> Self:
        """Nothing is started."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End all of them."""
        for kept in self._kept.values():
            while kept:
                kept.pop().close()

    def take(self, spec: str) -> Controller | None:
        """One that was started for `spec` and is still fit to be asked."""
        kept = self._kept[spec]
        while kept:
            controller = kept.pop()
            if controller.fit():
                return controller
            controller.close()
        return None

    def give(self, spec: str, controller: Controller) -> None:
        """Keep one that owes no answer, or end it."""
        if controller.asked < RENEWED and controller.fit():
            self._kept[spec].append(controller)
        else:
            controller.close()
