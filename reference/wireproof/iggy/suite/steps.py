"""The ops of steps that a live Iggy server is asked: adapter-contract.md, "Sequences"."""

from collections.abc import Mapping
from struct import Struct
from typing import Final

from wireproof.cases.steps import StepOp

CONSUMER: Final = frozenset({"consumer", "group", "partition"})
"""The fields of a request about a consumer: number or name, true for a group, and its partition."""

STEP_OPS: Final[Mapping[str, StepOp]] = {
    "send": StepOp(data=True),
    "poll": StepOp(
        required=frozenset({"strategy"}),
        optional=CONSUMER | {"value", "timestampOf", "later", "count", "autoCommit"},
    ),
    "store-offset": StepOp(required=frozenset({"offset"}), optional=CONSUMER),
    "get-offset": StepOp(optional=CONSUMER),
    "delete-offset": StepOp(optional=CONSUMER),
    "join-group": StepOp(required=frozenset({"consumer"})),
}
"""The requests by name, each with its fields."""

_NUMBER: Final = Struct("<I")


def words_of_send(data: bytes) -> str:
    """Describe the bytes of a send: their number, and the number of messages that they name."""
    if len(data) < _NUMBER.size:
        return f"{len(data)} bytes"
    end = _NUMBER.size + _NUMBER.unpack_from(data)[0]
    if end > len(data) or end < 2 * _NUMBER.size:
        return f"{len(data)} bytes"
    return f"{_NUMBER.unpack_from(data, end - _NUMBER.size)[0]} messages in {len(data)} bytes"
