"""Checks of cases with steps: their ops and fields are those of the family, and a case cannot hang."""

from collections.abc import Iterator, Mapping

from wireproof.cases.case import Case, Step, Steps
from wireproof.cases.fixtures import Suite
from wireproof.cases.lint_problem import Problem
from wireproof.cases.steps import OWN_FIELDS, StepOp
from wireproof.family import object_at
from wireproof.formats import FORMATS, family_of


def check_steps(suite: Suite) -> Iterator[Problem]:
    """Check the ops and fields of every step."""
    for case in suite.cases:
        if isinstance(case.input, Steps) and case.format_id in FORMATS:
            table = step_ops(case)
            for number, step in enumerate(case.input.steps, 1):
                yield from (Problem(case.id, f"step {number}: {text}") for text in _faults(step, table))


def step_ops(case: Case) -> Mapping[str, StepOp]:
    """Return the ops of steps that the family of a case has."""
    place = family_of(FORMATS[case.format_id]).step_ops
    table: Mapping[str, StepOp] = object_at(place) if place else {}
    return table


def _faults(step: Step, table: Mapping[str, StepOp]) -> Iterator[str]:
    row = table.get(step.op)
    if row is None:
        yield f"the op {step.op} is unknown; known are {', '.join(table) or 'none'}"
        return
    named = frozenset(step.fields)
    if wrong := sorted(named - row.required - row.optional - OWN_FIELDS):
        yield f"{step.op} has no {', '.join(wrong)}"
    if lacking := sorted(row.required - named):
        yield f"{step.op} must have {', '.join(lacking)}"
    if (step.data is not None) != row.data:
        yield f"{step.op} {'must have hex' if row.data else 'has no hex'}"
