"""Check of an adapter's claims against its behaviour, and discovery of what it does not claim.

See `adapter-contract.md`. The caller passes small cases; each one tests its operation, its profile and its
needs. The judge decides which answers are right. A capability works if the adapter is right about a case that
must be accepted, and accepts no case that must be refused because of the capability.

The advice is about all claims: it names what was observed, and the correction.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from attrs import evolve, frozen

from wireproof.adapters.contract import Claim, Hello
from wireproof.adapters.registry.registry import field_of, unknown_names
from wireproof.adapters.requests import DEFAULT_PROFILES
from wireproof.cases.case import Accept, Case, Either, Reject
from wireproof.cases.observable_fields import EVERY_FIELD
from wireproof.cases.outcome import Accepted, NotRun, Outcome, Refused
from wireproof.cases.reference_answers import reference_answer
from wireproof.cases.steps import SEQUENCE
from wireproof.formats import FORMATS
from wireproof.judge.context import exclusion_reason
from wireproof.judge.judge import judge
from wireproof.judge.signature import signature_parts
from wireproof.judge.verdicts import Verdict
from wireproof.run.engine import Engine
from wireproof.suggestions import closest
from wireproof.wire.json_values import Json
from wireproof.wire.observed_fields import field_tree, project

Asked = tuple[Case, Outcome]

Standing = Literal["agrees", "absent", "over-claimed", "fails-in-part", "under-claimed", "found"]
"""`over-claimed` is a wrong claim; `fails-in-part` is claimed and works in some cases only; `absent` is not
claimed and does not work; `found` is of a hello without claims."""


@frozen
class ProbeResult:
    """One thing that an adapter can or cannot do.

    Attributes:
        format_id: format and revision, such as `kafka.batch/v2`.
        kind: `op`, `codec`, `profile` or `feature`.
        name: such as `decode`, `lz4`, `produce`, `control-batch`.
        claimed: the claim in the hello; None if the hello has no claims at all.
        works: True if the behaviour shows it.
        asked: number of cases that must be accepted.
        right: number of those that were answered rightly.
        accepted: number of those that were accepted, also with another value.
        wrongly: ids of cases that must be refused and were accepted.
        base_works: True if the adapter is right about most base cases: those of the format that it claims and
            that need no other capability. If they fail, a failure here shows nothing about the claim.
    """

    format_id: str
    kind: str
    name: str
    claimed: bool | None
    works: bool
    asked: int = 0
    right: int = 0
    wrongly: tuple[str, ...] = ()
    base_works: bool = True
    accepted: int = 0

    @property
    def standing(self) -> Standing:
        match self.claimed, self.works:
            case True, False:
                return "over-claimed"
            case True, True if self.right < self.asked:
                return "fails-in-part"
            case False, works if works or self.accepted:
                return "under-claimed"
            case False, False:
                return "absent"
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


@frozen
class ProbedCase:
    """A case that was run.

    Attributes:
        verdict: what the judge says of the answer, as if the adapter claimed the case.
        claimed: True if the claims of the hello include the case.
    """

    case: Case
    outcome: Outcome
    verdict: Verdict
    claimed: bool

    @property
    def wanted(self) -> bool:
        """Return True if the case must be accepted."""
        return isinstance(self.case.expect, Accept)

    @property
    def right(self) -> bool:
        """Return True if the case must be accepted, and is, with the right value."""
        return self.wanted and isinstance(self.outcome, Accepted) and self.verdict.passing


def judged(hello: Hello, asked: Iterable[Asked]) -> list[ProbedCase]:
    """Return the cases whose answer is not open, each with the verdict as if the adapter claimed it."""
    rows = []
    for case, outcome in asked:
        if isinstance(outcome, NotRun) or isinstance(case.expect, Either):
            continue
        claim = hello.revisions.get(case.format_id) or Claim()
        whole = Claim(ops=(case.op,), profiles=(case.profile,), observes=claim.observes)
        claiming = evolve(hello, revisions={case.format_id: whole}, digests=True)
        known = reference_answer if case.format_id in FORMATS else None
        verdict = judge(case, outcome, hello=claiming, reference=known)
        rows.append(ProbedCase(case, outcome, verdict, not exclusion_reason(hello, case)))
    return rows


def findings(hello: Hello, rows: Iterable[ProbedCase]) -> tuple[ProbeResult, ...]:
    """Return what cases show of each capability, sorted."""
    seen: dict[Thing, list[ProbedCase]] = {}
    for row in rows:
        for thing in things_of(row.case):
            seen.setdefault(thing, []).append(row)
    base = {
        thing: [row for row in rows if not row.case.needs and row.case.profile == "reader" and row.claimed]
        for thing, rows in seen.items()
        if thing[1] == "op"
    }
    return tuple(
        _finding(thing, rows, _claimed(hello, thing), _base_works(thing, base))
        for thing, rows in sorted(seen.items())
        if any(row.wanted for row in rows)
    )


def _base_works(thing: Thing, base: Mapping[Thing, list[ProbedCase]]) -> bool:
    """Return whether most base cases of the format are right; of an operation, those of the others."""
    wanted = [
        row
        for other, rows in base.items()
        if other[0] == thing[0] and other != thing
        for row in rows
        if row.wanted
    ]
    return 2 * sum(row.right for row in wanted) > len(wanted)


def _finding(thing: Thing, rows: list[ProbedCase], claimed: bool | None, base_works: bool) -> ProbeResult:
    """Return what cases show of one capability: of a claimed one, the cases that are claimed as a whole."""
    rows = [row for row in rows if row.claimed or not claimed]
    wrongly = [
        row for row in rows if isinstance(row.outcome, Accepted) and isinstance(row.case.expect, Reject)
    ]
    right = sum(row.right for row in rows)
    blamed = any(f"{thing[1]}:{thing[2]}" in row.case.needs for row in wrongly)
    nothing_refused = bool(wrongly) and all(isinstance(row.outcome, Accepted) for row in rows)
    return ProbeResult(
        *thing,
        claimed,
        works=right > 0 and not blamed and not nothing_refused,
        asked=sum(row.wanted for row in rows),
        right=right,
        wrongly=tuple(row.case.id for row in wrongly),
        base_works=base_works,
        accepted=sum(row.wanted and isinstance(row.outcome, Accepted) for row in rows),
    )


def _claimed(hello: Hello, thing: Thing) -> bool | None:
    """Return whether the hello claims a capability; a part that is missing has the contract's default."""
    format_id, kind, name = thing
    claim = hello.revisions.get(format_id)
    if claim is None:
        return False if hello.revisions else None
    if claim.ops == ():
        return False
    parts = {"op": claim.ops, "codec": claim.codecs, "profile": claim.profiles, "feature": claim.features}
    if (names := parts[kind]) is None:
        return {"op": name != SEQUENCE, "profile": name in DEFAULT_PROFILES}.get(kind, True)
    return name in names


def largest_failure(rows: Iterable[ProbedCase]) -> Sequence[ProbedCase]:
    """Return the most claimed cases of accepted input that fail alike at one field; empty if none fails."""
    groups: dict[tuple[str, ...], list[ProbedCase]] = {}
    for row in rows:
        if row.wanted and row.claimed and not row.right:
            verdict = row.verdict
            parts = signature_parts(verdict.label, verdict.cls, verdict.path, verdict.broken)
            groups.setdefault((row.case.format_id, *parts), []).append(row)
    return max(groups.values(), key=len, default=[])


@frozen
class Advice:
    """A difference between the hello and the behaviour of the codec.

    Attributes:
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
        case "over-claimed" if finding.base_works:
            return f'leave "{finding.name}" out of {where}, or fix the codec'
        case "over-claimed":
            return "keep the claim and mend the codec: the cases that need nothing else fail too"
        case "under-claimed" if finding.right == finding.asked:
            return f'add "{finding.name}" to {where}: until then its cases are not run'
        case "under-claimed":
            return f'refuse it, or answer "unsupported"; or make it work, and add "{finding.name}" to {where}'
        case _:
            return ""


def names(hello: Hello) -> Iterator[Advice]:
    """Yield advice for names that do not exist, which are probably misspelt."""
    for unknown in unknown_names(hello):
        near = closest(field_of(unknown.part), unknown.valid)
        kind = unknown.kind if unknown.kind == "observes" else f"{unknown.kind}s"
        where = f"{kind} of {unknown.format_id}" if unknown.format_id else kind
        fix = f'write "{near}", or remove it' if near else "remove it"
        yield Advice(f'{where}: unknown name "{unknown.word}"', fix)


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
    if hello.errors != "exact" and not other and len(refused) >= 5:
        text = f"errors: {hello.errors}, and the classes of all {len(refused)} refusals are right"
        yield Advice(text, 'claim "exact": until then a wrong class is no failure', wrong=False)
    if hello.errors == "none" and any(outcome.cls != "other" for _, outcome, _ in refused):
        yield Advice("errors: none, and refusals have classes", 'claim "coarse" or "exact"', wrong=False)
    untyped = [case.id for case, outcome, _ in refused if outcome.untyped]
    if untyped:
        text = f"{len(untyped)} of {len(refused)} refusals are no error that the codec documents"
        yield Advice(f"{text}, such as {untyped[0]}", "raise what it documents in their place", wrong=False)


def window(runner: Engine, asked: Sequence[Asked]) -> Iterator[Advice]:
    """Yield advice if answers change when one request at a time is sent; run a part of the cases again."""
    first = [(case, outcome) for case, outcome in asked if not isinstance(outcome, NotRun)]
    some = first[:: max(1, len(first) // 200)]
    hello = runner.hello
    runner.hello = evolve(hello, window=1)
    try:
        answers = runner.ask([case for case, _ in some])
        again = {case.id: outcome for (case, _), (_, outcome) in zip(some, answers, strict=True)}
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


def _same(one: Outcome, other: Outcome) -> bool:
    """Return True if two outcomes are equal apart from their texts."""
    match one, other:
        case Refused(), Refused():
            return one.cls == other.cls
        case Accepted(), Accepted():
            return (one.value, one.data, one.consumed) == (other.value, other.data, other.consumed)
        case _:
            return type(one) is type(other)


def advice(runner: Engine, asked: Sequence[Asked]) -> tuple[Advice, ...]:
    """Return all advice, false claims first."""
    hello = runner.hello
    found = [*names(hello), *observes(hello, asked), *errors(hello, asked), *window(runner, asked)]
    return tuple(sorted(found, key=lambda one: not one.wrong))
