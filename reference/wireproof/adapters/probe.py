"""Check of an adapter's claims against its behaviour, and discovery of what it does not claim.

See `adapter-contract.md`. The caller passes small cases; each one tests its operation, its profile and its
needs. A capability works if the adapter accepts a case that must be accepted, and no case that must be
refused because of the capability. The judge compares values. Different values are only counted here, because
an adapter that ignores compression also accepts the case, but returns bytes that it did not decompress.
"""

from collections.abc import Iterable, Iterator
from typing import Literal, Protocol

from attrs import frozen

from wireproof.adapters.contract import Claim, Hello
from wireproof.cases.case import Accept, Case, Either, Op
from wireproof.cases.observable_fields import observed_tree
from wireproof.cases.outcome import Accepted, NotRun, Outcome
from wireproof.wire.observed_fields import project

OPS: tuple[Op, ...] = ("decode", "encode", "scan")

Standing = Literal["agrees", "over-claimed", "under-claimed", "found"]
"""`over-claimed` is a failure, `under-claimed` is reported, `found` is neither claimed nor denied."""


class CaseRunner(Protocol):
    """The engine, which runs the cases."""

    hello: Hello

    def ask(self, cases: Iterable[Case]) -> Iterator[tuple[Case, Outcome]]:
        """Yield each case with its outcome; run it whatever the adapter claims."""
        ...


@frozen
class ProbeResult:
    """One thing that an adapter can or cannot do.

    Attributes:
        format_id: format and revision, such as `kafka.batch/v2`.
        kind: `op`, `codec`, `profile` or `feature`.
        name: such as `decode`, `lz4`, `produce`, `control-batch`.
        claimed: the claim in the hello; None if there is none.
        works: True if the behaviour shows it.
        asked: number of cases that must be accepted.
        accepted: number of those that were accepted.
        differs: ids of accepted cases with a different value.
        wrongly: ids of cases that must be refused and were accepted.
    """

    format_id: str
    kind: str
    name: str
    claimed: bool | None
    works: bool
    asked: int = 0
    accepted: int = 0
    differs: tuple[str, ...] = ()
    wrongly: tuple[str, ...] = ()

    @property
    def standing(self) -> Standing:
        """Return the relation of claim and behaviour."""
        match self.claimed, self.works:
            case True, False:
                return "over-claimed"
            case False, True:
                return "under-claimed"
            case None, _:
                return "found"
            case _:
                return "agrees"


Thing = tuple[str, str, str]
"""Format and revision, kind, name."""


def things_of(case: Case) -> list[Thing]:
    """Return the capabilities that a case tests; a case that needs no codec tests uncompressed bytes."""
    things: list[Thing] = [(case.format_id, "op", case.op), (case.format_id, "profile", case.profile)]
    capabilities = [atom.partition(":") for atom in case.needs]
    if all(kind != "codec" for kind, _, _ in capabilities):
        things.append((case.format_id, "codec", "none"))
    return things + [(case.format_id, kind, name) for kind, _, name in capabilities]


def findings(hello: Hello, asked: Iterable[tuple[Case, Outcome]]) -> tuple[ProbeResult, ...]:
    """Return the findings for cases that were run already, sorted."""
    seen: dict[Thing, list[Shown]] = {}
    for case, outcome in asked:
        if not isinstance(outcome, NotRun) and not isinstance(case.expect, Either):
            shown = Shown(case, outcome, _differs(hello, case, outcome))
            for thing in things_of(case):
                seen.setdefault(thing, []).append(shown)
    return tuple(
        _finding(thing, rows, _claimed(hello, thing))
        for thing, rows in sorted(seen.items())
        if any(row.wanted for row in rows)
    )


@frozen
class Shown:
    """A case and its outcome; `differs` is True if the answer has a different value."""

    case: Case
    outcome: Outcome
    differs: bool

    @property
    def wanted(self) -> bool:
        """Return True if the case must be accepted."""
        return isinstance(self.case.expect, Accept)

    @property
    def accepted(self) -> bool:
        """Return True if the case was accepted."""
        return isinstance(self.outcome, Accepted)


def _finding(thing: Thing, rows: list[Shown], claimed: bool | None) -> ProbeResult:
    good = [row for row in rows if row.wanted]
    wrongly = [row for row in rows if row.accepted and not row.wanted]
    accepted = [row for row in good if row.accepted]
    blamed = any(f"{thing[1]}:{thing[2]}" in row.case.needs for row in wrongly)
    nothing_refused = bool(wrongly) and all(row.accepted for row in rows)
    return ProbeResult(
        *thing,
        claimed,
        works=bool(accepted) and not blamed and not nothing_refused,
        asked=len(good),
        accepted=len(accepted),
        differs=tuple(row.case.id for row in accepted if row.differs),
        wrongly=tuple(row.case.id for row in wrongly),
    )


def _differs(hello: Hello, case: Case, outcome: Outcome) -> bool:
    """Return True if the answer to a decode has a different value in an observed field."""
    if case.op != "decode" or not isinstance(case.expect, Accept) or not isinstance(outcome, Accepted):
        return False
    claim = hello.revisions.get(case.format_id)
    wanted = observed_tree(case.format_id, claim.observes if claim is not None else ())
    return project(outcome.value, wanted) != project(case.expect.value, wanted)


def _claimed(hello: Hello, thing: Thing) -> bool | None:
    format_id, kind, name = thing
    claim = hello.revisions.get(format_id)
    if claim is None:
        return False if hello.revisions else None
    names = _names(claim, kind)
    return None if names is None else name in names


def _names(claim: Claim, kind: str) -> tuple[str, ...] | None:
    return {
        "op": claim.ops,
        "codec": claim.codecs,
        "profile": claim.profiles,
        "feature": claim.features,
    }.get(kind)
