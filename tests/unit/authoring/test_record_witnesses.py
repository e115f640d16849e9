"""Witnesses are recorded once for each library, and none of them is the code of the package."""

import json
from pathlib import Path
from typing import Any

import pytest
from each import each

pytest.importorskip("lz4")
from tests.authoring import record_witnesses
from tests.authoring.shared_code import without_shared_code
from tests.authoring.witness_run import Agreement, agrees, departs, refusal
from wireproof.cases.case import Accept, Case, Data, Either, Expect, Op, Reject
from wireproof.cases.fixture_writer import page_text
from wireproof.runner.events import CaseEvent
from wireproof.runner.verdicts import VerdictName

REFUSED = Reject("truncated")


def names(*given: str, revision: str = "v2") -> list[str]:
    return [row["name"] for row in without_shared_code([{"name": name} for name in given], revision)]


def test_peers_that_share_code_are_one_witness() -> None:
    assert names("aiokafka-pure", "sarama", "aiokafka") == ["aiokafka", "sarama"]
    assert names("aiokafka-pure") == ["aiokafka-pure"]


def test_the_crate_of_the_revision_is_preferred() -> None:
    given = ("iggy-rust-0.10", "iggy-rust-0.8", "apache-iggy-0.8", "iggy-java")
    assert names(*given, revision="0.8") == ["iggy-rust-0.8", "iggy-java"]
    assert names(*given, revision="0.11") == ["iggy-rust-0.10", "iggy-java"]


@each("spec", ["reference", "columnar", "py:wireproof.adapters.reference:Reference", "exec:x"])
def test_an_adapter_that_may_be_the_package_itself_is_refused(spec: str) -> None:
    assert refusal(spec).startswith(f"{spec}: is no witness")


@each(
    "op, verdict, expected",
    [
        ("decode", "pass", True),
        ("decode", "pass-unclassified", True),
        ("decode", "info", False),
        ("encode", "info", True),
        ("encode", "fail", False),
        ("encode", "unsupported", False),
        ("decode", "lenient", False),
    ],
)
def test_a_verdict_is_an_agreement_if_it_says_that_the_case_was_done(
    op: Op, verdict: VerdictName, expected: bool
) -> None:
    case = Case("kafka.batch/v2/x/a", "kafka.batch", "v2", Data(b""), Accept(), op=op)
    event = CaseEvent(0, case.id, case.format, case.revision, op, "must", verdict)
    assert agrees(event, case) is expected


@each(
    "expect, verdict, expected",
    [
        (Accept(), "fail", True),
        (Accept(), "crash", True),
        (Accept(), "info", True),
        (Accept(), "pass", False),
        (Accept(), "unsupported", False),
        (Accept(), "not-run", False),
        (REFUSED, "lenient", True),
        (REFUSED, "undocumented", False),
        (REFUSED, "blocked", False),
        (Either(()), "info", False),
    ],
)
def test_a_library_departs_by_another_answer_and_not_by_none(
    expect: Expect, verdict: VerdictName, *, expected: bool
) -> None:
    case = Case("kafka.batch/v2/x/a", "kafka.batch", "v2", Data(b""), expect)
    event = CaseEvent(0, case.id, case.format, case.revision, "decode", "must", verdict)
    assert departs(event, case) is expected


def test_answers_are_a_line_for_each_case_and_keep_those_who_did_not_run(tmp_path: Path) -> None:
    path = tmp_path / "answers.toml"
    cases = [Case(f"kafka.batch/v2/x/{name}", "kafka.batch", "v2", Data(b""), Accept()) for name in "ab"]
    ids = [case.id for case in cases]
    found = [Agreement("sarama", "1", (ids[0],), (ids[1],)), Agreement("kio", "1", (ids[0],))]
    record_witnesses.record_answers(path, cases, ids, found)
    record_witnesses.record_answers(path, cases, ids[:1], [Agreement("kio", "2", (), (ids[0], ids[1]))])
    assert (
        path.read_text(encoding="utf-8").partition("[versions]\n")[2]
        == """\
"kio" = "2"
"sarama" = "1"

["kafka.batch/v2/x"]
"a" = { agree = ["sarama"], otherwise = ["kio"] }
"b" = { otherwise = ["sarama"] }
"""
    )


def test_those_who_ran_are_replaced_and_the_others_stay() -> None:
    old = [{"name": name, "version": "1"} for name in ("kio", "sarama", "iggy")]
    case: dict[str, Any] = {"id": "kafka.batch/v2/x/y", "source": {"origin": "hand", "witnesses": old}}
    record_witnesses.add(case, [Agreement("kio", "2", (case["id"],)), Agreement("sarama", "2", ())])
    assert case["source"]["witnesses"] == [{"name": "iggy", "version": "1"}, {"name": "kio", "version": "2"}]


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """Return a fixture file of two cases in canonical form."""
    rows = [{"id": f"kafka.batch/v2/x/{name}", "op": "decode", "source": {"origin": "hand"}} for name in "ab"]
    path = tmp_path / "x.json"
    path.write_text(page_text({"schema": 1, "cases": rows}), encoding="utf-8")
    return path


def witnesses_in(path: Path) -> dict[str, list[str]]:
    cases = json.loads(path.read_text(encoding="utf-8"))["cases"]
    return {case["id"][-1]: [one["name"] for one in case["source"].get("witnesses", [])] for case in cases}


def test_a_peer_that_disagrees_now_does_not_hide_one_of_its_group(page: Path) -> None:
    name, asked = "kafka.batch/v2/x/a", {"kafka.batch/v2/x/a"}
    record_witnesses.record_each([page], asked, iter([Agreement("aiokafka", "1", (name,))]))
    found = [Agreement("aiokafka-pure", "2", (name,)), Agreement("aiokafka", "2", ())]
    record_witnesses.record_each([page], asked, iter(found))
    assert witnesses_in(page)["a"] == ["aiokafka-pure"]
