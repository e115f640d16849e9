"""The judge, verdict by verdict, on a toy format: architecture.md#verdicts."""

from functools import partial

import pytest
from attrs import evolve
from each import each
from toy_format import (
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
from wireproof.cases.case import ORIGIN_REFERENCE, Accept, Behaviour, Case, Either, Reject, Source, Value
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
from wireproof.cases.reference_answers import reference_answer, reference_expectation
from wireproof.judge import judge as module
from wireproof.judge.judge import NO_CLAIMS, REFERENCE_HELLO, judge, needs_value
from wireproof.judge.signature import signature, without_indices
from wireproof.judge.verdicts import Verdict
from wireproof.run.events import case_event
from wireproof.wire.json_values import json_digest

EXACT = Hello("exact", "1", errors="exact")
BODY_ONLY = Hello("body", "1", {"toy.frame/v1": Claim(observes=("body",))})
NO_ENCODE = Hello("none", "1", {"toy.frame/v1": Claim(ops=("decode",), codecs=("none",))})
ANYTHING = Hello("any", "1", {"toy.frame/v1": Claim()})
PASSED = Verdict("pass", "canonical")
FRAME = {"kind": "frame", "at": 0, "length": 5, "value": GOOD_VALUE}
TWO = [FRAME, {**FRAME, "at": 5}]

PROMOTED = evolve(OPEN_CASE, source=Source("fuzz"))
FUZZED = evolve(OPEN_CASE, source=Source(ORIGIN_REFERENCE))

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
EITHER_REFUSED_FIRST = evolve(
    EITHER, level="should", expect=Either(tuple(reversed(EITHER.expect.behaviours)))
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


def row(
    name: str, case: Case, outcome: Outcome, verdict: str, path: str = "", *, hello: Hello = NO_CLAIMS
) -> Row:
    """Return one expectation: most adapters claim nothing, and most verdicts point to no part of a value."""
    return name, case, outcome, hello, verdict, path


exact, ours = partial(row, hello=EXACT), partial(row, hello=REFERENCE_HELLO)
body_only, no_encode = partial(row, hello=BODY_ONLY), partial(row, hello=NO_ENCODE)
anything = partial(row, hello=ANYTHING)

ROWS: tuple[Row, ...] = (
    # --- accepted as it should be ---
    row("equal", GOOD_CASE, Accepted(GOOD_VALUE, 5), "pass:canonical"),
    row("consumed not told", GOOD_CASE, Accepted(GOOD_VALUE), "pass:canonical"),
    body_only("observed fields", GOOD_CASE, Accepted({"body": "616b"}, 5), "pass:semantic"),
    row("digest", GOOD_CASE, Accepted(digest=json_digest(GOOD_VALUE)), "pass:canonical"),
    body_only(
        "digest of the observed", GOOD_CASE, Accepted(digest=json_digest({"body": "616b"})), "pass:semantic"
    ),
    row("other digest", GOOD_CASE, Accepted(digest="00"), "fail:wrong-value"),
    row("wrong field", GOOD_CASE, Accepted(got(body="00"), 5), "fail:wrong-value", "body"),
    body_only("wrong observed field", GOOD_CASE, Accepted({"body": "00"}), "fail:wrong-value", "body"),
    row("missing field", GOOD_CASE, Accepted({"kind": "1", "body": "616b"}), "fail:wrong-value", "size"),
    row("additional field", GOOD_CASE, Accepted(got(more="1")), "fail:wrong-value", "more"),
    row("number for decimal", GOOD_CASE, Accepted({**GOOD_VALUE, "kind": 1}), "fail:wrong-value", "kind"),
    row("no value at all", GOOD_CASE, Accepted(None, 5), "fail:wrong-value"),
    row("read too far", GOOD_CASE, Accepted(GOOD_VALUE, 6), "fail:over-read"),
    row("read too little", GOOD_CASE, Accepted(GOOD_VALUE, 4), "fail:under-read"),
    row("refused", GOOD_CASE, Refused("bad-magic", 1, "kind"), "fail:wrong-reject", "kind"),
    row(
        "list too short",
        stream_case(GOOD, Accept({"frames": [GOOD_VALUE]})),
        Accepted({"frames": []}),
        "fail:wrong-value",
        "frames.length",
    ),
    row(
        "deep field",
        stream_case(GOOD, Accept({"frames": [GOOD_VALUE]})),
        Accepted(NESTED),
        "fail:wrong-value",
        "frames[0].body",
    ),
    # --- remarks ---
    row("as the reference", OPEN_CASE, Accepted(OPEN_VALUE, 4), "pass:canonical"),
    row("other allowed value", OPEN_CASE, Accepted({**OPEN_VALUE, "kind": "0"}, 4), "info:toy-open"),
    row("value not allowed", OPEN_CASE, Accepted({**OPEN_VALUE, "kind": "3"}, 4), "fail:wrong-value", "kind"),
    row(
        "allowed value, wrong elsewhere",
        OPEN_CASE,
        Accepted({**OPEN_VALUE, "kind": "0", "body": ""}, 4),
        "fail:wrong-value",
        "body",
    ),
    row("refused, as nobody wrote", OPEN_CASE, Refused("bad-kind", 1, "kind"), "fail:wrong-reject", "kind"),
    row("promoted, refused", PROMOTED, Refused("bad-kind", 1, "kind"), "fail:wrong-reject", "kind"),
    row("fuzzed, refused where open", FUZZED, Refused("bad-kind", 1, "kind"), "info:toy-open", "kind"),
    row("undocumented where open", FUZZED, Refused("other", untyped=True), "undocumented"),
    ours("ours without its remark", OPEN_CASE, Accepted(OPEN_VALUE, 4), "fail:wrong-reason", "remarks"),
    ours("ours with its remark", OPEN_CASE, Accepted(OPEN_VALUE, 4, remarks=("toy-open",)), "pass:canonical"),
    # --- refused as it should be ---
    exact("right class", BAD_CASE, Refused("crc-mismatch", 4, "sum"), "pass:canonical", "sum"),
    exact(
        "also allowed",
        evolve(BAD_CASE, expect=Reject("crc-mismatch", ("bad-kind",))),
        Refused("bad-kind"),
        "pass:alternate",
    ),
    exact("class not told", BAD_CASE, Refused("other"), "pass-unclassified"),
    row("undocumented exception", BAD_CASE, Refused("other", untyped=True), "undocumented"),
    exact(
        "undocumented, of the right class", BAD_CASE, Refused("crc-mismatch", untyped=True), "undocumented"
    ),
    exact("undocumented, derived", DERIVED, Refused("other", untyped=True), "undocumented"),
    exact("wrong class, exact", BAD_CASE, Refused("bad-magic"), "fail:wrong-reason"),
    row("wrong class, coarse", BAD_CASE, Refused("bad-magic"), "pass-unclassified"),
    exact("place not judged", BAD_CASE, Refused("crc-mismatch", 0), "pass:canonical"),
    ours("place of ours", BAD_CASE, Refused("crc-mismatch", 0), "fail:wrong-reason"),
    row("accepted", BAD_CASE, Accepted(GOOD_VALUE), "fail:wrong-accept", "sum"),
    row("accepted, should", evolve(BAD_CASE, level="should"), Accepted(GOOD_VALUE), "lenient"),
    row("accepted, may", evolve(BAD_CASE, level="may"), Accepted(GOOD_VALUE), "lenient"),
    exact("derived, any class", DERIVED, Refused("bad-magic"), "pass:semantic"),
    exact("derived, accepted", DERIVED, Accepted(GOOD_VALUE), "fail:wrong-accept", "sum"),
    exact(
        "fuzzed, any class",
        evolve(BAD_CASE, source=Source(ORIGIN_REFERENCE)),
        Refused("bad-magic"),
        "pass:semantic",
    ),
    # --- what was delivered before ---
    exact(
        "prefix kept", STREAM_BAD, Refused("crc-mismatch", before={"frames": [GOOD_VALUE]}), "pass:canonical"
    ),
    exact("prefix not told", STREAM_BAD, Refused("crc-mismatch"), "pass:canonical"),
    exact(
        "prefix lost",
        STREAM_BAD,
        Refused("crc-mismatch", before={"frames": []}),
        "fail:prefix-lost",
        "before.frames.length",
    ),
    exact(
        "delivered more than it must",
        STREAM_BAD,
        Refused("crc-mismatch", before={"frames": [GOOD_VALUE] * 2}),
        "pass:canonical",
    ),
    # --- either ---
    row("first behaviour", EITHER, Accepted(got(kind="5")), "info:takes-it"),
    row("second behaviour", EITHER, Refused("crc-mismatch"), "info:refuses"),
    exact("second behaviour, no class", EITHER, Refused("other"), "info:refuses"),
    row("no behaviour", EITHER, Accepted(got(kind="6")), "fail:wrong-value", "kind"),
    row("no behaviour, should", EITHER_REFUSED_FIRST, Accepted(got(kind="6")), "fail:wrong-value", "kind"),
    exact("second behaviour, undocumented", EITHER, Refused("other", untyped=True), "undocumented"),
    exact("no behaviour, wrong class", EITHER, Refused("bad-magic"), "fail:wrong-reason"),
    # --- encode ---
    row("first encoding", evolve(ENCODE, expect=Accept(data=(GOOD,))), Accepted(data=GOOD), "pass:canonical"),
    row("another encoding", ENCODE, Accepted(data=GOOD), "pass:alternate"),
    row("judged by decoding back", ENCODE_OPEN, Accepted(data=GOOD), "pass:semantic"),
    row(
        "not the same back",
        ENCODE_OPEN,
        Accepted(data=bytes.fromhex("0101" + "6161")),
        "fail:not-round-trip",
        "body",
    ),
    row("bytes that do not decode", ENCODE_OPEN, Accepted(data=BAD_SUM), "fail:wrong-bytes", "sum"),
    row("bytes too many", ENCODE_OPEN, Accepted(data=GOOD + b"\0"), "fail:wrong-bytes"),
    row(
        "open bytes",
        encode_case({"kind": "7", "body": "41"}, Accept()),
        Accepted(data=OPEN_BYTES),
        "info:toy-open",
    ),
    row("no bytes", ENCODE_OPEN, Accepted({}), "adapter-error"),
    row("a refusal to encode", ENCODE_OPEN, Refused("invalid-value"), "fail:wrong-reject"),
    exact(
        "a value not to be written",
        encode_case({"kind": "9", "body": ""}, Reject("invalid-value")),
        Refused("invalid-value"),
        "pass:canonical",
    ),
    # --- scan ---
    row("scan", scan_case((GOOD[:3], GOOD[3:]), [FRAME]), Accepted({"items": [FRAME]}), "pass:canonical"),
    row(
        "frame missing",
        scan_case((GOOD, GOOD), TWO),
        Accepted({"items": [FRAME]}),
        "fail:wrong-value",
        "items.length",
    ),
    row(
        "frame elsewhere",
        scan_case((GOOD, GOOD), TWO),
        Accepted({"items": [FRAME, FRAME]}),
        "fail:wrong-value",
        "items[1].at",
    ),
    row(
        "class of garbage, coarse",
        scan_case((BAD_SUM,), [{"kind": "garbage", "at": 0, "length": 5, "class": "crc-mismatch"}]),
        Accepted({"items": [{"kind": "garbage", "at": 0, "length": 5}]}),
        "pass:alternate",
    ),
    exact(
        "class of garbage, exact",
        scan_case((BAD_SUM,), [{"kind": "garbage", "at": 0, "length": 5, "class": "crc-mismatch"}]),
        Accepted({"items": [{"kind": "garbage", "at": 0, "length": 5, "class": "bad-magic"}]}),
        "fail:wrong-reason",
        "items[0].class",
    ),
    row(
        "observed part of a scan",
        scan_case((GOOD,), [FRAME]),
        Accepted({"items": [{**FRAME, "value": {"body": "616b"}}]}),
        "pass:semantic",
        hello=Hello("x", "1", {"toy.stream/v1": Claim(observes=("frames[].body",))}),
    ),
    # --- claims ---
    row("nothing claimed, skipped", GOOD_CASE, Unsupported("no"), "unsupported"),
    no_encode("revision not claimed", stream_case(GOOD, Accept()), Unsupported(), "unsupported"),
    no_encode("op not claimed", ENCODE, Unsupported(), "unsupported"),
    no_encode("codec not claimed", evolve(GOOD_CASE, needs=("codec:lz4",)), Unsupported(), "unsupported"),
    no_encode("claimed and skipped", GOOD_CASE, Unsupported("no"), "fail:undeclared-skip"),
    anything("value beyond a writer", ENCODE, Unsupported("no say over kind"), "unsupported"),
    anything("encode skipped without a word", ENCODE, Unsupported(), "fail:undeclared-skip"),
    no_encode("works unclaimed", ENCODE, Accepted(data=GOOD), "pass:alternate"),
    no_encode("fails unclaimed", ENCODE, Refused("other"), "unsupported"),
    # --- no answer ---
    row("crash", GOOD_CASE, Crashed("signal 11"), "crash"),
    row("timeout", GOOD_CASE, TimedOut(2000), "timeout"),
    row("memory", GOOD_CASE, Exhausted("memory"), "resource:memory"),
    row("stalled", GOOD_CASE, Stalled(), "stalled"),
    row("contract broken", GOOD_CASE, Faulty("noise"), "adapter-error"),
    row("not asked", GOOD_CASE, NotRun("6 timeouts", "spent"), "not-run:spent"),
    # --- the suite itself ---
    row(
        "fixture wrong",
        decode_case(GOOD, Accept(got(kind="2"), 5)),
        Accepted(GOOD_VALUE, 5),
        "suite-bug",
        "kind",
    ),
    row(
        "fixture wrong about a refusal",
        decode_case(GOOD, Reject("crc-mismatch")),
        Accepted(GOOD_VALUE),
        "suite-bug",
    ),
)


@each("case, outcome, hello, label, path", [row[1:] for row in ROWS])
def test_each_outcome_has_its_verdict(
    case: Case, outcome: Outcome, hello: Hello, label: str, path: str
) -> None:
    verdict = judge(case, outcome, hello=hello, twin=PASSED)
    assert (verdict.label, verdict.path) == (label, path)


@each(
    "twin, label",
    [
        (PASSED, "pass:canonical"),
        (Verdict("info", "some"), "pass:canonical"),
        (Verdict("info", "refused-where-open", "bad-kind"), f"blocked:{GOOD_CASE.id}"),
        (Verdict("lenient"), "pass:canonical"),
        (Verdict("undocumented"), f"blocked:{GOOD_CASE.id}"),
        (Verdict("fail", "wrong-reject"), f"blocked:{GOOD_CASE.id}"),
        (Verdict("crash"), f"blocked:{GOOD_CASE.id}"),
        (None, f"blocked:{GOOD_CASE.id}"),
        (Verdict("unsupported"), "unsupported"),
        (Verdict("not-run"), "not-run"),
    ],
)
def test_a_refusal_passes_only_behind_an_accepted_twin(twin: Verdict | None, label: str) -> None:
    assert judge(BAD_CASE, Refused("crc-mismatch"), twin=twin).label == label


def test_an_undocumented_refusal_says_nothing_of_who_refuses_the_twin() -> None:
    refusal = Refused("other", untyped=True)
    assert judge(BAD_CASE, refusal, twin=PASSED).label == "undocumented"
    assert judge(BAD_CASE, refusal, twin=Verdict("fail", "wrong-reject")).name == "blocked"


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
        verdict = judge(case, reference_answer(case).outcome, hello=REFERENCE_HELLO, twin=PASSED)
        assert verdict.label == "pass:canonical"


def test_bytes_without_an_expectation_are_judged_by_the_reference() -> None:
    assert reference_expectation(GOOD_CASE) == Accept(GOOD_VALUE, 5)
    assert reference_expectation(BAD_CASE) == Reject("crc-mismatch", at=4)
    assert reference_expectation(STREAM_BAD) == STREAM_BAD.expect


RAW_K = {"kind": "raw", "value": "6b"}
INT16 = {"kind": "int16", "value": "0100"}
KEY_RAW, KEY_INT16 = "01010000006b01010000006b", "0502000000010001010000006b"
"""An entry with a raw key and one with a key of kind int16, as iggy.md has them; a map is written sorted."""


@each("written, label", [
    (KEY_RAW + KEY_INT16, "pass:canonical"),
    (KEY_INT16 + KEY_RAW, "pass:semantic"),
    (KEY_INT16 + KEY_RAW.replace("6b", "6c", 1), "fail:not-round-trip"),
])  # fmt: skip
def test_the_entries_of_a_generated_map_may_be_written_in_any_order(written: str, label: str) -> None:
    case = evolve(
        GOOD_CASE, format="iggy.headers", revision="0.10", op="encode", source=Source(ORIGIN_REFERENCE),
        input=Value({"headers": [[INT16, RAW_K], [RAW_K, RAW_K]]}),
        expect=Accept(data=(bytes.fromhex(KEY_RAW + KEY_INT16),)),
    )  # fmt: skip
    assert judge(case, Accepted(data=bytes.fromhex(written))).label == label


def test_an_open_place_before_a_refusal_excuses_an_answer_nobody_wrote_an_expectation_for() -> None:
    case = decode_case(bytes.fromhex("01074142"), Reject("crc-mismatch"), source=Source(ORIGIN_REFERENCE))
    assert judge(case, Accepted(OPEN_VALUE)).label == "info:toy-open"


@each(
    "case, outcome, again",
    [
        (GOOD_CASE, Accepted(digest=json_digest(GOOD_VALUE)), False),
        (GOOD_CASE, Accepted(digest="00"), True),
        (GOOD_CASE, Accepted(GOOD_VALUE), False),
        (GOOD_CASE, Refused("other"), False),
        (BAD_CASE, Accepted(digest="00"), True),
        (EITHER, Accepted(digest="00"), True),
    ],
)
def test_a_digest_that_settles_nothing_asks_for_the_value(case: Case, outcome: Outcome, again: bool) -> None:
    assert needs_value(case, outcome) is again


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


# --- rules with a level of their own ---

STRONG, WEAK = BrokenRule("toy.strong", "the checksum is wrong"), BrokenRule("toy.weak", "late")


@pytest.fixture
def levels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "obligations", lambda: {"toy.strong": "must", "toy.weak": "should"})


@pytest.mark.usefixtures("levels")
@each(
    "outcome, level, broken, decides",
    [
        (Accepted(GOOD_VALUE, 5, broken=(WEAK, STRONG)), "should", "toy.strong", "must"),
        (Accepted(GOOD_VALUE, 5, broken=(STRONG,)), "may", "toy.strong", "must"),
        (Accepted(GOOD_VALUE, 5, broken=(WEAK,)), "must", "toy.weak", "should"),
        (Accepted({}, 5, broken=(WEAK,)), "must", "", None),
        (Accepted({}, 5, broken=(STRONG,)), "must", "toy.strong", "must"),
        (Refused("other", untyped=True, broken=(STRONG,)), "may", "toy.strong", "must"),
    ],
)
def test_a_broken_rule_fails_at_its_own_level(
    outcome: Outcome, level: str, broken: str, decides: str | None
) -> None:
    verdict = judge(evolve(GOOD_CASE, level=level), outcome)  # type: ignore[misc] # a level
    assert (verdict.label, verdict.broken, verdict.level) == ("fail:wrong-value", broken, decides)


@pytest.mark.usefixtures("levels")
def test_a_case_that_is_refused_as_it_should_be_fails_by_a_broken_rule_and_blocks_at_its_level() -> None:
    should = evolve(BAD_CASE, level="should")
    refusal = Refused("crc-mismatch", broken=(STRONG,))
    verdict = judge(should, refusal, twin=PASSED)
    event = case_event(0, should, verdict)
    assert (event.level, event.broken, event.deciding_rules) == ("must", "toy.strong", ("toy.strong",))
    assert event.text == "breaks toy.strong (must)"
    assert event.got == "the checksum is wrong"
    assert str(event.signature("x")).endswith("toy.strong")
    blocked = judge(should, Refused("crc-mismatch"), twin=verdict)
    assert (blocked.name, blocked.level, blocked.broken) == ("blocked", "must", "toy.strong")


@pytest.mark.usefixtures("levels")
def test_a_rule_without_a_level_is_none_that_an_adapter_can_name() -> None:
    verdict = judge(GOOD_CASE, Accepted(GOOD_VALUE, 5, broken=(BrokenRule("toy.unknown"),)))
    assert (verdict.name, verdict.text) == (
        "adapter-error",
        "breaks 'toy.unknown', which is no rule with a level",
    )


@pytest.mark.usefixtures("levels")
def test_to_accept_what_must_be_refused_stays_the_failure_of_a_case_as_strong_as_the_rule() -> None:
    accepted = Accepted(GOOD_VALUE, broken=(STRONG,))
    verdict = judge(BAD_CASE, accepted)
    assert (verdict.label, verdict.broken) == ("fail:wrong-accept", "")
    assert verdict.text.endswith("breaks toy.strong (must)")
    assert judge(evolve(BAD_CASE, level="should"), accepted).broken == "toy.strong"
