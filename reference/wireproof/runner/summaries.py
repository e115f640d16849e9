"""Short texts of expectations and outcomes, for `want` and `got` of a verdict."""

from json import JSONEncoder
from typing import Final, TypeAlias

from wireproof.cases.case import Accept, Either, Expect, Reject
from wireproof.cases.outcome import (
    Accepted,
    Crashed,
    Exhausted,
    Faulty,
    NotRun,
    Outcome,
    Refused,
    Stalled,
    TimedOut,
    Unsupported,
)
from wireproof.runner.value_diff import MISSING, ValueDifference

NoAnswer: TypeAlias = Unsupported | Stalled | Crashed | TimedOut | Exhausted | Faulty | NotRun

MAX_TEXT: Final = 120
"""Maximum characters of one answer in a report."""

SHOWN_TEXT: Final = 64
"""Characters of a long text that are shown from a difference on."""

MAX_OUTPUT: Final = 400
"""Maximum characters of the last output of a dead process or its adapter."""


def shorten(text: str, most: int = MAX_TEXT) -> str:
    """Return `text` on one line of at most `most` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def short_expect(expect: Expect) -> str:
    """Describe an expectation."""
    match expect:
        case Accept(consumed=None):
            return "accept"
        case Accept(consumed=consumed):
            return f"accept, {consumed} bytes consumed"
        case Reject(cls, also, at):
            where = "" if at is None else f" at {at}"
            return f"refuse {' or '.join((cls, *also))}{where}"
        case Either(behaviours):
            return shorten("one of " + ", ".join(known.id for known in behaviours))


def short_outcome(outcome: Outcome) -> str:
    """Describe an outcome."""
    match outcome:
        case Accepted(data=bytes(data)):
            return shorten(f"accept: {len(data)} bytes {data.hex()}")
        case Accepted(value, consumed):
            used = "" if consumed is None else f", {consumed} bytes consumed"
            return shorten(f"accept{used}: {short_value(value)}")
        case Refused(cls, at, path, detail, text):
            where = "" if at is None else f" at {at}"
            return shorten(f"refuse {cls}{where} {path} {detail} {text}")
        case _:
            return shorten(_no_answer(outcome))


def _no_answer(outcome: NoAnswer) -> str:
    match outcome:
        case TimedOut(ms):
            return f"no answer in {ms} ms"
        case Crashed(text):
            return f"crashed: {text.removeprefix('died with ')}"
        case Exhausted(resource, text):
            return text or f"used too much {resource}"
        case Faulty(text):
            return text if text.startswith("invalid answer") else f"invalid answer: {text}"
        case _:
            return f"{type(outcome).__name__.lower()}: {outcome.text}"


_ENCODER: Final = JSONEncoder(separators=(",", ":"), skipkeys=True, check_circular=False, default=repr)
"""Encodes any object that an adapter in this process returns."""


def short_value(value: object) -> str:
    """Return the JSON text of a value, cut while it is encoded: the value of an adapter may be endless."""
    if value is MISSING:
        return repr(value)
    text = ""
    for piece in _ENCODER.iterencode(value):
        text += piece
        if len(text) > MAX_TEXT:
            break
    return shorten(text)


def short_field(found: ValueDifference) -> tuple[str, str]:
    """Return both sides of a difference as `name = value`; long texts from the place where they differ."""
    name = found.path or "value"
    want, got = found.want, found.got
    if isinstance(want, str) and isinstance(got, str) and max(len(want), len(got)) + len(name) > MAX_TEXT:
        return _from_difference(name, want, got), _from_difference(name, got, want)
    return f"{name} = {short_value(want)}", f"{name} = {short_value(got)}"


def _from_difference(name: str, text: str, other: str) -> str:
    """Return a text in hex from the first byte on in which it differs from another, with the place of it."""
    pairs = enumerate(zip(text, other, strict=False))
    start = next((at for at, (one, two) in pairs if one != two), min(len(text), len(other))) // 2
    rest, size = text[2 * start :], len(text) // 2
    shown = f'"{rest[:SHOWN_TEXT]}{"…" if len(rest) > SHOWN_TEXT else ""}"' if rest else "(end)"
    return f"{name} from byte {start:,} of {size:,} = {shown}"
