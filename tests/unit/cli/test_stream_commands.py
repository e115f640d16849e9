"""Commands on the stream of a run: differences, baselines and their entries, upgrades of the suite."""

import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from attrs import evolve
from command_line import Command
from fixture_folders import GOOD, PLACE, write
from small_runs import FAIL, PASS, RUN, event, stored, stream

from tests.mutants.registry import spec_of
from wireproof import __version__
from wireproof.cases.fixture_writer import freeze
from wireproof.cases.fixtures import load
from wireproof.report.diff import diff
from wireproof.run.baselines.baseline import origin_lookup, origin_text
from wireproof.run.baselines.baseline_writing import settled
from wireproof.run.events import CaseEvent, EventStream, read_events

SMALL = "kafka.batch/v2/crc/*"
LENIENT = spec_of("mutant:crc-skip")
"""A codec that does not conform, for it does not look at checksums."""


def streams(wireproof: Command, folder: Path) -> tuple[Path, Path]:
    good, bad = folder / "good.jsonl", folder / "bad.jsonl"
    for spec, out in (("reference", good), (LENIENT, bad)):
        wireproof("check", spec, "--run", SMALL, "--no-families", "--in-process", "--out", out)
    text = bad.read_text("utf-8").replace('"adapter":"crc-skip"', '"adapter":"reference"')
    bad.write_text(text, encoding="utf-8")
    return good, bad


def test_diff_says_what_broke_and_what_was_fixed(wireproof: Command, tmp_path: Path) -> None:
    good, bad = streams(wireproof, tmp_path)
    assert wireproof("diff", good, good).code == 0
    worse, better = wireproof("diff", good, bad), wireproof("diff", bad, good)
    assert (worse.code, better.code) == (1, 0)
    assert "kafka.batch/v2/crc/zero" in worse.out
    assert "kafka.batch/v2/crc/zero" in better.out


def test_diff_does_not_guess_which_run_is_which(tmp_path: Path, wireproof: Command) -> None:
    two = stored(tmp_path / "two", stream(PASS), renamed("other", FAIL))
    same = stored(tmp_path / "same", stream(PASS), stream(FAIL))
    strange = stored(tmp_path / "strange", renamed("a", PASS), renamed("b", PASS))
    assert (wireproof("diff", two, two).code, wireproof("diff", two, same).code) == (0, 2)
    assert "two runs have the name some" in wireproof("diff", two, same).err
    nothing = wireproof("diff", two, strange)
    assert (nothing.code, "no run of the same adapter" in nothing.err) == (2, True)


def test_every_view_that_a_job_reads_knows_the_baseline_as_the_exit_code_does(
    wireproof: Command, tmp_path: Path
) -> None:
    """The recipe for CI writes all three, and a job whose failures are all known ends with 0."""
    run, known = tmp_path / "run.jsonl", tmp_path / "known.toml"
    lenient = (LENIENT, "--in-process", "--no-families", "--run", "kafka.batch/v2/crc/*")
    assert wireproof("check", *lenient, "--out", run).code == 1
    assert wireproof("baseline", "add", known, run, "--owner", "me").code == 0
    views = ("--junit", tmp_path / "junit.xml", "--markdown", tmp_path / "run.md", "--annotations")
    assert "::error" not in wireproof("check", *lenient, "--baseline", known, *views, code=0).out
    assert "conforms, but for" in (tmp_path / "run.md").read_text("utf-8")
    suites = ET.parse(tmp_path / "junit.xml").getroot().iter("testsuite")
    assert {(suite.get("failures"), suite.get("errors")) for suite in suites} == {("0", "0")}


def renamed(name: str, *cases: CaseEvent) -> EventStream:
    return stream(*cases, run=evolve(RUN, adapter=name))


def test_each_entry_of_a_baseline_is_listed_with_its_rules_and_their_source(
    wireproof: Command, tmp_path: Path
) -> None:
    known_failures = tmp_path / "known.toml"
    entry = '[[known-failure]]\nid = "{}"\nkind = "fail:wrong-accept"\nclass = "crc-mismatch"\n'
    rest = 'reason = "nobody looks"\nowner = "me"\nexpires = 2099-01-01\n'
    ids = ("kafka.*/**~flip:*", "heka.stream/0.10/garbage/only", "kafka.batch/v2/crc/zero")
    text = "\n".join(entry.format(name) + rest for name in ids) + 'fault = "https://example.org/a.c#L7"\n'
    known_failures.write_text(text, encoding="utf-8")
    listed = wireproof("baseline", "list", known_failures, "--level", "must", code=0)
    assert "kafka.batch/v2/crc/zero  fail:wrong-accept  must\n  reason  nobody looks\n" in listed.out
    assert "  reason  nobody looks\n  fault   https://example.org/a.c#L7\n  rule" in listed.out
    assert listed.out.count("  fault   ") == 1
    assert "  rule    kafka.v2.crc (text)  https://kafka.apache.org/" in listed.out
    assert re.search(r"^  rule    and \d+ more$", listed.out, re.MULTILINE)
    assert "garbage/only" not in listed.out  # a case of another level


@pytest.mark.usefixtures("stored_cases_alone")
def test_a_baseline_is_written_applied_fixed_and_checked(wireproof: Command, tmp_path: Path) -> None:
    out, known_failures = tmp_path / "run.jsonl", tmp_path / "known.toml"
    check = ("check", LENIENT, "--run", SMALL, "--no-families", "--in-process")
    assert wireproof(*check, "--out", out).code == 1
    known_failures.write_text("# kept\n", encoding="utf-8")
    added = wireproof("baseline", "add", known_failures, out, "--owner", "me", "--reason", "a test", code=0)
    assert "added    kafka.batch/v2/crc/zero (fail:wrong-accept)\n" in added.out
    assert added.out.endswith("known.toml: 6 added for 6 failures\n")
    written = known_failures.read_text("utf-8")
    assert wireproof("baseline", "check", known_failures).code == 0
    again = wireproof("baseline", "add", known_failures, out)
    assert (again.code, again.out) == (0, "known.toml: 0 added for 0 failures, 6 known already\n")
    assert known_failures.read_text("utf-8") == written
    assert "conforms, but for 6 known failures" in wireproof(*check, "--baseline", known_failures, code=0).out

    past = tmp_path / "past.toml"
    past.write_text(re.sub("expires = .*", "expires = 2020-01-01", written), encoding="utf-8")
    expired = wireproof(*check, "--baseline", past, code=1)
    assert "baseline: expired  kafka.batch/v2/crc/bit-flip-in-value on 2020-01-01, owner me" in expired.out

    whole = ("check", "reference", "--no-families", "--in-process")
    good = tmp_path / "good.jsonl"
    assert "baseline: stale" in wireproof(*whole, "--baseline", known_failures, "--out", good, code=3).out
    fixed = wireproof("baseline", "fix", known_failures, good, code=0)
    assert "removed  kafka.batch/v2/crc/zero (fail:wrong-accept): passes now\n" in fixed.out
    assert fixed.out.endswith("known.toml: 6 removed, 0 changed, 0 kept; complete for wireproof 0.1.0\n")
    assert "# kept" in known_failures.read_text("utf-8")
    assert wireproof(*whole, "--baseline", known_failures).code == 0

    known_failures.write_text(written.replace("crc/zero", "crc/gone"), encoding="utf-8")
    gone = wireproof("baseline", "check", known_failures, code=2)
    assert re.search(r"^known.toml:\d+: kafka.batch/v2/crc/gone: no such case$", gone.out, re.MULTILINE)
    before = known_failures.read_bytes()
    for command in (("fix", known_failures, good), ("list", known_failures)):
        done = wireproof("baseline", *command, code=2)
        assert re.fullmatch(
            r"wireproof: known.toml:\d+: kafka.batch/v2/crc/gone: no such case.*", done.one_line()
        )
    assert known_failures.read_bytes() == before


ENTRY = """\
owner = "me"
expires = 2099-01-01
reason = "why"

[[known-failure]]
id = "kafka.batch/v2/crc/zero"
kind = "fail:wrong-accept"
class = "crc-mismatch"
"""


def _case(verdict: str, *more: str) -> CaseEvent:
    return CaseEvent(0, "kafka.batch/v2/crc/zero", "kafka.batch", "v2", "decode", "must", verdict, *more)


def _write(path: Path, *cases: CaseEvent, ended: bool = True, **run: str) -> Path:
    return stored(path, stream(*cases, run=evolve(RUN, **{"suite": __version__, **run}), complete=ended))


@pytest.mark.parametrize(
    ("run", "says"),
    [
        ({"cases": [_case("adapter-error")]}, "ended with an error of the adapter in 1 case"),
        ({"cases": [_case("suite-bug")]}, "ended with a fault of the suite in 1 case"),
        ({"cases": [_case("not-run", "start")]}, "did not run 1 case"),
        ({"cases": [_case("pass")], "ended": False}, "is incomplete"),
        ({"cases": [_case("pass")], "adapter": "other"}, "the runs differ in adapter: some and other"),
        ({"cases": [_case("pass")], "version": "2"}, "the runs differ in version: 1.2 and 2"),
        ({"cases": [_case("pass")], "suite": "0.0.9"}, "is a run of wireproof 0.0.9, and this is "),
    ],
    ids=lambda value: "" if isinstance(value, dict) else value,
)
def test_a_run_that_shows_nothing_leaves_the_baseline_as_it_is(
    wireproof: Command, tmp_path: Path, run: dict[str, Any], says: str
) -> None:
    known = tmp_path / "known.toml"
    known.write_text(ENTRY, encoding="utf-8")
    good = _write(tmp_path / "good.jsonl", _case("pass"))
    bad = _write(tmp_path / "bad.jsonl", *run.pop("cases"), **run)
    for verb in ("fix", "add"):
        assert says in wireproof("baseline", verb, known, good, bad, code=2).one_line()
        assert known.read_text("utf-8") == ENTRY
    wireproof("baseline", "fix", known, good, code=0)
    assert known.read_text("utf-8") != ENTRY


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"known": []}', "known.toml: "),
        (ENTRY.replace("[[known-failure]]", "[known]"), "tables and nothing else: look at known"),
        (ENTRY + "severity = 3\n", "known.toml:5: .*look at severity .*later version"),
        (f"<<<<<<< ours\n{ENTRY}=======\n>>>>>>> theirs\n", "known.toml:1: the conflict of a merge"),
        (ENTRY.replace("wrong-accept", "wrong-accpet"), "known.toml:7: .*did you mean fail:wrong-accept"),
        (
            ENTRY + ENTRY[ENTRY.index("[[") :],
            "known.toml:10: kafka.batch/v2/crc/zero is written twice, .* line 6",
        ),
    ],
    ids=["json", "other", "newer", "conflict", "kind", "twice"],
)
def test_a_baseline_that_is_not_valid_is_one_line_and_stays(
    wireproof: Command, tmp_path: Path, text: str, says: str
) -> None:
    known = tmp_path / "known.toml"
    known.write_text(text, encoding="utf-8")
    run = _write(tmp_path / "good.jsonl", _case("pass"))
    for words in (("fix", known, run), ("add", known, run), ("extend", known, "--until", in_days(30))):
        assert re.search(says, wireproof("baseline", *words, code=2).one_line())
        assert known.read_text("utf-8") == text


def test_a_baseline_that_is_empty_stays_and_one_that_is_read_only_is_refused(
    wireproof: Command, tmp_path: Path
) -> None:
    known, good = tmp_path / "known.toml", _write(tmp_path / "good.jsonl", _case("pass"))
    known.write_text("", encoding="utf-8")
    assert (
        wireproof("baseline", "fix", known, good).out
        == "known.toml: 0 removed, 0 changed, 0 kept; complete for wireproof 0.1.0\n"
    )
    assert known.read_text("utf-8") == 'adapter = "some"\nsuite = "0.1.0"\ncases = "ab12"\n'
    known.write_text(ENTRY, encoding="utf-8")
    known.chmod(0o444)
    crash = _write(tmp_path / "crash.jsonl", evolve(_case("crash"), id="kafka.batch/v2/crc/from-magic"))
    soon = ENTRY.replace("2099-01-01", in_days(3))
    for text, words in (
        (ENTRY, ("fix", known, good)),
        (ENTRY, ("add", known, crash)),
        (soon, ("extend", known, "--until", in_days(30))),
    ):
        known.chmod(0o644)
        known.write_text(text, encoding="utf-8")
        known.chmod(0o444)
        assert "is read-only and was not changed" in wireproof("baseline", *words, code=2).one_line()
        assert known.read_text("utf-8") == text


def in_days(number: int) -> str:
    return (datetime.now(tz=UTC).date() + timedelta(number)).isoformat()


def test_what_is_added_is_said_and_what_is_not_has_its_command(wireproof: Command, tmp_path: Path) -> None:
    known, run = tmp_path / "known.toml", tmp_path / "run.jsonl"
    past, other = "kafka.batch/v2/crc/bit-flip-in-value", "kafka.batch/v2/crc/from-magic"
    known.write_text(
        f'{ENTRY}\n[[known-failure]]\nid = "{past}"\nkind = "crash"\nexpires = 2020-01-01\n', "utf-8"
    )
    _write(run, _case("crash"), *(evolve(_case("crash"), id=name) for name in (past, other)))
    done = wireproof("baseline", "add", known, run, code=0)
    assert done.out.splitlines() == [
        f"added    {other} (crash)",
        "changed  kafka.batch/v2/crc/zero: is known as fail:wrong-accept, and fails as crash",
        f"expired  {past}: on 2020-01-01",
        "known.toml: 1 added for 1 failure, 1 changed, 1 expired",
        f"`wireproof baseline fix {known} {run}` rewrites the changed ones",
        f"`wireproof baseline extend {known} --until DATE` makes the expired ones count again",
    ]
    until = in_days(30)
    assert wireproof("baseline", "extend", known, "--until", until, past).out.splitlines() == [
        f"until    {until}  {past} (crash), was 2020-01-01",
        "known.toml: 1 extended, 2 kept",
    ]
    assert wireproof("baseline", "fix", known, run).code == 0
    again = wireproof("baseline", "add", known, run)
    assert (again.code, again.out) == (0, "known.toml: 0 added for 0 failures, 3 known already\n")


def test_a_family_that_fails_in_two_ways_is_left_by_fix_and_completed_by_add(
    wireproof: Command, tmp_path: Path
) -> None:
    family = "kafka.batch/v2/crc/zero~flip:"
    known, run = tmp_path / "known.toml", tmp_path / "run.jsonl"
    known.write_text(ENTRY.replace("kafka.batch/v2/crc/zero", f"{family}*"), encoding="utf-8")
    as_known = evolve(_case("fail", "wrong-accept", "crc-mismatch"), id=f"{family}1")
    _write(run, as_known, evolve(_case("crash"), id=f"{family}2"))
    done = wireproof("baseline", "fix", known, run)
    assert "some of its cases fail in another way, which `baseline add` adds\n" in done.out
    assert wireproof("baseline", "add", known, run).out == (
        f"added    {family}2 (crash)\nknown.toml: 1 added for 1 failure, 1 known already"
        "; complete for wireproof 0.1.0\n"
    )
    assert "0 changed, 2 kept" in wireproof("baseline", "fix", known, run).out


def test_a_word_that_is_no_run_is_refused_and_no_file_is_written(wireproof: Command, tmp_path: Path) -> None:
    new, run = tmp_path / "new.toml", _write(tmp_path / "run.jsonl", _case("crash"))
    for words, says in (
        ((tmp_path / "ran.jsonl", "--owner", "me"), r"ran.jsonl: no such file; write a run with"),
        ((run, "krash", "--owner", "me"), r"krash: is no file, and no failure .*: did you mean crash\?"),
        ((run,), "new.toml: needs an owner of the new entries: --owner NAME"),
        ((run, "--owner", "me", "--reason", ""), "new.toml: needs a reason: --reason TEXT"),
    ):
        assert re.search(says, wireproof("baseline", "add", new, *words, code=2).one_line())
        assert not new.exists()


# --- an upgrade of the suite ---


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
    done = wireproof(*words(upgraded), "--out", run, code=1)
    origins = [line.strip() for line in done.out.splitlines() if line.startswith("  origin")]
    assert set(origins) == {"origin  the codec: the case is what it was in 0.0.9"}  # one failure of each kind
    assert (
        "not in the baseline: 2 in new cases, 1 in cases whose expectation changed, "
        "1 in cases whose level changed, 1 of the codec (baseline of 0.0.9, cases of 0.1.0)"
    ) in done.out
    for kind in ("new-case", "expectation-changed", "level-changed"):
        assert f"wireproof baseline add {upgraded} {run} {kind}" in done.out.replace("\n", " ")
    (stream,) = read_events(run)
    assert stream.baseline.text == upgraded.read_text()


def test_one_kind_is_accepted_and_the_release_is_written_once_nothing_is_left(
    wireproof: Command, upgraded: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run.jsonl"
    wireproof(*words(upgraded), "--out", run)
    add = (*_with_suite(upgraded), "baseline", "add", upgraded, run)
    assert "known.toml: 2 added for 2 failures, 3 not chosen" in wireproof(*add, "new-case").out
    assert 'suite = "0.0.9"' in upgraded.read_text()
    assert wireproof(*add, "base-passes").one_line().startswith("wireproof: base-passes: ")
    assert "3 added for 3 failures" in wireproof(*add).out
    assert 'suite = "0.0.9"' in upgraded.read_text()  # the run has a part of the cases
    assert wireproof(*words(upgraded)).code == 0


def test_the_release_is_that_of_a_whole_run_whose_failures_are_all_known(upgraded: Path) -> None:
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
        done = wireproof(*_with_suite(upgraded), "baseline", verb, upgraded, run, code=2)
        assert "known.toml is of mine, and the run is of reject-everything" in done.one_line()
        assert upgraded.read_text() == before
