"""The outcome of a send by what is answered and by what is stored: live-servers.md, "Iggy servers"."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, Generic, TypeVar

from attrs import evolve, frozen

from wireproof.adapters.python_object import line_of
from wireproof.cases.outcome import Accepted, BrokenRule, Crashed, Outcome, Refused, Stalled, Unsupported
from wireproof.iggy.family.live_server.connection import ConnectionEndedError
from wireproof.iggy.family.live_server.own_streams import RefusedError, StreamServer
from wireproof.iggy.family.live_server.stored import Stored, broken_around, shown_messages

CLOSED: Final = "connection closed"
"""Stands for the error of a server that closes the connection."""

GONE: Final = "the server is gone or hangs, nothing answers at its address"

TEXT: Final = 200
"""Characters of the text of an error that are kept."""

WAIT: Final = 0.5
"""The part of a case's time limit after which a server without an answer waits for more bytes."""

ReplyT = TypeVar("ReplyT")


@frozen
class Sent(Generic[ReplyT]):
    """The end of a send: the reply, or the text of a connection that ended, or neither for silence."""

    reply: ReplyT | None = None
    closed: str = ""
    out_of_step: str = ""


def answered(
    send: Callable[[float], Sent[ReplyT]], seconds: float, server: StreamServer, *, last: bool
) -> Sent[ReplyT] | Outcome:
    """Send; return an outcome if the server is gone or waits.

    If the connection ends, raise `ConnectionEndedError`, unless it is the last attempt.
    """
    sent = send(seconds)
    if sent.closed and not last:
        raise ConnectionEndedError(sent.closed)
    if sent.closed and not server.is_listening():
        return Crashed(f"{GONE}: {sent.closed}")
    if sent.reply is None and not sent.closed:
        return Stalled("no answer: the server waits for more bytes than the request has")
    return sent


def outcome_of(
    refused: Refused | None,
    out_of_step: str,
    earlier: Stored,
    found: Stored,
    ids: Sequence[int],
    fields: Sequence[str],
) -> Outcome:
    """Return the outcome of a send that was answered, or whose connection ended.

    Args:
        refused: the answer of the server, if it is an error.
        out_of_step: what is wrong with the answer to the next request; empty if nothing is.
        earlier: the partition before the send.
        found: the partition after it.
        ids: those that the send names.
        fields: those of a message that the send has.
    """
    broken = list(broken_around(earlier, found))
    grown = found.messages[len(earlier.messages) :]
    if refused is not None:
        if grown:
            text = f"{refused.detail} is answered, and {len(grown)} messages are stored"
            broken.insert(0, BrokenRule("iggy.send.nothing", text))
        return evolve(refused, broken=tuple(broken))
    if out_of_step:
        broken.append(BrokenRule("iggy.send.in-step", out_of_step))
    return Accepted({"messages": shown_messages(grown, ids, fields)}, broken=tuple(broken))


def gone(error: OSError) -> Crashed:
    """Return the outcome of a case after which nothing listens any more."""
    return Crashed(f"{GONE}: {line_of(error)}")


def around_send(error: OSError) -> Stalled:
    """Return the outcome of a case for which a request around the send is not answered."""
    return Stalled(f"around the send: {line_of(error)}")


def asked_twice(
    server: StreamServer, ask: Callable[[bool], Outcome], closed: Callable[[OSError], Outcome]
) -> Outcome:
    """Return the outcome of a case, which is asked again if a connection ends.

    Its end may have another reason than the case: the server may have been started again in the middle.

    Args:
        server: the server; a fault around a case is no verdict about it.
        ask: asks it on a stream of its own; True for the last time. Raises `OSError`, `RefusedError`.
        closed: the outcome if a connection ends in the last attempt, and the server listens.
    """
    outcome = _asked(server, partial(ask, False))  # noqa: FBT003 - the argument of `ask`
    if isinstance(outcome, OSError):
        if not server.returns():
            return gone(outcome)
        outcome = _asked(server, partial(ask, True))  # noqa: FBT003 - as above
    if isinstance(outcome, OSError):
        outcome = closed(outcome) if server.is_listening() else gone(outcome)
    if isinstance(outcome, Crashed):
        server.returns()  # the process that asks the next case does not wait for it
    return outcome


def _asked(server: StreamServer, ask: Callable[[], Outcome]) -> Outcome | OSError:
    """Return the outcome, or the error of a connection that ended."""
    connected = False
    try:
        server.reconnect_if_lost()
        connected = True
        return ask()
    except RefusedError as error:
        return Unsupported(str(error))
    except TimeoutError as error:
        server.lose()
        if not connected:  # it hangs since the last case: every other case would wait for it too
            return gone(error)
        return Stalled(f"no answer: {line_of(error)}")
    except OSError as error:
        server.lose()
        return error
