"""The family `iggy`: frames, bodies and segments of Apache Iggy."""

from typing import Final

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
from wireproof.iggy.suite import streams
from wireproof.iggy.suite.streams import FILE_NAMES, MARKS, STREAMS

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

FAMILY: Final = Family(
    "iggy",
    _FORMATS,
    remarks=IGGY_REMARKS,
    marks=MARKS,
    file_names=FILE_NAMES,
    listings={"iggy.log": "wireproof.iggy.suite.listing:LISTING"},
    streams=STREAMS,
    capabilities=streams.of_bytes,
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
