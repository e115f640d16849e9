"""Export of the suite for other test runners: JSON lines and raw files.

cases.ndjson      one case per line, sorted by id: its whole fixture, and the text of its rules
sentences.ndjson  one sentence of a format document per line, with its rules and exported cases
raw/              the bytes of each decode and scan as a file, under the id of its case
schemas/          the JSON Schema of each format's values
LICENSE, NOTICE   the licence of all this
"""

import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from hashlib import sha1, sha256
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from string import Template
from typing import Any, Final
from zipfile import ZIP_STORED, ZipFile, ZipInfo

from attrs import frozen

import wireproof
from wireproof import __version__
from wireproof.cases.case import Case
from wireproof.cases.fixture_writer import case_json
from wireproof.cases.fixtures import Suite
from wireproof.cases.made_case import made_case
from wireproof.cases.rules import cited
from wireproof.derive.mutate import seed
from wireproof.derive.mutate.dictionary import dictionary, dictionary_text
from wireproof.derive.mutate.encodings import samples
from wireproof.files import read_limited_text, replace_bytes
from wireproof.formats import FORMATS, Format
from wireproof.inspect.hexdump import data_of
from wireproof.lint.sources import coverages
from wireproof.wire.json_values import json_schema

# --- licence ---


SPDX_ID: Final = "Apache-2.0"
"""The identifier of the licence in the list of SPDX; the same as in pyproject.toml."""

SPDX_LINE: Final = f"SPDX-License-Identifier: {SPDX_ID}"

_NOTICE: Final = Template("""wireproof $version: cases of the message formats of Kafka, Iggy and Heka
Copyright the wireproof contributors

$spdx

Fixtures $fixtures. The field `source` of a case has the origin of its bytes. Rules and sentences are worded
anew; their sources are linked, and keep their own licences.
""")


# --- export ---


CASES: Final = "cases.ndjson"
"""The file of an export with one case per line."""


def export(suite: Suite, cases: Sequence[Case], folder: Path, *, generated: bool = False) -> int:
    """Write everything to `folder`, which is new or empty; return the bytes of raw files; raises OSError.

    With `generated` the inputs of generated cases are written too, as files or as values; else their recipes.
    """
    size = 0
    lines: list[str] = []
    for case in cases:
        if generated:
            case = made_case(case)  # noqa: PLW2901 - each is large, and is dropped before the next is made
        data = data_of(case)
        tree = line_of(suite, case, data)
        if data is not None:
            _put(folder / tree["file"], data)
        lines.append(_line(tree))
        size += len(data or b"")
    _put(folder / CASES, "".join(lines).encode())
    _put(folder / "sentences.ndjson", "".join(sentence_lines(suite, {case.id for case in cases})).encode())
    for row in FORMATS.values():
        schema: Mapping[str, Any] = {"$comment": SPDX_LINE, **json_schema(row.value, row.format_id)}
        text = json.dumps(schema, indent=2) + "\n"
        _put(folder / "schemas" / f"{file_name(row)}.schema.json", text.encode())
    readme = (files(__package__) / "templates" / "export.md").read_text(encoding="utf-8")
    readme = readme.format(version=__version__, count=len(lines), hash=suite.hash)
    _put(folder / "README.md", readme.encode())
    _put_licence(suite, folder)
    return size


def sentence_lines(suite: Suite, chosen: Container[str]) -> Iterator[str]:
    """Yield a line of JSON for each sentence of the format documents, with its chosen cases."""
    for row in coverages(suite):
        sentence = row.sentence
        tree = {
            "id": sentence.id,
            "text": sentence.text,
            "sources": _places(sentence.cites, suite),
            "state": row.state,
            "rules": list(row.rules),
            "cases": [case.id for case in row.cases if case.id in chosen],
            "exclusion": sentence.exclusion,
            "open": sentence.open,
            "one_kind": sentence.one_kind,
        }
        yield _line(tree)


def _line(row: Mapping[str, Any]) -> str:
    return json.dumps(row, separators=(",", ":"), ensure_ascii=False) + "\n"


def line_of(suite: Suite, case: Case, data: bytes | None) -> dict[str, Any]:
    """Return the JSON object of a line; id and file are first, for readers without a JSON library."""
    row = case_json(case)
    where = {"file": f"raw/{case.id}.bin"} if data is not None else {}
    format_row = {"format": case.format, "revision": case.revision}
    checksum = {"sha256": sha256(data).hexdigest()} if data is not None else {}
    rules = [
        {
            "id": rule.id,
            "text": rule.text,
            "document": rule.document,
            "section": rule.section,
            "basis": rule.basis,
            "sources": _places(rule.cites, suite),
        }
        for rule in (suite.rules[name] for name in case.rules)
    ]
    return {"id": row.pop("id"), **where, **format_row, **checksum, **row, "rules": rules}


def _places(cites: Iterable[str], suite: Suite) -> list[dict[str, str]]:
    return [{"title": place.title, "url": place.url} for place in cited(cites, suite.sources)]


def _put(path: Path, data: bytes) -> None:
    replace_bytes(path, data, durable=False)


def _put_licence(suite: Suite, folder: Path) -> None:
    """Write the licence, of the wheel if it is there, else of the checkout, and the notice of a copy."""
    package = Path(wireproof.__file__).parent
    packaged = package / "_licence" / "LICENSE"
    text = read_limited_text(packaged if packaged.is_file() else package.parents[1] / "LICENSE", 1 << 16)
    _put(folder / "LICENSE", text.encode())
    notice = _NOTICE.substitute(version=__version__, spdx=SPDX_LINE, fixtures=suite.hash)
    _put(folder / "NOTICE", notice.encode())


# --- seed layouts ---
#
# The layouts in which fuzzers read seeds and dictionaries: files of one format, by their paths.
#
# libfuzzer/FORMAT/, FORMAT_seed_corpus.zip, FORMAT.dict also for cargo-fuzz; the archive is for OSS-Fuzz
# afl/FORMAT/, FORMAT.dict `afl-fuzz -i` and `-x` go/testdata/fuzz/FuzzNAME/ beside the test with this name;
# no dictionary jazzer/NAMEFuzzTestInputs/decode/, FORMAT.dict resources beside the class NAMEFuzzTest


_PLAIN: Final = {byte: chr(byte) for byte in range(0x20, 0x7F)} | {0x22: r"\"", 0x5C: r"\\"}
"""Byte to its text in a string of Go, for bytes that are printed; the others are `\\x` and two digits."""


def seed_files(row: Format, seeds: Sequence[bytes]) -> Iterator[tuple[str, bytes]]:
    """Yield the path and the content of each file of a format, for all fuzzers."""
    name, of_class = file_name(row), class_name(row.format_id)
    # A ZIP archive of the seeds, without times and compression: it is the same on every machine.
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_STORED) as archive:
        for data in seeds:
            entry = ZipInfo(_name(data))
            entry.create_system = 3  # else the system that writes it
            archive.writestr(entry, data)
    yield f"libfuzzer/{name}_seed_corpus.zip", buffer.getvalue()
    # Seeds under the names that libFuzzer gives them, and a dictionary in its syntax.
    words = f"# {SPDX_LINE}\n{dictionary_text(dictionary(row))}".encode("ascii")
    for folder in (f"libfuzzer/{name}", f"afl/{name}", f"jazzer/{of_class}FuzzTestInputs/decode"):
        yield from ((f"{folder}/{_name(data)}", data) for data in seeds)
        yield f"{folder.partition('/')[0]}/{name}.dict", words
    for data in map(go_file, seeds):  # files have the names that Go gives them
        yield f"go/testdata/fuzz/Fuzz{of_class}/{sha256(data).hexdigest()[:16]}", data


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


def _name(data: bytes) -> str:
    return sha1(data, usedforsecurity=False).hexdigest()


# --- seeds ---


MAX_SEED_BYTES: Final = 4096
"""Maximum bytes of a seed; a larger input is left out, because a part of it would mean something else."""


@frozen
class ExportedSeeds:
    """The size of an export: formats, seeds, and the bytes of the seeds, counted once."""

    formats: int
    seeds: int
    size: int


def export_seeds(suite: Suite, cases: Sequence[Case], folder: Path) -> ExportedSeeds:
    """Write seeds and dictionaries of the formats of `cases` to a new or empty folder; raises OSError."""
    lines: list[str] = []
    size = 0
    chosen = {case.format_id for case in cases}
    rows = [row for row in FORMATS.values() if row.format_id in chosen]
    for row in rows:
        seeds = seeds_of(row, cases)
        for path, data in seed_files(row, tuple(seeds)):
            _put(folder / path, data)
        for data, ids in seeds.items():
            tree = {"format": row.format_id, "name": _name(data), "size": len(data), "cases": ids}
            lines.append(_line(tree))
            size += len(data)
    resources = files(__package__)
    for name in ("wireproof_mutator.c", "wireproof_afl.py"):
        _put(folder / "mutator" / name, (resources / "mutator" / name).read_bytes())
    page = (resources / "templates" / "seeds.md").read_text(encoding="utf-8")
    values = {"version": __version__, "seeds": len(lines), "formats": len(rows), "hash": suite.hash}
    _put(folder / "seeds.ndjson", "".join(lines).encode())
    _put(folder / "README.md", page.format(**values).encode())
    _put_licence(suite, folder)
    return ExportedSeeds(len(rows), len(lines), size)


def seeds_of(row: Format, cases: Iterable[Case], most: int = 1 << 20) -> Mapping[bytes, Sequence[str]]:
    """Return the seeds of a format, the smallest first, at most `most` bytes, with the ids of their cases.

    They are the inputs of its cases, and its minimal and maximal encodings.
    """
    found: dict[bytes, list[str]] = {data: [] for data in (seed(row), *samples(row))}
    for case in cases:
        data = data_of(case) if case.format_id == row.format_id else None
        if data is not None:
            found.setdefault(data, []).append(case.id)
    kept: dict[bytes, Sequence[str]] = {}
    for data in sorted(found, key=lambda data: (len(data), data)):
        most -= len(data)
        if most < 0 or len(data) > MAX_SEED_BYTES:
            break
        kept[data] = sorted(found[data])
    return kept
