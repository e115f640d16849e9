"""Judge the answers to cases that must be rejected: for the right reason, after the entries before the fault.

See architecture.md#verdicts.
"""

from wireproof.cases.case import Accept, Reject
from wireproof.cases.outcome import Accepted, Refused
from wireproof.runner.judge_context import JudgeContext
from wireproof.runner.summaries import short_expect, short_field, short_outcome, short_value, shorten
from wireproof.runner.value_diff import apply_remarks, first_difference, is_shorter
from wireproof.runner.verdicts import Verdict
from wireproof.wire.json_values import Json


def judge_wrong_accept(expect: Reject, outcome: Accepted, bench: JudgeContext) -> Verdict:
    """Return the verdict on an accepted case that had to be rejected."""
    texts = short_expect(expect), short_outcome(outcome)
    level, flags = bench.case.level, bench.case.flags
    if level == "may" or (level == "should" and "security" not in flags):
        return Verdict("lenient", cls=expect.cls, at=expect.at, want=texts[0], got=texts[1])
    allowed = None if bench.golden else next((r for r in bench.remarks() if r.others), None)
    if allowed is not None:
        # A value that a remark allows may lead the codec another way, for which the reference has no value.
        return Verdict("info", allowed.cls, expect.cls, allowed.path, allowed.at, got=texts[1])
    path, at = _fault_of_reference(expect, bench)
    return Verdict("fail", "wrong-accept", expect.cls, path, at, want=texts[0], got=texts[1])


def _fault_of_reference(expect: Reject, bench: JudgeContext) -> tuple[str, int | str | None]:
    """Return path and position of the fault by the reference: an adapter that accepts names neither."""
    if bench.reference is None:
        return "", expect.at
    try:
        ours = bench.answer().outcome
    except Exception:  # noqa: BLE001 - the judge reports this failure as `suite-bug`
        return "", expect.at
    return (ours.path, ours.at) if isinstance(ours, Refused) else ("", expect.at)


def judge_rejected(expect: Reject, outcome: Refused, bench: JudgeContext) -> Verdict:
    """Return the verdict on an expected rejection: by the entries delivered first, then by its class."""
    return (
        _judge_delivered(expect, outcome, bench)
        or (undocumented_rejection(expect, outcome) if outcome.untyped else None)
        or _judge_position(expect, outcome, bench)
        or _judge_reason(expect, outcome, bench)
    )


def undocumented_rejection(want: Accept | Reject, outcome: Refused) -> Verdict:
    """Return the verdict on a right rejection that reached the caller as an undocumented error."""
    return Verdict(
        "undocumented",
        "",
        outcome.cls,
        outcome.path,
        outcome.at,
        shorten(outcome.text),
        short_expect(want),
        short_outcome(outcome),
    )


def _judge_reason(expect: Reject, outcome: Refused, bench: JudgeContext) -> Verdict:
    if outcome.cls == expect.cls:
        return _pass(outcome, "canonical")
    if outcome.cls in expect.also:
        return _pass(outcome, "alternate")
    if not bench.golden or expect.cls == "other":  # no source names the class
        return _pass(outcome, "semantic")
    if outcome.cls == "other" or not bench.exact:
        text = shorten(outcome.text)
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
    return _wrong_reason(expect, outcome)


def _pass(outcome: Refused, kind: str) -> Verdict:
    return Verdict("pass", kind, outcome.cls, outcome.path, outcome.at)


def _wrong_reason(expect: Reject, outcome: Refused) -> Verdict:
    return Verdict(
        "fail",
        "wrong-reason",
        outcome.cls,
        outcome.path,
        outcome.at,
        shorten(outcome.text),
        short_expect(expect),
        short_outcome(outcome),
    )


def _judge_position(expect: Reject, outcome: Refused, bench: JudgeContext) -> Verdict | None:
    """Compare the position `at`, for our own decoders only: positions of other adapters are information."""
    if not (bench.ours and bench.golden) or None in (expect.at, outcome.at) or expect.at == outcome.at:
        return None
    return _wrong_reason(expect, outcome)


def _cut_to(got: Json, want: Json) -> Json:
    """Return `got` without the entries beyond `want`: a reader may deliver more before it rejects.

    Only whole entries, records or messages (objects) are cut; a header (a pair) is not.
    """
    match got, want:
        case dict(), dict():
            return {key: _cut_to(part, want[key]) if key in want else part for key, part in got.items()}
        case list(), list() if all(isinstance(one, dict) for one in got):
            return [_cut_to(one, two) for one, two in zip(got, want, strict=False)]
        case _:
            return got


def _judge_delivered(expect: Reject, outcome: Refused, bench: JudgeContext) -> Verdict | None:
    """Judge the entries delivered before the rejection; an adapter that does not report them passes."""
    if expect.before is None or outcome.before is None:
        return None
    want = bench.seen(expect.before)
    got = _cut_to(bench.seen(outcome.before), want)
    if want == got:
        return None
    want, allowed = apply_remarks(want, got, bench.remarks())
    found = first_difference(want, got)
    if found is None:
        return Verdict("info", allowed[0], outcome.cls, text=", ".join(allowed)) if allowed else None
    texts = short_field(found) if found.path else (short_value(want), short_value(got))
    kind = "prefix-lost" if is_shorter(got, want) else "wrong-value"
    path = f"before.{found.path}" if found.path else "before"
    return Verdict(
        "fail", kind, outcome.cls, path, outcome.at, "", f"before: {texts[0]}", f"before: {texts[1]}"
    )
