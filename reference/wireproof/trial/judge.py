"""The judge: case and outcome in, verdict out. Pure; there is no second comparison anywhere.

Design, section 3. Golden, derived, property, fuzz, exchange and Spark runs all take this road.
"""

from collections.abc import Callable
from operator import attrgetter
from typing import Any, Final, TypeAlias

from attrs import evolve

from wireproof.adapters.contract import Hello
from wireproof.cases.case import Accept, Case, Either, Expect, Reject
from wireproof.cases.outcome import (
    Accepted,
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
from wireproof.trial import accept, refuse
from wireproof.trial.bench import Bench
from wireproof.trial.claims import excluded
from wireproof.trial.reference import Answer, answer
from wireproof.trial.show import LINE, cut, short_expect, short_outcome
from wireproof.trial.verdicts import Name, Verdict
from wireproof.wire.classes import CLASSES

Reference: TypeAlias = Callable[[Case], Answer]

ANYBODY: Final = Hello("anybody", "")
"""An adapter that claims nothing and shows everything."""

OURSELVES: Final = Hello("reference", "", errors="exact")
"""How the reference is judged: by class, position and remarks too."""


def judge(
    case: Case,
    outcome: Outcome,
    *,
    hello: Hello = ANYBODY,
    twin: Verdict | None = None,
    reference: Reference | None = answer,
    bench: Bench | None = None,
) -> Verdict:
    """The verdict on what an adapter did with a case.

    Args:
        case: what was asked, and what must happen.
        outcome: what happened.
        hello: who the adapter is and what it claims.
        twin: the verdict on the case's twin, on the same adapter; None if it was not run.
        reference: the reference's answer to a case; None leaves out all that needs one.
        bench: of this case, adapter and reference, where `wants_value` has sat at it already.

    Returns:
        One verdict. It raises nothing, whatever the adapter answered.
    """
    bench = bench or Bench(case, hello, reference)
    verdict = _judged(case, outcome, bench)
    if verdict.passing and isinstance(case.expect, Reject) and isinstance(outcome, Refused):
        verdict = _behind_twin(case, verdict, twin)
    if verdict.name == "fail" and verdict.kind != "undeclared-skip" and (bug := _suite_bug(case, bench)):
        return bug
    return verdict


def wants_value(case: Case, outcome: Outcome, hello: Hello = ANYBODY, *, bench: Bench | None = None) -> bool:
    """Whether a digest alone does not settle a case: ask again for the value. Design, section 3, "Values".

    `bench`: where `judge` will sit, which then has the digest of what was expected.
    """
    match case.expect, outcome:
        case Accept(value=value), Accepted(value=None, digest=str(told)):
            return told != (bench or Bench(case, hello, None)).digest(value)
        case _, Accepted(value=None, digest=str()):
            return True
        case _:
            return False


def nondeterministic(case: Case, first: Outcome, second: Outcome) -> Verdict | None:
    """The verdict on two answers of one adapter to one question, if they are not the same answer."""
    if first == second or (_bare(first) == _bare(second)):
        return None
    return Verdict(
        "fail",
        "nondeterministic",
        text=f"two answers to {case.op} of the same input",
        want=short_outcome(first),
        got=short_outcome(second),
    )


def _bare(outcome: Outcome) -> Outcome:
    """Texts for people may hold times and addresses."""
    return outcome if isinstance(outcome, Accepted) else evolve(outcome, text="")


_DEAD: Final[dict[type, Name]] = {
    Crashed: "crash",
    TimedOut: "timeout",
    Exhausted: "resource",
    Stalled: "stalled",
    Faulty: "adapter-error",
    NotRun: "not-run",
}
"""The outcomes that are no answer: the verdict is their name."""

_KIND_OF: Final[dict[type, Callable[[Any], str]]] = {
    Exhausted: attrgetter("resource"),
    NotRun: attrgetter("cause"),
}


def _no_kind(_: object) -> str:
    return ""


def _judged(case: Case, outcome: Outcome, bench: Bench) -> Verdict:
    match outcome:
        case Accepted() | Refused():
            odd = _malformed(outcome)
            if odd:
                return Verdict("adapter-error", text=odd, want=short_expect(case.expect))
            return _beyond_claims(case, _against(case.expect, outcome, bench), bench)
        case Unsupported(text):
            return _skipped(case, text, bench)
        case _:
            kind = _KIND_OF.get(type(outcome), _no_kind)(outcome)
            want, got = short_expect(case.expect), short_outcome(outcome)
            return Verdict(_DEAD[type(outcome)], kind, text=cut(outcome.text, LINE), want=want, got=got)


def _malformed(outcome: Accepted | Refused) -> str:
    """What makes an answer none, in words.

    A process's answers are held to this at the boundary; those of an object in this process are not.
    """
    consumed: object = getattr(outcome, "consumed", None)
    data: object = getattr(outcome, "data", None)
    cls: object = getattr(outcome, "cls", "other")
    if consumed is not None and type(consumed) is not int:
        return f"consumed is {type(consumed).__name__}, not a number of bytes"
    if data is not None and not isinstance(data, bytes):
        return f"an encoding of type {type(data).__name__}, not bytes"
    return "" if cls in CLASSES else f"refuses with the unknown class {str(cls)[:64]!r}"


def _skipped(case: Case, text: str, bench: Bench) -> Verdict:
    """A skip that was not declared is a failure; design, section 4, "claims".

    A value is another matter: a library's writer has no argument for some of its fields (a first record's
    own delta, an offset that the broker gives), which no claim can say beforehand. An encoder that names
    the field was not asked; the probe still finds one that skips everything.
    """
    reason = excluded(bench.hello, case)
    inexpressible = case.op == "encode" and bool(text)
    if reason or inexpressible or not bench.hello.revisions:
        return Verdict("unsupported", text=reason or text)
    return Verdict(
        "fail",
        "undeclared-skip",
        text=f"answers unsupported, which its claims do not say: {text}".rstrip(": "),
        want=short_expect(case.expect),
        got="unsupported",
    )


def _beyond_claims(case: Case, verdict: Verdict, bench: Bench) -> Verdict:
    """What an adapter does not claim is outside the count; what works all the same is reported."""
    reason = excluded(bench.hello, case)
    if not reason or verdict.name in ("adapter-error", "suite-bug"):
        return verdict
    if verdict.passing:
        return evolve(verdict, text=f"works, though the adapter {reason}")
    return Verdict("unsupported", text=reason)


def _against(expect: Expect, outcome: Accepted | Refused, bench: Bench) -> Verdict:
    match expect, outcome:
        case Either(), _:
            return _among(expect, outcome, bench)
        case Accept(), Accepted():
            return accept.accepted(expect, outcome, bench)
        case Accept(), Refused():
            return accept.refused(expect, outcome, bench)
        case Reject(), Accepted():
            return refuse.accepted(expect, outcome, bench)
        case Reject(), Refused():
            return refuse.refused(expect, outcome, bench)
    raise AssertionError("the rows above are all there are")


def _among(expect: Either, outcome: Accepted | Refused, bench: Bench) -> Verdict:
    """`info:<behaviour>` for the behaviour that was seen; of several, one that fits without doubt."""
    verdicts = [(known.id, _against(known.expect, outcome, bench)) for known in expect.behaviours]
    for names in (("pass", "info"), ("pass-unclassified",), ("undocumented",)):
        for name, verdict in verdicts:
            if verdict.name in names:
                if verdict.name == "undocumented":
                    return evolve(verdict, want=short_expect(expect))
                return Verdict("info", name, verdict.cls, text=verdict.text, got=short_outcome(outcome))
    alike = [verdict for _, verdict in verdicts if verdict.kind not in ("wrong-accept", "wrong-reject")]
    closest = (alike or [verdict for _, verdict in verdicts])[0]
    return evolve(
        closest, text=f"none of {', '.join(name for name, _ in verdicts)}", want=short_expect(expect)
    )


def _behind_twin(case: Case, verdict: Verdict, twin: Verdict | None) -> Verdict:
    """A refusal says something only of a codec that accepts the twin."""
    if case.twin is None or (twin is not None and twin.accepts):
        return verdict
    if twin is not None and twin.name in ("unsupported", "not-run"):
        return Verdict(twin.name, text=f"its twin {case.twin} is {twin.name}")
    said = "was not run" if twin is None else f"is {twin.label}"
    return evolve(verdict, name="blocked", kind=case.twin, text=f"its twin {case.twin} {said}")


def _suite_bug(case: Case, bench: Bench) -> Verdict | None:
    """The verdict that takes a failure's place where the reference fails the same fixture."""
    if bench.reference is None:
        return None
    try:
        ours = bench.answer()
    except Exception as error:  # noqa: BLE001 - whatever the reference raises is a bug of the suite
        return Verdict("suite-bug", text=f"the reference raised {type(error).__name__}: {error}")
    verdict = _against(case.expect, ours.outcome, Bench(case, OURSELVES, bench.reference, ours))
    if verdict.name in ("pass", "info"):
        return None
    return evolve(
        verdict, name="suite-bug", kind="", text=f"the reference: {verdict.label} {verdict.text}".strip()
    )
