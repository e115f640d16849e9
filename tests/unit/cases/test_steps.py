"""Cases with steps: what a file may say, what is expected, sent and printed, and who is asked."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from wireproof.adapters.contract import Claim, Hello
from wireproof.adapters.contract_json import request_of, request_packet
from wireproof.adapters.requests import prepare_case, request_for
from wireproof.cases import fixtures
from wireproof.cases.case import Accept, Case, Either, Steps
from wireproof.cases.case_json import FixtureError
from wireproof.cases.case_json import read as read_file
from wireproof.cases.fixture_writer import case_json, input_digest
from wireproof.cases.fixtures import Suite
from wireproof.cases.outcome import Accepted, Refused, Unsupported
from wireproof.cases.steps import fewer_steps, is_refused, with_steps
from wireproof.cases.token import from_token, to_token
from wireproof.judge.judge import judge
from wireproof.judge.verdicts import Verdict
from wireproof.lint.cases import check_steps
from wireproof.report.case_view import step_lines

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


def test_the_answers_of_the_steps_are_one_value(tmp_path: Path) -> None:
    case = read(tmp_path, CREATED, REFUSED)
    assert case.expect == Accept({"steps": [{"baseOffset": "0"}, {"error": "OUT_OF_ORDER_SEQUENCE_NUMBER"}]})


def test_an_open_step_makes_a_behaviour_of_each_answer(tmp_path: Path) -> None:
    case = read(tmp_path, CREATED, OPEN)
    assert isinstance(case.expect, Either)
    assert [one.id for one in case.expect.behaviours] == ["new", "old"]


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
    assert isinstance(case.input, Steps)
    shorter = [with_steps(case, steps) for steps in fewer_steps(case.input.steps)]
    assert [len(one.input.steps) for one in shorter if isinstance(one.input, Steps)] == [2, 2, 2]
    assert shorter[0].expect == Accept(
        {"steps": [{"baseOffset": "0"}, {"error": "OUT_OF_ORDER_SEQUENCE_NUMBER"}]}
    )
