"""The parts that the verbs on Spark share: options, a check of the adapters, and errors in one line."""

import json
import logging
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.errors import PySparkException
from rich.console import Console

from wireproof.adapters.contract import Hello
from wireproof.runner.engine import Engine
from wireproof.spark.errors import JavaEndedError, SourceError

STANDARD_ERROR: Final = 2
"""The number of the file that every process writes its errors to."""


def source_options(paths: Sequence[str], **options: str) -> dict[str, str]:
    """Return the options of a source that reads some paths."""
    return {"paths": json.dumps(list(paths)), **options}


def start_adapters(adapters: Sequence[str]) -> list[Hello]:
    """Start each adapter once, so that errors appear before the job starts; return their hellos.

    Raises:
        UnknownAdapter, AdapterStartError: as from `registry.open_adapter`.
    """
    hellos = []
    for spec in adapters:
        with Engine(spec) as engine:
            hellos.append(engine.hello)
    return hellos


@contextmanager
def spark_errors(log: Path) -> Iterator[Console]:
    """Send Spark's log to a file, and turn the errors of a job into one line for the user that names it.

    Yields:
        a console of standard error, for a progress bar that no line of the log breaks.

    Raises:
        SourceError: the job failed.
        JavaEndedError: Spark's Java process ended.
    """
    with _standard_error_in(log) as console:
        try:
            with one_line_errors():
                yield console
        except (SourceError, JavaEndedError) as error:
            if log.stat().st_size:
                raise type(error)(f"{error}; Spark's log: {log}") from error
            raise


@contextmanager
def _standard_error_in(log: Path) -> Iterator[Console]:
    """Let processes that start meanwhile, such as Spark's Java process, write their errors to a file.

    Java takes the standard error of the process that starts it, before it reads any setting.
    """
    with log.open("ab") as file, os.fdopen(os.dup(STANDARD_ERROR), "w", encoding="utf-8") as terminal:
        sys.stderr.flush()
        os.dup2(file.fileno(), STANDARD_ERROR)
        try:
            yield Console(file=terminal)
        finally:
            sys.stderr.flush()
            os.dup2(terminal.fileno(), STANDARD_ERROR)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn the errors of a job, which carry tracebacks of two languages, into one line for the user.

    Raises:
        SourceError: the job failed.
        JavaEndedError: Spark's Java process ended.
    """
    logging.getLogger("py4j").setLevel(logging.CRITICAL)  # it logs a traceback for each lost connection
    try:
        yield
    except (Py4JNetworkError, ConnectionError) as error:
        raise JavaEndedError(
            "Spark's Java process ended before the job did: it was killed, or ran out of memory; "
            "run the same command again to continue"
        ) from error
    except (PySparkException, Py4JError) as error:
        raise SourceError(own_error_line(str(error))) from error


def own_error_line(text: str) -> str:
    """Return the last line of an error of a task that this package wrote, else the first line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    own = [line for line in lines if line.startswith("wireproof.") and "Error: " in line]
    return own[-1].split("Error: ", 1)[1] if own else (lines or ["Spark failed without a message"])[0]
