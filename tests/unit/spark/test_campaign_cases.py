"""A campaign span by span, without Spark: the same tables in however many tasks, and after it was cut off."""

import hashlib
import random
import sys
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import Command
from hypothesis import strategies as st
from property_profile import given

from tests.mutants.registry import spec_of
from wireproof.adapters.contract import Claim, Hello
from wireproof.cases.case import Reject
from wireproof.cases.outcome import Refused
from wireproof.cases.reference_answers import reference_expectation
from wireproof.cases.seeded_examples import SeededCases
from wireproof.cases.token import from_token
from wireproof.install_hint import install_command
from wireproof.runner.engine import Engine
from wireproof.runner.judge import judge
from wireproof.runner.signature import Signature, signature
from wireproof.spark import campaign_job, jobs
from wireproof.spark.campaign_job import CampaignPlan, SampleKey, SignatureGroups, load_groups
from wireproof.spark.errors import SourceError

MUTANT = spec_of("mutant:crc-skip")

KAFKA = ("kafka.batch/v1", "kafka.batch/v2")
NUMBERED = SeededCases(KAFKA, ("decode", "encode"), 10)


def planned(out: Path, cases: int = 75, adapters: tuple[str, ...] = (MUTANT,)) -> CampaignPlan:
    return campaign_job.plan_campaign(NUMBERED, adapters, cases, out, grain=15)


def done_in(plan: CampaignPlan, tasks: int) -> CampaignPlan:
    """Do what is left in so many tasks, as Spark would: Arrow batches of task numbers in, of spans out."""
    dealt = plan.tasks(tasks)
    reports = []
    for number in random.Random(tasks).sample(range(len(dealt)), len(dealt)):
        batch = pa.RecordBatch.from_arrays([pa.array([number])], names=["id"])
        reports += list(jobs.run_tasks(plan.run_span, dealt, [batch]))
    spans = sorted(span for report in reports for span in report.column(0).to_pylist())
    assert spans == sorted(span for task in dealt for span in task)
    campaign_job.merge_campaign(plan)
    return plan


def digests(plan: CampaignPlan) -> dict[str, str]:
    files = [path for path in plan.out.rglob("*") if path.is_file()]
    return {str(path.relative_to(plan.out)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def table(plan: CampaignPlan, name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = pq.read_table(plan.out / f"{name}.parquet").to_pylist()
    return rows


# --- cases by number ---


def test_a_case_is_a_function_of_seed_and_number_alone() -> None:
    numbers = list(range(200))
    forward = {number: NUMBERED.case(number) for number in numbers}
    random.Random(1).shuffle(numbers)
    assert all(
        SeededCases(KAFKA, ("decode", "encode"), 10).case(number) == forward[number] for number in numbers
    )
    other = SeededCases(KAFKA, ("decode", "encode"), 8)
    assert sum(other.case(number).input == case.input for number, case in forward.items()) < 20


def test_some_hundred_cases_are_of_every_format_and_op_accepted_and_refused() -> None:
    cases = [NUMBERED.case(number) for number in range(1600)]
    assert {case.format_id for case in cases} == {*KAFKA, "kafka.log/mixed"}, "two entries joined are a log"
    assert {case.op for case in cases} == {"decode", "encode"}
    assert {type(case.expect).__name__ for case in cases} == {"Accept", "Reject"}
    assert len({repr(case.input) for case in cases}) > 400
    for case in cases:
        answer = reference_expectation(case)
        assert type(case.expect) is type(answer)
        assert getattr(case.expect, "cls", "") == getattr(answer, "cls", "")


def test_a_refusal_agrees_with_any_refusal() -> None:
    """These cases are generated: a different class is in the signature, and is no failure."""
    refused = [case for case in map(NUMBERED.case, range(100)) if isinstance(case.expect, Reject)]
    case = next(one for one in refused if "bad-varint" not in repr(one.expect))
    hello = Hello("h", "1", errors="exact")
    assert judge(case, Refused("bad-varint"), hello=hello).label == "pass:semantic"


# --- groups ---

SHOWN = st.builds(SampleKey, st.integers(0, 3), st.sampled_from("abc"), st.integers(0, 40))
SIGNATURES = st.sampled_from([Signature("a", "f", "decode", kind, "", "") for kind in "xyz"])


def of(rows: list[tuple[Signature, SampleKey]], most: int = 2) -> SignatureGroups:
    found = SignatureGroups(most)
    for said, shown in rows:
        found.add(said, shown, sample=True)
    return found


def joined(one: SignatureGroups, two: SignatureGroups) -> SignatureGroups:
    both = load_groups(one.dump(), one.most)
    both.merge(two)
    return both


@given(st.lists(st.lists(st.tuples(SIGNATURES, SHOWN), max_size=8), max_size=5), st.randoms())
def test_to_merge_is_associative_and_commutative(
    parts: list[list[tuple[Signature, SampleKey]]], rng: random.Random
) -> None:
    whole = of([row for part in parts for row in part])
    groups = [of(part) for part in parts]
    assert reduce(joined, groups, of([])).dump() == whole.dump()
    rng.shuffle(groups)
    right = of([])
    for group in groups:
        right = joined(group, right)
    assert right.dump() == whole.dump()


def test_a_group_keeps_count_first_and_the_smallest_each_question_once() -> None:
    said = Signature("a", "f", "decode", "x", "", "")
    shown = [
        SampleKey(9, "q", 0),
        SampleKey(5, "b", 7),
        SampleKey(5, "a", 9),
        SampleKey(5, "b", 4),
        SampleKey(6, "c", 1),
    ]
    [row] = of([(said, one) for one in shown], most=3).dump()
    assert row[6:] == [5, 0, [[5, "a", 9], [5, "b", 4], [6, "c", 1]]]


# --- tables ---


@pytest.mark.campaigns
def test_one_two_and_five_tasks_give_the_same_bytes(tmp_path: Path) -> None:
    one, two, five = (done_in(planned(tmp_path / str(tasks)), tasks) for tasks in (1, 2, 5))
    assert digests(one) == digests(two) == digests(five)
    assert sum(row["count"] for row in table(one, "signatures")) == 75
    assert len(list((one.out / "spans").iterdir())) == 5


@pytest.mark.campaigns
def test_what_an_adapter_was_asked_in_another_span_does_not_show(tmp_path: Path) -> None:
    one, five = (
        done_in(planned(tmp_path / str(n), adapters=("py:hanging_codecs:Tires",)), n) for n in (1, 5)
    )
    assert any(row["kind"] == "fail:wrong-reject" for row in table(one, "signatures"))
    assert digests(one) == digests(five)


@pytest.mark.campaigns
def test_samples_replay_to_their_signature(tmp_path: Path) -> None:
    plan = done_in(planned(tmp_path / "out"), 1)
    found = {row["finding"]: row for row in table(plan, "signatures")}
    samples = table(plan, "samples")
    assert {row["kind"] for row in samples} >= {"fail:wrong-accept"}
    with Engine(MUTANT) as engine:
        for row in samples:
            word = row["token"] if row["token"][0] != "@" else f"@{plan.out / row['token'][1:]}"
            case = from_token(word)
            [ran] = engine.run([case])
            said = signature(MUTANT, ran.case, judge(ran.case, ran.outcome, hello=engine.hello))
            assert (said.kind, said.cls, said.path) == (row["kind"], row["class"], row["path"])
            assert (campaign_job.input_bytes(case), len(row["raw"])) == (row["raw"], row["length"])
            assert found[row["finding"]]["first_case"] <= row["case_number"]


@pytest.mark.campaigns
def test_a_campaign_that_was_cut_off_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    wanted = digests(done_in(planned(tmp_path / "whole", 45), 1))
    cut = planned(tmp_path / "cut", 45)
    cut.run_span(1)
    (cut.out / "spans" / ".000002.json.77").write_text("half of a fi", encoding="utf-8")
    assert jobs.remaining_spans(cut) == [0, 2]
    assert digests(done_in(planned(cut.out, 45), 2)) == wanted, "and what was half written is gone"


def test_an_adapter_that_dies_costs_its_cases_a_verdict_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mortal.py").write_text(
        "import os\n"
        "from wireproof.adapters.reference import Reference\n"
        "class Mortal:\n"
        "    name, version = 'mortal', '1'\n"
        "    revisions = {'kafka.batch/v2': {'ops': ['decode'], 'profiles': ['reader', 'produce']}}\n"
        "    def decode(self, request):\n"
        "        if len(request.data) % 16 == 5: os.kill(os.getpid(), 11)\n"
        "        return Reference().decode(request)\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    plan = campaign_job.plan_campaign(
        SeededCases(("kafka.batch/v2",), ("decode",), 3), ["py:mortal:Mortal"], 40, tmp_path / "out"
    )
    done_in(plan, 1)
    deadly = sum(len(campaign_job.input_bytes(plan.numbered.case(number))) % 16 == 5 for number in range(40))
    rows = table(plan, "signatures")
    assert deadly
    assert sum(row["count"] for row in rows if row["kind"] == "crash") == deadly
    assert {row["kind"].partition(":")[0] for row in rows} <= {"crash", "pass", "info"}


def test_the_tasks_hold_every_span_once(tmp_path: Path) -> None:
    plan = planned(tmp_path / "out", 750)
    for count in (1, 7, 400):
        assert sorted(span for task in plan.tasks(count) for span in task) == list(range(50))
    assert len(plan.tasks(7)) == 7
    assert sum(plan.weights.values()) == 750


def test_a_folder_of_another_campaign_is_said_in_one_line(tmp_path: Path) -> None:
    planned(tmp_path / "out")
    with pytest.raises(SourceError, match="holds a campaign with other cases: choose another folder"):
        planned(tmp_path / "out", 7)
    (tmp_path / "scan").mkdir()
    (tmp_path / "scan" / "plan.json").write_text('{"asked": {"source": "x"}}', encoding="utf-8")
    with pytest.raises(SourceError, match="holds no campaign"):
        planned(tmp_path / "scan")


def test_what_is_asked_is_what_the_adapters_claim() -> None:
    log = Hello("l", "1", {"kafka.log/mixed": Claim(("decode",))})
    writer = Hello("w", "1", {"heka.message/0.10": Claim(("encode",))})
    every = ("heka.message/0.10", "kafka.log/mixed", "kafka.batch/v2", "iggy.headers/0.0.30")
    assert campaign_job.claimed_formats([log], every) == ("kafka.batch/v2", "kafka.log/mixed")
    assert campaign_job.claimed_ops([log, writer]) == ("decode", "encode")
    assert campaign_job.claimed_ops([log, Hello("x", "1")]) == ("decode", "encode", "scan")
    with pytest.raises(SourceError, match="no adapter claims any of these formats"):
        campaign_job.claimed_formats([writer], ("iggy.headers/0.0.30",))


# --- the verb ---


@pytest.mark.campaigns
def test_a_campaign_that_is_done_is_shown_again_without_spark(wireproof: Command, tmp_path: Path) -> None:
    formats = [f"--format={format_id}" for format_id in KAFKA]
    for adapter, code in ((MUTANT, 1), ("reference", 0)):
        out = tmp_path / adapter[:3]
        plan = campaign_job.plan_campaign(
            SeededCases(KAFKA, ("decode", "encode", "scan"), 10), [adapter], 60, out
        )
        done_in(plan, 1)
        said = wireproof("fuzz", adapter, "--spark", "--cases", 60, "--seed", 10, *formats, "--dir", out)
        assert said.code == code, said.err
        assert ("fail:wrong-accept" in said.out) == bool(code)
        assert f"{adapter}: " in said.out


def test_without_its_extra_the_verb_says_what_to_install(
    wireproof: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "wireproof.spark.session", None)
    monkeypatch.delattr("wireproof.spark.session", raising=False)
    done = wireproof("fuzz", "reference", "--spark", "--dir", "y")
    assert done.code == 2
    assert install_command("spark") in done.one_line()


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("aiokafak", "--spark"), "unknown adapter aiokafak: did you mean aiokafka?"),
        (("reference", "--spark", "--format", "kafak"), "no format is called kafak"),
        (("reference", "--spark", "--minutes", "1"), "--minutes is an option of fuzzing without --spark"),
        (("reference", "--cases", "1"), "--cases is an option of fuzzing with --spark"),
        (("reference", "kio"), "name one ADAPTER"),
    ],
)
def test_a_mistake_is_one_line(wireproof: Command, tmp_path: Path, words: tuple[str, ...], text: str) -> None:
    done = wireproof("fuzz", *words, "--dir", tmp_path / "out")
    assert (done.code, done.out) == (2, "")
    assert text in done.one_line()
