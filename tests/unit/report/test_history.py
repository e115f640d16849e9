"""`diff` of several versions: the first that failed a case, and the one that fixed it."""

from pathlib import Path

from attrs import evolve
from command_line import Command
from small_runs import FAIL, PASS, RUN, SKIP, stored, stream

from wireproof.report.diff import histories
from wireproof.run.events import CaseEvent, EventStream

MENDED = evolve(FAIL, verdict="pass", kind="canonical", cls="")


def run_of(version: str, *cases: CaseEvent, adapter: str = "some", started: str = "") -> EventStream:
    return stream(*cases, run=evolve(RUN, adapter=adapter, version=version, started=started))


def test_versions_go_by_their_numbers_and_a_candidate_before_its_release() -> None:
    names = ("3.0.12", "3.0.2", "2.10", "3.0.2rc1", "2.9.1")
    (one,) = histories([run_of(name, PASS) for name in names])
    assert one.versions == ("2.9.1", "2.10", "3.0.2rc1", "3.0.2", "3.0.12")


def test_the_first_version_that_fails_is_named_with_the_last_that_passed() -> None:
    (one,) = histories([run_of("3", FAIL), run_of("1", MENDED), run_of("2", FAIL), run_of("4", MENDED)])
    assert list(map(str, one.turns)) == [f"{FAIL.id}: fail:wrong-accept since 2, passed in 1, fixed in 4"]
    assert one.passed == {"1": (1, 1), "2": (0, 1), "3": (0, 1), "4": (1, 1)}


def test_a_case_that_breaks_twice_is_reported_twice_and_a_skipped_one_changes_nothing() -> None:
    skipped = evolve(SKIP, id=FAIL.id)
    runs = [run_of("1", FAIL), run_of("2", skipped), run_of("3", MENDED), run_of("4", FAIL)]
    (one,) = histories(runs)
    assert [(turn.first, turn.passed, turn.fixed_in) for turn in one.turns] == [
        ("1", "", "3"),
        ("4", "3", ""),
    ]
    assert one.passed["2"] == (0, 0)


def test_codecs_of_one_template_have_one_name_and_are_told_apart_by_their_command() -> None:
    mine = [
        evolve(one, run=evolve(one.run, spec=f"exec:{n}"))
        for n, one in enumerate([run_of("1", FAIL), run_of("1", MENDED)])
    ]
    assert [one.adapter for one in histories(mine)] == ["some (exec:0)", "some (exec:1)"]


def test_the_shards_of_a_version_are_one_run(wireproof: Command, tmp_path: Path) -> None:
    shards = [stream(case, run=evolve(RUN, shard=f"{n}/2")) for n, case in enumerate((PASS, FAIL), 1)]
    path = stored(tmp_path / "shards.jsonl", *shards, run_of("1.1", PASS))
    assert "some 1.2: 1 of 2 pass" in wireproof("diff", path).out


def test_each_implementation_has_a_history_of_its_own(wireproof: Command, tmp_path: Path) -> None:
    family = evolve(FAIL, id=f"{FAIL.id}~flip:1")
    runs = [run_of("1", MENDED), run_of("2", FAIL, family), run_of("1", PASS, adapter="other")]
    for number, one in enumerate(runs):
        stored(tmp_path / f"{number}.jsonl", one)
    done = wireproof("diff", *sorted(tmp_path.glob("*.jsonl")))
    assert done.code == 1, "some 2 fails what 1 passed"
    assert done.out.splitlines() == [
        "other 1: 1 of 1 pass",
        "some 1: 1 of 1 pass",
        "some 2: 0 of 2 pass",
        f"some: {FAIL.id}: fail:wrong-accept since 2, passed in 1",
        "some: and 1 of damaged families",
    ]
    alone = wireproof("diff", tmp_path / "1.jsonl")
    assert (alone.code, "nothing to compare" in alone.one_line()) == (2, True)
