"""`docs` renders the documents: every link between documents, rules, cases and schemas leads somewhere."""

import posixpath
import re
from pathlib import Path

import pytest
from attrs import evolve
from documentation import DOCS
from folders import TOP
from goldens import load

import wireproof
from wireproof.cases.id_patterns import select
from wireproof.report.docs_site import Site, pages, rule_page
from wireproof.report.documents import Document, Library, documents

CASE = "kafka.batch/v2/crc/bit-flip-in-value"


@pytest.fixture(scope="module")
def site() -> dict[str, str]:
    whole = load()
    some = {
        case.id
        for case in select(whole, ["kafka.batch/v2/crc/*", "kafka.log/mixed/tail/*", "iggy.identifier/**"])
    }
    some |= {case.twin for case in whole.cases if case.id in some and case.twin}
    kept = tuple(case for case in whole.cases if case.id in some)
    return dict(pages(Site(evolve(whole, cases=kept), {}, {})))


def links(text: str) -> list[str]:
    return [link for link in re.findall(r'href="([^"]*)"', text) if not re.match(r"[a-z]+:", link)]


def test_every_document_has_a_page_with_its_title_and_is_listed(site: dict[str, str]) -> None:
    for path in DOCS.glob("*.md"):
        title = path.read_text("utf-8").partition("\n")[0].removeprefix("# ")
        page = site[f"documents/{path.stem}.html"]
        assert f">{title}</h1>".replace("'", "&#39;") in page.replace("'", "&#39;")
        assert f'href="documents/{path.stem}.html"' in site["index.html"]


def test_every_link_of_a_document_leads_to_a_page_and_to_an_anchor_of_it(site: dict[str, str]) -> None:
    for path in (name for name in site if name.startswith("documents/")):
        for link in links(site[path]):
            target, _, anchor = link.partition("#")
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), target)) if target else path
            assert target in site, (path, link)
            assert not anchor or f'id="{anchor}"' in site[target], (path, link)


def test_rules_and_cases_cite_sections_that_are_linked(site: dict[str, str]) -> None:
    rule = site[rule_page("kafka.v2.crc")]
    assert (
        '<a href="../documents/kafka.html">kafka.md</a> <a href="../documents/kafka.html#s1-1">§1.1</a>'
        in rule
    )
    assert '<a href="../../../../documents/kafka.html#c07">C07</a>' in site[f"case/{CASE}.html"]


def test_names_of_cases_and_rules_in_a_document_lead_to_their_pages(site: dict[str, str]) -> None:
    page = site["documents/architecture.html"]
    assert f'<a href="../case/{CASE}.html"><code>{CASE}</code></a>' in page
    assert '<a href="../rule/kafka.v2.crc.html"><code>kafka.v2.crc</code></a>' in page
    assert '<a href="../schemas/events.schema.json">' in page


def test_a_file_that_the_site_does_not_have_and_foreign_html_are_text() -> None:
    lines = [
        "# A",
        '[code](../../pyproject.toml) <b>x</b> <a id="here"></a>',
        '<div onclick="x">',
        "## A",
        "[b](b.md#c)",
    ]
    one = Document("a", "\n\n".join(lines))
    made = Library({"a": one, "b": Document("b", "# B")}, lambda _: "").render(one)
    assert '<p>code &lt;b&gt;x&lt;/b&gt; <a id="here"></a></p>' in made
    assert "<div" not in made
    assert '<h2 id="a-1">A</h2>' in made
    assert '<a href="b.html#c">b</a>' in made
    assert one.anchors == {"a", "a-1", "here"}


def test_a_citation_of_an_unknown_section_or_of_another_document_has_no_link() -> None:
    library = Library({"kafka": Document("kafka", '# K\n\n<a id="s1"></a>\n')}, lambda _: "")
    assert library.cite("RFC 8878 §1; kafka.md §1, §2 & C07", "") == (
        'RFC 8878 §1; <a href="kafka.html">kafka.md</a> <a href="kafka.html#s1">§1</a>, §2 &amp; C07'
    ).replace("kafka.html", "documents/kafka.html")


def test_an_installed_package_finds_the_documents_that_the_wheel_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert '"reference/docs" = "wireproof/_docs"' in (TOP / "pyproject.toml").read_text("utf-8")
    (tmp_path / "_docs").mkdir()
    (tmp_path / "_docs" / "one.md").write_text("# One\n")
    monkeypatch.setattr(wireproof, "__file__", str(tmp_path / "__init__.py"))
    assert [one.title for one in documents().values()] == ["One"]


def test_every_section_that_the_code_refers_to_exists() -> None:
    known = documents()
    missing = [
        f"{path.relative_to(TOP)}: {match[0]}"
        for folder in ("reference", "tests", "fuzz")
        for path in (TOP / folder).rglob("*.py")
        for match in re.finditer(
            r"\b([a-z]+(?:-[a-z]+)*)\.md#([\w-]+)", path.read_text("utf-8", errors="replace")
        )
        if match[1] in known and match[2] not in known[match[1]].anchors and path != Path(__file__)
    ]
    assert missing == []


def test_the_layout_of_the_v2_batch_is_beside_the_table_of_its_documentation(site: dict[str, str]) -> None:
    page = site["layouts/kafka.batch/v2.html"]
    assert '<a href="https://kafka.apache.org/44/implementation/message-format/#record-batch">' in page
    row = r"<td[^>]*>43</td><td>8</td><td><code>producerId</code></td><td>int64</td><td>-1 if none\s*</td>"
    assert re.search(row + r"\s*<td><code>producerId</code></td><td>int64</td>", page)
    assert "<code>0x20</code> control" in page
    for path in ("index.html", "fields/kafka.batch/v2.html"):
        assert "layouts/kafka.batch/v2.html" in site[path]


def test_every_link_of_a_layout_leads_to_a_page(site: dict[str, str]) -> None:
    for path in (name for name in site if name.startswith("layouts/")):
        for link in links(site[path]):
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), link.partition("#")[0]))
            assert target in site, (path, link)
