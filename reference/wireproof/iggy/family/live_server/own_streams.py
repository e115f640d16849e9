"""The streams of our own on a server: one for each case, deleted after it. No other stream is touched."""

import contextlib
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Final

PREFIX: Final = "wireproof-"
"""The beginning of every name. Only streams with it, and with the token of a run, are ever deleted."""


RETURN_SECONDS: Final = 10.0
"""Time in which a server that is started again answers."""

PAUSE: Final = 0.1


class RefusedError(Exception):
    """The server refuses a request that is no case."""


class StreamServer(ABC):
    """A server that is logged in. Every method raises `OSError`, and `RefusedError` if the server refuses."""

    @abstractmethod
    def create_stream(self, name: str) -> int:
        """Create a stream and return its number."""

    @abstractmethod
    def delete_stream(self, number: int) -> None:
        """Delete a stream of our own."""

    @abstractmethod
    def streams(self) -> Sequence[tuple[int, str]]:
        """Return the number and the name of each stream."""

    @abstractmethod
    def is_listening(self) -> bool:
        """Return True if a new connection gets the answer to a ping."""

    @abstractmethod
    def reconnect_if_lost(self) -> None:
        """Replace the connection if there was a fault on it."""

    @abstractmethod
    def lose(self) -> None:
        """Close the connection after a fault on it: the next case gets another one."""

    def returns(self) -> bool:
        """Wait for a server that is started again; return False if it does not answer in time."""
        deadline = time.monotonic() + RETURN_SECONDS
        while not (found := self.is_listening()) and time.monotonic() < deadline:
            time.sleep(PAUSE)
        return found

    def delete_streams(self, token: str) -> dict[str, str]:
        """Delete the streams of a run; return the names of those that are left, with the reason."""
        left: dict[str, str] = {}
        for number, name in self.streams():
            if name.startswith(f"{PREFIX}{token}-"):
                try:
                    self.delete_stream(number)
                except RefusedError as error:
                    left[name] = str(error)
        return left


class OwnStreams:
    """Lends streams to cases, one after another."""

    def __init__(self, server: StreamServer, names: str) -> None:
        """Use names that begin with the prefix and `names`."""
        self._server = server
        self._names = (f"{PREFIX}{names}-{number}" for number in count(1))

    @contextlib.contextmanager
    def lend(self) -> Iterator[tuple[str, int]]:
        """Create a stream, give its name and number, and delete it; raise `RefusedError`, `OSError`."""
        name = next(self._names)
        stream = self._server.create_stream(name)
        try:
            yield name, stream
        finally:
            with contextlib.suppress(RefusedError, OSError):  # the cleanup deletes what is left
                self._server.delete_stream(stream)

    def check(self) -> None:
        """Create and delete a stream: without the permission for it, there is no run."""
        self._server.delete_stream(self._server.create_stream(next(self._names)))
