"""Standard output and standard error of a run, in any encoding, with a reader that may close the pipe."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import click

from wireproof.runner.exit_codes import Exit

CLOSED_PIPE: Final = 141
"""The exit code if the reader closed the pipe: 128 plus the number of SIGPIPE. It is no verdict."""


class ReaderGoneError(Exception):
    """The reader of the output closed the pipe."""


@contextmanager
def pipe_errors() -> Iterator[None]:
    """Raise `ReaderGoneError` for a closed pipe; click and rich would exit with 1."""
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
    """Escape characters that the encoding lacks; exit with `CLOSED_PIPE` when the reader closes the pipe."""
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
    """Discard buffered output, which Python would write at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except OSError:
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
