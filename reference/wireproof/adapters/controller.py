"""Controllers: one running adapter, with the same interface for a process and for a Python object.

The constructor returns after the hello, or raises `AdapterStartError`. Then `send` and `receive` alternate.
`receive` may raise `Broken`; after that only `close` is allowed. `close` may be called at any time and more
than once, and returns within a bounded time.
"""

from collections import deque
from collections.abc import Sequence
from typing import Protocol

from wireproof.adapters.contract import Hello, Request
from wireproof.adapters.contract_json import bounded
from wireproof.adapters.python_object import Caller
from wireproof.cases.outcome import Crashed, Exhausted, Faulty, Outcome

Answer = tuple[str, Outcome]
"""The id of a request, and its outcome."""


class Broken(Exception):  # noqa: N818 - the adapter is broken, not the suite
    """The adapter ended or broke the contract; it will send no more answers.

    Attributes:
        outcome: the outcome of the case that caused this, once that case is known.
        how: the same in a few stable words, for signatures.
        stray: the id of an answer to no open request; else empty.
    """

    def __init__(self, outcome: Crashed | Faulty | Exhausted, how: str, stray: str = "") -> None:
        super().__init__(outcome.text)
        self.outcome = outcome
        self.how = how
        self.stray = stray


class Controller(Protocol):
    """Interface of a running adapter; the module docstring gives the order of calls.

    Attributes:
        hello: identity and claims of the adapter.
        piped: True if answers without a request are possible, as over a pipe.
        late: the id of an answer that came after all requests were answered, once it is closed; else empty.
        note: what the user should know of a live server, once it is closed; else empty.
    """

    hello: Hello
    piped: bool
    late: str
    note: str

    def send(self, requests: Sequence[Request]) -> None:
        """Send requests; never wait for the adapter to read.

        Raises `MessageError`, and sends nothing, if a request is over the limit of a message.
        """
        ...

    def receive(self, seconds: float) -> list[Answer]:
        """Return the available answers; wait at most `seconds` for the first; raise `Broken`."""
        ...

    def progress(self) -> str:
        """Describe how much of an incomplete answer has been read, for the text of a timeout."""
        ...

    def mark_memory(self, most: int | None) -> None:
        """Measure memory from now on; end an adapter that grows by more than `most` bytes."""
        ...

    def over_memory(self) -> Exhausted | None:
        """Return an outcome if the resident peak rose by more than `mark_memory` allows; else None."""
        ...

    def close(self) -> None:
        """End the adapter and every process that it started."""
        ...


class InProcess:
    """A Python object called directly: calls have no time limit, and a crash ends the whole process."""

    piped = False
    late = ""
    note = ""

    def __init__(self, caller: Caller) -> None:
        """Call through `caller`."""
        self.hello = caller.hello
        self._caller = caller
        self._waiting: deque[Request] = deque()

    def send(self, requests: Sequence[Request]) -> None:
        """Store the requests; `receive` answers one at a time."""
        self._waiting.extend(requests)

    def receive(self, seconds: float) -> list[Answer]:  # noqa: ARG002 - the call takes what it takes
        """Return one answer, so that its time is measured alone."""
        if not self._waiting:
            return []
        request = self._waiting.popleft()
        return [(request.id, bounded(self._caller.answer(request)))]

    def progress(self) -> str:
        """Return an empty text: nothing is read."""
        return "called in this process"

    def mark_memory(self, most: int | None) -> None:
        """Do nothing: other code uses the memory of this process too."""

    def over_memory(self) -> Exhausted | None:
        """Return None: the memory of the adapter is unknown."""
        return None

    def close(self) -> None:
        """Discard the requests that were not answered."""
        self._waiting.clear()
