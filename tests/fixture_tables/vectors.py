"""The vectors and faults of the format documents, and the cases that name them in their `source`.

A document of a system gives each vector an id with an anchor, and prints its bytes, or its size and verdict.
A case names the vectors whose bytes it has. An id that no case can have is in the document's last table, with
the reason.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from attrs import evolve, frozen

from wireproof.cases.case import Accept, Case, Chunks, Data, Generated, Steps, Value
from wireproof.cases.fixtures import Suite
from wireproof.cases.outcome import Accepted, Refused
from wireproof.cases.reference_answers import decode_answer
from wireproof.derive.derived import derived_cases
from wireproof.files import read_limited_text
from wireproof.formats import FORMATS
from wireproof.lint.sources import Problem

DOCUMENTS: Final = Path(__file__).parents[2] / "reference" / "docs"

SYSTEMS: Final[Mapping[str, str]] = {
    "kafka": r"[ciklnrtwxz]\d\d|s01|no-\d+",
    "heka": r"[abcmpsw]\d\d",
    "iggy": r"(?:go|[cdjklnopruvwx])\d+",
}
"""The systems with a document, and the anchors of its vectors there; others are sections and worked bytes."""

MESSAGE: Final = "0a10101112131415161718191a1b1c1d2e2f1001"
"""What heka.md prints as …: the smallest message."""

FRAME: Final = f"1e0208141f{MESSAGE}"
"""What heka.md prints as F: the frame of that message."""

MAX_DOCUMENT: Final = 1 << 20

_RUN: Final = re.compile(r"<([0-9a-f]+)\*(\d+)>")
_LINK: Final = re.compile(
    r"(?:([\w.-]+/[\w.-]+) ?)?#(\d+)|\b([A-Z]+-\d+)\b|(?<!#)\b([0-9a-f]{7,40}|\d+\.\d+\.\d+)\b"
)
_BYTES_COLUMN: Final = re.compile(r"hex|(?:frame )?bytes(?: \(….*)?")
_WITHOUT: Final = "## Ids without a case"


@frozen
class Vector:
    """An example or a fault of a document.

    Attributes:
        id: the id as cases have it: `W08`, and `no-17` for a bug of a numbered table.
        printed: the bytes that the document prints; one of them is the input of a case. Empty if it prints
            none, or bytes that are a part of something.
        size: the number of bytes, for a vector with a verdict.
        verdict: of such a vector, `VALID`, `PARTIAL`, `INVALID` or `IMPL`, as kafka.md §5 explains.
        name: the class of a refusal, or the remark.
        links: of a bug, `owner/name#7`, `owner/name@commit` or an issue; the `why` of its cases has one.
        exclusion: why no case has it.
    """

    id: str
    printed: tuple[bytes, ...] = ()
    size: int | None = None
    verdict: str = ""
    name: str = ""
    links: tuple[str, ...] = ()
    exclusion: str = ""


# --- the documents ---


@cache
def vectors_of(system: str) -> Mapping[str, Vector]:
    """Return the vectors of a system's document by their ids, in its order."""
    return read_vectors(read_limited_text(DOCUMENTS / f"{system}.md", MAX_DOCUMENT), SYSTEMS[system])


def read_vectors(text: str, anchors: str) -> Mapping[str, Vector]:
    """Return the vectors of the text of a document, whose anchors match `anchors`."""
    anchor = re.compile(rf'<a id="({anchors})"></a>')
    body, _, without = text.partition(_WITHOUT)
    lines = body.splitlines()
    found: dict[str, Vector] = {}
    columns: list[str] = []
    for number, line in enumerate(lines):
        if line.startswith("|") and lines[number + 1 : number + 2] and lines[number + 1].startswith("|--"):
            columns = _cells(line)
        for name in anchor.findall(line):
            key = name if "-" in name else name.upper()
            if line.startswith("|"):
                found[key] = _row(key, dict(zip(columns, _cells(line), strict=False)))
            else:
                found[key] = Vector(key, _block(lines[number + 1 :], anchor))
    for name, reason in re.findall(r"^\| \[([^\]]+)\]\(#[\w-]+\) \| (.+) \|$", without, re.MULTILINE):
        key = f"no-{name}" if name.isdecimal() else name
        found[key] = evolve(found.get(key, Vector(key)), exclusion=reason)
    return found


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split(" | ")]


def _row(key: str, cells: Mapping[str, str]) -> Vector:
    """Return the vector of a row of a table."""
    printed = tuple(
        data
        for column, cell in cells.items()
        if _BYTES_COLUMN.fullmatch(column) and (column == "hex" or "case" in cells)
        for text in re.findall(r"`([^`]*)`", cell)
        if (data := printed_bytes(text)) is not None
    )
    if verdict := cells.get("Verdict · class"):
        word, _, name = verdict.partition(" · ")
        named = name if word in NAMED else ""
        return Vector(key, size=int(cells["Bytes"]), verdict=word, name=named)
    if "pyPure" in cells:
        verdict, name = _strict(cells["strict verdict"])
        return Vector(key, printed, len(printed[0]) if printed else None, verdict, name)
    if "Repository" in cells:
        return Vector(
            key,
            links=tuple(
                issue
                or (
                    f"{cells['Repository']}@{commit}"
                    if commit
                    else f"{other or cells['Repository']}#{number}"
                )
                for other, number, issue, commit in _LINK.findall(cells["Issue, pull request or commit"])
            ),
        )
    return Vector(key, printed)


def _strict(text: str) -> tuple[str, str]:
    """Return verdict and name of a cell of heka.md: `ok`, `warn severity_range`, or why it is refused."""
    word, *rest = text.split()
    match word:
        case "ok":
            return "VALID", ""
        case "warn":
            return "IMPL", rest[0].upper()
        case _:
            return "INVALID", word


def _block(lines: Sequence[str], anchor: re.Pattern[str]) -> tuple[bytes, ...]:
    """Return the bytes of the first block of code below an anchor, before the next one."""
    end = next((place for place, line in enumerate(lines) if anchor.search(line)), len(lines))
    block = re.search(r"```\n(.*?)```", "\n".join(lines[:end]), re.DOTALL)
    data = printed_bytes(block[1]) if block else None
    return (data,) if data is not None else ()


def printed_bytes(text: str) -> bytes | None:
    """Return the bytes that a document prints in hex, with its short forms; None for anything else."""
    if text == "(empty)":
        return b""
    text = _RUN.sub(lambda run: run[1] * int(run[2]), text)
    try:
        return bytes.fromhex(text.replace("…", MESSAGE).replace("F", FRAME))
    except ValueError:
        return None


# --- the cases ---


NAMED: Final = {"INVALID", "IMPL"}
"""Verdicts that have a class."""


def system_of(case: Case) -> str:
    """Return the system whose document has the vectors of a case: `kafka`."""
    return case.format.partition(".")[0]


def named_by(suite: Suite) -> Mapping[str, Mapping[str, list[tuple[Case, str]]]]:
    """Return by system and id the cases that name it, each with the family of derived cases or nothing."""
    found: dict[str, dict[str, list[tuple[Case, str]]]] = {}
    for case in suite.cases:
        for name in (*case.source.vectors, *filter(is_number, case.source.bugs)):
            vector, _, family = name.partition("~")
            found.setdefault(system_of(case), {}).setdefault(vector, []).append((case, family))
    return found


def is_number(bug: str) -> bool:
    """Return whether the id of a bug is a number of a document's table: `no-17`."""
    return re.fullmatch(r"no-\d+", bug) is not None


def vector_problems(suite: Suite) -> Iterator[Problem]:
    """Check that each vector of the documents has cases that have its bytes, or the reason why not."""
    named = named_by(suite)
    for system in SYSTEMS:
        yield from problems_of(system, vectors_of(system), named.get(system, {}))
    for case in suite.cases:
        if case.source.differs and not list(_differences_of(case, named)):
            yield Problem(case.id, "its `differs` explains a difference that does not exist")


def problems_of(
    system: str, vectors: Mapping[str, Vector], named: Mapping[str, list[tuple[Case, str]]]
) -> Iterator[Problem]:
    """Check the vectors of one document against the cases that name them."""
    for name in named.keys() - vectors.keys():
        for case, _ in named[name]:
            yield Problem(case.id, f"{system}.md has no {name}")
    for vector in vectors.values():
        for text in _problems_of(vector, named.get(vector.id, [])):
            yield Problem(f"{system}.md {vector.id}", text)


def _problems_of(vector: Vector, rows: Sequence[tuple[Case, str]]) -> Iterator[str]:
    if bool(rows) == bool(vector.exclusion):
        yield "needs a case that names it, or a row with the reason in the table of ids without a case"
    for case, family in rows:
        if family and not any(one.id.startswith(f"{case.id}~{family}:") for one in derived_cases(case)):
            yield f"{case.id} has no derived cases of {family}"
    cases = [case for case, _ in rows]
    if vector.links:
        # In the text a blank may stand before the `#`, and in place of the `@`.
        for case in cases:
            why = case.why.replace(" #", "#")
            if not any(link in why or link.replace("@", " ") in case.why for link in vector.links):
                yield f"the why of {case.id} contains none of {', '.join(vector.links)}"
    if not any(case.source.differs for case in cases):
        yield from (
            f"{text}: `differs` of the case must give the reason" for text in _differences(vector, cases)
        )


def _differences_of(case: Case, named: Mapping[str, Mapping[str, list[tuple[Case, str]]]]) -> Iterator[str]:
    """Yield how a case, with the others that have a vector, differs from its vectors."""
    system = system_of(case)
    for name in case.source.vectors:
        vector = vectors_of(system).get(name) if system in SYSTEMS else None
        if vector is not None:
            yield from _differences(vector, [one for one, _ in named[system][name]])


def _differences(vector: Vector, cases: Sequence[Case]) -> Iterator[str]:
    """Yield the differences in length and verdict of each case, or that none of them has the bytes."""
    if vector.verdict:
        for case in cases:
            yield from _measured_differences(vector, case)
    elif vector.printed and cases and not any(set(vector.printed) & set(_inputs(case)) for case in cases):
        yield "none of its cases has its bytes as input"


def _measured_differences(vector: Vector, case: Case) -> Iterator[str]:
    if not isinstance(case.input, Data) or case.op != "decode" or case.options.profile != "reader":
        yield f"{case.id} is no decode case of a reader"
        return
    if vector.size is not None and len(case.input.data) != vector.size:
        yield f"{case.id} has {len(case.input.data)} bytes, not {vector.size}"
    elif vector.printed and case.input.data not in vector.printed:
        yield f"{case.id} has other bytes"
    verdict, names = _verdict(case, case.input.data)
    if verdict != vector.verdict or (vector.name and vector.name not in names):
        verdict_text = " ".join((verdict, *names))
        yield f"{case.id} is {verdict_text}, not {vector.verdict} {vector.name}".rstrip()


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


def _verdict(case: Case, data: bytes) -> tuple[str, tuple[str, ...]]:
    """Return the verdict of the reference on the case, which `lint` checks, in the document's words."""
    match decode_answer(FORMATS[case.format_id], data, case.options).outcome:
        case Refused(cls=cls, detail=detail):
            return "INVALID", tuple(name for name in (detail, cls) if name)
        case Accepted(remarks=(_, *_) as remarks):
            return "IMPL", tuple(name.upper().replace("-", "_") for name in remarks)
        case Accepted(consumed=consumed):
            return ("VALID" if consumed == len(data) else "PARTIAL"), ()


def count_lines(suite: Suite) -> Iterator[str]:
    """Yield one line for each document: its ids, with cases and without."""
    named = named_by(suite)
    for system in SYSTEMS:
        vectors, rows = vectors_of(system), named.get(system, {})
        without = sum(1 for vector in vectors.values() if vector.exclusion)
        cases = {case.id for found in rows.values() for case, _ in found}
        differing = sum(1 for name in cases if suite.by_id[name].source.differs)
        yield (
            f"{system}.md: {len(vectors)} ids, {len(vectors) - without} with cases ({len(cases)}, "
            f"{differing} that differ), {without} with a reason why not"
        )
