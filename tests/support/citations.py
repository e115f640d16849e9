"""Find citations of the specifications in the repository, and those that lead nowhere.

The specifications are `reference/docs/{kafka,iggy,heka}.md`. A citation names the document and then places in
it: `kafka.md §1.7`, `kafka.md, sections 1.1 and 2.1`, `kafka.md §7 C20 to C25`, `heka.md §7 bug 47`,
`kafka.md §9 no. 37, 39`, `kafka.md §5 FIELD_PAST_END`. A `§1.7` without a document belongs to a document that
the same file names, and so does a vector id of Kafka such as C20.

In a document, section 1.2 is a heading `### 1.2 …` below the anchor `s1-2`. The anchor of an id is its lower
case: `c07`, `field_past_end`, and `no-39` for a row that has only a number.
"""

import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[2]
DOCS: Final = ROOT / "reference" / "docs"
KNOWN: Final = ("kafka", "iggy", "heka")
SYSTEMS: Final = tuple(name for name in KNOWN if (DOCS / f"{name}.md").exists())
CITING: Final = ("README.md", "fixtures", "fuzz", "reference", "tests")
PRUNED: Final = {"__pycache__", "build", "node_modules", "target"}
"""Folders in which compilers and package managers put files of others."""

OWN: Final = {"citations.py", "test_citations.py"}
"""Files with citations as examples."""

NAMED: Final = re.compile(r'\.md(?:"\nsection = "|`)?')
"""The end of a document's name; in rules.toml the sections are in a field of their own."""

BARE: Final = re.compile(r"(RFC \d+,? )?§(\d+(?:\.\d+)*)")
BARE_ID: Final = re.compile(r'(?<![\w/@.#"\\-])[CEIKLNRSTWXZ]\d\d(?!\w)')
"""An id of kafka.md; those of the other documents look like names of integer types."""

NEXT_LINE: Final = r'["\'`)]*[ \t]*\n(?![ \t]*\n)[ \t]*(?:#|//|\*|f?"|f?\')?[ \t]*'
"""Characters between two lines of a comment, of a docstring or of a string literal."""

BETWEEN: Final = re.compile(rf"(?:[ \t,;:()\[\]–-]|{NEXT_LINE}|\b(?:and|or|to|vectors?)\b)+")
SECTION: Final = re.compile(r"(§§?|sections?)\s*(\d+(?:\.\d+)*)")
NUMBERED: Final = re.compile(r"(no\.|bugs?)\s+(\d+)")
NUMBER: Final = re.compile(r"(\d+(?:\.\d+)*)\b")
ID: Final = re.compile(r"([A-Z]{1,2}\d+|RUN(?:-[A-Z0-9]+)?|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b(?!: Final)")
ASIDE: Final = re.compile(r"(?:step|row|column|table) \"?\w+\"?|order of precedence|limits|Header")
"""A place within a section that has no anchor."""

SLUG: Final = re.compile(r"[^\w\- ]")


class Document(NamedTuple):
    """The sections that have a heading, and all anchors."""

    sections: frozenset[str]
    anchors: frozenset[str]


class Citing(NamedTuple):
    """A file, its text, and the documents that it names: system, start and end of each name."""

    path: Path
    text: str
    named: tuple[tuple[str, int, int], ...]

    def at(self, start: int) -> str:
        """Return file, line and citation, as the list of broken citations prints them."""
        line = self.text.count("\n", 0, start) + 1
        excerpt, _, _ = self.text[start : start + 60].partition("\n")
        return f"{self.path.relative_to(ROOT)}:{line} {excerpt}"

    @property
    def systems(self) -> set[str]:
        """Return the systems whose documents the file names, or whose names are in its path."""
        path = str(self.path.relative_to(ROOT))
        return {system for system, _, _ in self.named} | {system for system in KNOWN if system in path}


@cache
def read_document(path: Path) -> Document:
    """Return the sections and anchors of a page."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.*)", text, re.MULTILINE)
    numbers = (re.match(r"\d+(?:\.\d+)*", heading) for heading in headings)
    slugs = {SLUG.sub("", heading.lower()).replace(" ", "-") for heading in headings}
    return Document(
        frozenset(number[0] for number in numbers if number),
        frozenset(re.findall(r'<a id="([^"]+)"></a>', text)) | slugs,
    )


def has_place(document: Document, place: str) -> bool:
    """Return True if the document has a section, `§1.7`, or one of the anchors of an id, `bug-3|b03`."""
    if place.startswith("§"):
        return place[1:] in document.sections and section_anchor(place[1:]) in document.anchors
    return any(anchor in document.anchors for anchor in place.split("|"))


def section_anchor(section: str) -> str:
    """Return the anchor of a section's heading: `s1-2` for `1.2`."""
    return "s" + section.replace(".", "-")


def _numbered(word: str, number: str) -> str:
    return f"no-{number}" if word == "no." else f"bug-{number}|b{number}|b{number:0>2}"


def places(text: str, start: int) -> list[str]:
    """Return the places that a citation names, `§1.7` or anchors; `start` is after the document's name."""
    found: list[str] = []
    repeated = ""  # by a number without a word: "sections 1.1, 2.1", "no. 37, 39"
    while True:
        if between := BETWEEN.match(text, start):
            start = between.end()
        if match := SECTION.match(text, start):
            found.append("§" + match[2])
            repeated = "§" if match[1] == "sections" else ""
        elif match := NUMBERED.match(text, start):
            found.append(_numbered(match[1], match[2]))
            repeated = match[1]
        elif repeated and (match := NUMBER.match(text, start)):
            found.append("§" + match[1] if repeated == "§" else _numbered(repeated, match[1]))
        elif match := ID.match(text, start):
            found += _range(text[: match.start()][-8:], match[1])
        elif not (match := ASIDE.match(text, start)):
            return found
        start = match.end()


def _range(before: str, last: str) -> list[str]:
    """Return the anchor of an id, and those after the id before it where `to` or a dash joins the two."""
    first = re.search(r"([A-Z])(\d+)(?: to |–)$", before)
    if first and last[0] == first[1] and last[1:].isdecimal():
        numbers = range(int(first[2]) + 1, int(last[1:]) + 1)
        return [f"{last[0].lower()}{number:0{len(first[2])}}" for number in numbers]
    return [last.lower()]


def _files() -> Iterator[Path]:
    for name in CITING:
        if (ROOT / name).is_file():
            yield ROOT / name
        for folder, folders, files in os.walk(ROOT / name):
            folders[:] = sorted(inner for inner in folders if inner not in PRUNED and inner[0] != ".")
            yield from (Path(folder, file) for file in files)


@cache
def _citing() -> tuple[Citing, ...]:
    return tuple(_read(path, path.read_bytes()) for path in _files() if path.name not in OWN)


def _read(path: Path, data: bytes) -> Citing:
    if b".md" not in data and "§".encode() not in data:
        return Citing(path, "", ())
    text = data.decode(errors="replace")
    return Citing(path, text, tuple(_names(text)))


def _names(text: str) -> Iterator[tuple[str, int, int]]:
    for match in NAMED.finditer(text):
        for name in KNOWN:
            if text.endswith(name, 0, match.start()):
                yield name, match.start() - len(name), match.end()


def broken_citations(system: str) -> Iterator[str]:
    """Yield the citations of `{system}.md` that lead to no section and no id."""
    document = read_document(DOCS / f"{system}.md")
    for citing in _citing():
        for name, start, end in citing.named:
            missing = [part for part in places(citing.text, end) if not has_place(document, part)]
            if name == system and missing:
                yield f"{citing.at(start)}: no {', '.join(missing)}"


def broken_sections() -> Iterator[str]:
    """Yield the sections without a document, `§1.7`, that are in no document which the file names."""
    for citing in _citing():
        systems = citing.systems if citing.text else set()
        documents = [read_document(DOCS / f"{system}.md") for system in systems & set(SYSTEMS)]
        if not systems or len(documents) < len(systems):
            continue
        for match in BARE.finditer(citing.text):
            if not match[1] and not any(has_place(document, "§" + match[2]) for document in documents):
                yield citing.at(match.start())


def broken_ids() -> Iterator[str]:
    """Yield the vector ids that `kafka.md` does not have, in files about Kafka alone."""
    document = read_document(DOCS / "kafka.md")
    for citing in _citing():
        if citing.text and citing.path.suffix != ".json" and citing.systems == {"kafka"}:
            for match in BARE_ID.finditer(citing.text):
                if not has_place(document, match[0].lower()):
                    yield citing.at(match.start())


def broken_links(page: Path) -> Iterator[str]:
    """Yield the relative links of a page that lead to no file or no anchor."""
    text = page.read_text(encoding="utf-8")
    for match in re.finditer(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)", text):
        target = page.parent / match[1] if match[1] else page
        if not target.exists() or (match[2] and match[2] not in read_document(target).anchors):
            yield f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1} {match[0][1:]}"
