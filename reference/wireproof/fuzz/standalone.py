"""A fuzz target without a supervisor: libFuzzer with its own flags and folders on the command line.

The scripts in the folder `fuzz/` run it, and so does the minimisation of a corpus. Environment variables say
what is fuzzed, because the processes that libFuzzer starts inherit them:

    WIREPROOF_ADAPTER    the adapter; default `reference`
    WIREPROOF_REVISION   the revision of the format; default the last one
    WIREPROOF_FUZZ       the work directory; default `wireproof-fuzz`
    WIREPROOF_WORKER     instead of these three: a worker configuration in JSON
    WIREPROOF_LAUNCHER   the executable file that starts this process; default the script
"""

import json
import os
import sys
from pathlib import Path

from wireproof.adapters.errors import AdapterError
from wireproof.formats import FORMATS
from wireproof.fuzz.format_session import FormatSession, WorkerContext
from wireproof.fuzz.libfuzzer import Mutator, libfuzzer_mutation, run_libfuzzer
from wireproof.fuzz.target import FuzzTarget
from wireproof.fuzz.worker_config import WorkerConfig
from wireproof.install_hint import install_command
from wireproof.strict_parsing import structure


def main(name: str = "") -> None:
    """Run libFuzzer on the format `name`, or on that of WIREPROOF_WORKER; exits when libFuzzer ends."""
    config = _config(name)
    try:
        import atheris  # noqa: F401, PLC0415 - an extra; `run_libfuzzer` uses it

        session = FormatSession(WorkerContext(config), config.formats[0])
        context = session.target_context()
    except ImportError:
        sys.exit(f"fuzzing needs a further package: {install_command('fuzz')}")
    except AdapterError as error:
        sys.exit(str(error))
    context.timer.start()
    # libFuzzer starts itself again by the name of its program when it merges: it must be an executable file.
    program = os.environ.get("WIREPROOF_LAUNCHER", sys.argv[0])
    arguments = [f"-dict={session.dictionary}", *sys.argv[1:]]
    run_libfuzzer(
        program,
        arguments,
        FuzzTarget(context),
        Mutator(session.fmt, libfuzzer_mutation, session.examples.keys),
    )


def _config(name: str) -> WorkerConfig:
    """Return the configuration that the environment describes."""
    text = os.environ.get("WIREPROOF_WORKER")
    if text:
        return structure(json.loads(text), WorkerConfig, "the configuration")
    revisions = [fmt.revision for fmt in FORMATS.values() if fmt.name == name]
    revision = os.environ.get("WIREPROOF_REVISION", revisions[-1])
    adapter = os.environ.get("WIREPROOF_ADAPTER", "reference")
    root = os.environ.get("WIREPROOF_FUZZ", "wireproof-fuzz")
    return WorkerConfig(adapter, (f"{name}/{revision}",), root, f"standalone-{os.getpid()}", 0.0)


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
