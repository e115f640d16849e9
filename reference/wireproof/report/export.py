"""Export of the suite for other test runners: JSON lines and raw files.

cases.ndjson      one case per line, sorted by id: its whole fixture, and the text of its rules
sentences.ndjson  one sentence of a format document per line, with its rules and exported cases
raw/              the bytes of each decode and scan as a file, under the id of its case
schemas/          the JSON Schema of each format's values
LICENSE, NOTICE   the licence of all this
"""

import json
from collections.abc import Container, Iterator, Mapping, Sequence
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, Final

from attrs import frozen

import wireproof
from wireproof import __version__
from wireproof.cases.case import Case, Chunks, Data, Generated, Steps, Value
from wireproof.cases.fixture_writer import case_json
from wireproof.cases.fixtures import Suite
from wireproof.cases.lint_sentences import coverages
from wireproof.cases.made_case import made_case
from wireproof.cases.sources import cited
from wireproof.files import read_limited_text, replace_bytes
from wireproof.formats import FORMATS
from wireproof.report.traceability import sentence_json
from wireproof.wire.json_values import json_schema

# --- licence ---
#
# The licence of what the suite writes for others: one line for each file, the text, and a notice.


SPDX_ID: Final = "Apache-2.0"
"""The identifier of the licence in the list of SPDX; the same as in pyproject.toml."""

SPDX_LINE: Final = f"SPDX-License-Identifier: {SPDX_ID}"

MAX_SIZE: Final = 1 << 16
"""Maximum bytes of the text."""

_NOTICE: Final = Template("""wireproof $version: cases of the message formats of Kafka, Iggy and Heka
Copyright the wireproof contributors

$spdx

Fixtures $fixtures. The field `source` of a case has the origin of its bytes. Rules and sentences are worded
anew; their sources are linked, and keep their own licences.
""")


def licence_text() -> str:
    """Return the text of the licence: of the wheel if it is there, else of the checkout."""
    package = Path(wireproof.__file__).parent
    packaged = package / "_licence" / "LICENSE"
    return read_limited_text(packaged if packaged.is_file() else package.parents[1] / "LICENSE", MAX_SIZE)


def notice(fixtures: str) -> str:
    """Return the notice that a copy of the cases has to keep; `fixtures` is their digest."""
    return _NOTICE.substitute(version=wireproof.__version__, spdx=SPDX_LINE, fixtures=fixtures)


# --- export ---


CASES: Final = "cases.ndjson"
"""The file of an export with one case per line."""


@frozen
class Exported:
    """The size of an export: cases, and bytes of raw files."""

    cases: int
    size: int


def export(suite: Suite, cases: Sequence[Case], folder: Path, *, generated: bool = False) -> Exported:
    """Write everything to `folder`, which is new or empty; raises OSError.

    With `generated` the inputs of generated cases are written too, as files or as values; else their recipes.
    """
    size = 0
    lines: list[str] = []
    for case in cases:
        if generated:
            case = made_case(case)  # noqa: PLW2901 - each is large, and is dropped before the next is made
        data = raw(case)
        row = line_of(suite, case, data)
        if data is not None:
            _put(folder / row["file"], data)
        lines.append(_line(row))
        size += len(data or b"")
    _put(folder / CASES, "".join(lines).encode())
    exported = Exported(len(lines), size)
    _put(folder / "sentences.ndjson", "".join(sentence_lines(suite, {case.id for case in cases})).encode())
    _beside(suite, folder, exported)
    return exported


def sentence_lines(suite: Suite, chosen: Container[str]) -> Iterator[str]:
    """Yield a line of JSON for each sentence of the format documents, with its chosen cases."""
    for row in coverages(suite):
        tree = sentence_json(row, suite)
        yield _line({**tree, "cases": [name for name in tree["cases"] if name in chosen]})


def _line(row: Mapping[str, Any]) -> str:
    return json.dumps(row, separators=(",", ":"), ensure_ascii=False) + "\n"


def raw(case: Case) -> bytes | None:
    """Return the bytes of a decode, or the joined chunks of a scan; None for an encode."""
    match case.input:
        case Data(data):
            return data
        case Chunks(chunks):
            return b"".join(chunks)
        case Value() | Generated() | Steps():
            return None


def line_of(suite: Suite, case: Case, data: bytes | None) -> dict[str, Any]:
    """Return the JSON object of a line; id and file are first, for readers without a JSON library."""
    row = case_json(case)
    where = {"file": f"raw/{case.id}.bin"} if data is not None else {}
    format_row = {"format": case.format, "revision": case.revision}
    checksum = {"sha256": sha256(data).hexdigest()} if data is not None else {}
    rules = {"rules": [_rule(suite, rule) for rule in case.rules]}
    return {"id": row.pop("id"), **where, **format_row, **checksum, **row, **rules}


def _rule(suite: Suite, name: str) -> dict[str, Any]:
    rule = suite.rules[name]
    sources = [{"title": place.title, "url": place.url} for place in cited(rule.cites, suite.sources)]
    where = {"document": rule.document, "section": rule.section}
    return {"id": name, "text": rule.text, **where, "basis": rule.basis, "sources": sources}


def _beside(suite: Suite, folder: Path, exported: Exported) -> None:
    for name, text in schemas():
        _put(folder / "schemas" / f"{name}.schema.json", text.encode())
    values = {"version": __version__, "count": exported.cases, "hash": suite.hash}
    readme = (files(__package__) / "templates" / "export.md").read_text(encoding="utf-8")
    _put(folder / "README.md", readme.format(**values).encode())
    _put(folder / "LICENSE", licence_text().encode())
    _put(folder / "NOTICE", notice(suite.hash).encode())


def schemas() -> Iterator[tuple[str, str]]:
    """Yield the name of each format and the JSON Schema of its values as text."""
    for row in FORMATS.values():
        tree: Mapping[str, Any] = {"$comment": SPDX_LINE, **json_schema(row.value, row.format_id)}
        yield row.format_id.replace("/", "-"), json.dumps(tree, indent=2) + "\n"


def _put(path: Path, data: bytes) -> None:
    replace_bytes(path, data, durable=False)
