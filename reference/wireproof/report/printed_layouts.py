"""The tables of a format's layout, each beside what a document prints."""

from collections.abc import Iterator, Sequence

from attrs import frozen

from wireproof.cases.documented_layouts import DocumentedField, documented_layouts
from wireproof.cases.fixtures import Suite
from wireproof.cases.sources import Citation, cited
from wireproof.formats import FORMATS
from wireproof.report.layout_tables import LayoutRow, LayoutTable, layout_tables


@frozen
class PrintedTable:
    """A table of a layout, beside what a document prints.

    Attributes:
        table: the table.
        place: the place in the document; None if no document of the suite prints it.
        rows: the rows, each with the field of the document.
    """

    table: LayoutTable
    place: Citation | None
    rows: tuple[tuple[LayoutRow, DocumentedField | None], ...]


def has_layout(format_id: str) -> bool:
    """Return whether the layout of a format is declared."""
    row = FORMATS.get(format_id)
    return row is not None and row.layout is not None


def printed_tables(format_id: str, suite: Suite) -> Sequence[PrintedTable]:
    """Return the tables of the layout of a format that has one; raise `FixtureError`."""
    layout = FORMATS[format_id].layout
    assert layout is not None, format_id
    documents = {one.layout: one for one in documented_layouts(suite) if one.format == format_id}
    found = []
    for table in layout_tables(layout):
        document = documents.get(table.name)
        places = cited([document.cites], suite.sources) if document else []
        fields = {one.field or one.name: one for one in document.fields} if document else {}
        rows = tuple((row, fields.get(row.name)) for row in table.rows)
        found.append(PrintedTable(table, places[0] if places else None, rows))
    return found


def markdown_table(printed: PrintedTable) -> Iterator[str]:
    """Yield the lines of a table in Markdown: offset to meaning, and what the document prints beside it."""
    titles = (*printed.table.titles, *(("in the document", "its type", "it says") if printed.place else ()))
    yield _line(titles)
    yield _line(["---"] * len(titles))
    for row, one in printed.rows:
        flags = (
            f"`{flag.mask}` {flag.name}" + (f": {flag.codes}" if flag.codes else "") for flag in row.flags
        )
        meaning = "; ".join(filter(None, (row.meaning, *flags)))
        cells = [row.place, row.size, f"`{row.name}`", row.type, meaning]
        if printed.place:
            cells += [f"`{one.name}`", one.type, one.says] if one else [""] * 3
        yield _line(cells)


def _line(cells: Sequence[str]) -> str:
    return "|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|"
