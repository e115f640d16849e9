"""The answers of implementations to the golden cases, as votes.

A vote is the answer of the reference, or another answer that the format allows (a remark).
"""

from collections.abc import Mapping, Sequence

from attrs import frozen

from wireproof.report.page_model import verdict_class
from wireproof.runner.event_files import EventStream
from wireproof.runner.events import CaseEvent
from wireproof.runner.verdicts import PASSING

ABSTAINS = frozenset({"unsupported", "not-run"})
"""Verdicts that are not votes."""


@frozen
class Vote:
    """The answer of one implementation to one case."""

    adapter: str
    event: CaseEvent

    @property
    def colour(self) -> str:
        """Return the CSS class of its verdict."""
        return verdict_class(self.event.verdict)

    @property
    def fails(self) -> bool:
        """Return True if the answer is wrong."""
        return self.event.verdict not in PASSING | ABSTAINS

    @property
    def choice(self) -> str:
        """Name its answer: that of the reference, a refusal, another allowed one, or a wrong one."""
        event = self.event
        match event.verdict:
            case "pass" | "pass-unclassified" | "undocumented":
                return "as the reference"
            case "info" if event.cls:
                return f"refused, {event.cls}"
            case "info":
                return f"otherwise, {event.kind}"
            case _:
                return event.label


Votes = Mapping[str, Sequence[Vote]]
"""The votes on each golden case, by its id."""


def votes(streams: Sequence[EventStream]) -> Votes:
    """Return the votes of all runs in order; the last run of an adapter and version counts."""
    latest = {_name(stream): stream for stream in streams}
    found: dict[str, list[Vote]] = {}
    for name, stream in latest.items():
        for event in stream.cases:
            if "~" not in event.id:
                found.setdefault(event.id, []).append(Vote(name, event))
    return found


def _name(stream: EventStream) -> str:
    return f"{stream.run.adapter} {stream.run.version}".strip()


def adapters_by_choice(some: Sequence[Vote]) -> dict[str, list[str]]:
    """Return the adapters by their choice, the most frequent choice first; abstentions are left out."""
    found: dict[str, list[str]] = {}
    for vote in some:
        if vote.event.verdict not in ABSTAINS:
            found.setdefault(vote.choice, []).append(vote.adapter)
    return dict(sorted(found.items(), key=lambda row: (-len(row[1]), row[0])))
