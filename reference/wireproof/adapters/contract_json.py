"""Conversion of hellos, requests and answers to and from their JSON. See `adapter-contract.md`.

All checks are made here, so that other code can trust the objects: a missing, unknown or wrongly typed field
raises `MessageError` with one line that names the field.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeVar, get_args

from attrs import evolve, frozen

from wireproof.adapters.contract import PROTOCOL, Claim, Hello, Request
from wireproof.adapters.errors import AdapterStartError, MessageError
from wireproof.adapters.message_framing import Head, Packet
from wireproof.cases.case import OPTIONS_IN_REQUESTS, Limits, Op, options_to_request
from wireproof.cases.outcome import (
    Accepted,
    BrokenRule,
    Crashed,
    Exhausted,
    Faulty,
    Outcome,
    Refused,
    Stalled,
    TimedOut,
    Unsupported,
)
from wireproof.strict_parsing import (
    END_OF_POSITIONS,
    FieldError,
    Reader,
    count,
    position,
    shorten_value,
    to_tree,
    wrong,
)
from wireproof.suggestions import suggestion
from wireproof.wire.json_values import Json
from wireproof.wire.options import DEFAULT_OPTIONS, MAX_OUTPUT, Options, Profile
from wireproof.wire.rejection import REJECT_CLASSES
from wireproof.wire.text import one_line

OPENING: Final = Packet({"hello": {"protocol": PROTOCOL}})
"""The first message from the suite."""

NAME: Final = 100
"""Characters of a name or a version that are kept."""

MOST_CLAIMS: Final = 64 * 1024
"""Most characters of all claims of a hello, as JSON: the manifest of every run contains them."""

_NO_LIMITS: Final = Limits()
_OPS: Final = get_args(Op)

T = TypeVar("T")


def structured(reader: Reader, tree: object, kind: type[T], owner: str) -> T:
    try:
        return reader.read(tree, kind, owner)
    except FieldError as error:
        raise MessageError(str(error)) from None


# --- hello ---


def hello_packet(hello: Hello) -> Packet:
    head = {"protocol": hello.protocol, **to_tree(hello)}
    for format_id, claim in head["revisions"].items():
        head["revisions"][format_id] = {name: part for name, part in claim.items() if part is not None}
    if not hello.notes:
        del head["notes"]
    return Packet({"hello": head})


def hello_of(packet: Packet) -> Hello:
    """Return the adapter's hello; raise `MessageError` for a malformed one.

    An adapter that cannot start may send its reason in one line, as `{"hello": {"error": "…"}}`; that raises
    `AdapterStartError`.
    """
    if packet.head.keys() != {"hello"}:
        raise MessageError(f"wants a hello first, got {shorten_value(packet.head)}")
    head = packet.head["hello"]
    if isinstance(head, dict):
        # Raise the adapter's own error, or one for a hello that this suite does not read.
        if "error" in head:
            raise AdapterStartError(str(head["error"]))
        protocol = head.get("protocol", PROTOCOL)
        if type(protocol) is int and protocol != PROTOCOL:
            raise MessageError(f"uses protocol {protocol}; this suite uses {PROTOCOL}")
        size = len(json.dumps(head.get("revisions")))
        if size > MOST_CLAIMS:
            raise MessageError(f"revisions holds {size} characters, at most {MOST_CLAIMS} are read")
    hello = structured(_READER, head, Hello, "hello")
    name = one_line(hello.name, NAME)
    if not name:
        raise MessageError("name is empty")
    notes = tuple(one_line(note, 300) for note in hello.notes[:10])
    revisions = {format_id: _in_order(claim) for format_id, claim in hello.revisions.items()}
    return evolve(hello, name=name, version=one_line(hello.version, NAME), notes=notes, revisions=revisions)


def claim_of(claims: object, format_id: str) -> Claim:
    return _in_order(structured(_READER, claims, Claim, f"the claim of {one_line(format_id, NAME)}"))


def _in_order(claim: Claim) -> Claim:
    """Return a claim with each operation once, in the order of the contract."""
    ops = claim.ops
    return claim if ops is None else evolve(claim, ops=tuple(op for op in _OPS if op in ops))


# --- request ---


@frozen
class _RequestLimits:
    """The limits of a request in JSON: milliseconds, and bytes of decompressed data."""

    ms: int = _NO_LIMITS.ms
    max_output: int = MAX_OUTPUT


_ALL_LIMITS: Final = _RequestLimits()


@frozen
class _RequestFields:
    """The fields of a request in JSON, without the bytes of its input."""

    id: str
    op: Op
    format: str
    revision: str
    value: Json = None
    profile: Profile = DEFAULT_OPTIONS.profile
    answer: Literal["value", "digest"] = "value"
    limits: _RequestLimits = _ALL_LIMITS
    options: Options = DEFAULT_OPTIONS
    steps: tuple[Mapping[str, Json], ...] = ()


def request_packet(request: Request) -> Packet:
    """Return the message with a request; leave out default values."""
    head: Head = {
        "id": request.id,
        "op": request.op,
        "format": request.format,
        "revision": request.revision,
    }
    if request.answer != "value":
        head["answer"] = request.answer
    if request.options is not DEFAULT_OPTIONS and request.options != DEFAULT_OPTIONS:
        options = request.options
        if options.profile != DEFAULT_OPTIONS.profile:
            head["profile"] = options.profile
        if options.max_output != MAX_OUTPUT:
            head["limits"] = {"max_output": options.max_output}
        if parts := options_to_request(options):
            head["options"] = parts
    if request.limits is not _NO_LIMITS and request.limits.ms != _NO_LIMITS.ms:
        head.setdefault("limits", {})["ms"] = request.limits.ms
    if request.op == "decode":
        return Packet(head, blob=request.data)
    if request.op == "scan":
        return Packet(head, blobs=request.chunks)
    if request.op == "sequence":
        head["steps"] = [dict(step) for step in request.steps]
    else:
        head["value"] = request.value
    return Packet(head)


def request_of(packet: Packet) -> Request:
    """Return the request in a packet; raise `MessageError` for a malformed one."""
    head = packet.head
    # True for a sound request with the fields of a bulk run alone. The converter takes twice as long to
    # find the same, and nearly all requests are of this kind.
    quick = (
        head.keys() <= _BULK_FIELDS
        and type(head.get("id")) is str
        and type(head.get("format")) is str
        and type(head.get("revision")) is str
        and head.get("op") in _OPS
        and head.get("answer", "value") in _ANSWERS
    )
    read = None if quick else structured(_READER, head, _RequestFields, "a request")
    op: Op = head["op"]
    if (packet.blob is not None, packet.blobs is not None, "value" in head, "steps" in head) != _INPUTS[op]:
        raise MessageError(f"{op} must have {_WANTED[op]} and no other input")
    data, value, chunks = packet.blob or b"", head.get("value"), packet.blobs or ()
    if read is None:
        texts = head["id"], op, head["format"], head["revision"]
        return Request(*texts, data, value, chunks, answer=head.get("answer", "value"))
    options, most = read.options, read.limits.max_output
    if read.profile != options.profile or most != options.max_output:
        options = evolve(options, profile=read.profile, max_output=most)
    return Request(
        read.id,
        read.op,
        read.format,
        read.revision,
        data,
        value,
        chunks,
        options,
        read.answer,
        _NO_LIMITS if read.limits is _ALL_LIMITS else Limits(ms=read.limits.ms),
        read.steps,
    )


_BULK_FIELDS: Final = frozenset({"id", "op", "format", "revision", "value", "answer"})
_ANSWERS: Final = ("value", "digest")

_INPUTS: Final = {
    "decode": (True, False, False, False),
    "scan": (False, True, False, False),
    "encode": (False, False, True, False),
    "sequence": (False, False, False, True),
}
_WANTED: Final = {"decode": "hex", "scan": "chunks", "encode": "value", "sequence": "steps"}


# --- the types of the fields ---


def _window(value: object) -> int:
    if type(value) is not int or value < 1:
        raise wrong("a whole number from 1 on", value)
    return value


def _steps(value: object) -> tuple[Mapping[str, Json], ...]:
    if not isinstance(value, list) or not all(isinstance(step, dict) and "op" in step for step in value):
        raise wrong("a list of objects with an op", value)
    return tuple(value)


_READER: Final = Reader(
    {
        (Claim, "ops"): tuple[Op, ...],
        **{(Claim, name): tuple[str, ...] for name in ("codecs", "profiles", "features")},
        (Hello, "window"): _window,
        (_RequestLimits, "ms"): count,
        (_RequestLimits, "max_output"): count,
        (_RequestFields, "value"): Any,
        (_RequestFields, "steps"): _steps,
        **OPTIONS_IN_REQUESTS,
    }
)


TEXT: Final = 400
"""Characters of a free text in an answer that are kept."""

PATH: Final = 300
"""Characters that are kept of a path, and of the format document's own name of a condition."""

REMARKS: Final = 256
"""Remarks, and broken rules, that are kept."""

NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,18}")

_OUTCOMES: Final[Mapping[str, type[Outcome]]] = {
    kind.__name__.lower(): kind
    for kind in (Accepted, Refused, Unsupported, Stalled, Crashed, Exhausted, Faulty)
}
"""The outcomes that an adapter may answer; any other one is its fault."""

_NAMES_OF_OUTCOMES: Final = {kind: name for name, kind in _OUTCOMES.items()}

_CLASSES: Final = frozenset(REJECT_CLASSES)

# --- outcome to JSON ---


def answer_packet(name: str, outcome: Outcome) -> Packet:
    """Return the answer to the request with the id `name`."""
    match outcome:
        case Accepted():
            return _accepted_packet(name, outcome)
        case Refused():
            named = to_tree(evolve(outcome, broken=()), without_defaults=True)
            parts = {"class": outcome.cls, **named, **_broken(outcome)}
        case Exhausted(resource, text):
            parts = {"resource": resource, "text": text}
        case TimedOut(ms, text):
            parts = {"text": f"no answer in {ms} ms; {text}"}
        case _:
            parts = {"text": outcome.text}
    return Packet({"id": name, "outcome": _NAMES_OF_OUTCOMES.get(type(outcome), "faulty"), **parts})


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
    rows = [{"rule": broken.rule, "text": broken.text} for broken in outcome.broken]
    return {"broken": rows} if rows else {}


# --- JSON to outcome ---


def answer_of(packet: Packet) -> Outcome:
    """Return the outcome in an answer, without its id; raise `MessageError` for a malformed one."""
    outcome = packet.head.get("outcome")
    kind = _OUTCOMES.get(outcome) if isinstance(outcome, str) else None
    if kind is None:
        raise MessageError(f"outcome must be one of {', '.join(_OUTCOMES)}, got {shorten_value(outcome)}")
    if packet.blobs is not None or (packet.blob is not None and kind is not Accepted):
        raise MessageError(f"the outcome {outcome} carries no bytes")
    fields = {name: value for name, value in packet.head.items() if name not in ("id", "outcome")}
    if kind is Accepted and isinstance(fields.get("text"), str):
        del fields["text"]  # it says why there is a digest, to a person
    answer = structured(_ANSWER_READER, fields, kind, str(outcome))
    if isinstance(answer, Accepted):  # the bytes of an encode are outside the JSON object
        if ("value" in fields) + ("digest" in fields) + (packet.blob is not None) != 1:
            raise MessageError("accepted must have exactly one of value, digest and hex")
        answer = answer if packet.blob is None else evolve(answer, data=packet.blob)
    return bounded(answer)


def bounded(outcome: Outcome) -> Outcome:
    """Return the outcome with its texts cut and cleaned: no other code sees the adapter's raw texts."""
    if isinstance(outcome, Accepted | Refused) and outcome.broken:
        broken = (
            BrokenRule(_clean(rule.rule, PATH), _clean(rule.text, TEXT)) for rule in outcome.broken[:REMARKS]
        )
        outcome = evolve(outcome, broken=tuple(broken))
    match outcome:
        case Accepted(remarks=(), digest=None) | Refused(path="", detail="", text=""):
            return outcome
        case Accepted():
            remarks = (_clean(remark, PATH) for remark in outcome.remarks[:REMARKS])
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
    near = suggestion(str(name), REJECT_CLASSES, "the class of every other reason is `other`")
    raise ValueError(f"is unknown: {shorten_value(name)}; {near}")


def _at(value: object) -> object:
    """Return a position; an adapter may write the number of one as a text."""
    return position(int(value) if isinstance(value, str) and NUMBER.fullmatch(value) else value)


_ANSWER_READER: Final = Reader(
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
