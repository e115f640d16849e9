"""The pages of `docs`: results, documents, rules, traceability, layouts, fields, open questions, known bugs.

Static HTML with relative links, from the templates in `templates/docs`; Jinja2 escapes all values.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from attrs import Factory, field, frozen

from wireproof.cases.case import Case
from wireproof.cases.fixtures import Suite
from wireproof.cases.history import SCOPES, counts
from wireproof.cases.lint_sentences import Coverage, coverages, unnamed_rules
from wireproof.cases.sources import Citation, cited
from wireproof.formats import FORMATS
from wireproof.report.ambiguities import open_cases, remark_choices
from wireproof.report.case_view import MAX_BYTES, CaseView, Mark, case_view_of, shown_bytes
from wireproof.report.documents import Document, Library, documents
from wireproof.report.field_coverage import Field, failing, field_coverage_of
from wireproof.report.html_template import package_environment
from wireproof.report.implementation_answers import Votes
from wireproof.report.kills import Kills
from wireproof.report.known_bugs import by_project, short_link
from wireproof.report.level_results import sections
from wireproof.report.printed_layouts import has_layout, printed_tables
from wireproof.report.results_pages import (
    Results,
    about,
    implementation_page,
    names_for_templates,
    overview,
    results_of,
    search_index,
)
from wireproof.report.rule_coverage import RuleCoverage, rule_coverages
from wireproof.report.traceability import by_document
from wireproof.wire.rejection import Position

if TYPE_CHECKING:
    from jinja2 import Environment

ROW: Final = 16
"""Bytes of a row of hex."""

Pages = Iterator[tuple[str, str]]
"""Paths, relative to the folder, and the text of each file."""


@frozen
class Site:
    """The data of the pages.

    Attributes:
        votes: of implementations whose streams were given.
        kills: by golden case; empty without a kill table.
        results: of the same streams.
        documents: by name; those of the package if none are given.
    """

    suite: Suite
    votes: Votes
    kills: Kills
    results: Results = field(default=Factory(lambda site: results_of(site.suite, ()), takes_self=True))
    documents: Mapping[str, Document] = field(factory=documents)

    @cached_property
    def library(self) -> Library:
        """Return the documents, which link to the pages of rules, cases and formats."""
        return Library(self.documents, self._page_of)

    def _page_of(self, word: str) -> str:
        if word in self.suite.rules:
            return rule_page(word)
        if word in self.suite.by_id:
            return case_page(word)
        return fields_page(word) if word in FORMATS else ""

    @cached_property
    def rules(self) -> Mapping[str, RuleCoverage]:
        """Return every rule with its cases."""
        return {one.rule.id: one for one in rule_coverages(self.suite, self.kills, self.votes)}

    def places(self, cites: Sequence[str]) -> Sequence[Citation]:
        """Return the places that citations name."""
        return cited(cites, self.suite.sources)

    @cached_property
    def sentences(self) -> Sequence[Coverage]:
        """Return the sentences of the format documents with their cases."""
        return coverages(self.suite)

    @cached_property
    def by_format(self) -> Mapping[str, Sequence[Case]]:
        """Return the cases of each format and revision."""
        found: dict[str, list[Case]] = {name: [] for name in FORMATS}
        for case in self.suite.cases:
            found.setdefault(case.format_id, []).append(case)
        return found

    @cached_property
    def users(self) -> Mapping[str, Sequence[str]]:
        """Return the cases that have each case as their twin."""
        found: dict[str, list[str]] = {}
        for case in self.suite.cases:
            if case.twin:
                found.setdefault(case.twin, []).append(case.id)
        return found


def case_page(name: str) -> str:
    """Return the path of the page of a case."""
    return f"case/{name}.html"


def rule_page(name: str) -> str:
    """Return the path of the page of a rule."""
    return f"rule/{name}.html"


def fields_page(format_id: str) -> str:
    """Return the path of the field map of a format."""
    return f"fields/{format_id}.html"


def layout_page(format_id: str) -> str:
    """Return the path of the page with the layout of a format."""
    return f"layouts/{format_id}.html"


def pages(site: Site) -> Pages:
    """Yield every file of the site."""
    made = _environment(site)
    for name in ("style.css", "search.js", "results.js"):
        yield name, made.get_template(name).render()
    maps = {format_id: field_coverage_of(cases) for format_id, cases in site.by_format.items()}
    shared = {"site": site, "rules": list(site.rules.values()), "maps": maps}
    shared |= {"sections": list(sections(site.results.levels, site.results.implementations))}
    for name in ("index", "rules", "decisions"):
        more = {
            "opens": list(open_cases(site.suite, site.votes)),
            "remarked": list(remark_choices(site.suite, site.votes)),
        }
        yield _page(made, name, f"{name}.html", **shared, **more)
    yield from _result_pages(made, site)
    yield from _search(made, site)
    yield _traceability(made, site)
    yield _page(made, "history", "history.html", **_history(site))
    for format_id, fields in maps.items():
        fails = failing(site.by_format[format_id], site.votes)
        yield _page(
            made, "fields", fields_page(format_id), format_id=format_id, fields=fields, fails=fails, site=site
        )
    for format_id in filter(has_layout, site.by_format):
        tables = printed_tables(format_id, site.suite)
        yield _page(made, "layout", layout_page(format_id), format_id=format_id, tables=tables)
    for document in site.documents.values():
        body = site.library.render(document)
        yield _page(made, "document", document.page, document=document, body=body)
    for schema in files("wireproof").joinpath("schemas").iterdir():
        yield f"schemas/{schema.name}", schema.read_text(encoding="utf-8")
    for covered in site.rules.values():
        yield _page(made, "rule", rule_page(covered.rule.id), one=covered, site=site)
    for case in site.suite.cases:
        yield _page(made, "case", case_page(case.id), site=site, case=case, **_case(site, case))


def _page(made: "Environment", template: str, path: str, **more: Any) -> tuple[str, str]:  # noqa: ANN401 - a template's names
    root = "../" * path.count("/")
    return path, made.get_template(f"{template}.html").render(root=root, **more)


def _result_pages(made: "Environment", site: Site) -> Pages:
    """Yield the table of implementations, that of their versions, and the page of each."""
    shared = overview(site.results)
    yield _page(made, "results", "results.html", site=site, **shared)
    yield _page(made, "versions", "versions.html", site=site, **shared)
    for one in site.results.implementations:
        values = about(site.results, one)
        yield _page(made, "implementation", implementation_page(one.name), site=site, **values)


def _search(made: "Environment", site: Site) -> Pages:
    rows = list(_findable(site))
    yield _page(made, "search", "search.html", rows=rows)
    yield "search-index.js", search_index(rows)


def _findable(site: Site) -> Iterator[tuple[str, str, str, str]]:
    """Yield kind, name, title and path of every page that the search can find."""
    for one in site.results.implementations:
        yield "implementation", one.name, one.newest.version, implementation_page(one.name)
    for document in site.documents.values():
        yield "document", document.title, "", document.page
    for format_id in site.by_format:
        yield "format", format_id, "", fields_page(format_id)
    for name, covered in site.rules.items():
        yield "rule", name, covered.rule.text, rule_page(name)
    for bug in site.suite.history:
        yield "known bug", bug.id, bug.title, f"history.html#{bug.id}"
    for case in site.suite.cases:
        yield "case", case.id, case.title, case_page(case.id)


def _traceability(made: "Environment", site: Site) -> tuple[str, str]:
    """Return the page that leads from the sentences of the documents to rules and cases."""
    return _page(
        made,
        "traceability",
        "traceability.html",
        site=site,
        sentences=site.sentences,
        documents=by_document(site.sentences, site.suite),
        states=Counter(row.state for row in site.sentences),
        unnamed=unnamed_rules(site.suite),
    )


def _history(site: Site) -> dict[str, Any]:
    bugs = site.suite.history
    return {
        "site": site,
        "projects": list(by_project(bugs)),
        "total": counts(bugs),
        "scopes": SCOPES,
        "short_link": short_link,
    }


def _case(site: Site, case: Case) -> dict[str, Any]:
    found = case_view_of(case)
    twin = site.suite.get(case.twin or "")
    mark = found.mark(_at(found), "")
    return {
        "found": found,
        "mark": mark,
        "rows": hex_rows(found.data, mark),
        "twin": twin,
        "twin_rows": hex_rows(shown_bytes(twin), Mark()) if twin else [],
    }


def _at(found: CaseView) -> Position | None:
    """Return the offset of the refusal: the expected one, or else that of the reference."""
    return getattr(found.case.expect, "at", None) if found.refused is None else found.refused


def hex_rows(data: bytes, mark: Mark) -> list[tuple[str, list[tuple[str, bool]]]]:
    """Yield the rows of hex: the offset of each, and its bytes with their marks."""
    data = data[:MAX_BYTES]
    return [
        (
            f"{at:04x}",
            [(f"{data[n]:02x}", mark.start <= n < mark.end) for n in range(at, min(at + ROW, len(data)))],
        )
        for at in range(0, len(data), ROW)
    ]


def unexercised(fields: Sequence[Field]) -> list[Field]:
    """Return the fields that never have an extreme value, are never refused and have no remark."""
    return [one for one in fields if not (one.edges or one.damaged or one.remarked)]


def _environment(site: Site) -> "Environment":
    """Return the environment of the pages, with the links to documents, rules, cases and formats."""
    made = package_environment("templates/docs")
    made.filters |= {"link": quote, "cite": site.library.cite}
    made.globals |= names_for_templates(site.results)
    made.globals |= {"case_page": case_page, "rule_page": rule_page, "fields_page": fields_page}
    made.globals |= {"layout_page": layout_page, "has_layout": has_layout}
    made.globals |= {"unexercised": unexercised}
    return made
