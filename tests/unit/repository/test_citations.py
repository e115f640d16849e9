"""Every citation of a specification leads to a section of its document, every link of a page somewhere."""

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from citations import (
    broken_citations,
    broken_links,
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


@pytest.mark.documents
def test_the_site_of_the_documents_has_no_link_that_leads_nowhere(tmp_path: Path) -> None:
    words = ["build", "--strict", "-f", ".ci/site/mkdocs.yml", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert 'href="kafka.html"' in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
