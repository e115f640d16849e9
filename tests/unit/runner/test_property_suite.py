"""The property suite: drawn by seed, judged as all cases are, shrunk, apart from known failures."""

import re
import shlex
import subprocess
import sys
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from command_line import Command
from folders import SUPPORT
from goldens import load

from tests.mutants.kill import killed_by_property
from tests.mutants.registry import spec_of
from wireproof import formats
from wireproof.adapters.contract import Claim, Hello
from wireproof.cases.case import Accept, Case, Data, Op, Value
from wireproof.cases.case_capabilities import capabilities_of
from wireproof.cases.token import from_token
from wireproof.formats import FORMATS
from wireproof.fuzz import property_run
from wireproof.install_hint import install_command
from wireproof.kafka.family.capabilities import CODEC_NAMES
from wireproof.runner import baseline, case_lookup
from wireproof.runner import property_suite as drawn
from wireproof.runner.engine import Engine
from wireproof.runner.event_files import EventStream, read_events
from wireproof.runner.events import run_event
from wireproof.runner.property_suite import PropertySettings, PropertyTarget, RedrawCounts, property_cases
from wireproof.runner.requests import prepare_case
from wireproof.runner.run import Selection, run
from wireproof.runner.verdicts import gates

MUTANT = spec_of("mutant:iggy-identifier-unchecked")

IDENTIFIER = FORMATS["iggy.identifier/0.0.30"]
DAY = date(2026, 1, 1)


def test_an_example_is_the_same_however_many_are_wanted() -> None:
    some = list(property_cases(IDENTIFIER, "decode", 12, 5))
    drawn.case_pool.cache_clear()
    more = list(property_cases(IDENTIFIER, "decode", 30, 5))
    assert more[:12] == some
    assert len({repr(case.input) for case in more}) == 30
    assert list(property_cases(IDENTIFIER, "decode", 12, 6)) != some


def test_an_id_draws_its_example_again() -> None:
    case = property_cases(IDENTIFIER, "encode", 9, 5)[8]
    assert case.id == "iggy.identifier/0.0.30/property/encode~s5:8"
    assert case_lookup.find_case(load(), case.id) == case
    assert case_lookup.find_case(load(), case.id.replace("encode", "scan")) is None


@pytest.mark.parametrize(
    ("name", "row", "op"),
    [
        ("crc-skip", "kafka.batch/v0", "decode"),
        ("null-key-as-empty", "kafka.batch/v2", "decode"),
        ("encode-null-as-empty", "kafka.batch/v2", "encode"),
        ("heka-timestamp-double", "heka.message/0.10", "decode"),
        ("iggy-log-checksum-skipped", "iggy.log/0.0.40", "scan"),
        ("iggy-identifier-unchecked", "iggy.identifier/0.0.30", "decode"),
    ],
)
def test_a_planted_fault_is_found_by_few_examples(name: str, row: str, op: str) -> None:
    with Engine(spec_of(f"mutant:{name}"), in_process=True) as engine:
        target = next(one for one in drawn.property_targets(engine.hello, [row]) if one.op == op)
        judged = list(drawn.run_target(engine, target, PropertySettings(100, 1), RedrawCounts()))
    assert any(gates(one.verdict.name, "must") for one in judged)


@pytest.mark.parametrize("row", ["kafka.batch/v1", "kafka.log/mixed", "iggy.poll/0.0.60", "heka.stream/0.10"])
def test_the_reference_fails_no_example(row: str) -> None:
    with Engine("reference", in_process=True) as engine:
        events = list(property_run.run(engine, PropertySettings(8, 2, frozenset((row,)))))
    assert len(events) == 8 * (2 if FORMATS[row].scan is None else 3)
    assert {event.verdict for event in events} <= {"pass", "info"}


def test_a_kill_names_the_example_that_it_takes() -> None:
    killed = killed_by_property("mutant:reject-everything", 5)
    assert "/property/" in killed.by
    assert killed.label == "fail:wrong-reject"


def test_a_signature_is_shown_once_and_small_with_a_token_that_fails_alike() -> None:
    with Engine(MUTANT, in_process=True) as engine:
        ask = PropertySettings(60, 1, frozenset((IDENTIFIER.format_id,)))
        loud = [event for event in property_run.run(engine, ask) if event.verdict == "fail"]
        small = [event for event in loud if event.token]
        assert len({event.signature("") for event in small}) == len(small)
        assert {event.signature("") for event in loud} == {event.signature("") for event in small}
        plan = Selection(tuple(from_token(event.token) for event in small), {}, families=False)
        again = list(run(engine, plan))
    assert [event.signature("") for event in again] == [event.signature("") for event in small]
    whole = case_lookup.find_case(load(), small[0].id)
    case = from_token(small[0].token)
    assert whole is not None
    assert isinstance(case.input, Data)
    assert isinstance(whole.input, Data)
    assert len(case.input.data) <= len(whole.input.data)


def test_a_crash_is_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SUPPORT))
    monkeypatch.setattr(property_run, "MAX_CANDIDATES_ALONE", 5)
    row = FORMATS["kafka.batch/v2"]
    with Engine("py:hanging_codecs:Dies") as engine:
        events = list(
            property_run.target_events(
                engine, PropertyTarget(row, "decode"), PropertySettings(8, 1), RedrawCounts()
            )
        )
    (small,) = [event for event in events if event.verdict == "crash" and event.token]
    case = from_token(small.token)
    assert isinstance(case.input, Data)
    assert b"\x7f" in case.input.data


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
        text = baseline.write(stream, "me", "a test", date(2999, 1, 1))
        known = property_run.known_signatures(engine.hello, stream, baseline.parse(text), DAY)
        rows = frozenset((IDENTIFIER.format_id,))
        before = list(property_run.run(engine, PropertySettings(40, 1, rows)))
        after = list(property_run.run(engine, PropertySettings(40, 1, rows, known)))
        expired = property_run.known_signatures(engine.hello, stream, baseline.parse(text), date(2999, 1, 2))
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


def test_the_codec_in_the_attribute_bits_of_a_value_is_a_claim_too() -> None:
    """An empty batch names a codec with which nothing is packed."""
    row = FORMATS["kafka.batch/v2"]
    cases = [case for case in drawn.property_cases(row, "encode", 200, 3) if isinstance(case.input, Value)]
    named = [(case, int(_attributes(case)) & 7) for case in cases if _attributes(case)]
    assert {number for _, number in named} > {0, 1, 2}
    for case, number in named:
        if number in CODEC_NAMES:
            assert f"codec:{CODEC_NAMES[number]}" in case.needs


@pytest.mark.parametrize("name", ["iggy.json.send/0.8", "iggy.send/0.9"])
def test_an_edited_value_needs_what_its_own_bytes_need(name: str) -> None:
    """A codec without headers is not asked to encode a value that an edit gave headers."""
    row = FORMATS[name]
    accepted = [case for case in property_cases(row, "encode", 60, 1) if isinstance(case.expect, Accept)]
    assert accepted
    for case in accepted:
        assert isinstance(case.input, Value)
        encoded = formats.encode(row, case.input.value, case.options)
        assert {*capabilities_of(row, encoded, case.options)} <= {*case.needs}


@pytest.mark.parametrize("op", ["decode", "encode"])
def test_a_codec_is_asked_only_for_the_compression_that_it_claims(op: Op) -> None:
    claim = Claim(("decode", "encode"), ("none", "gzip"))
    hello = Hello("few", "1", {"kafka.batch/v2": claim})
    cases = property_cases(FORMATS["kafka.batch/v2"], op, 200, 3)
    asked = [ready for case in cases if isinstance(ready := prepare_case(case, hello), Case)]
    assert asked
    needed = {need for case in asked for need in case.needs if need.startswith("codec:")}
    assert needed <= {"codec:none", "codec:gzip"}
    numbers = {int(_attributes(case)) & 7 for case in asked if op == "encode" and _attributes(case)}
    assert not numbers & CODEC_NAMES.keys() - {1}


def _attributes(case: Case) -> str:
    assert isinstance(case.input, Value)
    value: Any = case.input.value
    return str(value.get("attributes", "")) if str(value.get("attributes", "")).isdecimal() else ""
