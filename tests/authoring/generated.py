"""What the file of a generated case states of its recipe: size and digests of what it makes."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from wireproof.cases.generated_bytes import Recipe
from wireproof.cases.made_case import generator_of
from wireproof.strict_parsing import to_tree
from wireproof.wire.json_values import canonical_json, json_digest


def stated(recipe: Mapping[str, Any], op: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the input and the accepted answer of a decode or an encode."""
    made = Recipe(**recipe)
    makes = generator_of(made)
    data = makes.data(made) if op == "decode" else canonical_json(makes.given(made))
    source = {
        "generate": to_tree(made, without_defaults=True),
        "size": len(data),
        "sha256": sha256(data).hexdigest(),
    }
    return source, {"digest": json_digest(makes.value(made)), "consumed": len(data)} if op == "decode" else {}
