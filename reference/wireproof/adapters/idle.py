"""Adapters that run and are asked nothing, kept for who asks next.

To start a process and import a library takes as long as some hundred answers. One that died, broke the
contract or owes an answer is never kept, nor one that has been asked so much that what it leaks might add up.
"""

import threading
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
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def __enter__(self) -> Self:
        """Nothing is started."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End all of them."""
        self.close()

    def take(self, spec: str) -> Controller | None:
        """One that was started for `spec` and is still fit to be asked."""
        while (controller := self._next(spec)) is not None:
            if controller.fit():
                return controller
            controller.close()
        return None

    def _next(self, spec: str) -> Controller | None:
        with self._lock:
            self._stay()
            kept = self._kept[spec]
            return kept.pop() if kept else None

    def give(self, spec: str, controller: Controller) -> None:
        """Keep one that owes no answer, or end it."""
        if controller.asked < RENEWED and controller.fit():
            with self._lock:
                self._kept[spec].append(controller)
        else:
            controller.close()

    def rest(self, seconds: float) -> None:
        """End what is kept, unless somebody takes of it within `seconds`; does not wait."""
        with self._lock:
            self._stay()
            self._timer = threading.Timer(seconds, self.close)
            self._timer.daemon = True
            self._timer.start()

    def _stay(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None

    def close(self) -> None:
        """End what is kept now; what is given later is kept as before."""
        with self._lock:
            self._stay()
            ended = [one for kept in self._kept.values() for one in kept]
            self._kept.clear()
        for controller in ended:
            controller.close()
