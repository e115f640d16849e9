"""Export of seeds and dictionaries for fuzzers of other people, in the layouts that these read.

seeds.ndjson     a line for each seed: its format, name and size, and the cases that have these bytes
libfuzzer/, afl/, go/, jazzer/   the same seeds in the layout of each fuzzer: see `seed_layouts`
mutator/         sources that let libFuzzer, cargo-fuzz and AFL++ use the field-aware mutator
LICENSE, NOTICE  the licence of all this; dictionaries name it too

The result depends on the cases alone, not on their order. A seed is at most 4 KiB, because fuzzers slow down
with larger ones, and the seeds of a format are at most 1 MiB together: the smallest are kept.
"""

import json
from collections.abc import Iterable, Sequence
from hashlib import sha1
from importlib.resources import files
from pathlib import Path
from typing import Final

from attrs import frozen

from wireproof import __version__
from wireproof.cases.case import Case, Chunks, Data
from wireproof.cases.fixtures import Suite
from wireproof.cases.mutate import seed
from wireproof.cases.mutate.encodings import samples
from wireproof.files import replace_bytes
from wireproof.formats import FORMATS, Format
from wireproof.report.licence import licence_text, notice
from wireproof.report.seed_layouts import LAYOUTS

MAX_SEED_BYTES: Final = 4096
"""Maximum bytes of a seed; a larger input is left out, because a part of it would mean something else."""

MUTATOR_FILES: Final = ("wireproof_mutator.c", "wireproof_afl.py")

MAX_FORMAT_BYTES: Final = 1 << 20
"""Maximum bytes of all seeds of a format."""


@frozen
class Seed:
    """An input from which a fuzzer starts, and the ids of the cases that have these bytes."""

    data: bytes
    cases: tuple[str, ...]


@frozen
class ExportedSeeds:
    """The size of an export: formats, seeds, and the bytes of the seeds, counted once."""

    formats: int
    seeds: int
    size: int


def export_seeds(suite: Suite, cases: Sequence[Case], folder: Path) -> ExportedSeeds:
    """Write seeds and dictionaries of the formats of `cases` to `folder`, which is new or empty.

    Raises:
        OSError: a file cannot be written.
    """
    lines: list[str] = []
    size = 0
    chosen = {case.format_id for case in cases}
    rows = [row for row in FORMATS.values() if row.format_id in chosen]
    for row in rows:
        seeds = seeds_of(row, cases)
        for layout in LAYOUTS:
            for path, data in layout(row, [one.data for one in seeds]):
                replace_bytes(folder / path, data, durable=False)
        lines += [_line(row, one) for one in seeds]
        size += sum(len(one.data) for one in seeds)
    exported = ExportedSeeds(len(rows), len(lines), size)
    _beside(suite, folder, exported, lines)
    return exported


def seeds_of(row: Format, cases: Iterable[Case], most: int = MAX_FORMAT_BYTES) -> list[Seed]:
    """Return the seeds of a format, the smallest first: at most `most` bytes.

    They are the inputs of its cases, and its minimal and maximal encodings.
    """
    found: dict[bytes, list[str]] = {data: [] for data in (seed(row), *samples(row))}
    for case in cases:
        data = _input(case) if case.format_id == row.format_id else None
        if data is not None:
            found.setdefault(data, []).append(case.id)
    kept: list[Seed] = []
    for data in sorted(found, key=lambda data: (len(data), data)):
        most -= len(data)
        if most < 0 or len(data) > MAX_SEED_BYTES:
            break
        kept.append(Seed(data, tuple(sorted(found[data]))))
    return kept


def _input(case: Case) -> bytes | None:
    """Return the bytes of a decode or a scan; None if the case has no bytes, or makes them from a recipe."""
    match case.input:
        case Data(data):
            return data
        case Chunks(chunks):
            return b"".join(chunks)
        case _:
            return None


def _line(row: Format, one: Seed) -> str:
    name = sha1(one.data, usedforsecurity=False).hexdigest()
    tree = {"format": row.format_id, "name": name, "size": len(one.data), "cases": one.cases}
    return json.dumps(tree, separators=(",", ":")) + "\n"


def _beside(suite: Suite, folder: Path, exported: ExportedSeeds, lines: Iterable[str]) -> None:
    """Write the list of the seeds, a page about them, and the licence."""
    resources = files(__package__)
    for name in MUTATOR_FILES:
        data = (resources / "mutator" / name).read_bytes()
        replace_bytes(folder / "mutator" / name, data, durable=False)
    page = (resources / "templates" / "seeds.md").read_text(encoding="utf-8")
    values = {
        "version": __version__,
        "seeds": exported.seeds,
        "formats": exported.formats,
        "hash": suite.hash,
    }
    texts = {
        "seeds.ndjson": "".join(lines),
        "README.md": page.format(**values),
        "LICENSE": licence_text(),
        "NOTICE": notice(suite.hash),
    }
    for name, text in texts.items():
        replace_bytes(folder / name, text.encode(), durable=False)
