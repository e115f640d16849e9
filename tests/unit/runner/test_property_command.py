"""Examples of the property suite in commands: same events, replay lines, known failures, what is missing."""

import re
import shlex
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
from attrs import evolve
from command_line import Command
from goldens import load

from tests.mutants.registry import spec_of
from wireproof.formats import FORMATS
from wireproof.fuzz import property_run
from wireproof.install_hint import install_command
from wireproof.runner import baseline_writing
from wireproof.runner import property_suite as drawn
from wireproof.runner.engine import Engine
from wireproof.runner.event_files import EventStream, read_events
from wireproof.runner.events import run_event
from wireproof.runner.known_failures import parse_baseline
from wireproof.runner.property_suite import PropertySettings
from wireproof.runner.run import Selection, run

MUTANT = spec_of("mutant:iggy-identifier-unchecked")
IDENTIFIER = FORMATS["iggy.identifier/0.0.30"]
DAY = date(2026, 1, 1)


def test_the_same_seed_gives_the_same_events(wireproof: Command, tmp_path: Path) -> None:
    streams = []
    for name in ("one", "two"):
        out = tmp_path / name
        drawn.case_pool.cache_clear()
        done = wireproof(
            "check", MUTANT, "--in-process", "--property", 20, "--seed", 4,
            "--no-golden", "--run", "iggy.identifier/0.0.30/**", "--out", out,
        )  # fmt: skip
        assert done.code == 1
        streams.append([evolve(event, ns=0) for event in read_events(out)[0].cases])
    assert streams[0] == streams[1]
    assert len(streams[0]) == 40


def test_the_replay_line_fails_alike(wireproof: Command) -> None:
    done = wireproof(
        "check", MUTANT, "--in-process", "--property", 20, "--no-golden",
        "--run", "iggy.identifier/**",
    )  # fmt: skip
    line = re.search(r"replay  wireproof (replay .*)", done.out)
    assert line is not None
    assert wireproof(*shlex.split(line[1])).code == 1


def test_generated_values_avoid_known_failures() -> None:
    suite = load()
    cases = [case for case in suite.cases if case.format_id == IDENTIFIER.format_id]
    with Engine(MUTANT, in_process=True) as engine:
        head = run_event(engine.hello, spec=MUTANT, suite="", fixtures="")
        stream = EventStream(
            head, tuple(run(engine, Selection.of(engine.hello, cases, suite, families=False)))
        )
        text = baseline_writing.write(stream, "me", "a test", date(2999, 1, 1))
        known = property_run.known_signatures(engine.hello, stream, parse_baseline(text), DAY)
        rows = frozenset((IDENTIFIER.format_id,))
        before = list(property_run.run(engine, PropertySettings(40, 1, rows)))
        after = list(property_run.run(engine, PropertySettings(40, 1, rows, known)))
        expired = property_run.known_signatures(engine.hello, stream, parse_baseline(text), date(2999, 1, 2))
    hidden = [event for event in before if event.signature(head.adapter) in known]
    assert hidden
    assert not [event for event in after if event.signature(head.adapter) in known]
    assert len(before) == 80
    assert len(after) > 60
    assert any("with a known failure were replaced" in note for note in engine.notes)
    assert (len(after) < 80) == any("examples only" in note for note in engine.notes)
    assert not expired


def test_nothing_to_ask_is_an_error_of_one_line(wireproof: Command) -> None:
    done = wireproof("check", "reference", "--no-golden")
    assert done.code == 2
    assert "--property" in done.one_line()


def test_hypothesis_missing_is_an_error_of_one_line(
    wireproof: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn.case_pool.cache_clear()
    monkeypatch.setitem(sys.modules, "wireproof.cases.strategies.seeded_samples", None)
    done = wireproof("check", "reference", "--property", 3, "--no-golden", "--run", "iggy.identifier/**",
                     "--jobs", 1)  # fmt: skip
    assert done.code == 2
    assert install_command("property") in done.one_line()


@pytest.mark.sweeps
def test_the_plugin_has_an_item_for_each_format_and_op(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").touch()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-v",
         *(() if _installed() else ("-p", "wireproof.pytest_plugin")),
         "--codec", MUTANT, "--codec-run", "iggy.identifier/*/*/numeric*",
         "--codec-property", "30", "--codec-seed", "1"],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    assert "iggy.identifier/0.0.30/property/decode FAILED" in done.stdout
    assert "iggy.identifier/0.0.30/property/encode " in done.stdout
    assert re.search(rf"replay  wireproof replay wp1:\S+ {re.escape(shlex.quote(MUTANT))}", done.stdout)
    assert "Traceback" not in done.stdout


def _installed() -> bool:
    from importlib.metadata import entry_points  # noqa: PLC0415 - asked once

    return any(point.name == "wireproof" for point in entry_points(group="pytest11"))
