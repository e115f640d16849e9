"""Iggy codecs with one fault each in the revisions from 0.7.0 on: iggy.md §5, §10 and §11.1."""

from typing import Any

from tests.mutants.base import walk
from tests.mutants.iggy.helpers import IggyMutant, maps_of, messages_of
from wireproof.adapters.contract import Request
from wireproof.cases.outcome import Accepted, Outcome, Refused, refused_outcome
from wireproof.wire.json_values import Json
from wireproof.wire.rejection import Rejected


class OpaqueRefused(IggyMutant):
    """Throws away all messages where the headers of one cannot be read, as Node does."""

    name = "iggy-opaque-refused"
    killed_by = ("iggy.poll/0.9/headers/opaque",)

    def patch_answer(self, outcome: Accepted, request: Request) -> Outcome:
        return Refused("bad-kind") if "iggy-opaque-headers" in outcome.remarks else outcome


class KeyKindsOne(IggyMutant):
    """Holds a string and raw bytes of one text for one key."""

    name = "iggy-key-kinds-one"
    killed_by = ("iggy.headers/0.9/map/one-key-of-two-kinds",)

    def patch_value(self, value: Json, request: Request, data: bytes) -> Json:
        for part in maps_of(value):
            kept = {_text(key): [key, held] for key, held in part["headers"]}
            part["headers"] = list(kept.values())
        return value


def _text(key: Any) -> str:  # noqa: ANN401 - a key of either revision
    return str(key["value"] if isinstance(key, dict) else key)


class DeltasCounted(IggyMutant):
    """Counts the messages of a batch from 0, and does not read their deltas."""

    name = "iggy-deltas-counted"
    killed_by = ("iggy.poll/0.11/messages/sliced",)

    def patch_value(self, value: Json, request: Request, data: bytes) -> Json:
        for part in walk(value):
            if "batches" in part and "messages" in part:
                rows = iter(part["messages"])
                for head in part["batches"]:
                    for index in range(int(head["message_count"])):
                        next(rows)["offset"] = str(int(head["base_offset"]) + index)
        return value


class AnyFlag(IggyMutant):
    """Takes every byte but 0 for yes."""

    name = "iggy-any-flag"
    killed_by = ("iggy.poll-request/0.0.92/request/auto-commit-2",)

    def patch_value(self, value: Json, request: Request, data: bytes) -> Json:
        if request.format == "iggy.poll-request" and isinstance(value, dict):
            value["auto_commit"] = data[-1] != 0
        return value


class EmptyReplyRefused(IggyMutant):
    """Refuses a reply without a body, as Go does."""

    name = "iggy-empty-reply-refused"
    killed_by = ("iggy.reply/0.11/confirmations/empty",)

    def decode(self, request: Request) -> Outcome:
        if (request.format, request.revision, request.data) == ("iggy.reply", "0.11", b""):
            return refused_outcome(Rejected("truncated", 0, "count"))
        return super().decode(request)


class UuidOnWire(IggyMutant):
    """Takes the digits of a UUID for the bytes of the wire, as Go and Node once did."""

    name = "iggy-json-uuid-backwards"
    killed_by = ("iggy.json.send/0.8/id/uuid",)

    def patch_value(self, value: Json, request: Request, data: bytes) -> Json:
        if request.format == "iggy.json.send" and b"-" in data:
            for part in messages_of(value):
                part["id"] = str(int.from_bytes(int(part["id"]).to_bytes(16, "big"), "little"))
        return value
