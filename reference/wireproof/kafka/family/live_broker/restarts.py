"""Restarts of a broker in the middle of a case, by a command of its operator, while no other one is asked."""

import shlex
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from threading import Condition
from typing import Final

from wireproof.adapters.errors import AdapterError
from wireproof.kafka.family.live_broker.cluster import Cluster
from wireproof.wire.safe_text import one_line

GATHER_SECONDS: Final = 2
"""Time in which further cases may come that wait for the same restart, which takes much longer."""

COMMAND_SECONDS: Final = 120
MOST_OF_OUTPUT: Final = 200


class RestartError(AdapterError):
    """The command of a restart failed, or the broker did not come back; the text is one line."""


class Restarts:
    """Lets cases run at the same time, and starts the broker again between them. Threads share it.

    One restart serves all cases that wait for one. Cases without a restart begin before or after it.
    """

    def __init__(self, cluster: Cluster, command: str, restarted: Callable[[float], None]) -> None:
        """Use a command, empty for none; `restarted` gets the time of each restart."""
        self._cluster = cluster
        self._command = command
        self._restarted = restarted
        self._changed = Condition()
        self._running = self._waiting = self._begun = self._done = 0

    @contextmanager
    def case(self, *, restarts: bool) -> Iterator[None]:
        """Run a case, after the restart that others wait for unless it has one itself."""
        with self._changed:
            self._changed.wait_for(lambda: restarts or not self._waiting)
            self._begun += 1
            self._running += 1
        try:
            yield
        finally:
            self._count(running=-1)

    def restart(self) -> None:
        """Start the broker again when every other case has ended, or waits too; raise `RestartError`."""
        with self._changed:
            before = self._done
            self._count(running=-1, waiting=1)
            try:
                while self._done == before:
                    self._changed.wait_for(lambda: self._done != before or not self._running)
                    others = partial(self._others_came, before, self._begun)
                    if not self._changed.wait_for(others, GATHER_SECONDS):
                        self._run()
                        self._done += 1
            finally:
                self._count(running=1, waiting=-1)

    def _others_came(self, done: int, begun: int) -> bool:
        """Report whether a restart was made since, or a case has begun."""
        return self._done != done or self._begun != begun or self._running > 0

    def _count(self, running: int, waiting: int = 0) -> None:
        with self._changed:
            self._running += running
            self._waiting += waiting
            self._changed.notify_all()

    def _run(self) -> None:
        try:
            subprocess.run(  # noqa: S603 - the command of the properties file
                shlex.split(self._command), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE, text=True, timeout=COMMAND_SECONDS, check=True,
            )  # fmt: skip
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            said = one_line(str(getattr(error, "stderr", None) or error), MOST_OF_OUTPUT)
            raise RestartError(f"the command that starts the broker again failed: {said}") from None
        if not self._cluster.returns():
            raise RestartError(
                f"nothing answers at {self._cluster.address} after the broker was started again"
            )
        self._restarted(time.monotonic())
