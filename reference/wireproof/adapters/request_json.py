"""Conversion of hellos and requests to and from their JSON. See `adapter-contract.md`.

All checks are made here, so that other code can trust the objects: a missing, unknown or wrongly typed field
raises `MessageError` with one line that names the field.
"""

import json
import reprlib
from collections.abc import Mapping
from typing import Any, Final, Literal, get_args

from attrs import evolve

from wireproof.adapters.contract import PROTOCOL, Claim, Hello, Request
from wireproof.adapters.errors import AdapterStartError, MessageError
from wireproof.adapters.message_framing import Head, Packet
from wireproof.cases.case import Limits, Op
from wireproof.strict_converter import FieldError
from wireproof.wire.options import DEFAULT_OPTIONS, MAX_OUTPUT, Options, Profile
from wireproof.wire.options_json import options_from_request, options_to_request
from wireproof.wire.safe_text import one_line

OPENING: Final = Packet({"hello": {"protocol": PROTOCOL}})
"""The first message from the suite."""

NAME: Final = 100
"""Characters of a name or a version that are kept."""

MOST_CLAIMS: Final = 64 * 1024
"""Most characters of all claims of a hello, as JSON: the manifest of every run contains them."""

_NO_LIMITS: Final = Limits()
_OPS: Final = get_args(Op)

# --- checks, each naming the field it refuses ---


def only(head: Mapping[str, Any], allowed: frozenset[str], what: str) -> None:
    """Refuse a field that `what` does not have."""
    if surplus := head.keys() - allowed:
        raise MessageError(f"{what} has no field {kind_of(min(surplus))}")


def text_of(head: Mapping[str, Any], name: str, default: str | None = None) -> str:
    """Return the text in the field `name`."""
    value = head.get(name, default)
    if not isinstance(value, str):
        raise MessageError(f"{name} must be a string, got {kind_of(value)}")
    return value


def name_of(head: Mapping[str, Any], name: str) -> str:
    """Return the text in the field `name` as one short line that can be shown."""
    return one_line(text_of(head, name), NAME)


def count_of(head: Mapping[str, Any], name: str, default: int | None = None, least: int = 0) -> int:
    """Return the integer in the field `name`, not less than `least`."""
    value = head.get(name, default)
    if type(value) is not int or value < least:
        raise MessageError(f"{name} must be a whole number from {least} on, got {kind_of(value)}")
    return value


def one_of(head: Mapping[str, Any], name: str, choices: tuple[str, ...], default: str | None = None) -> Any:  # noqa: ANN401 - the caller's literal type
    """Return the text in the field `name`, one of `choices`."""
    value = head.get(name, default)
    if value not in choices:
        raise MessageError(f"{name} must be one of {', '.join(choices)}; got {kind_of(value)}")
    return value


def object_of(head: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the JSON object in the field `name`; empty if the field is missing."""
    value = head.get(name, {})
    if not isinstance(value, Mapping):
        raise MessageError(f"{name} must be an object, got {kind_of(value)}")
    return value


def texts_of(head: Mapping[str, Any], name: str) -> tuple[str, ...] | None:
    """Return the list of texts in the field `name`; None if the field is missing."""
    value = head.get(name)
    if value is None and name not in head:
        return None
    if not isinstance(value, list | tuple) or not all(isinstance(part, str) for part in value):
        raise MessageError(f"{name} must be a list of strings, got {kind_of(value)}")
    return tuple(value)


def kind_of(value: object) -> str:
    """Describe a wrong value, short enough for one line."""
    text = repr(value[:64]) if isinstance(value, str) else reprlib.repr(value)
    return text if len(text) <= 40 else f"{text[:39]}…"


# --- hello ---

_HELLO: Final = frozenset({"protocol", "name", "version", "revisions", "errors", "window", "cost"})
_CLAIM: Final = frozenset({"ops", "codecs", "profiles", "observes", "features"})
_ERRORS: Final = ("exact", "coarse", "none")
_COSTS: Final = ("fast", "slow")


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
        raise MessageError(f"expected a hello first, got {kind_of(packet.head)}")
    head = object_of(packet.head, "hello")
    if "error" in head:
        raise AdapterStartError(text_of(head, "error"))
    only(head, _HELLO, "hello")
    protocol = count_of(head, "protocol", PROTOCOL)
    if protocol != PROTOCOL:
        raise MessageError(f"uses protocol {protocol}; this suite uses {PROTOCOL}")
    claims = _claims(head)
    name = name_of(head, "name")
    if not name:
        raise MessageError("name is empty")
    return Hello(
        name,
        name_of(head, "version"),
        {format_id: claim_of(claims, format_id) for format_id in claims},
        one_of(head, "errors", _ERRORS, "coarse"),
        count_of(head, "window", 1, least=1),
        one_of(head, "cost", _COSTS, "fast"),
        protocol,
    )


def _claims(head: Mapping[str, Any]) -> Mapping[str, Any]:
    claims = object_of(head, "revisions")
    size = len(json.dumps(claims))
    if size > MOST_CLAIMS:
        raise MessageError(f"revisions holds {size} characters, at most {MOST_CLAIMS} are read")
    return claims


def claim_of(claims: Mapping[str, Any], format_id: str) -> Claim:
    """Return the claims about the format and revision `format_id`."""
    head = object_of(claims, format_id)
    only(head, _CLAIM, f"the claim of {one_line(format_id, NAME)}")
    ops = texts_of(head, "ops")
    if ops is not None and not set(ops) <= set(_OPS):
        raise MessageError(
            f"ops of {one_line(format_id, NAME)} must be some of {', '.join(_OPS)}; got {kind_of(ops)}"
        )
    return Claim(
        tuple(op for op in _OPS if op in ops) if ops is not None else None,
        texts_of(head, "codecs"),
        texts_of(head, "profiles"),
        texts_of(head, "observes") or (),
        texts_of(head, "features"),
    )


# --- request ---

_COMPULSORY: Final = frozenset({"id", "op", "format", "revision"})


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
    op: Op = one_of(head, "op", _OPS)
    has_value = "value" in head
    if (packet.blob is not None, packet.blobs is not None, has_value) != _INPUTS[op]:
        raise MessageError(f"{op} must have {_WANTED[op]} and no other input")
    parts = (
        text_of(head, "id"),
        op,
        text_of(head, "format"),
        text_of(head, "revision"),
        packet.blob or b"",
        head.get("value"),
        packet.blobs or (),
    )
    more = len(head) - len(_COMPULSORY) - has_value
    if not more:  # the common case: no field besides those above
        return Request(*parts)
    if more == 1 and "answer" in head:  # the common case of a bulk run
        return Request(*parts, answer=_answer(head))
    return Request(*parts, *_request_settings(head))


def _answer(head: Mapping[str, Any]) -> Literal["value", "digest"]:
    answer: Literal["value", "digest"] = one_of(head, "answer", ("value", "digest"), "value")
    return answer


def _request_settings(head: Mapping[str, Any]) -> tuple[Options, Literal["value", "digest"], Limits]:
    """Return the options, the kind of answer and the limits of a request."""
    only(head, _COMPULSORY | {"value", "profile", "answer", "limits", "options"}, "a request")
    limits = object_of(head, "limits")
    only(limits, frozenset({"ms", "max_output"}), "limits")
    return (
        _options(head, limits),
        _answer(head),
        Limits(ms=count_of(limits, "ms", _NO_LIMITS.ms)),
    )


_INPUTS: Final = {
    "decode": (True, False, False),
    "scan": (False, True, False),
    "encode": (False, False, True),
}
_WANTED: Final = {"decode": "hex", "scan": "chunks", "encode": "value"}


def _options(head: Mapping[str, Any], limits: Mapping[str, Any]) -> Options:
    """Return the options of a request: those of its object, its profile and its limit of output."""
    try:
        options = options_from_request(head.get("options", {}))
    except FieldError as error:
        raise MessageError(str(error)) from None
    return evolve(
        options,
        profile=one_of(head, "profile", get_args(Profile), DEFAULT_OPTIONS.profile),
        max_output=count_of(limits, "max_output", MAX_OUTPUT),
    )
