"""The verdicts of the judge on each sort of answer: a case, an outcome, and the verdict."""

from attrs import evolve
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
)

from wireproof.adapters.contract import Claim, Hello
from wireproof.cases.case import ORIGIN_REFERENCE, Accept, Behaviour, Case, Either, Reject, Source
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
from wireproof.runner.judge import NO_CLAIMS, REFERENCE_HELLO
from wireproof.runner.verdicts import Verdict
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


ROWS: tuple[Row, ...] = (
    # --- accepted as it should be ---
    row("equal", GOOD_CASE, Accepted(GOOD_VALUE, 5), "pass:canonical"),
    row("consumed not told", GOOD_CASE, Accepted(GOOD_VALUE), "pass:canonical"),
    row("observed fields", GOOD_CASE, Accepted({"body": "616b"}, 5), "pass:semantic", hello=BODY_ONLY),
    row("digest", GOOD_CASE, Accepted(digest=json_digest(GOOD_VALUE)), "pass:canonical"),
    row(
        "digest of the observed",
        GOOD_CASE,
        Accepted(digest=json_digest({"body": "616b"})),
        "pass:semantic",
        hello=BODY_ONLY,
    ),
    row("other digest", GOOD_CASE, Accepted(digest="00"), "fail:wrong-value"),
    row("wrong field", GOOD_CASE, Accepted(got(body="00"), 5), "fail:wrong-value", "body"),
    row(
        "wrong observed field",
        GOOD_CASE,
        Accepted({"body": "00"}),
        "fail:wrong-value",
        "body",
        hello=BODY_ONLY,
    ),
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
    row(
        "ours without its remark",
        OPEN_CASE,
        Accepted(OPEN_VALUE, 4),
        "fail:wrong-reason",
        "remarks",
        hello=REFERENCE_HELLO,
    ),
    row(
        "ours with its remark",
        OPEN_CASE,
        Accepted(OPEN_VALUE, 4, remarks=("toy-open",)),
        "pass:canonical",
        hello=REFERENCE_HELLO,
    ),
    # --- refused as it should be ---
    row("right class", BAD_CASE, Refused("crc-mismatch", 4, "sum"), "pass:canonical", "sum", hello=EXACT),
    row(
        "also allowed",
        evolve(BAD_CASE, expect=Reject("crc-mismatch", ("bad-kind",))),
        Refused("bad-kind"),
        "pass:alternate",
        hello=EXACT,
    ),
    row("class not told", BAD_CASE, Refused("other"), "pass-unclassified", hello=EXACT),
    row("undocumented exception", BAD_CASE, Refused("other", untyped=True), "undocumented"),
    row(
        "undocumented, of the right class",
        BAD_CASE,
        Refused("crc-mismatch", untyped=True),
        "undocumented",
        hello=EXACT,
    ),
    row("undocumented, derived", DERIVED, Refused("other", untyped=True), "undocumented", hello=EXACT),
    row("wrong class, exact", BAD_CASE, Refused("bad-magic"), "fail:wrong-reason", hello=EXACT),
    row("wrong class, coarse", BAD_CASE, Refused("bad-magic"), "pass-unclassified"),
    row("place not judged", BAD_CASE, Refused("crc-mismatch", 0), "pass:canonical", hello=EXACT),
    row("place of ours", BAD_CASE, Refused("crc-mismatch", 0), "fail:wrong-reason", hello=REFERENCE_HELLO),
    row("accepted", BAD_CASE, Accepted(GOOD_VALUE), "fail:wrong-accept", "sum"),
    row("accepted, should", evolve(BAD_CASE, level="should"), Accepted(GOOD_VALUE), "lenient"),
    row("accepted, may", evolve(BAD_CASE, level="may"), Accepted(GOOD_VALUE), "lenient"),
    row("derived, any class", DERIVED, Refused("bad-magic"), "pass:semantic", hello=EXACT),
    row("derived, accepted", DERIVED, Accepted(GOOD_VALUE), "fail:wrong-accept", "sum", hello=EXACT),
    row(
        "fuzzed, any class",
        evolve(BAD_CASE, source=Source(ORIGIN_REFERENCE)),
        Refused("bad-magic"),
        "pass:semantic",
        hello=EXACT,
    ),
    # --- what was delivered before ---
    row(
        "prefix kept",
        STREAM_BAD,
        Refused("crc-mismatch", before={"frames": [GOOD_VALUE]}),
        "pass:canonical",
        hello=EXACT,
    ),
    row("prefix not told", STREAM_BAD, Refused("crc-mismatch"), "pass:canonical", hello=EXACT),
    row(
        "prefix lost",
        STREAM_BAD,
        Refused("crc-mismatch", before={"frames": []}),
        "fail:prefix-lost",
        "before.frames.length",
        hello=EXACT,
    ),
    row(
        "delivered more than it must",
        STREAM_BAD,
        Refused("crc-mismatch", before={"frames": [GOOD_VALUE] * 2}),
        "pass:canonical",
        hello=EXACT,
    ),
    # --- either ---
    row("first behaviour", EITHER, Accepted(got(kind="5")), "info:takes-it"),
    row("second behaviour", EITHER, Refused("crc-mismatch"), "info:refuses"),
    row("second behaviour, no class", EITHER, Refused("other"), "info:refuses", hello=EXACT),
    row("no behaviour", EITHER, Accepted(got(kind="6")), "fail:wrong-value", "kind"),
    row("no behaviour, should", EITHER_REFUSED_FIRST, Accepted(got(kind="6")), "fail:wrong-value", "kind"),
    row(
        "second behaviour, undocumented", EITHER, Refused("other", untyped=True), "undocumented", hello=EXACT
    ),
    row("no behaviour, wrong class", EITHER, Refused("bad-magic"), "fail:wrong-reason", hello=EXACT),
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
    row(
        "a value not to be written",
        encode_case({"kind": "9", "body": ""}, Reject("invalid-value")),
        Refused("invalid-value"),
        "pass:canonical",
        hello=EXACT,
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
    row(
        "class of garbage, exact",
        scan_case((BAD_SUM,), [{"kind": "garbage", "at": 0, "length": 5, "class": "crc-mismatch"}]),
        Accepted({"items": [{"kind": "garbage", "at": 0, "length": 5, "class": "bad-magic"}]}),
        "fail:wrong-reason",
        "items[0].class",
        hello=EXACT,
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
    row("revision not claimed", stream_case(GOOD, Accept()), Unsupported(), "unsupported", hello=NO_ENCODE),
    row("op not claimed", ENCODE, Unsupported(), "unsupported", hello=NO_ENCODE),
    row(
        "codec not claimed",
        evolve(GOOD_CASE, needs=("codec:lz4",)),
        Unsupported(),
        "unsupported",
        hello=NO_ENCODE,
    ),
    row("claimed and skipped", GOOD_CASE, Unsupported("no"), "fail:undeclared-skip", hello=NO_ENCODE),
    row("value beyond a writer", ENCODE, Unsupported("no say over kind"), "unsupported", hello=ANYTHING),
    row("encode skipped without a word", ENCODE, Unsupported(), "fail:undeclared-skip", hello=ANYTHING),
    row("works unclaimed", ENCODE, Accepted(data=GOOD), "pass:alternate", hello=NO_ENCODE),
    row("fails unclaimed", ENCODE, Refused("other"), "unsupported", hello=NO_ENCODE),
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
