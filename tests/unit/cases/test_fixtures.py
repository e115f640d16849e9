"""The fixture files themselves, how strictly they are read, and what stands behind them."""

import hashlib
import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from each import each
from fixture_folders import GOOD, PLACE, RULE, only, write
from goldens import load
from jsonschema import Draft202012Validator
from layout_check import layout_errors

import wireproof
from tests.fixture_tables.checks import table_problems
from tests.fixture_tables.documented_layouts import documented_layouts
from tests.fixture_tables.history import known_bugs
from tests.fixture_tables.vectors import count_lines
from tests.fixture_tables.witness_reasons import reasons_of, without_witness
from wireproof.cases import fixtures
from wireproof.cases.case import Accept, Chunks, Data, Either, Reject, Value
from wireproof.cases.case_json import FixtureError, case_from_json, read
from wireproof.cases.fixture_writer import case_json, fixture_page
from wireproof.cases.fixtures import fixtures_folder
from wireproof.cases.id_patterns import compile_pattern
from wireproof.cases.rules import read_rules
from wireproof.family import Family
from wireproof.wire.reader import TracingReader

SCHEMA = Draft202012Validator(
    json.loads((Path(wireproof.__file__).parent / "schemas/fixture.schema.json").read_text("utf-8"))
)

ROW: dict[str, Any] = {
    "id": "toy.frame/v1/basic/good",
    "title": "A frame",
    "why": "Everybody sends one.",
    "op": "decode",
    "level": "must",
    "rules": ["toy.rule"],
    "input": {"hex": "00"},
    "expect": {"accept": {"value": {"a": "1"}, "consumed": 1}},
    "source": {"origin": "hand"},
}


def made(**changes: Any) -> Any:
    return case_from_json({**ROW, **changes}, "toy.frame", "v1", Path())


@each(
    "change",
    [
        {"titel": "x"},
        {"level": "shall"},
        {"input": {"hex": "0"}},
        {"input": {"hex": "00" * 513}},
        {"input": {"hex": "00", "chunks": []}},
        {"input": {"value": {}}},
        {"expect": {"reject": {"class": "crc-mismatch"}}},
        {"expect": {"accept": {"valeu": None}}},
        {"expect": {"either": {"behaviours": []}}},
        {"rules": []},
        {"needs": ["lz4"]},
        {"id": "Toy/v1/basic/good"},
        {"twin": "elsewhere"},
    ],
)
def test_the_schema_refuses_a_case_that_is_none(change: dict[str, Any]) -> None:
    page = {"schema": 1, "format": "toy.frame", "revision": "v1", "cases": [ROW]}
    SCHEMA.check_schema(SCHEMA.schema)
    assert SCHEMA.is_valid(page)
    assert not SCHEMA.is_valid({**page, "cases": [{**ROW, **change}]})


def test_inputs_are_read_in_all_four_forms(tmp_path: Path) -> None:
    data = bytes(range(256)) * 3
    (tmp_path / "long.bin").write_bytes(data)
    sealed = {"file": "long.bin", "sha256": hashlib.sha256(data).hexdigest()}
    assert case_from_json({**ROW, "input": sealed}, "toy.frame", "v1", tmp_path).input == Data(data)
    assert made(input={"hex": "00ff"}).input == Data(b"\x00\xff")
    assert made(op="encode", input={"value": {"a": "1"}}).input == Value({"a": "1"})
    assert made(op="scan", input={"chunks": ["00", "", "ff"]}).input == Chunks((b"\x00", b"", b"\xff"))


def test_expectations_are_read_in_all_three_forms() -> None:
    assert made().expect == Accept({"a": "1"}, 1)
    assert made(expect={"accept": {"bytes": ["00ff"]}}).expect == Accept(data=(b"\x00\xff",))
    rejected = {"reject": {"class": "bad-magic", "also": ["truncated"], "at": "61>3", "before": []}}
    assert made(expect=rejected).expect == Reject("bad-magic", ("truncated",), "61>3", [])
    either = {"either": {"behaviours": [{"id": "a", "accept": {}}, {"id": "b", **rejected}]}}
    expect = made(expect=either).expect
    assert isinstance(expect, Either)
    assert [one.id for one in expect.behaviours] == ["a", "b"]


def test_the_profile_of_a_case_is_one_of_its_options() -> None:
    case = made(profile="produce", options={"keys": {"a_1": "00ff"}, "aborted": [["7", "9"]]})
    assert case.options.profile == "produce"
    assert case.options.keys == {"a_1": b"\x00\xff"}
    assert case.options.aborted == ((7, 9),)


BAD: tuple[tuple[dict[str, Any], str], ...] = (
    ({"titel": "x"}, "case has no field 'titel'"),
    ({"id": 7}, "id must be a string, got 7"),
    ({"level": "shall"}, "level must be one of must, should, may, info, got 'shall'"),
    ({"op": "parse"}, "op must be one of decode, encode, scan, sequence, got 'parse'"),
    ({"rules": "toy.rule"}, "rules must be a list, got 'toy.rule'"),
    ({"title": 3}, "title must be a string, got 3"),
    ({"input": {"hex": "0"}}, "input.hex must be bytes in lower-case hex"),
    ({"input": {"hex": "AB"}}, "input.hex must be bytes in lower-case hex"),
    ({"input": {"hex": "00 01"}}, "input.hex must be bytes in lower-case hex"),
    (
        {"expect": {"reject": {"class": "other", "at": "61"}}},
        "expect.reject.at must be a position such as 17 or 61>3, got '61'",
    ),
    ({"input": {"hex": "00", "value": 1}}, "input must have exactly one of"),
    ({"input": {"file": "../../secret", "sha256": "0"}}, "is not the name of a file beside the case"),
    ({"input": {"file": "gone.bin", "sha256": "0"}}, "gone.bin"),
    ({"expect": {"accept": {}, "reject": {"class": "other"}}}, "expect must have exactly one of"),
    ({"expect": {"accept": {"consumed": "1"}}}, "expect.accept.consumed must be a whole number, got '1'"),
    ({"expect": {"accept": {"consumed": True}}}, "expect.accept.consumed must be a whole number, got True"),
    ({"expect": {"accept": {"remarks": "abc"}}}, "expect.accept.remarks must be a list, got 'abc'"),
    ({"expect": {"reject": {"class": "wrong-crc"}}}, "expect.reject.class is unknown: 'wrong-crc'; known"),
    ({"expect": {"reject": {"class": "bad-magic", "also": ["x"]}}}, "expect.reject.also[0] is unknown: 'x'"),
    ({"expect": {"reject": {"class": "bad-magic", "at": 1.5}}}, "expect.reject.at must be a position"),
    ({"expect": {"reject": {"at": 1}}}, "expect.reject.class is missing"),
    ({"options": {"max_mesage": 1}}, "options has no field 'max_mesage'"),
    ({"options": {"max_message": "1"}}, "max_message must be a whole number from 0 on, got '1'"),
    ({"options": {"resync": "rust"}}, "resync must be one of strict, go, c, got 'rust'"),
    ({"source": {"origin": "hand", "witness": []}}, "witness"),
    ({"limits": {"ms": "1"}}, "limits.ms must be a whole number, got '1'"),
)


@each("change, said", BAD)
def test_a_wrong_field_is_one_line_that_names_file_and_case(
    tmp_path_factory: pytest.TempPathFactory, change: dict[str, Any], said: str
) -> None:
    path = _page(tmp_path_factory.mktemp("fixtures"), {**ROW, **change})
    with pytest.raises(FixtureError) as error:
        read(path)
    line = str(error.value)
    assert said in line
    assert str(path) in line
    assert "\n" not in line


@each(
    "text",
    [
        "",
        "[]",
        "{",
        '{"schema": 1}',
        '{"schema": 2, "format": "a", "revision": "b", "cases": []}',
        '{"schema": 1, "format": "a", "revision": "b", "cases": {}}',
        '{"schema": 1, "format": "a", "revision": "b", "cases": [7]}',
        "[" * 100_000,
    ],
)
def test_a_file_that_is_no_page_of_cases_is_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "page.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FixtureError, match=r"page\.json"):
        read(path)


@pytest.mark.parametrize(
    "name",
    [
        "../../../../../x",
        "toy.frame/v1/basic/../../../x",
        "toy.frame/v1/basic/..",
        "toy.frame/v1/basic/.hidden",
        "toy.frame/v1/basic/",
        "toy.frame/v1/basic",
        "toy.frame/v1/basic/a/b",
        "toy.frame/v1/other/good",
        "toy.frame/v1/basic/Good",
        "toy.frame/v1/basic/good\n",
        "toy.frame/v1/basic/a b",
        "/etc/passwd",
    ],
)
def test_an_id_that_does_not_belong_to_its_file_is_not_loaded(tmp_path: Path, name: str) -> None:
    _page(tmp_path, {**ROW, "id": name})
    with pytest.raises(FixtureError, match=r"its id does not fit its file, toy\.frame/v1/basic"):
        fixtures.load(own=tmp_path)


def test_a_file_that_has_another_revision_than_its_place_is_not_loaded(tmp_path: Path) -> None:
    _page(tmp_path, ROW, revision="v2")
    with pytest.raises(FixtureError, match=r"its file says toy\.frame/v2 and lies under toy\.frame/v1"):
        fixtures.load(own=tmp_path)


@pytest.mark.parametrize("name", ["../../x", "a/b", "..", "", "A.rule", "a rule"])
def test_the_id_of_a_rule_is_one_plain_component(tmp_path: Path, name: str) -> None:
    _page(tmp_path, ROW)
    (tmp_path / "toy.frame" / "rules.toml").write_text(RULE.replace("shelf.number", name))
    with pytest.raises(FixtureError, match=r"rules\.toml: .*an id"):
        fixtures.load(own=tmp_path)


def _page(root: Path, *rows: dict[str, Any], revision: str = "v1") -> Path:
    place = root / "toy.frame" / "v1" / "basic.json"
    place.parent.mkdir(parents=True)
    page = {"schema": 1, "format": "toy.frame", "revision": revision, "cases": list(rows)}
    place.write_text(json.dumps(page), encoding="utf-8")
    return place


def test_an_id_in_two_folders_is_an_error_that_names_both(tmp_path: Path) -> None:
    _page(tmp_path, ROW, ROW)
    with pytest.raises(FixtureError, match=r"toy\.frame/v1/basic/good is in"):
        fixtures.load(own=tmp_path)


def test_further_fixtures_stand_beside_those_of_the_package(tmp_path: Path) -> None:
    _page(tmp_path, ROW)
    alone, both = load(), load([tmp_path])
    assert len(both.cases) == len(alone.cases) + 1
    assert both.hash != alone.hash
    assert both.by_id.get(ROW["id"]) is not None
    assert [case.id for case in both.cases] == sorted(case.id for case in both.cases)


def test_the_fixtures_of_a_family_stand_beside_those_of_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _page(tmp_path, ROW)
    monkeypatch.setitem(fixtures.FAMILIES, "toy", Family("toy", (), fixtures=tmp_path))
    assert fixtures.load().by_id.get(ROW["id"]) is not None
    assert fixtures.load([tmp_path]).hash == fixtures.load().hash
    assert [case.id for case in fixtures.cases_of_format("toy.frame/v1")] == [ROW["id"]]


def test_a_key_that_occurs_twice_is_not_half_lost(tmp_path: Path) -> None:
    path = write(tmp_path, GOOD)
    path.write_text(
        path.read_text().replace('"expect"', '"expect": {"reject": {"class": "other"}}, "expect"')
    )
    with pytest.raises(FixtureError, match="the key expect is repeated"):
        fixtures.load(own=tmp_path)


# --- what is read, and when ---

BATCH = "kafka.batch/v2/crc/zero"


def test_a_suite_goes_to_another_process_by_its_folders_and_one_of_given_cases_whole() -> None:
    suite = load()
    sent = pickle.dumps(suite)
    assert len(sent) < 1000
    assert pickle.loads(sent).by_id[BATCH] == suite.by_id[BATCH]
    few = evolve(suite, cases=(suite.by_id[BATCH],))
    again = pickle.loads(pickle.dumps(few))
    assert again == few
    assert list(again.by_id) == [BATCH]


def test_a_case_that_was_read_late_is_like_one_that_was_given_whole() -> None:
    late = fixtures.load().by_id[BATCH]
    whole = pickle.loads(pickle.dumps(late))
    assert whole == late == evolve(late)
    with pytest.raises(AttributeError, match="Case has no attribute expectt"):
        late.expectt  # type: ignore[attr-defined]  # noqa: B018


def test_a_fault_of_an_unread_part_names_file_and_case(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = {**GOOD, "expect": {"accept": {"consumed": "6"}}}
    path = write(tmp_path, row)
    suite = only(tmp_path, monkeypatch)
    (case,) = suite.cases
    with pytest.raises(FixtureError) as error:
        _ = case.input
    assert str(error.value) == f"{path}: {case.id}: expect.accept.consumed must be a whole number, got '6'"
    with pytest.raises(FixtureError, match="must be a whole number"):
        fixtures.load(checked=True)


# --- writing ---


def test_a_page_sorts_its_cases_and_spills_long_bytes(tmp_path: Path) -> None:
    long = {**GOOD, "input": {"hex": "00" * 513}}
    short = {**GOOD, "id": f"{PLACE}/0-first"}
    form, revision, topic = PLACE.split("/")
    page = fixture_page(form, revision, [case_from_json(row, form, revision, None) for row in (long, short)])
    path = tmp_path / form / revision / f"{topic}.json"
    path.parent.mkdir(parents=True)
    path.write_text(page.text, encoding="utf-8")
    for name, data in page.files.items():
        (path.parent / name).write_bytes(data)
    assert [case.id for case in read(path)] == [short["id"], long["id"]]
    (spilled,) = path.parent.glob("*.bin")
    assert spilled.read_bytes() == bytes(513)
    assert json.loads(path.read_text())["cases"][1]["input"]["file"] == spilled.name


# --- the files of the package ---


FILES = sorted(fixtures_folder().glob("*/*/*.json"))


@each("path", FILES, ids=lambda path: "/".join(path.parts[-3:]))
def test_every_fixture_file_follows_the_schema(path: Path) -> None:
    errors = [error.message for error in SCHEMA.iter_errors(json.loads(path.read_text("utf-8")))]
    assert errors == []


def test_every_case_is_read_back_from_what_is_written() -> None:
    for case in load().cases:
        assert case_from_json(case_json(case), case.format, case.revision, None) == case, case.id


# --- the files of rules ---


def rules_file(folder: Path, text: str) -> Path:
    path = folder / "rules.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            RULE.replace("refusing", "wishing"),
            "shelf.number: kind must be one of refusing, value, resource, encode",
        ),
        (RULE + 'autor = "me"\n', "shelf.number: .*autor"),
        (RULE.replace('section = "1"\n', ""), "shelf.number: .*section"),
        ("[other]\n", "holds .*rule.* tables and nothing else"),
        ("[[rule]\n", "line 1"),
    ],
)
def test_a_file_that_is_wrong_is_one_line_that_names_the_rule(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        list(read_rules(rules_file(tmp_path, text)))


def test_a_rule_in_two_files_is_an_error(tmp_path: Path) -> None:
    name = next(iter(load().rules))
    write(tmp_path, GOOD, rules=RULE.replace("shelf.number", name))
    with pytest.raises(FixtureError, match=f"the rule {name} is in another file too"):
        load([tmp_path])


# --- vectors and layouts of the documents, known bugs, reasons for no witness ---


def test_what_stands_behind_the_cases_of_the_package_has_no_problem() -> None:
    suite = load()
    assert [str(problem) for problem in table_problems(suite)] == []
    assert len(known_bugs(suite)) == 205
    assert [line.partition(" with cases")[0] for line in count_lines(suite)] == [
        "kafka.md: 472 ids, 469", "heka.md: 236 ids, 232", "iggy.md: 139 ids, 124",
    ]  # fmt: skip
    printed = {one.layout for one in documented_layouts(suite)}
    assert printed >= {"RecordBatch", "Record", "RecordHeader"}


def test_what_no_case_stands_behind_is_a_problem() -> None:
    suite = load()
    bare = tuple(case for case in suite.cases if not (case.source.vectors or case.source.bugs))
    found = {str(problem).partition(": ")[2] for problem in table_problems(evolve(suite, cases=bare))}
    assert "needs a case that names it, or a row with the reason in the table of ids without a case" in found
    assert "needs cases that catch it, or the reason in `missed`" in found
    assert any("matches no must case without a witness" in text for text in found)


def test_each_special_case_of_the_package_without_a_witness_has_a_reason() -> None:
    suite = load()
    special = [
        case
        for case in without_witness(suite)
        if case.profile == "produce" or case.topic == "delivered" or case.op == "scan"
    ]
    patterns = [compile_pattern(pattern) for row in reasons_of(suite) for pattern in row.cases]
    assert all(any(one.fullmatch(case.id) for one in patterns) for case in special)


# --- the trace of each case agrees with its bytes and its value ---


@pytest.mark.sweeps
def test_the_trace_of_every_golden_case_agrees_with_its_bytes_and_its_value() -> None:
    wrong = [(case.id, said) for case in load().cases for said in layout_errors(case)]
    assert wrong == []


def test_a_checksum_over_other_bytes_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    cover = TracingReader.cover

    def spoilt(self: TracingReader, name: str, *words: Any) -> None:
        cover(self, name, *words)
        last = max(n for n, span in enumerate(self.spans) if span.cover)
        found = self.spans[last].cover
        self.spans[last] = evolve(self.spans[last], cover=evolve(found, start=found.start + 1))

    monkeypatch.setattr(TracingReader, "cover", spoilt)
    case = load().by_id["kafka.batch/v0/message/key-and-value"]
    assert any("is no crc32" in line for line in layout_errors(case))
