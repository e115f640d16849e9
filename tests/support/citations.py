"""The citations of the specifications that lead to no section, and the links that lead nowhere.

The specifications are `reference/docs/{kafka,iggy,heka}.md`. A citation names the document and then sections
of it: `kafka.md §1.7`, `iggy.md §3.3, §11.1`, `heka.md, sections 2 and 3`. In a document, section 1.2 is a
heading `### 1.2 …` below the anchor `s1-2`.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[2]
DOCS: Final = ROOT / "reference" / "docs"
SYSTEMS: Final = ("kafka", "iggy", "heka")
CITING: Final = (
    *("fixtures/**/*.toml", "fixtures/**/*.json"),
    *("fuzz/**/*.py", "reference/**/*.py", "tests/**/*.py"),
)

NUMBER: Final = r"\d+(?:\.\d+)*"
LIST: Final = rf"((?:(?:§§?|sections? )?(?!0\.){NUMBER}\b(?:, | and |,? and )?)+)"
SECTION: Final = re.compile(r'\b(kafka|iggy|heka)\.md(?:"\nsection = "|`)?[ ,]*' + LIST)
SLUG: Final = re.compile(r"[^\w\- ]")


class Document(NamedTuple):
    """The sections that have a heading, and all anchors."""

    sections: frozenset[str]
    anchors: frozenset[str]


@cache
def read_document(path: Path) -> Document:
    """Return the sections and anchors of a page."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.*)", text, re.MULTILINE)
    numbers = (re.match(NUMBER, heading) for heading in headings)
    slugs = {SLUG.sub("", heading.lower()).replace(" ", "-") for heading in headings}
    return Document(
        frozenset(number[0] for number in numbers if number),
        frozenset(re.findall(r'<a id="([^"]+)"></a>', text)) | slugs,
    )


def section_anchor(section: str) -> str:
    """Return the anchor of a section's heading: `s1-2` for `1.2`."""
    return "s" + section.replace(".", "-")


def broken_citations() -> Iterator[str]:
    """Yield the citations of a document that lead to none of its sections."""
    for pattern in CITING:
        for path in sorted(ROOT.glob(pattern)):
            text = path.read_text(encoding="utf-8", errors="replace")
            for match in SECTION.finditer(text):
                known = read_document(DOCS / f"{match[1]}.md").sections
                if missing := {*re.findall(NUMBER, match[2])} - known:
                    line = text.count("\n", 0, match.start()) + 1
                    yield f"{path.relative_to(ROOT)}:{line} {match[1]}.md has no {', '.join(sorted(missing))}"


def broken_links(page: Path) -> Iterator[str]:
    """Yield the relative links of a page that lead to no file or no anchor."""
    text = page.read_text(encoding="utf-8")
    for match in re.finditer(r"\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)", text):
        target = page.parent / match[1] if match[1] else page
        if not target.exists() or (match[2] and match[2] not in read_document(target).anchors):
            yield f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1} {match[0][1:]}"
