"""One worker process: it fuzzes one adapter and gives each format its turns.

    python -m wireproof.fuzz.worker '{"adapter": …}'

The worker imports and instruments once, then forks a fuzzing process for each turn: a process that dies costs
one fork, not one start of Python.
"""

import json
import os
import sys
import time

from wireproof.adapters.errors import AdapterError
from wireproof.fuzz.format_session import FormatSession, WorkerContext
from wireproof.fuzz.supervisor import Supervisor
from wireproof.fuzz.worker_config import WorkerConfig
from wireproof.strict_parsing import structure


def main(arguments: list[str]) -> int:
    """Run the worker that the one argument describes in JSON; returns the exit code."""
    config = structure(json.loads(arguments[0]), WorkerConfig, "the configuration")
    parent, failures = os.getppid(), 0
    try:
        context = WorkerContext(config)
        sessions = {format_id: FormatSession(context, format_id) for format_id in config.formats}
        for number, (format_id, until) in enumerate(config.turns(time.monotonic())):
            supervisor = Supervisor(sessions[format_id], until, parent, number * 1000)
            failures += not _run_turn(supervisor, format_id)
            if supervisor.may_stop():
                break
    except (AdapterError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 4
    return 4 if failures else 0


def _run_turn(supervisor: Supervisor, format_id: str) -> bool:
    """Run one turn of a format; returns False, and prints the reason, if it cannot continue."""
    try:
        supervisor.run()
    except AdapterError as error:
        sys.stderr.write(f"{format_id}: {error}\n")
        return False
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
