"""The pages of contracts (adapters, results, cases, the API) have every word of the code, and no other."""

import importlib
import json
import re
import tomllib
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import pytest
from attrs import fields
from documentation import DOCS, tables, text_of, words
from each import each
from folders import TOP

import wireproof
import wireproof.adapters
from tests.fixture_tables.history import OTHER_PARTS, SCOPES, Bug
from tests.fixture_tables.witness_reasons import Unwitnessed
from wireproof import adapters, strategies
from wireproof.adapters import contract_json as answers
from wireproof.adapters import message_framing as framing
from wireproof.adapters import requests
from wireproof.adapters.process import controller as process
from wireproof.adapters.reference import Reference
from wireproof.adapters.registry.registry import GROUP
from wireproof.cases.case import Limits
from wireproof.cases.fixture_writer import CASE_KEYS
from wireproof.cases.rules import Rule, RuleKind, Sentence
from wireproof.formats import FORMATS
from wireproof.judge.verdicts import ROWS
from wireproof.run.baselines.known_failures import FIELDS, LINKS, MARKS, parse_baseline
from wireproof.run.engine import MAX_WINDOW
from wireproof.run.events import BaselineText, CaseEvent, Footer, Run
from wireproof.run.exit_codes import MEANINGS, PRECEDENCE
from wireproof.wire.json_values import MAX_DIGITS
from wireproof.wire.options import MAX_OUTPUT, Profile
from wireproof.wire.rejection import REJECT_CLASSES
from wireproof.wire.scan_items import Item


def schema(name: str) -> Any:
    return json.loads((DOCS.parent / f"wireproof/schemas/{name}.schema.json").read_text("utf-8"))


# --- adapter-contract.md ---


CONTRACT = text_of("adapter-contract.md")
CONTRACT_SCHEMA = schema("adapter")["$defs"]

REQUEST = CONTRACT_SCHEMA["request"]["properties"]
HELLO = [one["properties"] for one in CONTRACT_SCHEMA["hello"]["properties"]["hello"]["oneOf"]]
ANSWERS = {name: CONTRACT_SCHEMA[name]["properties"] for name in ("accepted", "refused", "said", "exhausted")}


def first_words(heading: str, number: int = 0) -> list[str]:
    return [words(row[0])[0] for row in tables(CONTRACT, heading)[number]]


def choices(node: Any) -> list[str]:
    """The values that a property of the schema may have, if they are listed."""
    if node is True:
        return []
    node = CONTRACT_SCHEMA[node["$ref"].rpartition("/")[2]] if "$ref" in node else node
    node = node.get("items", node)
    return [*map(str, node.get("enum", [])), *([str(node["const"])] if "const" in node else [])]


@each("heading, number, properties", [
    ("Hello", 0, {**HELLO[0], **HELLO[1]}),
    ("Claims", 0, CONTRACT_SCHEMA["claim"]["properties"]),
    ("Request", 0, REQUEST),
    ("Request", 1, REQUEST["limits"]["properties"]),
    ("Request", 2, REQUEST["options"]["properties"]),
    ("Answers", 1, {key: node for one in ANSWERS.values() for key, node in one.items()}),
])  # fmt: skip
def test_a_table_has_the_fields_of_the_schema_and_their_words(
    heading: str, number: int, properties: dict[str, Any]
) -> None:
    rows = tables(CONTRACT, heading)[number]
    assert first_words(heading, number) == list(properties)
    for cell, *rest in rows:
        name = words(cell)[0]
        listed = choices(properties[name])
        if name not in ("outcome", "class"):  # they have tables of their own
            assert set(listed) <= set(words(" ".join(rest))), name


def test_every_outcome_and_every_class_has_a_row() -> None:
    outcomes = [word for one in ANSWERS.values() for word in choices(one["outcome"])]
    assert sorted(first_words("Answers")) == sorted(outcomes)
    assert first_words("Classes") == list(REJECT_CLASSES) == choices(CONTRACT_SCHEMA["class"])


def test_each_field_of_an_answer_names_the_outcomes_that_have_it() -> None:
    named = {words(row[0])[0]: row[1] for row in tables(CONTRACT, "Answers")[1]}
    for name, where in named.items():
        found = {kind for kind, properties in ANSWERS.items() if name in properties}
        match where:
            case "all":
                assert found == set(ANSWERS)
            case "all but accepted":
                assert found == set(ANSWERS) - {"accepted"}
            case _:
                assert found == set(where.split(", ")), name


def test_the_features_are_those_of_the_formats() -> None:
    capabilities = [atom.partition(":") for row in FORMATS.values() for atom in row.capabilities]
    of_servers = tables(text_of("sequences.md"), "What the adapter gets and answers")[0]
    listed = [*first_words("Claims", 1), *(words(row[0])[0] for row in of_servers)]
    assert sorted(listed) == sorted({name for kind, _, name in capabilities if kind == "feature"})
    codecs = {name for claim in Reference().revisions.values() for name in claim.codecs or ()}
    claims = {words(row[0])[0]: set(words(row[1])) for row in tables(CONTRACT, "Claims")[0]}
    assert claims["codecs"] == codecs
    assert claims["profiles"] == set(get_args(Profile))


def test_the_fields_of_an_item_are_those_of_a_scan() -> None:
    names = ["class" if name == "cls" else name for name in Item.__slots__ if name[0] != "_"]
    assert first_words("Values", 1) == [name for name in names if name != "remarks"]


def test_the_names_of_the_python_contract_are_there() -> None:
    text = CONTRACT.partition("## Python objects")[2]
    for name in set(wireproof.adapters.__all__) - {"Claim"}:
        assert f"`{name}" in text, name


def test_the_limits_are_those_of_the_code() -> None:
    limits = {row[0]: row[1] for row in tables(CONTRACT, "Limits")[0]}
    mib = process.MIB
    assert limits["hello"] == (
        f"{process.HELLO_SECONDS:g} s, {process.HELLO.size // mib} MiB, "
        f"claims of {answers.MOST_CLAIMS // 1024} KiB"
    )
    assert limits["memory of the adapter"].startswith(f"{process.MEMORY // mib // 1024} GiB ")
    assert limits["answer"] == (
        f"{process.LEAST.size // mib} MiB plus {process.EACH} bytes for each byte of input, "
        f"at most {framing.MAX_MESSAGE // mib} MiB; three times as much as a line"
    )
    assert framing.LINE == 3
    assert limits["values in an answer"] == (
        f"{process.LEAST.nodes:,} plus {process.EACH} for each byte of input, at most {framing.MOST_NODES:,}"
    )
    assert limits["nesting of JSON"] == f"{framing.DEEPEST} levels"
    assert limits["texts"] == (
        f"`text` {answers.TEXT} characters, `path` and `detail` {answers.PATH}, "
        f"{answers.REMARKS} remarks, {answers.REMARKS} broken rules"
    )
    assert limits["request"] == f"{framing.MAX_MESSAGE // mib} MiB"


def test_the_other_numbers_are_those_of_the_code() -> None:
    by_field = {words(row[0])[0]: row[1] for heading, number in (("Hello", 0), ("Request", 1))
                for row in tables(CONTRACT, heading)[number]}  # fmt: skip
    assert f"1 to {MAX_WINDOW}" in by_field["window"]
    assert f"one in {requests.SLOW_SHARE} " in by_field["cost"]
    assert f"the first {answers.NAME} characters" in by_field["name"]
    assert f"; {Limits().ms} " in by_field["ms"]
    assert f"; {MAX_OUTPUT} ({MAX_OUTPUT // process.MIB} MiB)" in by_field["max_output"]
    assert f"up to {MAX_DIGITS} digits" in CONTRACT
    assert requests.MAX_PER_FAMILY == 3
    assert "After three deaths" in CONTRACT
    text = " ".join(CONTRACT.split())
    assert (
        f"After {requests.MAX_SIGNATURES} kinds of death, "
        f"{requests.MAX_CONSECUTIVE_TIMEOUTS} timeouts in a row or {requests.MAX_TIMEOUTS}" in text
    )
    assert f"after {requests.MAX_FAULTS} breaches of the contract" in text


def test_the_memory_limits_of_cases_are_those_of_the_fixtures() -> None:
    from goldens import load  # noqa: PLC0415 - one test of this file needs the cases

    found = sorted({case.limits.rss_mb for case in load().cases if case.limits.rss_mb is not None})
    assert (
        " or ".join(map(str, found)) + " MiB"
        in {row[0]: row[1] for row in tables(CONTRACT, "Limits")[0]}["memory for one case"]
    )


# --- results.md ---


RESULTS = text_of("results.md")
EVENT_SCHEMA = schema("events")["oneOf"]

ENDS = {
    "level": "at its level",
    "runaway": "at `must` and `should`",
    "should": "with `--level should`",
    "adapter": "always, with exit code 4",
    "suite": "always, with exit code 5",
    "never": "never",
    "cause": "by its kind",
}


def test_the_exit_codes_are_those_of_the_code_and_so_is_their_order() -> None:
    rows = {row[0]: row[1] for row in tables(RESULTS, "Exit codes")[0]}
    for code, meaning in MEANINGS.items():
        assert rows[str(int(code))].startswith(meaning)
    order = ", ".join(str(int(code)) for code in PRECEDENCE)
    assert f"the first of {order} wins" in RESULTS


def test_the_verdicts_are_those_of_the_code_in_its_order() -> None:
    shown = [(words(row[0])[0], row[2]) for row in tables(RESULTS, "Verdicts")[0]]
    assert shown == [(row.name, ENDS[row.gate]) for row in ROWS.values()]


def test_the_kinds_are_those_of_the_code() -> None:
    shown = {words(row[0])[0]: words(row[1]) for row in tables(RESULTS, "Verdicts")[1]}
    assert {name: kinds for name, kinds in shown.items() if kinds} == {
        row.name: list(row.kinds) for row in ROWS.values() if row.kinds and "*" not in row.kinds
    }
    assert {name for name, kinds in shown.items() if not kinds} == {
        row.name for row in ROWS.values() if "*" in row.kinds
    }


@each("number, kind", [(0, Run), (1, BaselineText), (2, CaseEvent), (3, Footer)])
def test_the_fields_of_an_event_are_those_of_its_class_and_of_its_schema(number: int, kind: Any) -> None:
    shown = [word for row in tables(RESULTS, "Event stream")[number] for word in words(row[0])]
    names = ["class" if field.name == "cls" else field.name for field in fields(kind)]
    assert sorted(shown) == sorted(["event", *names])
    assert sorted(EVENT_SCHEMA[number]["properties"]) == sorted(shown)


def test_the_fields_of_a_known_failure_are_those_of_the_file() -> None:
    shown = [word for row in tables(RESULTS, "Known failures")[0] for word in words(row[0])]
    assert sorted(shown) == sorted([*FIELDS, *LINKS, *MARKS, "path"])
    entry = "".join(f'{name} = "x"\n' for name in FIELDS if name != "expires") + "expires = 2030-01-01\n"
    (heading,) = re.findall(r"a table `([^`]+)`", RESULTS)
    assert len(parse_baseline(f"{heading}\n{entry}".replace('kind = "x"', 'kind = "fail"'))) == 1


# --- writing-a-case.md ---


WRITING = text_of("writing-a-case.md")
CASE_SCHEMA = schema("fixture")["$defs"]
CASE = CASE_SCHEMA["case"]["properties"]


def test_the_keys_of_a_case_are_those_of_the_schema_in_the_order_of_a_file() -> None:
    rows = tables(WRITING, "A fixture file")[0]
    assert [words(row[0])[0] for row in rows] == list(CASE_KEYS)
    assert set(CASE_KEYS) == set(CASE)
    assert {words(row[0])[0] for row in rows if row[1] == "yes"} == set(CASE_SCHEMA["case"]["required"])


def test_the_words_of_each_key_are_those_of_the_schema() -> None:
    cells = {words(row[0])[0]: words(row[2]) for row in tables(WRITING, "A fixture file")[0]}
    for key in ("op", "profile"):
        assert set(CASE[key]["enum"]) == set(cells[key])
    assert set(cells["level"]) == set(CASE["level"]["enum"]) - {"info"}  # no case has the level `info`
    assert set(CASE["flags"]["items"]["enum"]) == set(cells["flags"])
    assert set(CASE["source"]["properties"]["origin"]["enum"]) <= set(cells["source"])
    assert set(CASE["source"]["properties"]) <= set(cells["source"])
    assert set(CASE["limits"]["properties"]) == set(cells["limits"])
    inputs = {key for one in CASE_SCHEMA["input"]["oneOf"] for key in one["properties"]}
    assert inputs <= set(re.findall(r"\w+", " ".join(cells["input"])))


def test_the_expectations_and_their_fields_are_those_of_the_schema() -> None:
    rows = {words(row[0])[0]: set(words(row[1])) for row in tables(WRITING, "A fixture file")[1]}
    for name in ("accept", "reject", "either"):
        assert set(CASE_SCHEMA[name]["properties"][name]["properties"]) <= rows[name]
    assert set(rows) == {"accept", "reject", "either"}


def test_the_keys_of_a_rule_are_those_of_its_class() -> None:
    rows = tables(WRITING, "A rule")[0]
    assert [word for row in rows for word in words(row[0])] == [field.name for field in fields(Rule)]
    assert set(words(rows[1][1])) == set(get_args(RuleKind))


def test_the_keys_of_a_sentence_and_of_a_witness_reason_are_those_of_their_classes() -> None:
    for heading, kind in (
        ("A sentence of a format document", Sentence),
        ("A case without a witness", Unwitnessed),
    ):
        rows = tables(WRITING, heading)[0]
        assert [word for row in rows for word in words(row[0])] == [field.name for field in fields(kind)]


def test_the_keys_of_a_known_bug_are_those_of_its_class() -> None:
    rows = tables(WRITING, "A known bug")[0]
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
    block = re.search(r"^```\n(\{.*?)^```", WRITING, re.DOTALL | re.MULTILINE)
    assert block
    page = json.loads(block[1])
    (case,) = page["cases"]
    path = TOP / "fixtures" / page["format"] / page["revision"] / "identifier.json"
    there = {row["id"]: row for row in json.loads(path.read_text("utf-8"))["cases"]}[case["id"]]
    there["source"].pop("witnesses")
    assert case == there


# --- api.md ---


API = text_of("api.md")

SECTIONS = ("Adapters", "Hypothesis strategies", "Reference codec", "Spark")

SOURCES = {"wireproof.kafka_log", "wireproof.heka_stream", "wireproof.iggy_log"}
"""Names that Spark finds; no module has them."""

NAMES = [words(row[0])[0] for section in SECTIONS for row in tables(API, section)[0]]


@each("name", [name for name in NAMES if name not in SOURCES])
def test_every_name_can_be_imported(name: str) -> None:
    module, _, attribute = name.rpartition(".")
    if module.startswith("wireproof.spark"):
        pytest.importorskip("pyspark")
    assert callable(getattr(importlib.import_module(module), attribute))


def test_every_data_source_has_a_module_that_spark_finds() -> None:
    assert set(NAMES) >= SOURCES
    for name in SOURCES:
        assert find_spec(f"pyspark_{name.replace('.', '_')}") is not None


@pytest.mark.parametrize("module", [wireproof, adapters, strategies], ids=lambda module: module.__name__)
def test_everything_that_a_public_module_exports_is_named(module: ModuleType) -> None:
    exported = {f"{module.__name__}.{name}" for name in module.__all__ if not name.startswith("__")}
    assert exported == {name for name in NAMES if name.rpartition(".")[0] == module.__name__} - SOURCES


def test_every_option_of_the_pytest_plugin_is_named() -> None:
    text = (TOP / "reference/wireproof/pytest_plugin.py").read_text("utf-8")
    assert {*re.findall(r'"(--codec[a-z-]*)"', text)} == {*re.findall(r"`(--codec[a-z-]*)`", API)}


def test_the_entry_point_groups_are_those_of_the_package() -> None:
    groups = [words(row[0])[0] for row in tables(API, "Entry points")[0]]
    assert groups == [GROUP]
    (sample,) = re.findall(r"```toml\n(.*?)```", API, re.DOTALL)
    assert [*tomllib.loads(sample)["project"]["entry-points"]] == groups


def test_the_example_prints_what_its_comment_shows(capsys: pytest.CaptureFixture[str]) -> None:
    (source,) = re.findall(r"```python\n(.*?)```", API, re.DOTALL)
    exec(source, {})
    comments = re.findall(r"print\(.*\)  # (.*)", source)
    assert capsys.readouterr().out.splitlines() == comments


def test_the_schemas_are_in_the_package() -> None:
    names = {path.name for path in (TOP / "reference/wireproof/schemas").glob("*.json")}
    assert names == {"adapter.schema.json", "events.schema.json", "fixture.schema.json"}


@pytest.mark.documents
@pytest.mark.parametrize("page", ["README.md", "api.md", "adopting.md"])
def test_the_examples_of_a_page_pass_mypy_as_a_user_runs_it(page: str, tmp_path: Path) -> None:
    api = pytest.importorskip("mypy.api", reason="mypy is of the extra lint")
    examples = re.findall(r"```python\n(.*?)```", text_of(page), re.DOTALL)
    paths = [tmp_path / f"example{number}.py" for number in range(len(examples))]
    for path, source in zip(paths, examples, strict=True):
        path.write_text(source, encoding="utf-8")
    settings = tmp_path / "mypy.ini"
    settings.write_text(
        "[mypy]\nstrict = True\n[mypy-kafka.*]\nignore_missing_imports = True\n", encoding="utf-8"
    )
    printed, _, status = api.run(["--config-file", str(settings), *map(str, paths)])
    assert (status, len(paths)) == (0, max(1, len(paths))), printed
