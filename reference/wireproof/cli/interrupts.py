"""Ends a command on SIGTERM just as on Ctrl-C: adapters are ended, and what was judged so far is kept."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final, NoReturn

import click

INTERRUPTED: Final = 130
"""The exit code after Ctrl-C: 128 and the number of SIGINT, as shells have it."""

TERMINATED: Final = 143
"""The exit code after SIGTERM, likewise."""


class Terminated(KeyboardInterrupt):
    """Stands for a SIGTERM; whatever handles Ctrl-C handles it."""


@contextmanager
def ended_by_signal() -> Iterator[None]:
    """Turn the first SIGTERM into an exception; a second one does not disturb the ending."""
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
    """Print how the command ended and what is `stored` where, and return the exit code."""
    terminated = isinstance(error, Terminated) or isinstance(error.__cause__, Terminated)
    how = "ended by SIGTERM" if terminated else "interrupted"
    click.echo(f"{how} {stored}".rstrip(), err=True)
    return TERMINATED if terminated else INTERRUPTED
