"""A green run can be trusted: what was not judged or compared shows in the exit code and in each view."""

import json
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from baselines import written
from command_line import Command
from each import each
from faulty_runs import spec
from folders import SUPPORT
from small_runs import FAIL, PASS, RUN, SKIP, event, stream

from wireproof.cases.observable_fields import not_compared, unknown_part
from wireproof.formats import FORMATS
from wireproof.report.terminal import uncompared_lines
from wireproof.run.baselines.baseline import apply
from wireproof.run.baselines.known_failures import parse_baseline
from wireproof.run.conclusion import conclusion_sentence, exit_code
from wireproof.wire.observed_fields import field_tree, project

TODAY = date(2026, 11, 21)
CASES = ("--run", "kafka.batch/v2/batch/*", "--run", "kafka.batch/v2/crc/*")


@pytest.fixture
def check(wireproof: Command, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Judge an object of `claiming` by a few cases."""
    monkeypatch.syspath_prepend(str(SUPPORT))

    def run(name: str, *words: Any) -> Any:
        return wireproof("check", f"py:wrong_claims:{name}", *CASES, "--no-families", "--in-process", *words)

    return run


@each(
    "name, word, nearest",
    [
        ("revision", "kafka.batch/V2", "kafka.batch/v2"),
        ("codec", "zlib", "known names: none, gzip"),
        ("profile", "consumer", "known names: reader"),
        ("feature", "header", "headers"),
        ("observes", "records[].valeu", "value"),
        ("selector", "batches[magc=2].baseOffset", "magic"),
    ],
)
def test_a_typo_in_a_claim_is_an_error_that_names_the_nearest_name(
    check: Any, name: str, word: str, nearest: str
) -> None:
    done = check(name)
    assert done.code == 4
    assert word in done.err
    assert nearest in done.err
    assert len(done.err.splitlines()) == 1


def test_a_run_in_which_every_case_is_outside_the_claims_is_a_usage_error(check: Any) -> None:
    done = check("nothing")
    assert done.code == 2
    assert "no case was judged" in done.err
    assert "claims no profile reader" in done.err


def test_unjudged_cases_do_not_count_for_the_least_number(check: Any) -> None:
    enough = check("reader", "--min-cases", 10)
    assert enough.code == 0
    done = check("reader", "--min-cases", 1000)
    assert done.code == 2
    assert "cases were judged, fewer than the 1000 of --min-cases" in done.err


def test_every_view_lists_what_was_not_compared(check: Any, tmp_path: Path) -> None:
    names = ("junit", "markdown", "html")
    views = [word for name in names for word in (f"--{name}", tmp_path / name)]
    out = tmp_path / "run.jsonl"
    done = check("offsets", *views, "--out", out)
    assert done.code == 0
    assert "kafka.log/mixed: not compared, the adapter does not show them: batches[]." in done.out
    rows = [json.loads(text) for text in out.read_text().splitlines()]
    assert "batches[].records" in rows[0]["not_compared"]["kafka.log/mixed"]
    for name in names:
        assert "partitionLeaderEpoch" in (tmp_path / name).read_text()


def test_only_judged_formats_are_listed_as_not_compared() -> None:
    hidden = {"toy.frame/v1": ("sum",), "toy.frame/v2": ("sum",), "kafka.log/mixed": ("batches",)}
    run = evolve(RUN, not_compared=hidden)
    lines = list(uncompared_lines(stream(PASS, SKIP, run=run)))
    assert lines == ["toy.frame/v1: not compared, the adapter does not show them: sum"]
    skipped = event(0, "codec/lz4", "unsupported", revision="v2")
    assert list(uncompared_lines(stream(skipped, run=run))) == []
    of_stream = event(0, "basic/good", format="kafka.batch", revision="v2")
    assert [line.partition(":")[0] for line in uncompared_lines(stream(of_stream, run=run))] == [
        "kafka.log/mixed"
    ]


def test_the_case_that_killed_an_adapter_keeps_its_crash_and_the_run_is_no_verdict(
    wireproof: Command, tmp_path: Path
) -> None:
    spec = f"jsonl:{sys.executable} -S -E {SUPPORT / 'dying_adapter.py'} {tmp_path / 'starts'}"
    out = tmp_path / "run.jsonl"
    done = wireproof(
        "check", spec, "--run", "iggy.identifier/0.0.30/identifier/*", "--no-families", "--out", out
    )
    rows = [json.loads(text) for text in out.read_text().splitlines()]
    verdicts = [row["verdict"] for row in rows if row["event"] == "case"]
    assert done.code == 4
    assert verdicts.count("crash") == 1
    assert set(verdicts) == {"crash", "not-run"}
    assert "cases were not run" in done.out


# --- the end of a run ---


def test_a_baseline_that_a_run_wrote_makes_it_conform_and_says_so() -> None:
    family = [evolve(FAIL, id=f"{FAIL.id}~flip:{n}", seq=n) for n in range(2, 9)]
    other = [evolve(FAIL, id=f"toy.frame/v1/sum/other~flip:{n}", seq=n, kind="wrong-value") for n in (9, 10)]
    seen = stream(
        PASS, FAIL, *family, *other, evolve(other[0], kind="wrong-accept", seq=11, id=f"{other[0].id}1")
    )
    text = written(seen, "somebody", "not looked into", TODAY)
    applied = apply(seen, parse_baseline(text), TODAY)
    assert exit_code(seen, applied) == 0
    assert conclusion_sentence(seen, applied) == "conforms, but for 11 known failures"
    assert len(parse_baseline(text)) == 3, (
        "one of the golden case, and one for each way in which a family fails"
    )


# --- fields ---


def test_a_selector_is_about_one_kind_of_entry() -> None:
    tree = field_tree(("batches[magic=2].magic", "batches[].offset"))
    value = {"batches": [{"magic": "2", "offset": "1", "key": "x"}, {"magic": "0", "offset": "3"}]}
    assert project(value, tree) == {"batches": [{"magic": "2", "offset": "1"}, {"offset": "3"}]}


def test_the_fields_that_no_adapter_can_observe_are_none() -> None:
    for row in FORMATS.values():
        for pattern in not_compared(row, ("no-such-field",)):
            assert unknown_part(row, pattern) is None, f"{row.format_id} {pattern}"


def test_who_shows_everything_leaves_nothing_out() -> None:
    assert all(not_compared(row, ("*",)) == () for row in FORMATS.values())
    assert not_compared(FORMATS["heka.message/0.10"], ()) == ()


def test_an_answer_after_the_last_one_ends_a_check_with_exit_code_4_and_one_line(
    wireproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wireproof.adapters.process.controller.EXIT_SECONDS", 60.0)
    out = tmp_path / "run.jsonl"
    selection = ("--run", "iggy.identifier/0.0.30/identifier/string", "--no-families", "--out", str(out))
    done = wireproof("check", spec("answers-late"), *selection)
    assert done.code == 4
    (line,) = done.err.splitlines()
    assert "after the last request was answered: each request has one answer" in line
    assert wireproof("report", str(out)).code == 4
