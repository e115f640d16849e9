"""Checks of the known bugs: each in scope has golden cases that can fail, or the reason why it has none."""

from collections import Counter
from collections.abc import Iterator

from wireproof.cases.fixtures import Suite
from wireproof.cases.history import CODEC, HISTORY_FILE, Bug
from wireproof.cases.lint_problem import Problem

FAILING_LEVELS = ("must", "should")
"""Levels of cases whose failure fails a run."""


def check_history(suite: Suite) -> Iterator[Problem]:
    """Check every entry by itself, and that no id or link is used twice."""
    for kind, found in (
        ("id", Counter(bug.id for bug in suite.history)),
        ("link", Counter(link for bug in suite.history for link in bug.links)),
    ):
        for name, number in found.items():
            if number > 1:
                yield Problem(HISTORY_FILE, f"the {kind} {name} is there {number} times")
    for bug in suite.history:
        yield from (Problem(f"{HISTORY_FILE} {bug.id}", text) for text in _problems(suite, bug))


def _problems(suite: Suite, bug: Bug) -> Iterator[str]:
    """Yield the problems of one entry."""
    if not bug.links or not bug.title:
        yield "needs a link and a title"
    yield from _excluded(bug) if bug.excluded else _in_scope(bug)
    for name in bug.cases:
        case = suite.by_id.get(name)
        if case is None:
            yield f"the case {name} does not exist"
        elif case.level not in FAILING_LEVELS:
            yield f"the case {name} has the level {case.level}, and cannot fail a run"


def _excluded(bug: Bug) -> Iterator[str]:
    """Check an entry out of scope: it has nothing but the reason."""
    if bug.scope == CODEC:
        yield "a bug that a codec's bytes show is in scope"
    if bug.cases or bug.mutant or bug.missed or bug.without_mutant:
        yield "is out of scope, and has no cases, no mutant and no other reason"


def _in_scope(bug: Bug) -> Iterator[str]:
    """Check that an entry has cases or `missed`, and for a codec a mutant or the reason why it has none."""
    if bool(bug.cases) == bool(bug.missed):
        yield "needs cases that catch it, or the reason in `missed`"
    if bug.cases and bug.found_by:
        yield "has cases that catch it: `found_by` is for a bug without"
    if bug.scope == CODEC and bool(bug.mutant) == bool(bug.without_mutant):
        yield "needs a mutant that repeats it, or the reason in `without_mutant`"
