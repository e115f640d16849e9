"""A fuzz target without a supervisor: libFuzzer with its own flags and folders on the command line.

`fuzz/target.py FORMAT ADAPTER` runs it, and so does the minimisation of a corpus. The target raises for an
input that fails, so that libFuzzer writes it to a file and ends; a minimisation reads all inputs. Environment
variables say what is fuzzed, because the processes that libFuzzer starts inherit them:

    WIREPROOF_FUZZ       the work directory; default `wireproof-fuzz`
    WIREPROOF_WORKER     a worker configuration in JSON, in place of FORMAT and ADAPTER
    WIREPROOF_LAUNCHER   the executable file that starts a minimisation
"""

import json
import os
import sys
from pathlib import Path
from typing import Final

from attrs import evolve

from wireproof.adapters.errors import AdapterError
from wireproof.formats import UnknownFormat, matching_ids
from wireproof.fuzz.format_session import FormatSession, WorkerContext
from wireproof.fuzz.libfuzzer import SUPERVISED_FLAGS, Mutator, libfuzzer_mutation, run_libfuzzer
from wireproof.fuzz.target import FuzzTarget
from wireproof.fuzz.worker_config import WorkerConfig
from wireproof.install_hint import install_command
from wireproof.strict_parsing import structure, to_tree

USAGE: Final = "usage: target.py FORMAT ADAPTER [options and folders of libFuzzer]"


def main() -> None:
    """Run libFuzzer on what the command line or WIREPROOF_WORKER names; exits when libFuzzer ends."""
    launcher = os.environ.get("WIREPROOF_LAUNCHER")
    sys.path.insert(0, str(Path.cwd()))  # where the adapter may be, as for all commands
    try:
        config, arguments = _command_line()
        import atheris  # noqa: F401, PLC0415 - an extra; `run_libfuzzer` uses it

        session = FormatSession(WorkerContext(config), config.formats[0])
        context = session.target_context()
    except ImportError:
        sys.exit(f"fuzzing needs a further package: {install_command('fuzz')}")
    except (AdapterError, UnknownFormat, OSError) as error:
        sys.exit(str(error))
    context.timer.start()
    target = FuzzTarget(context)
    # libFuzzer starts itself again by the name of its program when it merges: it must be an executable file.
    run_libfuzzer(
        launcher or sys.argv[0],
        [f"-dict={session.dictionary}", *(SUPERVISED_FLAGS if launcher else ()), *arguments],
        target if launcher else target.raising,
        Mutator(session.fmt, libfuzzer_mutation, session.examples.keys),
    )


def _command_line() -> tuple[WorkerConfig, list[str]]:
    """Return the configuration and libFuzzer's own arguments; raises `UnknownFormat`."""
    worker = f"standalone-{os.getpid()}"
    if text := os.environ.get("WIREPROOF_WORKER"):
        config = structure(json.loads(text), WorkerConfig, "the configuration")
        return config if "WIREPROOF_LAUNCHER" in os.environ else evolve(config, worker=worker), sys.argv[1:]
    if len(sys.argv) < 3 or sys.argv[1].startswith("-"):
        sys.exit(USAGE)
    name, adapter, *arguments = sys.argv[1:]
    format_id = matching_ids((name,))[-1]
    config = WorkerConfig(
        adapter, (format_id,), os.environ.get("WIREPROOF_FUZZ", "wireproof-fuzz"), worker, 0.0
    )
    os.environ["WIREPROOF_WORKER"] = json.dumps(to_tree(config))
    return config, arguments


def write_launcher(path: Path, config: str) -> Path:
    """Write an executable script that runs this module with a worker configuration in JSON.

    The script passes its arguments on to libFuzzer.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    quoted = config.replace("'", "'\\''")
    path.write_text(
        f"#!/bin/sh\nexport WIREPROOF_WORKER='{quoted}' WIREPROOF_LAUNCHER=\"$0\"\n"
        f"exec '{sys.executable}' -m {__name__} \"$@\"\n",
        encoding="utf-8",
    )
    path.chmod(0o755)
    return path


if __name__ == "__main__":
    main()
