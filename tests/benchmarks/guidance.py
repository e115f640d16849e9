"""Print what guidance is worth: how soon four ways of fuzzing reach planted bugs, by processor time.

    python -m tests.benchmarks.guidance [--seconds 30] [--seeds 1 2 3] [--bare] [--json FILE]

`guided` is the larger part of `wireproof fuzz`: the coverage of codec and reference chooses what is mutated
again. `codec` has the coverage of the codec alone, and `reference` that of the reference alone, as for a
codec in a process of its own. `plain` is the first part of the verb, without coverage: it mutates the seeds,
and never what came of them. All have the same mutator, seeds and random numbers. With `--bare` they begin
with the least encoding alone, without the fixtures.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import count
from math import inf
from pathlib import Path
from statistics import median
from types import SimpleNamespace
from typing import NoReturn

from attrs import asdict, evolve, frozen

from tests.benchmarks.bug_table import spec_of
from tests.support.planted_bugs import CODECS, Planted
from wireproof.adapters.registry.registered import Entry
from wireproof.formats import Format
from wireproof.fuzz import worker as workers
from wireproof.fuzz.libfuzzer import modules_to_instrument
from wireproof.fuzz.work import StatsReader, Turn, Work

WAYS = ("guided", "codec", "reference", "plain")
BUGS = 10
"""Bugs of each codec."""


@frozen
class Reached:
    """What one run has reached, and after how many seconds the last of all bugs; infinity if not all."""

    codec: str
    way: str
    seed: int
    bugs: int
    last: float
    executions: int
    corpus: int


def worker(way: str, text: str) -> int:
    """Run a worker of a campaign in this process; the seconds of its fuzzing process are the processor's."""
    seen, calls, session = os.environ["PLANTED_SEEN"], count(), workers.Session
    fuzz = session.fuzz

    def by_processor(self: workers.Session, number: int, turn: Turn, parent: int, done: int = 0) -> NoReturn:
        """Fuzz by a clock that begins with this process, and ends if there is nothing left to find."""
        begin = time.monotonic()

        def monotonic() -> float:
            if next(calls) % 64 == 0 and len(os.listdir(seen)) == BUGS:  # noqa: PTH208 - it is called for each input
                return inf
            return begin + time.process_time()

        vars(workers)["time"] = SimpleNamespace(monotonic=monotonic)
        fuzz(self, number, turn, parent, done)

    session.fuzz = by_processor  # type: ignore[method-assign]
    session._warm_up = lambda self: None  # type: ignore[method-assign] # noqa: ARG005 - it reaches bugs too

    def turns(self: Work, begin: float) -> Iterator[Turn]:
        return iter([Turn(self.formats[0], begin + self.minutes * 60, guided=way != "plain")])

    Work.turns = turns  # type: ignore[method-assign]
    if way in ("codec", "reference"):

        def modules(fmts: Sequence[Format], entry: Entry) -> tuple[str, ...]:
            of_reference = modules_to_instrument(fmts, evolve(entry, object=""))
            if way == "reference":
                return of_reference
            return tuple(one for one in modules_to_instrument(fmts, entry) if one not in of_reference)

        vars(workers)["modules_to_instrument"] = modules
    return workers.main(text)


def run(codec: type[Planted], way: str, seed: int, seconds: float, *, bare: bool) -> Reached:
    with tempfile.TemporaryDirectory() as folder:
        root, seen = Path(folder) / "campaign", Path(folder) / "seen"
        seen.mkdir()
        work = Work(spec_of(codec), root, (codec.format_id,), seconds / 60, seed, minimal_seeds=bare)
        reader = StatsReader(work)
        more = {"PLANTED": "all", "PLANTED_SEEN": str(seen), "PYTHONHASHSEED": "0"}
        command = [sys.executable, "-m", __spec__.name, "--worker", way, work.json()]
        subprocess.run(command, env={**os.environ, **more}, check=True)
        (stats,) = reader.formats()
        at = [float(path.read_text()) for path in seen.iterdir()]
        last = max(at) if len(at) == BUGS else inf
        return Reached(codec.__name__, way, seed, len(at), last, stats.executions, stats.corpus)


def main() -> int:
    parser = argparse.ArgumentParser(description="Print what guidance of a fuzzer is worth.")
    parser.add_argument("--worker", nargs=2, metavar=("WAY", "CONFIG"), help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--way", action="append", choices=WAYS)
    parser.add_argument("--bare", action="store_true")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    if given.worker:
        return worker(*given.worker)
    found = []
    for seed in given.seeds:
        for codec in CODECS:
            for way in given.way or WAYS:  # in turn, so that a slow minute of the machine meets all of them
                found.append(run(codec, way, seed, given.seconds, bare=given.bare))
                sys.stderr.write(f"{found[-1]}\n")
    for codec in CODECS:
        for way in given.way or WAYS:
            rows = [one for one in found if (one.codec, one.way) == (codec.__name__, way)]
            bugs = sorted(one.bugs for one in rows)
            last = sorted(one.last for one in rows)
            sys.stdout.write(
                f"{codec.__name__:6} {way:10} {median(bugs):4.0f} of {BUGS} bugs ({bugs[0]} to {bugs[-1]}), "
                f"the last after {median(last):5.1f} s ({last[0]:.1f} to {last[-1]:.1f})\n"
            )
    if given.json:
        given.json.write_text(json.dumps([asdict(one) for one in found], indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
