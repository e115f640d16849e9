"""How fast a scan is with the reference's verdict only.

Run it as `PYTHONPATH=. python tests/benchmarks/scan_speed.py [PART…]`.
Beside the plain loop of `columnar` over the same files in this process, on one core and on two,
and beside Kafka's own tool. Sessions are warm: a scan went before.
Segments are the project's generator's, sound ones, for Kafka's tool gives up at damage: mixed ones, and with
`--data plain` record batches without compression, where reading is all there is to do.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

import click
import dumping
from attrs import frozen
from beside import MIB, Cost, Way, best, conditions, of_tree, told
from pyspark.sql import SparkSession

from tests.generators.kafka_segments import SEGMENT, generate
from wireproof.kafka import columnar
from wireproof.spark.scan_folder import open_scan
from wireproof.spark.session import session, source_options
from wireproof.spark.verdict_rows import ScanSettings

SOUND = 1 << 62
"""One entry in so many is damaged: none."""

BLOCK = 8 * MIB
DATA = ("mixed", "plain")
"""Entries of all kinds, most of them small; batches without compression."""

WARM = 12
"""Segments of a MiB for a first scan: one for each task, so that each core has its Python by then."""

MEMORY = "--driver-memory 6g pyspark-shell"
"""More than a scan needs."""


@frozen
class Room:
    """The folders of segments and tables.

    Attributes:
        folder: of all this.
        mib: of segments, about.
        data: what is in the segments: a name of `DATA`.
        rounds: of which the best is kept.
    """

    folder: Path
    mib: int
    data: str
    rounds: int

    @property
    def segments(self) -> Path:
        """Return the folder with the segments, which are made once."""
        return self._made(f"{self.data}-{self.mib}", self.mib * MIB, SEGMENT)

    @property
    def warm(self) -> Path:
        """Return a folder of small segments."""
        return self._made("warm", WARM * MIB, MIB)

    def _made(self, name: str, size: int, segment: int) -> Path:
        folder = self.folder / name
        if not (folder / "manifest.json").exists():
            generate(folder, size, 1, segment=segment, every=SOUND, plain=self.data == "plain")
        return folder

    @property
    def files(self) -> list[Path]:
        """Return the segments, in order."""
        return sorted(self.segments.glob("*.log"))

    @property
    def gib(self) -> float:
        """Return the size of the segments in GiB."""
        return sum(path.stat().st_size for path in self.files) / (1 << 30)

    def scanned(self, spark: SparkSession, folder: Path) -> None:
        """A scan as the verb makes it, its tables included."""
        out = self.folder / "out"
        shutil.rmtree(out, ignore_errors=True)
        settings = ScanSettings("wireproof.kafka_log", source_options([str(folder)]), ())
        open_scan(settings, out).run(spark)

    @contextmanager
    def session(self, master: str) -> Iterator[SparkSession]:
        """A warm one."""
        spark = session(master)
        spark.sparkContext.setLogLevel("ERROR")
        self.scanned(spark, self.warm)
        try:
            yield spark
        finally:
            spark.stop()

    def on(self, master: str, call: Callable[[SparkSession], object]) -> Way:
        """A way that has a warm session of its own, which is not timed."""

        def way() -> Cost:
            with self.session(master) as spark:
                return of_tree(lambda: call(spark))()

        return way


def plainly(files: Sequence[Path]) -> int:
    """The bare loop: blocks of a file judged, in the same memory."""
    found, room = 0, bytearray(2 * BLOCK)
    for path in files:
        with path.open("rb", buffering=0) as file:
            left = 0
            while got := file.readinto(memoryview(room)[left:]):
                view = memoryview(room)[: left + got]
                frames = columnar.scan(view)
                torn = bool(len(frames) and frames.kind[-1] == columnar.TAIL)
                found += len(frames) - torn
                begins = int(frames.position[-1]) if torn else len(view)
                left = len(view) - begins
                room[:left] = bytes(view[begins:])
    return found


def halved(files: Sequence[Path], half: int) -> list[Path]:
    """About half of the bytes: each file goes to the half that has less."""
    halves: tuple[list[Path], list[Path]] = [], []
    sizes = [0, 0]
    for path in sorted(files, key=lambda path: -path.stat().st_size):
        least = sizes.index(min(sizes))
        halves[least].append(path)
        sizes[least] += path.stat().st_size
    return halves[half]


def cores(room: Room) -> None:
    """The scan on one core and on two, beside the plain loop; and a job over nothing."""
    segments, files = room.segments, room.files
    plainly(sorted(room.warm.glob("*.log")))
    nothing: list[float] = []

    def idle(spark: SparkSession) -> None:
        rows = spark.range(0, 6, 1, 6).mapInArrow(lambda batches: batches, "id long")
        nothing.append(of_tree(rows.collect)().seconds)

    pool = ProcessPoolExecutor(2, get_context("spawn"))
    halves = [halved(files, number) for number in (0, 1)]
    list(pool.map(plainly, halves))  # what they import is not timed
    took = best(
        {
            "loop": of_tree(lambda: plainly(files)),
            "loops": of_tree(lambda: list(pool.map(plainly, halves))),
            "one": room.on("local[1]", lambda spark: room.scanned(spark, segments)),
            "two": room.on("local[2]", lambda spark: room.scanned(spark, segments)),
            "nothing": room.on("local[2]", idle),
        },
        room.rounds,
    )
    pool.shutdown()
    loop, loops, one, two = (took[name].seconds for name in ("loop", "loops", "one", "two"))
    mib = room.gib * 1024
    told("plain loop: MiB/s", mib / loop)
    told("plain loop in two processes / in one: what the machine has to give", loop / loops)
    told("scan, local[1]: MiB/s", mib / one)
    told("scan, local[1] / plain loop", loop / one, least=0.4)
    told("scan, local[1] / plain loop, in seconds of cores", took["loop"].cpu / took["one"].cpu)
    told("scan, local[2] / local[1]", one / two, least=1.4)
    told("a job over nothing: seconds", min(nothing), most=1)


def kafka(room: Room) -> None:
    """Kafka's tool less the same over next to nothing; the scan in a warm session, for it starts for longer
    than it works, and the difference of two starts is no figure.
    """
    files, first = room.files, min(room.warm.glob("*.log"))
    printed, found = dumping.records(first), int(columnar.scan(first.read_bytes()).records.sum())
    click.echo(f"{dumping.TOOL} {dumping.VERSION} prints {printed} of the {found} records of {first.name}")
    ways = {
        "tool": of_tree(lambda: dumping.dump(files)),
        "start": of_tree(lambda: dumping.dump([first])),
        "one": room.on("local[1]", lambda spark: room.scanned(spark, room.segments)),
        "two": room.on("local[2]", lambda spark: room.scanned(spark, room.segments)),
    }
    took = best(ways, room.rounds)
    tool = Cost(took["tool"].seconds - took["start"].seconds, took["tool"].cpu - took["start"].cpu)
    told("DumpLogSegments: seconds, less its start-up", tool.seconds)
    told("DumpLogSegments: seconds of cores, less its start-up", tool.cpu)
    for name, master in (("one", "local[1]"), ("two", "local[2]")):
        told(f"scan, {master}: seconds", took[name].seconds)
        told(f"scan, {master} / DumpLogSegments", tool.seconds / took[name].seconds, least=5)
        told(f"scan, {master}: seconds of cores", took[name].cpu)
        told(f"scan, {master} / DumpLogSegments, in seconds of cores", tool.cpu / took[name].cpu)


PARTS: dict[str, Callable[[Room], None]] = {part.__name__: part for part in (cores, kafka)}


@click.command()
@click.argument("parts", nargs=-1, type=click.Choice(list(PARTS)))
@click.option("--mib", default=4096, help="of segments")
@click.option("--data", type=click.Choice(DATA), default=DATA[0], help="what is in the segments")
@click.option("--rounds", default=3, help="of which the best is kept")
@click.option("--folder", type=click.Path(file_okay=False, path_type=Path),
              help="keeps the segments for the next run; else they are thrown away")  # fmt: skip
def main(*, parts: tuple[str, ...], mib: int, data: str, rounds: int, folder: Path | None) -> None:
    """Print each figure beside its bar."""
    os.environ.setdefault("PYSPARK_SUBMIT_ARGS", MEMORY)
    conditions()
    with tempfile.TemporaryDirectory() as room:
        for part in parts or PARTS:
            PARTS[part](Room((folder or Path(room)).absolute(), mib, data, rounds))


if __name__ == "__main__":
    main()
