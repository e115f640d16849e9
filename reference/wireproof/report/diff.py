"""The comparison of two runs, case by case: fixed, broken and changed."""

from attrs import frozen

from wireproof.runner.event_files import EventStream
from wireproof.runner.events import CaseEvent
from wireproof.runner.verdicts import PASSING


@frozen
class CaseChange:
    """One case in both runs; None where a run does not have it."""

    id: str
    before: CaseEvent | None
    after: CaseEvent | None

    def __str__(self) -> str:
        """Return a line such as `id: fail:wrong-value → pass:canonical`."""
        was = self.before.label if self.before else "(none)"
        now = self.after.label if self.after else "(none)"
        return f"{self.id}: {was} → {now}"


@frozen
class RunDiff:
    """The changes of a second run against a first.

    Attributes:
        fixed: failed before, passes now.
        broken: passed before, fails now.
        changed: another verdict, class or field; passes in both runs or in neither.
        added, removed: cases that one of the runs does not have.
        partial: True if a run is incomplete, so that `added` and `removed` are uncertain.
        examples: False if the runs have other generated examples, which were therefore left out.
    """

    fixed: tuple[CaseChange, ...] = ()
    broken: tuple[CaseChange, ...] = ()
    changed: tuple[CaseChange, ...] = ()
    added: tuple[CaseChange, ...] = ()
    removed: tuple[CaseChange, ...] = ()
    partial: bool = False
    examples: bool = True

    def lines(self) -> list[str]:
        """Return the changes as lines of text, the worst first."""
        parts = ("broken", "removed", "changed", "fixed", "added")
        rows = [f"{name:<8} {change}" for name in parts for change in getattr(self, name)]
        note = ["incomplete: a case that is missing may only not have been run"] if self.partial else []
        apart = [] if self.examples else ["generated examples are left out: the runs have other ones"]
        return [*rows, *note, *apart]


def diff(before: EventStream, after: EventStream) -> RunDiff:
    """Compare two runs of an adapter."""
    alike = before.run.examples == after.run.examples
    old, new = (
        {event.id: event for event in stream.cases if alike or not event.is_property}
        for stream in (before, after)
    )
    rows: dict[str, list[CaseChange]] = {}
    for name in sorted({**old, **new}):
        change = CaseChange(name, old.get(name), new.get(name))
        rows.setdefault(_side(change), []).append(change)
    rows.pop("same", None)
    found = {side: tuple(changes) for side, changes in rows.items()}
    return RunDiff(**found, partial=not (before.complete and after.complete), examples=alike)


def _side(change: CaseChange) -> str:
    match change:
        case CaseChange(before=None):
            return "added"
        case CaseChange(after=None):
            return "removed"
        case CaseChange(before=CaseEvent() as was, after=CaseEvent() as now):
            good = was.verdict in PASSING, now.verdict in PASSING
            if good[0] != good[1]:
                return "fixed" if good[1] else "broken"
            same = (was.label, was.cls, was.path) == (now.label, now.cls, now.path)
            return "same" if same else "changed"
    raise AssertionError("a change is of a case that one of the runs has")
