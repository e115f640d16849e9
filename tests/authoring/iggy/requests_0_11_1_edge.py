"""`iggy.poll-request` and `iggy.frame` of 0.11.1-edge: iggy.md §2.1, §5, §6.1."""

# fmt: off

from typing import Any

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.iggy.batches_0_11_1_edge import ProvisionalCases
from tests.authoring.iggy.case_builder import CaseBuilder
from tests.authoring.iggy.documented_bytes import W10
from tests.authoring.iggy.message_bytes import kind_value, name, u8, u32, u64, u128
from tests.authoring.iggy.requests_and_replies import Request

DOC = "iggy.md §6.1"
EDGE = Request("0.11.1-edge", W10, named=True, flagged=True)
GROUP = kind_value("string", b"kafka.cg.orders")


def write(writer: FixtureWriter) -> None:
    _requests(ProvisionalCases(writer, "iggy.poll-request"))
    _frames(ProvisionalCases(writer, "iggy.frame"))


def _requests(s: CaseBuilder) -> None:
    kinds, flag, group = ("iggy.poll-request.context.kinds",), ("iggy.poll-request.context.commit",), ("iggy.poll-request.context.group",)
    s.accepts("request/worked", "The first ten messages of a partition (W10)", W10, EDGE.value(partition="0"), doc="iggy.md §13 W10", origin="document", rules=kinds, why="The layout is that of 0.8.0.")
    external = EDGE.made(kind=3, consumer=name(b"kafka.cg.orders"))
    s.accepts("request/external-group", "A group that is managed outside Iggy", external, EDGE.value(kind="external_group", consumer=GROUP), doc=DOC, rules=(*kinds, *group), why="The decoder takes the kind in every request; a server polls for none.")
    s.accepts("request/external-group-number", "An external group by number", EDGE.made(kind=3), EDGE.value(kind="external_group"), doc=DOC, rules=(*kinds, *group), why="Its id is an identifier, as that of every consumer.")
    s.accepts("request/group", "A consumer group", EDGE.made(kind=2), EDGE.value(kind="group"), doc=DOC, rules=kinds, why="The second kind is what it was.")
    for number in (1, 2, 255):
        remarks = ("iggy-flag",) if number > 1 else ()
        s.accepts(f"request/auto-commit-{number}", f"auto_commit of {number}", EDGE.made(commit=number), EDGE.value(commit=True), doc=DOC, remarks=remarks, rules=flag, why="The decoder compares with 0.")
    s.accepts("request/flag-2", "A flag of 2 before the partition", EDGE.made(flag=2, partition=0), EDGE.value(partition=None), doc=DOC, remarks=("iggy-flag",), rules=flag, why="This flag is compared with 1.")
    for number in (0, 4, 255):
        s.rejects(f"request/consumer-kind-{number}", f"A consumer of kind {number}", EDGE.made(kind=number), "bad-kind", at=0, twin="request/external-group", doc=DOC, rules=kinds, why="There are three kinds.")
    s.rejects("request/cut-last-byte", "The last byte is missing", EDGE.made(kind=3)[:-1], "truncated", also=("length-past-end",), twin="request/external-group-number", doc=DOC, rules=("iggy.poll-request.truncated",), why="Shorter than the least there is.")
    s.writes("encode/external-group", "An external group", EDGE.value(kind="external_group", consumer=GROUP), external, doc=DOC, rules=group, why="The third kind.")
    s.refuses("encode/count-33-bits", "A count of 33 bits", EDGE.value(count=1 << 32), twin="encode/external-group", doc=DOC, rules=("iggy.poll-request.encode",), why="Cut, it is another.")
    ProvisionalCases(s.writer, "iggy.poll-request", "0.8").rejects("editions/0-11-1-edge", "An external group of 0.11.1-edge", external, "bad-kind", at=0, twin="request/worked", doc=DOC, rules=("iggy.poll-request.kinds",), why="Servers up to 0.11.0 have two kinds.")


# --- frames ---

RANDOM = 0x0102030405060708090A0B0C0D0E0F10
CONTEXT = {"partition_incarnation": 0x3132333435363738, "owner_generation": 0x4142434445464748, "minimum_metadata_op": 0x5152535455565758}


def _framed(command: int, rest: bytes, body: bytes, size: int | None = None) -> bytes:
    return bytes(48) + u32(256 + len(body) if size is None else size) + bytes(8) + u8(command) + bytes(67) + rest + body


def _request(body: bytes, operation: int, *, checksum: int = 0, code: int = 0, context: dict[str, int] = CONTEXT, reserved: bytes = bytes(32), size: int | None = None) -> bytes:
    rest = u128(1) + u128(checksum) + u64(13) + u64(1) + u8(operation) + bytes(7) + u64(9) + u32(7) + u32(code)
    return _framed(5, rest + b"".join(map(u64, context.values())) + reserved, body, size)


def _request_value(body: bytes, operation: int, *, checksum: int = 0, code: int = 0, context: dict[str, int] = CONTEXT) -> dict[str, Any]:
    numbers = {"client": 1, "request_checksum": checksum, "timestamp": 13, "request": 1, "operation": operation, "session": 9, "user_id": 7, "code": code, **context}
    return {"header": {key: str(number) for key, number in numbers.items()}, "body": body.hex()}


def _reply(body: bytes, *, status: int = 0, committed: int = 1, incarnation: int = 0x6162636465666768, gap: bytes = bytes(3), tail: bytes = bytes(24)) -> bytes:
    rest = u128(RANDOM) + u128(7) + u128(1) + u64(11) + u64(12) + u64(13) + u64(1) + u8(160) + bytes(7) + u32(status)
    return _framed(8, rest + u8(committed) + gap + u64(incarnation) + tail, body)


def _reply_value(body: bytes, *, status: int = 0, committed: int = 1, incarnation: int = 0x6162636465666768) -> dict[str, Any]:
    numbers = {"request_checksum": RANDOM, "context": 7, "client": 1, "op": 11, "commit": 12, "timestamp": 13, "request": 1, "operation": 160, "status": status, "committed_result": committed, "partition_incarnation": incarnation}
    return {"header": {key: str(number) for key, number in numbers.items()}, "body": body.hex()}


def _frames(s: CaseBuilder) -> None:
    layout, check, done, size = ("iggy.frame.context.layout",), ("iggy.frame.context.checksum",), ("iggy.frame.context.committed",), ("iggy.frame.vsr.size",)
    none = dict.fromkeys(CONTEXT, 0)
    s.accepts("frame/send", "A send to a partition", _request(b"ab", 160), _request_value(b"ab", 160), doc=DOC, rules=(*layout, *check, *size), why="It names the incarnation of the partition that it means.")
    s.accepts("frame/poll", "A poll, which is not replicated", _request(W10, 2, code=100), _request_value(W10, 2, code=100), doc=DOC, rules=(*layout, *check, *size), why="The code stands before the context.")
    s.accepts("frame/create-stream", "A metadata request with a random checksum", _request(b"x", 128, checksum=RANDOM, context=none), _request_value(b"x", 128, checksum=RANDOM, context=none), doc=DOC, rules=(*layout, *check), why="All 128 bits are random; it is no digest of the body.")
    s.accepts("frame/create-stream-checksum-0", "A metadata request with a checksum of 0", _request(b"x", 128, context=none), _request_value(b"x", 128, context=none), doc=DOC, rules=check, why="The crate draws another number instead of 0, but the stamp is optional.")
    s.accepts("frame/send-checksum", "A send with a checksum", _request(b"x", 160, checksum=RANDOM), _request_value(b"x", 160, checksum=RANDOM), doc=DOC, remarks=("iggy-request-checksum",), rules=check, why="That of requests to a partition is 0.")
    s.accepts("frame/store-offset-checksum", "A stored offset with a checksum", _request(b"x", 161, checksum=1), _request_value(b"x", 161, checksum=1), doc=DOC, remarks=("iggy-request-checksum",), rules=check, why="That of requests to a partition is 0.")
    s.accepts("frame/request-reserved-set", "A reserved byte that is not 0", _request(b"", 160, reserved=bytes(31) + b"\1"), _request_value(b"", 160), doc=DOC, remarks=("iggy-unset-field",), rules=layout, why="32 bytes are left.")
    s.accepts("frame/reply", "A reply of a committed result", _reply(b"ok"), _reply_value(b"ok"), doc=DOC, rules=(*layout, *done, *size), why="Byte 220 proves that it is final.")
    s.accepts("frame/reply-pending", "A reply without a committed result", _reply(b"", committed=0), _reply_value(b"", committed=0), doc=DOC, rules=done, why="0 proves nothing.")
    s.accepts("frame/reply-committed-2", "A reply whose byte 220 is 2", _reply(b"", committed=2), _reply_value(b"", committed=2), doc=DOC, rules=done, why="A value that is not known proves nothing, and is no error.")
    s.accepts("frame/reply-gap-set", "A byte behind the committed result", _reply(b"", gap=b"\0\0\1"), _reply_value(b""), doc=DOC, remarks=("iggy-unset-field",), rules=layout, why="Three bytes are left before the incarnation.")
    s.accepts("frame/reply-tail-set", "The last byte of a reply's header", _reply(b"", tail=bytes(23) + b"\1"), _reply_value(b""), doc=DOC, remarks=("iggy-unset-field",), rules=layout, why="24 bytes are left behind it.")
    known = ("iggy.frame.vsr.operation",)
    s.accepts("frame/operation-150", "UpdateResource, which is new", _request(b"x", 150, checksum=RANDOM, context=none), _request_value(b"x", 150, checksum=RANDOM, context=none), doc=DOC, rules=known, why="It took the place of three operations.")
    for number in (0, 69, 129, 163, 255):
        retired = number in (129, 163)
        s.rejects(f"frame/operation-{number}", f"A request of operation {number}", _request(b"x", number, context=none), "bad-kind", at=176, also=("invalid-value", "not-permitted"), twin="frame/operation-150", doc=DOC, rules=known, why="It is retired, and stays unknown." if retired else "What it asks for is not known.")
    s.rejects("frame/size-255", "A size of 255", _request(b"", 2, size=255), "bad-length", at=48, also=("truncated", "length-mismatch"), twin="frame/poll", doc=DOC, rules=size, why="Less than the header that says so.")
    s.rejects("frame/cut", "The last byte is missing", _request(b"ab", 160)[:-1], "truncated", at=256, also=("length-past-end",), twin="frame/send", doc=DOC, rules=size, why="Half a request is another one.")
    s.rejects("frame/cut-in-the-context", "A header cut in its context", _request(b"", 160)[:210], "truncated", also=("length-past-end",), twin="frame/send", doc=DOC, rules=size, why="Half a header is none.")
    s.writes("encode/send", "A send", _request_value(b"ab", 160), _request(b"ab", 160), doc=DOC, rules=layout, why="Each field in its place.")
    s.writes("encode/create-stream", "A metadata request", _request_value(b"x", 128, checksum=RANDOM, context=none), _request(b"x", 128, checksum=RANDOM, context=none), doc=DOC, rules=(*layout, *check), why="The checksum is given, not computed.")
    s.writes("encode/reply", "A reply", _reply_value(b"ok"), _reply(b"ok"), doc=DOC, rules=(*layout, *done), why="Each field in its place.")
    s.refuses("encode/committed-9-bits", "A committed result of nine bits", _reply_value(b"", committed=257), twin="encode/reply", doc=DOC, rules=("iggy.frame.encode",), why="Cut, it is 1.")
