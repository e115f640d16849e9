"""The family `iggy`: frames, bodies and segments of Apache Iggy."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

from attrs import evolve

from wireproof.family import (
    Family,
    Format,
    Redaction,
    deferred,
    format_of_stream,
    formats_of_codec,
    formats_of_struct,
)
from wireproof.iggy import fetch, headers, log, send
from wireproof.iggy.batch import RETAINED_LAYOUT, RetainedBatch
from wireproof.iggy.destination import IDENTIFIER, PARTITIONING
from wireproof.iggy.frame import CLASSIC_FRAME, CONTEXT, VSR_FRAME
from wireproof.iggy.http import json_bodies, json_body
from wireproof.iggy.poll import POLL, POLL_REVISIONS
from wireproof.iggy.remark_classes import IGGY_REMARKS
from wireproof.iggy.requests import (
    DEFERRED_POLL_REQUEST,
    FETCH_REQUEST,
    POLL_REQUEST,
    POLL_REQUEST_REVISIONS,
    WAITING,
)
from wireproof.iggy.send import CLASSIC_REPLY, SEND, SEND_REPLY
from wireproof.wire.options import Options
from wireproof.wire.trace import FieldSpan
from wireproof.wire.walk import DamagedRange, Entry, EntryRows, Steps

_SEND: Final = (
    "feature:headers",
    "feature:message-id",
    "feature:partitioning-balanced",
    "feature:partitioning-messages-key",
)

_FORMATS: Final[tuple[Format, ...]] = (
    *formats_of_struct("iggy.poll-request", POLL_REQUEST, POLL_REQUEST_REVISIONS, delimited=True),
    *formats_of_struct("iggy.deferred-poll-request", DEFERRED_POLL_REQUEST, (WAITING,)),
    *formats_of_struct("iggy.fetch-request", FETCH_REQUEST, (WAITING,)),
    *formats_of_codec("iggy.fetch", fetch),
    *formats_of_struct("iggy.frame", CLASSIC_FRAME, ("0.0.30",), delimited=True),
    *formats_of_struct("iggy.frame", VSR_FRAME, ("0.11", CONTEXT), delimited=True),
    *formats_of_struct("iggy.reply", CLASSIC_REPLY, ("0.0.30",), delimited=True),
    *formats_of_struct("iggy.reply", SEND_REPLY, ("0.11",)),
    *formats_of_struct("iggy.identifier", IDENTIFIER, ("0.0.30", "0.8"), delimited=True),
    *formats_of_struct("iggy.partitioning", PARTITIONING, ("0.0.30", "0.9"), delimited=True),
    *formats_of_codec("iggy.headers", headers),
    *formats_of_struct("iggy.send", SEND, ("0.0.30",), capabilities=_SEND),
    *formats_of_codec("iggy.send", send, capabilities=_SEND),
    *formats_of_codec("iggy.json.send", json_body, json_bodies.SENDS, capabilities=_SEND, is_json=True),
    *formats_of_struct("iggy.poll", POLL, POLL_REVISIONS),
    *formats_of_codec("iggy.json.poll", json_body, json_bodies.POLLS, is_json=True),
    *formats_of_codec("iggy.json.reply", json_body, json_bodies.REPLIES, is_json=True),
    *formats_of_codec("iggy.json.error", json_body, json_bodies.ERRORS, is_json=True),
    *(format_of_stream("iggy.log", revision, stream) for revision, stream in log.REVISIONS.items()),
)

# --- the beginning of files ---


def begins_like_json(data: bytes) -> bool:
    """Return whether it is a JSON text with a key of a request or an answer: iggy.md §8."""
    names = (b'"messages"', b'"partition', b'"confirmations"', b'"reason"')
    return data.lstrip()[:1] == b"{" and any(name in data for name in names)


# --- the capabilities of requests, by their fields ---

PARTITIONING_CAPABILITIES: Final = {
    1: "feature:partitioning-balanced",
    3: "feature:partitioning-messages-key",
    "balanced": "feature:partitioning-balanced",
    "messages_key": "feature:partitioning-messages-key",
}
"""Kinds of a partitioning that a client may lack: iggy.md §2.2; a number in bytes, a word in JSON."""


def _capabilities(spans: Sequence[FieldSpan], _: Options) -> Iterator[str]:
    """Yield the capabilities of decoded fields."""
    for span in spans:
        match span.path.rpartition(".")[2], span.value:
            case "id", int(number) if number:
                yield "feature:message-id"
            case "kind", int() | str() as kind if (
                "partitioning" in span.path and kind in PARTITIONING_CAPABILITIES
            ):
                yield PARTITIONING_CAPABILITIES[kind]


# --- batches of servers 0.2.5 to 0.4.x: iggy.md §7 ---
#
# No checksum covers their offsets and timestamps. The header of a batch repeats those of its last message,
# and a server finds messages by this header. Its base offset is that of the first message in the first batch
# of a segment; server 0.4.300 writes 0 in the others.


class RecordOrder:
    """Checks that the header of a batch agrees with its messages, and that offsets rise."""

    def __init__(self) -> None:
        """Begin with no batch."""
        self.last: int | None = None

    def after(self, one: Entry, value: Any) -> Iterator[DamagedRange]:  # noqa: ANN401 - a revision's record
        """Yield what is wrong with the header and the offsets of the next batch."""
        if not isinstance(value, RetainedBatch) or not value.messages:
            return
        first, last, path = value.messages[0], value.messages[-1], f"batches[{one.number}]"
        ends = value.base_offset + value.last_offset_delta
        repeated = (
            ("base_offset", value.base_offset, (0, first.offset), "offset of its first message"),
            ("last_offset_delta", ends, (last.offset,), "offset of its last message"),
            ("max_timestamp", value.max_timestamp, (last.timestamp,), "timestamp of its last message"),
        )
        for name, header, messages, what in repeated:
            if header not in messages:
                text = f"{header} in the header of the batch, but the {what} is {messages[-1]}"
                at = one.at + RETAINED_LAYOUT.offset(name)
                yield one.damage("iggy-batch-header", at, f"{path}.{name}", text)
        before = [] if self.last is None else [self.last]
        for earlier, later in pairwise([*before, *(message.offset for message in value.messages)]):
            if later <= earlier:
                text = f"offset {later} after {earlier}: one of the two is damaged"
                yield one.damage("offsets-not-monotonic", one.at, f"{path}.messages", text)
                break
        self.last = last.offset

    def pass_rows(self, rows: EntryRows, first: int) -> int:
        """Return the end of the rows: no fast decoder reads these segments."""
        del first
        return len(rows)


# --- streams ---


def _steps(fmt: Format, plain: Steps) -> Steps:
    """Return the steps of a segment; the offset of a record is not far after that of the record before."""
    revision = log.REVISIONS[fmt.revision]

    def damaged_length(data: bytes, length: int, _: Options, before: tuple[Any, ...] | None) -> int:
        offset = None if before is None else log.last_offset(before[0]) if before else -1
        return log.damaged_length(revision, data, length, offset)

    return evolve(plain, damaged_length=damaged_length, lookahead=log.LOOKAHEAD, order=RecordOrder)


FAMILY: Final = Family(
    "iggy",
    _FORMATS,
    remarks=IGGY_REMARKS,
    marks={"iggy.json.": begins_like_json},
    file_names=((re.compile(r"\d{20}\.log"), "iggy.log"), (re.compile(r".*\.json"), "iggy.json.")),
    listings={"iggy.log": "wireproof.iggy.suite.listing:LISTING"},
    streams={"iggy.log": _steps},
    capabilities=_capabilities,
    strategies="wireproof.iggy.suite.strategies:VALUES",
    option_strategies="wireproof.iggy.suite.strategies:OPTIONS",
    index_files="wireproof.iggy.suite.index_files:RULES",
    directories="wireproof.iggy.suite.data_directory:RULES",
    sources={"iggy_log": "wireproof.iggy.suite.spark_source:LOG"},
    mutation="wireproof.iggy.suite.mutation:RULES",
    servers={"iggy-server": "wireproof.live.iggy_server:entry_of_server"},
    step_ops="wireproof.iggy.suite.steps:STEP_OPS",
    step_words="wireproof.iggy.suite.steps:words_of_send",
    generators="wireproof.iggy.suite.generators:GENERATORS",
    dictionary=deferred("wireproof.iggy.suite.mutation:words"),
    # header values have kinds: 1 is a boolean, a character and a part of any number
    redaction=Redaction(
        ("headers[].key", ".id", "stream.value", "topic.value", "partitioning.value"), filler=b"\x01"
    ),
)
