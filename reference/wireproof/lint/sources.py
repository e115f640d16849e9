"""Checks of sources and levels: every citation resolves, and each `must` case has what allows it.

The rule: text or a standard, or code of two independent readers where fewer than a third of the judged
libraries answer otherwise; `answers.toml` has what each library answers. See writing-a-case.md#levels.

And of sentences: each one of the format documents has rules, and cases that can fail, on a refusal and on a
wrong answer, or says why not. They stand in `sources.toml`; a rule names those that it tests.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Final, Literal

from attrs import evolve, frozen

from wireproof.cases.case import Accept, Case, Either, Expect, Reject, Steps
from wireproof.cases.case_json import FixtureError
from wireproof.cases.fixtures import Suite
from wireproof.cases.rules import BASES, SOURCES_FILE, Sentence, allows_must, cited, resolve_all
from wireproof.cases.steps import ERROR, answers
from wireproof.files import read_limited_text
from wireproof.strict_parsing import MAX_TOML_SIZE, FieldError, parse_toml, structure


@frozen
class Problem:
    """A fault, and its place: the id of a case or rule, or a file."""

    where: str
    text: str

    def __str__(self) -> str:
        return f"{self.where}: {self.text}"


ANSWERS_FILE: Final = "answers.toml"
"""What each library answers on the cases that rest on code, in a folder of fixtures."""

RECORD: Final = "run python -m tests.authoring.record_witnesses --answers"


@frozen
class LibraryAnswers:
    """The libraries that agree with a case and those that answer otherwise; of those that share code, one."""

    agree: tuple[str, ...] = ()
    otherwise: tuple[str, ...] = ()

    @property
    def divided(self) -> bool:
        """Return whether a third or more of the libraries answer otherwise."""
        answers = len(self.agree) + len(self.otherwise)
        return bool(self.otherwise) and len(self.otherwise) * 3 >= answers

    def __str__(self) -> str:
        """Return the numbers: `4 of 12 libraries answer otherwise`."""
        return f"{len(self.otherwise)} of {len(self.agree) + len(self.otherwise)} libraries answer otherwise"


@frozen
class AnswersFile:
    """What libraries answer: their versions by name, and by `format/revision/topic` and name each case."""

    versions: Mapping[str, str]
    topics: Mapping[str, Mapping[str, LibraryAnswers]]

    @cached_property
    def by_id(self) -> Mapping[str, LibraryAnswers]:
        return {f"{topic}/{name}": row for topic, rows in self.topics.items() for name, row in rows.items()}


def read_answers(path: Path) -> AnswersFile | None:
    """Return the answers of a file, None if it is missing; raise `FixtureError`."""
    if not path.exists():
        return None
    try:
        page = parse_toml(read_limited_text(path, MAX_TOML_SIZE))
        versions = page.pop("versions", {})
        return structure({"versions": versions, "topics": page}, AnswersFile, "the file")
    except (OSError, ValueError, FieldError) as error:
        raise FixtureError(f"{path}: {error}") from None


def check_sources(suite: Suite) -> Iterator[Problem]:
    """Check the citations and the basis of each rule, and the level of each case against them.

    A rule without a basis is not held to this, so that a folder of somebody's own cases needs no sources.
    """
    for rule in suite.rules.values():
        citations, errors = resolve_all(rule.cites, suite.sources)
        yield from (Problem(rule.id, error) for error in errors)
        # Check that a rule with a document as its basis cites one of that kind.
        if rule.basis not in {"", "suite"} and rule.basis not in {citation.kind for citation in citations}:
            yield Problem(rule.id, f"its basis is {rule.basis}, and it cites no document of that kind")
        if rule.level == "must" and not allows_must(rule.basis, citations):
            yield Problem(rule.id, f"its level is must, which its basis {rule.basis} does not allow")
    for case, rules in unbacked_cases(suite):
        if stated := [name for name in rules if suite.rules[name].basis]:
            yield Problem(case.id, f"its level is must, which the basis of {stated[0]} does not allow")
    for root in suite.roots:
        yield from _answer_problems(root, suite)


def unbacked_cases(suite: Suite) -> Iterator[tuple[Case, list[str]]]:
    """Yield each `must` case with the rules that decide it and whose basis does not allow `must`."""
    weak = _weak_rules(suite)
    for case in suite.cases:
        found = [name for name in _deciding(case, suite, weak) if name in weak]
        if case.level == "must" and found:
            yield case, found


def cases_on_code(suite: Suite) -> list[Case]:
    """Return the cases that rest on code of two readers: their level depends on what libraries answer."""
    weak, found = _weak_rules(suite), []
    for case in suite.cases:
        rules = _deciding(case, suite, weak) if case.level in FAILING_LEVELS else []
        if any(suite.rules[name].basis == "code" for name in rules) and weak.isdisjoint(rules):
            found.append(case)
    return found


def _answer_problems(root: Path, suite: Suite) -> Iterator[Problem]:
    """Check the cases of a folder that rest on code against what libraries answer, if it has that file."""
    recorded = read_answers(root / ANSWERS_FILE)
    if recorded is None:
        return
    needed = {case.id: case for case in cases_on_code(suite) if suite.files[case.id].is_relative_to(root)}
    for name in sorted(recorded.by_id.keys() - needed.keys()):
        yield Problem(f"{ANSWERS_FILE}: {name}", f"is no case that rests on code: {RECORD}")
    for name, case in needed.items():
        answers = recorded.by_id.get(name)
        if case.level == "must" and answers is None:
            yield Problem(name, f"its level is must, and what libraries answer is not recorded: {RECORD}")
        elif case.level == "must" and answers is not None and answers.divided:
            yield Problem(name, f"its level is must, and {answers}")


def level_line(suite: Suite) -> str:
    """Return one line: the `must` cases that the rule does not allow, and those on code by their answers."""
    files = [recorded for root in suite.roots if (recorded := read_answers(root / ANSWERS_FILE))]
    by_id = {name: answers for recorded in files for name, answers in recorded.by_id.items()}
    must = [by_id.get(case.id, LibraryAnswers()) for case in cases_on_code(suite) if case.level == "must"]
    divided = sum(answers.divided for answers in must)
    unjudged = sum(not (answers.agree or answers.otherwise) for answers in must)
    return (
        f"must cases beyond the rule: {len(list(unbacked_cases(suite)))} whose basis does not allow must, "
        f"{divided} on code where practice is divided; {len(must)} on code, {unjudged} of them not judged"
    )


def backed_level(case: Case, suite: Suite) -> Case:
    """Return a `must` case at `should` if the basis of a rule that decides it does not allow `must`."""
    weak = _weak_rules(suite)
    stated = [name for name in _deciding(case, suite, weak) if name in weak and suite.rules[name].basis]
    return evolve(case, level="should") if stated and case.level == "must" else case


def _weak_rules(suite: Suite) -> frozenset[str]:
    """Return the ids of the rules whose basis does not allow `must`."""
    return frozenset(
        rule.id
        for rule in suite.rules.values()
        if not allows_must(rule.basis, cited(rule.cites, suite.sources))
    )


def _deciding(case: Case, suite: Suite, weak: frozenset[str]) -> list[str]:
    """Return the rules that decide what a case expects.

    Beside another rule, a rule of the suite for a scan, which the suite itself defines, is not among them;
    nor, beside a rule that allows `must`, a weak refusing rule that an accepted case does not break.
    """
    rules = [suite.rules[name] for name in case.rules if name in suite.rules]
    found = [rule for rule in rules if not (rule.basis == "suite" and case.op == "scan")] or rules
    if isinstance(case.expect, Accept) and any(rule.id not in weak for rule in found):
        found = [rule for rule in found if not (rule.kind == "refusing" and rule.id in weak)]
    return [rule.id for rule in found]


def source_line(suite: Suite) -> str:
    """Return one line: the rules whose sources all resolve."""
    cite = [rule for rule in suite.rules.values() if rule.cites]
    broken = sum(1 for rule in cite if resolve_all(rule.cites, suite.sources)[1])
    return (
        f"{len(suite.rules)} rules: {len(cite) - broken} with sources that resolve, {broken} with sources "
        f"that do not, {len(suite.rules) - len(cite)} without; {len(suite.sources)} documents"
    )


def basis_lines(suite: Suite) -> Iterator[str]:
    """Yield the number of rules of each basis, and of `must` cases; the weakest rule of a case counts."""
    of_rules = Counter(rule.basis for rule in suite.rules.values())
    weak = _weak_rules(suite)
    of_cases: Counter[str] = Counter()
    for case in suite.cases:
        if case.level == "must":
            bases = {suite.rules[name].basis for name in _deciding(case, suite, weak) or case.rules}
            known = [basis for basis in BASES if basis in bases]
            of_cases[known[-1] if known and bases <= set(BASES) else ""] += 1
    for name, numbers in (("rules", of_rules), ("must cases, by their weakest rule", of_cases)):
        listed = ", ".join(f"{basis} {numbers[basis]}" for basis in BASES)
        missing = numbers.total() - sum(numbers[basis] for basis in BASES)
        yield f"basis of the {name}: {listed}" + (f", none {missing}" if missing else "")


# --- sentences ---


FAILING_LEVELS: Final = frozenset({"must", "should"})
"""The levels whose cases can fail a run: a `may` case never does."""

State = Literal["covered", "excluded", "open", "uncovered"]


@frozen
class Coverage:
    """A sentence with the rules that name it and its cases that can fail, sorted by id."""

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
        kinds = {"a refusal": _fails_on_refusal, "a wrong answer": _fails_on_wrong_answer}
        return tuple(name for name, fails in kinds.items() if not any(map(fails, self.cases)))


def _fails_on_refusal(case: Case) -> bool:
    """Return whether a codec that refuses fails the case: nothing but an answer is right, or one step is.

    In a golden case the expectation decides, whatever remarks the reference has.
    """
    if isinstance(case.input, Steps):
        return any(all(ERROR not in answer for answer in answers(step).values()) for step in case.input.steps)
    return all(isinstance(expect, Accept) for expect in permitted(case.expect))


def _fails_on_wrong_answer(case: Case) -> bool:
    """Return whether an answer can fail the case: it must be refused, or has a value, a digest or bytes."""
    accepts = (expect for expect in permitted(case.expect) if isinstance(expect, Accept))
    return case.op == "encode" or all(one.value is not None or one.digest for one in accepts)


def permitted(expect: Expect) -> tuple[Accept | Reject, ...]:
    """Return the answers of which each is right."""
    if isinstance(expect, Either):
        return tuple(behaviour.expect for behaviour in expect.behaviours)
    return (expect,)


def sentences_of(suite: Suite) -> Mapping[str, Sentence]:
    """Return the sentences of all documents by their ids; raise `FixtureError` for an id of two."""
    found: dict[str, Sentence] = {}
    for sentence in (sentence for document in suite.sources.values() for sentence in document.sentences):
        if sentence.id in found:
            raise FixtureError(f"{SOURCES_FILE}: the sentence {sentence.id} is there twice")
        found[sentence.id] = sentence
    return found


def coverage(sentence: Sentence, rules: tuple[str, ...], suite: Suite) -> Coverage:
    """Return a sentence with its cases: those that it names, or else all of its rules."""
    if sentence.exclusion or sentence.open:
        return Coverage(sentence, rules, ())
    named = [suite.by_id.get(name) for name in sentence.cases]
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
    return [coverage(sentence, tuple(rules.get(name, ())), suite) for name, sentence in found.items()]


def count_line(suite: Suite) -> str:
    """Return one line: how many sentences cases test, of those that a case can test."""
    rows = coverages(suite)
    states = [row.state for row in rows]
    applying = len(rows) - states.count("excluded")
    tested = [row for row in rows if row.state == "covered"]
    lacking = Counter(kind for row in tested for kind in row.lacking)
    whole = sum(1 for row in rows if row.sentence.exclusion or row.sentence.one_kind)
    whole += sum(1 for row in tested if not row.lacking)
    unnamed = sum(1 for rule in suite.rules.values() if rule.basis == "text" and not rule.sentences)
    return (
        f"{len(rows)} sentences of format documents: {len(tested)} of {applying} covered, "
        f"{states.count('open')} open, {states.count('excluded')} that no case can test; "
        f"{len(tested) - lacking['a refusal']} with a case that fails on a refusal, "
        f"{len(tested) - lacking['a wrong answer']} with one that fails on a wrong answer; "
        f"{whole} of {len(rows)} with both or the reason why not; "
        f"{unnamed} rules of basis text without a sentence"
    )


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
    yield from resolve_all(sentence.cites, suite.sources)[1] if sentence.cites else ("cites no document",)
    for name in sentence.cases:
        # Check that a named case exists, can fail and tests a rule of the sentence.
        case = suite.by_id.get(name)
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
        yield from _problems_of_covered(row, suite)


def _problems_of_covered(row: Coverage, suite: Suite) -> Iterator[str]:
    if row.sentence.one_kind and not row.lacking:
        yield "has cases of both kinds, so its `one_kind` is wrong"
    for kind in row.lacking if not row.sentence.one_kind else ():
        yield f"has no case that fails on {kind}; add one, or `one_kind` with the reason"
    for name in row.rules if not row.sentence.cases else ():
        if not any(case.level in FAILING_LEVELS for case in suite.by_rule.get(name, ())):
            yield f"the rule {name} has no case that can fail, at must or should"
