"""A rule as the TOML of a rules file."""

import json

from attrs import asdict

from wireproof.cases.rules import Rule


def rule_text(rule: Rule) -> str:
    """A `[[rule]]` table."""
    pairs = ((key, value) for key, value in asdict(rule).items() if value)
    lines = "".join(f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in pairs)
    return f"\n[[rule]]\n{lines}"
