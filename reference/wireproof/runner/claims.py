"""Apply an adapter's claims to one case: is the case excluded, and which fields are compared.

The adapter contract (adapter-contract.md) defines the claims.
"""

from typing import Final

from wireproof.adapters.contract import Claim, Hello
from wireproof.cases.case import Case
from wireproof.cases.observable_fields import EVERY_FIELD, observed_tree
from wireproof.cases.steps import SEQUENCE
from wireproof.runner.requests import claims_profile, no_digests
from wireproof.wire.observed_fields import FieldTree

REFERENCE: Final = "reference"

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
