"""Why a program cannot be judged, in one line: what it did at a plain record, and what to do next."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from wireproof.adapters.errors import AdapterStartError
from wireproof.cases.outcome import Faulty, Outcome, Stalled
from wireproof.kafka.family.client_program.client_options import ClientOptions
from wireproof.kafka.family.client_program.consume_case import NO_LINE, Consumption

BROKER: Final = "127.0.0.1:9092"
"""An address for a command that a user types; a broker of their own may be there."""

LINES: Final = "print only the lines of clients.md on stdout, and log to stderr"
CONNECT: Final = "it must connect to ADDRESS and read partition 0 of TOPIC from OFFSET on"
FLUSH: Final = "it fetched the whole log and printed nothing: print each record, and flush each line"


def not_consumed(
    options: ClientOptions, words: Sequence[str], seen: Consumption, outcome: Outcome | None
) -> AdapterStartError:
    """Return the error for a program that does not deliver the one record of a log."""
    by_hand = _by_hand(words, options.start, BROKER, "TOPIC", "read_uncommitted", "0")
    found = f"{len(seen.records)} records of one" if outcome is None else getattr(outcome, "text", "")
    if isinstance(outcome, Stalled) and not seen.served.fetches:
        after = CONNECT
    elif isinstance(outcome, Stalled) and seen.shown is None and seen.served.end_at is not None:
        after = FLUSH
    else:
        after = _next_step(outcome, by_hand)
    return AdapterStartError(f"{options.name} does not consume a plain record: {found}; {after}")


def not_produced(options: ClientOptions, words: Sequence[str], outcome: Outcome) -> AdapterStartError:
    """Return the error for a program that does not produce one record."""
    after = _next_step(outcome, _by_hand(words, "produce", BROKER, "TOPIC", "none", "plain"))
    if options.side == "both":
        after = f"{after}; side=consume judges the consumer alone"
    return AdapterStartError(
        f"{options.name} does not produce a plain record: {getattr(outcome, 'text', '')}; {after}"
    )


def _next_step(outcome: Outcome | None, by_hand: str) -> str:
    match outcome:
        case Faulty(text) if text.startswith(NO_LINE):
            return LINES
        case Faulty():
            return f"correct the command; it is started in {Path.cwd()}"
        case _:
            return by_hand


def _by_hand(words: Sequence[str], *arguments: str) -> str:
    return f"start it by hand: {shlex.join([*words, *arguments])}"
