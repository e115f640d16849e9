"""The decision register: every place that the formats leave open, and the choices of implementations.

There are two kinds: cases that allow several behaviours (`either`), and remark classes. A remark class is a
place where other answers than that of the reference are allowed.
"""

from collections.abc import Iterator, Mapping, Sequence

from attrs import frozen

from wireproof.cases.case import Accept, Case, Either, Expect
from wireproof.cases.fixtures import Suite
from wireproof.formats import remark_classes
from wireproof.report.implementation_answers import Vote, Votes, adapters_by_choice
from wireproof.wire.remark_classes import RemarkClass


@frozen
class OpenCase:
    """A case that allows several behaviours, with the implementations that chose each."""

    case: Case
    behaviours: tuple[str, ...]
    votes: Mapping[str, Sequence[str]]


@frozen
class RemarkChoices:
    """A remark class.

    Attributes:
        name, about: a row of the table.
        cases: the cases in which the reference makes the remark.
        votes: for each choice, the implementations that made it, and in how many of the cases.
    """

    name: str
    about: RemarkClass
    cases: tuple[Case, ...]
    votes: Mapping[str, Mapping[str, int]]


def open_cases(suite: Suite, votes: Votes) -> Iterator[OpenCase]:
    """Yield every case with `either`, sorted by id."""
    for case in suite.cases:
        if isinstance(case.expect, Either):
            names = tuple(one.id for one in case.expect.behaviours)
            yield OpenCase(case, names, adapters_by_choice(votes.get(case.id, ())))


def remark_choices(suite: Suite, votes: Votes) -> Iterator[RemarkChoices]:
    """Yield every remark class, in the order of the table."""
    cases: dict[str, list[Case]] = {}
    for case in suite.cases:
        for name in dict.fromkeys(_remarks(case.expect)):
            cases.setdefault(name, []).append(case)
    for name, about in remark_classes().items():
        some = cases.get(name, [])
        every = [vote for case in some for vote in votes.get(case.id, ())]
        yield RemarkChoices(name, about, tuple(some), _counted(every))


def _counted(some: Sequence[Vote]) -> dict[str, dict[str, int]]:
    """Return the choices and the number of times that implementations made each."""
    return {
        choice: {name: who.count(name) for name in dict.fromkeys(who)}
        for choice, who in adapters_by_choice(some).items()
    }


def _remarks(expect: Expect) -> Iterator[str]:
    match expect:
        case Accept():
            yield from expect.remarks
        case Either(behaviours):
            for one in behaviours:
                yield from _remarks(one.expect)
