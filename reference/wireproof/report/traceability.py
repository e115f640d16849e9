"""Traceability as data: each sentence of the format documents with its links, rules and cases."""

from typing import Any

from wireproof.cases.fixtures import Suite
from wireproof.cases.lint_sentences import Coverage
from wireproof.cases.sources import cited


def sentence_json(row: Coverage, suite: Suite) -> dict[str, Any]:
    """Return a sentence as a JSON object: for programs, and for exports."""
    sentence = row.sentence
    return {
        "id": sentence.id,
        "text": sentence.text,
        "sources": [
            {"title": place.title, "url": place.url} for place in cited(sentence.cites, suite.sources)
        ],
        "state": row.state,
        "rules": list(row.rules),
        "cases": [case.id for case in row.cases],
        "exclusion": sentence.exclusion,
        "open": sentence.open,
        "one_kind": sentence.one_kind,
    }
