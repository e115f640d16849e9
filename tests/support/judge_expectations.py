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
ROWS: tuple[Row, ...] = (
    # --- accepted as it should be ---
    ("equal", GOOD_CASE, Accepted(GOOD_VALUE, 5), NO_CLAIMS, "pass:canonical", ""),
    ("consumed not told", GOOD_CASE, Accepted(GOOD_VALUE), NO_CLAIMS, "pass:canonical", ""),
    ("observed fields", GOOD_CASE, Accepted({"body": "616b"}, 5), BODY_ONLY, "pass:semantic", ""),
    ("digest", GOOD_CASE, Accepted(digest=json_digest(GOOD_VALUE)), NO_CLAIMS, "pass:canonical", ""),
    (
        "digest of the observed",
        GOOD_CASE,
        Accepted(digest=json_digest({"body": "616b"})),
        BODY_ONLY,
        "pass:semantic",
        "",
    ),
    ("other digest", GOOD_CASE, Accepted(digest="00"), NO_CLAIMS, "fail:wrong-value", ""),
    ("wrong field", GOOD_CASE, Accepted(got(body="00"), 5), NO_CLAIMS, "fail:wrong-value", "body"),
    ("wrong observed field", GOOD_CASE, Accepted({"body": "00"}), BODY_ONLY, "fail:wrong-value", "body"),
    (
        "missing field",
        GOOD_CASE,
        Accepted({"kind": "1", "body": "616b"}),
        NO_CLAIMS,
        "fail:wrong-value",
        "size",
    ),
    ("additional field", GOOD_CASE, Accepted(got(more="1")), NO_CLAIMS, "fail:wrong-value", "more"),
    (
        "number for decimal",
        GOOD_CASE,
        Accepted({**GOOD_VALUE, "kind": 1}),
        NO_CLAIMS,
        "fail:wrong-value",
        "kind",
    ),
    ("no value at all", GOOD_CASE, Accepted(None, 5), NO_CLAIMS, "fail:wrong-value", ""),
    ("read too far", GOOD_CASE, Accepted(GOOD_VALUE, 6), NO_CLAIMS, "fail:over-read", ""),
    ("read too little", GOOD_CASE, Accepted(GOOD_VALUE, 4), NO_CLAIMS, "fail:under-read", ""),
    ("refused", GOOD_CASE, Refused("bad-magic", 1, "kind"), NO_CLAIMS, "fail:wrong-reject", "kind"),
    (
        "list too short",
        stream_case(GOOD, Accept({"frames": [GOOD_VALUE]})),
        Accepted({"frames": []}),
        NO_CLAIMS,
        "fail:wrong-value",
        "frames.length",
    ),
    (
        "deep field",
        stream_case(GOOD, Accept({"frames": [GOOD_VALUE]})),
        Accepted(NESTED),
        NO_CLAIMS,
        "fail:wrong-value",
        "frames[0].body",
    ),
    # --- remarks ---
    ("as the reference", OPEN_CASE, Accepted(OPEN_VALUE, 4), NO_CLAIMS, "pass:canonical", ""),
    (
        "other allowed value",
        OPEN_CASE,
        Accepted({**OPEN_VALUE, "kind": "0"}, 4),
        NO_CLAIMS,
        "info:toy-open",
        "",
    ),
    (
        "value not allowed",
        OPEN_CASE,
        Accepted({**OPEN_VALUE, "kind": "3"}, 4),
        NO_CLAIMS,
        "fail:wrong-value",
        "kind",
    ),
    (
        "allowed value, wrong elsewhere",
        OPEN_CASE,
        Accepted({**OPEN_VALUE, "kind": "0", "body": ""}, 4),
        NO_CLAIMS,
        "fail:wrong-value",
        "body",
    ),
    (
        "refused, as nobody wrote",
        OPEN_CASE,
        Refused("bad-kind", 1, "kind"),
        NO_CLAIMS,
        "fail:wrong-reject",
        "kind",
    ),
    ("promoted, refused", PROMOTED, Refused("bad-kind", 1, "kind"), NO_CLAIMS, "fail:wrong-reject", "kind"),
    (
        "fuzzed, refused where open",
        FUZZED,
        Refused("bad-kind", 1, "kind"),
        NO_CLAIMS,
        "info:toy-open",
        "kind",
    ),
    ("undocumented where open", FUZZED, Refused("other", untyped=True), NO_CLAIMS, "undocumented", ""),
    (
        "ours without its remark",
        OPEN_CASE,
        Accepted(OPEN_VALUE, 4),
        REFERENCE_HELLO,
        "fail:wrong-reason",
        "remarks",
    ),
    (
        "ours with its remark",
        OPEN_CASE,
        Accepted(OPEN_VALUE, 4, remarks=("toy-open",)),
        REFERENCE_HELLO,
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
    ("undocumented exception", BAD_CASE, Refused("other", untyped=True), NO_CLAIMS, "undocumented", ""),
    (
        "undocumented, of the right class",
        BAD_CASE,
        Refused("crc-mismatch", untyped=True),
        EXACT,
        "undocumented",
        "",
    ),
    ("undocumented, derived", DERIVED, Refused("other", untyped=True), EXACT, "undocumented", ""),
    ("wrong class, exact", BAD_CASE, Refused("bad-magic"), EXACT, "fail:wrong-reason", ""),
    ("wrong class, coarse", BAD_CASE, Refused("bad-magic"), NO_CLAIMS, "pass-unclassified", ""),
    ("place not judged", BAD_CASE, Refused("crc-mismatch", 0), EXACT, "pass:canonical", ""),
    ("place of ours", BAD_CASE, Refused("crc-mismatch", 0), REFERENCE_HELLO, "fail:wrong-reason", ""),
    ("accepted", BAD_CASE, Accepted(GOOD_VALUE), NO_CLAIMS, "fail:wrong-accept", "sum"),
    ("accepted, should", evolve(BAD_CASE, level="should"), Accepted(GOOD_VALUE), NO_CLAIMS, "lenient", ""),
    ("accepted, may", evolve(BAD_CASE, level="may"), Accepted(GOOD_VALUE), NO_CLAIMS, "lenient", ""),
    ("derived, any class", DERIVED, Refused("bad-magic"), EXACT, "pass:semantic", ""),
    ("derived, accepted", DERIVED, Accepted(GOOD_VALUE), EXACT, "fail:wrong-accept", "sum"),
    (
        "fuzzed, any class",
        evolve(BAD_CASE, source=Source(ORIGIN_REFERENCE)),
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
    ("first behaviour", EITHER, Accepted(got(kind="5")), NO_CLAIMS, "info:takes-it", ""),
    ("second behaviour", EITHER, Refused("crc-mismatch"), NO_CLAIMS, "info:refuses", ""),
    ("second behaviour, no class", EITHER, Refused("other"), EXACT, "info:refuses", ""),
    ("no behaviour", EITHER, Accepted(got(kind="6")), NO_CLAIMS, "fail:wrong-value", "kind"),
    (
        "no behaviour, should",
        EITHER_REFUSED_FIRST,
        Accepted(got(kind="6")),
        NO_CLAIMS,
        "fail:wrong-value",
        "kind",
    ),
    ("second behaviour, undocumented", EITHER, Refused("other", untyped=True), EXACT, "undocumented", ""),
    ("no behaviour, wrong class", EITHER, Refused("bad-magic"), EXACT, "fail:wrong-reason", ""),
    # --- encode ---
    (
        "first encoding",
        evolve(ENCODE, expect=Accept(data=(GOOD,))),
        Accepted(data=GOOD),
        NO_CLAIMS,
        "pass:canonical",
        "",
    ),
    ("another encoding", ENCODE, Accepted(data=GOOD), NO_CLAIMS, "pass:alternate", ""),
    ("judged by decoding back", ENCODE_OPEN, Accepted(data=GOOD), NO_CLAIMS, "pass:semantic", ""),
    (
        "not the same back",
        ENCODE_OPEN,
        Accepted(data=bytes.fromhex("0101" + "6161")),
        NO_CLAIMS,
        "fail:not-round-trip",
        "body",
    ),
    ("bytes that do not decode", ENCODE_OPEN, Accepted(data=BAD_SUM), NO_CLAIMS, "fail:wrong-bytes", "sum"),
    ("bytes too many", ENCODE_OPEN, Accepted(data=GOOD + b"\0"), NO_CLAIMS, "fail:wrong-bytes", ""),
    (
        "open bytes",
        encode_case({"kind": "7", "body": "41"}, Accept()),
        Accepted(data=OPEN_BYTES),
        NO_CLAIMS,
        "info:toy-open",
        "",
    ),
    ("no bytes", ENCODE_OPEN, Accepted({}), NO_CLAIMS, "adapter-error", ""),
    ("a refusal to encode", ENCODE_OPEN, Refused("invalid-value"), NO_CLAIMS, "fail:wrong-reject", ""),
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
        NO_CLAIMS,
        "pass:canonical",
        "",
    ),
    (
        "frame missing",
        scan_case((GOOD, GOOD), TWO),
        Accepted({"items": [FRAME]}),
        NO_CLAIMS,
        "fail:wrong-value",
        "items.length",
    ),
    (
        "frame elsewhere",
        scan_case((GOOD, GOOD), TWO),
        Accepted({"items": [FRAME, FRAME]}),
        NO_CLAIMS,
        "fail:wrong-value",
        "items[1].at",
    ),
    (
        "class of garbage, coarse",
        scan_case((BAD_SUM,), [{"kind": "garbage", "at": 0, "length": 5, "class": "crc-mismatch"}]),
        Accepted({"items": [{"kind": "garbage", "at": 0, "length": 5}]}),
        NO_CLAIMS,
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
    ("nothing claimed, skipped", GOOD_CASE, Unsupported("no"), NO_CLAIMS, "unsupported", ""),
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
    ("crash", GOOD_CASE, Crashed("signal 11"), NO_CLAIMS, "crash", ""),
    ("timeout", GOOD_CASE, TimedOut(2000), NO_CLAIMS, "timeout", ""),
    ("memory", GOOD_CASE, Exhausted("memory"), NO_CLAIMS, "resource:memory", ""),
    ("stalled", GOOD_CASE, Stalled(), NO_CLAIMS, "stalled", ""),
    ("contract broken", GOOD_CASE, Faulty("noise"), NO_CLAIMS, "adapter-error", ""),
    ("not asked", GOOD_CASE, NotRun("6 timeouts", "spent"), NO_CLAIMS, "not-run:spent", ""),
    # --- the suite itself ---
    (
        "fixture wrong",
        decode_case(GOOD, Accept(got(kind="2"), 5)),
        Accepted(GOOD_VALUE, 5),
        NO_CLAIMS,
        "suite-bug",
        "kind",
    ),
    (
        "fixture wrong about a refusal",
        decode_case(GOOD, Reject("crc-mismatch")),
        Accepted(GOOD_VALUE),
        NO_CLAIMS,
        "suite-bug",
        "",
    ),
)
