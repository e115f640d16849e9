"""Standard output and standard error of a run, in any encoding, with a reader that may close the pipe."""

import codecs
import gc
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final, NoReturn

import click

from wireproof.run.exit_codes import Exit

CLOSED_PIPE: Final = 141
"""The exit code if the reader closed the pipe: 128 plus the number of SIGPIPE. It is no verdict."""

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
    # Files that are opened later would get the number of a stream that the caller has closed.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            nowhere = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 - open until the end
            setattr(sys, name, nowhere)
    codecs.register_error("wireproof.escape", escape_or_replace)
    codecs.register(_ascii_codec)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            plain = codecs.lookup(stream.encoding).name == "ascii"
            stream.reconfigure(encoding=ASCII if plain else None, errors="wireproof.escape")
    try:
        try:
            yield
        finally:
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


# --- interrupts ---


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
    """Print how the command ended and which results are `stored`, and return the exit code of shells."""
    terminated = isinstance(error, Terminated) or isinstance(error.__cause__, Terminated)
    how = "ended by SIGTERM" if terminated else "interrupted"
    click.echo(f"{how} {stored}".rstrip(), err=True)
    return 128 + (signal.SIGTERM if terminated else signal.SIGINT)


# --- errors ---


TABLE: Final[dict[str, Exit]] = {
    "wireproof.adapters.errors:UnknownAdapter": Exit.USAGE,
    "wireproof.adapters.errors:AdapterFileError": Exit.SUITE,
    "wireproof.adapters.errors:MessageError": Exit.ADAPTER,
    "wireproof.adapters.errors:AdapterError": Exit.ADAPTER,
    "wireproof.adapters.registry.templates:TemplateError": Exit.USAGE,
    "wireproof.cases.case_json:FixtureError": Exit.SUITE,
    "wireproof.cases.id_patterns:PatternError": Exit.USAGE,
    "wireproof.cases.requirements:RequirementError": Exit.USAGE,
    "wireproof.fuzz.redaction_check:RedactionError": Exit.USAGE,
    "wireproof.cases.token:TokenError": Exit.USAGE,
    "wireproof.formats:UnknownFormat": Exit.USAGE,
    "wireproof.fuzz.findings:FindingError": Exit.USAGE,
    "wireproof.fuzz.promote:PromotionError": Exit.USAGE,
    "wireproof.fuzz.shrink:NothingToShrinkError": Exit.USAGE,
    "wireproof.report.diff:ExportDiffError": Exit.USAGE,
    "wireproof.spark.errors:JavaEndedError": Exit.ADAPTER,
    "wireproof.spark.errors:SourceError": Exit.USAGE,
    "wireproof.run.baselines.known_failures:BaselineError": Exit.USAGE,
    "wireproof.segment_files:IndexFileError": Exit.USAGE,
    "wireproof.run.events:EventError": Exit.USAGE,
    "wireproof.derive.seeded_examples:PropertyError": Exit.USAGE,
    "builtins:OSError": Exit.USAGE,
}
"""Exit codes by module and class: a missing file is a usage error, a broken fixture a fault of the suite.

Every verb needs them, and to import the classes would load every package.
"""


def exit_of(error: Exception) -> Exit | None:
    """Return the exit code of an error's nearest class; None for a bug of the suite (print a traceback)."""
    names = (f"{kind.__module__}:{kind.__qualname__}" for kind in type(error).__mro__)
    return next((TABLE[name] for name in names if name in TABLE), None)


@contextmanager
def rare_collections() -> Iterator[None]:
    """Look for cycles less often: a fifth of the time of `explain` went there, most of it in imports."""
    former = gc.get_threshold()
    gc.set_threshold(100_000, *former[1:])  # new objects; its default is 700
    try:
        yield
    finally:
        gc.set_threshold(*former)
