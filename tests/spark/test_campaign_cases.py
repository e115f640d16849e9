"""A campaign: its cases, the same tables in however many blocks, and after it was cut off."""

import random
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from command_line import Command
from pyspark.sql import SparkSession
from spark_scans import table

from tests.mutants.registry import spec_of
from wireproof.adapters.contract import Claim, Hello
from wireproof.cases.case import Reject
from wireproof.cases.made_case import input_bytes
from wireproof.cases.outcome import Refused
from wireproof.cases.reference_answers import reference_expectation
from wireproof.cases.token import from_token
from wireproof.derive.seeded_examples import SeededCases
from wireproof.judge.judge import judge
from wireproof.judge.signature import signature
from wireproof.run.engine import Engine
from wireproof.spark import batches, campaign_job, job_state
from wireproof.spark.campaign_job import CampaignSettings, FolderCampaign, open_campaign
from wireproof.spark.errors import SourceError
from wireproof.spark.stored_tables import stored_rows

MUTANT = spec_of("mutant:crc-skip")

KAFKA = ("kafka.batch/v1", "kafka.batch/v2")
NUMBERED = SeededCases(KAFKA, ("decode", "encode"), 10)


def planned(out: Path, cases: int = 75, *adapters: str) -> FolderCampaign:
    return open_campaign(CampaignSettings(NUMBERED, adapters or (MUTANT,)), cases, out)


def tables(out: Path) -> dict[str, list[dict[str, Any]]]:
    return {name: table(out, name) for name in ("signatures", "samples", "matrix")}


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


# --- tables ---


@pytest.mark.spark
def test_blocks_of_any_size_give_the_same_tables_also_after_a_kill(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = planned(tmp_path / "whole").run(spark)
    assert sum(row["count"] for row in whole.signatures) == whole.cases == 75
    monkeypatch.setattr(campaign_job, "BLOCK", 15)
    cut = planned(tmp_path / "cut")
    blocks = [(len(one), one) for one in campaign_job.block_list(0, 30)]
    rows_of, folder = partial(campaign_job.cases_of, spark, cut.settings), cut.out / "cases" / "from=0"
    batches.run_batches(spark, blocks, 15, rows_of, cut.commit, folder)
    stale = folder / "batch=7"
    stale.mkdir()
    again = planned(tmp_path / "cut")
    assert (again.done, stale.exists()) == (30, False)
    assert again.run(spark).cases == 45
    assert tables(tmp_path / "cut") == tables(tmp_path / "whole")
    assert planned(tmp_path / "cut").run(spark).cases == 0, "nothing is left to do"
    next((tmp_path / "cut").glob("cases/*/batch=0/*.parquet")).unlink()
    with pytest.raises(SourceError, match="holds 60 of 75 cases"):
        planned(tmp_path / "cut").run(spark)


def test_what_an_adapter_was_asked_in_another_block_does_not_show() -> None:
    settings = CampaignSettings(NUMBERED, ("py:hanging_codecs:Tires",))
    ends = (range(0, 76, 75), range(0, 76, 15))
    one, five = (
        [
            row
            for start, end in pairwise(bounds)
            for row in campaign_job.case_rows(settings, range(start, end))
        ]
        for bounds in ends
    )
    assert any(answer["verdict"] == "fail:wrong-reject" for row in one for answer in row["verdicts"])
    assert one != five, "it tires within a block"
    again = [
        row for start, end in pairwise(ends[1]) for row in campaign_job.case_rows(settings, range(start, end))
    ]
    assert again == five


@pytest.mark.spark
def test_samples_replay_to_their_signature_and_are_the_smallest(spark: SparkSession, tmp_path: Path) -> None:
    out = tmp_path / "out"
    done = planned(out).run(spark)
    found = {row["finding"]: row for row in done.signatures}
    assert {row["verdict"] for row in done.samples} >= {"fail:wrong-accept"}
    with Engine(MUTANT) as engine:
        for row in done.samples:
            word = row["token"] if row["token"][0] != "@" else f"@{out / row['token'][1:]}"
            case = from_token(word)
            [ran] = engine.run([case])
            said = signature(MUTANT, ran.case, judge(ran.case, ran.outcome, hello=engine.hello))
            assert (said.kind, said.cls, said.path) == (row["verdict"], row["class"], row["field"])
            assert (input_bytes(case), len(row["raw"])) == (row["raw"], row["length"])
            assert found[row["finding"]]["first_case"] <= row["case_number"]
    cases = [row for folder in sorted(out.glob("cases/*/batch=*")) for row in stored_rows(folder)]
    for name in found:
        wanted = sorted(
            {
                (row["length"], row["question"])
                for row in cases
                if name and any(answer["finding"] == name for answer in row["verdicts"])
            }
        )[: campaign_job.SAMPLES]
        shown = [row for row in done.samples if row["finding"] == name]
        assert [row["length"] for row in shown] == [length for length, _ in wanted]


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
    settings = CampaignSettings(SeededCases(("kafka.batch/v2",), ("decode",), 3), ("py:mortal:Mortal",))
    rows = list(campaign_job.case_rows(settings, range(40)))
    deadly = [row["case_number"] for row in rows if row["length"] % 16 == 5]
    assert deadly
    assert [row["case_number"] for row in rows if row["verdicts"][0]["verdict"] == "crash"] == deadly
    names = {row["verdicts"][0]["verdict"].partition(":")[0] for row in rows}
    assert names <= {"crash", "pass", "info"}


def test_a_folder_of_another_campaign_is_said_in_one_line(tmp_path: Path) -> None:
    planned(tmp_path / "out")
    with pytest.raises(SourceError, match="holds a campaign with other cases: choose another folder"):
        planned(tmp_path / "out", 7)
    job_state.save_state((tmp_path / "out"), {"kind": "scan", "inputs": {}})
    with pytest.raises(SourceError, match="holds no campaign"):
        planned(tmp_path / "out")


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


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(("adapter", "code"), [(MUTANT, 1), ("reference", 0)])
def test_the_verb_prints_findings_and_what_was_counted(
    wireproof: Command, tmp_path: Path, adapter: str, code: int
) -> None:
    formats = [f"--format={format_id}" for format_id in KAFKA]
    words = ("fuzz", adapter, "--spark", "--cases", 60, "--seed", 10, *formats, "--dir", tmp_path / "out")
    said = wireproof(*words)
    assert said.code == code, said.err
    assert ("fail:wrong-accept" in said.out) == bool(code)
    assert f"{adapter}: " in said.out
    again = wireproof(*words)
    assert (again.code, "0 cases in" in again.out) == (code, True)


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
