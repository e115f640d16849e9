"""The outcome of a send by what is answered and by what is stored: live-servers.md, "Iggy servers"."""

from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

from attrs import frozen

from wireproof.adapters.python_object import line_of
from wireproof.cases.outcome import Accepted, Crashed, Outcome, Refused, Stalled, Unsupported
from wireproof.iggy.family.live_server.own_streams import RefusedError, StreamServer
from wireproof.iggy.family.live_server.stored import Stored, faults_of, shown_messages

CLOSED: Final = "connection closed"
"""Stands for the error of a server that closes the connection."""

GONE: Final = "the server is gone, nothing listens at its address"

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


def send_twice(
    send: Callable[[float], Sent[ReplyT]], seconds: float, listening: Callable[[], bool]
) -> Sent[ReplyT]:
    """Send, and repeat a send whose connection ended, which may have another reason than the case."""
    sent = send(seconds)
    return send(seconds / 2) if sent.closed and listening() else sent


def unanswered(sent: Sent[ReplyT], listening: Callable[[], bool]) -> Outcome | None:
    """Return the outcome of a send after which the server is gone or waits; None if there was an answer."""
    if sent.closed and not listening():
        return Crashed(f"{GONE}: {sent.closed}")
    if sent.reply is None and not sent.closed:
        return Stalled("no answer: the server waits for more bytes than the request has")
    return None


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
    faults = list(faults_of(earlier, found))
    grown = found.messages[len(earlier.messages) :]
    if refused is not None and not grown and not faults:
        return refused
    if refused is not None:
        faults.append(f"{refused.detail}, and messages are stored")
    elif out_of_step:
        faults.append(out_of_step)
    if faults:
        return Accepted({"fault": "; ".join(faults), "stored": str(len(grown))})
    return Accepted({"messages": shown_messages(grown, ids, fields)})


def gone(error: OSError) -> Crashed:
    """Return the outcome of a case after which nothing listens any more."""
    return Crashed(f"{GONE}: {line_of(error)}")


def run_send(server: StreamServer, send: Callable[[], Outcome]) -> Outcome:
    """Return the outcome of a send; a fault around it is no verdict about the case."""
    try:
        return send()
    except RefusedError as error:
        return Unsupported(str(error))
    except OSError as error:
        if not server.is_listening():
            return gone(error)
        server.reconnect()
        return Stalled(f"around the send: {line_of(error)}")
