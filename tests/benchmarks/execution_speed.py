"""Print the executions of a campaign for each second of the processor, beside bare atheris in the same run.

    python -m tests.benchmarks.execution_speed [ADAPTER FORMAT] [--runs 20000] [--rounds 3]

`bare` calls the codec alone. `mutator` does so with inputs of our mutator, and `campaign` is what
`wireproof fuzz` does: with the reference, the judge and the findings too. Each is a process that is forked
from the same one; the best of the rounds is kept. Without ADAPTER there are two codecs: kafka-python, and one
that refuses everything.
"""

import argparse
import os
import sys
import tempfile
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from attrs import evolve

from wireproof.adapters import Refused, Request
from wireproof.adapters.requests import request_for
from wireproof.fuzz.libfuzzer import MUTATOR_FLAGS, run_libfuzzer
from wireproof.fuzz.process import InProcessExecutor
from wireproof.fuzz.work import Work
from wireproof.fuzz.worker import Session, Worker

TRIVIAL: Final = f"py:{__spec__.name if __spec__ else 'execution_speed'}:Trivial"
CHOSEN: Final = (("kafka-python", "kafka.batch/v2"), (TRIVIAL, "iggy.identifier/0.0.30"))


class Trivial:
    """Refuses everything."""

    name, version = "trivial", "1"

    def decode(self, _: Request) -> Refused:
        return Refused("other")


def forked(call: Callable[[], object]) -> float:
    """Return the seconds of the processor that a call takes in a process of its own, which it ends itself."""
    child = os.fork()
    if not child:
        try:
            sink = os.open(os.devnull, os.O_WRONLY)
            os.dup2(sink, 1)
            os.dup2(sink, 2)
            call()
        except BaseException:  # noqa: BLE001 - nothing may return into the parent's code
            traceback.print_exc()
        finally:
            os._exit(70)
    _, status, usage = os.wait4(child, 0)
    if os.waitstatus_to_exitcode(status):
        raise SystemExit(f"a process ended with {os.waitstatus_to_exitcode(status)}")
    return usage.ru_utime + usage.ru_stime


class Ways:
    """The ways of fuzzing one codec, each for a number of executions."""

    def __init__(self, adapter: str, format_id: str, root: Path) -> None:
        self.work = Work(adapter, root, (format_id,), minutes=60.0)
        self.session = Session(Worker(self.work), format_id)

    def campaign(self, runs: int) -> None:
        self.session.work = evolve(self.work, runs=runs)
        self.session.fuzz(0, float("inf"), os.getppid())

    def callback(self) -> Callable[[bytes], None]:
        executor = self.session.target().executor
        assert isinstance(executor, InProcessExecutor), "a codec in Python"
        caller, case_of = executor._caller, self.session.examples.without_expectation

        def call(data: bytes) -> None:
            caller.answer(request_for(case_of(data), "0"))

        return call

    def mutator(self, runs: int) -> None:
        run_libfuzzer(sys.argv[0], self.arguments(runs), self.callback(), self.session.mutator())

    def bare(self, runs: int) -> None:
        import atheris  # noqa: PLC0415 - an extra

        atheris.Setup([sys.argv[0], *MUTATOR_FLAGS, *self.arguments(runs)], self.callback())
        atheris.Fuzz()

    def arguments(self, runs: int) -> list[str]:
        return [*self.session.arguments(0), f"-runs={runs}"]


def rates(adapter: str, format_id: str, runs: int, rounds: int) -> dict[str, float]:
    """Return the executions for each second of the processor, by way."""
    with tempfile.TemporaryDirectory() as folder:
        ways = Ways(adapter, format_id, Path(folder))
        best: dict[str, float] = {}
        for _ in range(rounds):
            for way in (ways.bare, ways.mutator, ways.campaign):
                for path in ways.session.folders[0].iterdir():
                    path.unlink()
                name = way.__name__
                best[name] = max(best.get(name, 0.0), runs / forked(partial(way, runs)))
        return best


def main() -> None:
    parser = argparse.ArgumentParser(description="Print executions beside bare atheris.")
    parser.add_argument("chosen", nargs="*", metavar="ADAPTER FORMAT")
    parser.add_argument("--runs", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    for adapter, format_id in [given.chosen] if given.chosen else CHOSEN:
        found = rates(adapter, format_id, given.runs, given.rounds)
        told = ", ".join(f"{name} {rate:,.0f}/s" for name, rate in found.items())
        ratio = found["campaign"] / found["mutator"]
        sys.stdout.write(f"{adapter} {format_id}: {told}; campaign / mutator {ratio:.2f}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
