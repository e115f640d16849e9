"""The parts that the verbs on Spark share: options, a check of the adapters, and errors in one line."""

import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.errors import PySparkException

from wireproof.adapters.contract import Hello
from wireproof.runner.engine import Engine
from wireproof.spark.errors import JavaEndedError, SourceError


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
