"""End of a command on SIGTERM, as on Ctrl-C: adapters are ended, and the results so far are kept."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final, NoReturn

import click

INTERRUPTED: Final = 130
"""The exit code after Ctrl-C: 128 plus the number of SIGINT, as in shells."""

TERMINATED: Final = 143
"""The exit code after SIGTERM: 128 plus its number."""


class Terminated(KeyboardInterrupt):
    """Raised for a SIGTERM; code that handles Ctrl-C handles it too."""


@contextmanager
def ended_by_signal() -> Iterator[None]:
    """Turn the first SIGTERM into an exception; ignore a second one while the command ends."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _terminated)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _terminated(number: int, _: FrameType | None) -> NoReturn:
    signal.signal(number, signal.SIG_IGN)
    raise Terminated


def interrupted(error: BaseException, stored: str = "") -> int:
    """Print how the command ended and which results are `stored`, and return the exit code."""
    terminated = isinstance(error, Terminated) or isinstance(error.__cause__, Terminated)
    how = "ended by SIGTERM" if terminated else "interrupted"
    click.echo(f"{how} {stored}".rstrip(), err=True)
    return TERMINATED if terminated else INTERRUPTED
