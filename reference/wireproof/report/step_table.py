"""The steps of a case as a table of text: number, request, and the answer that is expected."""

from collections.abc import Iterator, Mapping
from json import dumps
from typing import Final

from wireproof.cases.case import Case, Step, Steps
from wireproof.cases.steps import Answer, answers
from wireproof.family import object_at
from wireproof.formats import FORMATS, family_of
from wireproof.wire.json_values import Json

WIDEST: Final = 60
"""Characters of a request after which the answer begins in a line of its own."""


def step_lines(case: Case) -> Iterator[str]:
    """Yield the lines of the table; none for a case without steps."""
    if not isinstance(case.input, Steps):
        return
    rows = [
        (_request(case, step), [_answer(*row) for row in answers(step).items()]) for step in case.input.steps
    ]
    width = min(WIDEST, max(len(request) for request, _ in rows))
    for number, (request, wanted) in enumerate(rows, 1):
        head = f"{number:>3}  {request:<{width}}"
        first, *more = wanted
        if len(request) > width:
            yield head.rstrip()
            head = " " * (5 + width)
        yield f"{head}  -> {first}"
        yield from (f"{'':{5 + width}}  or {other}" for other in more)


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


def _answer(name: str, answer: Answer) -> str:
    text = " ".join(_lines_of(answer))
    return f"{name}: {text}" if name else text or "done"


def _lines_of(answer: Mapping[str, Json]) -> Iterator[str]:
    for name, part in answer.items():
        yield f"{name}={_short(part)}"


def _short(part: Json) -> str:
    """Return a field without the marks of JSON, if it is a text or a list of objects."""
    match part:
        case str():
            return part
        case list() if part and all(isinstance(one, dict) for one in part):
            rows = (
                " ".join(f"{key}={_short(value)}" for key, value in one.items())
                for one in part
                if isinstance(one, dict)
            )
            return "[" + "; ".join(rows) + "]"
        case _:
            return dumps(part, separators=(",", ":")).replace('"', "")
