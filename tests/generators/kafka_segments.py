"""A generator of Kafka segments: `python -m tests.generators.kafka_segments FOLDER`.

A segment depends on the seed and its number alone. The generator writes a manifest of the expected results:
for each verdict, the number of items and their bytes. A scan of the segments must report the same.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

import click
from attrs import define, field, frozen

from tests.generators.kafka_entries import Entry, damaged_entry, intact_entry, text_pool
from wireproof.spark.stored_tables import latest_table, stored_rows

MIB: Final = 1 << 20
SEGMENT: Final = 128 * MIB
"""Approximate bytes of a segment."""

DRAWN: Final = 256
"""Different entries of a segment: it repeats these, each time with another offset."""

DAMAGED: Final = 1000
"""One entry in this number has a fault."""

STRIDE: Final = 256
"""Offsets from one entry to the next; more than an entry has records."""

TAIL: Final = 40
"""Bytes of the truncated entry at the end of the last segment."""

MANIFEST: Final = "manifest.json"


@frozen(order=True)
class Verdict:
    """The result for an item: its format, kind (`frame`, `garbage`, `tail`), and class of refusal."""

    format: str
    kind: str
    cls: str


@define
class Manifest:
    """The expected results: the number of items and their bytes, by verdict."""

    items: Counter[Verdict] = field(factory=Counter)
    bytes: Counter[Verdict] = field(factory=Counter)

    def add(self, verdict: Verdict, size: int, count: int = 1) -> None:
        self.items[verdict] += count
        self.bytes[verdict] += size

    def lines(self) -> list[str]:
        return [
            f"{one.format} {one.kind} {one.cls or '-'}: {self.items[one]} items, {self.bytes[one]} bytes"
            for one in sorted(self.items)
        ]


def entries(seed: int, number: int, size: int, every: int, *, plain: bool = False) -> Iterator[Entry]:
    """Yield the entries of a segment of about `size` bytes; about one in `every` is damaged.

    An entry whose end cannot be determined is followed by an intact one. `plain`: see `intact_entry`.
    """
    rng = Random(f"segment {seed} {number}")  # noqa: S311 - test data, not secrets
    pool = text_pool(rng)
    drawn = [intact_entry(rng, pool, plain=plain) for _ in range(DRAWN)]
    made = 0
    lost = False
    while made < size:
        entry = rng.choice(drawn)
        if not (lost or rng.randrange(every)):
            entry = damaged_entry(rng, entry)
        lost = not entry.bounded
        made += len(entry.data)
        yield entry


def verdict(entry: Entry) -> Verdict:
    named = f"kafka.batch/v{entry.magic}" if entry.bounded else "kafka.log/mixed"
    return Verdict(named, "garbage" if entry.cls else "frame", entry.cls)


def generate(
    folder: Path, size: int, seed: int, *, segment: int = SEGMENT, every: int = DAMAGED, plain: bool = False
) -> Manifest:
    """Write segments of `size` bytes together, and their manifest; the last ends in a truncated entry."""
    folder.mkdir(parents=True, exist_ok=True)
    manifest, offset = Manifest(), 0
    numbers = range(-(-size // segment))
    for number in numbers:
        with (folder / f"{offset:020}.log").open("wb") as file:
            for entry in entries(seed, number, min(segment, size - number * segment), every, plain=plain):
                file.write(entry.at(offset))
                manifest.add(verdict(entry), len(entry.data))
                offset += STRIDE
            if number == numbers[-1] and entry.bounded:
                file.write(entry.at(offset)[:TAIL])
                manifest.add(Verdict("kafka.log/mixed", "tail", ""), TAIL)
    (folder / MANIFEST).write_text(json.dumps({"seed": seed, "verdicts": rows_of(manifest)}, indent=2) + "\n")
    return manifest


def rows_of(manifest: Manifest) -> list[dict[str, Any]]:
    """Return the rows of `manifest.json`."""
    return [
        {"format": one.format, "kind": one.kind, "class": one.cls,
         "count": manifest.items[one], "bytes": manifest.bytes[one]}
        for one in sorted(manifest.items)
    ]  # fmt: skip


def read(rows: Iterable[dict[str, Any]]) -> Manifest:
    """Return the manifest of some rows: of `manifest.json`, or of the table `signatures` of a scan."""
    found = Manifest()
    for row in rows:
        if row.get("op", "scan") == "scan":
            found.add(
                Verdict(row["format"], row.get("verdict") or row["kind"], row["class"]),
                row["bytes"],
                row["count"],
            )
    return found


def differences(folder: Path, out: Path) -> list[str]:
    """Return the lines in which the manifest in `folder` and the scan with the tables in `out` differ."""
    wanted = read(json.loads((folder / MANIFEST).read_text())["verdicts"]).lines()
    found = read(stored_rows(latest_table(out, "signatures"))).lines()
    return [f"manifest: {line}" for line in wanted if line not in found] + [
        f"scan: {line}" for line in found if line not in wanted
    ]


def command(make: Callable[..., Manifest], every: int, what: str) -> click.Command:
    """Return the command of a generator, which writes `what`, or checks a scan of it against the manifest."""

    def main(folder: Path, mib: int, against: Path | None, **options: object) -> None:
        if against is None:
            click.echo("\n".join(make(folder, mib * MIB, **options).lines()))
            return
        wrong = differences(folder, against)
        click.echo("\n".join(wrong) or "the scan agrees with the manifest")
        raise SystemExit(bool(wrong))

    place = click.Path(file_okay=False, path_type=Path)
    rows = (
        click.Argument(["folder"], type=place),
        click.Option(["--mib"], default=64, type=click.IntRange(min=1), help="the approximate size"),
        click.Option(["--seed"], default=1, help="of the random generator"),
        click.Option(
            ["--every"], default=every, type=click.IntRange(min=1), help="one entry in N is damaged"
        ),
        click.Option(
            ["--against"],
            type=click.Path(exists=True, file_okay=False, path_type=Path),
            help="generate nothing: check a scan's --out against the manifest in FOLDER",
        ),
    )
    return click.Command("generate", callback=main, params=[*rows], help=f"Write {what} and `manifest.json`.")


main: Final = command(generate, DAMAGED, "Kafka segments")
main.params.append(click.Option(["--plain"], is_flag=True, help="record batches only, and none compressed"))

if __name__ == "__main__":
    main()
