"""The vectors that Iggy's SDKs test themselves with, built from the fields that their generators name: iggy.md §6, §6.2.

`foreign/swift/Tests/IggyTests/Fixtures/golden.json` has those of 0.11.0, and `deferred_polling_fixtures` of the crate
iggy_common, which gives each SDK a copy, those of requests that wait. No code of the codec.
"""

# fmt: off

from typing import Any

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.iggy.batches_0_11 import batch, frame, head, poll, polls, told, xxh3
from tests.authoring.iggy.batches_0_11_1_edge import ProvisionalCases, headed
from tests.authoring.iggy.batches_0_11_1_edge import poll as edge_poll
from tests.authoring.iggy.batches_0_11_1_edge import polls as edge_polls
from tests.authoring.iggy.case_builder import CaseBuilder
from tests.authoring.iggy.headers_from_0_9 import Keyed, block, keyed_value
from tests.authoring.iggy.message_bytes import kind_value, name, numeric, tagged, u8, u32, u64
from tests.authoring.iggy.requests_0_11_1_edge import EDGE
from tests.authoring.iggy.requests_0_11_1_edge import _framed as edge_framed
from tests.authoring.iggy.requests_0_11_1_edge import _request as edge_request
from tests.authoring.iggy.requests_0_11_1_edge import _request_value as edge_request_value
from tests.authoring.iggy.requests_and_replies import R100
from tests.authoring.iggy.requests_and_replies import _request as framed
from tests.authoring.iggy.requests_and_replies import _request_value as framed_value
from tests.authoring.iggy.waiting_requests import (
    ALSO,
    SECOND,
    _entry,
    _fetch,
    _fetch_value,
    _late,
    _late_value,
    _section_value,
)

SWIFT = "golden.json of the Swift SDK at d3fdbbe6"
WAITS = "deferred_polling_fixtures at 763c8edd"
CLIENT = 0x0123456789ABCDEFFEDCBA9876543210
SAMPLE: tuple[Keyed, ...] = (("string", b"attempt", "uint32", u32(3)), ("string", b"trace-id", "string", b"abc"))


def write(writer: FixtureWriter) -> None:
    _sends(CaseBuilder(writer, "iggy.send", "0.11"))
    _polls(CaseBuilder(writer, "iggy.poll", "0.11"), ProvisionalCases(writer, "iggy.poll"))
    _requests(CaseBuilder(writer, "iggy.poll-request", "0.10"), CaseBuilder(writer, "iggy.headers", "0.10"))
    _frames(CaseBuilder(writer, "iggy.frame", "0.11"), ProvisionalCases(writer, "iggy.frame"))
    _deferred(ProvisionalCases(writer, "iggy.deferred-poll-request"))
    _fetches(ProvisionalCases(writer, "iggy.fetch-request"))
    _replies(ProvisionalCases(writer, "iggy.fetch"))


# --- the Swift SDK ---


def _sends(s: CaseBuilder) -> None:
    wide = 0xDEADBEEF << 96 | 3
    frames = (frame(1, b"first"), frame(2, b"second", block(*SAMPLE), delta=1, late=500), frame(wide, b"", delta=2))
    place = numeric(1) + numeric(2) + tagged(2, u32(0))
    data = u32(len(place) + 4) + place + u32(3) + batch(*frames, timestamp=0, origin=1000)
    rows = [
        {"id": "1", "origin_timestamp": "1000", "headers": [], "payload": b"first".hex()},
        {"id": "2", "origin_timestamp": "1500", "headers": keyed_value(*SAMPLE), "payload": b"second".hex()},
        {"id": str(wide), "origin_timestamp": "1000", "headers": [], "payload": ""},
    ]
    value = {"stream": kind_value("numeric", u32(1)), "topic": kind_value("numeric", u32(2)), "partitioning": kind_value("partition_id", u32(0)), "messages": rows}
    s.accepts("vectors/swift", "The send of the Swift SDK's vectors", data, value, doc=SWIFT, origin="peer", remarks=("iggy-empty-payload",), rules=("iggy.send.batch.layout", "iggy.send.batch.checksum", "iggy.send.batch.id", "iggy.send.headed.payload.empty"), why="An id with bits at both ends, and a message of nothing.")


def _polls(s: CaseBuilder, edge: CaseBuilder) -> None:
    layout, resync = ("iggy.poll.batch.layout",), ("iggy.poll.batch.resync",)
    key: Keyed = ("string", b"k", "string", b"v")
    pair, last = (frame(11, b"a"), frame(12, b"b", block(key), delta=1, late=10)), frame(13, b"c")
    first = batch(*pair, partition=7, base=100, timestamp=5000, origin=1000)
    second = batch(last, partition=7, base=102, timestamp=6000, origin=2000)
    rows = [told(pair[0], base=100, timestamp=5000, origin=1000), told(pair[1], key, base=100, timestamp=5000, origin=1000), told(last, base=102, timestamp=6000, origin=2000)]
    s.accepts("vectors/swift", "The poll of the Swift SDK's vectors", poll(3, first, second, partition=7, current=102), polls([head(first, 2), head(second, 1)], rows, partition=7, current=102), doc=SWIFT, origin="peer", rules=layout, why="Two batches, each with an origin of its own.")
    none = (1 << 32) - 2
    why = "What Go and Swift fill in for a member without partitions; no server sends it."
    s.accepts("vectors/unassigned", "Partition 2^32 − 2, no records", poll(0, partition=none, current=0), polls([], [], partition=none, current=0), doc=SWIFT, origin="peer", level="should", rules=resync, why=why)
    for label, partition, reason in (("resync", none + 1, "An empty list, and no error."), ("unassigned", none, why)):
        edge.accepts(f"vectors/{label}", f"Partition {partition}, no records", edge_poll(0, partition=partition, current=0, context=(0, 0, 0)), edge_polls([], [], partition=partition, current=0, context=(0, 0, 0)), doc=WAITS, origin="peer", rules=resync, why=reason)


def _requests(s: CaseBuilder, headers: CaseBuilder) -> None:
    place = {"stream": kind_value("numeric", u32(10)), "topic": kind_value("numeric", u32(20))}
    s.accepts("vectors/swift", "The poll request of the Swift SDK's vectors", R100.made(place=numeric(10) + numeric(20), partition=5, strategy=u8(1) + u64(100), count=50, commit=1), R100.value(partition="5", strategy=("offset", 100), count=50, commit=True, **place), doc=SWIFT, origin="peer", rules=("iggy.poll-request.layout",), why="Each number is another one.")
    group = {"stream": kind_value("numeric", u32(1)), "topic": kind_value("numeric", u32(1))}
    s.accepts("vectors/swift-group", "That of a group", R100.made(kind=2, consumer=numeric(3), place=numeric(1) + numeric(1), flag=0, partition=0, strategy=u8(3) + u64(0)), R100.value(kind="group", consumer=kind_value("numeric", u32(3)), partition=None, strategy=("first", 0), **group), doc=SWIFT, origin="peer", rules=("iggy.poll-request.layout",), why="No partition, and the bytes for it.")
    headers.accepts("vectors/swift", "The headers of the Swift SDK's vectors", block(*SAMPLE), {"headers": keyed_value(*SAMPLE)}, doc=SWIFT, origin="peer", rules=("iggy.headers.keyed.layout",), why="A number and a text under keys of text.")


def _frames(s: CaseBuilder, edge: CaseBuilder) -> None:
    layout = ("iggy.frame.vsr.layout",)
    body = u8(6) + b"stream"
    made: dict[str, Any] = {"client": CLIENT, "session": 99}
    s.accepts("vectors/swift-create-stream", "The creation of a stream, of the Swift SDK's vectors", framed(body, 128, checksum=xxh3(body), **made), framed_value(body, 128, client=CLIENT, session=99, request_checksum=xxh3(body)), doc=SWIFT, origin="peer", rules=(*layout, "iggy.frame.vsr.checksum"), why="A client of 128 bits, and the checksum of a request on metadata.")
    s.accepts("vectors/swift-unknown-code", "Code 60000, which is none", framed(b"", 2, code=60000, number=5, **made), framed_value(b"", 2, code=60000, request=5, client=CLIENT, session=99), doc=SWIFT, origin="peer", rules=layout, why="The frame is whole; what its code means is not the reader's business.")
    known = ("iggy.frame.vsr.operation",)
    none = dict.fromkeys(("partition_incarnation", "owner_generation", "minimum_metadata_op"), 0)
    edge.rejects("vectors/command-36", "PrepareProgress, the last of the commands between replicas", edge_framed(36, bytes(128), b""), "bad-kind", at=60, also=("invalid-value", "not-permitted"), twin="frame/send", doc="iggy.md §2.1, §6.1", rules=("iggy.frame.vsr.command",), why="No client gets it.")
    edge.accepts("vectors/operation-169", "A request of operation 169", edge_request(b"x", 169, context=none), edge_request_value(b"x", 169, context=none), doc="iggy.md §6.1", rules=known, why="New, the last of its kind; that no client may send it is the server's business.")
    edge.accepts("vectors/cancel", "The cancellation of a request that waits, code 108", edge_request(b"", 2, code=108, context=none), edge_request_value(b"", 2, code=108, context=none), doc=WAITS, rules=("iggy.frame.context.layout",), why="A header without a body, with the number of the request that it ends.")


# --- requests that wait ---

CONTEXT = {"incarnation": 11, "owner_generation": 4, "metadata_op": 42}
MIB = 1 << 20


def _deferred(s: CaseBuilder) -> None:
    place = {"stream": kind_value("numeric", u32(1)), "topic": kind_value("string", b"orders")}
    where = numeric(1) + name(b"orders")
    waits = {"wait": 5 * SECOND, "least": 1, "size": MIB, "timeout": 6 * SECOND}
    for label, poll_bytes, shown in (
        ("consumer", EDGE.made(place=where, partition=2, strategy=u8(1) + u64(41), count=100), EDGE.value(partition="2", strategy=("offset", 41), count=100, **place)),
        ("group", EDGE.made(kind=2, consumer=name(b"orders-group"), place=where, partition=2, strategy=u8(5) + u64(0), count=100, commit=1), EDGE.value(kind="group", consumer=kind_value("string", b"orders-group"), partition="2", strategy=("next", 0), count=100, commit=True, **place)),
    ):
        s.accepts(f"vectors/{label}", f"The deferred poll of a {label}", _late(poll_bytes, **waits), _late_value(shown, **waits), doc=WAITS, origin="peer", rules=("iggy.deferred-poll-request.layout",), why="Each SDK of Iggy has these bytes.")


Target = tuple[int, int, int, int, int, int]


def _target(partition: int, kind: int, at: int, owner: int = 0, size: int = MIB // 2) -> Target:
    return (partition, kind, at, size, CONTEXT["incarnation"], owner)


def _fetches(s: CaseBuilder) -> None:
    topic = {"stream": kind_value("numeric", u32(1)), "topic": kind_value("numeric", u32(2))}
    rules: tuple[str, ...] = ("iggy.fetch-request.layout", "iggy.fetch-request.targets")
    some: dict[str, Any] = {"count": 1000, "size": MIB}
    alone = u8(1) + numeric(1) + numeric(1) + numeric(2)
    two = (_target(1, 1, 41), _target(3, 5, 0))
    s.accepts("vectors/consumer", "A fetch of two partitions", _fetch(*two, place=alone, **some), {**_fetch_value(*two, **some), **topic}, doc=WAITS, origin="peer", rules=rules, why="Each SDK of Iggy has these bytes.")
    three = (_target(1, 5, 0, 4), _target(2, 5, 0, 4), _target(4, 1, 7, 4))
    group = u8(2) + numeric(9) + numeric(1) + numeric(2)
    s.accepts("vectors/group", "A fetch of three partitions by a group", _fetch(*three, place=group, commit=1, **some), {**_fetch_value(*three, kind="group", who=kind_value("numeric", u32(9)), commit=True, **some), **topic}, doc=WAITS, origin="peer", rules=rules, why="Each SDK of Iggy has these bytes.")
    one = _target(1, 1, 0)
    faults: tuple[tuple[str, str, tuple[Target, ...], dict[str, Any]], ...] = (
        ("no-targets", "no targets", (), {}),
        ("duplicate-partition", "one partition twice", (one, _target(1, 5, 0)), {}),
        ("first-start-point", "a target from the first message", (_target(1, 3, 0),), {}),
        ("min-count-above-count", "min_count over the count", (one,), {"least": 1001}),
        ("target-bytes-above-request-bytes", "a target with more bytes than the request", (_target(1, 1, 0, size=MIB + 1),), {}),
        ("timeout-without-reply-margin", "a timeout without the margin", (one,), {"timeout": 5 * SECOND}),
    )
    for label, title, targets, odd in faults:
        limit = "iggy.fetch-request.limits" if odd else "iggy.fetch-request.target-limits"
        s.rejects(f"vectors/{label}", f"A fetch that each SDK refuses: {title}", _fetch(*targets, place=alone, **{**some, **odd}), "invalid-value", also=ALSO, twin="vectors/consumer", doc=WAITS, origin="peer", rules=(limit,), why="The vectors have it among the refused ones.")


def _replies(s: CaseBuilder) -> None:
    started = 1_700_000_000_000_000
    stamps: dict[str, Any] = {"timestamp": started + 500, "origin": started}

    def section(partition: int, current: int, after: int, first: int, *messages: tuple[int, bytes]) -> tuple[bytes, bytes, dict[str, Any]]:
        """The entry of a section, its batch and its value; a batch without a producer is that of 0.11.0."""
        frames = [frame(number, payload, delta=delta) for delta, (number, payload) in enumerate(messages)]
        held = batch(*frames, partition=partition, base=first, **stamps) if frames else b""
        fields = {"partition_id": partition, "current_offset": current, **CONTEXT, "next_offset": after}
        rows = [told(one, base=first, **stamps) for one in frames]
        return _entry(held, len(frames), **fields), held, _section_value([headed(held, len(frames), None)] if frames else [], rows, **fields)

    def failed(partition: int, status: int) -> tuple[bytes, bytes, dict[str, Any]]:
        fields = {"partition_id": partition, "status": status, "current_offset": 0, **dict.fromkeys(CONTEXT, 0), "next_offset": 0}
        return _entry(b"", 0, **fields), b"", _section_value([], [], **fields)

    replies = (
        ("start", "A section with three messages and one with none", (section(1, 44, 44, 41, (0x0102, b"first"), (0x0103, b"second"), (0x0104, b"third")), section(3, 9, 10, 10))),
        ("errors", "A section with a message between two that could not be read", (failed(1, 89), section(2, 7, 7, 6, ((1 << 128) - 1, b"only")), failed(4, 58))),
    )
    for label, title, sections in replies:
        entries, records, values = zip(*sections, strict=True)
        s.accepts(f"vectors/{label}", title, u32(len(sections)) + b"".join(entries) + b"".join(records), {"sections": list(values)}, doc=WAITS, origin="peer", rules=("iggy.fetch.layout", "iggy.fetch.records"), why="Each SDK of Iggy has these bytes.")
    lost = {"partition_id": 1, "status": 89, "current_offset": 0, **dict.fromkeys(CONTEXT, 0), "next_offset": 0}
    s.rejects("vectors/error-with-records", "A section of an error with four bytes of records", u32(1) + _entry(bytes(4), 0, **lost) + bytes(4), "invalid-value", also=ALSO, twin="vectors/errors", doc=WAITS, origin="peer", rules=("iggy.fetch.status",), why="The vectors have it among the refused ones.")
    s.rejects("vectors/truncated-table", "A table of two sections without its last byte", u32(2) + bytes(111), "truncated", also=("length-past-end", "bad-length", "count-mismatch"), twin="vectors/errors", doc=WAITS, origin="peer", rules=("iggy.fetch.end",), why="The vectors have it among the refused ones.")
