"""Generated cases in a run: who is asked, in which form, what is compared, and what the report says."""

import json
from pathlib import Path

from attrs import evolve
from command_line import Command
from goldens import load

from wireproof.adapters.contract import Claim, Hello
from wireproof.adapters.requests import NO_DIGESTS, prepare_case
from wireproof.cases.case import Accept, Case
from wireproof.cases.made_case import made_case, made_input
from wireproof.cases.outcome import Accepted, Unsupported
from wireproof.judge.judge import judge, needs_value
from wireproof.run.engine import Engine
from wireproof.run.run import Selection, run

ONE = "kafka.batch/v2/size/zstd-value-65537"
LARGE = "kafka.batch/v2/size/zstd-value-40m"
LARGE_WRITTEN = "iggy.send/0.11/size-encode/payload-12m"
WRITTEN = "kafka.batch/v2/size-encode/none-value-65537"

SOMEBODY = Hello("somebody", "1")
DIGESTING = evolve(SOMEBODY, digests=True)
SHOWS_ALL = Hello("x", "1", {"kafka.batch/v2": Claim(observes=("*",))}, digests=True)


def case(name: str) -> Case:
    return load().by_id[name]


def value_of(one: Case) -> Accepted:
    made = made_case(one).expect
    assert isinstance(made, Accept)
    return Accepted(made.value, made.consumed)


def digest_of(one: Case) -> Accepted:
    assert isinstance(one.expect, Accept)
    return Accepted(consumed=one.expect.consumed, digest=one.expect.digest)


# --- who is asked ---


def test_a_large_value_is_for_adapters_that_answer_digests() -> None:
    assert prepare_case(case(LARGE), SOMEBODY) == Unsupported(NO_DIGESTS)
    assert prepare_case(case(LARGE), DIGESTING) == case(LARGE)
    assert prepare_case(case(ONE), SOMEBODY) == case(ONE)


def test_a_large_value_to_write_is_for_them_too() -> None:
    assert prepare_case(case(LARGE_WRITTEN), SOMEBODY) == Unsupported(NO_DIGESTS)
    assert prepare_case(case(LARGE_WRITTEN), DIGESTING) == case(LARGE_WRITTEN)
    assert prepare_case(case(WRITTEN), SOMEBODY) == case(WRITTEN)


# --- what is compared ---


def test_a_digest_and_a_value_are_both_right() -> None:
    for outcome in (digest_of(case(ONE)), value_of(case(ONE))):
        assert judge(case(ONE), outcome, hello=SHOWS_ALL).label == "pass:canonical"
        assert not needs_value(case(ONE), outcome, SHOWS_ALL)


def test_another_digest_or_another_value_is_wrong() -> None:
    right = value_of(case(ONE)).value
    assert isinstance(right, dict)
    for outcome in (
        evolve(digest_of(case(ONE)), digest="00" * 16),
        evolve(value_of(case(ONE)), value={**right, "baseOffset": "1"}),
    ):
        assert judge(case(ONE), outcome, hello=DIGESTING).label == "fail:wrong-value"


def test_what_is_written_is_read_back() -> None:
    right = made_case(evolve(case("kafka.batch/v2/size/none-value-65537"))).input
    data = right.data
    assert judge(case(WRITTEN), Accepted(data=data)).label == "pass:semantic"
    assert judge(case(WRITTEN), Accepted(data=data[:-1])).label == "fail:wrong-bytes"


# --- a run ---


def test_the_reference_is_right_in_a_process_of_its_own() -> None:
    chosen = (case(ONE), case(WRITTEN), case("iggy.poll/0.11/size/payload-65537"))
    with Engine("reference") as engine:
        events = list(run(engine, Selection(chosen, load().by_id)))
        assert engine.notes == []
    assert [event.verdict for event in events] == ["pass"] * 3


def test_a_note_counts_the_cases_that_were_not_asked() -> None:
    with Engine("reference", in_process=True) as engine:
        engine.hello = evolve(engine.hello, digests=False)
        events = list(run(engine, Selection((case(ONE), case(LARGE)), load().by_id)))
    assert [event.verdict for event in events] == ["pass", "unsupported"]
    assert engine.notes == [f"1 case of larger values was not asked: the adapter {NO_DIGESTS}"]


# --- verbs ---


def test_show_prints_the_recipe(wireproof: Command) -> None:
    out = wireproof("show", ONE).out
    assert '"kind": "kafka.batch/v2"' in out
    assert "made from this recipe" in out


def test_an_export_has_the_recipe_or_the_bytes(wireproof: Command, tmp_path: Path) -> None:
    for more, name in (((), "rules"), (("--generated",), "bytes")):
        wireproof("export", "--out", str(tmp_path / name), "--run", ONE, "--run", WRITTEN, *more)
    rows = {
        name: [
            json.loads(line) for line in (tmp_path / name / "cases.ndjson").read_text("utf-8").splitlines()
        ]
        for name in ("rules", "bytes")
    }
    assert ["generate" in row["input"] for row in rows["rules"]] == [True, True]
    assert not (tmp_path / "rules" / "raw").exists()
    file = next(row["file"] for row in rows["bytes"] if "file" in row)
    source = made_input(case(ONE))
    assert (tmp_path / "bytes" / file).read_bytes() == source.data
    assert ["hex" in row["input"] or "value" in row["input"] for row in rows["bytes"]] == [True, True]
