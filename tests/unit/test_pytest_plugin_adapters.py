"""Adapters of `pytest --codec ADAPTER`: several, known failures, what is not claimed and what cannot run."""

from pathlib import Path

import pytest
from command_line import PluginRun
from machine import needs

from tests.mutants.registry import spec_of

pytest_plugins = "pytester"
MUTANT = spec_of("mutant:crc-skip")
ONE = "kafka.batch/v2/crc/zero"


@needs("[peers]")
def test_what_is_not_claimed_is_skipped_with_the_reason(plugin_run: PluginRun) -> None:
    both = ("--codec-run", "kafka.batch/v2/zstd/*", "--codec-run", "kafka.batch/v2/batch/*")
    done = plugin_run("--codec", "kio", *both, "-rs")
    assert "SKIPPED" in str(done.stdout)
    assert "PASSED" in str(done.stdout)
    assert "claims no codec:zstd" in str(done.stdout)


@needs("[peers]")
def test_a_run_that_judges_nothing_fails_each_item_with_the_reason(plugin_run: PluginRun) -> None:
    done = plugin_run("--codec", "kio", "--codec-run", "kafka.batch/v2/zstd/bomb-of-zeros")
    assert done.ret == 1
    assert "kio: no case was judged: 1 unsupported: claims no codec:zstd" in str(done.stdout)


def test_the_ids_distinguish_several_adapters(plugin_run: PluginRun) -> None:
    done = plugin_run("--codec", "reference", "--codec", MUTANT, "--codec-run", ONE)
    assert f"reference:{ONE} PASSED" in str(done.stdout)
    assert f"{MUTANT}:{ONE} FAILED" in str(done.stdout)


def test_known_failures_pass_by_their_baseline(plugin_run: PluginRun, tmp_path: Path) -> None:
    known_failures = tmp_path / "known.toml"
    known_failures.write_text(
        f'[[known-failure]]\nid = "{ONE}"\nkind = "fail:wrong-accept"\nclass = "crc-mismatch"\n'
        'reason = "a test"\nowner = "me"\nexpires = 2999-01-01\n',
        encoding="utf-8",
    )
    done = plugin_run("--codec", MUTANT, "--codec-run", ONE, "--codec-baseline", str(known_failures))
    assert "1 passed" in str(done.stdout), str(done.stdout) + str(done.stderr)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--codec", "nosuch"), "unknown adapter nosuch"),
        (("--codec", "reference", "--codec-run", "nosuch/**"), "no case matches nosuch/**"),
        pytest.param(
            ("--codec", "kio", "--codec-run", "iggy.poll/**"), "no case for kio", marks=needs("[peers]")
        ),
        (("--codec", "exec:/no/such/program"), "/no/such/program"),
        (("--codec", "reference", "--codec-baseline", "/no/such/file"), "/no/such/file"),
    ],
)
def test_nothing_to_run_is_a_usage_error_of_one_line(
    plugin_run: PluginRun, words: tuple[str, ...], said: str
) -> None:
    done = plugin_run(*words)
    assert done.ret == 4  # pytest's own code for usage
    (line,) = [line for line in done.errlines if "wireproof" in line]
    assert said in line
    assert "Traceback" not in str(done.stdout) + str(done.stderr)
    assert "INTERNALERROR" not in str(done.stdout)
