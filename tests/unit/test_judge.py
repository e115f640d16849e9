"""The judge, verdict by verdict, on a toy format: design, section 3."""

import pytest
from attrs import evolve
from judge_toy import (
    BAD_CASE,
    BAD_SUM,
    GOOD,
    GOOD_CASE,
    GOOD_VALUE,
    OPEN_CASE,
    OPEN_VALUE,
    decode_case,
    encode_case,
    scan_case,
    stream_case,
    toy,  # noqa: F401 - pytest finds the fixture here
)

from wireproof.adapters.contract import Claim, Hello
from wireproof.cases.case import Accept, Behaviour, Case, Either, Reject, Source
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
from wireproof.trial.judge import ANYBODY, OURSELVES, judge, nondeterministic, wants_value
from wireproof.trial.reference import answer, expectation
from wireproof.trial.signature import signature, without_indices
from wireproof.trial.verdicts import TABLE, Verdict
from wireproof.wire.values import digest

EXACT = Hello("exact", "1", errors="exact")
BODY_ONLY = Hello("body", "1", {"toy.frame/v1": Claim(observes=("body",))})
NO_ENCODE = Hello("none", "1", {"toy.frame/v1": Claim(ops=("decode",), codecs=("none",))})
ANYTHING = Hello("any", "1", {"toy.frame/v1": Claim()})
PASSED = Verdict("pass", "canonical")
FRAME = {"kind": "frame", "at": 0, "length": 5, "value": GOOD_VALUE}
TWO = [FRAME, {**FRAME, "at": 5}]

EITHER = evolve(
    BAD_CASE,
    twin=None,
    expect=Either(
        (
            Behaviour("takes-it", Accept({**GOOD_VALUE, "kind": "5"})),
            Behaviour("refuses", Reject("crc-mismatch")),
        )
    ),
)
STREAM_BAD = stream_case(
    GOOD + BAD_SUM, Reject("crc-mismatch", at=9, before={"frames": [GOOD_VALUE]}), twin="toy.stream/v1/a/b"
)
NESTED = {"frames": [{**GOOD_VALUE, "body": "00"}]}
ENCODE = encode_case(
    {"kind": "1", "body": "616b"}, Accept(data=(bytes.fromhex("ffff"), GOOD), value=GOOD_VALUE)
)
ENCODE_OPEN = encode_case({"kind": "1", "body": "616b"}, Accept())
OPEN_BYTES = bytes.fromhex("010741" + "41")
DERIVED = evolve(BAD_CASE, id=f"{BAD_CASE.id}~flip:3", parent=BAD_CASE.id, family="flip", twin=None)


def got(**fields: str) -> dict[str, str]:
    return {**GOOD_VALUE, **fields}


Row = tuple[str, Case, Outcome, Hello, str, str]
ROWS: tuple[Row, ...] = (
    # --- accepted as it should be ---
    ("equal", GOOD_CASE, Accepted(GOOD_VALUE, 5), ANYBODY, "pass:canonical", ""),
    ("consumed not told", GOOD_CASE, Accepted(GOOD_VALUE), ANYBODY, "pass:canonical", ""),
    ("observed fields", GOOD_CASE, Accepted({"body": "616b"}, 5), BODY_ONLY, "pass:semantic", ""),
    ("digest", GOOD_CASE, Accepted(digest=digest(GOOD_VALUE)), ANYBODY, "pass:canonical", ""),
    (
        "digest of the observed",
        GOOD_CASE,
        Accepted(digest=digest({"body": "616b"})),
        BODY_ONLY,
        "pass:semantic",
        "",
    ),
    ("other digest", GOOD_CASE, Accepted(digest="00"), ANYBODY, "fail:wrong-value", ""),
    ("wrong field", GOOD_CASE, Accepted(got(body="00"), 5), ANYBODY, "fail:wrong-value", "body"),
    ("wrong observed field", GOOD_CASE, Accepted({"body": "00"}), BODY_ONLY, "fail:wrong-value", "body"),
    (
        "missing field",
        GOOD_CASE,
        Accepted({"kind": "1", "body": "616b"}),
        ANYBODY,
        "fail:wrong-value",
        "size",
    ),
    ("additional field", GOOD_CASE, Accepted(got(more="1")), ANYBODY, "fail:wrong-value", "more"),
    (
        "number for decimal",
        GOOD_CASE,
        Accepted({**GOOD_VALUE, "kind": 1}),
        ANYBODY,
        "fail:wrong-value",
        "kind",
    ),
    ("no value at all", GOOD_CASE, Accepted(None, 5), ANYBODY, "fail:wrong-value", ""),
    ("read too far", GOOD_CASE, Accepted(GOOD_VALUE, 6), ANYBODY, "fail:over-read", ""),
    ("read too little", GOOD_CASE, Accepted(GOOD_VALUE, 4), ANYBODY, "fail:under-read", ""),
    ("refused", GOOD_CASE, Refused("bad-magic", 1, "kind"), ANYBODY, "fail:wrong-reject", "kind"),
    (
        "list too short",
        stream_case(GOOD, Accept({"frames": [GOOD_VALUE]})),
        Accepted({"frames": []}),
        ANYBODY,
        "fail:wrong-value",
        "frames.length",
    ),
    (
        "deep field",
        stream_case(GOOD, Accept({"frames": [GOOD_VALUE]})),
        Accepted(NESTED),
        ANYBODY,
        "fail:wrong-value",
        "frames[0].body",
    ),
    # --- remarks ---
    ("as the reference", OPEN_CASE, Accepted(OPEN_VALUE, 4), ANYBODY, "pass:canonical", ""),
    (
        "other allowed value",
        OPEN_CASE,
        Accepted({**OPEN_VALUE, "kind": "0"}, 4),
        ANYBODY,
        "info:toy-open",
        "",
    ),
    (
        "value not allowed",
        OPEN_CASE,
        Accepted({**OPEN_VALUE, "kind": "3"}, 4),
        ANYBODY,
        "fail:wrong-value",
        "kind",
    ),
    (
        "allowed value, wrong elsewhere",
        OPEN_CASE,
        Accepted({**OPEN_VALUE, "kind": "0", "body": ""}, 4),
        ANYBODY,
        "fail:wrong-value",
        "body",
    ),
    ("refused where open", OPEN_CASE, Refused("bad-kind", 1, "kind"), ANYBODY, "info:toy-open", "kind"),
    (
        "ours without its remark",
        OPEN_CASE,
        Accepted(OPEN_VALUE, 4),
        OURSELVES,
        "fail:wrong-reason",
        "remarks",
    ),
    (
        "ours with its remark",
        OPEN_CASE,
        Accepted(OPEN_VALUE, 4, remarks=("toy-open",)),
        OURSELVES,
        "pass:canonical",
        "",
    ),
    # --- refused as it should be ---
    ("right class", BAD_CASE, Refused("crc-mismatch", 4, "sum"), EXACT, "pass:canonical", "sum"),
    (
        "also allowed",
        evolve(BAD_CASE, expect=Reject("crc-mismatch", ("bad-kind",))),
        Refused("bad-kind"),
        EXACT,
        "pass:alternate",
        "",
    ),
    ("class not told", BAD_CASE, Refused("other"), EXACT, "pass-unclassified", ""),
    ("undocumented exception", BAD_CASE, Refused("other", untyped=True), ANYBODY, "pass-unclassified", ""),
    ("wrong class, exact", BAD_CASE, Refused("bad-magic"), EXACT, "fail:wrong-reason", ""),
    ("wrong class, coarse", BAD_CASE, Refused("bad-magic"), ANYBODY, "pass-unclassified", ""),
    ("place not judged", BAD_CASE, Refused("crc-mismatch", 0), EXACT, "pass:canonical", ""),
    ("place of ours", BAD_CASE, Refused("crc-mismatch", 0), OURSELVES, "fail:wrong-reason", ""),
    ("accepted", BAD_CASE, Accepted(GOOD_VALUE), ANYBODY, "fail:wrong-accept", "sum"),
    ("accepted, should", evolve(BAD_CASE, level="should"), Accepted(GOOD_VALUE), ANYBODY, "lenient", ""),
    ("accepted, may", evolve(BAD_CASE, level="may"), Accepted(GOOD_VALUE), ANYBODY, "lenient", ""),
    ("derived, any class", DERIVED, Refused("bad-magic"), EXACT, "pass:semantic", ""),
    ("derived, accepted", DERIVED, Accepted(GOOD_VALUE), EXACT, "fail:wrong-accept", "sum"),
    (
        "fuzzed, any class",
        evolve(BAD_CASE, source=Source("fuzz")),
        Refused("bad-magic"),
        EXACT,
        "pass:semantic",
        "",
    ),
    # --- what was delivered before ---
    (
        "prefix kept",
        STREAM_BAD,
        Refused("crc-mismatch", before={"frames": [GOOD_VALUE]}),
        EXACT,
        "pass:canonical",
        "",
    ),
    ("prefix not told", STREAM_BAD, Refused("crc-mismatch"), EXACT, "pass:canonical", ""),
    (
        "prefix lost",
        STREAM_BAD,
        Refused("crc-mismatch", before={"frames": []}),
        EXACT,
        "fail:prefix-lost",
        "before.frames.length",
    ),
    (
        "delivered more than it must",
        STREAM_BAD,
        Refused("crc-mismatch", before={"frames": [GOOD_VALUE] * 2}),
        EXACT,
        "pass:canonical",
        "",
    ),
    # --- either ---
    ("first behaviour", EITHER, Accepted(got(kind="5")), ANYBODY, "info:takes-it", ""),
    ("second behaviour", EITHER, Refused("crc-mismatch"), ANYBODY, "info:refuses", ""),
    ("second behaviour, no class", EITHER, Refused("other"), EXACT, "info:refuses", ""),
    ("no behaviour", EITHER, Accepted(got(kind="6")), ANYBODY, "fail:wrong-value", "kind"),
    ("no behaviour, wrong class", EITHER, Refused("bad-magic"), EXACT, "fail:wrong-reason", ""),
    # --- encode ---
    (
        "first encoding",
        evolve(ENCODE, expect=Accept(data=(GOOD,))),
        Accepted(data=GOOD),
        ANYBODY,
        "pass:canonical",
        "",
    ),
    ("another encoding", ENCODE, Accepted(data=GOOD), ANYBODY, "pass:alternate", ""),
    ("judged by decoding back", ENCODE_OPEN, Accepted(data=GOOD), ANYBODY, "pass:semantic", ""),
    (
        "not the same back",
        ENCODE_OPEN,
        Accepted(data=bytes.fromhex("0101" + "6161")),
        ANYBODY,
        "fail:not-round-trip",
        "body",
    ),
    ("bytes that do not decode", ENCODE_OPEN, Accepted(data=BAD_SUM), ANYBODY, "fail:wrong-bytes", "sum"),
    ("bytes too many", ENCODE_OPEN, Accepted(data=GOOD + b"\0"), ANYBODY, "fail:wrong-bytes", ""),
    (
        "open bytes",
        encode_case({"kind": "7", "body": "41"}, Accept()),
        Accepted(data=OPEN_BYTES),
        ANYBODY,
        "info:toy-open",
        "",
    ),
    ("no bytes", ENCODE_OPEN, Accepted({}), ANYBODY, "adapter-error", ""),
    ("a refusal to encode", ENCODE_OPEN, Refused("invalid-value"), ANYBODY, "fail:wrong-reject", ""),
    (
        "a value not to be written",
        encode_case({"kind": "9", "body": ""}, Reject("invalid-value")),
        Refused("invalid-value"),
        EXACT,
        "pass:canonical",
        "",
    ),
    # --- scan ---
    (
        "scan",
        scan_case((GOOD[:3], GOOD[3:]), [FRAME]),
        Accepted({"items": [FRAME]}),
        ANYBODY,
        "pass:canonical",
        "",
    ),
    (
        "frame missing",
        scan_case((GOOD, GOOD), TWO),
        Accepted({"items": [FRAME]}),
        ANYBODY,
        "fail:wrong-value",
        "items.length",
    ),
    (
        "frame elsewhere",
        scan_case((GOOD, GOOD), TWO),
        Accepted({"items": [FRAME, FRAME]}),
        ANYBODY,
        "fail:wrong-value",
        "items[1].at",
    ),
    (
        "class of garbage, coarse",
        scan_case((BAD_SUM,), [{"kind": "garbage", "at": 0, "length": 5, "class": "crc-mismatch"}]),
        Accepted({"items": [{"kind": "garbage", "at": 0, "length": 5}]}),
        ANYBODY,
        "pass:alternate",
        "",
    ),
    (
        "class of garbage, exact",
        scan_case((BAD_SUM,), [{"kind": "garbage", "at": 0, "length": 5, "class": "crc-mismatch"}]),
        Accepted({"items": [{"kind": "garbage", "at": 0, "length": 5, "class": "bad-magic"}]}),
        EXACT,
        "fail:wrong-reason",
        "items[0].class",
    ),
    (
        "observed part of a scan",
        scan_case((GOOD,), [FRAME]),
        Accepted({"items": [{**FRAME, "value": {"body": "616b"}}]}),
        Hello("x", "1", {"toy.stream/v1": Claim(observes=("frames[].body",))}),
        "pass:semantic",
        "",
    ),
    # --- claims ---
    ("nothing claimed, skipped", GOOD_CASE, Unsupported("no"), ANYBODY, "unsupported", ""),
    ("revision not claimed", stream_case(GOOD, Accept()), Unsupported(), NO_ENCODE, "unsupported", ""),
    ("op not claimed", ENCODE, Unsupported(), NO_ENCODE, "unsupported", ""),
    (
        "codec not claimed",
        evolve(GOOD_CASE, needs=("codec:lz4",)),
        Unsupported(),
        NO_ENCODE,
        "unsupported",
        "",
    ),
    ("claimed and skipped", GOOD_CASE, Unsupported("no"), NO_ENCODE, "fail:undeclared-skip", ""),
    ("value beyond a writer", ENCODE, Unsupported("no say over kind"), ANYTHING, "unsupported", ""),
    ("encode skipped without a word", ENCODE, Unsupported(), ANYTHING, "fail:undeclared-skip", ""),
    ("works unclaimed", ENCODE, Accepted(data=GOOD), NO_ENCODE, "pass:alternate", ""),
    ("fails unclaimed", ENCODE, Refused("other"), NO_ENCODE, "unsupported", ""),
    # --- no answer ---
    ("crash", GOOD_CASE, Crashed("signal 11"), ANYBODY, "crash", ""),
    ("timeout", GOOD_CASE, TimedOut(2000), ANYBODY, "timeout", ""),
    ("memory", GOOD_CASE, Exhausted("memory"), ANYBODY, "resource:memory", ""),
    ("stalled", GOOD_CASE, Stalled(), ANYBODY, "stalled", ""),
    ("contract broken", GOOD_CASE, Faulty("noise"), ANYBODY, "adapter-error", ""),
    ("not asked", GOOD_CASE, NotRun("budget"), ANYBODY, "not-run", ""),
    # --- the suite itself ---
    (
        "fixture wrong",
        decode_case(GOOD, Accept(got(kind="2"), 5)),
        Accepted(GOOD_VALUE, 5),
        ANYBODY,
        "suite-bug",
        "kind",
    ),
    (
        "fixture wrong about a refusal",
        decode_case(GOOD, Reject("crc-mismatch")),
        Accepted(GOOD_VALUE),
        ANYBODY,
        "suite-bug",
        "",
    ),
)


@pytest.mark.parametrize(
    ("case", "outcome", "hello", "label", "path"), [row[1:] for row in ROWS], ids=[r[0] for r in ROWS]
)
def test_each_outcome_has_its_verdict(
    case: Case, outcome: Outcome, hello: Hello, label: str, path: str
) -> None:
    verdict = judge(case, outcome, hello=hello, twin=PASSED)
    assert (verdict.label, verdict.path) == (label, path)


def test_the_table_above_meets_every_verdict_but_those_with_a_test_of_their_own() -> None:
    seen = {row[4].split(":")[0] for row in ROWS}
    assert {row.name for row in TABLE} - seen == {"blocked"}
    kinds = {row[4].removeprefix("fail:") for row in ROWS if row[4].startswith("fail:")}
    assert {kind for row in TABLE if row.name == "fail" for kind in row.kinds} - kinds == {"nondeterministic"}


@pytest.mark.parametrize(
    ("twin", "label"),
    [
        (PASSED, "pass:canonical"),
        (Verdict("info", "some"), "pass:canonical"),
        (Verdict("info", "refused-where-open", "bad-kind"), f"blocked:{GOOD_CASE.id}"),
        (Verdict("lenient"), "pass:canonical"),
        (Verdict("fail", "wrong-reject"), f"blocked:{GOOD_CASE.id}"),
        (Verdict("crash"), f"blocked:{GOOD_CASE.id}"),
        (None, f"blocked:{GOOD_CASE.id}"),
        (Verdict("unsupported"), "unsupported"),
        (Verdict("not-run"), "not-run"),
    ],
)
def test_a_refusal_passes_only_behind_an_accepted_twin(twin: Verdict | None, label: str) -> None:
    assert judge(BAD_CASE, Refused("crc-mismatch"), twin=twin).label == label


def test_a_wrong_accept_needs_no_twin_to_fail() -> None:
    assert judge(BAD_CASE, Accepted(GOOD_VALUE)).label == "fail:wrong-accept"


def test_a_reference_that_breaks_is_a_bug_of_the_suite() -> None:
    def broken(_: Case) -> object:
        raise IndexError("oops")

    verdict = judge(GOOD_CASE, Accepted({}), reference=broken)  # type: ignore[arg-type]
    assert verdict.label == "suite-bug"
    assert "IndexError" in verdict.text


def test_a_passing_answer_does_not_cost_a_run_of_the_reference() -> None:
    def forbidden(_: Case) -> object:
        raise AssertionError

    assert judge(GOOD_CASE, Accepted(GOOD_VALUE, 5), reference=forbidden).passing  # type: ignore[arg-type]


def test_the_reference_passes_its_own_cases() -> None:
    for case in (GOOD_CASE, BAD_CASE, OPEN_CASE, STREAM_BAD, scan_case((GOOD,), [FRAME])):
        verdict = judge(case, answer(case).outcome, hello=OURSELVES, twin=PASSED)
        assert verdict.label == "pass:canonical"


def test_bytes_without_an_expectation_are_judged_by_the_reference() -> None:
    assert expectation(GOOD_CASE) == Accept(GOOD_VALUE, 5)
    assert expectation(BAD_CASE) == Reject("crc-mismatch", at=4)
    assert expectation(STREAM_BAD) == STREAM_BAD.expect


def test_an_open_place_before_a_refusal_excuses_an_answer_nobody_wrote_an_expectation_for() -> None:
    case = decode_case(bytes.fromhex("01074142"), Reject("crc-mismatch"), source=Source("fuzz"))
    assert judge(case, Accepted(OPEN_VALUE)).label == "info:toy-open"


@pytest.mark.parametrize(
    ("case", "outcome", "again"),
    [
        (GOOD_CASE, Accepted(digest=digest(GOOD_VALUE)), False),
        (GOOD_CASE, Accepted(digest="00"), True),
        (GOOD_CASE, Accepted(GOOD_VALUE), False),
        (GOOD_CASE, Refused("other"), False),
        (BAD_CASE, Accepted(digest="00"), True),
        (EITHER, Accepted(digest="00"), True),
    ],
)
def test_a_digest_that_settles_nothing_asks_for_the_value(case: Case, outcome: Outcome, again: bool) -> None:
    assert wants_value(case, outcome) is again


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        (Accepted(GOOD_VALUE), Accepted(GOOD_VALUE), True),
        (Accepted(GOOD_VALUE), Accepted({}), False),
        (Refused("other", text="at 0x1"), Refused("other", text="at 0x2"), True),
        (Refused("other"), Refused("bad-magic"), False),
        (Refused("other"), Accepted(GOOD_VALUE), False),
    ],
)
def test_two_answers_to_one_question_are_one_answer(one: Outcome, two: Outcome, same: bool) -> None:
    verdict = nondeterministic(GOOD_CASE, one, two)
    assert (verdict is None) == same
    assert verdict is None or verdict.label == "fail:nondeterministic"


def test_a_hostile_depth_of_an_answer_costs_no_recursion() -> None:
    deep: object = "x"
    for _ in range(50_000):
        deep = [deep]
    verdict = judge(GOOD_CASE, Accepted({"kind": deep}))  # type: ignore[dict-item]
    assert verdict.name == "fail"


def test_what_was_delivered_before_may_be_more_records_but_not_other_ones() -> None:
    record = {"key": "61", "headers": [["68", "31"]]}
    more = {"records": [record, record]}
    odd = {"records": [{"key": "61", "headers": [["68", "31"], ["69", "32"]]}]}
    for got, kind in ((more, None), (odd, "wrong-value"), ({"records": []}, "prefix-lost")):
        case = evolve(BAD_CASE, expect=Reject("crc-mismatch", before={"records": [record]}))
        verdict = judge(case, Refused("crc-mismatch", before=got), twin=PASSED, reference=None)
        assert (verdict.kind if verdict.name == "fail" else None) == kind


def test_a_signature_forgets_which_element_it_was() -> None:
    verdict = Verdict("fail", "wrong-value", path="frames[17].body")
    assert (
        str(signature("x", STREAM_BAD, verdict))
        == "x · toy.stream/v1 · decode · fail:wrong-value · frames[].body"
    )
    assert without_indices("records[0].headers[12].key") == "records[].headers[].key"


def test_a_signature_forgets_what_ended_the_reading_behind_a_wrong_value() -> None:
    """One defect in a log whose end is damaged in many ways is one finding."""
    begins = (("", ""), ("crc-mismatch", "before."), ("other", "before."))
    wrong = [Verdict("fail", "wrong-value", cls, f"{before}frames[0].body") for cls, before in begins]
    lost = [Verdict("fail", "prefix-lost", cls, "before.frames.length") for cls in ("other", "bad-length")]
    assert len({signature("x", STREAM_BAD, verdict) for verdict in wrong}) == 1
    assert len({signature("x", STREAM_BAD, verdict) for verdict in lost}) == 1
    assert signature("x", STREAM_BAD, lost[0]) != signature("x", STREAM_BAD, wrong[0])
