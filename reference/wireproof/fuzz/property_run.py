"""The property run of an adapter: judge generated cases, and shrink the first failure of each kind.

`derive.seeded_examples` makes the cases: example n of a format, an op and a seed is always the same. A kind
of failure is a signature with a shape. The example that first showed one keeps its id. Its event has the
shrunk case as a token. A token over 2 KiB is left out; the id generates the example again then, as it was
before shrinking.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from math import inf
from typing import Final

from attrs import define, evolve, field, frozen

from wireproof import __version__
from wireproof.adapters.contract import Hello
from wireproof.adapters.requests import CaseResult, prepare_case
from wireproof.cases.case import PROPERTY, Accept, Case, Data, Level, Op
from wireproof.cases.outcome import Accepted, Unsupported
from wireproof.cases.reference_answers import reference_expectation
from wireproof.cases.token import to_token
from wireproof.derive.seeded_examples import ops_of, property_examples
from wireproof.formats import FORMATS, Format
from wireproof.fuzz.shrink import ONE_AT_A_TIME, NothingToShrinkError, Shrinker, weight
from wireproof.judge.judge import judge
from wireproof.judge.signature import Signature, shape_of_finding, signature
from wireproof.judge.verdicts import Verdict, gates
from wireproof.run.baselines import baseline
from wireproof.run.baselines.known_failures import KnownFailure
from wireproof.run.engine import Engine
from wireproof.run.events import CaseEvent, EventStream, case_event
from wireproof.wire.text import counted

BLOCK_SIZE: Final = 64
"""Cases that are run at once."""

MAX_DRAWS_FACTOR: Final = 4
"""Maximum examples drawn, as a multiple of those wanted: some are outside the claims, or known failures."""

DEFAULT_EXAMPLES: Final = 4
"""Examples of each format and op in a run that asks for none: they cost less than a tenth of its time."""

MAX_CANDIDATES: Final = 600
"""Candidates that are tried to shrink one failure."""

FEW_CANDIDATES: Final = 32
"""The same for the examples that nobody asked for, and where each may end a process or take all its time."""


def release_seed(release: str = __version__) -> int:
    """Return the seed of the examples that every run has: 1002003 for the release 1.2.3 of the cases."""
    major, minor, patch, *_ = (*map(int, re.findall("[0-9]+", release)), 0, 0, 0)
    return (major * 1000 + minor) * 1000 + patch


def hypothesis_version() -> str:
    """Return the version of Hypothesis; empty if it is not installed."""
    with suppress(PackageNotFoundError):
        return version("hypothesis") if find_spec("hypothesis") else ""
    return ""


@frozen
class PropertySettings:
    """The settings of a property run.

    Attributes:
        count: examples of each format and op.
        seed: of all examples.
        rows: ids of the formats; None takes every format that the adapter claims.
        known: signatures of known failures. An example that fails with one of them is replaced by another
            and counted, and fails nothing; the known failure's own case checks the bug.
        held: the known failures that examples alone show. They are not shrunk.
        candidates: maximum candidates that are tried to shrink one failure.
    """

    count: int
    seed: int = 0
    rows: frozenset[str] | None = None
    known: frozenset[Signature] = frozenset()
    held: tuple[KnownFailure, ...] = ()
    candidates: int = MAX_CANDIDATES


@frozen
class PropertyTarget:
    """A format and an op to run on an adapter."""

    row: Format
    op: Op

    def __str__(self) -> str:
        return f"{self.row.format_id} {self.op}"


@frozen
class JudgedCase:
    """A property case with its verdict, its signature, and the nanoseconds it took."""

    case: Case
    verdict: Verdict
    signature: Signature
    ns: int


@define
class RedrawCounts:
    """Counts that the events of a run do not show: replaced examples and missing examples, by target."""

    known: dict[str, int] = field(factory=dict)
    short: dict[str, int] = field(factory=dict)

    def notes(self) -> list[str]:
        """Return a line about the replaced examples and one about the missing ones."""
        nouns = "example with a known failure was", "examples with a known failure were"
        again = f"{counted(sum(self.known.values()), *nouns, grouped=False)} replaced by others"
        less = "generated examples within the claims that do not fail as known, fewer than were asked for"
        lines = []
        for text, counts in ((again, self.known), (less, self.short)):
            listed = ", ".join(f"{number} of {target}" for target, number in [*counts.items()][:3])
            more = f" and {len(counts) - 3} more" if len(counts) > 3 else ""
            lines += [f"{text}: {listed}{more}"] if counts else []
        return lines


def property_targets(hello: Hello, rows: Iterable[str] | None = None) -> list[PropertyTarget]:
    """Return the targets among `rows` that an adapter claims; all of them for an adapter without claims.

    A format that it claims only as a stream of entries represents that stream, as its cases do.
    """
    wanted = set(FORMATS) if rows is None else set(rows)
    lifts = [FORMATS[one].wrapped_by for one in wanted if one in FORMATS and one not in hello.revisions]
    wanted |= {f"{lift[0]}/{lift[1]}" for lift in lifts if lift is not None and hello.revisions}
    found = []
    for format_id, row in FORMATS.items():
        claim = hello.revisions.get(format_id)
        if format_id not in wanted or (hello.revisions and claim is None):
            continue
        ops = claim.ops if claim is not None else None
        found += [PropertyTarget(row, op) for op in ops_of(row) if ops is None or op in ops]
    return found


def run(
    engine: Engine, ask: PropertySettings, start: int = 0, level: Level = "should"
) -> Iterator[CaseEvent]:
    """Yield the events of all targets of an adapter, numbered from `start`.

    The notes of the engine report the examples that were generated again. Failures that gate at `level` are
    shrunk. Raises `PropertyError` if Hypothesis is missing.
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
        small = shrink_failure(engine, judged, ask.candidates)
        title = f"{small.case.title}, shrunk" if small is not judged else small.case.title
        case = evolve(small.case, title=title)
        token = to_token(case)
        # A token in a file would be lost; the id generates the example again.
        yield event if token.startswith("@") else case_event(number, case, small.verdict, judged.ns, token)


def run_target(
    engine: Engine, target: PropertyTarget, ask: PropertySettings, tally: RedrawCounts
) -> Iterator[JudgedCase]:
    """Yield `ask.count` judged examples of a target, in their order, then those of reading back.

    Bytes that differ from the reference's are read back by the adapter that wrote them, as cases of their
    own.
    """
    start = yielded = 0
    while yielded < ask.count and start < MAX_DRAWS_FACTOR * ask.count:
        # The first eight show whether an adapter without claims supports an op at all.
        most = BLOCK_SIZE if start or engine.hello.revisions else 8
        stop = min(start + min(most, ask.count - yielded), MAX_DRAWS_FACTOR * ask.count)
        block = property_examples(target.row.format_id, ask.seed).cases(target.op, start, stop)
        if not block:
            break
        wanted = _claimed(engine.hello, block)[: ask.count - yielded]
        rans = list(engine.run(wanted))
        none = rans and all(isinstance(ran.outcome, Unsupported) for ran in rans)
        if none and not (start or engine.hello.revisions):
            return
        start = stop
        for judged in _judged(engine, rans):
            if judged.signature in ask.known:
                tally.known[str(target)] = tally.known.get(str(target), 0) + 1
                continue
            yielded += 1
            yield judged
        again = _claimed(engine.hello, _read_back(engine.hello, rans))
        yield from (one for one in _judged(engine, engine.run(again)) if one.signature not in ask.known)
    if yielded < ask.count:
        tally.short[str(target)] = yielded


def _claimed(hello: Hello, cases: Iterable[Case]) -> list[Case]:
    return [case for case in cases if not isinstance(prepare_case(case, hello), Unsupported)]


def _judged(engine: Engine, rans: Iterable[CaseResult]) -> Iterator[JudgedCase]:
    for ran in rans:
        verdict = judge(ran.case, ran.outcome, hello=engine.hello)
        yield JudgedCase(ran.case, verdict, signature(engine.hello.name, ran.case, verdict), ran.ns)


def _read_back(hello: Hello, rans: Iterable[CaseResult]) -> Iterator[Case]:
    """Yield an adapter's own bytes as decode cases, if the reference writes other bytes."""
    for ran in rans:
        match ran.outcome, ran.case.expect:
            case Accepted(data=bytes(data)), Accept(data=ours) if data not in ours:
                case = evolve(
                    ran.case,
                    id=ran.case.id.replace(f"/{PROPERTY}/encode~", f"/{PROPERTY}/read-back~"),
                    op="decode",
                    input=Data(data),
                    title=f"decode of what {hello.name} wrote",
                    parent=None,
                )
                yield evolve(case, expect=reference_expectation(case))


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
    shrunk = shrinker.run(inf, min(candidates, FEW_CANDIDATES) if alone else candidates)
    if weight(shrunk.case.input) >= weight(judged.case.input):
        return judged
    case = evolve(shrunk.case, id=judged.case.id, parent=judged.case.parent)
    return evolve(judged, case=case, verdict=shrunk.verdict)


def known_signatures(
    hello: Hello, stream: EventStream, known_failures: Iterable[KnownFailure], today: date
) -> frozenset[Signature]:
    """Return the signatures of the known failures whose own cases failed in `stream`.

    A known failure that is stale, has changed or has expired is left out. The case of an entry that was
    wrapped as a stream fails under the id of the entry; its generated cases fail under that of the stream.
    """
    overlays = baseline.apply(stream, tuple(known_failures), today).overlays
    found = set()
    for event in stream.cases:
        if overlays.get(event.id) == "expected":
            known = event.signature(hello.name)
            fmt = FORMATS.get(known.format)
            found.add(known)
            if fmt is not None and fmt.wrapped_by is not None and known.format not in hello.revisions:
                found.add(evolve(known, format="/".join(fmt.wrapped_by[:2])))
    return frozenset(found)
