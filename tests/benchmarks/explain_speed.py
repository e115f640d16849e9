"""How fast `explain` lists a segment of a GiB, one line for each batch, beside Kafka's own tool.

Run it as `PYTHONPATH=. python tests/benchmarks/explain_speed.py [FOLDER]`; the segments are kept in FOLDER.
Both run as processes of their own, start included. Kafka's `DumpLogSegments` checks the checksum of a batch,
and decodes records only with `--deep-iteration`; `explain` always decompresses and decodes every record. So
there are two ratios: to the tool that does the same work, and to the one that prints the same lines.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import click
import dumping
from attrs import frozen
from beside import MIB, told

from tests.generators.kafka_segments import generate

GIB = 1024 * MIB
SOUND = 1 << 62
"""One entry in so many is damaged: none."""


@frozen
class Run:
    """The cost of a process: seconds of the clock and of the cores, and its memory in MiB."""

    seconds: float
    cpu: float
    memory: float


def measured(command: Sequence[str | Path]) -> Run:
    """Run a command, whose output goes to nowhere, and return its cost."""
    start = os.times().elapsed
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, used = os.wait4(process.pid, 0)
    return Run(os.times().elapsed - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def best(command: Sequence[str | Path], rounds: int) -> Run:
    """Return the least of each cost, and the greatest memory."""
    runs = [measured(command) for _ in range(rounds)]
    return Run(
        min(one.seconds for one in runs), min(one.cpu for one in runs), max(one.memory for one in runs)
    )


def segment(folder: Path, *, plain: bool) -> Path:
    """Return a sound segment of a GiB, which is made once."""
    place = folder / ("plain" if plain else "mixed")
    if not (place / "manifest.json").exists():
        place.mkdir(parents=True, exist_ok=True)
        generate(place, GIB, 1, segment=GIB, every=SOUND, plain=plain)
    return next(place.glob("*.log"))


def compare(name: str, path: Path, rounds: int) -> None:
    """Print the costs of both for one segment, and their ratios."""
    dump = ["java", "-cp", f"{dumping.jars()}/*", dumping.TOOL, "--files", path]
    ours = best([sys.executable, "-m", "wireproof", "explain", path], rounds)
    deep, lines = best([*dump, "--deep-iteration"], rounds), best(dump, rounds)
    for what, one in (
        ("explain", ours),
        ("DumpLogSegments, records", deep),
        ("DumpLogSegments, batches", lines),
    ):
        click.echo(f"{name:8} {what:26} {one.seconds:7.2f} s {one.cpu:7.2f} s of cores {one.memory:6.0f} MiB")
    told(f"{name}: as fast as DumpLogSegments that decodes records too", deep.seconds / ours.seconds, least=3)
    told(f"{name}: the same by the time of the cores", deep.cpu / ours.cpu)
    told(f"{name}: as fast as DumpLogSegments that reads headers and checksums", lines.seconds / ours.seconds)
    told(f"{name}: memory in MiB", ours.memory, most=300)


@click.command()
@click.argument("folder", required=False, type=click.Path(file_okay=False, path_type=Path))
@click.option("--rounds", default=3)
def main(folder: Path | None, rounds: int) -> None:
    """Compare on uncompressed batches, and on a mix of all codecs and magics."""
    with tempfile.TemporaryDirectory() as made:
        for plain in (True, False):
            compare("plain" if plain else "mixed", segment(folder or Path(made), plain=plain), rounds)


if __name__ == "__main__":
    main()
