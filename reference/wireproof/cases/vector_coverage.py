"""Check of the fixtures against the tables of `vector_tables`: every id has cases that exist and test it."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from wireproof.cases.case import Accept, Case, Chunks, Data, Generated, Steps, Value
from wireproof.cases.derived import derived_cases
from wireproof.cases.fixtures import FixtureError, Suite
from wireproof.cases.lint_problem import Problem
from wireproof.cases.outcome import Accepted, Refused
from wireproof.cases.reference_answers import decode_answer
from wireproof.cases.vector_tables import VERDICTS, Regression, Row, Sighting, Table, Vector, tables
from wireproof.formats import FORMATS

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
