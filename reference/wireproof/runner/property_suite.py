"""The property suite of any adapter: generated cases, judged like any other, op by op.

Example n of a format, an op and a seed is always the same case,
`<format>/<revision>/property/<op>~s<seed>:<n>`. It is generated once for all adapters: a table of mutants
shares the cases. Examples are generated in sequence, because each differs from all before it; the cases of a
campaign (`fuzz.seeded_cases`) are not, because its tasks do not know one another.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from itertools import islice
from typing import Final

from attrs import define, evolve, field, frozen

from wireproof import __version__, formats
from wireproof.adapters.contract import Hello
from wireproof.cases.case import ORIGIN_REFERENCE, Accept, Case, Chunks, Data, Op, Source, Value
from wireproof.cases.case_capabilities import capabilities_of, capabilities_of_value
from wireproof.cases.outcome import Accepted, Unsupported
from wireproof.cases.property_inputs import PropertyInput, inputs_for
from wireproof.cases.reference_answers import (
    expectation_of,
    open_to_refusal,
    reference_answer,
    reference_expectation,
)
from wireproof.cases.refusal_levels import is_left_open, with_refusal_level
from wireproof.formats import FORMATS, Format
from wireproof.install_hint import install_command
from wireproof.runner.engine import Engine
from wireproof.runner.events import PROPERTY
from wireproof.runner.judge import judge
from wireproof.runner.known_failures import KnownFailure
from wireproof.runner.pending_cases import CaseResult
from wireproof.runner.requests import prepare_case
from wireproof.runner.signature import Signature, signature
from wireproof.runner.verdicts import Verdict
from wireproof.wire.rejection import Rejected

MAX_EXAMPLES: Final = 100_000
"""Examples of a format and an op that can be generated again: those before it are generated too, and kept."""

_EXAMPLE: Final = re.compile(r"s([0-9]{1,18}):([0-9]{1,6})")
"""Seed and number of an example in its id. The id may come from a file, so its digits are limited."""

BLOCK_SIZE: Final = 64
"""Cases that are run at once."""

MAX_LISTED: Final = 3
"""Formats and ops that a note names."""

MAX_DRAWS_FACTOR: Final = 4
"""Maximum examples drawn, as a multiple of those wanted: some are outside the claims, or known failures."""

MAX_STALE_SAMPLES: Final = 64
"""Consecutive samples without a new example, after which a format has no more."""

DEFAULT_EXAMPLES: Final = 4
"""Examples of each format and op in a run that asks for none: they cost less than a tenth of its time."""

MAX_CANDIDATES: Final = 600
"""Candidates that are tried to shrink one failure."""

FEW_CANDIDATES: Final = 32
"""The same for the examples that nobody asked for."""

FIRST_BLOCK_SIZE: Final = 8
"""Examples after which an adapter without claims has shown whether it supports an op at all."""


class PropertyError(ValueError):
    """No cases can be generated; the message has the next step."""


def release_seed(release: str = __version__) -> int:
    """Return the seed of the examples that every run has: 1002003 for the release 1.2.3 of the cases."""
    major, minor, patch, *_ = (*map(int, re.findall("[0-9]+", release)), 0, 0, 0)
    return (major * 1000 + minor) * 1000 + patch


def hypothesis_version() -> str:
    """Return the version of Hypothesis; empty if it is not installed."""
    try:
        return version("hypothesis") if find_spec("hypothesis") else ""
    except PackageNotFoundError:
        return ""


# --- the cases ---


class CasePool:
    """The cases of one format and seed, generated as far as they were needed."""

    def __init__(self, row: Format, seed: int) -> None:
        """Generate nothing yet; raises `PropertyError` if Hypothesis is missing."""
        try:
            from wireproof.cases.strategies.seeded_samples import iter_samples  # noqa: PLC0415 - an extra
        except ImportError:
            raise PropertyError(f"properties need Hypothesis: {install_command('property')}") from None
        self._row, self._seed = row, seed
        self._drawn = partial(iter_samples, row, seed)
        self._made: dict[Op, list[Case]] = {}
        self._more: dict[Op, Iterator[Case]] = {}

    def cases(self, op: Op, start: int, stop: int) -> Sequence[Case]:
        """Return the cases from `start` to before `stop`; fewer only if the format has no more."""
        made = self._made.setdefault(op, [])
        if stop > len(made):
            more = self._more.setdefault(op, self._new(op))
            made.extend(islice(more, stop - len(made)))
        return made[start:stop]

    def _new(self, op: Op) -> Iterator[Case]:
        seen: set[str] = set()
        number = stale = 0
        for sample in self._drawn():
            before = number
            for example in inputs_for(self._row, op, sample):
                key = repr((example.input, example.options))
                if key not in seen:
                    seen.add(key)
                    yield self._case(op, number, example, sample.data)
                    number += 1
            stale = 0 if number > before else stale + 1
            if stale >= MAX_STALE_SAMPLES:
                return

    def _case(self, op: Op, number: int, example: PropertyInput, data: bytes) -> Case:
        topic = f"{self._row.format_id}/{PROPERTY}/{op}"
        case = Case(
            f"{topic}~s{self._seed}:{number}",
            self._row.name,
            self._row.revision,
            example.input,
            Accept(),
            title=f"{op}, {example.kind}",
            op=op,
            profile=example.options.profile,
            options=example.options,
            needs=_needs(self._row, example, data),
            source=Source(ORIGIN_REFERENCE, f"{PROPERTY} of seed {self._seed}"),
            parent=f"{topic}-{example.kind}",
            family=PROPERTY,
        )
        answer = reference_answer(case)
        case = with_refusal_level(evolve(case, expect=expectation_of(answer)))
        if is_left_open(case):
            return evolve(case, level="may")
        # what a reader may refuse, it may read otherwise too: such an example is no 'must'
        return evolve(case, level="should") if open_to_refusal(case, answer.remarks) else case


def _needs(row: Format, example: PropertyInput, data: bytes) -> tuple[str, ...]:
    """Return the capabilities that the input needs, and those of the frames from which it was made."""
    own = example.input.data if isinstance(example.input, Data) else data
    shown = {*capabilities_of(row, own, example.options), *capabilities_of(row, data, example.options)}
    if isinstance(example.input, Chunks):
        shown.add("feature:partial-tail")
    if isinstance(example.input, Value):
        shown.update(capabilities_of_value(row, example.input.value))
        # an edited value may need more than the sample that it was made from: headers, an id, another kind
        with suppress(Rejected):
            encoded = formats.encode(row, example.input.value, example.options)
            shown.update(capabilities_of(row, encoded, example.options))
    return tuple(atom for atom in row.capabilities if atom in shown)


@lru_cache(maxsize=64)
def case_pool(format_id: str, seed: int) -> CasePool:
    """Return the pool of a format, shared by all users of its seed; `cache_clear()` forgets all pools."""
    return CasePool(FORMATS[format_id], seed)


def property_cases(row: Format, op: Op, count: int, seed: int) -> Sequence[Case]:
    """Return the first `count` cases of a format, an op and a seed; fewer cases are the beginning of more.

    Raises:
        PropertyError: Hypothesis is missing.
    """
    return case_pool(row.format_id, seed).cases(op, 0, count)


def property_case(name: str) -> Case | None:
    """Return the case of an id, generated again; None if the id is not one of a property case."""
    head, _, tail = name.partition("~")
    format_id, _, op = head.rpartition(f"/{PROPERTY}/")
    found = _EXAMPLE.fullmatch(tail)
    if format_id not in FORMATS or found is None:
        return None
    seed, number = map(int, found.groups())
    for known in _ops(FORMATS[format_id]) if number < MAX_EXAMPLES else ():
        if known == op:
            return next(iter(case_pool(format_id, seed).cases(known, number, number + 1)), None)
    return None


def _ops(row: Format) -> tuple[Op, ...]:
    return ("decode", "encode") if row.scan is None else ("decode", "encode", "scan")


# --- a run ---


@frozen
class PropertySettings:
    """The settings of a property run.

    Attributes:
        count: examples of each format and op.
        seed: of all examples.
        rows: ids of the formats; None takes every format that the adapter claims.
        known: signatures of known failures. An example that fails with one of them is replaced by another
            and counted, and fails nothing; the known failure's own case checks the bug. Findings with one
            signature are one finding, so a second bug is hidden only where every report would show it as the
            first one.
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
        """Return `kafka.batch/v2 decode`."""
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
        again = f"{sum(self.known.values())} examples with a known failure were replaced by others"
        less = "fewer examples are within the claims and without a known failure"
        rows = ((again, self.known), (less, self.short))
        return [f"{text}: {_listed(counts)}" for text, counts in rows if counts]


def _listed(counts: Mapping[str, int]) -> str:
    more = f" and {len(counts) - MAX_LISTED} more" if len(counts) > MAX_LISTED else ""
    return ", ".join(f"{number} of {target}" for target, number in [*counts.items()][:MAX_LISTED]) + more


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
        found += [PropertyTarget(row, op) for op in _ops(row) if ops is None or op in ops]
    return found


def run_target(
    engine: Engine, target: PropertyTarget, ask: PropertySettings, tally: RedrawCounts
) -> Iterator[JudgedCase]:
    """Yield `ask.count` judged examples of a target, in their order, then those of reading back.

    Bytes that differ from the reference's are read back by the adapter that wrote them, as cases of their
    own.
    """
    start = yielded = 0
    while yielded < ask.count and start < MAX_DRAWS_FACTOR * ask.count:
        most = BLOCK_SIZE if start or engine.hello.revisions else FIRST_BLOCK_SIZE
        stop = min(start + min(most, ask.count - yielded), MAX_DRAWS_FACTOR * ask.count)
        block = case_pool(target.row.format_id, ask.seed).cases(target.op, start, stop)
        if not block:
            break
        wanted = _claimed(engine.hello, block)[: ask.count - yielded]
        rans = list(engine.run(wanted))
        if not (start or engine.hello.revisions) and _does_not(rans):
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


def _does_not(rans: Sequence[CaseResult]) -> bool:
    return bool(rans) and all(isinstance(ran.outcome, Unsupported) for ran in rans)


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
