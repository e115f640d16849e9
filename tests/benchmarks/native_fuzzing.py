"""Seeds and mutator with libFuzzer on native targets: `python tests/benchmarks/native_fuzzing.py PROGRAM…`.

A program is a target for libFuzzer that is linked with `wireproof_mutator.c`, such as those of `fuzz/native`.
The ways take turns, with the same seeds for libFuzzer's random numbers. A round ends after a number of
seconds of processor time, of fuzzer and mutator process together, so that other load counts for nobody.
If an input ends the target, it is started again on the same corpus, until the time is used up. Seeds that end
the target are left out. In the end a fresh process reads the corpus and counts its edges.

A finding is a place where a target fails: a line `finding: …` that it prints, or what libFuzzer says when it
ends the target. `--list` prints them on stderr; the table has their number, because a finding that is not yet
known to the project that it belongs to is no matter for a table.
"""

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import click
from attrs import frozen
from beside import conditions

from wireproof.adapters.process.stats import cpu_seconds, tree

POLL_SECONDS = 0.1
WALL_PER_CPU = 60.0
"""Seconds of the clock that a second of processor time may take before the round is given up."""

LIMITS = ("-max_len=4096", "-len_control=100", "-timeout=10", "-rss_limit_mb=2048", "-malloc_limit_mb=256")


@frozen
class Way:
    """What a run begins with.

    Attributes:
        name: its heading.
        seeds: whether it has the seeds and the dictionary of an export.
        mutator: whether it has the field-aware mutator.
    """

    name: str
    seeds: bool
    mutator: bool


WAYS = (
    Way("empty corpus", seeds=False, mutator=False),
    Way("seeds and dictionary", seeds=True, mutator=False),
    Way("mutator", seeds=False, mutator=True),
    Way("seeds, dictionary and mutator", seeds=True, mutator=True),
)


HEADINGS = (
    "target", "begins with", "edges", "range", "ratio", "executions, at least", "ends", "findings",
    "of all rounds",
)  # fmt: skip


@frozen
class Start:
    """The format that a program reads, the seeds that it survives, and the dictionary."""

    format: str
    seeds: Path
    dictionary: Path


@frozen
class Run:
    """One run: its edges, its executions, how often an input ended the target, and its findings."""

    edges: int
    executions: int
    ended: int
    findings: frozenset[str]


def started(program: Path, folder: Path, form: str, room: Path) -> Start:
    """Copy the seeds of an export that do not end a program."""
    name = form.replace("/", "-")
    start = Start(form, room / program.name, folder / "libfuzzer" / f"{name}.dict")
    shutil.copytree(folder / "libfuzzer" / name, start.seeds)
    edges(program, [start.seeds])
    return start


def run(program: Path, way: Way, start: Start, number: int, seconds: float) -> Run:
    """Fuzz for so many seconds of processor time."""
    with tempfile.TemporaryDirectory() as name:
        room = Path(name)
        folders = [room / "corpus", *[start.seeds] * way.seeds]
        folders[0].mkdir()
        words = [str(program), *LIMITS, *[f"-dict={start.dictionary}"] * way.seeds, *map(str, folders)]
        spent, executions, ended, findings = 0.0, 0, 0, frozenset[str]()
        while spent < seconds:
            seeded = [*words, f"-seed={number + 1000 * ended}"]
            used, log = _fuzzed(seeded, environment(way, start), room, seconds - spent)
            spent += used
            executions += _executions(log)
            ended += spent < seconds
            findings |= _findings(log)
        return Run(edges(program, folders), executions, ended, findings)


def _fuzzed(words: list[str], given: dict[str, str], room: Path, seconds: float) -> tuple[float, str]:
    """Run libFuzzer until the time is used up or it ends; return the time and its output."""
    log = room / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            words,
            cwd=room,
            env=given,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
        used, until = 0.0, time.monotonic() + max(seconds, 1.0) * WALL_PER_CPU
        while process.poll() is None and used < seconds:
            time.sleep(POLL_SECONDS)
            used = max(
                used, sum(cpu_seconds(pid, ended_children=pid == process.pid) for pid in tree(process.pid))
            )
            if time.monotonic() > until:
                process.kill()
                raise SystemExit(
                    f"{words[0]}: {used:.0f} s of {seconds:.0f} s in that time: the machine is too busy"
                )
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.wait()
    return max(used, POLL_SECONDS), log.read_text("utf-8", errors="replace")


def environment(way: Way, start: Start) -> dict[str, str]:
    """Return the environment of a way: without the name of a format, libFuzzer mutates alone."""
    command = f"{shlex.quote(sys.executable)} -m wireproof.fuzz.mutator_process"
    own = {"WIREPROOF_FORMAT": start.format, "WIREPROOF_MUTATOR": command}
    kept = {name: text for name, text in os.environ.items() if name not in own}
    return kept | own if way.mutator else kept


def _executions(log: str) -> int:
    return max((int(number) for number in re.findall(r"^#(\d+)", log, re.MULTILINE)), default=0)


def _findings(log: str) -> frozenset[str]:
    return frozenset(re.findall(r"^(?:finding|SUMMARY): (.+?)(?: \(.*)?$", log, re.MULTILINE))


def edges(program: Path, folders: list[Path]) -> int:
    """Count the edges of inputs in a fresh process, and remove those that end it: libFuzzer names them."""
    while True:
        with tempfile.TemporaryDirectory() as room:
            words = [str(program), *LIMITS, "-runs=0", *map(str, folders)]
            done = subprocess.run(
                words, cwd=room, capture_output=True, text=True, errors="replace", check=False, timeout=600
            )
            counts = re.findall(r"INITED cov: (\d+)", done.stderr)
            if counts:
                return int(counts[-1])
            named = {path.name.rpartition("-")[2] for path in Path(room).iterdir()}
        guilty = [path for folder in folders for path in folder.iterdir() if path.name in named]
        if not guilty:
            raise SystemExit(f"{program}: ended at no input\n{done.stderr[-2000:]}")
        for path in guilty:
            path.unlink()


def told(program: Path, way: Way, runs: list[Run], least: float) -> str:
    """Return a row of the table."""
    counts = sorted(one.edges for one in runs)
    middle = median(counts)
    executions, ended = median(one.executions for one in runs), median(one.ended for one in runs)
    findings = median(len(one.findings) for one in runs)
    ratio = middle / least if least else float("inf")
    cells = (
        program.name, way.name, f"{middle:.0f}", f"{counts[0]} to {counts[-1]}", f"{ratio:.2f}",
        f"{executions:,.0f}", f"{ended:.0f}", f"{findings:.0f}", str(len(together(runs))),
    )  # fmt: skip
    return row(cells)


def row(cells: Sequence[str]) -> str:
    """Return a row of Markdown."""
    return f"| {' | '.join(cells)} |"


def together(runs: list[Run]) -> set[str]:
    """Return the findings of all rounds."""
    return set().union(*(one.findings for one in runs))


A_PATH = click.Path(exists=True, path_type=Path, resolve_path=True)


@click.command()
@click.argument("programs", nargs=-1, required=True, type=A_PATH)
@click.option("--export", "folder", required=True, type=A_PATH, help="what `wireproof export --seeds` wrote")
@click.option("--format", "form", default="kafka.log/mixed", help="the format that the programs read")
@click.option("--seconds", default=60.0, help="of processor time, of each round")
@click.option("--rounds", default=5, help="of each way, with different random numbers")
@click.option("--ways", default=",".join(map(str, range(len(WAYS)))), help="by their numbers, from 0 on")
@click.option("--list", "listed", is_flag=True, help="print the findings of each way on stderr")
def main(
    *,
    programs: tuple[Path, ...],
    folder: Path,
    form: str,
    seconds: float,
    rounds: int,
    ways: str,
    listed: bool,
) -> None:
    """Print a table of edges, executions, how often an input ended the target, and findings, in medians."""
    conditions()
    chosen = [WAYS[int(number)] for number in ways.split(",")]
    click.echo(f"{form}, {rounds} rounds of {seconds:g} s of processor time")
    click.echo(row(HEADINGS))
    click.echo("|---" * len(HEADINGS) + "|")
    with tempfile.TemporaryDirectory() as room:
        for program in programs:
            start = started(program, folder, form, Path(room))
            found: dict[Way, list[Run]] = {way: [] for way in chosen}
            for number in range(1, rounds + 1):
                for way in chosen:
                    found[way].append(run(program, way, start, number, seconds))
            least = median(one.edges for one in found[chosen[0]])
            for way in chosen:
                click.echo(told(program, way, found[way], least))
                for finding in sorted(together(found[way])) if listed else ():
                    click.echo(f"{program.name}, {way.name}: {finding}", err=True)


if __name__ == "__main__":
    main()
