"""Conversion of outcomes to and from the JSON of an answer. See `adapter-contract.md`.

An adapter may answer `accepted`, `refused` or `unsupported`. It may also answer `stalled` (a client behind a
socket delivered nothing and reported no error), `exhausted` (it reached a limit and still runs), `crashed`
(the driver caught a panic that would have ended the process of any other caller) and `faulty` (the adapter
failed, not its library). No answer reports the end of a process or a timeout: the runner observes these.
"""

import re
from collections.abc import Callable
from typing import Any, Final

from attrs import evolve

from wireproof.adapters.errors import MessageError
from wireproof.adapters.message_framing import Head, Packet
from wireproof.adapters.request_json import count_of, kind_of, one_of, only, text_of, texts_of
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
from wireproof.suggestions import suggestion
from wireproof.wire.reject_classes import REJECT_CLASSES
from wireproof.wire.rejection import Position
from wireproof.wire.safe_text import one_line

TEXT: Final = 400
"""Characters of a free text in an answer that are kept."""

PATH: Final = 300
"""Characters that are kept of a path, and of the format document's own name of a condition."""

REMARKS: Final = 256
"""Remarks that are kept."""

FURTHEST: Final = 1 << 63
"""No input has this many bytes."""

_AT: Final = re.compile(r"(0|[1-9][0-9]*)(>(0|[1-9][0-9]*))*")
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
    return Packet(head, blob=outcome.data)


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
    return parts


# --- JSON to outcome ---


def answer_of(packet: Packet) -> Outcome:
    """Return the outcome in an answer, without its id; raise `MessageError` for a malformed one."""
    head = packet.head
    outcome = head.get("outcome")
    parse = _PARSERS.get(outcome) if isinstance(outcome, str) else None
    if parse is None:
        raise MessageError(f"outcome must be one of {', '.join(_PARSERS)}; got {kind_of(outcome)}")
    if packet.blobs is not None or (packet.blob is not None and outcome != "accepted"):
        raise MessageError(f"the outcome {outcome} carries no bytes")
    return bounded(parse(packet))


def bounded(outcome: Outcome) -> Outcome:
    """Return the outcome with its texts cut and cleaned: no other code sees the adapter's raw texts."""
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
    return one_line(text if isinstance(text, str) else kind_of(text), most)


_ACCEPTED: Final = frozenset({"id", "outcome", "value", "consumed", "remarks", "digest"})
_REFUSED: Final = frozenset({"id", "outcome", "class", "at", "path", "detail", "text", "before", "untyped"})
_TEXT_FIELDS: Final = frozenset({"id", "outcome", "text"})


def _accepted(packet: Packet) -> Accepted:
    head = packet.head
    only(head, _ACCEPTED, "accepted")
    if ("value" in head) + ("digest" in head) + (packet.blob is not None) != 1:
        raise MessageError("accepted must have one of value, digest and hex")
    return Accepted(
        head.get("value"),
        _consumed(head),
        packet.blob,
        texts_of(head, "remarks") or (),
        text_of(head, "digest") if "digest" in head else None,
    )


def _consumed(head: Head) -> int | None:
    if head.get("consumed") is None:
        return None
    consumed = count_of(head, "consumed")
    if consumed >= FURTHEST:
        raise MessageError(f"consumed must be less than {FURTHEST}, got {kind_of(consumed)}")
    return consumed


def _refused(packet: Packet) -> Refused:
    head = packet.head
    only(head, _REFUSED, "refused")
    untyped = head.get("untyped", False)
    if not isinstance(untyped, bool):
        raise MessageError(f"untyped must be true or false, got {kind_of(untyped)}")
    return Refused(
        _class(head.get("class", "other")),
        _at(head.get("at")),
        text_of(head, "path", ""),
        text_of(head, "detail", ""),
        text_of(head, "text", ""),
        head.get("before"),
        untyped,
    )


def _class(name: object) -> Any:  # noqa: ANN401 - a `RejectClass`, once it is found among them
    if isinstance(name, str) and name in _CLASSES:
        return name
    raise MessageError(f"unknown class {kind_of(name)}: {suggestion(str(name), REJECT_CLASSES, OTHER)}")


def _at(at: object) -> Position | None:
    if at is None or (type(at) is int and -1 <= at < FURTHEST):
        return at
    if isinstance(at, str) and len(at) <= 256 and _AT.fullmatch(at):
        return int(at) if at.isdecimal() else at
    raise MessageError(f"at must be an offset, or one such as 61>12; got {kind_of(at)}")


def _exhausted(packet: Packet) -> Exhausted:
    only(packet.head, _TEXT_FIELDS | {"resource"}, "exhausted")
    return Exhausted(one_of(packet.head, "resource", ("memory", "output")), text_of(packet.head, "text", ""))


def _text_parser(kind: type[Unsupported | Stalled | Crashed | Faulty]) -> Callable[[Packet], Outcome]:
    def parse(packet: Packet) -> Outcome:
        only(packet.head, _TEXT_FIELDS, kind.__name__.lower())
        return kind(text_of(packet.head, "text", ""))

    return parse


_PARSERS: Final[dict[str, Callable[[Packet], Outcome]]] = {
    "accepted": _accepted,
    "refused": _refused,
    "unsupported": _text_parser(Unsupported),
    "stalled": _text_parser(Stalled),
    "crashed": _text_parser(Crashed),
    "exhausted": _exhausted,
    "faulty": _text_parser(Faulty),
}
