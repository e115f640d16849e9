"""Advice about the claims in a hello that the adapter's answers contradict. See `adapter-contract.md`.

`probe` checks operations, codecs, profiles and features against behaviour. This module checks `observes`,
`errors`, `window` and the spelling of every claim: a misspelt claim would leave cases out silently. Each
advice names the observation and the correction.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from attrs import evolve, frozen

from wireproof.adapters.contract import Claim, Hello
from wireproof.adapters.probe import CaseRunner, ProbeResult
from wireproof.cases.case import Accept, Case, Reject
from wireproof.cases.observable_fields import EVERY_FIELD
from wireproof.cases.outcome import Accepted, NotRun, Outcome, Refused
from wireproof.formats import FORMATS
from wireproof.suggestions import closest
from wireproof.wire.json_values import Json
from wireproof.wire.observed_fields import field_tree, project

CODECS: Final = ("none", "gzip", "snappy", "lz4", "zstd")
PROFILES: Final = ("reader", "produce")
ENOUGH: Final = 5
"""Refusals that are needed before their classes allow advice."""

AGAIN: Final = 200
"""Cases that are run a second time, one by one."""

Asked = tuple[Case, Outcome]


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


# --- words ---


def words(hello: Hello, cases: Iterable[Case]) -> Iterator[Advice]:
    """Yield advice for claims with an unknown name, which are probably misspelt."""
    capabilities: dict[str, set[str]] = {}
    for case in cases:
        capabilities.setdefault(case.format_id, set()).update(case.needs)
    for format_id, claim in hello.revisions.items():
        if format_id not in FORMATS:
            yield _misspelt("revisions", format_id, list(FORMATS))
            continue
        known = {
            atom.partition(":")[2]
            for atom in (*FORMATS[format_id].capabilities, *capabilities.get(format_id, ()))
        }
        for field, names, right in (
            ("codecs", claim.codecs, CODECS),
            ("profiles", claim.profiles, PROFILES),
            ("features", claim.features, sorted(known)),
        ):
            for name in names or ():
                if name not in right:
                    yield _misspelt(f"{field} of {format_id}", name, right)


def _misspelt(where: str, name: str, right: Sequence[str]) -> Advice:
    near = closest(name, right)
    fix = f'write "{near}", or remove it' if near else "remove it"
    return Advice(f'{where}: unknown name "{name}"', fix)


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
        if not below:
            yield _misspelt(f"observes of {format_id}", pattern, list(wanted))
        elif not any(shown[path] for path in below):
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


def advice(runner: CaseRunner, cases: Sequence[Case], asked: Sequence[Asked]) -> tuple[Advice, ...]:
    """Return all advice, false claims first."""
    hello = runner.hello
    found = [*words(hello, cases), *observes(hello, asked), *errors(hello, asked), *window(runner, asked)]
    return tuple(sorted(found, key=lambda one: not one.wrong))
