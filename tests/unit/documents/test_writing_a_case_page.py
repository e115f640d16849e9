"""writing-a-case.md has every key of a fixture and of a rule, and its example is a case of the suite."""

import json
import re

from attrs import fields
from documentation import DOCS, tables, text_of, words
from folders import TOP

from tests.fixture_tables.history import OTHER_PARTS, SCOPES, Bug
from tests.fixture_tables.witness_reasons import Unwitnessed
from wireproof.cases.fixture_writer import CASE_KEYS
from wireproof.cases.rules import RULE_KINDS, Rule, Sentence

PAGE = text_of("writing-a-case.md")
SCHEMA = json.loads((DOCS.parent / "wireproof" / "schemas" / "fixture.schema.json").read_text("utf-8"))[
    "$defs"
]
CASE = SCHEMA["case"]["properties"]


def test_the_keys_of_a_case_are_those_of_the_schema_in_the_order_of_a_file() -> None:
    rows = tables(PAGE, "A fixture file")[0]
    assert [words(row[0])[0] for row in rows] == list(CASE_KEYS)
    assert set(CASE_KEYS) == set(CASE)
    assert {words(row[0])[0] for row in rows if row[1] == "yes"} == set(SCHEMA["case"]["required"])


def test_the_words_of_each_key_are_those_of_the_schema() -> None:
    cells = {words(row[0])[0]: words(row[2]) for row in tables(PAGE, "A fixture file")[0]}
    for key in ("op", "profile"):
        assert set(CASE[key]["enum"]) == set(cells[key])
    assert set(cells["level"]) == set(CASE["level"]["enum"]) - {"info"}  # no case has the level `info`
    assert set(CASE["flags"]["items"]["enum"]) == set(cells["flags"])
    assert set(CASE["source"]["properties"]["origin"]["enum"]) <= set(cells["source"])
    assert set(CASE["source"]["properties"]) <= set(cells["source"])
    assert set(CASE["limits"]["properties"]) == set(cells["limits"])
    inputs = {key for one in SCHEMA["input"]["oneOf"] for key in one["properties"]}
    assert inputs <= set(re.findall(r"\w+", " ".join(cells["input"])))


def test_the_expectations_and_their_fields_are_those_of_the_schema() -> None:
    rows = {words(row[0])[0]: set(words(row[1])) for row in tables(PAGE, "A fixture file")[1]}
    for name in ("accept", "reject", "either"):
        assert set(SCHEMA[name]["properties"][name]["properties"]) <= rows[name]
    assert set(rows) == {"accept", "reject", "either"}


def test_the_keys_of_a_rule_are_those_of_its_class() -> None:
    rows = tables(PAGE, "A rule")[0]
    assert [word for row in rows for word in words(row[0])] == [field.name for field in fields(Rule)]
    assert set(words(rows[1][1])) == set(RULE_KINDS)


def test_the_keys_of_a_sentence_and_of_a_witness_reason_are_those_of_their_classes() -> None:
    for heading, kind in (
        ("A sentence of a format document", Sentence),
        ("A case without a witness", Unwitnessed),
    ):
        rows = tables(PAGE, heading)[0]
        assert [word for row in rows for word in words(row[0])] == [field.name for field in fields(kind)]


def test_the_keys_of_a_known_bug_are_those_of_its_class() -> None:
    rows = tables(PAGE, "A known bug")[0]
    assert sorted(words(row[0]) for row in rows) == sorted(
        [
            ["had", "fixed"],
            *([field.name] for field in fields(Bug) if field.name not in ("had", "fixed", "cases")),
        ]
    )
    cells = {words(row[0])[0]: words(row[1]) for row in rows}
    assert set(cells["scope"]) == set(SCOPES)
    assert set(cells["found_by"]) == set(OTHER_PARTS)


def test_the_example_is_a_case_of_the_suite() -> None:
    block = re.search(r"^```\n(\{.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
    assert block
    page = json.loads(block[1])
    (case,) = page["cases"]
    path = TOP / "fixtures" / page["format"] / page["revision"] / "identifier.json"
    there = {row["id"]: row for row in json.loads(path.read_text("utf-8"))["cases"]}[case["id"]]
    there["source"].pop("witnesses")
    assert case == there
