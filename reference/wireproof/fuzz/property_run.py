"""The property run of an adapter: judge generated cases, and shrink the first failure of each kind.

A kind is a signature with a shape. The example that first showed one keeps its id. Its event has the shrunk
case as a token. A token over 2 KiB is left out; the id generates the example again then, as it was before
shrinking.
"""

from collections.abc import Iterable, Iterator
from datetime import date
from math import inf
from typing import Final

from attrs import evolve

from wireproof.adapters.contract import Hello
from wireproof.cases.case import Level
from wireproof.cases.token import to_token
from wireproof.formats import FORMATS
from wireproof.fuzz.shrink import ONE_AT_A_TIME, NothingToShrinkError, Shrinker, weight
from wireproof.judge.signature import Signature, shape_of_finding
from wireproof.judge.verdicts import gates
from wireproof.run.baselines import baseline
from wireproof.run.baselines.known_failures import KnownFailure
from wireproof.run.engine import Engine
from wireproof.run.events import CaseEvent, EventStream, case_event
from wireproof.run.property_suite import (
    JudgedCase,
    PropertySettings,
    PropertyTarget,
    RedrawCounts,
    property_targets,
    run_target,
)

MAX_CANDIDATES_ALONE: Final = 32
"""Candidates that are tried to shrink a failure if each may end a process or take all of its time."""


def run(
    engine: Engine, ask: PropertySettings, start: int = 0, level: Level = "should"
) -> Iterator[CaseEvent]:
    """Yield the events of all targets of an adapter, numbered from `start`.

    The notes of the engine report the examples that were generated again.

    Args:
        engine: an engine that has been entered.
        ask: the examples.
        start: number of the first event.
        level: failures that gate at this level are shrunk.

    Raises:
        PropertyError: Hypothesis is missing.
    """
    tally = RedrawCounts()
    number = start
    for target in property_targets(engine.hello, ask.rows):
        for event in target_events(engine, target, ask, tally, level):
            yield evolve(event, seq=number)
            number += 1
    engine.notes.extend(tally.notes())


def target_events(
    engine: Engine,
    target: PropertyTarget,
    ask: PropertySettings,
    tally: RedrawCounts,
    level: Level = "should",
) -> Iterator[CaseEvent]:
    """Yield the events of one target, numbered from 0."""
    seen: set[tuple[Signature, str]] = set()
    for number, judged in enumerate(list(run_target(engine, target, ask, tally))):
        event = case_event(number, judged.case, judged.verdict, judged.ns)
        fails = gates(event.verdict, event.level, hold=level)
        way = judged.signature, shape_of_finding(judged.verdict)
        if not fails or way in seen or any(entry.covers(event) for entry in ask.held):
            yield event
            continue
        seen.add(way)
        yield _shrunk_event(number, judged, shrink_failure(engine, judged, ask.candidates))


def _shrunk_event(number: int, judged: JudgedCase, small: JudgedCase) -> CaseEvent:
    """Return the event of a failure, with the token of the shrunk case if it is short enough."""
    title = f"{small.case.title}, shrunk" if small is not judged else small.case.title
    token = to_token(evolve(small.case, title=title))
    if token.startswith("@"):  # A file would be lost; the id generates the example again.
        return case_event(number, judged.case, judged.verdict, judged.ns)
    return case_event(number, evolve(small.case, title=title), small.verdict, judged.ns, token)


def shrink_failure(engine: Engine, judged: JudgedCase, candidates: int) -> JudgedCase:
    """Return the failure with the smallest case found, or unchanged if it does not fail a second time.

    The case is run outside of its family, which may be closed because of crashes.
    """
    try:
        shrinker = Shrinker(engine, evolve(judged.case, id=f"{judged.case.format_id}/shrink/n0", parent=None))
    except NothingToShrinkError:
        return judged
    if shrinker.signature != judged.signature:
        return judged
    alone = judged.verdict.name in ONE_AT_A_TIME
    shrunk = shrinker.run(inf, min(candidates, MAX_CANDIDATES_ALONE) if alone else candidates)
    if weight(shrunk.case.input) >= weight(judged.case.input):
        return judged
    case = evolve(shrunk.case, id=judged.case.id, parent=judged.case.parent)
    return evolve(judged, case=case, verdict=shrunk.verdict)


# --- known failures ---


def known_signatures(
    hello: Hello, stream: EventStream, known_failures: Iterable[KnownFailure], today: date
) -> frozenset[Signature]:
    """Return the signatures of the known failures whose own cases failed in `stream`.

    A known failure that is stale, has changed or has expired is left out. The case of an entry that was
    wrapped as a stream fails under the id of the entry; its generated cases fail under that of the stream.
    """
    overlays = baseline.apply(stream, tuple(known_failures), today).overlays
    expected = [event for event in stream.cases if overlays.get(event.id) == "expected"]
    own = {event.signature(hello.name) for event in expected}
    return frozenset(own | {_as_stream(hello, known) for known in own})


def _as_stream(hello: Hello, known: Signature) -> Signature:
    """Return the signature under the id of the stream, if the adapter knows the format only as a stream."""
    fmt = FORMATS.get(known.format)
    if fmt is None or fmt.wrapped_by is None or known.format in hello.revisions:
        return known
    return evolve(known, format=f"{fmt.wrapped_by[0]}/{fmt.wrapped_by[1]}")
