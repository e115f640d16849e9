"""`iggy.poll-request`, `iggy.frame` and `iggy.reply`: iggy.md §2.1, §3.2, §4, §5, §6."""

# fmt: off

from typing import Any

import xxhash
from attrs import evolve, frozen

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.iggy.case_builder import CaseBuilder
from tests.authoring.iggy.documented_bytes import W8, W9, W10, W11, W25, W28, W29, W30
from tests.authoring.iggy.message_bytes import kind_value, name, numeric, tagged, u8, u32, u64, u128, unhex
from tests.authoring.iggy.send import W5

SAMPLE = {"stream": kind_value("numeric", u32(1)), "topic": kind_value("string", b"sample")}
LOGIN = unhex("002c000008727573742d73646b06302e31312e3004696767790469676779" + "00000000")
"""§2.1 [RUN-R11]: the body of a login; its XXH3-64 stands in the captured header."""


def write(writer: FixtureWriter) -> None:
    for e in (R30, R92, R80, R100):
        _requests(CaseBuilder(writer, "iggy.poll-request", e.revision), e)
    _crossed(writer)
    _classic(CaseBuilder(writer, "iggy.frame", "0.0.30"))
    _vsr(CaseBuilder(writer, "iggy.frame", "0.11"))
    _response(CaseBuilder(writer, "iggy.reply", "0.0.30"))
    _confirmations(CaseBuilder(writer, "iggy.reply", "0.11"))


# --- poll requests ---


@frozen
class Request:
    """How the editions differ: whether the consumer is an identifier, whether a flag stands before the partition."""

    revision: str
    worked: bytes
    named: bool
    flagged: bool

    def made(self, *, kind: int = 1, consumer: bytes | None = None, place: bytes | None = None, flag: int = 1, partition: int = 1, strategy: bytes | None = None, count: int = 10, commit: int = 0) -> bytes:
        who = (numeric(1) if self.named else u32(1)) if consumer is None else consumer
        where = numeric(1) + name(b"sample") if place is None else place
        flags = u8(flag) if self.flagged else b""
        return u8(kind) + who + where + flags + u32(partition) + (u8(1) + u64(0) if strategy is None else strategy) + u32(count) + u8(commit)

    def value(self, *, kind: str = "consumer", consumer: Any = None, partition: Any = "1", strategy: tuple[str, int] = ("offset", 0), count: int = 10, commit: bool = False, **place: Any) -> dict[str, Any]:
        who = (kind_value("numeric", u32(1)) if self.named else "1") if consumer is None else consumer
        return {"consumer": {"kind": kind, "id": who}, **SAMPLE, **place, "partition_id": partition, "strategy": {"kind": strategy[0], "value": str(strategy[1])}, "count": str(count), "auto_commit": commit}


R30, R92, R80 = Request("0.0.30", W8, named=False, flagged=False), Request("0.0.92", W9, named=True, flagged=False), Request("0.8", W10, named=True, flagged=True)
R100 = evolve(R80, revision="0.10")
STRATEGIES = ("offset", "timestamp", "first", "last", "next")


def _requests(s: CaseBuilder, e: Request) -> None:
    doc = {"0.0.30": "iggy.md §3.2", "0.0.92": "iggy.md §4", "0.8": "iggy.md §5", "0.10": "iggy.md §5"}[e.revision]
    layout, kinds, place, cut = ("iggy.poll-request.layout",), ("iggy.poll-request.kinds",), ("iggy.poll-request.place",), ("iggy.poll-request.truncated",)
    partition = "0" if e.flagged else "1"
    s.accepts("request/worked", "The first ten messages of a partition (the worked example)", e.worked, e.value(partition=partition), doc=f"iggy.md §13 {'W8' if e is R30 else 'W9' if e is R92 else 'W10'}", origin="document", rules=(*layout, *kinds, *place), why="The worked example.")
    big = (1 << 63) + 5
    for code, kind in enumerate(STRATEGIES, 1):
        s.accepts(f"request/{kind}", f"From {kind}", e.made(strategy=u8(code) + u64(big)), e.value(strategy=(kind, big)), doc="iggy.md §2.2", rules=(*kinds, *layout), why="An offset, or microseconds, of 64 bits without a sign.")
    s.accepts("request/count-bytes", "A count of four different bytes", e.made(count=0x81020304), e.value(count=0x81020304), doc=doc, rules=layout, why="Read big-endian it is another.")
    s.accepts("request/partition-bytes", "A partition of four different bytes", e.made(partition=0x81020304), e.value(partition=str(0x81020304)), doc=doc, rules=layout, why="Read big-endian it is another.")
    s.accepts("request/auto-commit", "With auto_commit", e.made(commit=1), e.value(commit=True), doc=doc, rules=("iggy.poll-request.auto-commit",), why="Off by mistake, messages come twice; on by mistake, they are lost.")
    s.accepts("request/auto-commit-2", "auto_commit of 2", e.made(commit=2), e.value(commit=e is R100), doc="iggy.md §3.2", remarks=("iggy-flag",), rules=("iggy.poll-request.flag",), why="Whatever is not 1 is no; from 0.10.0 on whatever is not 0 is yes.")
    s.accepts("request/group", "A consumer group", e.made(kind=2), e.value(kind="group"), doc="iggy.md §2.2", rules=kinds, why="The offsets of a group are others than those of a consumer.")
    s.accepts("request/stream-by-name", "A stream by name, a topic by number", e.made(place=name(b"s1") + numeric(7)), e.value(stream=kind_value("string", b"s1"), topic=kind_value("numeric", u32(7))), doc=doc, rules=place, why="Both kinds stand in both places.")
    s.accepts("request/followed", "What follows is not its own", e.made() + b"\xff\xff", e.value(), doc=doc, consumed=len(e.made()), rules=layout, why="The frame says where it ends.")
    if e.named:
        s.accepts("request/consumer-by-name", "A consumer by name", e.made(consumer=name(b"g1")), e.value(consumer=kind_value("string", b"g1")), doc="iggy.md §4", rules=("iggy.poll-request.consumer", *layout), why="What came with 0.0.92.")
        s.accepts("request/consumer-number", "A consumer by number", e.made(consumer=numeric(0x81020304)), e.value(consumer=kind_value("numeric", unhex("04030281"))), doc="iggy.md §4", rules=("iggy.poll-request.consumer",), why="Four different bytes show the order.")
    else:
        s.accepts("request/consumer-number", "Consumer 0x81020304", e.made(consumer=u32(0x81020304)), e.value(consumer=str(0x81020304)), doc=doc, rules=("iggy.poll-request.consumer", *layout), why="A bare number to 0.0.91.")
        s.accepts("request/consumer-0", "Consumer 0", e.made(consumer=u32(0)), e.value(consumer="0"), doc=doc, rules=("iggy.poll-request.consumer",), why="A number, and no identifier.")
    zero, where = e.made(place=numeric(0) + name(b"sample")), len(e.made(place=b"")) - 4 - 9 - 4 - 1 - e.flagged
    if e.flagged:
        flag = ("iggy.poll-request.partition",)
        s.accepts("request/none", "A group that polls no partition of its own (W11)", W11, e.value(kind="group", consumer=kind_value("string", b"g1"), stream=kind_value("numeric", u32(1)), partition=None, strategy=("next", 0), commit=True), doc="iggy.md §13 W11", origin="document", rules=(*flag, *layout), why="None is not partition 0, which is the first.")
        s.accepts("request/partition-0", "Partition 0", e.made(partition=0), e.value(partition="0"), doc=doc, rules=flag, why="The first partition from 0.8.0 on.")
        s.accepts("request/flag-0-partition-7", "No partition, and a number", e.made(flag=0, partition=7), e.value(partition=None), doc=doc, remarks=("iggy-unset-field",), rules=flag, why="What the flag denies is not read.")
        s.accepts("request/flag-2", "A flag of 2", e.made(flag=2, partition=0), e.value(partition=None), doc=doc, remarks=("iggy-flag",), rules=("iggy.poll-request.flag",), why="The server takes 1 for yes and all else for no.")
        s.accepts("request/stream-0", "Stream 0", zero, e.value(stream=kind_value("numeric", u32(0))), doc="iggy.md §2.2", rules=(*place, "iggy.identifier.zero-based"), why="The first stream from 0.8.0 on.")
    else:
        s.rejects("request/stream-0", "Stream 0", zero, "invalid-value", at=where + 2, also=("not-permitted", "other"), twin="request/worked", doc="iggy.md §2.2", level="should", rules=(*place, "iggy.identifier.zero"), why="InvalidIdentifier up to 0.7.x, of the constructor: the reader takes it.")
    for label, data, at in (("consumer-kind-0", e.made(kind=0), 0), ("consumer-kind-3", e.made(kind=3), 0), ("strategy-kind-0", e.made(strategy=u8(0) + u64(0)), len(e.made()) - 14), ("strategy-kind-6", e.made(strategy=u8(6) + u64(0)), len(e.made()) - 14)):
        s.rejects(f"request/{label}", f"A kind that there is none of: {label}", data, "bad-kind", at=at, twin="request/worked", doc="iggy.md §2.2", rules=kinds, why="InvalidCommand.")
    s.rejects("request/stream-kind-3", "A stream of kind 3", e.made(place=tagged(3, u32(1)) + name(b"sample")), "bad-kind", at=where, twin="request/worked", doc="iggy.md §2.2", rules=place, why="InvalidCommand.")
    s.rejects("request/count-0", "Count 0", e.made(count=0), "invalid-value", at=len(e.made()) - 5, also=("count-mismatch", "bad-length", "not-permitted", "other"), twin="request/worked", doc="iggy.md §3.2", rules=("iggy.poll-request.count",), why="InvalidMessagesCount.")
    for label, size in (("last-byte", 1), ("strategy", 10), ("half", 20)):
        s.rejects(f"request/cut-{label}", f"Cut: {label}", e.made()[:-size], "truncated", also=("length-past-end",), twin="request/worked", doc=doc, rules=cut, why="Shorter than the least there is.")
    s.writes("encode/worked", "The worked example", e.value(partition=partition), e.worked, doc="iggy.md §13", rules=layout, why="The worked example.")
    s.writes("encode/group", "A group with auto_commit from next", e.value(kind="group", strategy=("next", 0), commit=True), e.made(kind=2, strategy=u8(5) + u64(0), commit=1), doc=doc, rules=(*layout, *kinds), why="What a group sends.")
    if e.flagged:
        s.writes("encode/none", "No partition (W11)", e.value(kind="group", consumer=kind_value("string", b"g1"), partition=None, strategy=("next", 0), commit=True), W11, doc="iggy.md §13 W11", rules=("iggy.poll-request.partition",), why="Five bytes, of which all are 0.")
    s.refuses("encode/count-0", "Count 0", e.value(count=0), twin="encode/worked", doc="iggy.md §3.2", rules=("iggy.poll-request.encode",), also=("bad-length", "count-mismatch"), why="InvalidMessagesCount.")
    s.refuses("encode/count-33-bits", "A count of 33 bits", e.value(count=1 << 32), twin="encode/worked", doc=doc, rules=("iggy.poll-request.encode",), why="Cut, it is another.")


def _crossed(writer: FixtureWriter) -> None:
    rule, doc = ("iggy.poll-request.editions",), "iggy.md §1, §4, §11.1 GO7"
    also = ("bad-kind", "bad-length", "truncated", "length-past-end", "bad-utf8", "invalid-value")
    CaseBuilder(writer, "iggy.poll-request", "0.0.92").rejects("editions/0-0-30", "A request of 0.0.30 (W8)", W8, "bad-length", at=2, also=also, twin="request/worked", doc=doc, rules=rule, why="The number of the consumer is taken for kind and length: Go's client sent it four days too long.")
    CaseBuilder(writer, "iggy.poll-request", "0.8").rejects("editions/0-0-92", "A request of 0.0.92 (W9)", W9, "bad-kind", also=also, twin="request/worked", doc=doc, rules=rule, why="One byte is missing, and strategy 0 is none.")


# --- frames ---


def _classic(s: CaseBuilder) -> None:
    doc, layout, length = "iggy.md §2.1", ("iggy.frame.classic.layout",), ("iggy.frame.classic.length",)
    s.accepts("frame/send", "A send in its frame (W5)", u32(105) + u32(101) + W5, {"code": "101", "body": W5.hex()}, doc="iggy.md §13 W5", origin="document", rules=layout, why="The length counts the code and not itself.")
    s.accepts("frame/ping", "A ping", u32(4) + u32(1), {"code": "1", "body": ""}, doc=doc, rules=layout, why="Four bytes are a code and no body.")
    s.accepts("frame/code-bytes", "A code of four different bytes", u32(5) + u32(0x81020304) + b"x", {"code": str(0x81020304), "body": "78"}, doc=doc, rules=layout, why="Little-endian.")
    s.accepts("frame/followed", "The next frame is not its own", u32(4) + u32(1) + u32(4), {"code": "1", "body": ""}, consumed=8, doc=doc, rules=layout, why="Requests follow each other on one connection.")
    for number in (0, 3):
        s.rejects(f"frame/length-{number}", f"A length of {number}", u32(number) + u32(1), "bad-length", at=0, also=("truncated", "length-mismatch"), twin="frame/ping", doc=doc, rules=length, why="Not even a code.")
    s.rejects("frame/length-huge", "A length of 2^32 − 1", u32(0xFFFFFFFF) + u32(1), "truncated", at=8, also=("length-past-end", "limit-exceeded", "negative-length"), twin="frame/ping", doc=doc, rules=length, flags=["resource"], limits={"ms": 1000, "rss_mb": 512}, why="Four gigabytes must not be reserved.")
    s.rejects("frame/cut", "The last byte is missing", (u32(105) + u32(101) + W5)[:-1], "truncated", at=8, also=("length-past-end",), twin="frame/send", doc=doc, rules=length, why="Half a request is another one.")
    s.writes("encode/send", "A send in its frame (W5)", {"code": "101", "body": W5.hex()}, u32(105) + u32(101) + W5, doc="iggy.md §13 W5", rules=layout, why="The worked example.")
    s.writes("encode/ping", "A ping", {"code": "1", "body": ""}, u32(4) + u32(1), doc=doc, rules=layout, why="The shortest frame.")


def _request(body: bytes, operation: int, *, code: int = 0, checksum: int = 0, size: int | None = None, command: int = 5, head: bytes = bytes(48), reserved: bytes = bytes(56), client: int = 1, number: int = 1, session: int = 9, user: int = 0, timestamp: int = 0) -> bytes:
    length = 256 + len(body) if size is None else size
    rest = u128(client) + u128(checksum) + u64(timestamp) + u64(number) + u8(operation) + bytes(7) + u64(session) + u32(user) + u32(code) + reserved
    return head + u32(length) + bytes(8) + u8(command) + bytes(67) + rest + body


def _request_value(body: bytes, operation: int, **more: Any) -> dict[str, Any]:
    header = {"client": "1", "request_checksum": "0", "timestamp": "0", "request": "1", "operation": str(operation), "session": "9", "user_id": "0", "code": "0"}
    return {"header": {**header, **{key: str(number) for key, number in more.items()}}, "body": body.hex()}


def _reply(body: bytes, *, status: int = 0, context: int = 7, operation: int = 160) -> bytes:
    rest = u128(3) + u128(context) + u128(1) + u64(11) + u64(12) + u64(13) + u64(1) + u8(operation) + bytes(7) + u32(status) + bytes(36)
    return bytes(48) + u32(256 + len(body)) + bytes(8) + u8(8) + bytes(67) + rest + body


def _evicted(reason: int) -> bytes:
    return bytes(48) + u32(256) + bytes(8) + u8(13) + bytes(67) + u128(1) + unhex("002c0000") + unhex("00280000") + bytes(103) + u8(reason)


def _reply_value(body: bytes, *, status: int = 0, operation: int = 160) -> dict[str, Any]:
    return {"header": {"request_checksum": "3", "context": "7", "client": "1", "op": "11", "commit": "12", "timestamp": "13", "request": "1", "operation": str(operation), "status": str(status)}, "body": body.hex()}


def _vsr(s: CaseBuilder) -> None:
    doc, layout, size, gap, check = "iggy.md §2.1", ("iggy.frame.vsr.layout",), ("iggy.frame.vsr.size",), ("iggy.frame.vsr.gaps",), ("iggy.frame.vsr.checksum",)
    command = ("iggy.frame.vsr.command",)
    s.accepts("frame/send", "A send (W29 and W25)", W29 + W25, _request_value(W25, 160), doc="iggy.md §13 W29, W25", origin="document", rules=(*layout, *size, *check, *command), why="The size counts the header; a send's request_checksum is 0.")
    s.accepts("frame/poll", "A poll (W30 and W10)", W30 + W10, _request_value(W10, 2, code=100), doc="iggy.md §13 W30, W10", origin="document", rules=(*layout, *check), why="What is not replicated says its code in the first reserved bytes.")
    told = int.from_bytes(unhex("95803f2a3c20de8f"), "little")
    s.accepts("frame/register", "A login as iggy 0.11.0 was captured", _request(LOGIN, 1, checksum=told), _request_value(LOGIN, 1, request_checksum=told), doc="iggy.md §2.1 [RUN-R11]", rules=check, why="XXH3-64 of the body, widened to 128 bits.")
    s.accepts("frame/register-no-checksum", "A login without a checksum", _request(LOGIN, 1), _request_value(LOGIN, 1), doc=doc, rules=check, remarks=("iggy-no-request-checksum",), why="It is optional: Go and Node write 0.")
    s.accepts("frame/register-wrong-checksum", "A login with the checksum of another body", _request(LOGIN, 1, checksum=told ^ 1), _request_value(LOGIN, 1, request_checksum=told ^ 1), doc=doc, remarks=("iggy-request-checksum",), rules=check, why="The server compares it with that of another request of the same number, and not with the body.")
    s.accepts("frame/send-checksum", "A send with a checksum of its body", _request(b"x", 160, checksum=xxhash.xxh3_64_intdigest(b"x")), _request_value(b"x", 160, request_checksum=xxhash.xxh3_64_intdigest(b"x")), doc=doc, remarks=("iggy-request-checksum",), rules=check, why="Of sends, polls and pings it is 0.")
    fields = {"client": (1 << 128) - 2, "number": 0x0102030405060708, "session": 0x1112131415161718, "user": 0x21222324, "code": 0x31323334, "timestamp": 0x4142434445464748}
    told_fields = {"client": fields["client"], "request": fields["number"], "session": fields["session"], "user_id": fields["user"], "code": fields["code"], "timestamp": fields["timestamp"]}
    s.accepts("frame/request-bytes", "A request of different bytes", _request(b"", 2, **fields), _request_value(b"", 2, **told_fields), doc=doc, rules=layout, why="Each field in its place, all little-endian.")
    s.accepts("frame/reply", "A reply with a body", _reply(b"ok"), _reply_value(b"ok"), doc=doc, rules=(*layout, *command), why="Command 8; its fields stand in other places.")
    s.accepts("frame/reply-error", "A reply of an error", _reply(b"", status=4022), _reply_value(b"", status=4022), doc=doc, rules=layout, why="The status is what tells an error.")
    evicted = _evicted(2)
    s.accepts("frame/eviction", "An eviction", evicted, {"header": {"client": "1", "server_protocol_version": str(11 << 10), "server_protocol_version_min": str(10 << 10), "reason": "2"}, "body": ""}, doc=doc, rules=(*layout, *command), why="0.11.0 is 11 · 2^10; the reason is the last byte.")
    s.accepts("frame/followed", "The next frame is not its own", _reply(b"") + b"\0\1", _reply_value(b""), consumed=256, doc=doc, rules=size, why="Frames follow each other on one connection.")
    s.accepts("frame/cluster-set", "A byte where clients leave 0", _request(b"", 2, head=bytes(47) + b"\1"), _request_value(b"", 2), doc=doc, remarks=("iggy-unset-field",), rules=gap, why="Checksums and cluster are the replicas' own.")
    s.accepts("frame/reserved-set", "A reserved byte that is not 0", _request(b"", 2, reserved=bytes(55) + b"\1"), _request_value(b"", 2), doc=doc, remarks=("iggy-unset-field",), rules=gap, why="It may come to mean something.")
    for number in (0, 255):
        s.rejects(f"frame/size-{number}", f"A size of {number}", _request(b"", 2, size=number), "bad-length", at=48, also=("truncated", "length-mismatch"), twin="frame/poll", doc=doc, rules=size, why="Less than the header that says so.")
    s.rejects("frame/size-body-only", "A size that leaves out the header", _request(W10, 2, code=100, size=len(W10)), "bad-length", at=48, also=("truncated", "length-mismatch"), twin="frame/poll", doc=doc, rules=size, why="Classic lengths did.")
    for number in (64 * 1024**2 + 1, 0xFFFFFFFF):
        s.rejects(f"frame/size-{number}", f"A size of {number}", _request(b"", 2, size=number), "limit-exceeded", at=48, also=("truncated", "length-past-end", "bad-length"), twin="frame/poll", doc=doc, rules=("iggy.frame.vsr.limit",), flags=["resource"], limits={"ms": 1000, "rss_mb": 512}, why="A frame has 64 MiB at most, and none must be reserved unseen.")
    s.rejects("frame/cut", "The last byte is missing", (W30 + W10)[:-1], "truncated", at=256, also=("length-past-end",), twin="frame/poll", doc=doc, rules=size, why="Half a request is another one.")
    s.rejects("frame/header-cut", "Half a header", W30[:128], "truncated", also=("length-past-end",), twin="frame/poll", doc=doc, rules=size, why="The command is known, the rest is not there.")
    for number in (0, 6, 255):
        s.rejects(f"frame/command-{number}", f"Command {number}", _request(b"", 2, command=number), "bad-kind", at=60, twin="frame/poll", doc=doc, rules=command, why="Where its fields stand is not known.")
    known, reason = ("iggy.frame.vsr.operation",), ("iggy.frame.vsr.reason",)
    s.accepts("frame/operation-129", "UpdateStream, which 0.11.1-edge retired", _request(b"x", 129), _request_value(b"x", 129), doc=doc, level="should", remarks=("iggy-no-request-checksum",), rules=known, why="0.11.0 has the operations 128 to 149 without a gap.")
    s.accepts("frame/reply-operation-0", "A reply to no operation", _reply(b"", operation=0), _reply_value(b"", operation=0), doc=doc, level="should", rules=known, why="The zero value of the enum is a valid one; only a request is asked for another.")
    for number in (0, 4, 69, 150, 163, 255):
        s.rejects(f"frame/operation-{number}", f"A request of operation {number}", _request(b"x", number), "bad-kind", at=176, also=("invalid-value", "not-permitted"), twin="frame/operation-129", doc=doc, level="should", rules=known, why="What it asks for is not known.")
    s.rejects("frame/reply-operation-255", "A reply to operation 255", _reply(b"", operation=255), "bad-kind", at=208, also=("invalid-value", "not-permitted"), twin="frame/reply-operation-0", doc=doc, level="should", rules=known, why="The header is cast in one piece, and this is no value of its enum.")
    told_versions = {"header": {"client": "1", "server_protocol_version": str(11 << 10), "server_protocol_version_min": str(10 << 10), "reason": "14"}, "body": ""}
    s.accepts("frame/eviction-reason-14", "An eviction for the version of the protocol", _evicted(14), told_versions, doc=doc, rules=(*layout, *command), why="The reason that has the two versions.")
    for number in (0, 16):
        s.rejects(f"frame/eviction-reason-{number}", f"An eviction for the reason {number}", _evicted(number), "bad-kind", at=255, also=("invalid-value", "not-permitted"), twin="frame/eviction-reason-14", doc=doc, level="should", rules=reason, why="There are the reasons 1 to 15.")
    s.writes("encode/send", "A send (W29 and W25)", _request_value(W25, 160), W29 + W25, doc="iggy.md §13 W29, W25", rules=(*layout, *check), why="The worked example.")
    s.writes("encode/poll", "A poll (W30 and W10)", _request_value(W10, 2, code=100), W30 + W10, doc="iggy.md §13 W30, W10", rules=layout, why="The worked example.")
    s.writes("encode/register", "A login", _request_value(LOGIN, 1, request_checksum=told), _request(LOGIN, 1, checksum=told), doc="iggy.md §2.1 [RUN-R11]", level="should", rules=check, why="The checksum is computed; another client writes 0.")
    s.writes("encode/eviction", "An eviction", {"header": {"client": "1", "server_protocol_version": str(11 << 10), "server_protocol_version_min": str(10 << 10), "reason": "2"}, "body": ""}, evicted, doc=doc, rules=layout, why="A hundred bytes of zeros, and a reason.")
    s.refuses("encode/operation-9-bits", "An operation of nine bits", _request_value(b"", 256), twin="encode/poll", doc=doc, rules=("iggy.frame.encode",), why="Cut, it is another.")
    s.refuses("encode/client-129-bits", "A client of 129 bits", _request_value(b"", 2, client=1 << 128), twin="encode/poll", doc=doc, rules=("iggy.frame.encode",), why="Cut, it is client 0.")


# --- replies ---


def _response(s: CaseBuilder) -> None:
    doc, layout, length = "iggy.md §2.1", ("iggy.reply.classic.layout",), ("iggy.reply.classic.length",)
    for label, status, body, rules in (("empty", 0, b"", (*layout, *length, "iggy.reply.short")), ("body", 0, b"ok", (*layout, *length)), ("error", 4022, b"", layout), ("error-with-body", 3, b"why", layout), ("status-bytes", 0x81020304, b"", layout)):
        s.accepts(f"response/{label}", f"Status {status}, {len(body)} bytes", u32(status) + u32(len(body)) + body, {"status": str(status), "body": body.hex()}, doc=doc, rules=rules, why="Status 0 is success; the body is as long as it says.")
    s.accepts("response/one-byte", "A body of one byte", u32(0) + u32(1) + b"\0", {"status": "0", "body": "00"}, doc=doc, remarks=("iggy-short-body",), rules=("iggy.reply.short",), why="Clients take a length of 1 for none.")
    s.accepts("response/followed", "The next response is not its own", u32(0) + u32(0) + u32(0), {"status": "0", "body": ""}, consumed=8, doc=doc, rules=layout, why="Responses follow each other on one connection.")
    for label, data, at in (("cut", u32(0) + u32(2) + b"o", 8), ("no-length", u32(0), 4), ("length-huge", u32(0) + u32(0xFFFFFFFF), 8)):
        s.rejects(f"response/{label}", f"Less than it says: {label}", data, "truncated", at=at, also=("length-past-end", "limit-exceeded", "negative-length"), twin="response/body", doc=doc, rules=length, flags=["resource"], limits={"ms": 1000, "rss_mb": 512}, why="What is missing may still come; what is there is no answer.")
    s.writes("encode/empty", "Success without a body", {"status": "0", "body": ""}, bytes(8), doc=doc, rules=layout, why="What SendMessages was answered to 0.10.x.")
    s.writes("encode/error", "An error", {"status": "4022", "body": ""}, u32(4022) + u32(0), doc=doc, rules=layout, why="A code and nothing else.")
    s.refuses("encode/status-33-bits", "A status of 33 bits", {"status": str(1 << 32), "body": ""}, twin="encode/empty", doc=doc, rules=("iggy.reply.encode",), why="Cut, it is success.")


def _confirmations(s: CaseBuilder) -> None:
    doc, layout, count = "iggy.md §6", ("iggy.reply.confirmations.layout",), ("iggy.reply.confirmations.count",)

    def one(stream: int, topic: int, partition: int, offset: int) -> dict[str, str]:
        return {"stream_id": str(stream), "topic_id": str(topic), "partition_id": str(partition), "base_offset": str(offset)}

    def made(*rows: tuple[int, int, int, int], count: int | None = None) -> bytes:
        return u32(len(rows) if count is None else count) + b"".join(u32(a) + u32(b) + u32(c) + u64(d) for a, b, c, d in rows)

    wide = (0x81020304, 0x82030405, 0x83040506, 0x8102030405060708)
    s.accepts("confirmations/one", "One (W28)", W28, {"confirmations": [one(1, 2, 3, 4)]}, doc="iggy.md §13 W28", origin="document", rules=(*layout, *count), why="The worked example.")
    s.accepts("confirmations/two", "Two of different bytes", made(wide, (0, 0, 0, 0)), {"confirmations": [one(*wide), one(0, 0, 0, 0)]}, doc=doc, rules=(*layout, *count), why="A send by key may go to several partitions.")
    s.accepts("confirmations/empty", "An empty body", b"", {"confirmations": []}, doc=doc, rules=count, why="Legal; Go refuses it where it unwraps the reply.")
    s.accepts("confirmations/none", "Count 0", u32(0), {"confirmations": []}, doc=doc, rules=count, why="No confirmation, and counted.")
    refuse = {"reject": {"class": "truncated", "also": ["count-mismatch", "length-past-end", "trailing-data"]}}
    for label, data in (("cut", W28[:-1]), ("count-2-for-1", made((1, 2, 3, 4), count=2)), ("one-byte-more", W28 + b"\0"), ("count-huge", u32(0xFFFFFFFF))):
        s.either(f"confirmations/{label}", f"Not as long as counted: {label}", data, {"refused": {"reject": {**refuse["reject"], "class": "trailing-data" if label == "one-byte-more" else "truncated"}}, "none": {"accept": {"value": {"confirmations": []}}}}, doc=doc + " [RUN-R11]", rules=("iggy.reply.confirmations.torn",), why="Rust takes it for none, as a committed send must not be sent again; Java throws.")
    s.writes("encode/one", "One (W28)", {"confirmations": [one(1, 2, 3, 4)]}, W28, doc="iggy.md §13 W28", rules=layout, why="The worked example.")
    s.writes("encode/none", "None", {"confirmations": []}, u32(0), b"", doc=doc, rules=count, why="Counted or empty.")
    s.refuses("encode/stream-33-bits", "A stream of 33 bits", {"confirmations": [one(1 << 32, 2, 3, 4)]}, twin="encode/one", doc=doc, rules=("iggy.reply.encode",), why="Cut, it is another.")
