"""Iggy codecs with one fault each in the revisions from 0.7.0 on: iggy.md §5, §10 and §11.1."""

from typing import Any

from tests.mutants.base import REFERENCE, mutant, walk
from tests.mutants.iggy.helpers import IggyMutant, maps_of, messages_of
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Accepted, Outcome, Refused, refused_outcome
from wireproof.wire.json_values import Json
from wireproof.wire.rejection import Rejected


@mutant(IggyMutant, "patch_answer", "iggy-opaque-refused", "iggy.poll/0.9/headers/opaque")
def opaque_refused(outcome: Accepted) -> Outcome:
    """Throws away all messages where the headers of one cannot be read, as Node does."""
    return Refused("bad-kind") if "iggy-opaque-headers" in outcome.remarks else outcome


@mutant(IggyMutant, "patch_value", "iggy-key-kinds-one", "iggy.headers/0.9/map/one-key-of-two-kinds")
def key_kinds_one(value: Json) -> None:
    """Holds a string and raw bytes of one text for one key."""
    for part in maps_of(value):
        kept = {_text(key): [key, held] for key, held in part["headers"]}
        part["headers"] = list(kept.values())


def _text(key: Any) -> str:  # noqa: ANN401 - a key of either revision
    return str(key["value"] if isinstance(key, dict) else key)


@mutant(IggyMutant, "patch_value", "iggy-deltas-counted", "iggy.poll/0.11/messages/sliced")
def deltas_counted(value: Json) -> None:
    """Counts the messages of a batch from 0, and does not read their deltas."""
    for part in walk(value):
        if "batches" in part and "messages" in part:
            rows = iter(part["messages"])
            for head in part["batches"]:
                for index in range(int(head["message_count"])):
                    next(rows)["offset"] = str(int(head["base_offset"]) + index)


@mutant(IggyMutant, "patch_value", "iggy-any-flag", "iggy.poll-request/0.0.92/request/auto-commit-2")
def any_flag(value: Json, request: Request, data: bytes) -> None:
    """Takes every byte but 0 for yes."""
    if request.format == "iggy.poll-request" and isinstance(value, dict):
        value["auto_commit"] = data[-1] != 0


@mutant(IggyMutant, "decode", "iggy-empty-reply-refused", "iggy.reply/0.11/confirmations/empty")
def empty_reply_refused(request: Request) -> Outcome:
    """Refuses a reply without a body, as Go does."""
    if (request.format, request.revision, request.data) == ("iggy.reply", "0.11", b""):
        return refused_outcome(Rejected("truncated", 0, "count"))
    return REFERENCE.decode(request)


@mutant(IggyMutant, "patch_value", "iggy-json-uuid-backwards", "iggy.json.send/0.8/id/uuid")
def uuid_on_wire(value: Json, request: Request, data: bytes) -> None:
    """Takes the digits of a UUID for the bytes of the wire, as Go and Node once did."""
    if request.format == "iggy.json.send" and b"-" in data:
        for part in messages_of(value):
            part["id"] = str(int.from_bytes(int(part["id"]).to_bytes(16, "big"), "little"))
