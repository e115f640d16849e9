"""Cases that must be accepted: values, bytes consumed, remarks, encodings. Design, section 3."""

from wireproof import formats
from wireproof.cases.case import Accept, Case, Value
from wireproof.cases.outcome import Accepted, Refused
from wireproof.trial.bench import Bench
from wireproof.trial.compare import allowing, difference
from wireproof.trial.reference import decoded
from wireproof.trial.refuse import undocumented
from wireproof.trial.show import cut, short_expect, short_field, short_outcome
from wireproof.trial.verdicts import Verdict
from wireproof.wire.values import Json


def accepted(expect: Accept, outcome: Accepted, bench: Bench) -> Verdict:
    """The verdict on an answer where an answer was wanted."""
    match bench.case.op:
        case "encode":
            return _encoded(expect, outcome, bench)
        case "decode" | "scan" if outcome.digest is not None and outcome.value is None:
            verdict = _digested(expect, outcome, bench)
        case "decode" | "scan":
            verdict = _compared(expect.value, outcome.value, bench)
    if not verdict.passing:
        return verdict
    return _consumed(expect, outcome) or _remarked(expect, outcome, bench) or verdict


def refused(expect: Accept, outcome: Refused, bench: Bench) -> Verdict:
    """The verdict on a refusal where an answer was wanted: right only where a remark allows one."""
    open_at = next((remark for remark in bench.remarks() if remark.refusable), None)
    if open_at is not None and bench.case.op != "encode":
        if outcome.untyped:
            return undocumented(expect, outcome)
        return Verdict("info", open_at.cls, outcome.cls, open_at.path, open_at.at, got=short_outcome(outcome))
    return Verdict(
        "fail",
        "wrong-reject",
        outcome.cls,
        outcome.path,
        outcome.at,
        cut(outcome.text),
        short_expect(expect),
        short_outcome(outcome),
    )


# --- decode and scan ---


def _digested(expect: Accept, outcome: Accepted, bench: Bench) -> Verdict:
    if outcome.digest == bench.digest(expect.value):
        return _right(bench)
    return Verdict("fail", "wrong-value", text="digests differ", got=f"digest {outcome.digest}")


def _right(bench: Bench) -> Verdict:
    """Whole values are canonical; where the adapter hides fields, the rest is right in meaning."""
    return Verdict("pass", "semantic" if bench.wanted else "canonical")


def _compared(want: Json, got: Json, bench: Bench) -> Verdict:
    left, right = bench.seen(want), bench.seen(got)
    if left == right:
        return _right(bench)
    left, right = _without_classes(left, right, bench)
    left, taken = allowing(left, right, bench.remarks())
    found = difference(left, right)
    if found is None:
        return Verdict("info", taken[0], text=", ".join(taken)) if taken else Verdict("pass", "alternate")
    wanted, given = short_field(found)
    kind = "wrong-reason" if found.path.endswith("].class") else "wrong-value"
    return Verdict("fail", kind, path=found.path, want=wanted, got=given)


def _without_classes(want: Json, got: Json, bench: Bench) -> tuple[Json, Json]:
    """The class of garbage is judged where a class would be: a golden scan of an exact adapter."""
    if bench.case.op != "scan" or (bench.exact and bench.golden):
        return want, got
    return _classless(want), _classless(got)


def _classless(scan: Json) -> Json:
    if not isinstance(scan, dict) or not isinstance(items := scan.get("items"), list):
        return scan
    bare: list[Json] = [
        {key: part for key, part in item.items() if key != "class"} if isinstance(item, dict) else item
        for item in items
    ]
    return {**scan, "items": bare}


def _consumed(expect: Accept, outcome: Accepted) -> Verdict | None:
    want, got = expect.consumed, outcome.consumed
    if want is None or got is None or want == got:
        return None
    kind = "over-read" if got > want else "under-read"
    said = f"{want} bytes consumed", f"{got} bytes consumed"
    return Verdict("fail", kind, at=min(want, got), want=said[0], got=said[1])


def _remarked(expect: Accept, outcome: Accepted, bench: Bench) -> Verdict | None:
    """Remarks are ours: only the reference and the fast decoder are held to them."""
    if not (bench.ours and bench.golden) or set(expect.remarks) == set(outcome.remarks):
        return None
    want, got = ", ".join(sorted(expect.remarks)) or "none", ", ".join(sorted(outcome.remarks)) or "none"
    return Verdict("fail", "wrong-reason", path="remarks", want=f"remarks: {want}", got=f"remarks: {got}")


# --- encode ---


def _encoded(expect: Accept, outcome: Accepted, bench: Bench) -> Verdict:
    """Bytes that the fixture names, or any that the reference decodes to the same value.

    Compressed bytes are never compared verbatim: a miss in the list of encodings proves nothing.
    """
    data = outcome.data
    if data is None:
        return Verdict("adapter-error", text="accepted an encode and gave no bytes")
    if data in expect.data:
        return Verdict("pass", "canonical" if data == expect.data[0] else "alternate")
    return _decoded_back(expect, data, bench)


def _decoded_back(expect: Accept, data: bytes, bench: Bench) -> Verdict:
    case = bench.case
    # read as a consumer reads them; in profile `produce` as a broker does
    back = decoded(formats.get(case.format, case.revision), data, case.held_to)
    match back.outcome:
        case Refused(cls, at, path, _, text):
            want = "bytes that the reference reads"
            got = f"refused {cls} at {at} {path}: {data.hex()}"
            return Verdict("fail", "wrong-bytes", cls, path, at, cut(text), want, cut(got))
        case Accepted(consumed=consumed) if consumed != len(data):
            want = f"{len(data)} bytes, all of them read back"
            return Verdict(
                "fail", "wrong-bytes", "trailing-data", at=consumed, want=want, got=f"{consumed} read"
            )
        case Accepted(value=value):
            return _round_trip(
                _wanted(expect, case), value, back.remarks[0].cls if back.remarks else "", bench
            )


def _wanted(expect: Accept, case: Case) -> Json:
    """What the bytes must decode back to: the expectation, else the value that was to be encoded."""
    if expect.value is None and isinstance(case.input, Value):
        return case.input.value
    return expect.value


def _round_trip(want: Json, got: Json, remark: str, bench: Bench) -> Verdict:
    """Computed fields may be left out of `want`; a place that no conforming writer makes is reported."""
    found = difference(bench.seen(want), bench.seen(got), masked=True)
    if found is not None:
        wanted, given = short_field(found)
        return Verdict("fail", "not-round-trip", path=found.path, want=wanted, got=given)
    if remark and bench.case.profile == "produce":
        text = "its bytes decode back, but no producer should write them so"
        return Verdict("fail", "wrong-bytes", remark, want="bytes that a producer may send", text=text)
    if remark:
        return Verdict("info", remark, text="its bytes decode back, but stand where the format is open")
    return Verdict("pass", "semantic")
