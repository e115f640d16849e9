"""Check of an adapter's claims against its behaviour, and discovery of what it does not claim.

See `adapter-contract.md`. The caller passes small cases; each one tests its operation, its profile and its
needs. A capability works if the adapter accepts a case that must be accepted, and no case that must be
refused because of the capability. The judge compares values. Different values are only counted here, because
an adapter that ignores compression also accepts the case, but returns bytes that it did not decompress.

The advice is about all claims: it names what was observed, and the correction.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, Protocol

from attrs import evolve, frozen

from wireproof.adapters.claim_check import field_of, unknown_names
from wireproof.adapters.contract import Claim, Hello
from wireproof.cases.case import Accept, Case, Either, Reject
from wireproof.cases.observable_fields import EVERY_FIELD, observed_tree
from wireproof.cases.outcome import Accepted, NotRun, Outcome, Refused
from wireproof.suggestions import closest
from wireproof.wire.json_values import Json
from wireproof.wire.observed_fields import field_tree, project

ENOUGH: Final = 5
"""Refusals that are needed before their classes allow advice."""

AGAIN: Final = 200
"""Cases that are run a second time, one by one."""

Asked = tuple[Case, Outcome]

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


# --- advice ---


@frozen
class Advice:
    """A difference between the hello and the behaviour of the codec.

    Attributes:
        text: the observation.
        fix: the correction.
        wrong: True if a claim is false; False if the hello claims less than it could.
    """

    text: str
    fix: str
    wrong: bool = True


def fix_of(finding: ProbeResult) -> str:
    """Return how to correct a claim about an operation, codec, profile or feature; empty if it is correct."""
    field = {"op": "ops", "codec": "codecs", "profile": "profiles", "feature": "features"}[finding.kind]
    where = f'"{field}" of {finding.format_id}'
    match finding.standing:
        case "over-claimed":
            return f'remove "{finding.name}" from {where}, or fix the codec'
        case "under-claimed" if finding.accepted == finding.asked and not finding.differs:
            return f'add "{finding.name}" to {where}: until then its cases are not run'
        case "under-claimed":
            return f'refuse it, or answer "unsupported"; or make it work, and add "{finding.name}" to {where}'
        case _:
            return ""


# --- names ---


def names(hello: Hello) -> Iterator[Advice]:
    """Yield advice for names that do not exist, which are probably misspelt."""
    for unknown in unknown_names(hello):
        near = closest(field_of(unknown.part), unknown.valid)
        kind = unknown.kind if unknown.kind == "observes" else f"{unknown.kind}s"
        where = f"{kind} of {unknown.format_id}" if unknown.format_id else kind
        fix = f'write "{near}", or remove it' if near else "remove it"
        yield Advice(f'{where}: unknown name "{unknown.word}"', fix)


# --- observes ---


def observes(hello: Hello, asked: Sequence[Asked]) -> Iterator[Advice]:
    """Yield advice for fields that are claimed but not returned, or returned but not claimed."""
    for format_id, claim in hello.revisions.items():
        pairs = [
            (case.expect.value, outcome.value)
            for case, outcome in asked
            if (case.format_id, case.op) == (format_id, "decode")
            and isinstance(case.expect, Accept)
            and isinstance(outcome, Accepted)
        ]
        if pairs and claim.observes:
            yield from _observed(format_id, claim, pairs)


def _observed(format_id: str, claim: Claim, pairs: Sequence[tuple[Json, Json]]) -> Iterator[Advice]:
    wanted = Counter(path for value, _ in pairs for path in paths(value))
    shown = Counter(path for value, got in pairs for path in paths(got) & paths(value))
    for pattern in claim.observes:
        below = [path for path in wanted if _under(path, pattern)]
        if below and not any(shown[path] for path in below):
            text = f'{format_id}: observes "{pattern}", which none of its {len(pairs)} values has'
            yield Advice(text, f'return it, or remove it from "observes" of {format_id}')
    more = [path for path in wanted if not any(_under(path, pattern) for pattern in claim.observes)]
    right = [path for path in more if shown[path] == wanted[path] and _alike(pairs, path)]
    if right:
        text = f"{format_id}: returns {', '.join(right)} correctly and does not observe it"
        fix = f'add it to "observes" of {format_id}: until then it is not compared'
        yield Advice(text, fix, wrong=False)


def paths(value: Json, path: str = "") -> set[str]:
    """Return the patterns of the leaves of a value, such as `records[].key`; an empty list has none."""
    match value:
        case Mapping():
            parts = ((f"{path}.{name}" if path else name, part) for name, part in value.items())
        case list():
            parts = ((f"{path}[]", part) for part in value)
        case _:
            return {path} if path else set()
    return {found for where, part in parts for found in paths(part, where)}


def _under(path: str, pattern: str) -> bool:
    whole = pattern.removesuffix(EVERY_FIELD).removesuffix(".")
    return whole in ("", path) or path.startswith((f"{whole}.", f"{whole}["))


def _alike(pairs: Sequence[tuple[Json, Json]], path: str) -> bool:
    tree = field_tree((path,))
    return all(project(value, tree) == project(got, tree) for value, got in pairs)


# --- errors ---


def errors(hello: Hello, asked: Sequence[Asked]) -> Iterator[Advice]:
    """Yield advice if the classes of the refusals contradict the claim `errors`."""
    refused = [
        (case, outcome, (case.expect.cls, *case.expect.also))
        for case, outcome in asked
        if isinstance(case.expect, Reject) and isinstance(outcome, Refused)
    ]
    other = [(case, outcome, want) for case, outcome, want in refused if outcome.cls not in want]
    if hello.errors == "exact" and other:
        case, outcome, want = other[0]
        text = f"errors: exact, and {len(other)} of {len(refused)} refusals have another class"
        yield Advice(
            f"{text}, such as {case.id}: {outcome.cls} for {want[0]}",
            'map its errors to these classes, or claim "coarse"',
        )
    if hello.errors != "exact" and not other and len(refused) >= ENOUGH:
        text = f"errors: {hello.errors}, and the classes of all {len(refused)} refusals are right"
        yield Advice(text, 'claim "exact": until then a wrong class is no failure', wrong=False)
    if hello.errors == "none" and any(outcome.cls != "other" for _, outcome, _ in refused):
        yield Advice("errors: none, and refusals have classes", 'claim "coarse" or "exact"', wrong=False)
    untyped = [case.id for case, outcome, _ in refused if outcome.untyped]
    if untyped:
        text = f"{len(untyped)} of {len(refused)} refusals are no error that the codec documents"
        yield Advice(f"{text}, such as {untyped[0]}", "raise what it documents in their place", wrong=False)


# --- window ---


def window(runner: CaseRunner, asked: Sequence[Asked]) -> Iterator[Advice]:
    """Yield advice if answers change when one request at a time is sent; run a part of the cases again."""
    first = [(case, outcome) for case, outcome in asked if not isinstance(outcome, NotRun)]
    some = first[:: max(1, len(first) // AGAIN)]
    hello = runner.hello
    runner.hello = evolve(hello, window=1)
    try:
        again = dict(zip((case.id for case, _ in some), _outcomes(runner, some), strict=True))
    finally:
        runner.hello = hello
    differ = [case.id for case, outcome in some if not _same(again[case.id], outcome)]
    if not differ:
        return
    text = f"{len(differ)} of {len(some)} cases have another answer when they run again"
    fix = "one request leaves state that changes the answer to the next: reset the state before each"
    if hello.window > 1:
        text = f"window: {hello.window}, and {text} one by one"
        fix = f'claim "window": 1, or make requests independent; if the answers still change, {fix}'
    yield Advice(f"{text}, such as {differ[0]}", fix)


def _outcomes(runner: CaseRunner, some: Sequence[Asked]) -> Iterator[Outcome]:
    return (outcome for _, outcome in runner.ask([case for case, _ in some]))


def _same(one: Outcome, other: Outcome) -> bool:
    """Return True if two outcomes are equal apart from their texts."""
    match one, other:
        case Refused(), Refused():
            return one.cls == other.cls
        case Accepted(), Accepted():
            return (one.value, one.data, one.consumed) == (other.value, other.data, other.consumed)
        case _:
            return type(one) is type(other)


def advice(runner: CaseRunner, asked: Sequence[Asked]) -> tuple[Advice, ...]:
    """Return all advice, false claims first."""
    hello = runner.hello
    found = [*names(hello), *observes(hello, asked), *errors(hello, asked), *window(runner, asked)]
    return tuple(sorted(found, key=lambda one: not one.wrong))
