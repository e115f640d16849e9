"""The comparison of two runs, case by case: fixed, broken and changed."""

from attrs import frozen

from wireproof.trial.events import CaseEvent
from wireproof.trial.streams import Stream
from wireproof.trial.verdicts import PASSING


@frozen
class Change:
    """One case in both runs; None where a run does not have it."""

    id: str
    before: CaseEvent | None
    after: CaseEvent | None

    def __str__(self) -> str:
        """`id: fail:wrong-value → pass:canonical`."""
        was = self.before.label if self.before else "(none)"
        now = self.after.label if self.after else "(none)"
        return f"{self.id}: {was} → {now}"


@frozen
class Diff:
    """The changes of a second run against a first.

    Attributes:
        fixed: did not pass, passes.
        broken: passed, does not.
        changed: another verdict, class or field, on the same side of passing.
        added, removed: cases that one of the runs does not have.
        partial: whether a run is incomplete, which makes `added` and `removed` unsure.
    """

    fixed: tuple[Change, ...] = ()
    broken: tuple[Change, ...] = ()
    changed: tuple[Change, ...] = ()
    added: tuple[Change, ...] = ()
    removed: tuple[Change, ...] = ()
    partial: bool = False

    def lines(self) -> list[str]:
        """Return the changes as lines of text, the worst first."""
        parts = ("broken", "removed", "changed", "fixed", "added")
        rows = [f"{name:<8} {change}" for name in parts for change in getattr(self, name)]
        note = ["incomplete: a case that is missing may only not have been run"] if self.partial else []
        return [*rows, *note]


def diff(before: Stream, after: Stream) -> Diff:
    """Compare two runs of an adapter."""
    old = {event.id: event for event in before.cases}
    new = {event.id: event for event in after.cases}
    rows: dict[str, list[Change]] = {}
    for name in sorted({**old, **new}):
        change = Change(name, old.get(name), new.get(name))
        rows.setdefault(_side(change), []).append(change)
    rows.pop("same", None)
    found = {side: tuple(changes) for side, changes in rows.items()}
    return Diff(**found, partial=not (before.complete and after.complete))


def _side(change: Change) -> str:
    match change:
        case Change(before=None):
            return "added"
        case Change(after=None):
            return "removed"
        case Change(before=CaseEvent() as was, after=CaseEvent() as now):
            good = was.verdict in PASSING, now.verdict in PASSING
            if good[0] != good[1]:
                return "fixed" if good[1] else "broken"
            same = (was.label, was.cls, was.path) == (now.label, now.cls, now.path)
            return "same" if same else "changed"
    raise AssertionError("a change is of a case that one of the runs has")
