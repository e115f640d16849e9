"""`pytest --codec-baseline`: known failures are strict xfails."""

from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve
from command_line import Command, PluginRun
from goldens import load

from tests.mutants.registry import spec_of

pytest_plugins = "pytester"
MUTANT = spec_of("mutant:crc-skip")
ONE = "kafka.batch/v2/crc/zero"
CASES = "kafka.batch/v2/crc/*"

Known = Callable[..., str]


@pytest.fixture
def known(tmp_path: Path) -> Known:
    """Write a baseline of one entry and return its path."""

    def written(
        name: str = ONE,
        kind: str = "fail:wrong-accept",
        cls: str = "crc-mismatch",
        expires: str = "2999-01-01",
    ) -> str:
        file = tmp_path / "known.toml"
        file.write_text(
            f'[[known-failure]]\nid = "{name}"\nkind = "{kind}"\nclass = "{cls}"\n'
            f'reason = "sums are optional"\nowner = "me"\nexpires = {expires}\n',
            encoding="utf-8",
        )
        return str(file)

    return written


def test_a_known_failure_is_an_xfail_with_its_reason(plugin_run: PluginRun, known: Known) -> None:
    done = plugin_run("--codec", MUTANT, "--codec-run", ONE, "--codec-baseline", known(), "-rx")
    assert done.ret == 0, str(done.stdout) + str(done.stderr)
    assert f"{ONE} - known.toml:2: sums are optional (owner me)" in str(done.stdout)
    assert "1 xfailed" in str(done.stdout)


def test_a_case_that_passes_fails_its_item_and_names_the_entry(plugin_run: PluginRun, known: Known) -> None:
    done = plugin_run("--codec", "reference", "--codec-run", CASES, "--codec-baseline", known())
    assert done.ret == 1
    assert "1 failed, 7 passed" in str(done.stdout)
    assert (
        f"[XPASS(strict)] known.toml:2: {ONE}: passes, although its entry says fail:wrong-accept; "
        "`wireproof baseline fix known.toml RUN` removes it" in str(done.stdout)
    )


def test_an_entry_for_several_cases_has_an_item_of_its_own(
    plugin_run: PluginRun, known: Known, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = load()
    few = tuple(case for case in suite.cases if case.id.startswith("kafka.batch/v2/batch/t"))
    monkeypatch.setattr("wireproof.pytest_run.load", lambda: evolve(suite, cases=few))
    file = known("kafka.batch/v2/batch/*~flip:*")
    words = ("--codec-families", "--codec-baseline", file)
    done = plugin_run("--codec", "reference", *words)
    assert done.ret == 1
    assert "baseline:known.toml FAILED" in str(done.stdout)
    assert "[XPASS(strict)] known.toml:2: kafka.batch/v2/batch/*~flip:*: passes" in str(done.stdout)
    part = plugin_run("--codec", "reference", *words, "--codec-run", "kafka.batch/v2/batch/two-records")
    assert "2 passed" in str(part.stdout)  # another case may fail
    failing = plugin_run("--codec", MUTANT, *words)
    assert "baseline:known.toml PASSED" in str(failing.stdout)


def test_items_fail_where_check_counts_a_failure(
    plugin_run: PluginRun, tmp_path: Path, wireproof: Command
) -> None:
    run, file = tmp_path / "run.jsonl", tmp_path / "known.toml"
    words = ("--no-families", "--run", CASES, "--out", str(run))
    assert wireproof("check", MUTANT, *words).code == 1
    assert wireproof("baseline", "add", str(file), str(run), "--owner", "me").code == 0
    assert wireproof("check", MUTANT, *words, "--baseline", str(file)).code == 0
    done = plugin_run("--codec", MUTANT, "--codec-run", CASES, "--codec-baseline", str(file))
    assert (done.ret, "6 xfailed" in str(done.stdout)) == (0, True), str(done.stdout)
    assert wireproof("check", "reference", *words, "--baseline", str(file)).code == 3
    done = plugin_run("--codec", "reference", "--codec-run", CASES, "--codec-baseline", str(file))
    assert "6 failed, 2 passed" in str(done.stdout)
