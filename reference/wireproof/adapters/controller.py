"""One running adapter, be it a process or a Python object: the engine sees no difference.

The life of a controller: it is made and has said hello, or its making raised `AdapterStartError`;
`send` and `receive` take turns; `receive` may raise `Broken`, after which only `close` is allowed;
`close` may be called at any time, more than once, and returns within a bounded time.
"""

from collections import deque
from collections.abc import Sequence
from typing import Protocol

from wireproof.adapters.answers import bounded
from wireproof.adapters.contract import Hello, Request
from wireproof.adapters.objects import Caller
from wireproof.cases.outcome import Crashed, Exhausted, Faulty, Outcome

Answer = tuple[str, Outcome]
"""The id of a request, and what came of it."""


class Broken(Exception):  # noqa: N818 - the adapter is broken, not the suite
    """The adapter died or broke the contract; nothing more will come of it.

    Attributes:
        outcome: what the guilty case gets, once it is known.
        how: the same in a few stable words, for signatures.
        stray: the id that an answer bore which nobody waited for; else empty.
    """

    def __init__(self, outcome: Crashed | Faulty | Exhausted, how: str, stray: str = "") -> None:
        """Keep them."""
        super().__init__(outcome.text)
        self.outcome = outcome
        self.how = how
        self.stray = stray


class Controller(Protocol):
    """See the module.

    Attributes:
        hello: who it is and what it claims.
        piped: whether more may come than was asked for, as over a pipe.
    """

    hello: Hello
    piped: bool

    def send(self, requests: Sequence[Request]) -> None:
        """Ask; never waits for the adapter to read.

        Raises `MessageError`, and asks nothing, if a request is over the limit of a message.
        """
        ...

    def receive(self, seconds: float) -> list[Answer]:
        """The answers that are there, waiting at most `seconds` for the first; raises `Broken`."""
        ...

    def progress(self) -> str:
        """How far the reading got of an answer that is not complete, for the text of a timeout."""
        ...

    def mark_memory(self, most: int | None) -> None:
        """Count the memory from here on; an adapter that is seen to grow by over `most` bytes is ended."""
        ...

    def over_memory(self) -> Exhausted | None:
        """What is to be said if the resident peak rose by over what `mark_memory` allows; else None."""
        ...

    def close(self) -> None:
        """End the adapter and everything that it started."""
        ...


class InProcess:
    """A Python object called directly: nothing can be timed out, a death is everybody's."""

    piped = False

    def __init__(self, caller: Caller) -> None:
        """Call through `caller`."""
        self.hello = caller.hello
        self._caller = caller
        self._waiting: deque[Request] = deque()

    def send(self, requests: Sequence[Request]) -> None:
        """Remember the requests; each is answered when its answer is asked for."""
        self._waiting.extend(requests)

    def receive(self, seconds: float) -> list[Answer]:  # noqa: ARG002 - the call takes what it takes
        """One answer, so that its time is its own."""
        if not self._waiting:
            return []
        request = self._waiting.popleft()
        return [(request.id, bounded(self._caller.answer(request)))]

    def progress(self) -> str:
        """Nothing is read."""
        return "called in this process"

    def mark_memory(self, most: int | None) -> None:
        """The memory of this process is not the adapter's alone."""

    def over_memory(self) -> Exhausted | None:
        """Unknown."""
        return None

    def close(self) -> None:
        """Forget what was not asked."""
        self._waiting.clear()
