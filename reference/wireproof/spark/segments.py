"""Generated Kafka segments, with a ledger of what is in them to hold a scan to.

`python -m wireproof.spark.segments FOLDER` writes them. A segment is a function of seed and number alone. The
ledger says of each verdict how many items it has and how many bytes; a scan must say the same.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

import click
import pyarrow.parquet as pq
from attrs import define, field, frozen

from wireproof.spark.entries import Entry, damaged, sound, text

MIB: Final = 1 << 20
SEGMENT: Final = 128 * MIB
"""Bytes of a segment, about."""

DRAWN: Final = 256
"""Entries that are packed for a segment; the log is made of these, each time with another offset."""

DAMAGED: Final = 1000
"""One entry in so many has a fault."""

STRIDE: Final = 256
"""Offsets from one entry to the next: more than an entry has records."""

TAIL: Final = 40
"""Bytes of the entry that ends the last segment, cut."""

LEDGER: Final = "ledger.json"


@frozen(order=True)
class Verdict:
    """What a conforming reader says of an item: its format, `frame`, `garbage` or `tail`, and the class."""

    format: str
    kind: str
    cls: str


@define
class Ledger:
    """Items and bytes by verdict."""

    items: Counter[Verdict] = field(factory=Counter)
    bytes: Counter[Verdict] = field(factory=Counter)

    def add(self, verdict: Verdict, size: int, count: int = 1) -> None:
        """Count items."""
        self.items[verdict] += count
        self.bytes[verdict] += size

    def lines(self) -> list[str]:
        """One line a verdict, in order."""
        return [
            f"{one.format} {one.kind} {one.cls or '-'}: {self.items[one]} items, {self.bytes[one]} bytes"
            for one in sorted(self.items)
        ]


def entries(seed: int, number: int, size: int, every: int, *, plain: bool = False) -> Iterator[Entry]:
    """The entries of a segment of about `size` bytes, one in `every` damaged; `plain` as `sound` has it.

    Behind one whose end nobody can tell comes a sound one.
    """
    rng = Random(f"segment {seed} {number}")  # noqa: S311 - test data, not secrets
    pool = text(rng)
    drawn = [sound(rng, pool, plain=plain) for _ in range(DRAWN)]
    made = 0
    lost = False
    while made < size:
        entry = rng.choice(drawn)
        if not (lost or rng.randrange(every)):
            entry = damaged(rng, entry)
        lost = not entry.whole
        made += len(entry.data)
        yield entry


def verdict(entry: Entry) -> Verdict:
    """What is said of a whole entry."""
    named = f"kafka.batch/v{entry.magic}" if entry.whole else "kafka.log/mixed"
    return Verdict(named, "garbage" if entry.cls else "frame", entry.cls)


def generate(
    folder: Path, size: int, seed: int, *, segment: int = SEGMENT, every: int = DAMAGED, plain: bool = False
) -> Ledger:
    """Write segments of about `size` bytes together, and their ledger; the last one ends in a cut entry."""
    folder.mkdir(parents=True, exist_ok=True)
    ledger, offset = Ledger(), 0
    numbers = range(-(-size // segment))
    for number in numbers:
        with (folder / f"{offset:020}.log").open("wb") as file:
            for entry in entries(seed, number, min(segment, size - number * segment), every, plain=plain):
                file.write(entry.at(offset))
                ledger.add(verdict(entry), len(entry.data))
                offset += STRIDE
            if number == numbers[-1] and entry.whole:
                file.write(entry.at(offset)[:TAIL])
                ledger.add(Verdict("kafka.log/mixed", "tail", ""), TAIL)
    (folder / LEDGER).write_text(json.dumps({"seed": seed, "verdicts": rows_of(ledger)}, indent=2) + "\n")
    return ledger


def rows_of(ledger: Ledger) -> list[dict[str, Any]]:
    """The rows of `ledger.json`."""
    verdicts = sorted(ledger.items)
    return [{**_named(one), "count": ledger.items[one], "bytes": ledger.bytes[one]} for one in verdicts]


def _named(one: Verdict) -> dict[str, str]:
    return {"format": one.format, "kind": one.kind, "class": one.cls}


def read(rows: Iterable[dict[str, Any]]) -> Ledger:
    """A ledger of rows: of `ledger.json`, or of the table `signatures` of a scan."""
    found = Ledger()
    for row in rows:
        if row.get("op", "scan") == "scan":
            found.add(Verdict(row["format"], row["kind"], row["class"]), row["bytes"], row["count"])
    return found


def differences(folder: Path, out: Path) -> list[str]:
    """Where a scan, whose tables are in `out`, says otherwise than the ledger in `folder`; mostly nowhere."""
    wanted = read(json.loads((folder / LEDGER).read_text())["verdicts"]).lines()
    found = read(pq.read_table(out / "signatures.parquet").to_pylist()).lines()
    return [f"ledger: {line}" for line in wanted if line not in found] + [
        f"scan: {line}" for line in found if line not in wanted
    ]


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--mib", default=64, type=click.IntRange(min=1), help="how much, about")
@click.option("--seed", default=1, help="of all that is drawn")
@click.option("--every", default=DAMAGED, type=click.IntRange(min=1), help="one in so many is damaged")
@click.option("--plain", is_flag=True, help="record batches only, and none compressed")
@click.option("--against", type=click.Path(exists=True, file_okay=False, path_type=Path),
              help="generate nothing: hold a scan's --out to the ledger in FOLDER")  # fmt: skip
def main(folder: Path, mib: int, seed: int, every: int, plain: bool, against: Path | None) -> None:
    """Write Kafka segments and `ledger.json` to FOLDER, or hold a scan of them to it."""
    if against is None:
        click.echo("\n".join(generate(folder, mib * MIB, seed, every=every, plain=plain).lines()))
        return
    wrong = differences(folder, against)
    click.echo("\n".join(wrong) or "scan matches the ledger")
    raise SystemExit(bool(wrong))


if __name__ == "__main__":
    main()
