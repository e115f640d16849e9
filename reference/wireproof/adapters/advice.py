"""What a probe says of the rest of a hello, in words, and how each is mended. Design, section 4, "claims".

`probe` holds operations, codecs, profiles and features to behaviour; here are the words themselves, for a
misspelt claim leaves cases out without a sound, `observes`, `errors` and `window`. Every advice names what
was seen, and what to write in its place.
"""

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Protocol

from attrs import evolve, frozen

from wireproof.adapters.contract import Claim, Hello
from wireproof.adapters.probe import Finding
from wireproof.cases.case import Accept, Case, Reject
from wireproof.cases.outcome import Accepted, NotRun, Outcome, Refused
from wireproof.formats import FORMATS
from wireproof.wire.json_values import Json
from wireproof.wire.observed_fields import field_tree, project

CODECS: Final = ("none", "gzip", "snappy", "lz4", "zstd")
PROFILES: Final = ("reader", "produce")
ENOUGH: Final = 5
"""Refusals from which on a wish may be made of their classes."""

AGAIN: Final = 200
"""Cases that are asked a second time, one by one."""

Asked = tuple[Case, Outcome]


@frozen
class Advice:
    """One thing that the hello says otherwise than the codec does.

    Attributes:
        text: what was seen.
        mend: what to do.
        wrong: whether a claim does not hold; else it says less than it could.
    """

    text: str
    mend: str
    wrong: bool = True


class Runner(Protocol):
    """What asks the cases again: the engine."""

    hello: Hello

    def ask(self, cases: Iterable[Case]) -> Iterator[Asked]:
        """What comes of each case, asked whatever the claims are."""
        ...


def mend_of(finding: Finding) -> str:
    """What to do about a claim on an operation, codec, profile or feature; empty if nothing is to be done."""
    field = {"op": "ops", "codec": "codecs", "profile": "profiles", "feature": "features"}[finding.kind]
    where = f'"{field}" of {finding.joined}'
    match finding.standing:
        case "over-claimed":
            return f'take "{finding.name}" out of {where}, or mend the codec'
        case "under-claimed" if finding.accepted == finding.asked and not finding.differs:
            return f'add "{finding.name}" to {where}: until then nobody asks it'
        case "under-claimed":
            return f'refuse it, or answer "unsupported"; or make it work, and add "{finding.name}" to {where}'
        case _:
            return ""


# --- words ---


def words(hello: Hello, cases: Iterable[Case]) -> Iterator[Advice]:
    """Claims that nothing answers to, for they are misspelt."""
    capabilities: dict[str, set[str]] = {}
    for case in cases:
        capabilities.setdefault(case.joined, set()).update(case.needs)
    for joined, claim in hello.revisions.items():
        if joined not in FORMATS:
            yield _misspelt("revisions", joined, list(FORMATS))
            continue
        known = {
            atom.partition(":")[2] for atom in (*FORMATS[joined].capabilities, *capabilities.get(joined, ()))
        }
        for field, names, right in (
            ("codecs", claim.codecs, CODECS),
            ("profiles", claim.profiles, PROFILES),
            ("features", claim.features, sorted(known)),
        ):
            for name in names or ():
                if name not in right:
                    yield _misspelt(f"{field} of {joined}", name, right)


def _misspelt(where: str, name: str, right: Sequence[str]) -> Advice:
    near = difflib.get_close_matches(name, right, n=1, cutoff=0.0)
    mend = f'write "{near[0]}", or take it out' if near else "take it out"
    return Advice(f'{where}: nothing is called "{name}"', mend)


# --- observes ---


def observes(hello: Hello, asked: Sequence[Asked]) -> Iterator[Advice]:
    """Fields that are claimed and not shown, and those that are shown and not claimed."""
    for joined, claim in hello.revisions.items():
        pairs = [
            (case.expect.value, outcome.value)
            for case, outcome in asked
            if (case.joined, case.op) == (joined, "decode")
            and isinstance(case.expect, Accept)
            and isinstance(outcome, Accepted)
        ]
        if pairs and claim.observes:
            yield from _observed(joined, claim, pairs)


def _observed(joined: str, claim: Claim, pairs: Sequence[tuple[Json, Json]]) -> Iterator[Advice]:
    wanted = Counter(path for value, _ in pairs for path in paths(value))
    shown = Counter(path for value, got in pairs for path in paths(got) & paths(value))
    for pattern in claim.observes:
        below = [path for path in wanted if _under(path, pattern)]
        if not below:
            yield _misspelt(f"observes of {joined}", pattern, list(wanted))
        elif not any(shown[path] for path in below):
            text = f'{joined}: observes "{pattern}", which is in none of {len(pairs)} values that it gave'
            yield Advice(text, f'deliver it, or take it out of "observes" of {joined}')
    more = [path for path in wanted if not any(_under(path, pattern) for pattern in claim.observes)]
    right = [path for path in more if shown[path] == wanted[path] and _alike(pairs, path)]
    if right:
        text = f"{joined}: shows {', '.join(right)} as it should and does not observe it"
        mend = f'add it to "observes" of {joined}: until then nobody compares it'
        yield Advice(text, mend, wrong=False)


def paths(value: Json, path: str = "") -> set[str]:
    """The patterns of the leaves of a value, such as `records[].key`; an empty list has none."""
    match value:
        case Mapping():
            parts = ((f"{path}.{name}" if path else name, part) for name, part in value.items())
        case list():
            parts = ((f"{path}[]", part) for part in value)
        case _:
            return {path} if path else set()
    return {found for where, part in parts for found in paths(part, where)}


def _under(path: str, pattern: str) -> bool:
    return path == pattern or path.startswith((f"{pattern}.", f"{pattern}["))


def _alike(pairs: Sequence[tuple[Json, Json]], path: str) -> bool:
    tree = field_tree((path,))
    return all(project(value, tree) == project(got, tree) for value, got in pairs)


# --- errors ---


def errors(hello: Hello, asked: Sequence[Asked]) -> Iterator[Advice]:
    """Whether the classes of refusals are what `errors` says of them."""
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
            'map its errors to these classes, or say "coarse"',
        )
    if hello.errors != "exact" and not other and len(refused) >= ENOUGH:
        text = f"errors: {hello.errors}, and the classes of all {len(refused)} refusals are right"
        yield Advice(text, 'say "exact": until then a wrong class fails nothing', wrong=False)
    if hello.errors == "none" and any(outcome.cls != "other" for _, outcome, _ in refused):
        yield Advice("errors: none, and refusals have classes", 'say "coarse" or "exact"', wrong=False)
    untyped = [case.id for case, outcome, _ in refused if outcome.untyped]
    if untyped:
        text = f"{len(untyped)} of {len(refused)} refusals are no error that the codec documents"
        yield Advice(f"{text}, such as {untyped[0]}", "raise what it documents in their place", wrong=False)


# --- window ---


def window(runner: Runner, asked: Sequence[Asked]) -> Iterator[Advice]:
    """Whether answers are others with nothing else in flight; a part of the cases is asked again."""
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
    text = f"{len(differ)} of {len(some)} cases are answered otherwise when they are asked again"
    mend = "what one request leaves behind changes the answer to the next: start each from nothing"
    if hello.window > 1:
        text = f"window: {hello.window}, and {text} one by one"
        mend = f'say "window": 1, or keep requests apart; if it stays so, {mend}'
    yield Advice(f"{text}, such as {differ[0]}", mend)


def _outcomes(runner: Runner, some: Sequence[Asked]) -> Iterator[Outcome]:
    return (outcome for _, outcome in runner.ask([case for case, _ in some]))


def _same(one: Outcome, other: Outcome) -> bool:
    """Whether two answers say the same, whatever they say it in."""
    match one, other:
        case Refused(), Refused():
            return one.cls == other.cls
        case Accepted(), Accepted():
            return (one.value, one.data, one.consumed) == (other.value, other.data, other.consumed)
        case _:
            return type(one) is type(other)


def advice(runner: Runner, cases: Sequence[Case], asked: Sequence[Asked]) -> tuple[Advice, ...]:
    """Everything that there is to say, what is wrong first."""
    hello = runner.hello
    found = [*words(hello, cases), *observes(hello, asked), *errors(hello, asked), *window(runner, asked)]
    return tuple(sorted(found, key=lambda one: not one.wrong))
