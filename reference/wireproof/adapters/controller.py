"""Controllers: one running adapter, with the same interface for a process and for a Python object.

The constructor returns after the hello, or raises `AdapterStartError`. Then `send` and `receive` alternate.
`receive` may raise `Broken`; after that only `close` is allowed. `close` may be called at any time and more
than once, and returns within a bounded time.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence

from wireproof.adapters.contract import Hello, Request
from wireproof.adapters.contract_json import bounded
from wireproof.adapters.python_object import Caller
from wireproof.cases.outcome import Crashed, Exhausted, Faulty, Outcome

Answer = tuple[str, Outcome]
"""The id of a request, and its outcome."""


class Broken(Exception):  # noqa: N818 - the adapter is broken, not the suite
    """The adapter ended or broke the contract; it will send no more answers.

    `outcome` is that of the case that caused this, once it is known; `how` is the same in a few stable words;
    `stray` is the id of an answer to no open request.
    """

    def __init__(self, outcome: Crashed | Faulty | Exhausted, how: str, stray: str = "") -> None:
        super().__init__(outcome.text)
        self.outcome = outcome
        self.how = how
        self.stray = stray


class Controller(ABC):
    """A running adapter; the module docstring gives the order of calls.

    It is `piped` if answers without a request are possible. Once it is closed, `late` is the id of an answer
    that came after all requests were answered, and `note` what the user should know of a live server.
    """

    hello: Hello
    piped = False
    late = ""
    note = ""

    @abstractmethod
    def send(self, requests: Sequence[Request]) -> None:
        """Send requests; never wait for the adapter to read.

        Raises `MessageError`, and sends nothing, if a request is over the limit of a message.
        """

    @abstractmethod
    def receive(self, seconds: float) -> list[Answer]:
        """Return the available answers; wait at most `seconds` for the first; raise `Broken`."""

    @abstractmethod
    def close(self) -> None:
        """End the adapter and every process that it started."""

    def progress(self) -> str:
        """Describe how much of an incomplete answer has been read, for the text of a timeout."""
        return "called in this process"

    def mark_memory(self, most: int | None) -> None:
        """Measure memory from now on; end an adapter that grows by more than `most` bytes."""
        del most  # other code uses the memory of this process too

    def over_memory(self) -> Exhausted | None:
        """Return an outcome if the resident peak rose by more than `mark_memory` allows; else None."""
        return None


class InProcess(Controller):
    """A Python object called directly: calls have no time limit, and a crash ends the whole process."""

    def __init__(self, caller: Caller) -> None:
        self.hello = caller.hello
        self._caller = caller
        self._waiting: deque[Request] = deque()

    def send(self, requests: Sequence[Request]) -> None:
        self._waiting.extend(requests)

    def receive(self, seconds: float) -> list[Answer]:
        """Return one answer, so that its time is measured alone."""
        del seconds  # the call takes what it takes
        if not self._waiting:
            return []
        request = self._waiting.popleft()
        return [(request.id, bounded(self._caller.answer(request)))]

    def close(self) -> None:
        self._waiting.clear()
