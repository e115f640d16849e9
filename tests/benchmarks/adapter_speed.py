"""A scan with an adapter beside the adapter alone: `PYTHONPATH=. python tests/benchmarks/adapter_speed.py`.

Alone is: the same object in this process, asked the same questions for the same digests, one after another,
with nobody who reads the reference's answer or judges. The scan does all that and keeps the adapter in
processes of their own; it has a session that is warm.
"""

import shutil
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import click
from beside import MIB, best, conditions, of_tree, told
from pyspark.sql import SparkSession

from tests.generators.kafka_segments import generate
from wireproof.adapters.contract import Hello, Request
from wireproof.adapters.python_object import Caller
from wireproof.adapters.registry.registry import load_object, resolve
from wireproof.adapters.requests import prepare_case, request_for
from wireproof.cases.case import Accept, Case, Data
from wireproof.kafka import columnar
from wireproof.spark.scan_folder import open_scan
from wireproof.spark.session import session, source_options
from wireproof.spark.verdict_rows import ScanSettings

BAR = 0.7
SOUND = 1 << 62
"""One entry in so many is damaged: none, for a refusal costs nothing."""


def questions(folder: Path, hello: Hello) -> Iterator[Request]:
    """Return the requests of a scan for each entry, if the adapter claims to read it."""
    for path in sorted(folder.glob("*.log")):
        data = path.read_bytes()
        frames = columnar.scan(data)
        for at, length, magic in zip(frames.position, frames.length, frames.magic, strict=True):
            if magic >= 0:
                case = prepare_case(_case(data[at : at + length], int(magic)), hello)
                if isinstance(case, Case):
                    yield request_for(case, "0", "digest")


def _case(data: bytes, magic: int) -> Case:
    name = f"kafka.batch/v{magic}"
    return Case(f"{name}/benchmark/entry", "kafka.batch", f"v{magic}", Data(data), Accept())


def alone(caller: Caller, requests: list[Request]) -> None:
    for request in requests:
        caller.answer(request)


@click.command()
@click.option("--adapter", default="aiokafka", help="a Python object")
@click.option("--mib", default=256, help="of segments")
@click.option("--plain", is_flag=True, help="record batches only, and none compressed")
@click.option("--rounds", default=3, help="of which the best is kept")
def main(*, adapter: str, mib: int, plain: bool, rounds: int) -> None:
    """Print the ratio on one core of Spark's and on two, beside its bar."""
    conditions()
    with tempfile.TemporaryDirectory() as name:
        room, caller = Path(name), Caller(load_object(resolve(adapter)))
        segments, warm = room / "segments", room / "warm"
        generate(segments, mib * MIB, 1, segment=64 * MIB, every=SOUND, plain=plain)
        generate(warm, 6 * MIB, 2, segment=MIB, every=SOUND)
        requests = list(questions(segments, caller.hello))
        click.echo(f"{mib} MiB, {len(requests)} entries are asked of {adapter}")
        for master in ("local[1]", "local[2]"):
            spark = session(master)
            scanned(spark, adapter, warm, room / "out")
            ways = {
                "alone": of_tree(lambda: alone(caller, requests)),
                "scan": of_tree(partial(scanned, spark, adapter, segments, room / "out")),
            }
            took = best(ways, rounds)
            spark.stop()
            told(f"alone: MiB/s, {adapter}", mib / took["alone"].seconds)
            told(
                f"scan, {master}: seconds of cores for each of the clock",
                took["scan"].cpu / took["scan"].seconds,
            )
            told(f"scan, {master} / alone", took["alone"].seconds / took["scan"].seconds, least=BAR)


def scanned(spark: SparkSession, adapter: str, folder: Path, out: Path) -> None:
    shutil.rmtree(out, ignore_errors=True)
    settings = ScanSettings("wireproof.kafka_log", source_options([str(folder)]), (adapter,))
    open_scan(settings, out).run(spark)


if __name__ == "__main__":
    main()
