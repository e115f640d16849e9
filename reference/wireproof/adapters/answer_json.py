"""Conversion of outcomes to and from the JSON of an answer. See `adapter-contract.md`.

An adapter may answer `accepted`, `refused` or `unsupported`. It may also answer `stalled` (a client behind a
socket delivered nothing and reported no error), `exhausted` (it reached a limit and still runs), `crashed`
(the driver caught a panic that would have ended the process of any other caller) and `faulty` (the adapter
failed, not its library). No answer reports the end of a process or a timeout: the runner observes these.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from attrs import evolve

from wireproof.adapters.errors import MessageError
from wireproof.adapters.message_framing import Head, Packet
from wireproof.adapters.request_json import structured
from wireproof.cases.outcome import (
    Accepted,
    BrokenRule,
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
from wireproof.strict_parsing import END_OF_POSITIONS, Reader, position, shorten_value, wrong
from wireproof.suggestions import suggestion
from wireproof.wire.reject_classes import REJECT_CLASSES
from wireproof.wire.safe_text import one_line

TEXT: Final = 400
"""Characters of a free text in an answer that are kept."""

PATH: Final = 300
"""Characters that are kept of a path, and of the format document's own name of a condition."""

REMARKS: Final = 256
"""Remarks, and broken rules, that are kept."""

NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,18}")

_ENVELOPE: Final = ("id", "outcome")
"""The fields that every answer has."""

_OUTCOMES: Final[Mapping[str, type[Outcome]]] = {
    "accepted": Accepted,
    "refused": Refused,
    "unsupported": Unsupported,
    "stalled": Stalled,
    "crashed": Crashed,
    "exhausted": Exhausted,
    "faulty": Faulty,
}
"""The outcomes that an adapter may answer."""

_CLASSES: Final = frozenset(REJECT_CLASSES)

OTHER: Final = "the class of every other reason is `other`"
"""The advice for a class that resembles no known one."""

# --- outcome to JSON ---


def answer_packet(name: str, outcome: Outcome) -> Packet:
    """Return the answer to the request with the id `name`."""
    match outcome:
        case Accepted():
            return _accepted_packet(name, outcome)
        case Refused():
            parts = {"outcome": "refused", **_refused_parts(outcome)}
        case Exhausted(resource, text):
            parts = {"outcome": "exhausted", "resource": resource, "text": text}
        case Unsupported(text):
            parts = {"outcome": "unsupported", "text": text}
        case Stalled(text):
            parts = {"outcome": "stalled", "text": text}
        case TimedOut(ms, text):
            parts = {"outcome": "faulty", "text": f"no answer in {ms} ms; {text}"}
        case Crashed(text):
            parts = {"outcome": "crashed", "text": text}
        case Faulty(text) | NotRun(text):
            parts = {"outcome": "faulty", "text": text}
    return Packet({"id": name, **parts})


def _accepted_packet(name: str, outcome: Accepted) -> Packet:
    head: Head = {"id": name, "outcome": "accepted"}
    if outcome.digest is not None:
        head["digest"] = outcome.digest
    elif outcome.data is None:
        head["value"] = outcome.value
    if outcome.consumed is not None:
        head["consumed"] = outcome.consumed
    if outcome.remarks:
        head["remarks"] = list(outcome.remarks)
    return Packet(head | _broken(outcome), blob=outcome.data)


def _broken(outcome: Accepted | Refused) -> Head:
    rows = [{"rule": one.rule, "text": one.text} for one in outcome.broken]
    return {"broken": rows} if rows else {}


def _refused_parts(outcome: Refused) -> Head:
    parts: Head = {"class": outcome.cls}
    if outcome.at is not None:
        parts["at"] = outcome.at
    for name in ("path", "detail", "text"):
        if part := getattr(outcome, name):
            parts[name] = part
    if outcome.before is not None:
        parts["before"] = outcome.before
    if outcome.untyped:
        parts["untyped"] = True
    return parts | _broken(outcome)


# --- JSON to outcome ---


def answer_of(packet: Packet) -> Outcome:
    """Return the outcome in an answer, without its id; raise `MessageError` for a malformed one."""
    outcome = packet.head.get("outcome")
    kind = _OUTCOMES.get(outcome) if isinstance(outcome, str) else None
    if kind is None:
        raise MessageError(f"outcome must be one of {', '.join(_OUTCOMES)}, got {shorten_value(outcome)}")
    if packet.blobs is not None or (packet.blob is not None and kind is not Accepted):
        raise MessageError(f"the outcome {outcome} carries no bytes")
    fields = {name: value for name, value in packet.head.items() if name not in _ENVELOPE}
    if kind is Accepted and isinstance(fields.get("text"), str):
        del fields["text"]  # it says why there is a digest, to a person
    answer = structured(_READER, fields, kind, str(outcome))
    return bounded(_with_bytes(answer, fields, packet.blob) if isinstance(answer, Accepted) else answer)


def _with_bytes(answer: Accepted, fields: Head, blob: bytes | None) -> Accepted:
    """Return the answer with the bytes of an encode, which are outside the JSON object."""
    if ("value" in fields) + ("digest" in fields) + (blob is not None) != 1:
        raise MessageError("accepted must have exactly one of value, digest and hex")
    return answer if blob is None else evolve(answer, data=blob)


def bounded(outcome: Outcome) -> Outcome:
    """Return the outcome with its texts cut and cleaned: no other code sees the adapter's raw texts."""
    if isinstance(outcome, Accepted | Refused) and outcome.broken:
        kept = outcome.broken[:REMARKS]
        cleaned = tuple(BrokenRule(_clean(one.rule, PATH), _clean(one.text, TEXT)) for one in kept)
        outcome = evolve(outcome, broken=cleaned)
    match outcome:
        case Accepted(remarks=(), digest=None) | Refused(path="", detail="", text=""):
            return outcome
        case Accepted():
            remarks = (_clean(one, PATH) for one in outcome.remarks[:REMARKS])
            digest = None if outcome.digest is None else _clean(outcome.digest, PATH)
            return evolve(outcome, remarks=remarks, digest=digest)
        case Refused():
            path, detail = _clean(outcome.path, PATH), _clean(outcome.detail, PATH)
            return evolve(outcome, path=path, detail=detail, text=_clean(outcome.text, TEXT))
        case _:
            return evolve(outcome, text=_clean(outcome.text, TEXT)) if outcome.text else outcome


def _clean(text: object, most: int) -> str:
    """Return one line for a text; an object in this process may have put any other value in its place."""
    return one_line(text if isinstance(text, str) else shorten_value(text), most)


# --- the types of the fields ---


def _consumed(value: object) -> int | None:
    if value is None:
        return None
    if type(value) is not int or not 0 <= value < END_OF_POSITIONS:
        raise wrong(f"a whole number from 0 on, less than {END_OF_POSITIONS}", value)
    return value


def _class(name: object) -> object:
    if isinstance(name, str) and name in _CLASSES:
        return name
    raise ValueError(f"is unknown: {shorten_value(name)}; {suggestion(str(name), REJECT_CLASSES, OTHER)}")


def _at(value: object) -> object:
    """Return a position; an adapter may write the number of one as a text."""
    return position(int(value) if isinstance(value, str) and NUMBER.fullmatch(value) else value)


_READER: Final = Reader(
    {
        (Accepted, "value"): Any,
        (Accepted, "consumed"): _consumed,
        (Accepted, "data"): None,
        (Accepted, "digest"): str,
        (Refused, "cls"): _class,
        (Refused, "at"): _at,
        (Refused, "before"): Any,
    }
)
