"""The fuzz target: bytes in, findings out. Every format, adapter and way of fuzzing uses it.

The reference answers first, then the adapter, then the judge compares. Only findings leave the target.
"""

import traceback
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from attrs import evolve, frozen

from wireproof import formats
from wireproof.adapters.contract import Hello
from wireproof.cases.case import Accept, Case, Data
from wireproof.cases.outcome import Outcome, Refused
from wireproof.derive.derived import broken_relations, sample_derived
from wireproof.derive.edit_bytes import checksums, deciding_fields, encode_field, name_of, replace_field
from wireproof.derive.examples import (
    Examples,
    capabilities_of_case,
    with_expectation,
    without_computed_fields,
)
from wireproof.derive.mutate.encodings import written
from wireproof.derive.mutate.mutation_rules import rules_of
from wireproof.formats import Format
from wireproof.fuzz.executors import CaseOutcome, CpuTimer, Executor, SharedInput
from wireproof.fuzz.findings import NOT_GATING, Findings, is_finding
from wireproof.judge.differences import shorten
from wireproof.judge.judge import judge, judge_ways
from wireproof.judge.signature import Signature, shape_of_finding, signature
from wireproof.judge.verdicts import Verdict
from wireproof.wire.json_values import to_json
from wireproof.wire.rejection import Rejected
from wireproof.wire.trace import FieldSpan


@frozen
class Violation:
    """A relation that does not hold: the name of the oracle, its subject, and one line of explanation."""

    oracle: str
    about: str
    text: str


@frozen
class AcceptedInput:
    """Bytes that the reference accepts.

    Attributes:
        fmt: the format.
        case: the decode.
        data: the bytes.
        value: the decoded value.
        remarked: whether the reference accepted the bytes with a remark.
        number: makes the random choices.
    """

    fmt: Format
    case: Case
    data: bytes
    value: Any
    remarked: bool
    number: int


Oracle = Callable[[AcceptedInput], Iterator[Violation]]


def violations(fmt: Format, case: Case, number: int) -> Iterator[Violation]:
    """Yield the relations that do not hold for an accepted decode; `number` chooses one of `ONE_PER_INPUT`.

    Raises whatever the reference raises.
    """
    if not isinstance(case.input, Data) or not isinstance(case.expect, Accept):
        return
    found = formats.decode(fmt, case.input.data, case.options)
    seen = AcceptedInput(fmt, case, case.input.data, found.value, bool(found.remarks), number)
    yield from check_reencoding(seen)
    yield from ONE_PER_INPUT[number % len(ONE_PER_INPUT)](seen)


def check_reencoding(seen: AcceptedInput) -> Iterator[Violation]:
    """Check that an accepted value, encoded and decoded again, is the same value.

    Three exceptions: a value that was accepted with a remark may be one that no writer writes; options may
    hide a part of the value; and a signature does not hold for bytes that differ from the signed ones.
    """
    if seen.case.options.fetch_offset is not None or seen.case.options.isolation != "read_uncommitted":
        return
    try:
        again = written(seen.fmt, seen.value, seen.case.options)
    except Rejected as rejected:
        if rejected.cls != "invalid-value" or not seen.remarked:
            yield Violation("re-encode", rejected.cls, f"an accepted value cannot be encoded: {rejected}")
        return
    try:
        value = formats.decode(seen.fmt, again, seen.case.options).value
    except Rejected as rejected:
        if rejected.cls != "auth-failed":
            yield Violation("re-encode", rejected.cls, f"the re-encoded bytes are rejected: {rejected}")
        return
    if without_computed_fields(value) != without_computed_fields(seen.value):
        text = f"{shorten(str(to_json(seen.value)))} is decoded as {to_json(value)} after re-encoding"
        yield Violation("re-encode", "value", text)


def check_derived_case(seen: AcceptedInput) -> Iterator[Violation]:
    """Check the relation of one derived case: truncated, flipped, extended, joined, or in chunks."""
    for case, answer in broken_relations(sample_derived(seen.case, seen.number)):
        yield Violation("relation", case.family or "", f"{case.title}: {shorten(str(answer))}")


def check_uncovered_field(seen: AcceptedInput) -> Iterator[Violation]:
    """Check that a field outside of every checksum can change without a checksum error."""
    spans = formats.decode_with_trace(seen.fmt, seen.data, seen.case.options).spans
    free = [span for span in spans if isinstance(span.value, int) and _is_free(seen.fmt, span, spans)]
    if not free or not any(span.cover is not None and span.cover.kind in checksums() for span in spans):
        return
    span = free[seen.number % len(free)]
    new = encode_field(span, int(span.value) ^ 1)
    if new is None:
        return
    changed = replace_field(seen.data, spans, span, new).data
    try:
        formats.decode(seen.fmt, changed, seen.case.options)
    except Rejected as rejected:
        if rejected.cls == "crc-mismatch":
            text = f"a change of {span.path}, which no checksum covers, is a checksum error"
            yield Violation("uncovered", span.path, text)


def _is_free(fmt: Format, span: FieldSpan, spans: tuple[FieldSpan, ...]) -> bool:
    """Return whether no checksum covers the field, and it does not decide what a checksum covers."""
    if span.space or span.cover is not None or name_of(span) in deciding_fields(fmt.layout):
        return False
    covers = [other.cover for other in spans if other.cover is not None and other.cover.kind in checksums()]
    return not any(cover.start < span.end and span.start < cover.end for cover in covers)


def check_other_compression(seen: AcceptedInput) -> Iterator[Violation]:
    """Check that another compression changes nothing but the fields that name it."""
    found = None if seen.remarked else rules_of(seen.fmt).recompress(seen.fmt, seen.value, seen.number)
    if found is None:
        return
    codec, value = found
    try:
        again = formats.decode(seen.fmt, written(seen.fmt, value, seen.case.options), seen.case.options).value
    except Rejected as rejected:
        if rejected.cls not in ("invalid-value", "limit-exceeded"):
            yield Violation("codec", rejected.cls, f"written with {codec}: {rejected}")
        return
    if without_computed_fields(again) != without_computed_fields(value):
        text = f"written with {codec}, decoded as {shorten(str(to_json(again)))}"
        yield Violation("codec", "value", text)


ONE_PER_INPUT: Final[tuple[Oracle, ...]] = (
    check_derived_case,
    check_uncovered_field,
    check_other_compression,
)
"""An input is checked by one of these oracles: each costs as much as the decode itself."""


REFERENCE: Final = "reference"
"""The adapter that is fuzzed against the oracles instead of against the reference."""


@frozen
class TargetContext:
    """The objects that a target uses.

    Attributes:
        examples: makes the cases.
        executor: runs the adapter; None checks the reference against its oracles.
        findings: the store to which findings are added.
        shared_input: shows the present input to the supervisor.
        timer: limits the time of the reference, and of an adapter in this process.
        origin: the random seed, for the record.
    """

    examples: Examples
    executor: Executor | None
    findings: Findings
    shared_input: SharedInput
    timer: CpuTimer
    origin: str = ""


class CodecFailure(Exception):  # noqa: N818 - of the codec, not of the target
    """The codec fails an input; libFuzzer writes the input to a file and ends."""


class FuzzTarget:
    """The function that libFuzzer calls with each input. It raises only what ends the process.

    Attributes:
        failure: how the codec, or the reference, has failed the last input that it failed.
    """

    def __init__(self, context: TargetContext) -> None:
        """Work with `context`."""
        self._context = context
        self.failure = ""
        self._sent: dict[str, tuple[Case, bytes]] = {}

    def __call__(self, data: bytes) -> None:
        """Check one input."""
        context = self._context
        context.shared_input.begin_input(data)
        cases = self._cases(data)
        if context.executor is not None and cases:
            new = [case for case in cases if case.id not in self._sent]  # a batch may have an input twice
            self._sent.update((case.id, (case, data)) for case in new)
            self._judge(context.executor.run(new))
        context.shared_input.end_input()

    def raising(self, data: bytes) -> None:
        """Check one input alone; raise `CodecFailure` if it fails, whatever failed before."""
        self.failure = ""
        self(data)
        self.finish()
        if self.failure:
            self._context.timer.stop()  # its signal would end the process before libFuzzer writes the input
            raise CodecFailure(self.failure)

    def finish(self) -> None:
        """Wait for the answers that are still missing, and judge them."""
        if self._context.executor is not None:
            self._context.shared_input.end_input("waiting")
            self._judge(self._context.executor.flush())
            self._context.shared_input.end_input()

    # --- the reference ---

    def _cases(self, data: bytes) -> list[Case]:
        """Return the cases of `data`; a failure of the reference becomes a finding."""

        def on_timeout() -> list[Case]:
            self._add_fault(Violation("time", "decode", "over its processor time"), data)
            return []

        try:
            return self._context.timer.run(lambda: self._checked_cases(data), on_timeout)
        except Exception as error:  # noqa: BLE001 - the oracle: the reference raises nothing but rejections
            self._add_fault(Violation("exception", _location(error), repr(error)), data)
            return []

    def _checked_cases(self, data: bytes) -> list[Case]:
        """Return the cases for the adapter; without an adapter, check the oracles and return none."""
        examples = self._context.examples
        case = examples.decode_case(data)
        if self._context.executor is not None:
            return [case, *examples.follow_ups(case)]
        for fault in violations(examples.fmt, case, len(data) + sum(data[-8:])):
            self._add_fault(fault, data, case)
        return []

    def _add_fault(self, fault: Violation, data: bytes, case: Case | None = None) -> None:
        """Add a failure of the reference; without `case`, of a decode that the reference did not answer."""
        case = self._context.examples.without_expectation(data) if case is None else case
        sign = Signature(REFERENCE, case.format_id, case.op, f"oracle:{fault.oracle}", "", fault.about)
        verdict = Verdict("suite-bug", text=fault.text)
        self.failure = f"{sign}: {fault.text}"
        self._context.findings.add(sign, verdict, case, data, origin=self._origin())

    # --- the adapter ---

    def _judge(self, answers: Iterable[CaseOutcome]) -> None:
        for sent, outcome in answers:
            case, data = self._sent.pop(sent.id)
            self._judge_one(sent, case, outcome, data)

    def _judge_one(self, sent: Case, case: Case, outcome: Outcome, data: bytes) -> None:
        """Judge one answer and add a finding, unless the case needs what the adapter does not claim."""
        assert self._context.executor is not None
        hello = self._context.executor.hello
        if sent.op == "encode" and isinstance(outcome, Refused):
            return  # An encoder need not support every value of the format; what it writes is judged.
        case = evolve(case, limits=sent.limits)
        verdicts: tuple[Verdict, ...] = (judge(sent, outcome, hello=hello),)
        if is_finding(verdicts[0]) and verdicts[0].name != "info":
            needs = tuple(dict.fromkeys((*case.needs, *capabilities_of_case(case))))
            case = evolve(case, needs=needs)
            verdicts = judge_ways(evolve(sent, needs=needs), outcome, hello=hello)
        for verdict in reversed(verdicts):  # `failure` is that of the first
            self._add(case, verdict, outcome, data, hello)

    def _add(self, case: Case, verdict: Verdict, outcome: Outcome, data: bytes, hello: Hello) -> None:
        """Add a verdict to the findings if it is one."""
        sign = signature_of_finding(hello.name, case, verdict, outcome)
        if sign is None:
            return
        if sign.kind.partition(":")[0] not in NOT_GATING:
            shape = shape_of_finding(verdict)
            told = f"want {verdict.want}; got {verdict.got}" if verdict.want else verdict.text
            self.failure = f"{sign}{shape and f' · {shape}'}: {told}"
        findings = self._context.findings
        if findings.count(sign, verdict, case, len(data)):
            origin = self._origin()
            findings.save(sign, verdict, with_expectation(case), data, version=hello.version, origin=origin)

    def _origin(self) -> str:
        return f"{self._context.origin} #{self._context.shared_input.executions}".strip()


def signature_of_finding(
    implementation: str, case: Case, verdict: Verdict, outcome: Outcome
) -> Signature | None:
    """Return the signature of a verdict that becomes a finding, or of an undocumented refusal; else None."""
    sign = signature(implementation, case, verdict)
    if is_finding(verdict):
        return sign
    if verdict.passing and isinstance(outcome, Refused) and outcome.untyped:
        return evolve(sign, kind="untyped", cls=outcome.text.partition(":")[0], path="")
    return None


def _location(error: Exception) -> str:
    """Return the type of an exception and the function that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    inner = frames[-1] if frames else None
    return f"{type(error).__name__} in {inner.name}" if inner else type(error).__name__
