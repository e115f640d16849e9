"""adapter-contract.md lists every word of the contract, from its schema and from the tables of the code."""

import json
from typing import Any, get_args

from documentation import DOCS, tables, text_of, words
from each import each

import wireproof.adapters
from wireproof.adapters import contract_json as answers
from wireproof.adapters import message_framing as framing
from wireproof.adapters import requests
from wireproof.adapters.process import controller as process
from wireproof.adapters.reference import Reference
from wireproof.cases.case import Limits
from wireproof.formats import FORMATS
from wireproof.run.engine import MAX_WINDOW
from wireproof.wire.json_values import MAX_DIGITS
from wireproof.wire.options import MAX_OUTPUT, Profile
from wireproof.wire.rejection import REJECT_CLASSES
from wireproof.wire.scan_items import Item

PAGE = text_of("adapter-contract.md")
SCHEMA = json.loads((DOCS.parent / "wireproof" / "schemas" / "adapter.schema.json").read_text("utf-8"))[
    "$defs"
]

REQUEST = SCHEMA["request"]["properties"]
HELLO = [one["properties"] for one in SCHEMA["hello"]["properties"]["hello"]["oneOf"]]
ANSWERS = {name: SCHEMA[name]["properties"] for name in ("accepted", "refused", "said", "exhausted")}


def first_words(heading: str, number: int = 0) -> list[str]:
    """The words in the first column of a table."""
    return [words(row[0])[0] for row in tables(PAGE, heading)[number]]


def choices(node: Any) -> list[str]:
    """The values that a property of the schema may have, if they are listed."""
    if node is True:
        return []
    node = SCHEMA[node["$ref"].rpartition("/")[2]] if "$ref" in node else node
    node = node.get("items", node)
    return [*map(str, node.get("enum", [])), *([str(node["const"])] if "const" in node else [])]


@each("heading, number, properties", [
    ("Hello", 0, {**HELLO[0], **HELLO[1]}),
    ("Claims", 0, SCHEMA["claim"]["properties"]),
    ("Request", 0, REQUEST),
    ("Request", 1, REQUEST["limits"]["properties"]),
    ("Request", 2, REQUEST["options"]["properties"]),
    ("Answers", 1, {key: node for one in ANSWERS.values() for key, node in one.items()}),
])  # fmt: skip
def test_a_table_has_the_fields_of_the_schema_and_their_words(
    heading: str, number: int, properties: dict[str, Any]
) -> None:
    rows = tables(PAGE, heading)[number]
    assert first_words(heading, number) == list(properties)
    for cell, *rest in rows:
        name = words(cell)[0]
        listed = choices(properties[name])
        if name not in ("outcome", "class"):  # they have tables of their own
            assert set(listed) <= set(words(" ".join(rest))), name


def test_every_outcome_and_every_class_has_a_row() -> None:
    outcomes = [word for one in ANSWERS.values() for word in choices(one["outcome"])]
    assert sorted(first_words("Answers")) == sorted(outcomes)
    assert first_words("Classes") == list(REJECT_CLASSES) == choices(SCHEMA["class"])


def test_each_field_of_an_answer_names_the_outcomes_that_have_it() -> None:
    named = {words(row[0])[0]: row[1] for row in tables(PAGE, "Answers")[1]}
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
    claims = {words(row[0])[0]: set(words(row[1])) for row in tables(PAGE, "Claims")[0]}
    assert claims["codecs"] == codecs
    assert claims["profiles"] == set(get_args(Profile))


def test_the_fields_of_an_item_are_those_of_a_scan() -> None:
    names = ["class" if name == "cls" else name for name in Item.__slots__ if name[0] != "_"]
    assert first_words("Values", 1) == [name for name in names if name != "remarks"]


def test_the_names_of_the_python_contract_are_there() -> None:
    text = PAGE.partition("## Python objects")[2]
    for name in set(wireproof.adapters.__all__) - {"Claim"}:
        assert f"`{name}" in text, name


def test_the_limits_are_those_of_the_code() -> None:
    limits = {row[0]: row[1] for row in tables(PAGE, "Limits")[0]}
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
                for row in tables(PAGE, heading)[number]}  # fmt: skip
    assert f"1 to {MAX_WINDOW}" in by_field["window"]
    assert f"one in {requests.SLOW_SHARE} " in by_field["cost"]
    assert f"the first {answers.NAME} characters" in by_field["name"]
    assert f"; {Limits().ms} " in by_field["ms"]
    assert f"; {MAX_OUTPUT} ({MAX_OUTPUT // process.MIB} MiB)" in by_field["max_output"]
    assert f"up to {MAX_DIGITS} digits" in PAGE
    assert requests.MAX_PER_FAMILY == 3
    assert "After three deaths" in PAGE
    text = " ".join(PAGE.split())
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
        in {row[0]: row[1] for row in tables(PAGE, "Limits")[0]}["memory for one case"]
    )
