"""Cases with steps: requests to a live server, one after another, each with its own expectation.

Such a case has the op `sequence`. In memory its expectation is one value with the answer of each step, so
that judge, paths and reports treat it as any other value. An open step makes a behaviour of each answer.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Final, TypeAlias

from attrs import evolve, frozen

from wireproof.cases.case import Accept, Behaviour, Case, Either, Reject, Step, Steps
from wireproof.wire.json_values import Json, canonical_json

Answer: TypeAlias = Mapping[str, Json]

SEQUENCE: Final = "sequence"
"""The op of cases with steps."""

ERROR: Final = "error"
"""The field of an answer with the name of an error code."""

EITHER: Final = "either"
"""The field of an expectation whose answer the sources leave open: answers by name."""

MOST_STEPS: Final = 64
MOST_BEHAVIOURS: Final = 16

OWN_FIELDS: Final = frozenset({"op", "hex", "expect"})
"""The fields of a step that every op has, or may have."""


@frozen
class StepOp:
    """An op of a step: the fields that it must and may have, and whether it has bytes."""

    required: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()
    data: bool = False


def steps_of_json(rows: object) -> Steps:
    """Return the steps of a fixture or a token; raise ValueError."""
    if not isinstance(rows, list) or not 0 < len(rows) <= MOST_STEPS:
        raise ValueError(f"must be a list of 1 to {MOST_STEPS} steps")
    return Steps(tuple(_step(row, number) for number, row in enumerate(rows, 1)))


def _step(row: object, number: int) -> Step:
    if not isinstance(row, dict):
        raise ValueError(f"step {number} must be an object")  # noqa: TRY004 - a fault of a file
    fields: dict[str, Json] = dict(row)
    name, expect, data = fields.pop("op", None), fields.pop("expect", None), fields.pop("hex", None)
    if not isinstance(name, str) or not isinstance(expect, dict) or not expect:
        raise ValueError(f"step {number} must have an op, and expect with an answer")
    if data is not None and not isinstance(data, str):
        raise ValueError(f"step {number}: hex must be a text")
    try:
        return Step(name, fields, None if data is None else bytes.fromhex(data), expect)
    except ValueError:
        raise ValueError(f"step {number}: hex must be pairs of hexadecimal digits") from None


def step_request(step: Step) -> dict[str, Json]:
    """Return a step as it is sent: without its expectation."""
    hexed: dict[str, Json] = {} if step.data is None else {"hex": step.data.hex()}
    return {"op": step.op, **step.fields, **hexed}


def bytes_of_steps(given: Steps) -> bytes:
    """Return the requests of all steps as canonical JSON: it identifies the input of a case."""
    return canonical_json([step_request(step) for step in given.steps])


def step_json(step: Step) -> dict[str, Any]:
    return {**step_request(step), "expect": dict(step.expect)}


def answers(step: Step) -> Mapping[str, Answer]:
    """Return the permitted answers of a step by name; the name of one that is not open is empty."""
    named = step.expect.get(EITHER)
    if len(step.expect) > 1 or not isinstance(named, dict) or not named:
        return {"": step.expect}
    return {name: answer for name, answer in sorted(named.items()) if isinstance(answer, dict)}


def expectation_of(steps: Sequence[Step]) -> Accept | Reject | Either:
    """Return the expectation of a list of steps; raise ValueError for too many behaviours."""
    rows = list(product(*(answers(step).items() for step in steps)))
    if len(rows) > MOST_BEHAVIOURS:
        raise ValueError(f"{len(rows)} combinations of open answers, at most {MOST_BEHAVIOURS}")
    found = tuple(
        Behaviour(
            "+".join(name for name, _ in row if name), Accept({"steps": [dict(answer) for _, answer in row]})
        )
        for row in rows
    )
    return found[0].expect if len(found) == 1 else Either(found)


def with_steps(case: Case, steps: Sequence[Step]) -> Case:
    return evolve(case, input=Steps(tuple(steps)), expect=expectation_of(steps))


def is_refusing(case: Case) -> bool:
    """Return whether a step must be answered with an error, whichever of its answers is right."""
    steps = case.input.steps if isinstance(case.input, Steps) else ()
    return any(all(ERROR in answer for answer in answers(step).values()) for step in steps)


def is_refused(case: Case) -> bool:
    return isinstance(case.expect, Reject) or is_refusing(case)


def fewer_steps(steps: Sequence[Step]) -> Iterator[tuple[Step, ...]]:
    """Yield shorter lists: halves first, then all steps but one, from the last one on."""
    half = len(steps) // 2
    for part in (steps[:half], steps[half:]) if half > 1 else ():
        yield tuple(part)
    if len(steps) > 1:
        for place in reversed(range(len(steps))):
            yield (*steps[:place], *steps[place + 1 :])
