"""The mutant of each known bug against the golden cases of its entry: `python -m tests.mutants --history`.

An entry of `bugs.toml` is only as good as its cases: each case that names it must kill the mutant
that repeats the bug. An entry without cases must not be wrong either: no golden case may kill its mutant.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from attrs import evolve, frozen

from tests.fixture_tables.history import Bug, HistoryCounts, counts, known_bugs
from tests.mutants.kill import Killed, derived_on, is_costly, killed_by_property, verdict_on
from tests.mutants.registry import PREFIX, mutants
from wireproof.cases.fixtures import Suite

EXAMPLES: Final = 1000
"""Property examples for a bug that only a property finds."""


@frozen
class Recall:
    """What was measured for a bug.

    Attributes:
        bug: the entry, with the cases and the part of the suite that catch it as measured.
        by: the first case that kills its mutant, or a token; empty if nothing does.
        problems: what is wrong with the entry, one line each.
    """

    bug: Bug
    by: str = ""
    problems: tuple[str, ...] = ()


def recalls(suite: Suite, bugs: Iterable[Bug]) -> Iterator[Recall]:
    """Yield what was measured for each bug, in order."""
    known = frozenset(mutants())
    for bug in bugs:
        if not bug.in_scope or not bug.mutant:
            yield Recall(bug, bug.cases[0] if bug.cases else "")
        elif f"{PREFIX}{bug.mutant}" not in known:
            yield Recall(evolve(bug, cases=(), found_by=""), "", (f"there is no mutant {bug.mutant}",))
        elif bug.cases:
            yield _caught(suite, bug)
        else:
            yield _missed(suite, bug)


def summary(found: Iterable[Recall]) -> HistoryCounts:
    """Return the counts as measured."""
    return counts(one.bug for one in found)


def known_survivors(bugs: Iterable[Bug]) -> frozenset[str]:
    """Return the mutants that no golden case kills, as the entries of their bugs say."""
    return frozenset(f"{PREFIX}{bug.mutant}" for bug in bugs if bug.mutant and not bug.cases)


def cases_named_for(suite: Suite, name: str) -> frozenset[str]:
    """Return the cases that the entries of a mutant's bugs name; of a mutant without an entry, none."""
    entries = [bug for bug in known_bugs(suite) if f"{PREFIX}{bug.mutant}" == name]
    return frozenset(case for bug in entries for case in bug.cases)


def _caught(suite: Suite, bug: Bug) -> Recall:
    """Run the cases of an entry, each of which must kill the mutant."""
    killed = _golden(bug, only(suite, bug.cases))
    deadly = tuple(name for name in bug.cases if name in killed.ids)
    lives = [f"{name} does not kill {bug.mutant}" for name in bug.cases if name not in deadly]
    return Recall(evolve(bug, cases=deadly), deadly[0] if deadly else "", tuple(lives))


def _missed(suite: Suite, bug: Bug) -> Recall:
    """Run every golden case, none of which may kill the mutant, and the part that is said to find the bug."""
    killed = _golden(bug, suite)
    if killed.ids:
        text = f"it is said to be missed, and {killed.ids[0]} kills {bug.mutant}"
        return Recall(evolve(bug, cases=killed.ids), killed.ids[0], (text,))
    if not bug.found_by:
        return Recall(bug)
    killed = _elsewhere(bug, suite)
    if killed.by:
        return Recall(bug, killed.by)
    return Recall(evolve(bug, found_by=""), "", (f"{bug.found_by} does not find {bug.mutant}",))


def _golden(bug: Bug, suite: Suite) -> Killed:
    name = f"{PREFIX}{bug.mutant}"
    return verdict_on(name, suite, in_process=not is_costly(name))


def _elsewhere(bug: Bug, suite: Suite) -> Killed:
    name = f"{PREFIX}{bug.mutant}"
    in_process = not is_costly(name)
    if bug.found_by == "derived":
        return derived_on(name, suite, in_process=in_process)
    return killed_by_property(name, EXAMPLES, in_process=in_process)


def only(suite: Suite, names: Sequence[str]) -> Suite:
    """Return the suite with these cases and their twins, without which a refusal counts for nothing."""
    named = [suite.by_id[name] for name in names if name in suite.by_id]
    ids = {case.id for case in named} | {case.twin for case in named if case.twin}
    return evolve(suite, cases=tuple(case for case in suite.cases if case.id in ids))


def lines(found: Sequence[Recall]) -> Iterator[str]:
    """Yield the problems, and the recall in one line."""
    for one in found:
        yield from (f"{one.bug.id}: {problem}" for problem in one.problems)
    yield str(summary(found))
