"""The property suite: drawn by seed, judged as all cases are, shrunk, apart from known failures."""

import re
import shlex
import sys
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from baselines import written
from command_line import Command
from each import each
from folders import SUPPORT
from goldens import load

from tests.mutants.registry import spec_of
from wireproof import formats
from wireproof.cases.case import Accept, Case, Value
from wireproof.cases.token import from_token
from wireproof.derive.examples import capabilities_of
from wireproof.derive.seeded_examples import property_examples, sample_drawer
from wireproof.formats import FORMATS
from wireproof.fuzz import property_run
from wireproof.fuzz import property_run as drawn
from wireproof.fuzz.property_run import (
    DEFAULT_EXAMPLES,
    PropertySettings,
    PropertyTarget,
    RedrawCounts,
    release_seed,
)
from wireproof.install_hint import install_command
from wireproof.judge.verdicts import gates
from wireproof.kafka.batch import CODECS
from wireproof.run import case_lookup
from wireproof.run.baselines.known_failures import parse_baseline
from wireproof.run.engine import Engine
from wireproof.run.events import EventStream, Examples, footer_of, read_events, run_event
from wireproof.run.run import Selection, run

IDENTIFIER = FORMATS["iggy.identifier/0.0.30"]


def test_an_id_draws_its_example_again() -> None:
    case = property_examples(IDENTIFIER.format_id, 5).cases("encode", 0, 9)[8]
    assert case.id == "iggy.identifier/0.0.30/property/encode~s5:8"
    assert case_lookup.find_case(load(), case.id) == case
    assert case_lookup.find_case(load(), case.id.replace("encode", "scan")) is None


@each(
    "name, row, op",
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
        judged = list(drawn.run_target(engine, target, PropertySettings(100, 2), RedrawCounts()))
    assert any(gates(one.verdict.name, "must") for one in judged)


# --- a codec is asked only for what it claims ---


def test_the_codec_in_the_attribute_bits_of_a_value_is_a_claim_too() -> None:
    """An empty batch names a codec with which nothing is packed."""
    row = FORMATS["kafka.batch/v2"]
    cases = [
        case
        for case in property_examples(row.format_id, 3).cases("encode", 0, 200)
        if isinstance(case.input, Value)
    ]
    named = [(case, int(_attributes(case)) & 7) for case in cases if _attributes(case)]
    assert {number for _, number in named} > {0, 1, 2}
    for case, number in named:
        if number and number in CODECS:
            assert f"codec:{CODECS[number]}" in case.needs


@pytest.mark.parametrize("name", ["iggy.json.send/0.8", "iggy.send/0.9"])
def test_an_edited_value_needs_what_its_own_bytes_need(name: str) -> None:
    """A codec without headers is not asked to encode a value that an edit gave headers."""
    row = FORMATS[name]
    accepted = [
        case
        for case in property_examples(row.format_id, 1).cases("encode", 0, 60)
        if isinstance(case.expect, Accept)
    ]
    assert accepted
    for case in accepted:
        encoded = formats.encode(row, case.input.value, case.options)
        assert {*capabilities_of(row, encoded, case.options)} <= {*case.needs}


def _attributes(case: Case) -> str:
    value: Any = case.input.value
    return str(value.get("attributes", "")) if str(value.get("attributes", "")).isdecimal() else ""


# --- examples in commands ---


MUTANT = spec_of("mutant:iggy-identifier-unchecked")
DAY = date(2026, 1, 1)


def test_the_replay_line_fails_alike(wireproof: Command) -> None:
    done = wireproof(
        "check", MUTANT, "--in-process", "--property", 20, "--no-golden",
        "--run", "iggy.identifier/**",
    )  # fmt: skip
    line = re.search(r"replay  wireproof (replay .*)", done.out)
    assert wireproof(*shlex.split(line[1])).code == 1


def test_generated_values_avoid_known_failures() -> None:
    suite = load()
    cases = [case for case in suite.cases if case.format_id == IDENTIFIER.format_id]
    with Engine(MUTANT, in_process=True) as engine:
        head = run_event(engine.hello, spec=MUTANT, suite="", fixtures="")
        events = tuple(run(engine, Selection.of(engine.hello, cases, suite, families=False)))
        stream = EventStream(head, events, footer_of(events))
        text = written(stream, "me", "a test", date(2999, 1, 1))
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
    assert (len(after) < 80) == any("fewer examples" in note for note in engine.notes)
    assert not expired


FEW = (
    "--no-families",
    "--in-process",
    *(word for name in FORMATS if name != IDENTIFIER.format_id for word in ("--skip", f"{name}/**")),
)
"""A run of `iggy.identifier/0.0.30` that is none by `--run`."""


def test_each_run_has_the_same_few_examples_and_says_which(wireproof: Command, tmp_path: Path) -> None:
    runs = []
    for name in ("one", "two"):
        property_examples.cache_clear()
        out = tmp_path / name
        views = [f"--{view}={tmp_path / view}" for view in ("junit", "html", "markdown")]
        done = wireproof("check", MUTANT, *FEW, "--out", out, *views)
        (stream,) = read_events(out)
        runs.append([evolve(event, ns=0) for event in stream.cases])
        examples = [event for event in stream.cases if event.is_property]
        assert {event.id.partition("~")[2].partition(":")[0] for event in examples} == {f"s{release_seed()}"}
        assert len(examples) == DEFAULT_EXAMPLES * 2
        assert stream.run.examples == Examples(
            DEFAULT_EXAMPLES, release_seed(), version("hypothesis"), by_default=True
        )
        said = f"seed {release_seed()}, by Hypothesis {version('hypothesis')}"
        assert said in done.out
        for view in ("junit", "html", "markdown"):
            assert said in (tmp_path / view).read_text().replace("\\", "")
    assert runs[0] == runs[1]


@pytest.mark.parametrize(
    "words",
    [
        (*FEW, "--property", "0"),
        (*FEW, "--shard", "1/1"),
        ("--in-process", "--no-families", "--run", "iggy.identifier/0.0.30/**"),
        ("--in-process", "--run", "@2026.12:heka-verifier"),
    ],
)
def test_a_run_of_chosen_cases_has_no_examples(
    wireproof: Command, tmp_path: Path, words: tuple[str, ...]
) -> None:
    wireproof("check", "reference", *words, "--out", tmp_path / "run")
    (stream,) = read_events(tmp_path / "run")
    assert stream.cases
    assert stream.run.examples is None
    assert not [event.id for event in stream.cases if event.is_property]


def test_without_hypothesis_the_few_examples_that_nobody_asked_for_are_left_out(
    wireproof: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    done = wireproof("check", "reference", *FEW)
    assert (done.code, "generated examples:" in done.out, done.err) == (0, False, "")


def test_a_baseline_holds_what_the_examples_found(wireproof: Command, tmp_path: Path) -> None:
    out, known = tmp_path / "run", tmp_path / "known.toml"
    words = ("check", MUTANT, *FEW, "--property", 40)  # of four none need show it
    assert wireproof(*words, "--out", out).code == 1
    assert wireproof("baseline", "add", known, out, "--owner", "me").code == 0
    assert "/property/decode~*" in known.read_text()
    done = wireproof(*words, "--baseline", known)
    assert (done.code, "conforms, but for" in done.out) == (0, True)


def test_hypothesis_missing_is_an_error_of_one_line(
    wireproof: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget_examples()
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    done = wireproof("check", "reference", "--property", 3, "--no-golden", "--run", "iggy.identifier/**",
                     "--jobs", 1, code=2)  # fmt: skip
    assert install_command("property") in done.one_line()


def forget_examples() -> None:
    property_examples.cache_clear()
    sample_drawer.cache_clear()


# --- what fails is reported once, small, and with a token that fails alike ---


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
    assert len(case.input.data) <= len(whole.input.data)


def test_a_crash_is_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(SUPPORT))
    monkeypatch.setattr(property_run, "FEW_CANDIDATES", 5)
    row = FORMATS["kafka.batch/v2"]
    with Engine("py:hanging_codecs:Dies") as engine:
        events = list(
            property_run.target_events(
                engine, PropertyTarget(row, "decode"), PropertySettings(8, 1), RedrawCounts()
            )
        )
    (small,) = [event for event in events if event.verdict == "crash" and event.token]
    case = from_token(small.token)
    assert b"\x7f" in case.input.data
