"""Verify a run: its digest chain, and a sample of its verdicts, judged again.

The chain proves that no event was changed, dropped, added or moved since the run was written. Only running
cases again proves that the events are true: so a sample is run again on the same adapter.
"""

from collections.abc import Iterable, Iterator
from random import Random

from attrs import evolve, frozen

from wireproof.cases.case import Case
from wireproof.cases.fixtures import Suite
from wireproof.runner.case_lookup import find_case
from wireproof.runner.event_files import EventStream
from wireproof.runner.events import CaseEvent, Footer, event_digest


@frozen
class ChainBreak:
    """The first place where a chain does not hold; `text` is one line."""

    place: int
    text: str


@frozen
class VerdictChange:
    """A case whose verdict changed."""

    before: CaseEvent
    now: CaseEvent | None

    @property
    def text(self) -> str:
        """Return the change as one line."""
        now = _label_and_class(self.now) if self.now else "no such case"
        return f"{self.before.id}: was {_label_and_class(self.before)}, is {now}"


def chain_break(stream: EventStream) -> ChainBreak | None:
    """Return where the chain of a run breaks; None if every event has the digest of the event before it."""
    previous = event_digest(stream.run)
    for place, event in enumerate(_after_manifest(stream), 1):
        if event.previous != previous:
            what = event.id if isinstance(event, CaseEvent) else "the footer"
            why = "has no digest" if not event.previous else "does not have the digest of the event before it"
            return ChainBreak(place, f"event {place}, {what}, {why}")
        previous = event_digest(event)
    return None


def chain_digest(stream: EventStream) -> str:
    """Return the last digest of the chain, which identifies the whole run and can be published."""
    previous = event_digest(stream.run)
    for event in _after_manifest(stream):
        previous = event_digest(evolve(event, previous=previous))
    return previous


def _after_manifest(stream: EventStream) -> Iterator[CaseEvent | Footer]:
    yield from stream.cases
    if stream.footer is not None:
        yield stream.footer


def sample_events(stream: EventStream, number: int, seed: int) -> list[CaseEvent]:
    """Return a seeded sample of `number` events that can be judged again, in their order.

    Cases that were not run have no verdict to compare.
    """
    asked = [event for event in stream.cases if event.verdict not in ("not-run", "unsupported")]
    places = Random(seed).sample(range(len(asked)), min(number, len(asked)))  # noqa: S311 - a sample
    return [asked[place] for place in sorted(places)]


def cases_of(suite: Suite, events: Iterable[CaseEvent]) -> list[Case | None]:
    """Return the case of each event; None if the fixtures no longer have it."""
    return [find_case(suite, event.token or event.id) for event in events]


def verdict_changes(before: Iterable[CaseEvent], now: Iterable[CaseEvent]) -> tuple[VerdictChange, ...]:
    """Return the cases whose verdict, kind or class changed."""
    found = {event.id: event for event in now}
    pairs = (VerdictChange(event, found.get(event.id)) for event in before)
    return tuple(
        pair
        for pair in pairs
        if pair.now is None or _label_and_class(pair.now) != _label_and_class(pair.before)
    )


def _label_and_class(event: CaseEvent) -> str:
    return " ".join(filter(None, (event.label, event.cls)))
