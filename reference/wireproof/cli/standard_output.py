"""Standard output and standard error of a run: in any encoding, and with a reader that may go away."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import click

from wireproof.runner.exit_codes import Exit

CLOSED_PIPE: Final = 141
"""The exit code of a run whose reader went away: what a shell reports of SIGPIPE. It is no verdict."""


class ReaderGoneError(Exception):
    """Nobody reads what is printed any more."""


@contextmanager
def pipe_errors() -> Iterator[None]:
    """Raise `ReaderGoneError` for a closed pipe, of which click would make exit code 1 and rich too."""
    try:
        yield
    except BrokenPipeError as error:
        raise ReaderGoneError from error
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):
            raise ReaderGoneError from end
        raise


@contextmanager
def guarded_output() -> Iterator[None]:
    """Escape signs that the encoding has not; end quietly with `CLOSED_PIPE` when the reader goes away."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            yield
        finally:
            if sys.stdout is not None:  # closed by whoever started this process
                sys.stdout.flush()
    except (BrokenPipeError, ReaderGoneError):
        _silence()
        sys.exit(CLOSED_PIPE)
    except OSError as error:
        _silence()
        click.echo(f"wireproof: {error}", err=True)
        sys.exit(Exit.USAGE)


def _silence() -> None:
    """Send what is still in a buffer nowhere: Python would write it at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except OSError:
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
