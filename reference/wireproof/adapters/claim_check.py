"""Check of the claims in a hello on arrival: an unknown name would leave cases out silently."""

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final, get_args

from attrs import frozen

from wireproof.adapters.contract import Claim, Hello
from wireproof.adapters.errors import AdapterStartError
from wireproof.cases.observable_fields import unknown_part
from wireproof.formats import FORMATS
from wireproof.suggestions import suggestion
from wireproof.wire.options import Profile
from wireproof.wire.safe_text import one_line

LONGEST: Final = 80
"""Characters of a name that a message shows."""


@frozen
class UnknownName:
    """A name in a hello that does not exist.

    Attributes:
        kind: `revision`, `codec`, `profile`, `feature` or `observes`.
        format_id: of the claim; empty for a revision.
        word: the name; for a field its whole pattern.
        part: the part of the pattern that does not exist.
        valid: the names that do.
    """

    kind: str
    format_id: str
    word: str
    part: str
    valid: tuple[str, ...]


def unknown_names(hello: Hello) -> Iterator[UnknownName]:
    """Yield the names in all claims that do not exist."""
    for format_id, claim in hello.revisions.items():
        if format_id not in FORMATS:
            yield UnknownName("revision", "", format_id, format_id, tuple(FORMATS))
            continue
        for kind, claimed, valid in _names(claim):
            for word in claimed:
                if word not in valid:
                    yield UnknownName(kind, format_id, word, word, tuple(valid))
        for pattern in claim.observes:
            if found := unknown_part(FORMATS[format_id], pattern):
                yield UnknownName("observes", format_id, pattern, *found)


def check_claims(name: str, hello: Hello) -> None:
    """Raise `AdapterStartError` with the first unknown name and a suggestion."""
    for unknown in unknown_names(hello):
        if unknown.kind == "observes":
            raise AdapterStartError(
                f"{name}: its hello observes {one_line(unknown.word, LONGEST)!r} of {unknown.format_id}, "
                f"which has no {one_line(unknown.part, LONGEST)!r} there: "
                f"{suggestion(field_of(unknown.part), unknown.valid)}"
            )
        what = f"{unknown.kind} of {unknown.format_id}" if unknown.format_id else unknown.kind
        raise AdapterStartError(
            f"{name}: its hello claims the {what} {one_line(unknown.word, LONGEST)!r}, which does not exist: "
            f"{suggestion(unknown.word, unknown.valid)}"
        )


def _names(claim: Claim) -> Iterator[tuple[str, tuple[str, ...], Iterable[str]]]:
    yield "codec", claim.codecs or (), _atoms("codec")
    yield "profile", claim.profiles or (), get_args(Profile)
    yield "feature", claim.features or (), _atoms("feature")


@cache
def _atoms(kind: str) -> tuple[str, ...]:
    """Return the names of a kind of capability that any format has."""
    capabilities = (atom.partition(":") for row in FORMATS.values() for atom in row.capabilities)
    return tuple(dict.fromkeys(name for found, _, name in capabilities if found == kind))


def field_of(part: str) -> str:
    """Return the name in a part of a pattern: `magic` for `[magic=2]`."""
    return part.removeprefix("[").partition("=")[0]
