"""The widths of the integers of each value class on the wire, to wrap edited numbers that do not fit."""

from collections.abc import Mapping
from typing import Final

from wireproof.cases.mutate.layout_facts import integer_fields
from wireproof.iggy.batch import (
    PRODUCER_FIELDS,
    Batch,
    Batch111,
    BatchHeader,
    BatchHeader111,
    BatchMessage,
    Producer,
)
from wireproof.iggy.deferred_poll import DeferredPollRequest
from wireproof.iggy.fetch import FetchSection
from wireproof.iggy.fetch_request import FetchRequest, FetchTarget
from wireproof.iggy.frame import (
    ClassicFrame,
    EvictionHeader,
    ReplyHeader,
    ReplyHeader111,
    RequestHeader,
    RequestHeader111,
)
from wireproof.iggy.json_poll import (
    JsonPoll70,
    JsonPoll90,
    JsonPoll100,
    JsonPolledMessage70,
    JsonPolledMessage90,
    JsonPolledMessage100,
)
from wireproof.iggy.json_reply import JsonError, JsonError40
from wireproof.iggy.json_send import JsonSentMessage70, JsonSentMessage90, JsonSentMessage100
from wireproof.iggy.message import (
    PolledMessage30,
    PolledMessage40,
    PolledMessage70,
    PolledMessage90,
    SentMessage,
    SentMessage70,
    SentMessage90,
    StoredMessage30,
)
from wireproof.iggy.poll import Poll60, Poll70, Poll90, Poll110, Poll111
from wireproof.iggy.poll_request import (
    Consumer30,
    PollingStrategy,
    PollRequest30,
    PollRequest80,
    PollRequest92,
    PollRequest111,
)
from wireproof.iggy.reply import ClassicReply, SendConfirmation
from wireproof.iggy.retained_batch import RetainedBatch

_ALL: Final = {"offset": 64, "timestamp": 64, "origin_timestamp": 64, "id": 128}
"""The fields of an Iggy message: iggy.md, sections 3 and 5."""

_TOLD: Final = {**_ALL, "checksum": 64}

_HEADER: Final = {"client": 128, "timestamp": 64, "request": 64, "operation": 8}
"""The fields of a VSR header: iggy.md, section 2.1."""

_REQUEST: Final = {"partition_id": 32, "count": 32}

_WAIT: Final = {"wait_us": 64, "request_timeout_us": 64, "min_count": 32, "max_bytes": 32}
"""The limits of requests that wait: iggy.md, section 6.2."""

_ERROR: Final = {"id": 32}

_OWNER: Final = {"incarnation": 64, "owner_generation": 64}

_BATCH: Final = {"partition_id": 64, "base_offset": 64, "base_timestamp": 64, "origin_timestamp": 64}

_PREFIX: Final = {"partition_id": 32, "current_offset": 64}

UNSIGNED: Final[Mapping[type, Mapping[str, int]]] = {
    **dict.fromkeys(
        (
            SentMessage,
            SentMessage70,
            SentMessage90,
            PolledMessage30,
            PolledMessage40,
            PolledMessage70,
            PolledMessage90,
            StoredMessage30,
        ),
        _ALL,
    ),
    **dict.fromkeys((Poll60, Poll70, Poll90, Poll110), _PREFIX),
    Poll111: {**_PREFIX, **_OWNER, "metadata_op": 64},
    FetchSection: {**_PREFIX, **_OWNER, "metadata_op": 64, "status": 32, "next_offset": 64},
    **dict.fromkeys((BatchHeader, Batch, BatchHeader111, Batch111), _BATCH),
    Producer: {name: most.bit_length() for name, (_, most) in PRODUCER_FIELDS.items()},
    **dict.fromkeys((JsonPolledMessage70, JsonPolledMessage90, JsonPolledMessage100), _TOLD),
    **dict.fromkeys((JsonPoll70, JsonPoll90, JsonPoll100), _PREFIX),
    **dict.fromkeys((JsonSentMessage90, JsonSentMessage100), _ALL),
    JsonSentMessage70: {"id": 64},
    BatchMessage: {"id": 128, "offset_delta": 32, "timestamp_delta": 32},
    RetainedBatch: {"base_offset": 64, "last_offset_delta": 32, "max_timestamp": 64},
    **dict.fromkeys((PollRequest30, PollRequest92, PollRequest80, PollRequest111), _REQUEST),
    DeferredPollRequest: {**_REQUEST, **_WAIT},
    FetchRequest: {**_WAIT, "count": 32},
    FetchTarget: {**_OWNER, "partition_id": 32, "max_bytes": 32},
    **dict.fromkeys((JsonError, JsonError40), _ERROR),
    Consumer30: {"id": 32},
    PollingStrategy: {"value": 64},
    ClassicFrame: {"code": 32},
    RequestHeader: {**_HEADER, "user_id": 32, "session": 64, "code": 32},
    ReplyHeader: {**_HEADER, "request_checksum": 128, "context": 128, "op": 64, "commit": 64, "status": 32},
    RequestHeader111: {
        **_HEADER,
        "request_checksum": 128,
        "user_id": 32,
        "session": 64,
        "code": 32,
        "partition_incarnation": 64,
        "owner_generation": 64,
        "minimum_metadata_op": 64,
    },
    ReplyHeader111: {
        **_HEADER,
        "request_checksum": 128,
        "context": 128,
        "op": 64,
        "commit": 64,
        "status": 32,
        "committed_result": 8,
        "partition_incarnation": 64,
    },
    EvictionHeader: {
        **_HEADER,
        "server_protocol_version": 32,
        "server_protocol_version_min": 32,
        "reason": 8,
    },
    ClassicReply: {"status": 32},
    SendConfirmation: {"stream_id": 32, "topic_id": 32, "partition_id": 32, "base_offset": 64},
}
"""Class and field to bits, for unsigned integers: iggy.md, section 3."""

_NONE: Final[Mapping[str, int]] = {}


def fitted(owner: type, name: str, value: int) -> int:
    """Wrap `value` to the width of the field `name` of `owner`. Without a known width return it unchanged."""
    row = integer_fields().get(owner, {}).get(name)
    if row is not None:
        return row.wrapped(value)
    bits = UNSIGNED.get(owner, _NONE).get(name)
    return value if bits is None else value & ((1 << bits) - 1)
