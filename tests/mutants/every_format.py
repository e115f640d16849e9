"""Faults that need no format: a suite that misses one of these tests nothing."""

from attrs import evolve

from tests.mutants.base import JsonObject, ReferenceCodec, walk
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Accepted, Outcome, Refused, refused_outcome
from wireproof.wire.json_values import Json
from wireproof.wire.rejection import Rejected


class RejectEverything(ReferenceCodec):
    """Refuses every request."""

    name = "reject-everything"
    killed_by = ("iggy.log/0.7/scan/torn",)

    def decode(self, request: Request) -> Outcome:
        return Refused("other", text="no")

    encode = decode
    scan = decode


class AcceptEverything(ReferenceCodec):
    """Accepts invalid bytes, with the value that was read before the fault."""

    name = "accept-everything"
    killed_by = ("kafka.batch/v2/crc/ieee",)

    def on_rejected(self, rejected: Rejected, request: Request) -> Outcome:
        if request.op == "encode":
            return Accepted(data=b"")
        return Accepted(refused_outcome(rejected).before, len(request.data))


class SaysTruncated(ReferenceCodec):
    """Gives one reason for every refusal."""

    name = "says-truncated"
    killed_by = ("kafka.batch/v2/crc/ieee",)

    def on_rejected(self, rejected: Rejected, request: Request) -> Outcome:
        return evolve(refused_outcome(rejected), cls="truncated" if request.op != "encode" else "bad-length")


class ConsumesEverything(ReferenceCodec):
    """Says that it used all bytes of its input."""

    name = "consumes-everything"
    killed_by = ("heka.stream/0.10/opaque/cut",)

    def patch_consumed(self, consumed: int, request: Request) -> int:
        return max(consumed, len(request.data))


class ConsumesNothing(ReferenceCodec):
    """Says that it used no byte of its input."""

    name = "consumes-nothing"
    killed_by = ("kafka.batch/v0/text/cut",)

    def patch_consumed(self, consumed: int, request: Request) -> int:
        return 0


class NullAsEmpty(ReferenceCodec):
    """Returns null as empty."""

    name = "null-as-empty"
    killed_by = ("iggy.log/0.11/scan/torn",)

    def patch_value(self, value: Json, request: Request, data: bytes) -> Json:
        for part in walk(value):
            part.update({name: "" for name, inner in part.items() if inner is None})
        return value


class EmptyAsNull(ReferenceCodec):
    """Returns empty as null."""

    name = "empty-as-null"

    def patch_value(self, value: Json, request: Request, data: bytes) -> Json:
        for part in walk(value):
            part.update({name: None for name, inner in part.items() if inner == ""})
        return value


class PrefixForgotten(ReferenceCodec):
    """Forgets what it had read as soon as something is refused."""

    name = "prefix-forgotten"
    killed_by = ("iggy.log/0.11/records/count-2",)

    def on_rejected(self, rejected: Rejected, request: Request) -> Outcome:
        outcome = refused_outcome(rejected)
        return evolve(outcome, before=_emptied(outcome.before))


class LeakyState(ReferenceCodec):
    """Answers a refusal with the value that it read last."""

    name = "leaky-state"
    killed_by = ("kafka.batch/v2/crc/ieee",)

    def __init__(self) -> None:
        self._last: Json = None

    def patch_value(self, value: Json, request: Request, data: bytes) -> Json:
        self._last = value
        return value

    def on_rejected(self, rejected: Rejected, request: Request) -> Outcome:
        if self._last is None or request.op == "encode":
            return refused_outcome(rejected)
        return Accepted(self._last, len(request.data))


class NumbersUnsigned(ReferenceCodec):
    """Reads every integer without its sign."""

    name = "numbers-unsigned"
    killed_by = ("kafka.batch/v0/text/cut",)

    def patch_value(self, value: Json, request: Request, data: bytes) -> Json:
        for part in walk(value):
            part.update({name: _unsigned(inner) for name, inner in part.items()})
        return value


def _unsigned(value: Json) -> Json:
    negative = isinstance(value, str) and value.startswith("-")
    return str(int(value) + (1 << 64)) if negative and isinstance(value, str) else value


def _emptied(value: Json) -> Json:
    bare: JsonObject = {}
    if not isinstance(value, dict):
        return value
    for name, part in value.items():
        bare[name] = [] if isinstance(part, list) else part
    return bare
