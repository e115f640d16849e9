"""The judge: a pure function from case and outcome to verdict, and the only comparison in the package.

Golden, derived, property, fuzz, interop and Spark runs all use it. See architecture.md#verdicts.
"""

from collections.abc import Callable
from operator import attrgetter
from typing import Any, Final, TypeAlias

from attrs import evolve

from wireproof.adapters.contract import Claim, Hello
from wireproof.cases.case import Accept, Case, Either, Expect, Generated, Reject, Steps
from wireproof.cases.fixtures import obligations
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
from wireproof.cases.reference_answers import STRENGTH, ReferenceAnswer, reference_answer
from wireproof.cases.steps import is_refusing
from wireproof.runner import judge_answers
from wireproof.runner.judge_context import JudgeContext, exclusion_reason, names_field
from wireproof.runner.value_diff import MAX_OUTPUT, short_expect, short_outcome, shorten
from wireproof.runner.verdicts import ROWS, Verdict, VerdictName
from wireproof.wire.reject_classes import REJECT_CLASSES

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
    bench: JudgeContext | None = None,
) -> Verdict:
    """Return the verdict on the outcome of a case.

    Args:
        case: the input and the expectation.
        outcome: the answer or failure of the adapter.
        hello: the name and claims of the adapter.
        twin: the verdict on the case's twin, on the same adapter; None if the twin was not run.
        reference: computes the reference's answer; None skips all checks that need one.
        bench: the context of this case, adapter and reference, if `needs_value` has used one already.

    Raises nothing, whatever the adapter answered.
    """
    bench = bench or JudgeContext(case, hello, reference)
    verdict = _judge_outcome(case, outcome, bench)
    if verdict.passing and awaits_twin(case, outcome):
        verdict = _apply_twin(case, verdict, twin)
    if verdict.name == "fail" and verdict.kind != "undeclared-skip" and (bug := _suite_bug(case, bench)):
        return bug
    if bench.golden and isinstance(outcome, Refused) and outcome.detail:
        verdict = evolve(verdict, detail=shorten(outcome.detail))
    if isinstance(outcome, Accepted | Refused) and outcome.broken:
        return _apply_broken(case, verdict, outcome)
    return verdict


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
    case: Case, outcome: Outcome, hello: Hello = NO_CLAIMS, *, bench: JudgeContext | None = None
) -> bool:
    """Return whether a digest does not settle the case, so that the value itself must be requested.

    `bench` is the context that `judge` will use; it then holds the digest of the expected value already.
    """
    match case.expect, outcome:
        case Accept() as expect, Accepted(value=None, digest=str(digest)):
            bench = bench or JudgeContext(case, hello, None)
            return digest != bench.digest(bench.expected(expect))
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

_KIND_OF: Final[dict[type, Callable[[Any], str]]] = {
    Exhausted: attrgetter("resource"),
    NotRun: attrgetter("cause"),
}


def _no_kind(_: object) -> str:
    return ""


def _judge_outcome(case: Case, outcome: Outcome, bench: JudgeContext) -> Verdict:
    match outcome:
        case Accepted() | Refused():
            breach = _breach(outcome)
            if breach:
                return Verdict("adapter-error", text=breach, want=short_expect(case.expect))
            return _apply_claims(case, _judge_answer(case.expect, outcome, bench), bench)
        case Unsupported(text):
            # The verdict on `unsupported`: an undeclared skip is a failure (adapter-contract.md). An
            # encoder that names a field it cannot write is an exception: a library may have no argument for
            # some fields (the first record's own delta, an offset that the broker assigns), and no claim
            # can declare that. `probe` still finds an encoder that skips everything.
            reason = exclusion_reason(bench.hello, case)
            inexpressible = case.op == "encode" and names_field(case, text)
            if reason or inexpressible or not bench.hello.revisions:
                return Verdict("unsupported", text=reason or text)
            return Verdict(
                "fail",
                "undeclared-skip",
                text=f"answers unsupported, although it claims the case: {text}".rstrip(": "),
                want=short_expect(case.expect),
                got="unsupported",
            )
        case _:
            kind = _KIND_OF.get(type(outcome), _no_kind)(outcome)
            want, got = short_expect(case.expect), short_outcome(outcome)
            name = _VERDICT_WITHOUT_ANSWER[type(outcome)]
            if (
                kind and kind not in ROWS[name].kinds
            ):  # of an object in this process; the boundary checks others
                breach = f"{type(outcome).__name__} has the unknown kind {shorten(str(kind), 64)!r}"
                return Verdict("adapter-error", text=breach, want=want)
            return Verdict(
                name,
                kind,
                text=shorten(outcome.text, MAX_OUTPUT),
                want=want,
                got=got,
            )


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


def _apply_claims(case: Case, verdict: Verdict, bench: JudgeContext) -> Verdict:
    """Return `unsupported` for a failed case outside the claims; report a pass there as a note."""
    reason = exclusion_reason(bench.hello, case)
    if not reason or verdict.name in ("adapter-error", "suite-bug"):
        return verdict
    if verdict.passing:
        return evolve(verdict, text=f"works, though the adapter {reason}")
    return Verdict("unsupported", text=reason)


def _judge_answer(expect: Expect, outcome: Accepted | Refused, bench: JudgeContext) -> Verdict:
    match expect, outcome:
        case Either(), _:
            return _judge_either(expect, outcome, bench)
        case Accept(), Accepted():
            return judge_answers.judge_accepted(expect, outcome, bench)
        case Accept(), Refused():
            return judge_answers.judge_wrong_rejection(expect, outcome, bench)
        case Reject(), Accepted():
            return judge_answers.judge_wrong_accept(expect, outcome, bench)
        case Reject(), Refused():
            return judge_answers.judge_rejected(expect, outcome, bench)
    raise AssertionError("the cases above are exhaustive")


def _judge_either(expect: Either, outcome: Accepted | Refused, bench: JudgeContext) -> Verdict:
    """Return `info:<behaviour>` for the behaviour that the answer matches; exact matches come first."""
    verdicts = [
        (behaviour.id, _judge_answer(behaviour.expect, outcome, bench)) for behaviour in expect.behaviours
    ]
    for names in (("pass", "info"), ("pass-unclassified",), ("undocumented",)):
        for name, verdict in verdicts:
            if verdict.name in names:
                if verdict.name == "undocumented":
                    return evolve(verdict, want=short_expect(expect))
                return Verdict("info", name, verdict.cls, text=verdict.text, got=short_outcome(outcome))
    same_outcome = [
        verdict
        for _, verdict in verdicts
        if verdict.name != "lenient" and verdict.kind not in ("wrong-accept", "wrong-reject")
    ]
    closest = (same_outcome or [verdict for _, verdict in verdicts])[0]
    return evolve(
        closest, text=f"none of {', '.join(name for name, _ in verdicts)}", want=short_expect(expect)
    )


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


_NO_ANSWER: Final = frozenset({"adapter-error", "suite-bug", "unsupported"})


def _apply_broken(case: Case, verdict: Verdict, outcome: Accepted | Refused) -> Verdict:
    """Return the failure of the strongest rule that the answer breaks in whatever case it is asked.

    A failure of the case itself stays if its level is stronger, or as strong and to accept what must be
    refused. So does what says nothing of the codec.
    """
    if verdict.name in _NO_ANSWER:
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
        "fail",
        "wrong-value",
        text=broken + own,
        got=shorten(worst.text),
        detail=verdict.detail,
        broken=worst.rule,
        level=level,
    )


def _suite_bug(case: Case, bench: JudgeContext) -> Verdict | None:
    """Return `suite-bug` if the reference fails the same fixture; None if it passes."""
    if bench.reference is None:
        return None
    try:
        answered = bench.answer()
    except Exception as error:  # noqa: BLE001 - any exception of the reference is a bug of the suite
        return Verdict("suite-bug", text=f"the reference raised {type(error).__name__}: {error}")
    verdict = _judge_answer(
        case.expect, answered.outcome, JudgeContext(case, REFERENCE_HELLO, bench.reference, answered)
    )
    if verdict.name in ("pass", "info"):
        return None
    return evolve(
        verdict, name="suite-bug", kind="", text=f"the reference: {verdict.label} {verdict.text}".strip()
    )
