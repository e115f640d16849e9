"""Faults that need no format: a suite that misses one of these tests nothing."""

from tests.mutants.base import ReferenceCodec, mutant, walk
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


@mutant(ReferenceCodec, "on_rejected", "accept-everything", "kafka.batch/v2/crc/ieee")
def accept_everything(rejected: Rejected, request: Request) -> Outcome:
    """Accepts invalid bytes, with the value that was read before the fault."""
    if request.op == "encode":
        return Accepted(data=b"")
    return Accepted(refused_outcome(rejected).before, len(request.data))


@mutant(ReferenceCodec, "patch_value", "empty-as-null")
def empty_as_null(value: Json) -> None:
    """Returns empty as null."""
    for part in walk(value):
        part.update({name: None for name, inner in part.items() if inner == ""})
