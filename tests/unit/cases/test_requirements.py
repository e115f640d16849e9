"""Requirement sets: what they list, and that a later version of the suite gives the same verdicts."""

import json
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import goldens
import pytest
from attrs import evolve
from each import each

from tests.authoring.requirements import with_lists
from tests.support.command_line import Command
from tests.support.small_runs import PASS, SKIP, stream
from wireproof.cases.case import Accept
from wireproof.cases.fixtures import Suite, fixtures_folder, load
from wireproof.cases.requirements import (
    SETS_FILE,
    Edition,
    RequirementError,
    editions,
    read_sets,
    required_cases,
)
from wireproof.report.junit import markdown
from wireproof.report.terminal import corrected_lines
from wireproof.run.conclusion import conclusion_sentence, exit_code
from wireproof.run.engine import Engine
from wireproof.run.events import Requirements
from wireproof.run.exit_codes import Exit
from wireproof.run.run import Selection, run

VERIFIER = "2026.12:heka-verifier"
SUITE = goldens.load()
FILE = fixtures_folder() / SETS_FILE
PAGES = editions((fixtures_folder(),))
ASKED = Requirements("2026.12:toy", "Toy (2026.12)", ("toy.frame/v1/basic/good",))


def test_an_unreleased_list_is_that_of_its_definitions() -> None:
    pages = read_sets(FILE).editions
    if any(page.released for page in pages):
        pytest.fail("a released list is pinned: compare its digest here, and no longer its definitions")
    text = FILE.read_text(encoding="utf-8")
    assert with_lists(text, pages, SUITE) == text, "run `python -m tests.authoring.requirements`"
    assert all(page.listed(one) for page in pages for one in page.sets)


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
def test_a_set_has_every_case_of_the_sets_that_it_includes(page: Edition) -> None:
    for one in page.sets:
        for name in one.includes:
            assert page.listed(page.named(name)).keys() < page.listed(one).keys()


def _verdicts(suite: Suite, name: str, adapter: str) -> dict[str, tuple[str, str]]:
    asked = required_cases(suite, name)
    with Engine(adapter, in_process=True) as engine:
        events = run(engine, Selection(asked.cases, suite.by_id, families=False))
        return {event.id: (event.level, event.label) for event in events}


CODECS = (
    "reference",
    "py:tests.mutants.heka.streams:HmacSkip",
    "py:tests.mutants.registry:MUTANTS[heka-uuid-any-length]",
)
BOOLS = "heka.message/0.10/bool.json"


def _on_disk(root: Path, change: Callable[[list[Any]], None]) -> Suite:
    """Write a version of the suite whose file `BOOLS` is another one, and load it."""
    package = fixtures_folder()
    for name in ("heka.stream", "sources.toml", SETS_FILE):
        (root / name).symlink_to(package / name)
    shutil.copytree(package / "heka.message", root / "heka.message")
    page = json.loads((root / BOOLS).read_text("utf-8"))
    change(page["cases"])
    (root / BOOLS).write_text(json.dumps(page), "utf-8")
    return load(own=root)


def _a_case_more_and_another_level(rows: list[Any]) -> None:
    rows[0]["level"] = "should"
    rows.append({**rows[1], "id": f"{rows[1]['id']}-again"})


@pytest.mark.parametrize("codec", CODECS)
def test_a_set_outlives_two_versions_of_the_suite(tmp_path: Path, codec: str) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    old = _on_disk(first, lambda _: None)
    new = _on_disk(second, _a_case_more_and_another_level)
    assert len(new.cases) == len(old.cases) + 1
    assert [new.by_id[name].level for name in sorted(old.by_id) if new.by_id[name] != old.by_id[name]] == [
        "should"
    ]
    verdicts = _verdicts(old, VERIFIER, codec)
    assert len(verdicts) == len(required_cases(SUITE, VERIFIER).cases)
    assert _verdicts(new, VERIFIER, codec) == verdicts
    failed = {
        name for name, (level, label) in verdicts.items() if level == "must" and label.startswith("fail")
    }
    assert bool(failed) is (codec != "reference")


def test_a_run_lists_what_was_corrected_since_the_set() -> None:
    asked = stream(PASS)
    against = evolve(asked, run=evolve(asked.run, requirements=ASKED))
    line = "corrected since 2026.12:toy, with the reason in case-changes.md: toy.frame/v1/basic/good"
    assert list(corrected_lines(against.run)) == [line]
    assert line.partition(":")[0] in markdown([against])
    assert list(corrected_lines(asked.run)) == []


def test_a_corrected_expectation_is_named() -> None:
    chosen = next(case for case in required_cases(SUITE, VERIFIER).cases if isinstance(case.expect, Accept))
    right = evolve(chosen, expect=evolve(chosen.expect, remarks=("corrected",)))
    cases = tuple(right if case.id == right.id else case for case in SUITE.cases)
    assert required_cases(evolve(SUITE, cases=cases), VERIFIER).corrected == (chosen.id,)


def test_a_case_that_is_gone_is_an_error() -> None:
    gone = required_cases(SUITE, VERIFIER).cases[0].id
    less = evolve(SUITE, cases=tuple(case for case in SUITE.cases if case.id != gone))
    with pytest.raises(RequirementError, match="this suite has no case heka"):
        required_cases(less, VERIFIER)


EDITION = '[[edition]]\ndate = "2026.12"\n'
SET = f'{EDITION}[[edition.set]]\nname = "a"\ntitle = "A"\ntext = "b"\ndefine = []\n'


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (SET.replace('"a"', "1"), "name"),
        (f'{SET}cases = {{ x = "must 12" }}\n', "12 hex"),
        (EDITION.replace("12", "december"), "2026.december: a date is a year and a month"),
        ("[[edition]\n", "sets.toml"),
        ("extra = 1\n", "extra"),
    ],
)
def test_a_damaged_file_is_one_line(tmp_path: Path, text: str, fault: str) -> None:
    path = tmp_path / SETS_FILE
    path.write_text(text)
    with pytest.raises(RequirementError, match=fault) as caught:
        read_sets(path)
    assert "\n" not in str(caught.value)


def test_a_required_case_that_is_not_supported_is_a_failure() -> None:
    asked = stream(PASS, SKIP)
    assert exit_code(asked) == Exit.CONFORMS
    against = evolve(asked, run=evolve(asked.run, requirements=ASKED))
    assert exit_code(against) == Exit.FAILS
    assert conclusion_sentence(against) == "does not meet Toy (2026.12): does not support 1 required case"
    assert exit_code(evolve(against, cases=(PASS, evolve(SKIP, level="should")))) == Exit.CONFORMS


def test_check_judges_a_set_and_names_it(wireproof: Command, tmp_path: Path) -> None:
    out = tmp_path / "run.jsonl"
    done = wireproof("check", "reference", "--in-process", "--run", f"@{VERIFIER}", "--out", str(out))
    assert done.code == 0
    assert "reference: meets Heka verifier (2026.12)" in done.out
    run_line, *cases, _ = [json.loads(line) for line in out.read_text().splitlines()]
    assert run_line["requirements"] == {"id": VERIFIER, "title": "Heka verifier (2026.12)"}
    (page,) = tomllib.loads(FILE.read_text(encoding="utf-8"))["edition"]
    listed = {name for one in page["set"] if one["name"].startswith("heka") for name in one["cases"]}
    assert {case["id"] for case in cases} == listed
    page = tmp_path / "run.md"
    assert wireproof("report", str(out), "--markdown", str(page)).code == 0
    assert "meets Heka verifier \\(2026.12\\)" in page.read_text(encoding="utf-8")


@each(
    "words, line",
    [
        (["--run", "@2026.12:heka-verifie"], "did you mean heka-verifier?"),
        (["--run", "@1999.01:heka-reader"], "the dates: 2026.12"),
        (["--run", f"@{VERIFIER}", "--run", "heka.**"], "runs the whole set alone"),
        (["--run", f"@{VERIFIER}", "--run", "@2026.12:heka-reader"], "runs the whole set alone"),
        (["--run", f"@{VERIFIER}", "--skip", "heka.**"], "runs the whole set alone"),
        (["--run", f"@{VERIFIER}", "--property", "3"], "runs the whole set alone"),
        (["--run", f"@{VERIFIER}", "--no-golden"], "runs the whole set alone"),
    ],
)
def test_a_wrong_word_is_one_line(wireproof: Command, words: list[str], line: str) -> None:
    done = wireproof("check", "reference", *words)
    assert done.code == Exit.USAGE
    assert line in done.err
    assert "Traceback" not in done.err


def test_the_verb_lists_sets_and_cases(wireproof: Command) -> None:
    assert "@2026.12:kafka-consumer-2  Kafka consumer 2 (2026.12): " in wireproof("cases", "@").out
    done = wireproof("cases", f"@{VERIFIER}")
    levels = {line.split()[0]: line.split()[1] for line in done.out.splitlines()}
    assert levels == {case.id: case.level for case in required_cases(load(), VERIFIER).cases}
    assert done.err == f"{len(levels)} cases\n"
    rows = json.loads(wireproof("cases", "@", "--format", "json").out)
    assert {row["id"] for row in rows} >= {VERIFIER, "2026.12:kafka-broker-3"}
