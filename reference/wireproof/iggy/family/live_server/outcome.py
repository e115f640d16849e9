"""The outcome of a send by what is answered and by what is stored: live-servers.md, "Iggy servers"."""

from collections.abc import Sequence
from typing import Final

from wireproof.adapters.python_object import line_of
from wireproof.cases.outcome import Accepted, Crashed, Outcome, Refused
from wireproof.iggy.family.live_server.stored import Stored, faults_of, shown_messages

CLOSED: Final = "connection closed"
"""Stands for the error of a server that closes the connection."""

WAIT: Final = 0.5
"""The part of a case's time limit after which a server without an answer waits for more bytes."""


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
    return Crashed(f"the server is gone, nothing listens at its address: {line_of(error)}")
