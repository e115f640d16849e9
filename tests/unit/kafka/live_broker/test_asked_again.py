"""A case is asked again after the end of its connection, each at another request, and of its topic."""

from collections import Counter
from typing import Any

import pytest
from each import each

pytest.importorskip("kafka", reason="pip install 'wireproof[broker]'")

from kafka import errors

from wireproof.cases.outcome import Accepted, Crashed, Outcome, Refused
from wireproof.live.kafka_broker.append_case import CLOSED, LOST, MOST_ENDS, asked_again
from wireproof.live.kafka_broker.requests import LostTopicError

DONE = Accepted({})
CLOSES = errors.KafkaConnectionError("closed")
LOSES = LostTopicError("lost")


class Listening:
    """A broker that is there whenever somebody looks, or never."""

    def __init__(self, alive: bool) -> None:
        self.alive = alive
        self.asked_again: Counter[str] = Counter()
        self.answers = 0

    def answered(self) -> int:
        return self.answers

    def is_alive(self) -> bool:
        return self.alive

    def returns(self) -> bool:
        return self.alive


def asked(events: list[Any], *, alive: bool = True) -> tuple[Outcome, int, int]:
    """The outcome of a case with these events, how often topics were forgotten, and the events left.

    A number stands for so many answers and the end of the connection.
    """
    left, broker = list(events), Listening(alive)
    forgotten: list[float] = []

    def ask() -> Outcome:
        event = left.pop(0)
        if isinstance(event, int):
            broker.answers += event
            raise CLOSES
        if isinstance(event, Exception):
            raise event
        return event  # type: ignore[no-any-return] # an outcome

    outcome = asked_again(broker, ask, forgotten.append)  # type: ignore[arg-type] # a double
    return outcome, len(forgotten), len(left)


@each(
    "events, forgotten",
    [
        ([DONE], 0),
        ([CLOSES, DONE], 0),
        ([LOSES, DONE], 1),
        ([CLOSES, LOSES, DONE], 1),
        ([LOSES, CLOSES, DONE], 1),
        ([1, 2, 0, 3, DONE], 0),
    ],
)
def test_a_broker_that_was_started_again_is_asked_again(events: list[Any], forgotten: int) -> None:
    """It listens again before anybody looks: only the lost topic shows that it was away."""
    assert asked(events) == (DONE, forgotten, 0)


@each(
    "events, detail",
    [
        ([CLOSES, CLOSES, DONE], CLOSED),
        ([LOSES, LOSES, DONE], LOST),
        ([CLOSES, LOSES, CLOSES, DONE], CLOSED),
        ([LOSES, CLOSES, LOSES, DONE], LOST),
        ([3, 1, 3, DONE], CLOSED),
        ([*range(MOST_ENDS + 1), DONE], CLOSED),
    ],
)
def test_a_broker_that_does_it_twice_at_one_request_refuses_the_case(events: list[Any], detail: str) -> None:
    outcome, _, left = asked(events)
    assert isinstance(outcome, Refused)
    assert (outcome.detail, left) == (detail, 1)


def test_a_broker_that_does_not_return_is_gone() -> None:
    outcome, _, left = asked([CLOSES, DONE], alive=False)
    assert isinstance(outcome, Crashed)
    assert left == 1
