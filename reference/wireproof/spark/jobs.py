"""What the verbs that run on Spark share: options, a look at the adapters first, errors in one line."""

import json
import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.errors import PySparkException

from wireproof.adapters.contract import Hello
from wireproof.spark.errors import JavaEndedError, SourceError
from wireproof.trial.engine import Engine


def source_options(paths: Sequence[str], assignments: Sequence[str]) -> dict[str, str]:
    """The options of a source; raises `SourceError` for an assignment that is none."""
    options = {"paths": json.dumps(list(paths))}
    for assignment in assignments:
        name, equals, text = assignment.partition("=")
        if not (name and equals):
            raise SourceError(f"--set {assignment}: not NAME=VALUE")
        options[name] = text
    return options


def ready(adapters: Sequence[str]) -> list[Hello]:
    """Start each adapter once: what cannot start is told before a job is. Gives what each says of itself.

    Raises:
        UnknownAdapter, AdapterStartError: as `registry.open_adapter` says.
    """
    hellos = []
    for spec in adapters:
        with Engine(spec) as engine:
            hellos.append(engine.hello)
    return hellos


@contextmanager
def told() -> Iterator[None]:
    """Errors of a job, which bring the tracebacks of two languages, as the one line that is the user's.

    Raises:
        SourceError: the job failed.
        JavaEndedError: Spark's Java process ended.
    """
    logging.getLogger("py4j").setLevel(logging.CRITICAL)  # it prints a traceback for each lost connection
    try:
        yield
    except (Py4JNetworkError, ConnectionError) as error:
        raise JavaEndedError(
            "Spark's Java process ended before the job did: killed, or out of memory; "
            "the same command goes on where it stopped"
        ) from error
    except (PySparkException, Py4JError) as error:
        raise SourceError(own_line(str(error))) from error


def own_line(text: str) -> str:
    """Of what a task raised, the line that this package wrote, else the first."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    own = [line for line in lines if line.startswith("wireproof.") and "Error: " in line]
    return own[-1].split("Error: ", 1)[1] if own else (lines or ["Spark failed and does not say why"])[0]
