"""Requests that wait, their reply, and routed polls: iggy.md §6.2. No code of the codec."""

# fmt: off

from typing import Any

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.iggy.batches_0_11 import frame, told
from tests.authoring.iggy.batches_0_11_1_edge import ProvisionalCases, batch, headed
from tests.authoring.iggy.case_builder import CaseBuilder
from tests.authoring.iggy.message_bytes import HELLO, WORLD, kind_value, name, numeric, u8, u32, u64
from tests.authoring.iggy.requests_0_11_1_edge import EDGE, GROUP
from tests.authoring.iggy.requests_and_replies import R100, SAMPLE
from tests.authoring.iggy.requests_and_replies import _request as framed
from tests.authoring.iggy.requests_and_replies import _request_value as framed_value

DOC = "iggy.md §6.2"
MINUTES = 600_000_000
SECOND = 1_000_000
LEAST = 344
ALSO = ("bad-length", "limit-exceeded", "not-permitted", "count-mismatch", "bad-kind", "duplicate-field")
"""Other classes of a request that is outside its limits: the crate has one error for all of them."""
SHORT = ("length-past-end", "bad-length", "count-mismatch")
LONG = ("bad-length", "count-mismatch", "length-mismatch")


def write(writer: FixtureWriter) -> None:
    """Add the cases of codes 104, 106 and 109."""
    _routed(writer)
    _deferred(ProvisionalCases(writer, "iggy.deferred-poll-request"))
    _fetches(ProvisionalCases(writer, "iggy.fetch-request"))
    _replies(ProvisionalCases(writer, "iggy.fetch"))


# --- code 104 ---


def _routed(writer: FixtureWriter) -> None:
    rules = ("iggy.poll-request.routed",)
    body = R100.made(partition=3, commit=1)
    value = R100.value(partition="3", commit=True)
    CaseBuilder(writer, "iggy.poll-request", "0.10").accepts("request/on-primary", "A poll for the primary of partition 3", body, value, doc=DOC, rules=rules, why="The code of its frame is another, and its bytes are not.")
    frames = CaseBuilder(writer, "iggy.frame", "0.11")
    frames.accepts("frame/poll-on-primary", "A poll for the primary of its partition, code 104", framed(body, 2, code=104), framed_value(body, 2, code=104), doc=DOC, rules=(*rules, "iggy.frame.vsr.layout"), why="Released clients of clusters send it.")
    frames.writes("encode/poll-on-primary", "The same", framed_value(body, 2, code=104), framed(body, 2, code=104), doc=DOC, rules=(*rules, "iggy.frame.vsr.layout"), why="The code stands behind the user id.")


# --- code 106 ---


def _late(poll: bytes, wait: int = 5 * SECOND, least: int = 1, size: int = LEAST, timeout: int = 6 * SECOND) -> bytes:
    return poll + u64(wait) + u32(least) + u32(size) + u64(timeout)


def _late_value(poll: dict[str, Any], wait: int = 5 * SECOND, least: int = 1, size: int = LEAST, timeout: int = 6 * SECOND) -> dict[str, Any]:
    return {**poll, "wait_us": str(wait), "min_count": str(least), "max_bytes": str(size), "request_timeout_us": str(timeout)}


def _deferred(s: CaseBuilder) -> None:
    layout, limits, end = ("iggy.deferred-poll-request.layout",), ("iggy.deferred-poll-request.limits",), ("iggy.deferred-poll-request.end",)
    poll, asked = EDGE.made(), EDGE.value()
    one = "request/five-seconds"
    s.accepts(one, "A wait of five seconds", _late(poll), _late_value(asked), doc=DOC, rules=(*layout, *limits), why="Read as a poll of code 100, it does not wait.")
    s.accepts("request/bytes", "Numbers of different bytes", _late(EDGE.made(count=0x81020304), 0x01020304, 0x71020304, 0x81828384, 0x11121314), _late_value(EDGE.value(count=0x81020304), 0x01020304, 0x71020304, 0x81828384, 0x11121314), doc=DOC, rules=layout, why="Read big-endian they are others.")
    s.accepts("request/largest", "The longest wait, for all that is counted", _late(poll, MINUTES, 10, 0xFFFFFFFF, MINUTES + 30 * SECOND), _late_value(asked, MINUTES, 10, 0xFFFFFFFF, MINUTES + 30 * SECOND), doc=DOC, rules=limits, why="Ten minutes, and half a minute more for the timeout.")
    s.accepts("request/no-wait", "No wait, and a timeout of a microsecond", _late(poll, 0, timeout=1), _late_value(asked, 0, timeout=1), doc=DOC, rules=limits, why="Who does not wait needs no time for the reply.")
    s.accepts("request/external-group", "An external group", _late(EDGE.made(kind=3, consumer=name(b"kafka.cg.orders"))), _late_value(EDGE.value(kind="external_group", consumer=GROUP)), doc=DOC, rules=layout, why="The poll request is that of its revision.")
    s.accepts("request/no-partition", "No partition, from the next one, with auto_commit", _late(EDGE.made(flag=0, partition=0, strategy=u8(5) + u64(0), commit=1)), _late_value(EDGE.value(partition=None, strategy=("next", 0), commit=True)), doc=DOC, rules=layout, why="What a group sends.")
    at = len(poll)
    faults: tuple[tuple[str, str, dict[str, int], int, str], ...] = (
        ("wait-too-long", "A wait of a microsecond more than ten minutes", {"wait": MINUTES + 1, "timeout": MINUTES + 30 * SECOND}, 0, "request/largest"),
        ("min-count-0", "min_count of 0", {"least": 0}, 8, one),
        ("min-count-11", "min_count over the count", {"least": 11}, 8, "request/largest"),
        ("max-bytes-343", "max_bytes of 343", {"size": LEAST - 1}, 12, one),
        ("timeout-early", "A timeout a microsecond before the margin ends", {"timeout": 6 * SECOND - 1}, 16, one),
        ("timeout-0", "No wait, and no timeout", {"wait": 0, "timeout": 0}, 16, "request/no-wait"),
        ("timeout-late", "A timeout over the longest one", {"timeout": MINUTES + 30 * SECOND + 1}, 16, "request/largest"),
    )
    for label, title, odd, field, twin in faults:
        s.rejects(f"request/{label}", title, _late(poll, **odd), "invalid-value", at=at + field, also=ALSO, twin=twin, doc=DOC, rules=limits, why="The decoder of the crate refuses it.")
    s.rejects("request/poll-alone", "A poll request of code 100", poll, "truncated", at=at, also=SHORT, twin=one, doc=DOC, rules=end, why="A client that knows code 100 only.")
    s.rejects("request/cut", "The last byte is missing", _late(poll)[:-1], "truncated", at=at + 16, also=SHORT, twin=one, doc=DOC, rules=end, why="Half a timeout is another.")
    s.rejects("request/one-byte-more", "A byte too much", _late(poll) + b"\0", "trailing-data", at=at + 24, also=LONG, twin=one, doc=DOC, rules=end, why="Unlike a poll, it must end with its body.")
    s.rejects("request/count-0", "Count 0", _late(EDGE.made(count=0)), "invalid-value", at=at - 5, also=ALSO, twin=one, doc=DOC, rules=limits, why="There is no least count for it.")
    s.writes("encode/five-seconds", "A wait of five seconds", _late_value(asked), _late(poll), doc=DOC, rules=layout, why="24 bytes behind the poll request.")
    s.writes("encode/largest", "The longest wait", _late_value(asked, MINUTES, 10, 0xFFFFFFFF, MINUTES + 30 * SECOND), _late(poll, MINUTES, 10, 0xFFFFFFFF, MINUTES + 30 * SECOND), doc=DOC, rules=layout, why="All numbers at their limits.")
    s.refuses("encode/wait-too-long", "A wait over ten minutes", _late_value(asked, MINUTES + 1, timeout=MINUTES + 30 * SECOND), twin="encode/largest", doc=DOC, rules=("iggy.deferred-poll-request.encode",), also=ALSO, why="No server takes it.")


# --- code 109 ---

Target = tuple[int, int, int, int, int, int]
"""Partition, code and value of the strategy, bytes, incarnation, owner generation."""
STRATEGIES = {1: "offset", 2: "timestamp", 3: "first", 4: "last", 5: "next"}
FIRST: Target = (7, 1, 100, LEAST, 11, 12)
SECOND_ONE: Target = (0x81020304, 5, 0, 4096, 0x8102030405060708, 0x1112131415161718)
PLACE = u8(1) + numeric(1) + numeric(1) + name(b"sample")
TARGET = 33


def _fetch(*targets: Target, wait: int = 5 * SECOND, timeout: int = 6 * SECOND, least: int = 1, count: int = 10, size: int = 4096, commit: int = 0, counted: int | None = None, place: bytes = PLACE) -> bytes:
    rows = b"".join(u32(one) + u8(kind) + u64(at) + u32(most) + u64(life) + u64(owner) for one, kind, at, most, life, owner in targets)
    return place + u64(wait) + u64(timeout) + u32(least) + u32(count) + u32(size) + u8(commit) + u32(len(targets) if counted is None else counted) + rows


def _fetch_value(*targets: Target, wait: int = 5 * SECOND, timeout: int = 6 * SECOND, least: int = 1, count: int = 10, size: int = 4096, commit: bool = False, kind: str = "consumer", who: Any = None) -> dict[str, Any]:
    numbers = {"wait_us": wait, "request_timeout_us": timeout, "min_count": least, "count": count, "max_bytes": size}
    consumer = {"kind": kind, "id": kind_value("numeric", u32(1)) if who is None else who}
    return {"consumer": consumer, **SAMPLE, **{key: str(number) for key, number in numbers.items()}, "auto_commit": commit, "targets": [_target_value(one) for one in targets]}


def _target_value(target: Target) -> dict[str, Any]:
    partition, kind, at, most, life, owner = target
    return {"partition_id": str(partition), "strategy": {"kind": STRATEGIES[kind], "value": str(at)}, "max_bytes": str(most), "incarnation": str(life), "owner_generation": str(owner)}


def _fetches(s: CaseBuilder) -> None:
    layout, targets, limits, inside, end = ("iggy.fetch-request.layout",), ("iggy.fetch-request.targets",), ("iggy.fetch-request.limits",), ("iggy.fetch-request.target-limits",), ("iggy.fetch-request.end",)
    one, two = "request/one", "request/two"
    s.accepts(one, "One partition", _fetch(FIRST), _fetch_value(FIRST), doc=DOC, rules=(*layout, *targets, *limits), why="The least there is.")
    s.accepts(two, "Two partitions, with numbers of different bytes", _fetch(FIRST, SECOND_ONE), _fetch_value(FIRST, SECOND_ONE), doc=DOC, rules=(*layout, *targets, *inside), why="Read big-endian they are others.")
    odd: dict[str, Any] = {"wait": 0x01020304, "timeout": 0x11121314, "least": 0x71020304, "count": 0x81020304, "size": 0x91020304}
    s.accepts("request/bytes", "Limits of different bytes", _fetch(FIRST, **odd), _fetch_value(FIRST, **odd), doc=DOC, rules=layout, why="The wait comes before the timeout here, and the counts behind both.")
    largest: dict[str, Any] = {"wait": MINUTES, "timeout": MINUTES + 30 * SECOND, "least": 10, "size": 0xFFFFFFFF}
    s.accepts("request/largest", "The longest wait, for all that is counted", _fetch((7, 1, (1 << 64) - 1, 0xFFFFFFFF, 0, 0), **largest), _fetch_value((7, 1, (1 << 64) - 1, 0xFFFFFFFF, 0, 0), **largest), doc=DOC, rules=(*limits, *inside), why="A target may take all bytes of the request.")
    s.accepts("request/no-wait", "No wait, and a timeout of a second", _fetch(FIRST, wait=0, timeout=SECOND), _fetch_value(FIRST, wait=0, timeout=SECOND), doc=DOC, rules=limits, why="Unlike code 106 the margin is always there.")
    for number in (1, 2, 255):
        s.accepts(f"request/auto-commit-{number}", f"auto_commit of {number}", _fetch(FIRST, commit=number), _fetch_value(FIRST, commit=True), doc=DOC, remarks=("iggy-flag",) if number > 1 else (), rules=layout, why="The decoder compares with 0.")
    who = u8(3) + name(b"kafka.cg.orders") + numeric(1) + name(b"sample")
    s.accepts("request/external-group", "An external group", _fetch(FIRST, place=who), _fetch_value(FIRST, kind="external_group", who=GROUP), doc=DOC, rules=layout, why="The decoder takes every kind of consumer.")
    many: tuple[Target, ...] = tuple((number, 5, 0, LEAST, 0, 0) for number in range(1000))
    s.accepts("request/thousand", "1,000 partitions", _fetch(*many), _fetch_value(*many), doc=DOC, rules=inside, why="As many as there may be.")
    start = len(PLACE)
    rest = start + 33
    faults: tuple[tuple[str, str, dict[str, int], int, str], ...] = (
        ("wait-too-long", "A wait of a microsecond more than ten minutes", {"wait": MINUTES + 1, "timeout": MINUTES + 30 * SECOND}, 0, "request/largest"),
        ("timeout-early", "A timeout a microsecond before the margin ends", {"timeout": 6 * SECOND - 1}, 8, one),
        ("timeout-no-margin", "No wait, and a timeout below a second", {"wait": 0, "timeout": SECOND - 1}, 8, "request/no-wait"),
        ("timeout-late", "A timeout over the longest one", {"timeout": MINUTES + 30 * SECOND + 1}, 8, "request/largest"),
        ("min-count-0", "min_count of 0", {"least": 0}, 16, one),
        ("min-count-11", "min_count over the count", {"least": 11}, 16, "request/largest"),
        ("count-0", "Counts of 0", {"least": 0, "count": 0}, 16, one),
        ("max-bytes-343", "max_bytes of 343", {"size": LEAST - 1}, 24, one),
    )
    for label, title, fields, field, twin in faults:
        s.rejects(f"request/{label}", title, _fetch(FIRST, **fields), "invalid-value", at=start + field, also=ALSO, twin=twin, doc=DOC, rules=limits, why="The decoder of the crate refuses it.")
    for code in (2, 3, 4):
        s.rejects(f"request/from-{STRATEGIES[code]}", f"A target from {STRATEGIES[code]}", _fetch((7, code, 0, LEAST, 0, 0)), "invalid-value", at=rest + 4, also=ALSO, twin=one, doc=DOC, rules=inside, why="Its messages would be shared out among several reads.")
    for code in (0, 6):
        s.rejects(f"request/strategy-kind-{code}", f"A strategy of kind {code}", _fetch((7, code, 0, LEAST, 0, 0)), "bad-kind", at=rest + 4, twin=one, doc=DOC, rules=("iggy.poll-request.kinds",), why="There are five kinds.")
    s.rejects("request/target-bytes-343", "A target with 343 bytes", _fetch((7, 1, 0, LEAST - 1, 0, 0)), "invalid-value", at=rest + 13, also=ALSO, twin=one, doc=DOC, rules=inside, why="No message fits.")
    s.rejects("request/target-bytes-4097", "A target with more bytes than the request", _fetch((7, 1, 0, 4097, 0, 0)), "invalid-value", at=rest + 13, also=ALSO, twin=two, doc=DOC, rules=inside, why="The reply is no longer than the request says.")
    s.rejects("request/partition-twice", "One partition twice", _fetch(FIRST, FIRST), "invalid-value", at=rest + TARGET, also=ALSO, twin=two, doc=DOC, rules=inside, why="Its messages would come twice.")
    s.rejects("request/no-targets", "No targets", _fetch(), "invalid-value", at=rest - 4, also=ALSO, twin=one, doc=DOC, rules=inside, why="It asks for nothing, and waits.")
    s.rejects("request/1001-targets", "1,001 targets", _fetch(*many, (1000, 5, 0, LEAST, 0, 0)), "limit-exceeded", at=rest - 4, also=(*ALSO[:1], *ALSO[2:], "invalid-value"), twin="request/thousand", doc=DOC, rules=inside, why="One too many.")
    s.rejects("request/count-huge", "A count of 2^32 − 1 targets", _fetch(FIRST, counted=0xFFFFFFFF), "limit-exceeded", at=rest - 4, also=(*ALSO[:1], *ALSO[2:], "invalid-value", "truncated"), twin=one, doc=DOC, rules=inside, flags=["resource"], limits={"ms": 1000, "rss_mb": 512}, why="Memory for all of them must not be reserved.")
    s.rejects("request/cut", "The last byte is missing", _fetch(FIRST)[:-1], "truncated", at=rest + 25, also=SHORT, twin=one, doc=DOC, rules=end, why="Half a target is none.")
    s.rejects("request/one-more-counted", "One target, two counted", _fetch(FIRST, counted=2), "truncated", at=rest + TARGET, also=SHORT, twin=two, doc=DOC, rules=end, why="A partition would be lost.")
    s.rejects("request/one-less-counted", "Two targets, one counted", _fetch(FIRST, SECOND_ONE, counted=1), "trailing-data", at=rest + TARGET, also=LONG, twin=two, doc=DOC, rules=end, why="A partition would be lost.")
    s.writes("encode/two", "Two partitions", _fetch_value(FIRST, SECOND_ONE), _fetch(FIRST, SECOND_ONE), doc=DOC, rules=(*layout, *targets), why="Each field in its place.")
    s.writes("encode/largest", "The longest wait", _fetch_value(FIRST, **largest), _fetch(FIRST, **largest), doc=DOC, rules=layout, why="All numbers at their limits.")
    s.refuses("encode/partition-twice", "One partition twice", _fetch_value(FIRST, FIRST), twin="encode/two", doc=DOC, rules=("iggy.fetch-request.encode",), also=ALSO, why="No server takes it.")
    s.refuses("encode/timeout-early", "A timeout before the margin ends", _fetch_value(FIRST, SECOND_ONE, timeout=6 * SECOND - 1), twin="encode/two", doc=DOC, rules=("iggy.fetch-request.encode",), also=ALSO, why="No server takes it.")


# --- the reply to code 109 ---

ENTRY = 56
NUMBERS = {"partition_id": 7, "status": 0, "current_offset": 0x8102030405060708, "incarnation": 0x3132333435363738, "owner_generation": 0x4142434445464748, "metadata_op": 0x5152535455565758, "next_offset": 0x6162636465666768}
FRAMES = (frame(1, HELLO), frame(2, WORLD, delta=1))
ONE_FRAME = batch(FRAMES[0])
TWO_FRAMES = batch(*FRAMES, producer=None)


def _entry(records: bytes, count: int, *, length: int | None = None, **odd: int) -> bytes:
    at = {**NUMBERS, **odd}
    return u32(at["partition_id"]) + u32(at["status"]) + u64(at["current_offset"]) + u32(count) + u64(at["incarnation"]) + u64(at["owner_generation"]) + u64(at["metadata_op"]) + u64(at["next_offset"]) + u32(len(records) if length is None else length)


def _section_value(batches: list[Any], rows: list[Any], **odd: int) -> dict[str, Any]:
    return {**{key: str(number) for key, number in {**NUMBERS, **odd}.items()}, "batches": batches, "messages": rows}


def _replies(s: CaseBuilder) -> None:
    layout, records, status, end, most, count = ("iggy.fetch.layout",), ("iggy.fetch.records",), ("iggy.fetch.status",), ("iggy.fetch.end",), ("iggy.fetch.sections",), ("iggy.fetch.count",)
    pair = [told(one) for one in FRAMES]
    first = pair[0]
    row, rows = _section_value([headed(ONE_FRAME, 1)], [first]), _section_value([headed(TWO_FRAMES, 2, None)], pair, partition_id=8)
    one = u32(1) + _entry(ONE_FRAME, 1) + ONE_FRAME
    two = u32(2) + _entry(ONE_FRAME, 1) + _entry(TWO_FRAMES, 2, partition_id=8) + ONE_FRAME + TWO_FRAMES
    failed = _section_value([], [], partition_id=9, status=3007)
    s.accepts("reply/one", "One section with a message", one, {"sections": [row]}, doc=DOC, rules=(*layout, *records, *end), why="The table comes before the batches.")
    s.accepts("reply/two", "Two sections, with one and two messages", two, {"sections": [row, rows]}, doc=DOC, rules=(*layout, *records, *count), why="Read in turns, entry and batch, the second entry is a batch.")
    s.accepts("reply/none", "No sections", u32(0), {"sections": []}, doc=DOC, rules=layout, why="Nothing came before the wait ended.")
    s.accepts("reply/empty-section", "A section without messages", u32(1) + _entry(b"", 0), {"sections": [_section_value([], [])]}, doc=DOC, rules=(*records, *count), why="The partition was read, and had nothing.")
    s.accepts("reply/failed", "A partition that could not be read between two that could", u32(3) + _entry(ONE_FRAME, 1) + _entry(b"", 0, partition_id=9, status=3007) + _entry(TWO_FRAMES, 2, partition_id=8) + ONE_FRAME + TWO_FRAMES, {"sections": [row, failed, rows]}, doc=DOC, rules=(*status, *layout), why="The others are delivered.")
    s.accepts("reply/two-batches", "A section with two batches", u32(1) + _entry(ONE_FRAME + TWO_FRAMES, 3) + ONE_FRAME + TWO_FRAMES, {"sections": [_section_value([headed(ONE_FRAME, 1), headed(TWO_FRAMES, 2, None)], [first, *pair])]}, doc=DOC, rules=records, why="Batches come as they are stored.")
    many = u32(1000) + b"".join(_entry(b"", 0, partition_id=number) for number in range(1000))
    s.accepts("reply/thousand", "1,000 sections", many, {"sections": [_section_value([], [], partition_id=number) for number in range(1000)]}, doc=DOC, rules=most, why="As many as a request has targets.")
    length = 4 + ENTRY - 4
    s.rejects("reply/failed-with-batches", "An error with batches", u32(1) + _entry(ONE_FRAME, 1, status=3007) + ONE_FRAME, "invalid-value", at=length, also=ALSO, twin="reply/one", doc=DOC, rules=status, why="Its messages may not be those of the partition.")
    s.rejects("reply/1001-sections", "1,001 sections", u32(1001) + many[4:] + _entry(b"", 0, partition_id=1000), "limit-exceeded", at=0, also=("bad-length", "invalid-value", "count-mismatch"), twin="reply/thousand", doc=DOC, rules=most, why="No request asks for so many.")
    s.rejects("reply/sections-huge", "A count of 2^32 − 1", u32(0xFFFFFFFF) + one[4:], "limit-exceeded", at=0, also=("bad-length", "invalid-value", "count-mismatch", "truncated"), twin="reply/one", doc=DOC, rules=most, flags=["resource"], limits={"ms": 1000, "rss_mb": 512}, why="Memory for all of them must not be reserved.")
    s.rejects("reply/cut", "The last byte is missing", one[:-1], "truncated", at=4 + ENTRY, also=SHORT, twin="reply/one", doc=DOC, rules=end, why="Half a message is another.")
    s.rejects("reply/cut-in-the-table", "A table cut in its second entry", two[: 4 + ENTRY + 20], "truncated", also=SHORT, twin="reply/two", doc=DOC, rules=end, why="A partition would be lost.")
    s.rejects("reply/one-byte-more", "A byte too much", one + b"\0", "trailing-data", at=len(one), also=LONG, twin="reply/one", doc=DOC, rules=end, why="It belongs to no section.")
    s.rejects("reply/length-past-end", "The second length one too large", u32(2) + _entry(ONE_FRAME, 1) + _entry(TWO_FRAMES, 2, partition_id=8, length=len(TWO_FRAMES) + 1) + ONE_FRAME + TWO_FRAMES, "truncated", at=len(two) - len(TWO_FRAMES), also=SHORT, twin="reply/two", doc=DOC, rules=end, why="The bytes are not there.")
    s.rejects("reply/lengths-shifted", "A length one too small, the next one too large", u32(2) + _entry(ONE_FRAME, 1, length=len(ONE_FRAME) - 1) + _entry(TWO_FRAMES, 2, partition_id=8, length=len(TWO_FRAMES) + 1) + ONE_FRAME + TWO_FRAMES, "length-past-end", also=("truncated", "bad-length", "length-mismatch"), twin="reply/two", doc=DOC, rules=records, why="The sum is right, and a batch is cut.")
    s.rejects("reply/count-2-for-1", "Two messages counted, one there", u32(1) + _entry(ONE_FRAME, 2) + ONE_FRAME, "count-mismatch", at=4 + 16, also=("truncated", "length-past-end", "bad-length"), twin="reply/one", doc=DOC, rules=count, why="A message is lost.")
    s.writes("encode/two", "Two sections", {"sections": [row, rows]}, two, doc=DOC, rules=(*layout, *records), why="Lengths and counts are computed.")
    s.writes("encode/none", "No sections", {"sections": []}, u32(0), doc=DOC, rules=layout, why="A count of 0 is four bytes, and no empty body.")
    s.writes("encode/failed", "A partition that could not be read", {"sections": [failed]}, u32(1) + _entry(b"", 0, partition_id=9, status=3007), doc=DOC, rules=layout, why="A status and no batches.")
    s.refuses("encode/failed-with-messages", "An error with messages", {"sections": [{**row, "status": "3007"}]}, twin="encode/two", doc=DOC, rules=("iggy.fetch.encode",), also=ALSO, why="Every reader refuses it.")
