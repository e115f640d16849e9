"""Is a run what it says? Its chain, and a sample of its verdicts, judged again. Design, sections 5 and 6.

The chain shows that no event was changed, dropped, added or moved since the run was written; that it was
written as it happened only a second look can show: some of its cases are asked again, of the same adapter.
"""

from collections.abc import Iterable, Iterator
from random import Random

from attrs import evolve, frozen

from wireproof.cases.case import Case
from wireproof.cases.fixtures import Suite
from wireproof.trial.events import CaseEvent, Footer, chained
from wireproof.trial.lookup import find
from wireproof.trial.streams import Stream


@frozen
class Break:
    """The first place where a chain does not hold; `text` is one line."""

    place: int
    text: str


@frozen
class Difference:
    """A case whose verdict is another one now."""

    before: CaseEvent
    now: CaseEvent | None

    @property
    def text(self) -> str:
        """One line."""
        now = _said(self.now) if self.now else "no such case"
        return f"{self.before.id}: was {_said(self.before)}, is {now}"


def broken(stream: Stream) -> Break | None:
    """Where the chain of a run breaks; None if every event bears the digest of the one before."""
    previous = chained(stream.run)
    for place, event in enumerate(_behind(stream), 1):
        if event.previous != previous:
            what = event.id if isinstance(event, CaseEvent) else "the footer"
            why = (
                "bears no digest" if not event.previous else "does not bear the digest of the event before it"
            )
            return Break(place, f"event {place}, {what}, {why}")
        previous = chained(event)
    return None


def head(stream: Stream) -> str:
    """The digest that stands for the whole run, as its chain ends: what one publishes."""
    previous = chained(stream.run)
    for event in _behind(stream):
        previous = chained(evolve(event, previous=previous))
    return previous


def _behind(stream: Stream) -> Iterator[CaseEvent | Footer]:
    yield from stream.cases
    if stream.footer is not None:
        yield stream.footer


def drawn(stream: Stream, number: int, seed: int) -> list[CaseEvent]:
    """So many of the events that a second look can judge, in their order; which ones, the seed decides.

    What was not asked has nothing to be compared.
    """
    asked = [event for event in stream.cases if event.verdict not in ("not-run", "unsupported")]
    places = Random(seed).sample(range(len(asked)), min(number, len(asked)))  # noqa: S311 - a sample
    return [asked[place] for place in sorted(places)]


def cases_of(suite: Suite, events: Iterable[CaseEvent]) -> list[Case | None]:
    """The case of each event; None where the fixtures do not have it any more."""
    return [find(suite, event.token or event.id) for event in events]


def differences(before: Iterable[CaseEvent], now: Iterable[CaseEvent]) -> tuple[Difference, ...]:
    """Those whose verdict, kind or class changed."""
    found = {event.id: event for event in now}
    pairs = (Difference(event, found.get(event.id)) for event in before)
    return tuple(pair for pair in pairs if pair.now is None or _said(pair.now) != _said(pair.before))


def _said(event: CaseEvent) -> str:
    return " ".join(filter(None, (event.label, event.cls)))
