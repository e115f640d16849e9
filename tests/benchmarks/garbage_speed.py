"""How fast the end of garbage is found: `PYTHONPATH=. python tests/benchmarks/garbage_speed.py [DATA…]`.

For Kafka, the search beside the reference on a small part; for Heka, the reference's scan of separators and
of noise. Garbage has no entry, so all of it is searched.
"""

import random
from collections.abc import Callable

import click
from beside import MIB, Way, best, conditions, of_process, told

from wireproof import formats
from wireproof.kafka.columnar import garbage_search
from wireproof.wire.options import DEFAULT_OPTIONS

LOG = formats.get("kafka.log", "mixed")
STREAM = formats.get("heka.stream", "0.10")
SMALL = MIB // 4

DATA: dict[str, Callable[[int], bytes]] = {
    "zeros": bytes,
    "noise": lambda size: random.Random(1).randbytes(size),
    "text": lambda size: (b"2026-11-23 12:00:00 INFO a line of a log file\n" * (size // 46 + 1))[:size],
    "ones": lambda size: b"\xff" * 16 + b"\1" * (size - 16),
}
"""Garbage of Kafka's logs; each begins with, or is given, bytes that begin no entry."""

FRAMES: dict[str, Callable[[int], bytes]] = {
    "separators": lambda size: b"\x1e" * size,
    "mixed separators": lambda size: (b"\x1e" * 200 + b"\x1f") * (size // 201),
    "noise": DATA["noise"],
}


def of_kafka(name: str, mib: int, rounds: int) -> None:
    data = b"\xff" * 20 + DATA[name](mib * MIB)
    few = data[:SMALL]

    def read(at: int, length: int) -> memoryview:
        return memoryview(data)[at : at + length]

    def search() -> object:
        found = garbage_search.find_garbage_end(read, 0, len(data), DEFAULT_OPTIONS)
        assert found == (len(data), False)
        return found

    ways: dict[str, Way] = {
        "core": of_process(search),
        "reference": of_process(lambda: sum(1 for _ in formats.scan(LOG, [few], DEFAULT_OPTIONS))),
    }
    took = best(ways, rounds)
    told(f"kafka, {name}: MiB for a second of a core", mib / took["core"].seconds)
    told(f"kafka, {name}: the reference: MiB for a second of a core", SMALL / MIB / took["reference"].seconds)


def of_heka(name: str, mib: int, rounds: int) -> None:
    data = FRAMES[name](mib * MIB)
    pieces = [data[at : at + MIB] for at in range(0, len(data), MIB)]
    scan = of_process(lambda: sum(1 for _ in formats.scan(STREAM, pieces, DEFAULT_OPTIONS)))
    told(
        f"heka, {name}: the reference: MiB for a second of a core",
        mib / best({"scan": scan}, rounds)["scan"].seconds,
    )


@click.command()
@click.option("--mib", default=64, help="of garbage for Kafka; a sixteenth of it for Heka")
@click.option("--rounds", default=3, help="of which the best is kept")
def main(*, mib: int, rounds: int) -> None:
    """Print the speeds."""
    conditions()
    for name in DATA:
        of_kafka(name, mib, rounds)
    for name in FRAMES:
        of_heka(name, max(mib // 16, 1), rounds)


if __name__ == "__main__":
    main()
