"""What each version of an implementation may be used for, judged by the requirement sets.

A set counts as met only if every `must` case of it was judged and none is wrong: a known failure is a failure
here, and a case that an implementation does not claim stays open. See releases.md#requirement-sets.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, Literal, get_args

from attrs import frozen

from wireproof.adapters.errors import AdapterError
from wireproof.adapters.registry.registered import Entry
from wireproof.adapters.registry.registry import resolve
from wireproof.cases.case import Case
from wireproof.cases.fixtures import Suite
from wireproof.cases.requirements import editions
from wireproof.cases.steps import is_refused
from wireproof.judge.verdicts import PASSING
from wireproof.report.diff import runs_by_name, unversioned, version_of
from wireproof.run.baselines.baseline import Overlay
from wireproof.run.conclusion import NO_RESULT, count_judged
from wireproof.run.events import CaseEvent, EventStream, fails_run, joined

State = Literal["met", "open", "damaged", "fails", "unknown"]
Concern = Literal["runaway", "forged", "valid", "damaged"]
"""What a wrong answer means for a user, the worst first; `forged` has a missing or wrong signature."""

LEAST_JUDGED: Final = 0.5
"""The share of a set's `must` cases below which a run without a failure says nothing about the set."""

LANGUAGES: Final[Mapping[str, str]] = {
    "c": "C",
    "csharp": "C#",
    "go": "Go",
    "java": "Java",
    "node": "JavaScript",
    "python": "Python",
    "rust": "Rust",
}
"""Languages of adapters, as people write them."""

RUNS_AWAY: Final[Mapping[str, str]] = {
    "crash": "crashes",
    "timeout": "hangs",
    "stalled": "hangs",
    "resource": "exhausts memory",
}
"""What a codec does that runs away, by verdict."""

NOT_JUDGED: Final = NO_RESULT | {"blocked", "suite-bug"}
"""Verdicts that say nothing about a use: of a blocked refusal, the valid twin is what is wrong."""


@frozen
class Use:
    """A requirement set: what somebody does with an implementation.

    Attributes:
        id, title: `2026.12:kafka-consumer-2`, `Kafka consumer 2 (2026.12)`.
        role, name: the words of its title after the family: `consumer`, `consumer 2`.
        text, action: what an implementation that meets it can do, also as in `Read plain topics`.
        must: its `must` cases by id.
        own: the ids of those that no set that it includes has.
    """

    id: str
    title: str
    family: str
    role: str
    name: str
    text: str
    action: str
    must: Mapping[str, Case]
    own: frozenset[str] = frozenset()

    @property
    def actor(self) -> str:
        """Return who does it, such as `a Kafka consumer`."""
        words = f"{self.family.capitalize()} {self.role}".strip()
        return f"{'an' if words[0] in 'AEIO' else 'a'} {words}"


@frozen
class UseResult:
    """A version of an implementation against a set; `own` counts cases of no set that it includes."""

    use: Use
    right: int
    wrong: tuple[CaseEvent, ...]
    own: int

    @property
    def judged(self) -> int:
        """Return the number of its `must` cases that were judged."""
        return self.right + len(self.wrong)

    @property
    def security(self) -> int:
        return sum(event.is_security for event in self.wrong)

    @cached_property
    def concerns(self) -> Mapping[Concern, int]:
        return {name: len(events) for name, events in by_concern(self.wrong, self.use.must).items()}

    @cached_property
    def state(self) -> State:
        """Return the state of the cell.

        `met`; `open` if cases are not judged; `damaged` if valid data is right and damaged data is not, but
        for signatures;
        `fails`; `unknown` if too few cases are judged, of all or of those beside the sets that it includes,
        and none shows a failure on valid data.
        """
        own_wrong = any(event.id in self.use.own for event in self.wrong)
        if not own_wrong and self.own < LEAST_JUDGED * len(self.use.own):
            return "unknown"
        if self.concerns.keys() - {"damaged"}:
            return "fails"
        if self.judged < LEAST_JUDGED * len(self.use.must):
            return "unknown"
        if self.wrong:
            return "damaged"
        return "met" if self.judged == len(self.use.must) else "open"


@frozen
class VersionResult:
    """The last run of one version, and its results by the id of the set."""

    version: str
    stream: EventStream
    uses: Mapping[str, UseResult]

    @property
    def wrong(self) -> Sequence[CaseEvent]:
        """Return every wrong answer to a golden `must` case."""
        return [
            event
            for event in self.stream.cases
            if event.level == "must" and event.verdict not in NOT_JUDGED | PASSING and "~" not in event.id
        ]


def families_of(streams: Iterable[EventStream]) -> frozenset[str]:
    """Return the families of the cases of runs, such as `kafka`."""
    return frozenset(event.format.partition(".")[0] for stream in streams for event in stream.cases)


def uses_of(suite: Suite, families: Collection[str]) -> Sequence[Use]:
    """Return the sets of the newest date in the fixtures of a suite, for some families of formats."""
    pages = editions(suite.roots)
    if not pages:
        return ()
    page = pages[max(pages)]

    def must(listed: Mapping[str, str]) -> Mapping[str, Case]:
        cases = (suite.by_id.get(name) for name, row in listed.items() if row.startswith("must "))
        return {case.id: case for case in cases if case is not None}

    uses = []
    for one in page.sets:
        family, words = str(one.define[0]["formats"][0]).partition(".")[0], one.title.split()[1:]
        name, role = " ".join(words), " ".join(word for word in words if not word[0].isdecimal())
        title = f"{one.title} ({page.date})"
        if family in families:
            uses.append(
                Use(
                    f"{page.date}:{one.name}", title, family, role, name, one.text, one.use or name,
                    must(page.listed(one)), frozenset(must(one.cases)),
                )
            )  # fmt: skip
    return uses


def use_results(uses: Sequence[Use], stream: EventStream) -> Mapping[str, UseResult]:
    """Return the result of a run for each set of which it judged a case, by the id of the set."""
    answers = {event.id: event for event in stream.cases if event.verdict not in NOT_JUDGED}
    results = {}
    for use in uses:
        judged = [answers[name] for name in sorted(use.must) if name in answers]
        wrong = tuple(event for event in judged if event.verdict not in PASSING)
        own = sum(event.id in use.own for event in judged)
        if judged:
            results[use.id] = UseResult(use, len(judged) - len(wrong), wrong, own)
    return results


def by_concern(
    events: Iterable[CaseEvent], cases: Mapping[str, Case]
) -> Mapping[Concern, Sequence[CaseEvent]]:
    """Return wrong answers by what they mean for a user, the worst first."""
    found: dict[Concern, list[CaseEvent]] = {name: [] for name in get_args(Concern)}
    for event in events:
        if event.verdict in RUNS_AWAY:
            concern: Concern = "runaway"
        elif (event.kind, event.cls) == ("wrong-accept", "auth-failed"):
            concern = "forged"
        else:
            case = cases.get(event.id)
            concern = "damaged" if case is not None and is_refused(case) else "valid"
        found[concern].append(event)
    return {name: some for name, some in found.items() if some}


# --- sentences ---


@frozen
class UseSentence:
    """A sentence about one role of an implementation, whose name and version are its first words."""

    state: State
    name: str
    text: str


def use_sentences(
    suite: Suite, stream: EventStream, overlays: Mapping[str, Overlay] | None = None
) -> list[str]:
    """Say what the implementation of a run may be used for, in a sentence for each role with a judgement.

    Such as `aiokafka 0.14.0 is not safe as a Kafka consumer: it crashes on “An inner size of −12”`. If no
    role was judged, one sentence says so; a run that judged nothing has none. Failures that its baseline
    expects are failures here, and counted as known.
    """
    return [one.text for one in role_sentences(uses_of(suite, families_of([stream])), stream, overlays)]


def role_sentences(
    uses: Sequence[Use], stream: EventStream, overlays: Mapping[str, Overlay] | None = None
) -> Sequence[UseSentence]:
    """Return the sentences of `use_sentences` with the state of each."""
    name = f"{stream.run.adapter} {version_of(stream.run)}".strip()
    results = use_results(uses, stream)
    roles: dict[str, list[UseResult]] = {}
    for one in results.values():
        if one.state != "unknown":
            roles.setdefault(one.use.actor, []).append(one)
    judged = count_judged(stream.cases)
    if roles or not judged:
        return [_sentence(name, some, overlays or {}) for some in roles.values()]
    right = sum(event.verdict in PASSING and not fails_run(event, stream.run) for event in stream.cases)
    text = f"{name}: {right:,} of {judged:,} judged cases are right"
    if results:
        best = max(results.values(), key=lambda one: one.judged / len(one.use.must))
        text += (
            f"; too few to say what it is safe for: {best.judged:,} of {len(best.use.must):,} required cases "
            f"of {best.use.actor}"
        )
    return [UseSentence("unknown", name, text)]


def _sentence(name: str, results: Sequence[UseResult], known: Mapping[str, Overlay]) -> UseSentence:
    """Return the sentence about one role; of its sets, each includes those before it."""
    widest = results[-1]
    actor, count = widest.use.actor, f"{widest.judged:,} required cases"
    match widest.state:
        case "met":
            text = f"{name} is safe as {actor}: all {count} are right"
        case "open":
            text = (
                f"{name} shows no fault as {actor}: all {count} that were judged are right, of "
                f"{len(widest.use.must):,}"
            )
        case "damaged":
            text = f"{name} is safe as {actor} for valid data only: {_faults(widest, known)}"
        case _:
            text = f"{name} is not safe as {actor}: {_faults(widest, known)}"
            if safe := next((one for one in reversed(results) if one.state != "fails"), None):
                action = safe.use.action[0].lower() + safe.use.action[1:]
                valid = ", valid data only" if safe.state == "damaged" else ""
                text += f"; it is safe to {action}{valid}"
    return UseSentence(widest.state, name, text)


def _faults(result: UseResult, known: Mapping[str, Overlay]) -> str:
    """Say what is wrong, the worst first and with an example: `it hangs on 3 inputs, such as “…”, and …`."""
    parts: list[str] = []
    for concern, events in by_concern(result.wrong, result.use.must).items():
        # The wrong answer to name: one that can be exploited, else one of the rule with the most.
        rules = Counter(event.deciding_rules[:1] for event in events)
        first = max(events, key=lambda event: (event.is_security, rules[event.deciding_rules[:1]]))
        title = f"“{first.title or first.id}”"
        noun = "invalid value" if first.op == "encode" else "damaged input"
        does = " or ".join(dict.fromkeys(RUNS_AWAY.get(event.verdict, "") for event in events))
        one, some = {
            "runaway": (f"{does} on {title}", f"{does} on {len(events):,} inputs"),
            "forged": (f"takes {title} for signed", f"takes {len(events):,} forged inputs for signed"),
            "valid": (f"gets {title} wrong", f"gets {len(events):,} valid inputs wrong"),
            "damaged": (f"mishandles the {noun} {title}", f"mishandles {len(events):,} {noun}s"),
        }[concern]
        example = "" if parts else f", such as {title}"
        parts.append(one if len(events) == 1 else some + example)
    *before, last = parts
    text = f"it {', '.join(before)}{', and ' if before else ''}{last}"
    if result.security:
        text += f"; {_of_these(result.security, result)} can be exploited"
    if expected := sum(known.get(event.id) == "expected" for event in result.wrong):
        text += f"; {_of_these(expected, result)} {'is' if expected == 1 else 'are'} known"
    return text


def _of_these(number: int, result: UseResult) -> str:
    if number < len(result.wrong):
        return f"{number:,} of these"
    return "all of these" if number > 1 else "this"


# --- implementations ---


Kind = Literal["clients", "codecs", "servers"]

KINDS: Final[Mapping[Kind, str]] = {
    "clients": "Whole clients, judged as an application uses them: by their public interface, against a "
    "broker of the suite.",
    "codecs": "The code that reads and writes the bytes, called directly: more shows than through a client, "
    "and the client around it may guard against some of it.",
    "servers": "Running servers, judged by what they store, return and refuse.",
}
"""What is judged, in the order of the page."""


@frozen
class Implementation:
    """The versions of one implementation, the oldest first; `language` is empty if it is not known."""

    name: str
    versions: tuple[VersionResult, ...]
    kind: Kind = "codecs"
    language: str = ""

    @property
    def newest(self) -> VersionResult:
        return self.versions[-1]


@frozen
class Section:
    """Implementations of one kind that are judged by the same sets, as one table with the best one first."""

    family: str
    kind: Kind
    uses: tuple[Use, ...]
    rows: tuple[Implementation, ...]

    @property
    def id(self) -> str:
        """Return its place in the page, such as `kafka-clients`."""
        return f"{self.family}-{self.kind}"

    @property
    def title(self) -> str:
        return f"{self.family.capitalize()} {self.kind}"

    @property
    def about(self) -> str:
        return KINDS[self.kind]

    @property
    def choices(self) -> Sequence["Choice"]:
        """Return what there is to choose from for each use."""
        found: list[Choice] = []
        for use in self.uses:
            states: dict[State, list[str]] = {}
            wrong: list[tuple[str, int]] = []
            for row in self.rows:
                if (result := row.newest.uses.get(use.id)) is not None:
                    states.setdefault(result.state, []).append(row.name)
                    if result.state == "fails":
                        wrong.append((row.name, len(result.wrong) - result.concerns.get("damaged", 0)))
            met = (*states.get("met", ()), *states.get("open", ()))
            wrong.sort(key=lambda row: row[1])
            found.append(Choice(use, met, tuple(states.get("damaged", ())), tuple(wrong)))
        return found


@frozen
class Choice:
    """What somebody who must choose an implementation for a use looks for.

    Attributes:
        nothing_wrong: names of those without a wrong answer.
        valid_right: names of those that are wrong on damaged data only.
        wrong: names of the others, with the number of valid data that they get wrong; the fewest first.
    """

    use: Use
    nothing_wrong: tuple[str, ...]
    valid_right: tuple[str, ...]
    wrong: tuple[tuple[str, int], ...] = ()


def implementations(uses: Sequence[Use], streams: Iterable[EventStream]) -> Sequence[Implementation]:
    """Return every implementation of the streams, sorted by name; the last run of a version counts."""
    found = []
    for name, runs in runs_by_name(joined(streams)).items():
        versions = tuple(VersionResult(one, run, use_results(uses, run)) for one, run in runs.items())
        try:
            entry = resolve(unversioned(versions[-1].stream.run.spec))
        except AdapterError:  # the run is of another machine, which had another adapter
            entry = Entry(name)
        kind: Kind = "clients" if entry.client else "servers" if entry.relay else "codecs"
        language = LANGUAGES.get(entry.language, entry.language)
        found.append(Implementation(name, versions, kind, language))
    return found


def sections(uses: Sequence[Use], some: Sequence[Implementation]) -> Iterator[Section]:
    """Yield a table for each family and kind of implementations; its columns are the sets of their roles."""
    for family in dict.fromkeys(use.family for use in uses):
        for kind in KINDS:
            rows = [one for one in some if one.kind == kind and _roles(one, family)]
            if rows:
                roles = {role for one in rows for role in _roles(one, family)}
                columns = tuple(use for use in uses if use.family == family and use.role in roles)
                best_first = sorted(rows, key=lambda one: _rank(one, columns))
                yield Section(family, kind, columns, tuple(best_first))


def _roles(one: Implementation, family: str) -> frozenset[str]:
    """Return the roles of a family about which the newest version's runs say something."""
    return frozenset(
        result.use.role
        for result in one.newest.uses.values()
        if result.use.family == family and result.state != "unknown"
    )


def _rank(one: Implementation, uses: Sequence[Use]) -> tuple[object, ...]:
    """Return the sort key of a row: the share of valid data that is wrong, of damaged data, and the name.

    A set that it does not claim counts for nothing: who only reads is not worse for that.
    """
    found = [one.newest.uses.get(use.id) for use in uses]
    known = [result for result in found if result is not None and result.state != "unknown"]
    judged = max(sum(result.judged for result in known), 1)
    damaged = sum(result.concerns.get("damaged", 0) for result in known)
    return (sum(len(result.wrong) for result in known) - damaged) / judged, damaged / judged, one.name
