"""Judge answers: accepted values, bytes consumed, remarks and encodings; refusals and their reasons.

See architecture.md#verdicts.
"""

from wireproof import formats
from wireproof.cases.case import Accept, Reject, Value
from wireproof.cases.made_case import made_input
from wireproof.cases.outcome import Accepted, Refused
from wireproof.cases.reference_answers import decode_answer, open_to_refusal
from wireproof.runner.judge_context import JudgeContext
from wireproof.runner.value_diff import (
    apply_remarks,
    different_fields,
    first_difference,
    is_shorter,
    shape_of,
    short_expect,
    short_field,
    short_outcome,
    short_value,
    shorten,
)
from wireproof.runner.verdicts import Verdict
from wireproof.wire.json_values import Json


def judge_accepted(expect: Accept, outcome: Accepted, bench: JudgeContext) -> Verdict:
    """Return the verdict on an accepted case that had to be accepted."""
    match bench.case.op:
        case "encode":
            # Accept the bytes that the fixture lists, or any that the reference decodes to the same value.
            # Compressed bytes are never compared verbatim: a miss in the list of encodings proves nothing.
            data = outcome.data
            if data is None:
                return Verdict("adapter-error", text="accepted an encode and gave no bytes")
            if data in expect.data:
                return Verdict("pass", "canonical" if data == expect.data[0] else "alternate")
            return _decode_back(expect, data, bench)
        case "decode" | "scan" | "sequence" if outcome.digest is not None and outcome.value is None:
            verdict = _judge_digest(expect, outcome, bench)
        case "decode" | "scan" | "sequence":
            verdict = _judge_value(bench.expected(expect), outcome.value, bench)
    if not verdict.passing:
        return verdict
    return _judge_consumed(expect, outcome) or _judge_remarks(expect, outcome, bench) or verdict


def judge_wrong_rejection(expect: Accept, outcome: Refused, bench: JudgeContext) -> Verdict:
    """Return the verdict on a rejection where an answer was expected.

    A written expectation decides alone. Where the reference made it, a remark may say that this is right too.
    """
    remark_at = open_to_refusal(bench.case, bench.remarks())
    if remark_at is not None:
        if outcome.untyped:
            return undocumented_rejection(expect, outcome)
        return Verdict(
            "info", remark_at.cls, outcome.cls, remark_at.path, remark_at.at, got=short_outcome(outcome)
        )
    return Verdict(
        "fail",
        "wrong-reject",
        outcome.cls,
        outcome.path,
        outcome.at,
        shorten(outcome.text),
        short_expect(expect),
        short_outcome(outcome),
    )


# --- decode and scan ---


def _judge_digest(expect: Accept, outcome: Accepted, bench: JudgeContext) -> Verdict:
    whole = expect.digest if not bench.wanted and bench.is_whole else ""  # as stated: nothing has to be made
    if outcome.digest == (whole or bench.digest(bench.expected(expect))):
        return _pass(bench)
    return Verdict("fail", "wrong-value", text="digests differ", got=f"digest {outcome.digest}")


def _pass(bench: JudgeContext) -> Verdict:
    """Return the passing verdict: `canonical` for whole values, `semantic` where the adapter hides fields."""
    return Verdict("pass", "canonical" if bench.shows_whole_values else "semantic")


def _judge_value(want: Json, got: Json, bench: JudgeContext) -> Verdict:
    left, right = bench.seen(want), bench.seen(got)
    if left == right:
        return _pass(bench)
    left, right = _drop_classes(left, right, bench)
    left, remarked = apply_remarks(left, right, bench.remarks())
    found = first_difference(left, right)
    if found is None:
        return (
            Verdict("info", remarked[0], text=", ".join(remarked))
            if remarked
            else Verdict("pass", "alternate")
        )
    wanted, actual = short_field(found)
    kind = "wrong-reason" if found.path.endswith("].class") else "wrong-value"
    fields = different_fields(left, right) if bench.golden else ()
    return Verdict(
        "fail", kind, path=found.path, want=wanted, got=actual, fields=fields, shape=shape_of(found)
    )


def _drop_classes(want: Json, got: Json, bench: JudgeContext) -> tuple[Json, Json]:
    """Drop the classes of garbage, except in a golden scan of an adapter with exact classes."""
    if bench.case.op != "scan" or (bench.exact and bench.golden):
        return want, got
    return _without_item_classes(want), _without_item_classes(got)


def _without_item_classes(scan: Json) -> Json:
    if not isinstance(scan, dict) or not isinstance(items := scan.get("items"), list):
        return scan
    bare: list[Json] = [
        {key: part for key, part in item.items() if key != "class"} if isinstance(item, dict) else item
        for item in items
    ]
    return {**scan, "items": bare}


def _judge_consumed(expect: Accept, outcome: Accepted) -> Verdict | None:
    want, got = expect.consumed, outcome.consumed
    if want is None or got is None or want == got:
        return None
    kind = "over-read" if got > want else "under-read"
    texts = f"{want} bytes consumed", f"{got} bytes consumed"
    return Verdict("fail", kind, at=min(want, got), want=texts[0], got=texts[1])


def _judge_remarks(expect: Accept, outcome: Accepted, bench: JudgeContext) -> Verdict | None:
    """Compare the remarks, for our own decoders only: remarks are the suite's, not the format's."""
    if not (bench.ours and bench.golden) or set(expect.remarks) == set(outcome.remarks):
        return None
    want, got = ", ".join(sorted(expect.remarks)) or "none", ", ".join(sorted(outcome.remarks)) or "none"
    return Verdict("fail", "wrong-reason", path="remarks", want=f"remarks: {want}", got=f"remarks: {got}")


# --- encode ---


def _decode_back(expect: Accept, data: bytes, bench: JudgeContext) -> Verdict:
    case = bench.case
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
                _expected_value(expect, bench), value, back.remarks[0].cls if back.remarks else "", bench
            )


def _expected_value(expect: Accept, bench: JudgeContext) -> Json:
    """Return the value that the bytes must decode to: the expectation, else the value that was encoded.

    A generated value may have the entries of a map in another order than every reader gives them: it is what
    the bytes of the reference decode to.
    """
    case, source = bench.case, made_input(bench.case)
    if expect.value is not None or not isinstance(source, Value):
        return expect.value
    if not bench.golden and expect.data:
        fmt = formats.get(case.format, case.revision)
        back = decode_answer(fmt, expect.data[0], case.effective_options)
        if isinstance(back.outcome, Accepted):
            return back.outcome.value
    return source.value


def _judge_round_trip(want: Json, got: Json, remark: str, bench: JudgeContext) -> Verdict:
    """Compare the values; `want` may lack computed fields, and a remark is reported."""
    found = first_difference(bench.seen(want), bench.seen(got), masked=True)
    if found is not None:
        wanted, actual = short_field(found)
        return Verdict(
            "fail", "not-round-trip", path=found.path, want=wanted, got=actual, shape=shape_of(found)
        )
    if remark and bench.case.profile == "produce":
        text = "its bytes decode back, but no producer should write them so"
        return Verdict("fail", "wrong-bytes", remark, want="bytes that a producer may send", text=text)
    if remark:
        return Verdict("info", remark, text="its bytes decode back, but the format leaves their form open")
    return Verdict("pass", "semantic")


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
        return _pass_reject(outcome, "canonical")
    if outcome.cls in expect.also:
        return _pass_reject(outcome, "alternate")
    if not bench.golden or expect.cls == "other":  # no source names the class
        return _pass_reject(outcome, "semantic")
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


def _pass_reject(outcome: Refused, kind: str) -> Verdict:
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
