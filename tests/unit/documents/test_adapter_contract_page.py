"""adapter-contract.md lists every field, outcome, class and name of the contract."""

import json
from typing import Any

from documentation import DOCS, tables, text_of, words
from each import each

import wireproof.adapters
from wireproof.wire.rejection import REJECT_CLASSES

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


def test_the_names_of_the_python_contract_are_there() -> None:
    text = PAGE.partition("## Python objects")[2]
    for name in set(wireproof.adapters.__all__) - {"Claim"}:
        assert f"`{name}" in text, name
