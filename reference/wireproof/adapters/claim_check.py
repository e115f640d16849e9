"""Check of the claims in a hello on arrival: an unknown name would leave cases out silently."""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final, get_args

from wireproof.adapters.contract import Claim, Hello
from wireproof.adapters.errors import AdapterStartError
from wireproof.cases.observable_fields import unknown_part
from wireproof.formats import FORMATS
from wireproof.suggestions import suggestion
from wireproof.wire.options import Profile
from wireproof.wire.safe_text import one_line

LONGEST: Final = 80
"""Characters of a name that a message shows."""


def check_claims(name: str, hello: Hello) -> None:
    """Check the names in all claims; raise `AdapterStartError` with the unknown name and a suggestion."""
    for format_id, claim in hello.revisions.items():
        if format_id not in FORMATS:
            raise _unknown(name, "revision", format_id, FORMATS)
        for kind, claimed, valid in _names(claim):
            for word in claimed:
                if word not in valid:
                    raise _unknown(name, f"{kind} of {format_id}", word, valid)
        _check_observes(name, format_id, claim)


def _names(claim: Claim) -> Iterator[tuple[str, tuple[str, ...], Iterable[str]]]:
    yield "codec", claim.codecs or (), _atoms("codec")
    yield "profile", claim.profiles or (), get_args(Profile)
    yield "feature", claim.features or (), _atoms("feature")


@cache
def _atoms(kind: str) -> tuple[str, ...]:
    """Return the names of a kind of capability that any format has."""
    capabilities = (atom.partition(":") for row in FORMATS.values() for atom in row.capabilities)
    return tuple(dict.fromkeys(name for found, _, name in capabilities if found == kind))


def _check_observes(name: str, format_id: str, claim: Claim) -> None:
    for pattern in claim.observes:
        if found := unknown_part(FORMATS[format_id], pattern):
            part, known = found
            raise AdapterStartError(
                f"{name}: its hello observes {one_line(pattern, LONGEST)!r} of {format_id}, which has no "
                f"{one_line(part, LONGEST)!r} there: {suggestion(_field(part), known)}"
            )


def _unknown(name: str, what: str, word: str, valid: Iterable[str]) -> AdapterStartError:
    return AdapterStartError(
        f"{name}: its hello claims the {what} {one_line(word, LONGEST)!r}, which does not exist: "
        f"{suggestion(word, valid)}"
    )


def _field(part: str) -> str:
    """Return the name in a part of a pattern: `magic` for `[magic=2]`."""
    return part.removeprefix("[").partition("=")[0]
