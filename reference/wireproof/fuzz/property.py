"""The events of a property run: every failure under its signature, the first of each made small.

The example that first showed a signature keeps its id; its event bears the shrunk case as a token. A token
over 2 KiB is left out: the id draws the example again, as it was before it was made small.
"""

from collections.abc import Iterable, Iterator
from datetime import date
from math import inf
from typing import Final

from attrs import evolve

from wireproof.adapters.contract import Hello
from wireproof.cases.case import Level
from wireproof.cases.token import dump
from wireproof.formats import FORMATS
from wireproof.fuzz.shrink import ALONE, NothingToShrinkError, Shrinker
from wireproof.fuzz.smaller import weight
from wireproof.trial import baseline
from wireproof.trial.engine import Engine
from wireproof.trial.events import CaseEvent, case_event
from wireproof.trial.property import Ask, Judged, Tally, Target, sampled, targets
from wireproof.trial.signature import Signature
from wireproof.trial.streams import Stream
from wireproof.trial.verdicts import gates

MOST: Final = 600
"""Candidates asked for one signature."""

MOST_ALONE: Final = 32
"""The same where each may cost a process, or the whole of its time."""


def run(engine: Engine, ask: Ask, start: int = 0, level: Level = "should") -> Iterator[CaseEvent]:
    """The events of all targets of an adapter, numbered from `start`; the engine must have been entered.

    Notes of the engine tell what was drawn again. What gates at `level` is shrunk.

    Raises:
        PropertyError: Hypothesis is missing.
    """
    tally = Tally()
    number = start
    for target in targets(engine.hello, ask.rows):
        for event in of_target(engine, target, ask, tally, level):
            yield evolve(event, seq=number)
            number += 1
    engine.notes.extend(tally.notes())


def of_target(
    engine: Engine, target: Target, ask: Ask, tally: Tally, level: Level = "should"
) -> Iterator[CaseEvent]:
    """The events of one target, numbered from 0."""
    seen: set[Signature] = set()
    for number, judged in enumerate(list(sampled(engine, target, ask, tally))):
        if not gates(judged.verdict.name, judged.case.level, hold=level) or judged.signature in seen:
            yield case_event(number, judged.case, judged.verdict, judged.ns)
            continue
        seen.add(judged.signature)
        small = made_small(engine, judged)
        title = f"{small.case.title}, shrunk" if small is not judged else small.case.title
        token = dump(evolve(small.case, title=title))
        # A token that is a file would be lost; the id replays the example as it was drawn.
        kept = small if not token.startswith("@") else judged
        case = evolve(kept.case, title=title if kept is small else judged.case.title)
        yield case_event(number, case, kept.verdict, judged.ns, "" if token.startswith("@") else token)


def made_small(engine: Engine, judged: Judged) -> Judged:
    """The failure with the smallest case found; itself, where it does not fail a second time.

    The case is asked apart from its family, which deaths may have closed.
    """
    try:
        shrinker = Shrinker(engine, evolve(judged.case, id=f"{judged.case.joined}/shrink/n0", parent=None))
    except NothingToShrinkError:
        return judged
    if shrinker.signature != judged.signature:
        return judged
    shrunk = shrinker.run(inf, MOST_ALONE if judged.verdict.name in ALONE else MOST)
    if weight(shrunk.case.input) >= weight(judged.case.input):
        return judged
    case = evolve(shrunk.case, id=judged.case.id, parent=judged.case.parent)
    return evolve(judged, case=case, verdict=shrunk.verdict)


# --- the region of known failures ---


def known_of(
    hello: Hello, stream: Stream, known_failures: Iterable[baseline.KnownFailure], today: date
) -> frozenset[Signature]:
    """Return the signatures of known failures whose own cases fail in `stream`, as the properties show them.

    An entry that is stale, changed or expired keeps nothing out. A case of one entry that was asked of a
    reader of streams (design, section 3) fails there under the name of the stream.
    """
    overlays = baseline.apply(stream, tuple(known_failures), today).overlays
    shown = [event for event in stream.cases if overlays.get(event.id) == "expected"]
    own = {event.signature(hello.name) for event in shown}
    return frozenset(own | {_lifted(hello, one) for one in own})


def _lifted(hello: Hello, one: Signature) -> Signature:
    row = FORMATS.get(one.format)
    if row is None or row.lifts_to is None or one.format in hello.revisions:
        return one
    return evolve(one, format=f"{row.lifts_to[0]}/{row.lifts_to[1]}")
