"""Cases that must be refused: for the right reason, after what had to be delivered. Design, section 3."""

from wireproof.cases.case import Accept, Reject
from wireproof.cases.outcome import Accepted, Refused
from wireproof.trial.bench import Bench
from wireproof.trial.compare import allowing, difference, is_shorter
from wireproof.trial.show import cut, short_expect, short_field, short_outcome, short_value
from wireproof.trial.verdicts import Verdict
from wireproof.wire.values import Json


def accepted(expect: Reject, outcome: Accepted, bench: Bench) -> Verdict:
    """The verdict on an answer where a refusal was wanted."""
    seen = short_expect(expect), short_outcome(outcome)
    if bench.case.level in ("should", "may"):
        return Verdict("lenient", cls=expect.cls, at=expect.at, want=seen[0], got=seen[1])
    taken = None if bench.golden else next((r for r in bench.remarks() if r.others), None)
    if taken is not None:
        # Another reading allowed before the refusal may have led elsewhere; its value has no reference.
        return Verdict("info", taken.cls, expect.cls, taken.path, taken.at, got=seen[1])
    path, at = _fault(expect, bench)
    return Verdict("fail", "wrong-accept", expect.cls, path, at, want=seen[0], got=seen[1])


def _fault(expect: Reject, bench: Bench) -> tuple[str, int | str | None]:
    """The field that is wrong, by the reference: an adapter that accepts names none."""
    if bench.reference is None:
        return "", expect.at
    try:
        ours = bench.answer().outcome
    except Exception:  # noqa: BLE001 - the judge turns this failure into `suite-bug`
        return "", expect.at
    return (ours.path, ours.at) if isinstance(ours, Refused) else ("", expect.at)


def refused(expect: Reject, outcome: Refused, bench: Bench) -> Verdict:
    """The verdict on a refusal where one was wanted, by class, then by what was delivered before it."""
    return (
        _delivered(expect, outcome, bench)
        or (undocumented(expect, outcome) if outcome.untyped else None)
        or _misplaced(expect, outcome, bench)
        or _reason(expect, outcome, bench)
    )


def undocumented(want: Accept | Reject, outcome: Refused) -> Verdict:
    """Return the verdict on a refusal that may be, but by an error that no caller of the library expects."""
    return Verdict(
        "undocumented",
        "",
        outcome.cls,
        outcome.path,
        outcome.at,
        cut(outcome.text),
        short_expect(want),
        short_outcome(outcome),
    )


def _reason(expect: Reject, outcome: Refused, bench: Bench) -> Verdict:
    if outcome.cls == expect.cls:
        return _as(outcome, "canonical")
    if outcome.cls in expect.also:
        return _as(outcome, "alternate")
    if not bench.golden:
        return _as(outcome, "semantic")
    if outcome.cls == "other" or not bench.exact:
        text = cut(outcome.text)
        return Verdict(
            "pass-unclassified",
            "",
            outcome.cls,
            outcome.path,
            outcome.at,
            text,
            short_expect(expect),
            short_outcome(outcome),
        )
    open_at = next((remark for remark in bench.remarks() if remark.refusable), None)
    if open_at is not None:
        return Verdict("info", open_at.cls, outcome.cls, open_at.path, open_at.at, got=short_outcome(outcome))
    return _wrong_reason(expect, outcome)


def _as(outcome: Refused, kind: str) -> Verdict:
    return Verdict("pass", kind, outcome.cls, outcome.path, outcome.at)


def _wrong_reason(expect: Reject, outcome: Refused) -> Verdict:
    return Verdict(
        "fail",
        "wrong-reason",
        outcome.cls,
        outcome.path,
        outcome.at,
        cut(outcome.text),
        short_expect(expect),
        short_outcome(outcome),
    )


def _misplaced(expect: Reject, outcome: Refused, bench: Bench) -> Verdict | None:
    """`at` is evidence; it is judged only for the reference and the fast decoder."""
    if not (bench.ours and bench.golden) or None in (expect.at, outcome.at) or expect.at == outcome.at:
        return None
    return _wrong_reason(expect, outcome)


def _at_most(got: Json, want: Json) -> Json:
    """`got` without what was delivered beyond `want`: a reader may come further before it refuses.

    Further means whole entries, records or messages, which are objects; a header, a pair, is no such thing.
    """
    match got, want:
        case dict(), dict():
            return {key: _at_most(part, want[key]) if key in want else part for key, part in got.items()}
        case list(), list() if all(isinstance(one, dict) for one in got):
            return [_at_most(one, two) for one, two in zip(got, want, strict=False)]
        case _:
            return got


def _delivered(expect: Reject, outcome: Refused, bench: Bench) -> Verdict | None:
    """What a reader must have delivered first; an adapter that does not say is not judged by it."""
    if expect.before is None or outcome.before is None:
        return None
    want = bench.seen(expect.before)
    got = _at_most(bench.seen(outcome.before), want)
    if want == got:
        return None
    want, taken = allowing(want, got, bench.remarks())
    found = difference(want, got)
    if found is None:
        return Verdict("info", taken[0], outcome.cls, text=", ".join(taken)) if taken else None
    shown = short_field(found) if found.path else (short_value(want), short_value(got))
    kind = "prefix-lost" if is_shorter(got, want) else "wrong-value"
    path = f"before.{found.path}" if found.path else "before"
    return Verdict(
        "fail", kind, outcome.cls, path, outcome.at, "", f"before: {shown[0]}", f"before: {shown[1]}"
    )
