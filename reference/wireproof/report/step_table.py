"""The steps of a case as a table of text: number, request, and below it the answer that is expected."""

from collections.abc import Iterator, Mapping
from json import dumps
from typing import Final

from wireproof.cases.case import Case, Step, Steps
from wireproof.cases.steps import Answer, answers
from wireproof.family import object_at
from wireproof.formats import FORMATS, family_of
from wireproof.wire.json_values import Json

INDENT: Final = " " * 5


def step_lines(case: Case) -> Iterator[str]:
    """Yield the lines of the table; none for a case without steps."""
    if not isinstance(case.input, Steps):
        return
    for number, step in enumerate(case.input.steps, 1):
        yield f"{number:>3}  {_request(case, step)}"
        for place, (name, answer) in enumerate(answers(step).items()):
            lead = f"or {name}: " if place else f"{name}: " if name else ""
            first, *rows = _lines_of(answer)
            yield f"{INDENT}-> {lead}{first}"
            yield from (f"{INDENT}   {row}" for row in rows)


def _request(case: Case, step: Step) -> str:
    """Return the op, its fields, and its bytes in words."""
    parts = [step.op, *(f"{name}={_short(part)}" for name, part in step.fields.items())]
    if step.data is not None:
        parts.append(_bytes_in_words(case, step.data))
    return " ".join(parts)


def _bytes_in_words(case: Case, data: bytes) -> str:
    row = FORMATS.get(case.format_id)
    place = family_of(row).step_words if row else ""
    return str(object_at(place)(data)) if place else f"{len(data)} bytes"


def _lines_of(answer: Answer) -> list[str]:
    """Return the plain fields of an answer in one line, and each object of its lists in a line of its own."""
    objects = [(name, _objects(part)) for name, part in answer.items()]
    plain = " ".join(_field(name, answer[name]) for name, rows in objects if not rows)
    return [plain, *(f"{name}: {_fields(row)}" for name, rows in objects for row in rows)]


def _objects(part: Json) -> list[dict[str, Json]]:
    return [one for one in part if isinstance(one, dict)] if isinstance(part, list) else []


def _fields(row: Mapping[str, Json]) -> str:
    rows = (f"[{_fields(one)}]" for part in row.values() for one in _objects(part))
    return " ".join([*(_field(name, part) for name, part in row.items() if not _objects(part)), *rows])


def _field(name: str, part: Json) -> str:
    return f"{name}={_short(part)}"


def _short(part: Json) -> str:
    """Return a field without the quotes of JSON."""
    return part if isinstance(part, str) else dumps(part, separators=(",", ":")).replace('"', "")
