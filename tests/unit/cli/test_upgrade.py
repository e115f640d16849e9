"""An upgrade of the suite: a failure that the baseline does not have says if a case or the codec changed."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from command_line import Command
from fixture_folders import GOOD, PLACE, write
from small_runs import PASS, RUN, event, stream

from wireproof.cases.fixture_writer import freeze
from wireproof.cases.fixtures import load
from wireproof.report.diff import diff
from wireproof.run.baselines.baseline import origin_lookup, origin_text
from wireproof.run.baselines.baseline_writing import settled
from wireproof.run.events import read_events

REFUSES = "py:tests.mutants.every_format:RejectEverything"


def words(known: Path) -> tuple[object, ...]:
    """`check` of the one folder with the baseline."""
    options = ("--run", f"{PLACE}/*", "--in-process", "--no-families", "--baseline", known)
    return (*_with_suite(known), "check", REFUSES, *options)


def _with_suite(known: Path) -> tuple[object, ...]:
    return "--fixtures", known.parent / "suite"


def case(name: str, number: int, **more: object) -> dict[str, Any]:
    data = f"{number:02x}000000"
    accept = {"accept": {"value": {"kind": "numeric", "value": data}, "consumed": 6}}
    row = {**GOOD, "id": f"{PLACE}/{name}", "input": {"hex": f"0104{data}"}, "expect": accept}
    row |= more
    return {key: row[key] for key in ("id", *GOOD) if key in row}


KIND_OR_OTHER = {"reject": {"class": "bad-kind", "also": ["other"], "at": 0}}
REJECT = {"reject": {"class": "bad-kind", "at": 0}}
OLD = (
    case("a-same", 1),
    case("b-level", 2, level="should"),
    case("c-expectation", 3, expect=REJECT),
    case("e-is", 4),
    case("h-refused", 7, level="should", expect=KIND_OR_OTHER),
)
NEW = (
    case("a-same", 1),
    case("b-level", 2),
    case("c-expectation", 3),
    case("e-is", 4),
    case("f-new", 5),
    case("g-new", 6),
    case("h-refused", 7, expect=KIND_OR_OTHER),
)


@pytest.fixture
def upgraded(tmp_path: Path) -> Path:
    """Return the baseline of a release before; the suite has two more cases, and three are changed."""
    root = tmp_path / "suite"
    for rows, release in ((OLD, "0.0.9"), (NEW, "0.1.0")):
        write(root, *rows)
        assert list(freeze(load((root,)), release)) == [root / "frozen.json"]
    known = root.parent / "known.toml"
    known.write_text(
        'suite = "0.0.9"\ncases = "00"\nowner = "me"\nreason = "known"\nexpires = 2999-01-01\n\n'
        f'[[known-failure]]\nid = "{PLACE}/e-is"\nkind = "fail:wrong-reject"\nclass = "other"\n'
    )
    return known


def test_each_new_failure_says_what_changed_and_each_kind_has_its_command(
    wireproof: Command, upgraded: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run.jsonl"
    done = wireproof(*words(upgraded), "--out", run)
    assert done.code == 1
    origins = [line.strip() for line in done.out.splitlines() if line.startswith("  origin")]
    assert set(origins) == {"origin  the codec: the case is what it was in 0.0.9"}  # one failure of each kind
    assert (
        "not in the baseline: 2 in new cases, 1 in cases whose expectation changed, "
        "1 in cases whose level changed, 1 of the codec (baseline of 0.0.9, cases of 0.1.0)"
    ) in done.out
    for kind in ("new-case", "expectation-changed", "level-changed"):
        assert f"wireproof baseline add {upgraded} {run} {kind}" in done.out.replace("\n", " ")
    (stream,) = read_events(run)
    assert stream.baseline is not None
    assert stream.baseline.text == upgraded.read_text()


def test_one_kind_is_accepted_and_the_release_is_written_once_nothing_is_left(
    wireproof: Command, upgraded: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run.jsonl"
    wireproof(*words(upgraded), "--out", run)
    add = (*_with_suite(upgraded), "baseline", "add", upgraded, run)
    done = wireproof(*add, "new-case")
    assert "known.toml: 2 added for 2 failures, 3 not chosen" in done.out
    assert 'suite = "0.0.9"' in upgraded.read_text()
    assert wireproof(*add, "base-passes").one_line().startswith("wireproof: base-passes: ")
    assert "3 added for 3 failures" in wireproof(*add).out
    assert 'suite = "0.0.9"' in upgraded.read_text()  # the run has a part of the cases
    assert wireproof(*words(upgraded)).code == 0


def test_the_release_is_that_of_a_whole_run_whose_failures_are_all_known(
    upgraded: Path,
) -> None:
    suite = load((upgraded.parent / "suite",))
    failing = evolve(event(1, "x", "fail", "wrong-reject", cls="other"), id=f"{PLACE}/e-is")
    derived = evolve(PASS, id=f"{PLACE}/e-is~cut:1")
    whole = stream(failing, derived, run=evolve(RUN, suite="0.1.0", fixtures="abcd"))
    text = upgraded.read_text()
    later = settled(text, [whole], suite, date(2026, 11, 28))
    complete = text.replace("0.0.9", "0.1.0").replace('cases = "00"', 'cases = "abcd"')
    assert later == f'adapter = "some"\n{complete}'
    assert settled(text.split("\n", 2)[2], [whole], suite, date(2026, 11, 28)) == later
    part = evolve(whole, run=evolve(whole.run, filters=("x",)))
    other = evolve(failing, id=f"{PLACE}/f-new")
    golden = stream(failing, run=whole.run)  # the level of derived cases may be another one
    large = evolve(whole, run=evolve(whole.run, left_out={f"{PLACE}/f-new": "must"}))
    for run in (
        part,
        golden,
        large,
        evolve(whole, footer=None),
        stream(failing, derived, other, run=whole.run),
    ):
        assert settled(text, [run], suite, date(2026, 11, 28)) == text


def test_a_derived_case_has_the_level_of_a_golden_one_that_changed(upgraded: Path) -> None:
    suite = load((upgraded.parent / "suite",))
    flipped = evolve(event(1, "x", "fail", "wrong-accept", cls="bad-kind"), id=f"{PLACE}/a-same~flip:0")
    flipped = evolve(flipped, format="iggy.identifier", revision="0.0.30")
    origin = origin_lookup("0.0.9", (), suite)
    run = evolve(RUN, suite="0.1.0")
    words = f"its level is that of {PLACE}/h-refused, which changed in 0.1.0"
    assert origin_text(origin(flipped, run), "0.0.9", "0.1.0") == words
    assert origin(evolve(flipped, cls="truncated"), run).kind == "codec"
    lenient = evolve(flipped, verdict="lenient", kind="", level="should")
    for was, says in ((lenient, words), (evolve(flipped, verdict="pass", kind="exact"), "the codec: ")):
        (change,) = diff(stream(was, run=evolve(RUN, suite="0.0.9")), stream(flipped, run=run), suite).broken
        assert f"({says}" in str(change)


def test_runs_of_another_implementation_rewrite_nothing(
    wireproof: Command, upgraded: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run.jsonl"
    upgraded.write_text(f'adapter = "mine"\n{upgraded.read_text()}')
    before = upgraded.read_text()
    wireproof(*words(upgraded), "--out", run)
    for verb in ("fix", "add"):
        done = wireproof(*_with_suite(upgraded), "baseline", verb, upgraded, run)
        assert done.code == 2
        assert "known.toml is of mine, and the run is of reject-everything" in done.one_line()
        assert upgraded.read_text() == before
