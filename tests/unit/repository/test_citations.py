"""Every citation of a specification leads to a section of its document, every link of a page somewhere."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from citations import (
    SYSTEMS,
    broken_citations,
    broken_links,
    read_document,
    section_anchor,
)
from each import each
from folders import TOP

ROOT: Final = TOP
DOCS: Final = ROOT / "reference" / "docs"


def test_every_citation_leads_to_a_section_of_its_document() -> None:
    broken = list(broken_citations())
    assert not broken, "\n".join(broken)


@each("page", sorted(DOCS.glob("*.md")), ids=lambda page: page.name)
def test_every_relative_link_of_a_page_leads_to_a_file_and_an_anchor(page: Path) -> None:
    broken = list(broken_links(page))
    assert not broken, "\n".join(broken)


def test_every_section_that_the_code_refers_to_exists() -> None:
    known = {page.stem: read_document(page).anchors for page in DOCS.glob("*.md")}
    missing = [
        f"{path.relative_to(TOP)}: {match[0]}"
        for folder in ("reference", "tests", "fuzz")
        for path in (TOP / folder).rglob("*.py")
        for match in re.finditer(
            r"\b([a-z]+(?:-[a-z]+)*)\.md#([\w-]+)", path.read_text("utf-8", errors="replace")
        )
        if match[1] in known and match[2] not in known[match[1]]
    ]
    assert missing == []


@pytest.mark.documents
def test_the_site_of_the_documents_has_no_link_that_leads_nowhere(tmp_path: Path) -> None:
    words = ["build", "--strict", "-f", ".ci/site/mkdocs.yml", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert 'href="kafka.html"' in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_numbered_heading_has_its_anchor_and_no_anchor_occurs_twice(system: str) -> None:
    text = (DOCS / f"{system}.md").read_text(encoding="utf-8")
    anchors = re.findall(r'<a id="([^"]+)"></a>', text)
    headings = re.findall(r'^<a id="([^"]+)"></a>\n\n?#+ (\d+(?:\.\d+)*)', text, re.MULTILINE)
    assert {number for _, number in headings} == read_document(DOCS / f"{system}.md").sections
    assert all(anchor == section_anchor(number) for anchor, number in headings)
    assert sorted(anchors) == sorted(set(anchors))
    assert all(anchor == anchor.lower() for anchor in anchors)
