"""Layouts as format documents print them, in `sources.toml` of the fixtures, beside those of the suite.

Names and types are those of the document, so that a layout of the suite is compared with a text that others
wrote; the meaning of a field is in our own words.
"""

from collections.abc import Iterator, Sequence

from attrs import frozen

from wireproof.cases.fixtures import Suite
from wireproof.cases.rules import SOURCES_FILE, resolve
from wireproof.formats import FORMATS
from wireproof.lint.sources import Problem
from wireproof.schema.layout import (
    Checksum,
    Count,
    Layout,
    Length,
    Number,
    Octets,
    Packed,
    Part,
    Repeated,
    When,
    all_layouts,
)
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


def layout_of(documented: DocumentedLayout) -> Layout | None:
    """Return the layout of the suite that a document prints; None if there is none of its name."""
    row = FORMATS.get(documented.format)
    found = all_layouts(row.layout) if row is not None and row.layout is not None else ()
    return next((one for one in found if one.name == documented.layout), None)


def check_documented_layouts(suite: Suite) -> Iterator[Problem]:
    """Check that the layouts are those that the documents print; raise `FixtureError`."""
    for documented in documented_layouts(suite):
        for text in _problems(documented, suite):
            yield Problem(f"{SOURCES_FILE} {documented.format} {documented.layout}", text)


def _problems(documented: DocumentedLayout, suite: Suite) -> Iterator[str]:
    try:
        resolve(documented.cites, suite.sources)
    except ValueError as error:
        yield str(error)
    layout = layout_of(documented)
    if layout is None:
        yield "the format has no layout of this name"
    else:
        yield from differences(layout.parts, documented.fields)


def differences(parts: Sequence[Part], fields: Sequence[DocumentedField]) -> Iterator[str]:
    """Yield what differs between the parts of a layout and the fields that a document prints."""
    names = [part.name for part in parts]
    printed = [one.field or one.name for one in fields]
    if names != printed:
        yield f"has the fields {', '.join(printed)}, the layout {', '.join(names)}"
        return
    for part, one in zip(parts, fields, strict=True):
        if one.type not in printed_types(part):
            yield f"{one.name} is {one.type}, in the layout {' or '.join(printed_types(part))}"


def printed_types(part: Part) -> tuple[str, ...]:
    """Return the types that a document can print for a part."""
    match part:
        case Number(kind=kind) | Length(kind=kind) | Count(kind=kind) | Checksum(kind=kind):
            return (kind,)
        case Octets(text=True):
            return ("String",)
        case Octets():
            return ("byte[]",)
        case Repeated(of=layout):
            return f"[{layout.name}]", f"[{layout.name.removeprefix('Record')}]"
        case Packed(of=inner) | When(part=inner):
            return printed_types(inner)
    return ()
