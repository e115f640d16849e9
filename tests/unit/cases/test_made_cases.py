"""Cases that are made or asked otherwise than written: with steps, generated, as a stream, as its prefix."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from each import each
from goldens import load

from wireproof.adapters.contract import Claim, Hello
from wireproof.adapters.contract_json import request_of, request_packet
from wireproof.adapters.requests import prepare_case, request_for
from wireproof.cases import fixtures
from wireproof.cases.case import (
    Accept,
    Behaviour,
    Case,
    Chunks,
    Data,
    Either,
    Expect,
    Generated,
    Input,
    Op,
    Reject,
    Steps,
    Value,
)
from wireproof.cases.case_json import FixtureError, case_from_json
from wireproof.cases.case_json import read as read_file
from wireproof.cases.fixture_writer import case_json, input_digest
from wireproof.cases.fixtures import Suite
from wireproof.cases.generated_bytes import Recipe
from wireproof.cases.made_case import GenerateError, made_case, made_input
from wireproof.cases.outcome import Accepted, Refused, Unsupported
from wireproof.cases.steps import fewer_steps, is_refused, with_steps
from wireproof.cases.stream_prefix import stream_frames
from wireproof.cases.token import from_token, to_token
from wireproof.cases.wrap_as_stream import wrap_case
from wireproof.derive.derived import derived_cases
from wireproof.derive.examples import capabilities_of_case
from wireproof.formats import FORMATS, Format
from wireproof.judge.judge import judge
from wireproof.judge.verdicts import Verdict
from wireproof.lint.cases import check_steps
from wireproof.report.case_view import step_lines
from wireproof.wire.json_values import Json, json_digest
from wireproof.wire.rejection import Remark
from wireproof.wire.trace import Cover, FieldSpan

CREATED = {"op": "produce", "hex": "00ff", "expect": {"baseOffset": "0"}}
REFUSED = {"op": "produce", "hex": "00fe", "expect": {"error": "OUT_OF_ORDER_SEQUENCE_NUMBER"}}
OPEN = {
    "op": "list-offset",
    "timestamp": "-1",
    "expect": {"either": {"new": {"offset": "1"}, "old": {"offset": "0"}}},
}

CLAIMS = {"kafka.log/mixed": Claim(("decode", "sequence"), profiles=("produce",))}


def page(*steps: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    case = {
        "id": "kafka.log/mixed/steps/one", "title": "t", "why": "w", "op": "sequence", "profile": "produce",
        "options": {"topic": {}}, "level": "must", "rules": ["r"], "steps": list(steps),
        "source": {"origin": "hand"}, **more,
    }  # fmt: skip
    return {"schema": 1, "format": "kafka.log", "revision": "mixed", "cases": [case]}


def read(folder: Path, *steps: Mapping[str, Any], **more: Any) -> Case:
    path = folder / "steps.json"
    path.write_text(json.dumps(page(*steps, **more)))
    (case,) = read_file(path)
    return case


def answered(*answers: Mapping[str, Any]) -> Accepted:
    return Accepted({"steps": [dict(answer) for answer in answers]})


@pytest.mark.parametrize(("steps", "more", "said"), [
    ([], {}, "1 to 64 steps"),
    ([CREATED], {"input": {"hex": "00"}, "expect": {"accept": {"value": None}}}, "neither input nor expect"),
    ([CREATED], {"op": "decode"}, "steps belong to the op sequence"),
    ([{"op": "produce", "hex": "00"}], {}, "step 1 must have an op, and expect with an answer"),
    ([CREATED, {**CREATED, "hex": "0"}], {}, "step 2: hex must be pairs"),
    ([OPEN] * 5, {}, "32 combinations of open answers, at most 16"),
])  # fmt: skip
def test_a_wrong_list_of_steps_is_one_line(
    steps: list[Any], more: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(FixtureError, match=said):
        read(tmp_path, *steps, **more)


def test_a_case_without_steps_must_have_input_and_expect(tmp_path: Path) -> None:
    path = tmp_path / "steps.json"
    bare = page(CREATED, op="decode")
    del bare["cases"][0]["steps"]
    path.write_text(json.dumps(bare))
    with pytest.raises(FixtureError, match="must have input and expect"):
        read_file(path)


def test_a_token_and_a_file_hold_the_same_case(tmp_path: Path) -> None:
    case = read(tmp_path, CREATED, OPEN)
    assert from_token(to_token(case)) == case
    assert case_json(case)["steps"] == [CREATED, OPEN]


def test_the_frozen_digest_is_that_of_the_requests_alone(tmp_path: Path) -> None:
    case = read(tmp_path, CREATED)
    other = read(tmp_path, {**CREATED, "expect": {"baseOffset": "1"}})
    changed = read(tmp_path, {**CREATED, "hex": "01"})
    assert input_digest(case.input) == input_digest(other.input) != input_digest(changed.input)


def test_the_request_has_the_steps_without_their_answers(tmp_path: Path) -> None:
    packet = request_packet(request_for(read(tmp_path, CREATED, OPEN), "1"))
    assert packet.head["steps"] == [
        {"op": "produce", "hex": "00ff"},
        {"op": "list-offset", "timestamp": "-1"},
    ]
    assert list(request_of(packet).steps) == packet.head["steps"]


@pytest.mark.parametrize(
    "claims", [{}, {"kafka.log/mixed": Claim()}, {"kafka.log/mixed": Claim(("decode",))}]
)
def test_an_adapter_that_does_not_name_the_op_is_not_asked(
    claims: Mapping[str, Claim], tmp_path: Path
) -> None:
    assert isinstance(prepare_case(read(tmp_path, CREATED), Hello("h", "1", claims)), Unsupported)


@pytest.mark.parametrize(("given", "verdict", "path"), [
    (answered({"baseOffset": "0"}, {"offset": "1"}), "info", ""),
    (answered({"baseOffset": "1"}, {"offset": "1"}), "fail", "steps[0].baseOffset"),
    (answered({"baseOffset": "0"}, {"offset": "2"}), "fail", "steps[1].offset"),
    (answered({"baseOffset": "0"}), "fail", "steps.length"),
    (answered({"baseOffset": "0", "other": "1"}, {"offset": "1"}), "fail", "steps[0].other"),
    (Refused(text="closed"), "fail", ""),
])  # fmt: skip
def test_each_step_is_judged(given: Any, verdict: str, path: str, tmp_path: Path) -> None:
    found = judge(read(tmp_path, CREATED, OPEN), given, hello=Hello("h", "1", CLAIMS))
    assert (found.name, found.path) == (verdict, path)


def test_an_error_counts_only_if_the_twin_is_accepted(tmp_path: Path) -> None:
    case = read(tmp_path, CREATED, REFUSED, twin="kafka.log/mixed/steps/two")
    given = answered({"baseOffset": "0"}, {"error": "OUT_OF_ORDER_SEQUENCE_NUMBER"})
    hello = Hello("h", "1", CLAIMS)
    assert is_refused(case)
    assert judge(case, given, hello=hello, twin=Verdict("fail", "wrong-value")).name == "blocked"
    assert judge(case, given, hello=hello, twin=Verdict("pass", "canonical")).name == "pass"


@pytest.mark.parametrize(("step", "said"), [
    ({"op": "produse", "hex": "00", "expect": {"a": "1"}}, "the op produse is unknown; known are produce, "),
    ({**CREATED, "colour": "red"}, "produce has no colour"),
    ({"op": "list-offset", "expect": {"offset": "1"}}, "list-offset must have timestamp"),
    ({"op": "produce", "expect": {"baseOffset": "1"}}, "produce must have hex"),
    ({**OPEN, "hex": "00"}, "list-offset has no hex"),
])  # fmt: skip
def test_lint_knows_the_ops_and_fields_of_the_family(
    step: Mapping[str, Any], said: str, tmp_path: Path
) -> None:
    suite = Suite((read(tmp_path, step),), {}, {}, "")
    (problem,) = check_steps(suite)
    assert problem.text.startswith(f"step 1: {said}")


def test_show_prints_a_line_for_each_step(tmp_path: Path) -> None:
    batch = fixtures.load().by_id.get("kafka.log/mixed/idempotence/gap")
    assert batch is not None
    lines = list(step_lines(batch))
    assert lines[:4] == [
        "  1  produce [a] producer 1000 epoch 0 sequence 0",
        "     -> baseOffset=0",
        "  2  produce [c] producer 1000 epoch 0 sequence 2",
        "     -> error=OUT_OF_ORDER_SEQUENCE_NUMBER",
    ]
    assert lines[4:6] == [
        "  3  fetch offset=0",
        "     -> highWatermark=1 lastStableOffset=1 logStartOffset=0 aborted=[]",
    ]
    assert lines[6].split(": ")[0].strip() == "entries"
    assert lines[6].endswith(" baseSequence=0 kind=data records={0:61}")
    assert list(step_lines(read(tmp_path, OPEN))) == [
        "  1  list-offset timestamp=-1",
        "     -> new: offset=1",
        "     -> or old: offset=0",
    ]


def test_shrinking_drops_steps_with_their_answers(tmp_path: Path) -> None:
    case = read(tmp_path, CREATED, REFUSED, OPEN)
    shorter = [with_steps(case, steps) for steps in fewer_steps(case.input.steps)]
    assert [len(one.input.steps) for one in shorter if isinstance(one.input, Steps)] == [2, 2, 2]
    assert [one.id for one in case.expect.behaviours] == ["new", "old"]
    assert shorter[0].expect == Accept(
        {"steps": [{"baseOffset": "0"}, {"error": "OUT_OF_ORDER_SEQUENCE_NUMBER"}]}
    )


# --- generated cases ---


ONE = "kafka.batch/v2/size/zstd-value-65537"
WRITTEN = "kafka.batch/v2/size-encode/none-value-65537"


def case(name: str) -> Case:
    return load().by_id[name]


# --- recipes ---


@each("wrong", [{"records": 0}, {"records": 1 << 20}, {"value": 1 << 30}, {"block": -1}])
def test_a_recipe_has_limits(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"must be|together"):
        Recipe("kafka.batch/v2", **wrong)


@each(
    "change, said",
    [
        ({"input": {"generate": {"kind": "kafka.batch/v9"}, "size": 1, "sha256": "00"}}, "nothing generates"),
        (
            {"input": {"generate": {"kind": "kafka.batch/v1"}, "size": 1, "sha256": "00"}},
            "not kafka.batch/v2",
        ),
        ({"op": "encode"}, "an encode neither digest nor value"),
        ({"op": "scan"}, "a decode, or an accepted encode"),
        ({"op": "encode", "expect": {"reject": {"class": "other"}}}, "a decode, or an accepted encode"),
        ({"expect": {"accept": {"consumed": 1}}}, "expects a digest"),
    ],
)
def test_a_case_that_its_recipe_does_not_fit_is_not_read(change: dict[str, Json], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        case_from_json({**case_json(case(ONE)), **change}, "kafka.batch", "v2", None)


# --- made cases ---


def test_a_made_case_has_its_bytes_and_its_value_or_its_refusal() -> None:
    made = made_case(case(ONE))
    assert json_digest(made.expect.value) == case(ONE).expect.digest
    assert len(made.input.data) == made.expect.consumed == case(ONE).input.size
    refused = made_case(evolve(case(ONE), expect=Reject("limit-exceeded")))
    assert (refused.input, refused.expect) == (made.input, Reject("limit-exceeded"))
    assert isinstance(made_input(case(WRITTEN)), Value)


def test_other_bytes_than_stated_are_an_error() -> None:
    source = case(ONE).input
    assert isinstance(source, Generated)
    with pytest.raises(GenerateError, match="sha256"):
        made_input(evolve(case(ONE), input=evolve(source, sha256="0" * 64)))
    with pytest.raises(GenerateError, match="digest"):
        made_case(evolve(case(ONE), expect=Accept(digest="0" * 32)))


def test_in_a_stream_the_value_is_an_element() -> None:
    wrapped = wrap_case(case(ONE), FORMATS["kafka.batch/v2"])
    made = made_case(wrapped)
    assert wrapped.format_id == "kafka.log/mixed"
    assert isinstance(whole := made_case(case(ONE)).expect, Accept)
    assert made.expect.value == {"batches": [whole.value], "nextOffset": "1"}


# --- places that read an input ---


def test_the_digest_is_of_the_bytes_and_not_of_the_recipe() -> None:
    source = case(ONE).input
    assert isinstance(source, Generated)
    other = evolve(source, recipe=evolve(source.recipe, block=128 * 1024))
    assert input_digest(other) == input_digest(source)
    assert input_digest(evolve(source, sha256="00")) != input_digest(source)


def test_a_generated_case_has_no_derived_cases_and_states_its_own_needs() -> None:
    assert list(derived_cases(case(ONE))) == []
    assert capabilities_of_case(case(ONE)) == ()


# --- where the frames of a stream end, from the trace alone ---


def span(path: str, start: int, end: int, cover: Cover | None = None, space: str = "") -> FieldSpan:
    return FieldSpan(path, space, start, end, "bytes", None, cover)


SPANS = (
    span("rows[0].length", 0, 1, Cover("length", 1, 5)),
    span("rows[0].body", 1, 3),
    span("rows[1].length", 5, 6, Cover("length", 6, 9)),
    span("rows[1].sum", 6, 7, Cover("crc32", 0, 90)),
    span("rows[1].body", 0, 400, space="6>"),
)
STREAM = "heka.stream"
LOG = "kafka.log"
VALUE: Json = {"rows": [{"a": "1"}, {"a": "2"}]}
REMARKS = (Remark("odd", 2, "rows[0].body"), Remark("late", 7, "rows[1].body"), Remark("all", 0, "rows"))


@each(
    "stop, count, consumed, remarks",
    [(0, 0, 0, ()), (4, 0, 0, ()), (5, 1, 5, ("odd",)), (8, 1, 5, ("odd",)), (9, 2, 9, ("late", "odd"))],
)
def test_a_prefix_holds_the_frames_that_end_in_it_with_their_remarks(
    stop: int, count: int, consumed: int, remarks: tuple[str, ...]
) -> None:
    frames = stream_frames(STREAM, Accept(VALUE, 9), SPANS, REMARKS)
    rows: Any = VALUE
    assert frames.within(stop) == Accept({"rows": rows["rows"][:count]}, consumed, remarks)


@each(
    "value, consumed",
    [
        ({"rows": [{"a": "1"}]}, 9),  # more frames in the trace than in the value
        ({"rows": [{"a": "1"}] * 3}, 9),  # fewer
        (VALUE, 10),  # what was consumed is not where the last one ends
        ({"rows": [], "count": "0"}, 9),  # no single list
        ({"count": "0"}, 9),
        ([], 9),
        (None, 9),
    ],
)
def test_where_the_trace_does_not_show_all_ends_nothing_is_claimed(value: Json, consumed: int) -> None:
    assert stream_frames(STREAM, Accept(value, consumed), SPANS, ()) is None


def test_the_next_offset_of_a_log_is_that_of_its_last_entry_and_of_a_prefix_that_of_the_prefix() -> None:
    spans = tuple(evolve(one, path=one.path.replace("rows", "batches")) for one in SPANS)
    value: Json = {"batches": [{"nextOffset": "4"}, {"nextOffset": "9"}], "nextOffset": "9"}
    frames = stream_frames(LOG, Accept(value, 9), spans, ())
    assert frames.within(9).value == value
    assert frames.within(5).value == {"batches": [{"nextOffset": "4"}], "nextOffset": "4"}
    assert frames.within(4).value == {"batches": [], "nextOffset": None}


# --- cases of one entry asked of the stream ---


def _never(*_: object) -> None:
    raise AssertionError("lifting runs no codec")


ROW = Format("kafka.batch", "v2", object, _never, _never, wrapped_by=("kafka.log", "mixed", "batches"))
LEAF = Format("iggy.reply", "0.9", object, _never, _never)


def made(expect: Expect, given: Input = Data(b"0123456789"), op: Op = "decode") -> Case:  # noqa: B008 - frozen
    return Case("kafka.batch/v2/t/n", "kafka.batch", "v2", given, expect, op=op, twin="kafka.batch/v2/t/m")


BEFORE = {"magic": "1"}


def entries(*rows: Json) -> dict[str, Json]:
    return {"batches": [*rows], "nextOffset": None}


@each(
    "given, expected",
    [
        (Accept({"magic": "2"}, 10, ("remark",)), Accept(entries({"magic": "2"}), 10, ("remark",))),
        (Reject("truncated", at=3), Accept(entries(), 0)),
        (Reject("truncated", before=BEFORE), Accept(entries(BEFORE), 0)),
        (Reject("crc-mismatch", at=17), Reject("crc-mismatch", at=17)),
        (Reject("crc-mismatch", at=17, before=BEFORE), Reject("crc-mismatch", at=17, before=entries(BEFORE))),
        (  # a truncation that may bear another class leaves both answers
            Reject("truncated", ("length-past-end",)),
            Either(
                (Behaviour("tail", Accept(entries(), 0)), Behaviour("refused", Reject("length-past-end")))
            ),
        ),
        (
            Either(
                (
                    Behaviour("first", Accept({"magic": "2"}, 4)),
                    Behaviour("second", Reject("truncated", ("bad-length",))),
                )
            ),
            Either(
                (
                    Behaviour("first", Accept(entries({"magic": "2"}), 4)),
                    Behaviour("second-tail", Accept(entries(), 0)),
                    Behaviour("second-refused", Reject("bad-length")),
                )
            ),
        ),
    ],
)
def test_what_is_expected_of_an_entry_is_expected_in_a_list_of_entries(
    given: Expect, expected: Expect
) -> None:
    case = wrap_case(made(given), ROW)
    assert (case.id, case.twin) == ("kafka.batch/v2/t/n", "kafka.batch/v2/t/m")
    assert (case.format_id, case.expect) == ("kafka.log/mixed", expected)


def test_bytes_after_the_entry_are_cut_off() -> None:
    assert wrap_case(made(Accept({}, 7)), ROW).input == Data(b"0123456")
    assert wrap_case(made(Accept({})), ROW).input == Data(b"0123456789")


def test_a_case_that_cannot_be_wrapped_stays_unchanged() -> None:
    encode = made(Accept({}), Value({}), "encode")
    scan = made(Accept({}), Chunks((b"",)), "scan")
    decode = made(Accept({}))
    assert wrap_case(encode, ROW) is encode
    assert wrap_case(scan, ROW) is scan
    assert wrap_case(decode, LEAF) is decode


def test_an_entry_of_another_revision_is_a_stream_s_own() -> None:
    """In a stream the magic is each entry's own: what v0 refuses as v2 the stream reads."""
    case = load().by_id["kafka.batch/v0/magic/v2-for-v0"]
    lifted = wrap_case(case, FORMATS["kafka.batch/v0"])
    assert isinstance(case.expect, Reject)
    assert isinstance(lifted.expect, Accept)
    assert lifted.format_id == "kafka.log/mixed"


def test_an_entry_of_a_revision_that_a_reader_does_not_know_stays_foreign() -> None:
    case = load().by_id["kafka.batch/v2/magic/v0-for-v2"]
    row = FORMATS["kafka.batch/v2"]
    assert isinstance(wrap_case(case, row).expect, Accept)
    assert wrap_case(case, row, {"kafka.batch/v1"}).expect == wrap_case(case, row).expect
    assert wrap_case(case, row, {"kafka.batch/v0", "kafka.batch/v1"}).expect == case.expect
