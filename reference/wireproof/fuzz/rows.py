"""A case as the JSON of a fixture file, and a rule as TOML: keys in order, and none that says nothing."""

import hashlib
import json
from typing import Any

from attrs import asdict

from wireproof.cases.case import Case, Data, Limits
from wireproof.cases.rules import Rule
from wireproof.cases.token import options_row, to_row
from wireproof.wire.options import DEFAULT

ORDER = (
    "id", "aliases", "title", "why", "op", "profile", "options", "level", "rules", "flags", "input", "expect",
    "twin", "needs", "source", "limits",
)  # fmt: skip
"""The keys of a case, as fixture files have them."""


def to_fixture(case: Case, file: str = "") -> dict[str, Any]:
    """The row of a case; `file` names the one that holds its bytes."""
    row = to_row(case)
    row["options"] = {
        key: value for key, value in options_row(case).items() if value != getattr(DEFAULT, key, None)
    }
    row["limits"] = {
        key: value for key, value in asdict(case.limits).items() if value != getattr(Limits(), key)
    }
    row["expect"] = _bare(row["expect"])
    if case.profile == DEFAULT.profile:
        row["profile"] = None
    if file and isinstance(case.input, Data):
        row["input"] = {"file": file, "sha256": hashlib.sha256(case.input.data).hexdigest()}
    return {key: row[key] for key in ORDER if row.get(key) not in (None, [], {}, "")} | _always(row)


def _always(row: dict[str, Any]) -> dict[str, Any]:
    """Keys that are required, whatever they hold."""
    return {key: row[key] for key in ("why", "rules") if not row[key]}


def _bare(expect: dict[str, Any]) -> dict[str, Any]:
    """An expectation without what is empty; a value of null is none."""
    (name, body), *_ = expect.items()
    return {name: {key: value for key, value in body.items() if value not in (None, [])}}


def rule_text(rule: Rule) -> str:
    """A `[[rule]]` table."""
    pairs = ((key, value) for key, value in asdict(rule).items() if value)
    lines = "".join(f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in pairs)
    return f"\n[[rule]]\n{lines}"
