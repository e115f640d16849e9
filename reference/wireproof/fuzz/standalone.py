"""A fuzz target without a campaign: libFuzzer with its own flags and folders on the command line.

`fuzz/target.py FORMAT ADAPTER` runs it, and so does the minimisation of a corpus. The target raises for an
input that fails, so that libFuzzer writes it to a file and ends; a minimisation reads all inputs. Environment
variables say what is fuzzed, because the processes that libFuzzer starts inherit them:

    WIREPROOF_FUZZ       the work directory; default `wireproof-fuzz`
    WIREPROOF_WORKER     the work of a worker in JSON, in place of FORMAT and ADAPTER
"""

import os
import shlex
import sys
from pathlib import Path

from attrs import evolve

from wireproof.adapters.errors import AdapterError
from wireproof.formats import UnknownFormat, matching_ids
from wireproof.fuzz.libfuzzer import SUPERVISED_FLAGS, run_libfuzzer
from wireproof.fuzz.work import MINIMISE, Work
from wireproof.fuzz.worker import Session, Worker
from wireproof.install_hint import install_command


def main() -> None:
    """Run libFuzzer on what the command line or WIREPROOF_WORKER names; exits when libFuzzer ends."""
    sys.path.insert(0, str(Path.cwd()))  # where the adapter may be, as for all commands
    try:
        work, arguments = _command_line()
        import atheris  # noqa: F401, PLC0415 - an extra; `run_libfuzzer` uses it

        worker = Worker(work)
        worker.guide()
        session = Session(worker, work.formats[0])
        target = session.target()
    except ImportError:
        sys.exit(f"fuzzing needs a further package: {install_command('fuzz')}")
    except (AdapterError, UnknownFormat, OSError) as error:
        sys.exit(str(error))
    target.timer.start()
    minimises = work.worker == MINIMISE
    # libFuzzer starts itself again by the name of its program when it merges.
    run_libfuzzer(
        shlex.join((sys.executable, "-m", "wireproof.fuzz.standalone")),
        [f"-dict={session.dictionary}", *(SUPERVISED_FLAGS if minimises else ()), *arguments],
        target if minimises else target.raising,
        session.mutator(),
    )


def _command_line() -> tuple[Work, list[str]]:
    """Return the work and libFuzzer's own arguments; raises `UnknownFormat`."""
    worker = f"standalone-{os.getpid()}"
    if text := os.environ.get("WIREPROOF_WORKER"):
        work = Work.of_json(text)
        return work if work.worker == MINIMISE else evolve(work, worker=worker), sys.argv[1:]
    if len(sys.argv) < 3 or sys.argv[1].startswith("-"):
        sys.exit("usage: target.py FORMAT ADAPTER [options and folders of libFuzzer]")
    name, adapter, *arguments = sys.argv[1:]
    root = os.environ.get("WIREPROOF_FUZZ", "wireproof-fuzz")
    work = Work(adapter, root, matching_ids((name,))[-1:], minutes=0.0, worker=worker)
    os.environ["WIREPROOF_WORKER"] = work.json()
    return work, arguments


if __name__ == "__main__":
    main()
