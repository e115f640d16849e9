"""Every citation of a specification leads to a section, or to an id, that its document has.

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

import pytest
from folders import TOP

DOCS: Final = TOP / "reference" / "docs"
KNOWN: Final = ("kafka", "iggy", "heka")
SYSTEMS: Final = tuple(name for name in KNOWN if (DOCS / f"{name}.md").exists())
CITING: Final = ("README.md", "fixtures", "fuzz", "reference", "tests")
PRUNED: Final = {"__pycache__", "build", "node_modules", "target"}
"""Folders in which compilers and package managers put files of others."""

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
ID: Final = re.compile(r"([A-Z]{1,2}\d+|RUN(?:-[A-Z0-9]+)?|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)\b")
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
        return f"{self.path.relative_to(TOP)}:{line} {excerpt}"

    @property
    def systems(self) -> set[str]:
        """The systems whose documents the file names, or whose names are in its path."""
        path = str(self.path.relative_to(TOP))
        return {system for system, _, _ in self.named} | {system for system in KNOWN if system in path}


@cache
def _document(path: Path) -> Document:
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.*)", text, re.MULTILINE)
    numbers = (re.match(r"\d+(?:\.\d+)*", heading) for heading in headings)
    slugs = {SLUG.sub("", heading.lower()).replace(" ", "-") for heading in headings}
    return Document(
        frozenset(number[0] for number in numbers if number),
        frozenset(re.findall(r'<a id="([^"]+)"></a>', text)) | slugs,
    )


def _has(document: Document, place: str) -> bool:
    """Whether the document has a section, `§1.7`, or one of the anchors of an id, `bug-3|b03`."""
    if place.startswith("§"):
        return place[1:] in document.sections and _anchor(place[1:]) in document.anchors
    return any(anchor in document.anchors for anchor in place.split("|"))


def _anchor(section: str) -> str:
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
        if (TOP / name).is_file():
            yield TOP / name
        for folder, folders, files in os.walk(TOP / name):
            folders[:] = sorted(inner for inner in folders if inner not in PRUNED and inner[0] != ".")
            yield from (Path(folder, file) for file in files)


@cache
def _citing() -> tuple[Citing, ...]:
    return tuple(_read(path, path.read_bytes()) for path in _files() if path != Path(__file__))


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


def _broken_named(system: str) -> Iterator[str]:
    document = _document(DOCS / f"{system}.md")
    for citing in _citing():
        for name, start, end in citing.named:
            missing = [part for part in places(citing.text, end) if not _has(document, part)]
            if name == system and missing:
                yield f"{citing.at(start)}: no {', '.join(missing)}"


def _broken_bare() -> Iterator[str]:
    for citing in _citing():
        systems = citing.systems if citing.text else set()
        documents = [_document(DOCS / f"{system}.md") for system in systems & set(SYSTEMS)]
        if not systems or len(documents) < len(systems):
            continue
        for match in BARE.finditer(citing.text):
            if not match[1] and not any(_has(document, "§" + match[2]) for document in documents):
                yield citing.at(match.start())


def _broken_ids() -> Iterator[str]:
    document = _document(DOCS / "kafka.md")
    for citing in _citing():
        if citing.text and citing.path.suffix != ".json" and citing.systems == {"kafka"}:
            for match in BARE_ID.finditer(citing.text):
                if not _has(document, match[0].lower()):
                    yield citing.at(match.start())


def _broken_rows(system: str) -> Iterator[str]:
    """Yield the rows of vectors and regressions that the document does not have."""
    document = _document(DOCS / f"{system}.md")
    for name in ("vectors", "regressions"):
        for path in sorted((TOP / "fixtures").glob(f"{system}.*/{name}.toml")):
            for row in re.findall(r'^  \{ id = "(\w+)"', path.read_text(encoding="utf-8"), re.MULTILINE):
                if not _has(document, f"no-{row}" if row.isdecimal() else row.lower()):
                    yield f"{path.relative_to(TOP)} {row}"


def _broken_links(page: Path) -> Iterator[str]:
    text = page.read_text(encoding="utf-8")
    for match in re.finditer(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)", text):
        target = page.parent / match[1] if match[1] else page
        if not target.exists() or (match[2] and match[2] not in _document(target).anchors):
            yield f"{page.relative_to(TOP)}:{text.count(chr(10), 0, match.start()) + 1} {match[0][1:]}"


def test_there_is_a_specification_of_kafka() -> None:
    assert "kafka" in SYSTEMS


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_citation_leads_to_a_section_or_an_id_of_its_document(system: str) -> None:
    broken = [*_broken_named(system), *_broken_rows(system)]
    assert not broken, "\n".join(broken)


def test_every_section_without_a_document_is_in_a_document_that_the_file_names() -> None:
    broken = list(_broken_bare())
    assert not broken, "\n".join(broken)


def test_every_vector_id_of_kafka_is_in_its_document() -> None:
    broken = list(_broken_ids())
    assert not broken, "\n".join(broken)


@pytest.mark.parametrize("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_every_relative_link_of_a_page_leads_to_a_file_and_an_anchor(page: Path) -> None:
    broken = list(_broken_links(page))
    assert not broken, "\n".join(broken)


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_numbered_heading_has_its_anchor_and_no_anchor_occurs_twice(system: str) -> None:
    text = (DOCS / f"{system}.md").read_text(encoding="utf-8")
    anchors = re.findall(r'<a id="([^"]+)"></a>', text)
    headings = re.findall(r'^<a id="([^"]+)"></a>\n\n?#+ (\d+(?:\.\d+)*)', text, re.MULTILINE)
    assert {number for _, number in headings} == _document(DOCS / f"{system}.md").sections
    assert all(anchor == _anchor(number) for anchor, number in headings)
    assert sorted(anchors) == sorted(set(anchors))
    assert all(anchor == anchor.lower() for anchor in anchors)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("kafka.md §1.7", ["§1.7"]),
        ("kafka.md, sections 1.1, 2.1 and 4: bytes", ["§1.1", "§2.1", "§4"]),
        ("kafka.md §7, 318 with fixtures", ["§7"]),
        ("kafka.md §7 C20 to C22", ["§7", "c20", "c21", "c22"]),
        ("kafka.md §7 I02–I04", ["§7", "i02", "i03", "i04"]),
        ("kafka.md section 8.1 (Z20, Z36) and section 8.2: linked", ["§8.1", "z20", "z36", "§8.2"]),
        ("kafka.md §1.8, §9 no. 132, 149", ["§1.8", "§9", "no-132", "no-149"]),
        ("kafka.md §1.5; §5 FIELD_PAST_END", ["§1.5", "§5", "field_past_end"]),
        ("kafka.md §3, column snappy; §7 Z02", ["§3", "§7", "z02"]),
        ("kafka.md §3; RFC 8878 §3.1.1.1", ["§3"]),
        ("kafka.md §5, RESOURCE_LIMIT ---\n\nMOST: Final = 60", ["§5", "resource_limit"]),
        ('kafka.md"\nsection = "§2.1, §12"', ["§2.1", "§12"]),
        ("kafka.md\n#  section 9 no. 39", ["§9", "no-39"]),
        ('kafka.md "\n    f"§7 W01', ["§7", "w01"]),
        ("heka.md §4 M51; §7 bugs 17, 4", ["§4", "m51", "§7", "bug-17|b17|b17", "bug-4|b4|b04"]),
        ("iggy.md §11.1 GO3, J9", ["§11.1", "go3", "j9"]),
        ("iggy.md §5 [RUN-R07 to RUN-R11]", ["§5", "run-r07", "run-r11"]),
    ],
)
def test_a_citation_is_read_in_all_its_forms(text: str, parts: list[str]) -> None:
    match = NAMED.search(text)
    assert match
    assert places(text, match.end()) == parts


def test_a_section_or_an_id_that_is_not_there_is_found() -> None:
    document = Document(frozenset({"1.2", "3"}), frozenset({"s1-2", "c07", "b03"}))
    assert _has(document, "§1.2")
    assert _has(document, "c07")
    assert _has(document, "bug-3|b3|b03")
    assert not _has(document, "§1.3")
    assert not _has(document, "§3")  # a heading without its anchor
    assert not _has(document, "c08")


def test_no_text_refers_to_a_document_that_is_not_in_the_repository() -> None:
    pattern = re.compile(r"\bdesign, section|\brule ?books?/", re.IGNORECASE)
    files = [*TOP.glob("reference/**/*.py"), *TOP.glob("tests/**/*.py"), *TOP.glob("reference/docs/*.md")]
    own = Path(__file__).name
    found = [
        f"{file.relative_to(TOP)}:{number}"
        for file in files
        if file.name != own
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if pattern.search(line)
    ]
    assert found == []
