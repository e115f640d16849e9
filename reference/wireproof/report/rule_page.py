"""The table of rules × implementations as one HTML file, and as Markdown. See `rule_table`."""

from collections.abc import Iterator

from wireproof.report.html_template import render_template, template_file
from wireproof.report.markdown import code, escape
from wireproof.report.rule_table import LEGEND, MARKS, Cell, RuleBehaviour, RuleRow, RuleTable
from wireproof.runner.summaries import MAX_OUTPUT


def rule_html(table: RuleTable, title: str, about: str) -> str:
    """Render the HTML file: it has no script, and stacks the columns on a narrow screen."""
    return render_template(
        "rules.html",
        title=title,
        about=about,
        table=table,
        count=sum(map(len, table.documents.values())),
        loud=sum(not row.quiet for row in table.rows),
        legend=[(MARKS[style], style, text) for style, text in LEGEND.items()],
        style=template_file("matrix.css") + template_file("rules.css"),
    )


def rule_markdown(table: RuleTable, title: str, about: str) -> str:
    """Render a heading, a legend, and for each document with rules a table."""
    return "\n".join(_lines(table, title, about)) + "\n"


def _lines(table: RuleTable, title: str, about: str) -> Iterator[str]:
    yield from (f"## {escape(title)}", "", escape(about), "")
    yield ", ".join(f"{MARKS[style]} {text}" for style, text in LEGEND.items())
    columns = " | ".join(map(escape, table.columns))
    for document, rows in table.documents.items():
        yield from ("", f"### {escape(document) or 'Other rules'}", "")
        yield f"| rule | level | {columns} | source |"
        yield "|" + " --- |" * (len(table.columns) + 3)
        yield from map(_row, rows)


def _row(row: RuleRow) -> str:
    rule = " ".join(filter(None, (escape(row.rule.text, MAX_OUTPUT), row.rule.section, code(row.rule.id))))
    cells = (rule, ", ".join(row.levels), *map(_cell, row.cells), _sources(row))
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell) -> str:
    return "<br>".join(map(_behaviour, cell)) or "–"


def _behaviour(one: RuleBehaviour) -> str:
    return f"{one.mark} {one.count} {escape(one.text, MAX_OUTPUT)}"


def _sources(row: RuleRow) -> str:
    """Return a numbered link to each source; the first has the title of its document."""
    links = [f"[{escape(place.title) if number == 1 else number}](<{place.url}>)"
             for number, place in enumerate(row.places, 1)]  # fmt: skip
    return ", ".join(links)
