"""Requests: the cases that an adapter is sent, in which form, order and under which ids; those in flight.

The claims decide: a case outside them is not sent but `unsupported`. A case of an entry is wrapped as the
stream that the adapter claims instead, but not for a revision that it claims with no op: that is how a reader
of logs declares that it does not know such entries. Without any claim, everything is sent. The order within
a block and the ids come from the seed, so that an adapter can learn nothing from either.
"""

import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from itertools import islice
from random import Random
from typing import Any, Final, Literal, TypeAlias, TypeVar

from attrs import define, evolve, field, frozen

from wireproof.adapters.contract import Claim, Hello, Request
from wireproof.cases.case import Case, Chunks, Data, Generated, Input, Op, Steps, Value
from wireproof.cases.made_case import made_input, needs_digest
from wireproof.cases.outcome import Cause, Crashed, Exhausted, Faulty, NotRun, Outcome, TimedOut, Unsupported
from wireproof.cases.steps import SEQUENCE, step_request
from wireproof.cases.wrap_as_stream import wrap_case
from wireproof.formats import FORMATS, Format
from wireproof.wire.json_values import Json
from wireproof.wire.options import DEFAULT_OPTIONS

BLOCK_SIZE: Final = 512
"""Cases that are shuffled among themselves, and whose results are held until they can be yielded in order."""

SLOW_BLOCK_SIZE: Final = 32
"""The same for an adapter that claims to be slow, so that its results show while it runs."""

DEFAULT_PROFILES: Final = (DEFAULT_OPTIONS.profile,)
"""The profiles of an adapter that claims none."""

SLOW_SHARE: Final = 16
"""A slow adapter runs one derived case in this many."""

_ID_BITS: Final = 48

NO_DIGESTS: Final = "answers no digests: it is asked for values up to 1.5 MiB"
"""Why an adapter is not asked for a larger value."""

T = TypeVar("T")


def blocks(cases: Iterable[T], size: int) -> Iterator[list[T]]:
    source = iter(cases)
    while block := list(islice(source, size)):
        yield block


class SeededOrder:
    """The seeded source of orders and ids of one run."""

    def __init__(self, seed: int | str) -> None:
        self._random = Random(seed)  # noqa: S311 - order, not secrecy
        self._factor = self._random.getrandbits(_ID_BITS) | 1
        self._number = self._random.getrandbits(_ID_BITS)

    def order(self, size: int) -> list[int]:
        order = list(range(size))
        self._random.shuffle(order)
        return order

    def name(self) -> str:
        """Return an id that is new in this run: steps of an odd size reach every number once."""
        self._number = (self._number + self._factor) % (1 << _ID_BITS)
        return f"{self._number:x}"


def prepare_case(case: Case, hello: Hello) -> Case | Unsupported:
    """Return the case in the form for this adapter, or the reason why it is not sent."""
    if not hello.revisions:
        if case.op == SEQUENCE:
            return Unsupported(f"claims no {SEQUENCE}")
        lack = no_digests(case, hello) if claims_profile(case, None) else f"claims no profile:{case.profile}"
        return Unsupported(lack) if lack else case
    if (unknown := stream_wrapping(case, hello)) is not None:
        case = wrap_case(case, FORMATS[case.format_id], unknown)
    claim = hello.revisions.get(case.format_id)
    if claim is None or not claims_op(claim, case.op):
        return Unsupported(f"claims no {case.op} of {case.format_id}")
    if lack := missing_capability(case, claim):
        return Unsupported(f"claims no {lack} for {case.format_id}")
    lack = no_digests(case, hello)
    return Unsupported(lack) if lack else case


def no_digests(case: Case, hello: Hello) -> str:
    """Return why a case of large values is not sent to an adapter without digests; empty if it is sent."""
    return NO_DIGESTS if needs_digest(case) and not hello.digests else ""


def claimed_ops(hello: Hello, row: Format) -> tuple[Op, ...]:
    """Return the ops of a format that an adapter claims; `decode` too if it decodes the wrapping stream."""
    every: tuple[Op, ...] = ("decode", "encode", "scan") if row.scan else ("decode", "encode")
    if not hello.revisions:
        return every
    claim = hello.revisions.get(row.format_id)
    if claim is not None:
        return tuple(op for op in every if claims_op(claim, op))
    stream = hello.revisions.get(row.stream_id)
    return ("decode",) if stream is not None and claims_op(stream, "decode") else ()


def claims_op(claim: Claim, op: str) -> bool:
    return op != SEQUENCE if claim.ops is None else op in claim.ops


def stream_wrapping(case: Case, hello: Hello) -> frozenset[str] | None:
    """Return the revisions unknown to an adapter that gets `case` as a stream; None if it is not wrapped.

    A decode of an entry is wrapped (`wrap_as_stream`) for an adapter that claims the stream of such entries
    and not the entry itself.
    """
    row, claim = FORMATS.get(case.format_id), hello.revisions.get(case.format_id)
    if row is None or case.op != "decode":
        return None
    if claim is not None and (claims_op(claim, case.op) or claim.ops == ()):
        return None
    stream = hello.revisions.get(row.stream_id)
    if stream is None or not claims_op(stream, "decode"):
        return None
    return frozenset(format_id for format_id, other in hello.revisions.items() if other.ops == ())


def missing_capability(case: Case, claim: Claim) -> str:
    """Return the first capability that the case needs and the claim lacks; unclaimed kinds are not checked.

    An encoder must write the same bytes in every profile: a profile only determines how they are read.
    """
    if not claims_profile(case, claim):
        return f"profile:{case.profile}"
    claimed = {"codec": claim.codecs, "feature": claim.features}
    for atom in case.needs:
        kind, _, name = atom.partition(":")
        names = claimed.get(kind)
        if names is not None and name not in names:
            return atom
    return ""


def claims_profile(case: Case, claim: Claim | None) -> bool:
    """Return whether the claim includes the profile of a case; the default is `reader`."""
    claimed = claim.profiles if claim is not None else None
    return case.op == "encode" or case.profile in (DEFAULT_PROFILES if claimed is None else claimed)


def request_for(case: Case, name: str, answer: Literal["value", "digest"] = "value") -> Request:
    """Return the request of a case, nothing of the expectation; one of a generated case has no input yet."""
    profile = DEFAULT_OPTIONS.profile if case.op == "encode" else case.profile
    options = case.options
    options = options if options.profile == profile else evolve(options, profile=profile)
    data, value, chunks = _parts(case.input)
    return Request(
        name,
        case.op,
        case.format,
        case.revision,
        data,
        value,
        chunks,
        options,
        "value" if case.op == "encode" else answer,
        case.limits,
        tuple(map(step_request, case.input.steps)) if isinstance(case.input, Steps) else (),
    )


def with_input(case: Case, request: Request) -> Request:
    """Return the request with its input, if that is generated: it is large, and made when it is sent."""
    if not isinstance(case.input, Generated):
        return request
    data, value, _ = _parts(made_input(case))
    return evolve(request, data=data, value=value)


def weight_of(case: Case, request: Request) -> int:
    """Return the bytes of the input, and of the values of a generated one."""
    source = case.input
    return source.size + source.recipe.payload if isinstance(source, Generated) else request.weight


def _parts(source: Input) -> tuple[bytes, Json, tuple[bytes, ...]]:
    match source:
        case Data(data):
            return data, None, ()
        case Value(value):
            return b"", value, ()
        case Chunks(chunks):
            return b"", None, chunks
        case Generated() | Steps():
            return b"", None, ()


@define
class DerivedSample:
    """One in `share` of the derived cases, and all golden ones, for an adapter that claims to be slow."""

    share: int = SLOW_SHARE
    kept: int = 0
    seen: int = 0

    def of(self, cases: Iterable[Case]) -> Iterator[Case]:
        """Yield the cases that are kept, which depends on their ids alone."""
        for case in cases:
            if case.family is None:
                yield case
                continue
            self.seen += 1
            if int.from_bytes(blake2b(case.id.encode(), digest_size=4).digest()) % self.share == 0:
                self.kept += 1
                yield case


@frozen
class CaseResult:
    """A case as it was sent (wrapped as a stream if needed), its outcome and its nanoseconds.

    With several requests in flight the time is the share of the case between two arrivals of answers.
    """

    case: Case
    outcome: Outcome
    ns: int


ResultMaker: TypeAlias = Callable[[Case, Outcome, int], Any]
"""Makes the stored result from a case, its outcome and its nanoseconds: `CaseResult`, or less."""


@define
class CaseGroup:
    """Cases that are shuffled among themselves, and their results so far.

    Attributes:
        cases: in the order of the run.
        keep: makes the stored result, as soon as an answer arrives.
        results: by position in `cases`.
        open: the positions of the cases that are queued or in flight.
        measured: the cases that run with nothing else in flight: with a limit of memory, or generated.
        last: whether `take` ends with this block.
    """

    cases: list[Case]
    keep: ResultMaker
    results: dict[int, Any] = field(factory=dict)
    open: set[int] = field(factory=set)
    measured: "deque[PendingCase]" = field(factory=deque)
    last: bool = False

    def settle(self, place: int, case: Case, outcome: Outcome, ns: int) -> None:
        """Store the result of the case at `place`, which is then no longer open."""
        self.results[place] = self.keep(case, outcome, ns)
        self.open.discard(place)

    def in_order(self) -> list[Any]:
        return [self.results[place] for place in range(len(self.cases))]


@frozen
class PendingCase:
    """A case in progress: its block and position, its request, the milliseconds that it may take."""

    block: CaseGroup
    place: int
    case: Case
    request: Request
    ms: int


@frozen
class AdapterEnd:
    """The failure that ended the adapter while requests were in flight."""

    outcome: Crashed | TimedOut | Exhausted | Faulty
    how: str
    stray: str = ""


# --- failure budget ---
#
# After three failures with one signature in the family of one fixture, the rest of that family is not run.
# The budget of a run counts signatures, not failures: a codec with one bug that shows in a hundred fixtures
# is still asked about all of them. Only timeouts are counted one by one, because each costs seconds.


MAX_PER_FAMILY: Final = 3
"""Failures with one signature in a family, after which the rest of the family is not run."""

MAX_SIGNATURES: Final = 64
"""Different signatures, after which the rest of the run is not run."""

MAX_FAULTS: Final = 10
"""Contract breaches, or deaths that no case reproduces alone, after which the rest of the run is not run."""

MAX_CONSECUTIVE_TIMEOUTS: Final = 6
"""Consecutive timeouts of cases run in isolation, after which the rest of the run is not run."""

MAX_TIMEOUTS: Final = 100
"""Timeouts of cases run in isolation, after which the rest of the run is not run."""

_NUMBER: Final = re.compile(r"0x[0-9a-fA-F]+|\d+")


@define
class FailureBudget:
    """The failures of one run that end or hang the adapter; `stopped` says why no further case is run."""

    count: int = 0
    signatures: set[str] = field(factory=set)
    faults: int = 0
    timeouts: int = 0
    consecutive_timeouts: int = 0
    has_answers: bool = False
    stopped: NotRun | None = None
    _in_family: Counter[tuple[str, str]] = field(factory=Counter)
    _stopped_families: dict[str, str] = field(factory=dict)
    _first_case: dict[tuple[str, str], str] = field(factory=dict)

    def add(self, case: Case, outcome: Outcome, how: str, *, alone: bool = True) -> None:
        """Count a failure of `case`; not `alone`: the case was in flight and does not fail in isolation."""
        self.count += 1
        signature = f"{type(outcome).__name__}: {_NUMBER.sub('#', how)}"
        key = (case.parent or case.id, signature)
        self._first_case.setdefault(key, case.id)
        self._in_family[key] += 1
        self.signatures.add(signature)
        if self._in_family[key] >= MAX_PER_FAMILY:
            self._stopped_families[key[0]] = self._first_case[key]
        # A timeout that no case reproduces alone comes from a slow machine, and must not end the run.
        self.faults += isinstance(outcome, Faulty) or not (alone or isinstance(outcome, TimedOut))
        if alone and isinstance(outcome, TimedOut):
            self.consecutive_timeouts += 1
            self.timeouts += 1
        self._check_limits(case.id)

    def merge(self, later: "FailureBudget", last: str) -> None:
        """Add the failures of a later part of the run, whose last case is `last`."""
        self.count += later.count
        self.signatures |= later.signatures
        self.faults += later.faults
        self.timeouts += later.timeouts
        before = 0 if later.has_answers else self.consecutive_timeouts
        self.consecutive_timeouts = before + later.consecutive_timeouts
        self.stopped = self.stopped or later.stopped
        if later.count:
            self._check_limits(last)

    def _check_limits(self, last: str) -> None:
        """Run no further case if a limit is reached; `last` is the id of the last case."""
        if self.consecutive_timeouts >= MAX_CONSECUTIVE_TIMEOUTS:
            self.stop(f"{MAX_CONSECUTIVE_TIMEOUTS} cases in a row without an answer in time, the last {last}")
        elif self.timeouts >= MAX_TIMEOUTS:
            self.stop(f"{MAX_TIMEOUTS} cases without an answer in time, the last {last}")
        elif self.faults >= MAX_FAULTS:
            self.stop(f"{MAX_FAULTS} faults of the adapter itself, the last at {last}", "faulty")
        elif len(self.signatures) >= MAX_SIGNATURES:
            self.stop(f"{MAX_SIGNATURES} different ways to die, the last at {last}")

    def answered(self) -> None:
        self.consecutive_timeouts = 0
        self.has_answers = True

    def stop(self, why: str, cause: Cause = "spent") -> None:
        """Run no further case; the first reason is kept."""
        self.stopped = self.stopped or NotRun(why, cause)

    def verdict(self, case: Case) -> NotRun | None:
        """Return the `NotRun` outcome of a case that must not be run; None if it may be run."""
        if self.stopped:
            return self.stopped
        first = self._stopped_families.get(case.parent or case.id)
        return NotRun(f"same as {first}", "same-as") if first else None
