"""A green run can be trusted: what was not judged or compared shows in the exit code and in each view."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import Command
from each import each
from folders import SUPPORT

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
