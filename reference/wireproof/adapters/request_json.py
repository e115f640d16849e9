"""Conversion of hellos and requests to and from their JSON. See `adapter-contract.md`.

All checks are made here, so that other code can trust the objects: a missing, unknown or wrongly typed field
raises `MessageError` with one line that names the field.
"""

import json
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeVar, get_args

from attrs import evolve, frozen

from wireproof.adapters.contract import PROTOCOL, Claim, Hello, Request
from wireproof.adapters.errors import AdapterStartError, MessageError
from wireproof.adapters.message_framing import Head, Packet
from wireproof.cases.case import Limits, Op
from wireproof.strict_parsing import FieldError, Reader, count, shorten_value, wrong
from wireproof.wire.json_values import Json
from wireproof.wire.options import DEFAULT_OPTIONS, MAX_OUTPUT, Options, Profile
from wireproof.wire.options_json import OPTIONS_IN_REQUESTS, options_to_request
from wireproof.wire.safe_text import one_line

OPENING: Final = Packet({"hello": {"protocol": PROTOCOL}})
"""The first message from the suite."""

NAME: Final = 100
"""Characters of a name or a version that are kept."""

MOST_NOTES: Final = 10
NOTE: Final = 300
"""Notes of a hello that are kept, and characters of each."""

MOST_CLAIMS: Final = 64 * 1024
"""Most characters of all claims of a hello, as JSON: the manifest of every run contains them."""

_NO_LIMITS: Final = Limits()
_OPS: Final = get_args(Op)

T = TypeVar("T")


def structured(reader: Reader, tree: object, kind: type[T], owner: str) -> T:
    """Return the object that a part of a message describes; raise `MessageError`."""
    try:
        return reader.read(tree, kind, owner)
    except FieldError as error:
        raise MessageError(str(error)) from None


# --- hello ---


def hello_packet(hello: Hello) -> Packet:
    """Return the message with a hello."""
    revisions = {format_id: _claim_json(claim) for format_id, claim in hello.revisions.items()}
    return Packet(
        {
            "hello": {
                "protocol": hello.protocol,
                "name": hello.name,
                "version": hello.version,
                "revisions": revisions,
                "errors": hello.errors,
                "window": hello.window,
                "cost": hello.cost,
                "digests": hello.digests,
                **({"notes": list(hello.notes)} if hello.notes else {}),
            }
        }
    )


def _claim_json(claim: Claim) -> Head:
    parts = {name: getattr(claim, name) for name in ("ops", "codecs", "profiles", "observes", "features")}
    return {name: list(part) for name, part in parts.items() if part is not None}


def hello_of(packet: Packet) -> Hello:
    """Return the adapter's hello; raise `MessageError` for a malformed one.

    An adapter that cannot start may send its reason in one line, as `{"hello": {"error": "…"}}`; that raises
    `AdapterStartError`.
    """
    if packet.head.keys() != {"hello"}:
        raise MessageError(f"wants a hello first, got {shorten_value(packet.head)}")
    head = packet.head["hello"]
    if isinstance(head, dict):
        _check_start(head)
    hello = structured(_READER, head, Hello, "hello")
    name = one_line(hello.name, NAME)
    if not name:
        raise MessageError("name is empty")
    notes = tuple(one_line(note, NOTE) for note in hello.notes[:MOST_NOTES])
    revisions = {format_id: _in_order(claim) for format_id, claim in hello.revisions.items()}
    return evolve(hello, name=name, version=one_line(hello.version, NAME), notes=notes, revisions=revisions)


def _check_start(head: Head) -> None:
    """Raise the adapter's own error, or one for a hello that this suite does not read."""
    if "error" in head:
        raise AdapterStartError(str(head["error"]))
    protocol = head.get("protocol", PROTOCOL)
    if type(protocol) is int and protocol != PROTOCOL:
        raise MessageError(f"uses protocol {protocol}; this suite uses {PROTOCOL}")
    size = len(json.dumps(head.get("revisions")))
    if size > MOST_CLAIMS:
        raise MessageError(f"revisions holds {size} characters, at most {MOST_CLAIMS} are read")


def claim_of(claims: object, format_id: str) -> Claim:
    """Return the claims about the format and revision `format_id`."""
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
        _put_options(head, request.options)
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


def _put_options(head: Head, options: Options) -> None:
    if options.profile != DEFAULT_OPTIONS.profile:
        head["profile"] = options.profile
    if options.max_output != MAX_OUTPUT:
        head["limits"] = {"max_output": options.max_output}
    if parts := options_to_request(options):
        head["options"] = parts


def request_of(packet: Packet) -> Request:
    """Return the request in a packet; raise `MessageError` for a malformed one."""
    head = packet.head
    quick = _is_of_bulk_run(head)
    read = None if quick else structured(_READER, head, _RequestFields, "a request")
    op: Op = head["op"]
    if (packet.blob is not None, packet.blobs is not None, "value" in head, "steps" in head) != _INPUTS[op]:
        raise MessageError(f"{op} must have {_WANTED[op]} and no other input")
    data, value, chunks = packet.blob or b"", head.get("value"), packet.blobs or ()
    if read is None:
        texts = head["id"], op, head["format"], head["revision"]
        return Request(*texts, data, value, chunks, answer=head.get("answer", "value"))
    return Request(
        read.id,
        read.op,
        read.format,
        read.revision,
        data,
        value,
        chunks,
        _options(read),
        read.answer,
        _NO_LIMITS if read.limits is _ALL_LIMITS else Limits(ms=read.limits.ms),
        read.steps,
    )


def _is_of_bulk_run(head: Head) -> bool:
    """Return True for a sound request with the fields of a bulk run alone.

    The converter takes twice as long to find the same, and nearly all requests are of this kind.
    """
    return (
        head.keys() <= _BULK_FIELDS
        and type(head.get("id")) is str
        and type(head.get("format")) is str
        and type(head.get("revision")) is str
        and head.get("op") in _OPS
        and head.get("answer", "value") in _ANSWERS
    )


def _options(read: _RequestFields) -> Options:
    """Return the options of a request: those of its object, its profile and its limit of output."""
    options, profile, most = read.options, read.profile, read.limits.max_output
    if profile == options.profile and most == options.max_output:
        return options
    return evolve(options, profile=profile, max_output=most)


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


_NAMES: Final = tuple[str, ...]

_READER: Final = Reader(
    {
        (Claim, "ops"): tuple[Op, ...],
        (Claim, "codecs"): _NAMES,
        (Claim, "profiles"): _NAMES,
        (Claim, "features"): _NAMES,
        (Hello, "window"): _window,
        (_RequestLimits, "ms"): count,
        (_RequestLimits, "max_output"): count,
        (_RequestFields, "value"): Any,
        (_RequestFields, "steps"): _steps,
        **OPTIONS_IN_REQUESTS,
    }
)
