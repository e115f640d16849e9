"""Standard output and standard error of a run, in any encoding, with a reader that may close the pipe."""

import codecs
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

ERROR_HANDLER: Final = "wireproof.escape"
"""The name of `escape_or_replace` as a handler of encoding errors."""

ASCII: Final = "wireproof_ascii"
"""The name of `ascii` for output: click writes UTF-8 to a stream whose encoding has the name `ascii`."""

SAME_WIDTH: Final = {"│": "|"}
"""Substitutes in ASCII: an escape is wider, and the mark below a byte would point to another byte."""


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
    codecs.register_error(ERROR_HANDLER, escape_or_replace)
    codecs.register(_ascii_codec)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            plain = codecs.lookup(stream.encoding).name == "ascii"
            stream.reconfigure(encoding=ASCII if plain else None, errors=ERROR_HANDLER)
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


def _ascii_codec(name: str) -> codecs.CodecInfo | None:
    if name != ASCII:
        return None
    known = codecs.lookup("ascii")
    return codecs.CodecInfo(
        known.encode, known.decode, incrementalencoder=known.incrementalencoder,
        incrementaldecoder=known.incrementaldecoder, name=ASCII,
    )  # fmt: skip


def escape_or_replace(error: UnicodeError) -> tuple[str | bytes, int]:
    """Return an escape for signs that the encoding has not, or a substitute of the same width."""
    if isinstance(error, UnicodeEncodeError):
        sign = error.object[error.start]
        if sign in SAME_WIDTH:
            return SAME_WIDTH[sign], error.start + 1
        error.end = error.start + 1  # the other signs of the range may have substitutes
    return codecs.backslashreplace_errors(error)


def _silence() -> None:
    """Discard buffered output, which Python would write at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except OSError:
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
