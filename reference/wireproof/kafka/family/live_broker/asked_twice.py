"""A case whose connection ended, or whose topic is lost, is asked once more: that may have another reason.

The broker may have been started again in the middle, by an operator or because another case ended it.
"""

import time
from collections.abc import Callable
from typing import Final

from kafka import errors

from wireproof.adapters.python_object import line_of
from wireproof.cases.outcome import BrokenRule, Crashed, Outcome, Refused
from wireproof.kafka.family.live_broker.cluster import Cluster
from wireproof.kafka.family.live_broker.requests import LostTopicError, MalformedAnswerError

CLOSED: Final = "connection closed"
"""Stands for the error code of a broker that closes the connection."""


FRAME: Final = "kafka.answer.frame"
LOST: Final = "topic lost"
"""Stands for the error code of a broker that has lost two topics of one case."""

MALFORMED: Final = "malformed answer"
"""Stands for the error code of an answer that has not what was asked for, or that cannot be read.

The case is not asked again: no broker that is started again answers so.
"""


def asked_twice(cluster: Cluster, ask: Callable[[], Outcome], lost: Callable[[float], None]) -> Outcome:
    """Return the outcome of `ask`, which may raise an error of kafka-python.

    If the broker was away or has lost a topic, `lost` gets the time at which that was noticed, before the
    case is asked again. A broker that was started again may do both to one case: it closes the connection,
    listens again before anybody looks, and does not know the topic.
    """
    done: list[type[errors.KafkaError]] = []
    while True:
        try:
            return _asked(ask)
        except errors.KafkaError as error:
            kind = LostTopicError if isinstance(error, LostTopicError) else errors.KafkaError
            if kind in done:
                return _refused(cluster, error)
            done.append(kind)
            noticed = time.monotonic()
            away = kind is LostTopicError or not cluster.is_alive()
            if not cluster.returns():
                return _gone(error)
        if away:
            lost(noticed)


def _refused(cluster: Cluster, error: errors.KafkaError) -> Outcome:
    """Return the outcome of a case that lost its topic twice, or its connection twice."""
    if isinstance(error, LostTopicError):
        return Refused(detail=LOST, text=str(error), untyped=True)
    if not cluster.is_alive():
        cluster.returns()  # the process that asks the next case does not wait for it
        return _gone(error)
    text = f"the broker closes the connection without an answer: {line_of(error)}"
    return Refused(detail=CLOSED, text=text, untyped=True)


def _asked(ask: Callable[[], Outcome]) -> Outcome:
    try:
        return ask()
    except (MalformedAnswerError, errors.KafkaProtocolError) as error:
        text = str(error)  # of the library's errors it begins with the name
        return Refused(detail=MALFORMED, text=text, untyped=True, broken=(BrokenRule(FRAME, text),))


def _gone(error: errors.KafkaError) -> Crashed:
    return Crashed(f"the broker is gone, nothing listens at its address: {line_of(error)}")
