"""Layouts as format documents print them: `layouts` in `sources.toml` of the fixtures."""

from collections.abc import Sequence

from attrs import frozen

from wireproof.cases.fixtures import Suite
from wireproof.strict_parsing import structure


@frozen
class DocumentedField:
    """A field as a document prints it.

    Attributes:
        name, type: as in the document.
        says: its meaning, in our own words.
        field: the name in the layout of the suite, if it is another one.
    """

    name: str
    type: str
    says: str = ""
    field: str = ""


@frozen
class DocumentedLayout:
    """A layout as a document prints it.

    Attributes:
        format: the id of a format.
        layout: the name of a layout of that format.
        cites: the place, as `resolve` reads it.
        fields: in the order of the document.
    """

    format: str
    layout: str
    cites: str
    fields: tuple[DocumentedField, ...]


def documented_layouts(suite: Suite) -> Sequence[DocumentedLayout]:
    """Return the layouts that the documents of the fixtures print; raise `FieldError`."""
    rows = (row for document in suite.sources.values() for row in document.layouts)
    return [structure(dict(row), DocumentedLayout, "a layout") for row in rows]
