"""Apply an adapter's claims to one case: is the case excluded, and which fields are compared.

The adapter contract (adapter-contract.md) defines the claims.
"""

import re
from collections.abc import Iterator
from typing import Final

from wireproof.adapters.contract import Claim, Hello
from wireproof.cases.case import Case, Value
from wireproof.cases.observable_fields import EVERY_FIELD, observed_tree
from wireproof.cases.steps import SEQUENCE
from wireproof.runner.requests import claims_profile, no_digests
from wireproof.wire.json_values import Json
from wireproof.wire.observed_fields import FieldTree

REFERENCE: Final = "reference"

_WORD: Final = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+")
"""A word, also of a name such as `offsetDelta` or `offset_delta`."""

OWN_DECODERS: Final = frozenset({REFERENCE, "columnar"})
"""The adapters whose positions and remarks are judged too: our own."""


def claim_of(hello: Hello, case: Case) -> Claim | None:
    """Return the claim on the case's format and revision; None if there is none."""
    return hello.revisions.get(case.format_id)


def exclusion_reason(hello: Hello, case: Case) -> str:
    """Return why the claims exclude the case, as words; empty if they do not.

    An adapter without any claim excludes nothing: it has not been probed yet.
    """
    claim = claim_of(hello, case)
    if not hello.revisions:
        if case.op == SEQUENCE:
            return f"claims no {SEQUENCE}"
        return no_digests(case, hello) if claims_profile(case, None) else f"claims no profile {case.profile}"
    if claim is None:
        return f"claims no {case.format_id}"
    if case.op == SEQUENCE if claim.ops is None else case.op not in claim.ops:
        return f"claims no {case.op} of {case.format_id}"
    if not claims_profile(case, claim):
        return f"claims no profile {case.profile}"
    lack = next((f"claims no {atom}" for atom in case.needs if not _includes(claim, atom)), "")
    return lack or no_digests(case, hello)


def names_field(case: Case, text: str) -> bool:
    """Return whether a text names a key of the value of an encode case: `user headers` for `userHeaders`."""
    if not isinstance(case.input, Value):
        return bool(text)
    named = _words(text)
    keys = map(_words, _keys(case.input.value))
    return any(key in named or f"{key[:-1]}s " in named for key in keys)


def _keys(value: Json) -> Iterator[str]:
    """Yield the keys of a value and of the values in it."""
    match value:
        case dict():
            yield from value
            for part in value.values():
                yield from _keys(part)
        case list():
            for part in value:
                yield from _keys(part)


def _words(text: str) -> str:
    """Return the words of a text or of a name between spaces: ` user headers ` for `userHeaders`."""
    return f" {' '.join(_WORD.findall(text)).lower()} "


def _includes(claim: Claim, atom: str) -> bool:
    kind, _, name = atom.partition(":")
    claimed = {"codec": claim.codecs, "feature": claim.features}.get(kind, claim.features)
    return claimed is None or name in claimed or atom in claimed


def observed_fields(hello: Hello, case: Case) -> FieldTree:
    """Return the patterns of the fields that the adapter shows; an empty tree means all fields."""
    claim = claim_of(hello, case)
    if claim is None:
        return observed_tree(case.format_id, (EVERY_FIELD,) if hello.name == REFERENCE else ())
    return observed_tree(case.format_id, claim.observes)
