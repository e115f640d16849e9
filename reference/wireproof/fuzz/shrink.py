"""Make a failing case as small as possible while it fails with the same signature and shape.

Every candidate is run like any other case: the reference gives the expectation, the engine runs the adapter,
the judge compares. So crashes and timeouts shrink too, in whatever process the adapter runs.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain, islice
from typing import Any, Final

from attrs import evolve, frozen

from wireproof.cases.case import Case, Chunks, Data, Generated, Input, Steps, Value
from wireproof.cases.made_case import made_case, needs_digest
from wireproof.cases.reference_answers import reference_expectation
from wireproof.cases.steps import bytes_of_steps, fewer_steps, with_steps
from wireproof.derive.edit_bytes import encode_field
from wireproof.derive.mutate.decode_trace import DecodeTrace, cached_trace
from wireproof.derive.mutate.encodings import mended, written
from wireproof.derive.mutate.field_mutations import remove_elements
from wireproof.derive.mutate.splice import Splice, apply_splices
from wireproof.derive.mutate.values_of_type import edit_sites, replace_part
from wireproof.formats import Format, get
from wireproof.fuzz.findings import WayToFail, is_way
from wireproof.judge.judge import judge, judge_ways
from wireproof.judge.signature import Signature, shape_of_finding, signature
from wireproof.judge.verdicts import NO_FINDING_GATES, ROWS, Verdict
from wireproof.run.engine import Engine
from wireproof.wire.json_values import canonical_json, from_json, to_json
from wireproof.wire.rejection import Rejected

BATCH_SIZE: Final = 16
"""Candidates that are run together. If each of them may end a process, they are run one by one."""

ONE_AT_A_TIME: Final = frozenset(("crash", "timeout", "resource", "stalled"))
"""Verdicts after which the process of the adapter is replaced."""


class NothingToShrinkError(ValueError):
    """The adapter does not fail the case, so there is no signature to keep."""


@frozen
class Shrunk:
    """The result of shrinking.

    Attributes:
        case, verdict: the smallest case with the signature.
        asked: number of candidates that were run.
        kept: number of candidates that were smaller and had the signature.
        seconds: time that it took.
        done: whether no smaller candidate was left; False if the time or the number of candidates ended it.
    """

    case: Case
    signature: Signature
    verdict: Verdict
    behind: bool
    asked: int
    kept: int
    seconds: float
    done: bool


class Shrinker:
    """Shrinks one case on an engine that has been entered.

    Attributes:
        best: the smallest case so far.
        verdict: on that case.
        signature, shape: which every candidate must have: in another shape it may be another bug.
        behind: whether another difference stands before this one in the answer.
    """

    def __init__(
        self,
        engine: Engine,
        case: Case,
        clock: Callable[[], float] = time.monotonic,
        way: WayToFail | None = None,
    ) -> None:
        """Judge the case; raises `NothingToShrinkError` if the adapter does not fail it.

        It is shrunk in the way `way`, of whatever implementation, if it fails so; else as it fails first.
        """
        self._engine = engine
        self._clock = clock
        self._asked = 0
        self._max_candidates: int | None = None
        self._fmt = get(case.format, case.revision)
        self.best = _expecting(evolve(case, twin=None))
        self.behind = way is not None
        ways = next(self._judged([self.best]))
        fitting = (number for number, (_, sign, shape) in enumerate(ways) if way and is_way(way, sign, shape))
        place = next(fitting, 0)
        self.behind = place > 0
        self.verdict, self.signature, self.shape = ways[place]
        if ROWS[self.verdict.name].gate in NO_FINDING_GATES:
            raise NothingToShrinkError(
                f"{case.id} is {self.verdict.label} on {engine.hello.name}: no failure to shrink"
            )

    def run(self, seconds: float, max_candidates: int | None = None) -> Shrunk:
        """Shrink for at most `seconds` with at most `max_candidates`, and return the smallest case found.

        Each step is strictly smaller than the one before. If only the candidates are limited, a slow machine
        comes to the same result.
        """
        start = self._clock()
        self._max_candidates = max_candidates
        kept = 0
        while better := self._better(start + seconds):
            self.best, self.verdict = better
            kept += 1
        spent = self._clock() - start
        done = spent < seconds and not self._is_spent
        return Shrunk(self.best, self.signature, self.verdict, self.behind, self._asked, kept, spent, done)

    @property
    def _is_spent(self) -> bool:
        return self._max_candidates is not None and self._asked >= self._max_candidates

    def _better(self, until: float) -> tuple[Case, Verdict] | None:
        """Return the first smaller case with the signature; None if there is none or a limit is reached."""
        candidates = smaller_inputs(self._fmt, self.best.input)
        size = 1 if self.verdict.name in ONE_AT_A_TIME else BATCH_SIZE
        while self._clock() < until and not self._is_spent:
            batch = []
            for given in islice(candidates, size):
                self._asked += 1
                # It has an id of its own, so that crashes of others do not close its family.
                name = f"{self.best.format_id}/shrink/n{self._asked}"
                batch.append(_expecting(evolve(self.best, input=given, id=name, parent=None)))
            if not batch:
                return None
            found = [
                (case, verdict)
                for case, ways in zip(batch, self._judged(batch), strict=True)
                for verdict, *way in ways
                if way == [self.signature, self.shape]
            ]
            if found:
                return min(found, key=lambda pair: weight(pair[0].input))
        return None

    def _judged(self, cases: Iterable[Case]) -> Iterator[list[tuple[Verdict, Signature, str]]]:
        """Run the cases, and yield how each fails first; what stands behind that too, if it is looked for."""
        hello = self._engine.hello
        for ran in self._engine.run(cases):
            # under the format of the first case, whatever stream it was sent as
            own = evolve(ran.case, format=self._fmt.name, revision=self._fmt.revision)
            if self.behind:
                verdicts = judge_ways(ran.case, ran.outcome, hello=hello)
            else:
                verdicts = (judge(ran.case, ran.outcome, hello=hello),)
            yield [(one, signature(hello.name, own, one), shape_of_finding(one)) for one in verdicts]


def _expecting(case: Case) -> Case:
    """Return a case with the expectation of the reference; that of a sequence is in its steps."""
    if isinstance(case.input, Steps):
        return with_steps(case, case.input.steps)
    return evolve(case, expect=reference_expectation(case))


def shrink(engine: Engine, case: Case, seconds: float, way: WayToFail | None = None) -> Shrunk:
    """Shrink `case` for at most `seconds`; the id of the shrunk case begins with the id of `case`.

    `way` is how the case must fail, if it can fail in several ways.

    Raises:
        NothingToShrinkError: the adapter does not fail the case.
    """
    if needs_digest(case):
        raise NothingToShrinkError(f"{case.id} has values over 1.5 MiB: its recipe is as small as it gets")
    shrunk = Shrinker(engine, made_case(case), way=way).run(seconds)
    name = case.id.partition("~")[0]
    small = evolve(shrunk.case, id=f"{name}~shrunk:0", parent=case.parent or name, family="shrunk")
    return evolve(shrunk, case=small)


Weight = tuple[int, int, bytes]
"""Length, distance from simple bytes, the bytes themselves: a total order, so that shrinking cannot loop."""

SIMPLE: Final = {0: 0, 1: 1, 0x61: 1, 0xFF: 2}
"""How simple a byte is; 0 is the simplest, and every other byte counts 3."""


def weight(given: Input) -> Weight:
    """Return the place of an input in the order; a smaller weight is simpler."""
    match given:
        case Data(data):
            return _weight(data)
        case Value(value):
            return _weight(canonical_json(value))
        case Chunks(chunks):
            return (sum(map(len, chunks)), len(chunks), b"".join(chunks))
        case Steps(steps) as sequence:
            data = bytes_of_steps(sequence)
            return (len(steps), len(data), data)
        case Generated(size=size, sha256=sha256):
            return (size, 0, sha256.encode())  # nobody shrinks one: `shrink` makes its bytes first


def _weight(data: bytes) -> Weight:
    return (len(data), sum(SIMPLE.get(byte, 3) for byte in data), data)


def smaller_inputs(fmt: Format, given: Input) -> Iterator[Input]:
    """Yield candidates of less weight than `given`, without duplicates."""
    candidates: Iterator[Input] = iter(())
    match given:
        case Data(data):
            candidates = map(Data, _of_bytes(fmt, data))
        case Value(value):
            with suppress(Rejected):
                candidates = (Value(to_json(one)) for one in _simpler(from_json(fmt.value, value)))
        case Chunks(chunks):
            candidates = map(Chunks, _of_chunks(fmt, chunks))
        case Steps(steps):
            candidates = map(Steps, fewer_steps(steps))
    limit, seen = weight(given), set[Weight]()
    for candidate in candidates:
        found = weight(candidate)
        if found < limit and found not in seen:
            seen.add(found)
            yield candidate


def _of_bytes(fmt: Format, data: bytes) -> Iterator[bytes]:
    source = cached_trace(fmt, data)
    for simpler in (_fewer_elements, _simpler_values, _shorter_fields, _shorter_bytes, _simpler_bytes):
        yield from simpler(source)


def _fewer_elements(source: DecodeTrace) -> Iterator[bytes]:
    """Yield the bytes without elements of a list: all of them, each half, each quarter, at last each one."""
    for many in chain.from_iterable(source.lists):
        found = [element for element in source.elements if element.many == many]
        for start, end in _ranges(len(found), len(found)):
            run = found[start:end]
            yield apply_splices(source, remove_elements(source, run))
            splices = [Splice(element.space, element.start, element.end, b"") for element in run]
            yield apply_splices(source, splices, lengths=False)


def _ranges(count: int, size: int) -> Iterator[tuple[int, int]]:
    """Yield ranges that cover `count` places: of `size` places each, then of half as many, down to one."""
    while size:
        yield from ((at, min(at + size, count)) for at in range(0, count, size))
        size //= 2


def _simpler_values(source: DecodeTrace) -> Iterator[bytes]:
    """Yield encodings of the decoded value with one part simpler."""
    if source.value is not None and source.rejected is None:
        for value in _simpler(source.value):
            with suppress(Rejected):
                yield written(source.row, mended(value))


def _simpler(value: Any) -> Iterator[Any]:  # noqa: ANN401 - a value class
    """Yield the value with one part simpler."""
    for site in edit_sites(value):
        parts: tuple[Any, ...] = ()
        match site.now:
            case bool():
                parts = (False,)
            case int(number):
                parts = 0, number & ~7, number & 7, -1, number // 2
            case bytes(data):
                parts = b"", data[: len(data) // 2], data[:-1], b"\0" * len(data), b"a" * len(data)
            case tuple(items) if site.kind.holds == "list":
                parts = (), items[: len(items) // 2], items[len(items) // 2 :], items[:-1]
            case str():
                parts = (site.kind.of[0],)
        for part in (None, *parts) if site.kind.null else parts:
            with suppress(Rejected):  # the class allows no such value
                yield replace_part(value, site.steps, part)


def _shorter_fields(source: DecodeTrace) -> Iterator[bytes]:
    """Yield the bytes with one field of bytes shorter and its length fixed up."""
    for span in source.octets:
        size = span.end - span.start
        for keep in dict.fromkeys((0, size // 2, size - 1)):
            if 0 <= keep < size:
                yield apply_splices(source, [Splice(span.space, span.start + keep, span.end, b"")])


def _shorter_bytes(source: DecodeTrace) -> Iterator[bytes]:
    """Yield the bytes without a range, on the wire or inside of compressed data; large ranges first."""
    for space in sorted(source.spaces, reverse=True):
        data = source.spaces[space]
        for start, end in _ranges(len(data), len(data) // 2):
            splice = [Splice(space, start, end, b"")]
            yield apply_splices(source, splice)
            yield apply_splices(source, splice, sums=False)


def _simpler_bytes(source: DecodeTrace) -> Iterator[bytes]:
    """Yield the bytes with an integer field at 0, -1 or 1, or a byte at 0 or 1."""
    for span in source.integers:
        for value in (0, -1, 1):
            new = encode_field(span, value)
            if new is not None:
                for sums in (True, False):
                    splice = Splice(span.space, span.start, span.end, new, span.path)
                    yield apply_splices(source, [splice], sums=sums)
    for at in range(len(source.data)):
        for byte in (b"\0", b"\1"):
            yield apply_splices(source, [Splice("", at, at + 1, byte)])
            yield source.data[:at] + byte + source.data[at + 1 :]


def _of_chunks(fmt: Format, chunks: tuple[bytes, ...]) -> Iterator[tuple[bytes, ...]]:
    """Yield fewer chunks, then chunks of smaller bytes, cut at the first place where they were cut."""
    if not chunks:
        return
    data = b"".join(chunks)
    yield (data,)
    for at in range(len(chunks) - 1):
        yield (*chunks[:at], chunks[at] + chunks[at + 1], *chunks[at + 2 :])
    for less in _of_bytes(fmt, data):
        if len(chunks) == 1:
            yield (less,)
        else:
            cut = min(len(chunks[0]), len(less))
            yield (less[:cut], less[cut:])
    for at in range(len(chunks)):
        yield (*chunks[:at], *chunks[at + 1 :])
