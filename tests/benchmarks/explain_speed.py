"""How fast `explain` lists a segment, one line for each batch, beside Kafka's own tool.

Run it as `PYTHONPATH=. python tests/benchmarks/explain_speed.py [DATA…]`; `--folder` keeps the segments. All
run as processes of their own, start included, in turn; the best of the rounds is kept. Like is compared with
like:

* `explain` decompresses and reads every record, as does `DumpLogSegments --deep-iteration`.
* `explain --headers` checks headers and checksums, as does `DumpLogSegments` without that option: it prints
  `isvalid`, for which it computes the CRC of each batch, and reads no records.

numba imports other packages if they are there, such as PyYAML, which takes hundredths of a second. So
`--python` can name an environment that has only what `explain` needs. Processor time is that of all threads;
it depends less on what else the machine does than the clock's time.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

import click
import dumping
from attrs import frozen
from beside import MIB, conditions, told
from columnar_speed import CODECS, batch_of

from tests.generators.kafka_entries import intact_entry, text_pool
from tests.generators.kafka_segments import DRAWN
from wireproof.kafka import columnar

NUMBERS = {name: number for number, (name, _) in CODECS.items()}
GENERATED = {"plain": True, "mixed": False}
"""Data of the generator of segments, and whether it has only batches that are not compressed."""

DISTINCT = 64
"""Batches that are made of a codec; a segment has them in turn, each time with another offset."""

MOST_MEMORY = 300
LEAST = 3

Command = Sequence[str | Path]


@frozen
class Run:
    """The cost of a process: seconds of the clock and of the cores, and its memory in MiB."""

    seconds: float
    cpu: float
    memory: float


LAUNCHER = """
import json, os, subprocess, sys, tempfile
with tempfile.TemporaryFile() as errors:
    start = os.times().elapsed
    process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=errors)
    _, _, used = os.wait4(process.pid, 0)
    errors.seek(0)
    text = errors.read()
if b"Traceback" in text or b"Exception" in text:
    sys.exit(text.decode(errors="replace"))
print(json.dumps([os.times().elapsed - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
"""
"""Runs a command and prints its cost; its memory would include that of a large process that starts it.

The exit code does not show whether a run failed: a segment whose end is cut is not sound.
"""


def measured(command: Command) -> Run:
    """Run a command, whose output goes to nowhere, and return its cost."""
    launch = [sys.executable, "-I", "-S", "-c", LAUNCHER, *map(str, command)]
    # installed modules are compiled; a checkout's are by the first run, if the environment does not forbid it
    env = os.environ | {"PYTHONDONTWRITEBYTECODE": ""}
    return Run(*json.loads(subprocess.run(launch, check=True, stdout=subprocess.PIPE, env=env).stdout))


def best(commands: Mapping[str, Command], rounds: int) -> dict[str, Run]:
    """Return the least of each cost, and the greatest memory, of commands that run in turn."""
    runs: dict[str, list[Run]] = {name: [] for name in commands}
    for number in range(rounds):
        for name in list(commands)[:: 1 if number % 2 else -1]:
            runs[name].append(measured(commands[name]))
    return {
        name: Run(
            min(one.seconds for one in some), min(one.cpu for one in some), max(one.memory for one in some)
        )
        for name, some in runs.items()
    }


def segment(folder: Path, name: str, mib: int) -> Path:
    """Return a sound segment, which is made once."""
    place = folder / f"{name}-{mib}"
    if not place.is_dir():
        place.mkdir(parents=True)
        if name in GENERATED:
            write_generated(place / f"{0:020}.log", mib * MIB, plain=GENERATED[name])
        else:
            write_codec(place / f"{0:020}.log", NUMBERS[name], mib * MIB)
    return next(place.glob("*.log"))


def write_generated(path: Path, size: int, *, plain: bool) -> None:
    """Write entries of the generator of segments, whose offsets follow each other without a gap.

    Kafka's tool lists each gap. Entries whose offset cannot be changed would go back, and are left out.
    """
    rng = Random("explain")
    pool = text_pool(rng)
    entries = [one for one in (intact_entry(rng, pool, plain=plain) for _ in range(DRAWN)) if one.movable]
    counts = [int(columnar.scan(one.data).records[0]) for one in entries]
    with path.open("wb") as file:
        offset = 0
        while file.tell() < size:
            number = rng.randrange(len(entries))
            last = offset + counts[number] - 1
            file.write(entries[number].at(offset if entries[number].magic == 2 else last))
            offset = last + 1


def write_codec(path: Path, codec: int, size: int) -> None:
    """Write batches of 64 KiB of records, compressed with one codec; no checksum covers the base offset."""
    rng = Random(codec)
    pool = [batch_of(rng, 100, codec)[8:] for _ in range(DISTINCT)]
    with path.open("wb") as file:
        at = 0
        while file.tell() < size:
            file.write((at * 1000).to_bytes(8) + pool[at % DISTINCT])
            at += 1


def compare(name: str, path: Path, rounds: int, python: str) -> None:
    """Print the costs of all for one segment, and their ratios."""
    dump = ["java", "-cp", f"{dumping.jars()}/*", dumping.TOOL, "--files", path]
    ours = [python, "-m", "wireproof", "explain", path]
    took = best(
        {
            "explain": ours,
            "explain --headers": [*ours, "--headers"],
            "DumpLogSegments --deep-iteration": [*dump, "--deep-iteration"],
            "DumpLogSegments": dump,
        },
        rounds,
    )
    for what, one in took.items():
        click.echo(f"{name:8} {what:34} {one.seconds:7.2f} s {one.cpu:7.2f} s of cores {one.memory:6.0f} MiB")
    pairs = (("explain", "DumpLogSegments --deep-iteration"), ("explain --headers", "DumpLogSegments"))
    for mine, theirs in pairs:
        one, other = took[mine], took[theirs]
        told(f"{name}: {mine} as fast as {theirs}", other.seconds / one.seconds, least=LEAST)
        told(f"{name}: the same by the time of the cores", other.cpu / one.cpu, least=LEAST)
        told(f"{name}: memory of {mine} in MiB", one.memory, most=MOST_MEMORY)


@click.command()
@click.argument("data", nargs=-1, type=click.Choice([*GENERATED, *NUMBERS]))
@click.option("--folder", type=click.Path(file_okay=False, path_type=Path), help="keeps the segments")
@click.option("--mib", default=1024, help="of a segment")
@click.option("--rounds", default=3, help="of which the best is kept")
@click.option("--python", default=sys.executable, help="of an environment with the extra `columnar` alone")
def main(*, data: tuple[str, ...], folder: Path | None, mib: int, rounds: int, python: str) -> None:
    """Compare on uncompressed batches, on a mix of all codecs and magics, and on each codec alone."""
    conditions()
    with tempfile.TemporaryDirectory() as made:
        for name in data or (*GENERATED, *NUMBERS):
            compare(name, segment(folder or Path(made), name, mib), rounds, python)


if __name__ == "__main__":
    main()
