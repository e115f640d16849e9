"""Traceability: each sentence of the format documents has rules, and cases that can fail.

The sentences stand in `sources.toml`; a rule names those that it tests, and leads to cases.
`coverage` returns the cases of a sentence; `check_sentences` yields a problem for each one without. Cases can
fail on a refusal, or on a wrong answer: a sentence has cases of both kinds, or says why not.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal

from attrs import frozen

from wireproof.cases.case import Accept, Case, Either, Reject, Steps
from wireproof.cases.case_json import FixtureError
from wireproof.cases.fixtures import Suite
from wireproof.cases.lint_sources import Problem
from wireproof.cases.rules import SOURCES_FILE, Rule, Sentence, Sources, resolve
from wireproof.cases.steps import ERROR, answers

FAILING_LEVELS: Final = frozenset({"must", "should"})
"""The levels whose cases can fail a run: a `may` case never does."""

LACKING_KIND: Final = "has no case that fails on {}; add one, or `one_kind` with the reason"

State = Literal["covered", "excluded", "open", "uncovered"]


@frozen
class Coverage:
    """A sentence with the rules that name it and its cases that can fail.

    Attributes:
        rules: in the order of their files.
        cases: sorted by id.
    """

    sentence: Sentence
    rules: tuple[str, ...]
    cases: tuple[Case, ...]

    @property
    def state(self) -> State:
        if self.sentence.exclusion:
            return "excluded"
        if self.sentence.open:
            return "open"
        return "covered" if self.cases else "uncovered"

    @property
    def lacking(self) -> tuple[str, ...]:
        """Return the kinds of failing case that it does not have."""
        kinds = {"a refusal": fails_on_refusal, "a wrong answer": fails_on_wrong_answer}
        return tuple(name for name, fails in kinds.items() if not any(map(fails, self.cases)))


def fails_on_refusal(case: Case) -> bool:
    """Return whether a codec that refuses fails the case: nothing but an answer is right, or one step is.

    In a golden case the expectation decides, whatever remarks the reference has.
    """
    if isinstance(case.input, Steps):
        return any(all(ERROR not in answer for answer in answers(step).values()) for step in case.input.steps)
    return all(isinstance(expect, Accept) for expect in _permitted(case))


def fails_on_wrong_answer(case: Case) -> bool:
    """Return whether an answer can fail the case: it must be refused, or has a value, a digest or bytes."""
    stated = (
        case.op == "encode" or expect.value is not None or expect.digest
        for expect in _permitted(case)
        if isinstance(expect, Accept)
    )
    return all(stated)


def _permitted(case: Case) -> tuple[Accept | Reject, ...]:
    match case.expect:
        case Either(behaviours):
            return tuple(one.expect for one in behaviours)
        case expect:
            return (expect,)


def sentences_of(suite: Suite) -> Mapping[str, Sentence]:
    """Return the sentences of all documents by their ids; raise `FixtureError` for an id of two."""
    found: dict[str, Sentence] = {}
    for sentence in (one for document in suite.sources.values() for one in document.sentences):
        if sentence.id in found:
            raise FixtureError(f"{SOURCES_FILE}: the sentence {sentence.id} is there twice")
        found[sentence.id] = sentence
    return found


def coverage(sentence: Sentence, rules: tuple[str, ...], suite: Suite) -> Coverage:
    """Return a sentence with its cases: those that it names, or else all of its rules."""
    if sentence.exclusion or sentence.open:
        return Coverage(sentence, rules, ())
    named = [suite.get(name) for name in sentence.cases]
    by_rule = [case for name in rules for case in suite.by_rule.get(name, ())]
    found = {case.id: case for case in (named if sentence.cases else by_rule) if case is not None}
    cases = tuple(found[name] for name in sorted(found) if found[name].level in FAILING_LEVELS)
    return Coverage(sentence, rules, cases)


def coverages(suite: Suite) -> list[Coverage]:
    """Return every sentence with its cases; raise `FixtureError` for a file that cannot be read."""
    rules: dict[str, list[str]] = {}
    for rule in suite.rules.values():
        for name in rule.sentences:
            rules.setdefault(name, []).append(rule.id)
    found = sentences_of(suite)
    return [coverage(one, tuple(rules.get(name, ())), suite) for name, one in found.items()]


def unnamed_rules(suite: Suite) -> list[Rule]:
    """Return the rules of basis `text` that test no sentence, sorted by id."""
    return [rule for _, rule in sorted(suite.rules.items()) if rule.basis == "text" and not rule.sentences]


def count_line(suite: Suite) -> str:
    """Return one line: how many sentences cases test, of those that a case can test."""
    rows = coverages(suite)
    states = [row.state for row in rows]
    applying = len(rows) - states.count("excluded")
    tested = [row for row in rows if row.state == "covered"]
    lacking = Counter(kind for row in tested for kind in row.lacking)
    whole = sum(1 for row in rows if row.sentence.exclusion or row.sentence.one_kind) + sum(
        1 for row in tested if not row.lacking
    )
    return (
        f"{len(rows)} sentences of format documents: {len(tested)} of {applying} covered, "
        f"{states.count('open')} open, {states.count('excluded')} that no case can test; "
        f"{len(tested) - lacking['a refusal']} with a case that fails on a refusal, "
        f"{len(tested) - lacking['a wrong answer']} with one that fails on a wrong answer; "
        f"{whole} of {len(rows)} with both or the reason why not; "
        f"{len(unnamed_rules(suite))} rules of basis text without a sentence"
    )


# --- problems ---


def check_sentences(suite: Suite) -> Iterator[Problem]:
    """Check that each sentence has places, rules and a case that can fail; raise `FixtureError`."""
    for row in coverages(suite):
        for text in _problems(row, suite):
            yield Problem(f"{SOURCES_FILE} {row.sentence.id}", text)
    known = sentences_of(suite)
    for rule in suite.rules.values():
        for name in rule.sentences:
            if name not in known:
                yield Problem(rule.id, f"{SOURCES_FILE} has no sentence {name}")


def _problems(row: Coverage, suite: Suite) -> Iterator[str]:
    sentence = row.sentence
    yield from _place_problems(sentence.cites, suite.sources)
    for name in sentence.cases:
        # Check that a named case exists, can fail and tests a rule of the sentence.
        case = suite.get(name)
        if case is None:
            yield f"the case {name} does not exist"
        elif case.level not in FAILING_LEVELS:
            yield f"the case {name} has the level {case.level} and cannot fail"
        elif not set(case.rules) & set(row.rules):
            yield f"the case {name} tests none of its rules"
    if sentence.exclusion and (row.rules or sentence.cases or sentence.open):
        yield "has an exclusion, so it can have no rules, no cases and nothing open"
    elif sentence.open and sentence.cases:
        yield "is open and has cases: remove `open` if these cases test it"
    elif row.state == "uncovered":
        yield "has no case that can fail, at must or should; add one, or an exclusion with its reason"
    elif row.state == "covered":
        yield from _kind_problems(row)
        yield from () if sentence.cases else _rule_problems(row.rules, suite)


def _kind_problems(row: Coverage) -> Iterator[str]:
    """Check that cases of both kinds exist, or else the reason."""
    if row.sentence.one_kind and not row.lacking:
        yield "has cases of both kinds, so its `one_kind` is wrong"
    elif not row.sentence.one_kind:
        yield from (LACKING_KIND.format(kind) for kind in row.lacking)


def _place_problems(cites: Sequence[str], sources: Sources) -> Iterator[str]:
    if not cites:
        yield "cites no document"
    for text in cites:
        try:
            resolve(text, sources)
        except ValueError as error:
            yield str(error)


def _rule_problems(rules: Sequence[str], suite: Suite) -> Iterator[str]:
    for name in rules:
        if not any(case.level in FAILING_LEVELS for case in suite.by_rule.get(name, ())):
            yield f"the rule {name} has no case that can fail, at must or should"
