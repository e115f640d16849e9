"""Requirement sets, levels of refusals, derived fields, and numbers that do not fit."""

import copy
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from each import each
from goldens import load

from tests.authoring.requirements import with_lists
from tests.support.command_line import Command
from tests.support.small_runs import PASS, SKIP, stream
from wireproof import formats
from wireproof.adapters.contract import Claim, Hello
from wireproof.cases.case import Accept, Case, Level, Reject, Value
from wireproof.cases.fixtures import Suite, fixtures_folder
from wireproof.cases.observable_fields import observed_tree
from wireproof.cases.outcome import Accepted
from wireproof.cases.reference_answers import with_refusal_level
from wireproof.cases.requirements import (
    SETS_FILE,
    Edition,
    RequirementError,
    editions,
    read_sets,
    required_cases,
)
from wireproof.derive.derived import derived_cases
from wireproof.formats import FORMATS
from wireproof.judge.judge import judge
from wireproof.judge.signature import without_indices
from wireproof.lint.states import NumberType, is_computed, state_table
from wireproof.report.junit import markdown
from wireproof.report.terminal import corrected_lines
from wireproof.run.conclusion import conclusion_sentence, exit_code
from wireproof.run.engine import Engine
from wireproof.run.events import Requirements
from wireproof.run.exit_codes import Exit
from wireproof.run.run import Selection, run
from wireproof.wire.json_values import Json
from wireproof.wire.observed_fields import project
from wireproof.wire.rejection import RejectClass, Rejected

VERIFIER = "2026.12:heka-verifier"
SUITE = load()
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


@pytest.mark.parametrize("codec", CODECS)
def test_a_set_outlives_a_case_more_and_another_level(codec: str) -> None:
    first, second = [case for case in SUITE.cases if case.id.startswith("heka.message/0.10/bool/")][:2]
    assert first.level == "must"
    more = evolve(second, id=f"{second.id}-again")
    others = (case for case in SUITE.cases if case.id != first.id)
    new = evolve(SUITE, cases=(*others, evolve(first, level="should"), more))
    verdicts = _verdicts(SUITE, VERIFIER, codec)
    assert _verdicts(new, VERIFIER, codec) == verdicts
    assert first.id in verdicts
    failed = {name for name, (level, label) in verdicts.items() if (level, label[:4]) == ("must", "fail")}
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
    done = wireproof("check", "reference", "--in-process", "--run", f"@{VERIFIER}", "--out", str(out), code=0)
    assert "reference: meets Heka verifier (2026.12)" in done.out
    run_line, *cases, _ = [json.loads(line) for line in out.read_text().splitlines()]
    assert run_line["requirements"] == {"id": VERIFIER, "title": "Heka verifier (2026.12)"}
    (page,) = tomllib.loads(FILE.read_text(encoding="utf-8"))["edition"]
    listed = {name for one in page["set"] if one["name"].startswith("heka") for name in one["cases"]}
    assert {case["id"] for case in cases} == listed
    page = tmp_path / "run.md"
    assert wireproof("report", str(out), "--markdown", str(page)).code == 0
    assert "meets Heka verifier \\(2026.12\\)" in page.read_text(encoding="utf-8")


def test_the_verb_lists_sets_and_cases(wireproof: Command) -> None:
    assert "@2026.12:kafka-consumer-2  Kafka consumer 2 (2026.12): " in wireproof("cases", "@").out
    done = wireproof("cases", f"@{VERIFIER}")
    levels = {line.split()[0]: line.split()[1] for line in done.out.splitlines()}
    assert levels == {case.id: case.level for case in required_cases(load(), VERIFIER).cases}
    assert done.err == f"{len(levels)} cases\n"
    rows = json.loads(wireproof("cases", "@", "--format", "json").out)
    assert {row["id"] for row in rows} >= {VERIFIER, "2026.12:kafka-broker-3"}


# --- levels of refusals that only the reference gives ---


MINIMAL = "heka.message/0.10/message/minimal"


def refused(golden: str, cls: RejectClass, level: Level = "must") -> Case:
    return evolve(load().by_id[golden], expect=Reject(cls), level=level)


@each(
    "cls, level",
    [
        ("missing-field", "must"),
        ("type-mismatch", "should"),
        ("unknown-field", "may"),
        ("bad-base64", "should"),
    ],
)
def test_the_golden_cases_of_a_class_limit_its_level(cls: RejectClass, level: Level) -> None:
    assert with_refusal_level(refused(MINIMAL, cls)).level == level


@pytest.mark.parametrize(
    ("golden", "level"), [("two-arrays", "should"), ("uuid-15", "should"), ("pid-32-bits", "must")]
)
def test_the_field_limits_the_level_of_a_value_that_is_refused_too(golden: str, level: Level) -> None:
    case = load().by_id[f"heka.message/0.10/encode/{golden}"]
    assert with_refusal_level(evolve(case, level="must")).level == level


def test_a_field_in_which_no_golden_case_is_refused_is_no_must_where_others_are_not() -> None:
    """Only a string in another array is golden, and it is `should`; the text of an integer is `must`."""
    case = load().by_id["heka.message/0.10/encode/two-arrays"]
    value = copy.deepcopy(case.input.value)
    (field,) = [one for one in value["fields"] if one["value_string"]]  # type: ignore[index,call-overload]
    field["value_string"], field["value_double"] = [], ["00" * 8]  # type: ignore[index,call-overload]
    other = evolve(case, input=Value(value), level="must")
    assert with_refusal_level(other).level == "should"


def test_a_reader_that_keeps_unknown_fields_fails_no_derived_must_case() -> None:
    derived = list(derived_cases(load().by_id["heka.message/0.10/message/every-field"]))
    unknown = [case for case in derived if case.expect == Reject("unknown-field", (), *_rest(case))]
    assert unknown
    assert {case.level for case in unknown} == {"may"}
    assert "must" in {case.level for case in derived if isinstance(case.expect, Reject)}


def broken_at(golden: str, title: str) -> Case:
    """The derived case of a golden one with this title."""
    return next(case for case in derived_cases(load().by_id[golden]) if case.title == title)


def test_a_wrong_position_in_an_index_is_as_sure_derived_as_golden() -> None:
    """Only the server compares the index; both cases are refused as `length-mismatch`."""
    position = broken_at("iggy.send/0.7/messages/two", "index[0].position +1")
    length = broken_at("iggy.send/0.7/messages/two", "metadata_length +1")
    assert position.expect.cls == length.expect.cls == "length-mismatch"
    assert (position.level, length.level) == ("should", "must")


def _rest(case: Case) -> tuple[object, ...]:
    return (case.expect.at, case.expect.before) if isinstance(case.expect, Reject) else ()


# --- derived fields are compared where an adapter names them ---


BATCH = "kafka.batch/v2"
VALUE: Any = {
    "baseOffset": "3",
    "records": [{"offset": "3", "key": None, "sequence": "9", "timestampType": "create"}],
    "nextOffset": "4",
}
BARE: Any = {"baseOffset": "3", "records": [{"offset": "3", "key": None}]}


@each(
    "patterns, seen",
    [
        ((), BARE),
        (("*",), VALUE),
        (("records",), {"records": BARE["records"]}),
        (("records[]",), {"records": BARE["records"]}),
        (("nextOffset",), {"nextOffset": "4"}),
        (("records[].sequence",), {"records": [{"sequence": "9"}]}),
        (("records[]", "records[].sequence"), {"records": [{"offset": "3", "key": None, "sequence": "9"}]}),
        (("records[].*",), {"records": VALUE["records"]}),
    ],
)
def test_a_pattern_selects_the_fields_below_it_but_derived_ones_only_by_name(
    patterns: tuple[str, ...], seen: Any
) -> None:
    assert project(VALUE, observed_tree(BATCH, patterns)) == seen


def test_a_derived_field_of_one_kind_of_entry_is_compared_there() -> None:
    tree = observed_tree("kafka.log/mixed", ("batches[].magic", "batches[magic=2].nextOffset"))
    value: Any = {"batches": [{"magic": magic, "nextOffset": "4"} for magic in ("1", "2")], "nextOffset": "4"}
    assert project(value, tree) == {"batches": [{"magic": "1"}, {"magic": "2", "nextOffset": "4"}]}


def case_and_value() -> tuple[Case, Any]:
    case = load().by_id["kafka.batch/v2/batch/compacted-gaps"]
    return case, case.expect.value


def label(observes: tuple[str, ...], value: Any) -> str:
    case, _ = case_and_value()
    hello = Hello("mine", "1", {BATCH: Claim(observes=observes)})
    return judge(case, Accepted(value), hello=hello).label


def test_who_names_a_derived_field_must_return_it_and_others_need_not() -> None:
    _, value = case_and_value()
    bare = {name: part for name, part in value.items() if name != "nextOffset"}
    assert label((), bare) == "pass:canonical"
    assert label(("nextOffset",), bare) == "fail:wrong-value"


# --- a number that does not fit its field is refused by its path ---


KAFKA = {
    "kafka.batch/v0/encode/key-and-value",
    "kafka.batch/v1/encode/key-and-value",
    "kafka.batch/v2/encode/headers",
}
"""Cases of Kafka with every number; those of others are named for it."""

WRITTEN = [
    case
    for case in load().cases
    if case.op == "encode"
    and (case.id in KAFKA or re.match(r"iggy\.(?!json).*/every-byte-differs-written", case.id))
]
"""The case of each format and revision that has every number."""


@pytest.fixture(scope="module", name="types")
def _types() -> Mapping[tuple[str, str], NumberType]:
    return state_table(load()).types


@each("case", WRITTEN, ids=lambda case: case.id.split("/states")[0])
def test_a_number_that_does_not_fit_is_refused_by_the_path_of_its_field(
    case: Case, types: Mapping[tuple[str, str], NumberType]
) -> None:
    found = 0
    for path in _texts(case.input.value):
        kind = types.get((case.format_id, without_indices(_named(path))))
        if kind is None or is_computed(case.format_id, without_indices(_named(path))):
            continue
        edges = kind.edges().values()
        beside = (min(edges) - 8, max(edges) + 1, 1 << 128)  # with codec 0 in the lowest bits of attributes
        for unfit in (*map(str, beside), "1.5", "", "x", "0x1", "1e3", 7, True, ["1"]):
            with pytest.raises(Rejected) as caught:
                formats.encode(FORMATS[case.format_id], _with(case.input.value, path, unfit))
            assert (caught.value.cls, caught.value.path) == ("invalid-value", _named(path))
            found += 1
    assert found


FieldPath = tuple[str | int, ...]


def _texts(value: Json, path: FieldPath = ()) -> Iterator[FieldPath]:
    match value:
        case dict():
            for key, part in value.items():
                yield from _texts(part, (*path, key))
        case list():
            for index, part in enumerate(value):
                yield from _texts(part, (*path, index))
        case str():
            yield path


def _named(path: FieldPath) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def _with(value: Json, path: FieldPath, unfit: Json) -> Any:
    changed: Any = deepcopy(value)
    at = changed
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = unfit
    return changed
