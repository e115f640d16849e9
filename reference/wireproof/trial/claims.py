"""What an adapter's claims say of one case: design, section 4, "claims"."""

from typing import Final

from wireproof.adapters.contract import Claim, Hello
from wireproof.cases.case import Case
from wireproof.trial.plan import in_profile
from wireproof.wire.observe import Wanted, tree_of

EXACT: Final = frozenset({"reference", "columnar"})
"""The adapters that are held to positions and remarks as well: ours. Design, section 3, "Classes"."""


def claim_of(hello: Hello, case: Case) -> Claim | None:
    """The claim on the case's format and revision; None where it claims others only, or nothing."""
    return hello.revisions.get(case.joined)


def excluded(hello: Hello, case: Case) -> str:
    """The claim that leaves the case out, in words; empty where none does.

    An adapter that claims nothing at all leaves nothing out: it has yet to be probed.
    """
    claim = claim_of(hello, case)
    if not hello.revisions:
        return "" if in_profile(case, None) else f"claims no profile {case.profile}"
    if claim is None:
        return f"claims no {case.joined}"
    if claim.ops is not None and case.op not in claim.ops:
        return f"claims no {case.op} of {case.joined}"
    if not in_profile(case, claim):
        return f"claims no profile {case.profile}"
    return next((f"claims no {atom}" for atom in case.needs if not _has(claim, atom)), "")


def _has(claim: Claim, atom: str) -> bool:
    kind, _, name = atom.partition(":")
    claimed = {"codec": claim.codecs, "feature": claim.features}.get(kind, claim.features)
    return claimed is None or name in claimed or atom in claimed


def observed(hello: Hello, case: Case) -> Wanted:
    """The patterns of the fields that the adapter shows; an empty tree is all of them."""
    claim = claim_of(hello, case)
    return tree_of(claim.observes) if claim is not None else {}
