"""Generated cases: the fixture has a recipe, with size and digest of what it makes.

What is stated comes from `fixtures/` while the recipe is the same, because making the largest takes seconds;
`wireproof lint` makes each and compares.
"""

import json
from functools import cache
from hashlib import sha256
from typing import Any

from tests.authoring.fixture_writer import FIXTURES, FixtureWriter
from wireproof.cases.generate.recipe import MAX_ASKED, Recipe, recipe_json
from wireproof.cases.made_case import generator_of
from wireproof.wire.json_values import canonical_json, json_digest

KIB, MIB = 1024, 1024 * 1024

LARGE = {"ms": 30_000, "rss_mb": 1024}
"""The limits of a case whose values have more than 1.5 MiB: they are held several times, and in hex."""

LONG = {"ms": 30_000}
"""The limits of a case with very many records, or with values of a megabyte."""


def add_generated(
    writer: FixtureWriter, name: str, title: str, recipe: dict[str, Any], *, rules: tuple[str, ...], why: str,
    doc: str, op: str = "decode", needs: tuple[str, ...] = (), remarks: tuple[str, ...] = (), level: str = "must",
    options: dict[str, Any] | None = None, limits: dict[str, int] | None = None, profile: str | None = None,
    reject: dict[str, Any] | None = None, twin: str | None = None,
) -> str:  # fmt: skip
    """Add a generated case under `<kind of the recipe>/<name>`; `limits` replace those of its size.

    With `reject` it is refused, and `twin` names the accepted case beside it.
    """
    ident = f"{recipe['kind']}/{name}"
    made = Recipe(**recipe)
    source, accept = _stated(ident, recipe_json(made), op)
    if remarks:
        accept["remarks"] = sorted(remarks)
    case = {
        "id": ident, "title": title, "why": why, "op": op, "level": level, "rules": list(rules), "input": source,
        "expect": {"accept": accept} if reject is None else {"reject": reject}, "twin": twin and f"{recipe['kind']}/{twin}", "needs": list(needs), "source": {"origin": "builder", "document": doc},
        "options": options, "limits": limits or _limits(made), "profile": profile,
        "flags": ["resource"] if "rss_mb" in (limits or {}) or made.payload > MAX_ASKED else [],
    }  # fmt: skip
    return writer.add(case)


def _limits(recipe: Recipe) -> dict[str, int] | None:
    if recipe.payload > MAX_ASKED:
        return dict(LARGE)
    return dict(LONG) if recipe.payload > MIB or recipe.records > 1000 else None


def _stated(ident: str, recipe: dict[str, Any], op: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the input and the accepted answer, without remarks."""
    form, revision, topic, _ = ident.split("/")
    old = _landed(form, revision, topic).get(ident)
    if old and old["input"].get("generate") == recipe and old["op"] == op and "accept" in old["expect"]:
        accept = old["expect"]["accept"]
        return old["input"], {key: accept[key] for key in ("digest", "consumed") if key in accept}
    made = Recipe(**recipe)
    makes = generator_of(made)
    data = makes.data(made) if op == "decode" else canonical_json(makes.given(made))
    source = {"generate": recipe, "size": len(data), "sha256": sha256(data).hexdigest()}
    return source, {"digest": json_digest(makes.value(made)), "consumed": len(data)} if op == "decode" else {}


@cache
def _landed(form: str, revision: str, topic: str) -> dict[str, Any]:
    path = FIXTURES / form / revision / f"{topic}.json"
    if not path.exists():
        return {}
    return {case["id"]: case for case in json.loads(path.read_text(encoding="utf-8"))["cases"]}
