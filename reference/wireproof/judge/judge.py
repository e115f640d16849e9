"""The judge: a pure function from case and outcome to verdict, and the only comparison in the package.

Golden, derived, property, fuzz, interop and Spark runs all use it. See architecture.md#verdicts.
"""

from collections.abc import Callable
from contextlib import suppress
from itertools import islice
from typing import Final, TypeAlias

from attrs import evolve

from wireproof import formats
from wireproof.adapters.contract import Claim, Hello
from wireproof.cases.case import Accept, Case, Either, Expect, Generated, Reject, Steps, Value
from wireproof.cases.fixtures import obligations
from wireproof.cases.made_case import made_input
from wireproof.cases.outcome import (
    Accepted,
    BrokenRule,
    Crashed,
    Exhausted,
    Faulty,
    NotRun,
    Outcome,
    Refused,
    Stalled,
    TimedOut,
    Unsupported,
)
from wireproof.cases.reference_answers import (
    STRENGTH,
    ReferenceAnswer,
    decode_answer,
    open_to_refusal,
    reference_answer,
)
from wireproof.cases.steps import is_refusing
from wireproof.judge.context import JudgeContext, exclusion_reason, names_field
from wireproof.judge.differences import (
    MAX_OUTPUT,
    MOST_DIFFERENCES,
    apply_remarks,
    cut_to,
    differences,
    different_fields,
    first_difference,
    is_shorter,
    shape_of,
    short_expect,
    short_field,
    short_outcome,
    short_value,
    shorten,
    without_item_classes,
)
from wireproof.judge.signature import without_indices
from wireproof.judge.verdicts import ROWS, Verdict, VerdictName
from wireproof.wire.json_values import Json
from wireproof.wire.rejection import REJECT_CLASSES
from wireproof.wire.text import counted

Reference: TypeAlias = Callable[[Case], ReferenceAnswer]

NO_CLAIMS: Final = Hello("anybody", "")
"""The hello of an adapter that claims nothing and shows everything."""

REFERENCE_HELLO: Final = Hello("reference", "", errors="exact")
"""The hello with which the reference is judged: by class, position and remarks too."""


def judge(
    case: Case,
    outcome: Outcome,
    *,
    hello: Hello = NO_CLAIMS,
    twin: Verdict | None = None,
    reference: Reference | None = reference_answer,
    context: JudgeContext | None = None,
) -> Verdict:
    """Return the verdict on the outcome of a case.

    Args:
        case: the input and the expectation.
        outcome: the answer or failure of the adapter.
        hello: the name and claims of the adapter.
        twin: the verdict on the case's twin, on the same adapter; None if the twin was not run.
        reference: computes the reference's answer; None skips all checks that need one.
        context: the context of this case, adapter and reference, if `needs_value` has used one already.

    Raises nothing, whatever the adapter answered.
    """
    context = context or JudgeContext(case, hello, reference)
    verdict = _judge_outcome(case, outcome, context)
    if verdict.passing and awaits_twin(case, outcome):
        verdict = _apply_twin(case, verdict, twin)
    if verdict.name == "fail" and verdict.kind != "undeclared-skip" and (bug := _suite_bug(case, context)):
        return bug
    if context.case.golden and isinstance(outcome, Refused) and outcome.detail:
        verdict = evolve(verdict, detail=shorten(outcome.detail))
    if isinstance(outcome, Accepted | Refused) and outcome.broken:
        return _apply_broken(case, verdict, outcome)
    return verdict


def judge_ways(
    case: Case, outcome: Outcome, *, hello: Hello, reference: Reference = reference_answer
) -> tuple[Verdict, ...]:
    """Return the verdict, and for a wrong value the verdicts on what else differs in it.

    Each field and shape is a way: else the bug that changes most values would hide those of later fields.
    `Findings.separate` says which of them are findings.
    """
    context = JudgeContext(case, hello, reference)
    first = judge(case, outcome, hello=hello, context=context)
    expect, is_wrong = case.expect, first.shape and first.label == "fail:wrong-value"
    if not (is_wrong and isinstance(expect, Accept) and isinstance(outcome, Accepted)):
        return (first,)
    left, right, _ = _compared(context.expected(expect), outcome.value, context)
    ways: dict[tuple[str, str], Verdict] = {}
    for found in islice(differences(left, right, every=True), MOST_DIFFERENCES):
        wanted, actual = short_field(found)
        way = evolve(first, path=found.path, want=wanted, got=actual, shape=shape_of(found))
        ways.setdefault((without_indices(found.path), way.shape), way)
    text = f"the answer differs first in {without_indices(first.path)} ({first.shape})"
    return first, *(evolve(way, text=text) for way in [*ways.values()][1:])


def refusal_verdict(case: Case, refused: Refused = Refused("other")) -> Verdict:  # noqa: B008 - it is frozen
    """Return the verdict on an adapter that claims a case, accepts its twin, and refuses it.

    The reference, which may remark that a refusal is right, is not run on a generated input: that is golden.
    """
    claim = Claim(ops=(case.op,), profiles=(case.profile,))
    hello = Hello("anybody", "", {case.format_id: claim}, digests=True)
    reference = None if isinstance(case.input, Generated) else reference_answer
    return judge(case, refused, hello=hello, twin=Verdict("pass"), reference=reference)


def awaits_twin(case: Case, outcome: Outcome) -> bool:
    """Return whether an answer counts only if the case's twin is accepted: it refuses, where it may."""
    if isinstance(case.input, Steps):
        return is_refusing(case) and isinstance(outcome, Accepted)
    return isinstance(case.expect, Reject) and isinstance(outcome, Refused)


def needs_value(
    case: Case, outcome: Outcome, hello: Hello = NO_CLAIMS, *, context: JudgeContext | None = None
) -> bool:
    """Return whether a digest does not settle the case, so that the value itself must be requested.

    `context` is the context that `judge` will use; it then holds the digest of the expected value already.
    """
    match case.expect, outcome:
        case Accept() as expect, Accepted(value=None, digest=str(digest)):
            context = context or JudgeContext(case, hello, None)
            return digest != context.digest(context.expected(expect))
        case _, Accepted(value=None, digest=str()):
            return True
        case _:
            return False


_VERDICT_WITHOUT_ANSWER: Final[dict[type, VerdictName]] = {
    Crashed: "crash",
    TimedOut: "timeout",
    Exhausted: "resource",
    Stalled: "stalled",
    Faulty: "adapter-error",
    NotRun: "not-run",
}
"""The outcomes without an answer, with their verdicts."""


def _judge_outcome(case: Case, outcome: Outcome, context: JudgeContext) -> Verdict:
    match outcome:
        case Accepted() | Refused():
            if breach := _breach(outcome):
                return Verdict("adapter-error", text=breach, want=short_expect(case.expect))
            return _apply_claims(case, _judge_answer(case.expect, outcome, context), context)
        case Unsupported(text):
            # The verdict on `unsupported`: an undeclared skip is a failure (adapter-contract.md). An
            # encoder that names a field it cannot write is an exception: a library may have no argument for
            # some fields (the first record's own delta, an offset that the broker assigns), and no claim
            # can declare that. `probe` still finds an encoder that skips everything.
            reason = exclusion_reason(context.hello, case)
            inexpressible = case.op == "encode" and names_field(case, text)
            if reason or inexpressible or not context.hello.revisions:
                return Verdict("unsupported", text=reason or text)
            return Verdict(
                "fail",
                "undeclared-skip",
                text=f"answers unsupported, although it claims the case: {text}".rstrip(": "),
                want=short_expect(case.expect),
                got="unsupported",
            )
        case _:
            kind: object = ""
            match outcome:
                case Exhausted(resource=kind) | NotRun(cause=kind):
                    pass
            want, got = short_expect(case.expect), short_outcome(outcome)
            name = _VERDICT_WITHOUT_ANSWER[type(outcome)]
            if kind and kind not in ROWS[name].kinds:  # of an object in this process
                breach = f"{type(outcome).__name__} has the unknown kind {shorten(str(kind), 64)!r}"
                return Verdict("adapter-error", text=breach, want=want)
            return Verdict(name, str(kind), text=shorten(outcome.text, MAX_OUTPUT), want=want, got=got)


def _breach(outcome: Accepted | Refused) -> str:
    """Describe how an answer breaks the contract; empty if it does not.

    The boundary checks the answers of a process; an object in this process is checked here only.
    """
    consumed: object = getattr(outcome, "consumed", None)
    data: object = getattr(outcome, "data", None)
    cls: object = getattr(outcome, "cls", "other")
    if consumed is not None and type(consumed) is not int:
        return f"consumed is {type(consumed).__name__}, not a number of bytes"
    if data is not None and not isinstance(data, bytes):
        return f"an encoding of type {type(data).__name__}, not bytes"
    if not all(isinstance(one, BrokenRule) for one in outcome.broken):
        return "broken is no tuple of BrokenRule"
    return "" if cls in REJECT_CLASSES else f"refuses with the unknown class {str(cls)[:64]!r}"


def _apply_claims(case: Case, verdict: Verdict, context: JudgeContext) -> Verdict:
    """Return `unsupported` for a failed case outside the claims; report a pass there as a note."""
    reason = exclusion_reason(context.hello, case)
    if not reason or verdict.name in ("adapter-error", "suite-bug"):
        return verdict
    if verdict.passing:
        return evolve(verdict, text=f"works, though the adapter {reason}")
    return Verdict("unsupported", text=reason)


def _judge_answer(expect: Expect, outcome: Accepted | Refused, context: JudgeContext) -> Verdict:
    match expect, outcome:
        case Either(), _:
            return _judge_either(expect, outcome, context)
        case Accept(), Accepted():
            return _judge_accepted(expect, outcome, context)
        case Accept(), Refused():
            return _judge_wrong_rejection(expect, outcome, context)
        case Reject(), Accepted():
            return _judge_wrong_accept(expect, outcome, context)
        case Reject(), Refused():
            return _judge_rejected(expect, outcome, context)
    raise AssertionError("the cases above are exhaustive")


def _judge_either(expect: Either, outcome: Accepted | Refused, context: JudgeContext) -> Verdict:
    """Return `info:<behaviour>` for the behaviour that the answer matches; exact matches come first."""
    verdicts = {one.id: _judge_answer(one.expect, outcome, context) for one in expect.behaviours}
    for names in (("pass", "info"), ("pass-unclassified",), ("undocumented",)):
        for name, verdict in verdicts.items():
            if verdict.name in names:
                if verdict.name == "undocumented":
                    return evolve(verdict, want=short_expect(expect))
                return Verdict("info", name, verdict.cls, text=verdict.text, got=short_outcome(outcome))
    other_outcome = {"lenient", "wrong-accept", "wrong-reject"}
    closest = min(verdicts.values(), key=lambda one: bool({one.name, one.kind} & other_outcome))
    return evolve(closest, text=f"none of {', '.join(verdicts)}", want=short_expect(expect))


def _apply_twin(case: Case, verdict: Verdict, twin: Verdict | None) -> Verdict:
    """Return `blocked` if the adapter rejects the accepted twin too: then its rejection shows nothing."""
    if case.twin is None or (twin is not None and twin.accepts):
        return verdict
    if twin is not None and twin.name in ("unsupported", "not-run"):
        return Verdict(twin.name, text=f"its twin {case.twin} is {twin.name}")
    state = "was not run" if twin is None else f"is {twin.label}"
    broken, level = (twin.broken, twin.level) if twin is not None else ("", None)
    text = f"its twin {case.twin} {state}"
    return evolve(verdict, name="blocked", kind=case.twin, text=text, broken=broken, level=level)


def _apply_broken(case: Case, verdict: Verdict, outcome: Accepted | Refused) -> Verdict:
    """Return the failure of the strongest rule that the answer breaks in whatever case it is asked.

    A failure of the case itself stays if its level is stronger, or as strong and to accept what must be
    refused. So does what says nothing of the codec.
    """
    if verdict.name in ("adapter-error", "suite-bug", "unsupported"):
        return verdict
    levels = obligations()
    if unknown := next((one.rule for one in outcome.broken if one.rule not in levels), None):
        return Verdict("adapter-error", text=f"breaks {shorten(unknown)!r}, which is no rule with a level")
    worst = max(outcome.broken, key=lambda one: STRENGTH.index(levels[one.rule]))
    level = levels[worst.rule]
    broken = f"breaks {worst.rule} ({level})"
    stronger = STRENGTH.index(case.level) - STRENGTH.index(level) + (verdict.kind == "wrong-accept")
    if verdict.row.gate == "level" and stronger > 0:
        return evolve(verdict, text="; ".join(filter(None, (verdict.text, broken))))
    own = "" if verdict.passing else f"; the case itself: {verdict.label} {verdict.path}".rstrip()
    return Verdict(
        "fail", "wrong-value", text=broken + own, got=shorten(worst.text), detail=verdict.detail,
        broken=worst.rule, level=level,
    )  # fmt: skip


def _suite_bug(case: Case, context: JudgeContext) -> Verdict | None:
    """Return `suite-bug` if the reference fails the same fixture; None if it passes."""
    if context.reference is None:
        return None
    try:
        answered = context.answer()
    except Exception as error:  # noqa: BLE001 - any exception of the reference is a bug of the suite
        return Verdict("suite-bug", text=f"the reference raised {type(error).__name__}: {error}")
    verdict = _judge_answer(
        case.expect, answered.outcome, JudgeContext(case, REFERENCE_HELLO, context.reference, answered)
    )
    if verdict.name in ("pass", "info"):
        return None
    return evolve(
        verdict, name="suite-bug", kind="", text=f"the reference: {verdict.label} {verdict.text}".strip()
    )


# --- answers ---


def _judge_accepted(expect: Accept, outcome: Accepted, context: JudgeContext) -> Verdict:
    match context.case.op:
        case "encode":
            # Accept the bytes that the fixture lists, or any that the reference decodes to the same value.
            # Compressed bytes are never compared verbatim: a miss in the list of encodings proves nothing.
            data = outcome.data
            if data is None:
                return Verdict("adapter-error", text="accepted an encode and gave no bytes")
            if data in expect.data:
                return Verdict("pass", "canonical" if data == expect.data[0] else "alternate")
            return _decode_back(expect, data, context)
        case "decode" | "scan" | "sequence" if outcome.digest is not None and outcome.value is None:
            verdict = _judge_digest(expect, outcome, context)
        case "decode" | "scan" | "sequence":
            verdict = _judge_value(context.expected(expect), outcome.value, context)
    if not verdict.passing:
        return verdict
    return _judge_consumed(expect, outcome) or _judge_remarks(expect, outcome, context) or verdict


def _judge_wrong_rejection(expect: Accept, outcome: Refused, context: JudgeContext) -> Verdict:
    """Return the verdict on a rejection where an answer was expected.

    A written expectation decides alone. Where the reference made it, a remark may say that this is right too.
    """
    remark_at = open_to_refusal(context.case, context.remarks())
    if remark_at is not None:
        if outcome.untyped:
            return _of_refusal("undocumented", "", expect, outcome)
        return Verdict(
            "info", remark_at.cls, outcome.cls, remark_at.path, remark_at.at, got=short_outcome(outcome)
        )
    return _of_refusal("fail", "wrong-reject", expect, outcome)


def _judge_digest(expect: Accept, outcome: Accepted, context: JudgeContext) -> Verdict:
    # The digest as stated, where nothing has to be made; that of a generated case in a stream is the entry's.
    in_stream = isinstance(context.case.input, Generated) and context.case.input.list_name
    whole = "" if context.wanted or in_stream else expect.digest
    if outcome.digest == (whole or context.digest(context.expected(expect))):
        return _pass(context)
    return Verdict("fail", "wrong-value", text="digests differ", got=f"digest {outcome.digest}")


def _pass(context: JudgeContext) -> Verdict:
    """Return the passing verdict: `canonical` for whole values, `semantic` where the adapter hides fields."""
    return Verdict("pass", "canonical" if context.shows_whole_values else "semantic")


def _judge_value(want: Json, got: Json, context: JudgeContext) -> Verdict:
    if context.seen(want) == context.seen(got):
        return _pass(context)
    left, right, remarked = _compared(want, got, context)
    found = first_difference(left, right)
    if found is None and remarked:
        return Verdict("info", remarked[0], text=", ".join(remarked))
    if found is None:
        return Verdict("pass", "alternate")
    wanted, actual = short_field(found)
    kind = "wrong-reason" if found.path.endswith("].class") else "wrong-value"
    fields = different_fields(left, right) if context.case.golden else ()
    return Verdict(
        "fail", kind, path=found.path, want=wanted, got=actual, fields=fields, shape=shape_of(found)
    )


def _compared(want: Json, got: Json, context: JudgeContext) -> tuple[Json, Json, tuple[str, ...]]:
    """Return what is compared of two values, and the classes of the remarks that allow what is in `got`."""
    left, right = context.seen(want), context.seen(got)
    if context.case.op == "scan" and not (context.exact and context.case.golden):
        # the classes of garbage count in a golden scan of an adapter with exact classes alone
        left, right = without_item_classes(left), without_item_classes(right)
    left, remarked = apply_remarks(left, right, context.remarks())
    return left, right, remarked


def _judge_consumed(expect: Accept, outcome: Accepted) -> Verdict | None:
    want, got = expect.consumed, outcome.consumed
    if want is None or got is None or want == got:
        return None
    kind = "over-read" if got > want else "under-read"
    texts = [f"{counted(number, 'byte', grouped=False)} consumed" for number in (want, got)]
    return Verdict("fail", kind, at=min(want, got), want=texts[0], got=texts[1])


def _judge_remarks(expect: Accept, outcome: Accepted, context: JudgeContext) -> Verdict | None:
    """Compare the remarks, for our own decoders only: remarks are the suite's, not the format's."""
    if not (context.ours and context.case.golden) or set(expect.remarks) == set(outcome.remarks):
        return None
    want, got = ", ".join(sorted(expect.remarks)) or "none", ", ".join(sorted(outcome.remarks)) or "none"
    return Verdict("fail", "wrong-reason", path="remarks", want=f"remarks: {want}", got=f"remarks: {got}")


def _decode_back(expect: Accept, data: bytes, context: JudgeContext) -> Verdict:
    case = context.case
    # Decode as a consumer does, or as a broker in profile `produce`.
    back = decode_answer(formats.get(case.format, case.revision), data, case.effective_options)
    match back.outcome:
        case Refused(cls, at, path, _, text):
            want = "bytes that the reference reads"
            got = f"refused {cls} at {at} {path}: {data.hex()}"
            return Verdict("fail", "wrong-bytes", cls, path, at, shorten(text), want, shorten(got))
        case Accepted(consumed=consumed) if consumed != len(data):
            want = f"{len(data)} bytes, all of them read back"
            return Verdict(
                "fail", "wrong-bytes", "trailing-data", at=consumed, want=want, got=f"{consumed} read"
            )
        case Accepted(value=value):
            return _judge_round_trip(
                _expected_value(expect, context), value, back.remarks[0].cls if back.remarks else "", context
            )


def _expected_value(expect: Accept, context: JudgeContext) -> Json:
    """Return the value that the bytes must decode to: the expectation, else the value that was encoded.

    A generated value may have the entries of a map in another order than every reader gives them: it is what
    the bytes of the reference decode to.
    """
    case, source = context.case, made_input(context.case)
    if expect.value is not None or not isinstance(source, Value):
        return expect.value
    if not context.case.golden and expect.data:
        fmt = formats.get(case.format, case.revision)
        back = decode_answer(fmt, expect.data[0], case.effective_options)
        if isinstance(back.outcome, Accepted):
            return back.outcome.value
    return source.value


def _judge_round_trip(want: Json, got: Json, remark: str, context: JudgeContext) -> Verdict:
    """Compare the values; `want` may lack computed fields, and a remark is reported."""
    found = first_difference(context.seen(want), context.seen(got), masked=True)
    if found is not None:
        wanted, actual = short_field(found)
        return Verdict(
            "fail", "not-round-trip", path=found.path, want=wanted, got=actual, shape=shape_of(found)
        )
    if remark and context.case.profile == "produce":
        text = "its bytes decode back, but no producer should write them so"
        return Verdict("fail", "wrong-bytes", remark, want="bytes that a producer may send", text=text)
    if remark:
        return Verdict("info", remark, text="its bytes decode back, but the format leaves their form open")
    return Verdict("pass", "semantic")


def _judge_wrong_accept(expect: Reject, outcome: Accepted, context: JudgeContext) -> Verdict:
    texts = short_expect(expect), short_outcome(outcome)
    level, flags = context.case.level, context.case.flags
    if level == "may" or (level == "should" and "security" not in flags):
        return Verdict("lenient", cls=expect.cls, at=expect.at, want=texts[0], got=texts[1])
    allowed = None if context.case.golden else next((r for r in context.remarks() if r.others), None)
    if allowed is not None:
        # A value that a remark allows may lead the codec another way, for which the reference has no value.
        return Verdict("info", allowed.cls, expect.cls, allowed.path, allowed.at, got=texts[1])
    # Path and position are those of the reference: an adapter that accepts names neither.
    path, at = "", expect.at
    with suppress(Exception):  # the judge reports a failure of the reference as `suite-bug`
        ours = context.answer().outcome if context.reference else None
        path, at = (ours.path, ours.at) if isinstance(ours, Refused) else (path, at)
    return Verdict("fail", "wrong-accept", expect.cls, path, at, want=texts[0], got=texts[1])


def _judge_rejected(expect: Reject, outcome: Refused, context: JudgeContext) -> Verdict:
    """Return the verdict on an expected rejection: by the entries delivered first, then by its class."""
    if delivered := _judge_delivered(expect, outcome, context):
        return delivered
    if outcome.untyped:
        return _of_refusal("undocumented", "", expect, outcome)
    # Positions of other adapters than our own decoders are information.
    is_elsewhere = None not in (expect.at, outcome.at) and expect.at != outcome.at
    if is_elsewhere and context.ours and context.case.golden:
        return _of_refusal("fail", "wrong-reason", expect, outcome)
    kind = "canonical" if outcome.cls == expect.cls else "alternate" if outcome.cls in expect.also else ""
    if not context.case.golden or expect.cls == "other":  # no source names the class
        kind = kind or "semantic"
    if kind:
        return Verdict("pass", kind, outcome.cls, outcome.path, outcome.at)
    if outcome.cls == "other" or not context.exact:
        return _of_refusal("pass-unclassified", "", expect, outcome)
    return _of_refusal("fail", "wrong-reason", expect, outcome)


def _of_refusal(name: VerdictName, kind: str, want: Accept | Reject, outcome: Refused) -> Verdict:
    return Verdict(
        name, kind, outcome.cls, outcome.path, outcome.at, shorten(outcome.text), short_expect(want),
        short_outcome(outcome),
    )  # fmt: skip


def _judge_delivered(expect: Reject, outcome: Refused, context: JudgeContext) -> Verdict | None:
    """Judge the entries delivered before the rejection; an adapter that does not report them passes."""
    if expect.before is None or outcome.before is None:
        return None
    want = context.seen(expect.before)
    got = cut_to(context.seen(outcome.before), want)
    if want == got:
        return None
    want, allowed = apply_remarks(want, got, context.remarks())
    found = first_difference(want, got)
    if found is None:
        return Verdict("info", allowed[0], outcome.cls, text=", ".join(allowed)) if allowed else None
    texts = short_field(found) if found.path else (short_value(want), short_value(got))
    kind = "prefix-lost" if is_shorter(got, want) else "wrong-value"
    path = f"before.{found.path}" if found.path else "before"
    return Verdict(
        "fail", kind, outcome.cls, path, outcome.at, "", f"before: {texts[0]}", f"before: {texts[1]}"
    )
