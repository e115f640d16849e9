"""results.md is a contract: its verdicts, kinds, exit codes and event fields are those of the code."""

import json
import re
from typing import Any

from attrs import fields
from documentation import DOCS, tables, text_of, words
from each import each

from wireproof.judge.verdicts import ROWS
from wireproof.run.baselines.known_failures import FIELDS, LINKS, MARKS, PATH, parse_baseline
from wireproof.run.events import BaselineText, CaseEvent, Footer, Run
from wireproof.run.exit_codes import MEANINGS, PRECEDENCE

PAGE = text_of("results.md")
SCHEMA = json.loads((DOCS.parent / "wireproof" / "schemas" / "events.schema.json").read_text("utf-8"))[
    "oneOf"
]

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
    rows = {row[0]: row[1] for row in tables(PAGE, "Exit codes")[0]}
    for code, meaning in MEANINGS.items():
        assert rows[str(int(code))].startswith(meaning)
    order = ", ".join(str(int(code)) for code in PRECEDENCE)
    assert f"the first of {order} wins" in PAGE


def test_the_verdicts_are_those_of_the_code_in_its_order() -> None:
    shown = [(words(row[0])[0], row[2]) for row in tables(PAGE, "Verdicts")[0]]
    assert shown == [(row.name, ENDS[row.gate]) for row in ROWS.values()]


def test_the_kinds_are_those_of_the_code() -> None:
    shown = {words(row[0])[0]: words(row[1]) for row in tables(PAGE, "Verdicts")[1]}
    assert {name: kinds for name, kinds in shown.items() if kinds} == {
        row.name: list(row.kinds) for row in ROWS.values() if row.kinds and "*" not in row.kinds
    }
    assert {name for name, kinds in shown.items() if not kinds} == {
        row.name for row in ROWS.values() if "*" in row.kinds
    }


@each("number, kind", [(0, Run), (1, BaselineText), (2, CaseEvent), (3, Footer)])
def test_the_fields_of_an_event_are_those_of_its_class_and_of_its_schema(number: int, kind: Any) -> None:
    shown = [word for row in tables(PAGE, "Event stream")[number] for word in words(row[0])]
    names = ["class" if field.name == "cls" else field.name for field in fields(kind)]
    assert sorted(shown) == sorted(["event", *names])
    assert sorted(SCHEMA[number]["properties"]) == sorted(shown)


def test_the_fields_of_a_known_failure_are_those_of_the_file() -> None:
    shown = [word for row in tables(PAGE, "Known failures")[0] for word in words(row[0])]
    assert sorted(shown) == sorted([*FIELDS, *LINKS, *MARKS, PATH])
    entry = "".join(f'{name} = "x"\n' for name in FIELDS if name != "expires") + "expires = 2030-01-01\n"
    (heading,) = re.findall(r"a table `([^`]+)`", PAGE)
    assert len(parse_baseline(f"{heading}\n{entry}".replace('kind = "x"', 'kind = "fail"'))) == 1
