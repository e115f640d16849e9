"""Export of seeds and dictionaries for fuzzers of other people, in the layouts that these read.

seeds.ndjson     a line for each seed: its format, name and size, and the cases that have these bytes
libfuzzer/, afl/, go/, jazzer/   the same seeds in the layout of each fuzzer: see `seed_layouts`
mutator/         sources that let libFuzzer, cargo-fuzz and AFL++ use the field-aware mutator
LICENSE, NOTICE  the licence of all this; dictionaries name it too

The result depends on the cases alone, not on their order. A seed is at most 4 KiB, because fuzzers slow down
with larger ones, and the seeds of a format are at most 1 MiB together: the smallest are kept.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha1, sha256
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import Final
from zipfile import ZIP_STORED, ZipFile, ZipInfo

from attrs import frozen

from wireproof import __version__
from wireproof.cases.case import Case
from wireproof.cases.fixtures import Suite
from wireproof.cases.mutate import seed
from wireproof.cases.mutate.dictionary import dictionary, dictionary_text
from wireproof.cases.mutate.encodings import samples
from wireproof.files import replace_bytes
from wireproof.formats import FORMATS, Format
from wireproof.report.export import SPDX_LINE, licence_text, notice
from wireproof.report.hexdump import data_of

# --- seed layouts ---
#
# The layouts in which fuzzers read seeds and dictionaries: files of one format, by their paths.
#
# libfuzzer/FORMAT/, FORMAT_seed_corpus.zip, FORMAT.dict also for cargo-fuzz; the archive is for OSS-Fuzz
# afl/FORMAT/, FORMAT.dict `afl-fuzz -i` and `-x` go/testdata/fuzz/FuzzNAME/ beside the test with this name;
# no dictionary jazzer/NAMEFuzzTestInputs/decode/, FORMAT.dict resources beside the class NAMEFuzzTest


SeedLayout = Callable[[Format, Sequence[bytes]], Iterator[tuple[str, bytes]]]
"""Yields the path and the content of each file, from a format and its seeds."""

_PLAIN: Final = {byte: chr(byte) for byte in range(0x20, 0x7F)} | {0x22: r"\"", 0x5C: r"\\"}
"""Byte to its text in a string of Go, for bytes that are printed; the others are `\\x` and two digits."""


def libfuzzer(row: Format, seeds: Sequence[bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield a folder, an archive with the name that OSS-Fuzz expects, and a dictionary."""
    name = file_name(row)
    yield f"libfuzzer/{name}_seed_corpus.zip", _archive(seeds)
    yield from _folder_and_dictionary(f"libfuzzer/{name}/", f"libfuzzer/{name}.dict", row, seeds)


def afl(row: Format, seeds: Sequence[bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield a folder and a dictionary."""
    name = file_name(row)
    yield from _folder_and_dictionary(f"afl/{name}/", f"afl/{name}.dict", row, seeds)


def go(row: Format, seeds: Sequence[bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield the folder of a fuzz test; files have the names that Go gives them."""
    for data in map(go_file, seeds):
        name = sha256(data).hexdigest()[:16]
        yield f"go/testdata/fuzz/Fuzz{class_name(row.format_id)}/{name}", data


def jazzer(row: Format, seeds: Sequence[bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield the folder in which the JUnit integration looks for the inputs of a method, and a dictionary."""
    folder = f"jazzer/{class_name(row.format_id)}FuzzTestInputs/decode/"
    yield from _folder_and_dictionary(folder, f"jazzer/{file_name(row)}.dict", row, seeds)


LAYOUTS: Final[tuple[SeedLayout, ...]] = (libfuzzer, afl, go, jazzer)


def file_name(row: Format) -> str:
    """Return the name of a format's files: `kafka.batch-v2`."""
    return row.format_id.replace("/", "-")


def class_name(format_id: str) -> str:
    """Return the name of a format in Go and Java: `KafkaBatch_v2`."""
    name, _, revision = format_id.partition("/")
    return "".join(word.capitalize() for word in re.split(r"\W", name)) + "_" + re.sub(r"\W", "_", revision)


def go_file(data: bytes) -> bytes:
    """Return a file of Go's corpus: its version, and the argument of the fuzz test as Go writes it."""
    text = "".join(_PLAIN.get(byte, f"\\x{byte:02x}") for byte in data)
    return f'go test fuzz v1\n[]byte("{text}")\n'.encode("ascii")


def _folder_and_dictionary(
    folder: str, words: str, row: Format, seeds: Sequence[bytes]
) -> Iterator[tuple[str, bytes]]:
    """Yield seeds under the names that libFuzzer gives them, and a dictionary in libFuzzer's syntax."""
    yield from ((folder + _name(data), data) for data in seeds)
    yield words, f"# {SPDX_LINE}\n{dictionary_text(dictionary(row))}".encode("ascii")


def _name(data: bytes) -> str:
    return sha1(data, usedforsecurity=False).hexdigest()


def _archive(seeds: Sequence[bytes]) -> bytes:
    """Return a ZIP archive of the seeds, without times and compression: it is the same on every machine."""
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_STORED) as archive:
        for data in seeds:
            entry = ZipInfo(_name(data))
            entry.create_system = 3  # else the system that writes it
            archive.writestr(entry, data)
    return buffer.getvalue()


# --- seeds ---


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
        data = data_of(case) if case.format_id == row.format_id else None
        if data is not None:
            found.setdefault(data, []).append(case.id)
    kept: list[Seed] = []
    for data in sorted(found, key=lambda data: (len(data), data)):
        most -= len(data)
        if most < 0 or len(data) > MAX_SEED_BYTES:
            break
        kept.append(Seed(data, tuple(sorted(found[data]))))
    return kept


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
