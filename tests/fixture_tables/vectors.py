"""Check of the fixtures against the tables of `vector_tables`: every id has cases that exist and test it."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import Factory, frozen

from wireproof.cases.case import Accept, Case, Chunks, Data, Generated, Steps, Value
from wireproof.cases.case_json import FixtureError
from wireproof.cases.derived import derived_cases
from wireproof.cases.fixtures import Suite
from wireproof.cases.lint_sources import Problem
from wireproof.cases.outcome import Accepted, Refused
from wireproof.cases.reference_answers import decode_answer
from wireproof.cases.sources import resolve
from wireproof.files import read_limited_text
from wireproof.formats import FORMATS
from wireproof.strict_parsing import MAX_TOML_SIZE, FieldError, parse_toml, structure
from wireproof.wire.layout import (
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

# --- vector tables ---
#
# Tables that connect the vectors and bug reports of a format document with the fixtures that test them.
#
# `fixtures/<format>/vectors.toml` contains the vectors that were run on the system's own reader,
# `regressions.toml` bugs that users reported, and `sightings.toml` bytes and faults that a format document
# shows without a one-word verdict. The keys `document`, `section` and `ids` name the source of each table.
# Every id has one row, and every row has fixtures or the reason why there is none.


VERDICTS: Final = ("VALID", "PARTIAL", "INVALID", "IMPL")
"""kafka.md §5: read · read except for a cut last entry · refused · read, although no writer writes it."""

RANGE: Final = re.compile(r"([A-Z]*)([0-9]+)(?:-([0-9]+))?")


@frozen
class Vector:
    """Bytes that were run on the system's own reader.

    Attributes:
        id: the id in the format document.
        size: number of bytes in the format document.
        verdict: one of `VERDICTS`.
        name: the document's class of a refusal, or of bytes that are read although no writer writes them.
        fixture: the id of the case for this vector.
        note: why the fixture's length or verdict is different.
        exclusion: why there is no fixture.
    """

    id: str
    size: int
    verdict: str
    name: str = ""
    fixture: str = ""
    note: str = ""
    exclusion: str = ""

    @property
    def fixtures(self) -> tuple[str, ...]:
        """Return the one fixture, if there is one."""
        return (self.fixture,) if self.fixture else ()


@frozen
class Regression:
    """A bug that was reported for an implementation.

    Attributes:
        id: the number in the format document.
        repository: `owner/name`.
        links: `owner/name#7` or `owner/name@commit`; the `why` of a fixture contains one of them.
        fault: description of the bug.
        fixtures: the cases that fail while the bug is present.
        exclusion: why there is none.
    """

    id: str
    repository: str
    links: tuple[str, ...]
    fault: str
    fixtures: tuple[str, ...] = ()
    exclusion: str = ""


@frozen
class Sighting:
    """Bytes or a fault in a format document without a one-word verdict.

    Attributes:
        id: the id in the document; a letter before the number names the section.
        text: description of the bytes or fault.
        bytes: hex of the bytes in the document; one of the fixtures has exactly these bytes.
        links: as in a `Regression`; may be empty.
        fixtures: the cases that test it; `<id>~<family>` is a family of derived cases.
        exclusion: why there is none.
    """

    id: str
    text: str
    bytes: str = ""
    links: tuple[str, ...] = ()
    fixtures: tuple[str, ...] = ()
    exclusion: str = ""


Row = Vector | Regression | Sighting


@frozen
class Table:
    """A file of rows of one kind.

    Attributes:
        path: the path of the file.
        document, section: the section that the table covers.
        ids: every id of that section, in its order.
        rows: one row for each id, if the file is correct.
    """

    path: Path
    document: str
    section: str
    ids: tuple[str, ...]
    rows: tuple[Row, ...] = Factory(tuple)


KINDS: Final[Mapping[str, type[Row]]] = {"vectors": Vector, "regressions": Regression, "sightings": Sighting}
"""Row classes by the name of the file and the name of the list in it."""


def tables(root: Path) -> Iterator[Table]:
    """Yield the tables of a folder of fixtures; raise ValueError with the file and the problem."""
    for name, kind in KINDS.items():
        for path in sorted(root.glob(f"*/{name}.toml")):
            try:
                yield _table(path, parse_toml(read_limited_text(path, MAX_TOML_SIZE)), name, kind)
            except KeyError as error:
                raise ValueError(f"{path}: {error} is missing") from None
            except (TypeError, ValueError) as error:
                raise ValueError(f"{path}: {error}") from None


def _table(path: Path, page: Mapping[str, Any], name: str, kind: type[Row]) -> Table:
    unknown = set(page) - {"document", "section", "ids", name}
    if unknown:
        raise ValueError(f"holds the unknown {', '.join(sorted(unknown))}")
    rows = tuple(structure(row, kind, "row") for row in page[name])
    return Table(path, page["document"], page["section"], expanded(page["ids"]), rows)


def expanded(text: str) -> tuple[str, ...]:
    """Expand `W01-46 S01` to W01 … W46 and S01; a number has the width of the first one of its range."""
    return tuple(one for part in text.split() for one in _range(part))


def _range(part: str) -> Iterator[str]:
    found = RANGE.fullmatch(part)
    if found is None:
        raise ValueError(f"{part} is no range of ids")
    letter, first, last = found.groups()
    for number in range(int(first), int(last or first) + 1):
        yield f"{letter}{number:0{len(first)}}"


# --- vector coverage ---


NAMED: Final = {"INVALID", "IMPL"}
"""Verdicts that have a class."""


def tables_of(suite: Suite) -> tuple[Table, ...]:
    """Return the tables in the folder of the fixtures; raise `FixtureError`."""
    try:
        return tuple(table for root in suite.roots for table in tables(root))
    except ValueError as error:
        raise FixtureError(str(error)) from None


def coverage_problems(suite: Suite) -> Iterator[Problem]:
    """Yield every problem of the tables; raise `FixtureError` for an unreadable one."""
    for table in tables_of(suite):
        yield from _id_problems(table)
        for row in table.rows:
            yield from (Problem(_where(table, row), text) for text in _row_problems(suite, row))


def count_line(table: Table) -> str:
    """Return one line with the number of ids, with fixtures and without."""
    with_ = sum(1 for row in table.rows if row.fixtures)
    without = sum(1 for row in table.rows if row.exclusion)
    cases = len({name for row in table.rows for name in row.fixtures})
    noted = sum(1 for row in table.rows if isinstance(row, Vector) and row.note)
    more = f", {noted} with a note" if noted else ""
    return (
        f"{_place(table.path)}: {len(table.ids)} ids of {table.document} {table.section}, "
        f"{with_} with fixtures ({cases} cases){more}, {without} with an exclusion"
    )


def _id_problems(table: Table) -> Iterator[Problem]:
    """Check that each id of the document is in the table once, in the same order, and no other id."""
    numbers = Counter(row.id for row in table.rows)
    where = _place(table.path)
    for name in table.ids:
        if numbers[name] != 1:
            yield Problem(where, f"{name} has {numbers[name] or 'no'} rows and must have one")
    for name in numbers.keys() - set(table.ids):
        yield Problem(where, f"{name} is no id of {table.document} {table.section}")


def _place(path: Path) -> str:
    return path.relative_to(path.parents[1]).as_posix()


def _where(table: Table, row: Row) -> str:
    return f"{_place(table.path)} {row.id}"


def _row_problems(suite: Suite, row: Row) -> Iterator[str]:
    """Yield the problems of a row."""
    if bool(row.fixtures) == bool(row.exclusion):
        yield "needs fixtures, or an exclusion with its reason"
    named = [name.partition("~") for name in row.fixtures]
    yield from (f"the fixture {name} does not exist" for name, _, _ in named if name not in suite.by_id)
    cases = [suite.by_id[name] for name, _, _ in named if name in suite.by_id]
    for name, mark, family in named:
        if mark and name in suite.by_id and not _has(suite.by_id[name], family):
            yield f"{name} has no derived cases of {family or 'no family'}"
    match row:
        case Sighting():
            yield from _sighting_problems(row, cases)
        case Regression():
            yield from _link_problems(row, cases)
        case Vector():
            yield from _vector_problems(row, cases)


def _link_problems(row: Regression, cases: list[Case]) -> Iterator[str]:
    """Check that each case has a link in its `why`, so that its failure leads to the earlier bug report."""
    if not row.fault or not row.links:
        yield "needs a fault and a link"
        return
    for case in cases:
        if not any(_has_link(case.why, link) for link in row.links):
            yield f"the why of {case.id} contains none of {', '.join(row.links)}"


def _has_link(why: str, link: str) -> bool:
    """Search `why` for `link`; it may contain a blank before the `#` and in place of the `@`."""
    return link in why.replace(" #", "#") or link.replace("@", " ") in why


def _has(case: Case, family: str) -> bool:
    return any(one.id.startswith(f"{case.id}~{family}:") for one in derived_cases(case))


def _sighting_problems(row: Sighting, cases: list[Case]) -> Iterator[str]:
    """Check that a case has the bytes of the document, and that a case has one of the links."""
    if not row.text:
        yield "needs a text"
    if row.bytes and not any(bytes.fromhex(row.bytes) in _inputs(case) for case in cases):
        yield "none of its fixtures has its bytes as input"
    if row.links and cases and not any(_has_link(case.why, link) for case in cases for link in row.links):
        yield f"no why of its fixtures contains one of {', '.join(row.links)}"


def _inputs(case: Case) -> tuple[bytes, ...]:
    """Return the input of a case, or the outputs that an encoder may write for it."""
    match case.input:
        case Data(data):
            return (data,)
        case Chunks(chunks):
            return (b"".join(chunks),)
        case Value():
            return case.expect.data if isinstance(case.expect, Accept) else ()
        case Generated() | Steps():
            return ()  # no document prints so many bytes


def _vector_problems(row: Vector, cases: list[Case]) -> Iterator[str]:
    """Check that the fixture has the length and verdict of the vector, or a note with the reason."""
    if row.verdict not in VERDICTS or (row.verdict in NAMED) != bool(row.name):
        yield f"its verdict must be one of {', '.join(VERDICTS)}, the last two with a name"
        return
    differences = [text for case in cases for text in _differences(row, case)]
    if differences and not row.note:
        yield f"{'; '.join(differences)}: a note must give the reason"
    if row.note and not differences:
        yield "its note explains a difference that does not exist"


def _differences(row: Vector, case: Case) -> Iterator[str]:
    """Yield the differences between the fixture and the vector."""
    if not isinstance(case.input, Data) or case.op != "decode" or case.options.profile != "reader":
        yield f"{case.id} is no decode case of a reader"
        return
    if len(case.input.data) != row.size:
        yield f"{case.id} has {len(case.input.data)} bytes, not {row.size}"
    verdict, names = _verdict(case, case.input.data)
    if verdict != row.verdict or (row.name and row.name not in names):
        verdict_text = " ".join((verdict, *names))
        yield f"{case.id} is {verdict_text}, not {row.verdict} {row.name}".rstrip()


def _verdict(case: Case, data: bytes) -> tuple[str, tuple[str, ...]]:
    """Return the verdict of the reference on the case, which `lint` checks, in the document's words."""
    match decode_answer(FORMATS[case.format_id], data, case.options).outcome:
        case Refused(cls=cls, detail=detail):
            return "INVALID", tuple(name for name in (detail, cls) if name)
        case Accepted(remarks=(_, *_) as remarks):
            return "IMPL", tuple(name.upper().replace("-", "_") for name in remarks)
        case Accepted(consumed=consumed):
            return ("VALID" if consumed == len(data) else "PARTIAL"), ()


# --- documented layouts ---
#
# Layouts as format documents print them, `documented-layouts.toml` of the fixtures, and their comparison.
#
# Names and types are those of the document, so that a layout of the suite is compared with a text that
# others wrote; the meaning of a field is in our own words.


DOCUMENTED_FILE: Final = "documented-layouts.toml"


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
        cites: the place, as `resolve` of `sources` reads it.
        fields: in the order of the document.
    """

    format: str
    layout: str
    cites: str
    fields: tuple[DocumentedField, ...]


def documented_layouts(suite: Suite) -> tuple[DocumentedLayout, ...]:
    """Return the documented layouts of the fixtures; raise `FixtureError`."""
    return tuple(one for root in suite.roots for one in _read(root / DOCUMENTED_FILE))


def _read(path: Path) -> Iterator[DocumentedLayout]:
    if not path.exists():
        return
    try:
        rows = parse_toml(read_limited_text(path, MAX_TOML_SIZE)).get("layout", [])
        yield from (structure(row, DocumentedLayout, "the layout") for row in rows)
    except (OSError, ValueError, FieldError) as error:
        raise FixtureError(f"{path}: {error}") from None


def layout_of(documented: DocumentedLayout) -> Layout | None:
    """Return the layout of the suite that a document prints; None if there is none of its name."""
    row = FORMATS.get(documented.format)
    found = all_layouts(row.layout) if row is not None and row.layout is not None else ()
    return next((one for one in found if one.name == documented.layout), None)


def check_documented_layouts(suite: Suite) -> Iterator[Problem]:
    """Check that the layouts are those that the documents print; raise `FixtureError`."""
    for documented in documented_layouts(suite):
        for text in _problems(documented, suite):
            yield Problem(f"{DOCUMENTED_FILE} {documented.format} {documented.layout}", text)


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
