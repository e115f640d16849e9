"""Edge values of Iggy's binary formats that are refused or remarked: one field each, the rest as in `states`."""

# fmt: off

from collections.abc import Iterator, Mapping
from typing import Any

from attrs import evolve, frozen

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.iggy import state_bytes as wire
from tests.authoring.iggy import states
from tests.authoring.iggy.batches_0_11_1_edge import REVISION as EDGE
from tests.authoring.iggy.batches_0_11_1_edge import ProvisionalCases
from tests.authoring.iggy.case_builder import CaseBuilder
from tests.authoring.iggy.headers_from_0_9 import keyed, keyed_value
from tests.authoring.iggy.message_bytes import kind_value, map_value, tagged, tlv, u32
from tests.authoring.iggy.state_bytes import Layout, Made, little, packed
from tests.authoring.iggy.states import DISTINCT, KEY, LONG_NAME, Batched

MAX8, MAX32, MAX64 = (1 << 8) - 1, (1 << 32) - 1, (1 << 64) - 1
ONE_BYTE = b"\7"
"""Headers that are no map, whose length is 1."""
LENGTH = ("truncated", "length-past-end", "bad-length", "length-mismatch", "count-mismatch", "trailing-data", "limit-exceeded", "negative-length")
VALUE = ("not-permitted", "invalid-value", "bad-offset")
LIMIT = ("bad-length", "limit-exceeded", "not-permitted", "count-mismatch", "bad-kind", "duplicate-field", "type-mismatch")
"""Other classes that are right, by the sort of fault."""
WHY = {
    "crc-mismatch": "No checksum is a wild card.",
    "reserved-nonzero": "Bytes that a later edition may give a meaning.",
    "bad-kind": "A kind that nobody knows is no other kind.",
}
LENGTH_WHY = "A length that is believed moves what follows, or reserves memory that nobody has."
LIMITS_WHY = "The limit is there for every number, not for the next one only."


@frozen
class Fault:
    """A field with another number.

    Attributes:
        form: the format.
        revision: the revision.
        part: the part of the body with the field: its top, the header of its batch, or its message.
        fields: the numbers, by path.
        cls: the class of the refusal.
        rule: the rule that refuses it.
    """

    form: str
    revision: str
    part: str
    fields: Mapping[str, int | bytes]
    cls: str
    rule: str

    @property
    def label(self) -> str:
        path, number = next(iter(self.fields.items()))
        prefixes = {("iggy.log", "top"): "batch-", ("iggy.fetch-request", "message"): "target-"}
        prefix = prefixes.get((self.form, self.part), "")
        if isinstance(number, bytes):
            return f"{prefix}{path}-of-one-byte"
        return f"{prefix}{path.replace('_', '-').replace('.', '-')}-{number}"

    @property
    def title(self) -> str:
        rows = self.fields.items()
        return " and ".join(f"{path} of one byte" if isinstance(number, bytes) else f"{path} is {number}" for path, number in rows)


def _faults(form: str, revision: str, part: str, cls: str, rule: str, /, **fields: tuple[int | bytes, ...]) -> Iterator[Fault]:
    """Yield a fault for each number of each field; `__` stands for the dot of a path."""
    for name, numbers in fields.items():
        for number in numbers:
            yield Fault(form, revision, part, {name.replace("__", "."): number}, cls, rule)


def faults() -> Iterator[Fault]:
    """Yield the faults of bodies with messages."""
    yield from _faults("iggy.send", "0.0.30", "message", "truncated", "iggy.send.headers-length", headers=(ONE_BYTE,))
    yield from _faults("iggy.send", "0.7", "message", "reserved-nonzero", "iggy.send.headed.index-zero", index__offset=(MAX32,), index__timestamp=(MAX64,))
    yield from _faults("iggy.send", "0.7", "message", "length-mismatch", "iggy.send.headed.index", index__position=(1, MAX32))
    yield from _faults("iggy.send", "0.7", "top", "truncated", "iggy.send.headed.count", messages_count=(256,))
    yield from _faults("iggy.send", "0.7", "top", "length-mismatch", "iggy.send.headed.metadata", metadata_length=(1,))
    yield from _faults("iggy.send", "0.9", "message", "reserved-nonzero", "iggy.send.headed.reserved", reserved=(MAX64,))
    yield from _faults("iggy.send", "0.11", "top", "length-mismatch", "iggy.send.headed.metadata", metadata_length=(0, 1, MAX32))
    yield from _faults("iggy.send", "0.11", "top", "count-mismatch", "iggy.send.batch.count", messages_count=(256, MAX32))
    yield from _faults("iggy.send", "0.11", "head", "count-mismatch", "iggy.send.batch.count", message_count=(256,))
    yield from _faults("iggy.send", "0.11", "head", "bad-length", "iggy.send.batch.length", batch_length=(1,))
    yield from _faults("iggy.send", "0.11", "message", "length-past-end", "iggy.send.batch.length", payload_length=(MAX32,), user_headers_length=(MAX32,))
    yield from _faults("iggy.send", "0.11", "message", "crc-mismatch", "iggy.send.batch.checksum", checksum=(0, MAX64))
    yield from _faults("iggy.send", "0.11", "head", "crc-mismatch", "iggy.send.batch.checksum", batch_checksum=(0, MAX64))
    yield from _faults("iggy.send", "0.11", "message", "reserved-nonzero", "iggy.send.batch.reserved", reserved=(MAX64,))
    yield from _faults("iggy.send", EDGE, "head", "crc-mismatch", "iggy.send.producer.checksum", batch_checksum=(0, MAX64))
    yield from _faults("iggy.send", EDGE, "head", "reserved-nonzero", "iggy.send.producer.reserved", flags=(MAX8,))
    yield from _faults("iggy.poll", "0.0.30", "message", "truncated", "iggy.poll.truncated", headers_len=(MAX32,))
    yield from _faults("iggy.poll", "0.0.30", "message", "truncated", "iggy.poll.headers", headers=(ONE_BYTE,))
    for revision in ("0.0.40", "0.7"):
        yield from _faults("iggy.poll", revision, "top", "count-mismatch", "iggy.poll.count", count=(256,))
    yield from _faults("iggy.poll", "0.11", "top", "count-mismatch", "iggy.poll.batch.messages-count", count=(256,))
    yield from _faults("iggy.poll", "0.11", "head", "bad-length", "iggy.poll.batch.truncated", batch_length=(1,))
    yield from _faults("iggy.poll", "0.11", "message", "reserved-nonzero", "iggy.poll.batch.reserved", reserved=(MAX64,))
    yield from _faults("iggy.poll", EDGE, "head", "reserved-nonzero", "iggy.poll.producer.refused", flags=(MAX8,))
    yield from _faults("iggy.log", "0.2.7", "top", "length-past-end", "iggy.log.retained.length", length=(1,))
    yield from _faults("iggy.log", "0.2.7", "message", "length-past-end", "iggy.log.retained.length", length=(1,), headers_len=(MAX32,))
    yield from _faults("iggy.log", "0.2.7", "message", "truncated", "iggy.log.headers", headers=(ONE_BYTE,))
    yield from _faults("iggy.log", "0.2.7", "message", "bad-kind", "iggy.log.retained.state", state=(0, MAX8))
    for revision in ("0.7", "0.8", "0.9"):
        yield from _faults("iggy.log", revision, "message", "crc-mismatch", "iggy.log.headed.checksum", checksum=(MAX64,))
    yield from _faults("iggy.log", "0.9", "message", "reserved-nonzero", "iggy.log.headed.reserved", reserved=(MAX64,))
    yield from _faults("iggy.log", "0.11", "head", "bad-length", "iggy.log.batch.frame", batch_length=(1,))
    yield from _faults("iggy.log", "0.11", "head", "count-mismatch", "iggy.log.batch.frame", message_count=(0, 256, MAX32))
    yield from _faults("iggy.log", "0.11", "message", "length-past-end", "iggy.log.batch.frame", payload_length=(MAX32,), user_headers_length=(MAX32,))
    yield from _faults("iggy.log", "0.11", "message", "reserved-nonzero", "iggy.log.batch.frame", reserved=(MAX64,))
    for revision in ("0.11", EDGE):
        rule = "iggy.log.batch.checksum" if revision == "0.11" else "iggy.log.producer.refused"
        yield from _faults("iggy.log", revision, "message", "crc-mismatch", "iggy.log.batch.checksum", checksum=(0, MAX64))
        yield from _faults("iggy.log", revision, "head", "crc-mismatch", rule, batch_checksum=(0, MAX64))
    yield from _faults("iggy.log", EDGE, "head", "reserved-nonzero", "iggy.log.producer.refused", flags=(MAX8,))
    yield from _faults("iggy.fetch", EDGE, "top", "truncated", "iggy.fetch.end", records_len=(1, MAX32))
    yield from _faults("iggy.fetch", EDGE, "top", "count-mismatch", "iggy.fetch.count", messages_count=(MAX32,))
    for revision in ("0.0.30", "0.0.92"):
        yield from _faults("iggy.poll-request", revision, "top", "bad-kind", "iggy.poll-request.kinds", consumer__kind=(MAX8,), strategy__kind=(MAX8,))
    yield from _faults("iggy.poll-request", EDGE, "top", "invalid-value", "iggy.poll-request.count", count=(0,))
    for form in ("iggy.deferred-poll-request", "iggy.fetch-request"):
        yield Fault(form, EDGE, "top", {"wait_us": MAX32, "request_timeout_us": MAX32}, "invalid-value", f"{form}.limits")
        yield Fault(form, EDGE, "top", {"max_bytes": 0}, "invalid-value", f"{form}.limits")
    yield Fault("iggy.fetch-request", EDGE, "top", {"request_timeout_us": 0}, "invalid-value", "iggy.fetch-request.limits")
    yield Fault("iggy.fetch-request", EDGE, "message", {"max_bytes": 0}, "invalid-value", "iggy.fetch-request.target-limits")
    yield from _faults("iggy.frame", "0.0.30", "top", "bad-length", "iggy.frame.classic.length", length=(1,))


WRITTEN = (
    Fault("iggy.send", "0.11", "message", {"id": 0}, "invalid-value", "iggy.send.encode"),
    Fault("iggy.send", EDGE, "message", {"id": 0}, "invalid-value", "iggy.send.encode"),
    Fault("iggy.poll-request", EDGE, "top", {"count": 0}, "invalid-value", "iggy.poll-request.encode"),
    *(
        Fault(form, EDGE, "top", fields, "invalid-value", f"{form}.encode")
        for form in ("iggy.deferred-poll-request", "iggy.fetch-request")
        for fields in ({"wait_us": MAX32, "request_timeout_us": MAX32}, {"request_timeout_us": 0}, {"count": 0, "min_count": 0}, {"max_bytes": 0})
    ),
    Fault("iggy.fetch-request", EDGE, "message", {"max_bytes": 0}, "invalid-value", "iggy.fetch-request.encode"),
)
"""Numbers that are not written."""


def write(writer: FixtureWriter) -> None:
    """Add the cases."""
    for fault in faults():
        _refuse(_cases(writer, fault.form, fault.revision), fault)
    for fault in WRITTEN:
        value = _made(fault)[1]
        _cases(writer, fault.form, fault.revision).refuses(f"states/{fault.label}-written", f"{fault.title}, to write", value, twin=f"states/{DISTINCT}-written", doc="iggy.md §6", why="No server takes it.", rules=(fault.rule,), also=LIMIT)
    _frames(writer)
    _remarked(writer)
    _texts(writer)


def _cases(writer: FixtureWriter, form: str, revision: str) -> CaseBuilder:
    return (ProvisionalCases if revision == EDGE else CaseBuilder)(writer, form, revision)


def _refuse(s: CaseBuilder, fault: Fault) -> None:
    is_length = fault.cls not in (*WHY, "invalid-value")
    more: dict[str, Any] = {"flags": ["resource"], "limits": {"ms": 1000, "rss_mb": 512}} if is_length and MAX32 in fault.fields.values() else {}
    if fault.rule == "iggy.send.headed.reserved":
        more["level"] = "should"  # servers copy it as it is: iggy.md, section 5
    if fault.form == "iggy.log":
        more["before"] = {"messages" if fault.revision in ("0.0.30", "0.0.40", "0.7", "0.8", "0.9") else "batches": []}
    groups = {"crc-mismatch": (), "reserved-nonzero": (*VALUE, "crc-mismatch"), "bad-kind": ("reserved-nonzero", "invalid-value"), "invalid-value": (*LIMIT, "other")}
    shifted = ("crc-mismatch", *(("reserved-nonzero",) if (fault.form, fault.revision) == ("iggy.send", "0.7") else ()))
    also = tuple(one for one in groups.get(fault.cls, (*LENGTH, *shifted)) if one != fault.cls)
    why = WHY.get(fault.cls, LENGTH_WHY if is_length else LIMITS_WHY)
    s.rejects(f"states/{fault.label}", fault.title, _made(fault)[0], fault.cls, also=also, twin=f"states/{DISTINCT}", doc="iggy.md §3 to §7", why=why, rules=(fault.rule,), **more)


def _made(fault: Fault) -> Made:
    """Return the body in which every byte differs, with the numbers of the fault."""
    top, head, message = ({**fault.fields} if fault.part == part else {} for part in ("top", "head", "message"))
    form = next((one for one in states.forms() if (one.name, one.revision) == (fault.form, fault.revision)), None)
    if form is not None:
        rows = form.filled(DISTINCT)
        return form.made({**rows[0], **top}, [{**rows[1], **message}])
    if fault.form in BATCHED:
        layout, made = BATCHED[fault.form]
        rows_ = states.batched(fault.revision, layout(fault.revision), DISTINCT, is_sent=fault.form == "iggy.send")
        if fault.form == "iggy.fetch":
            top["status"] = 0
        changed = Batched({**rows_.top, **top}, {**rows_.head, **head}, [{**rows_.frames[0], **message}, *rows_.frames[1:]])
        body: Made = made(fault.revision, changed)
        return body
    if fault.form == "iggy.fetch-request":
        row, target = states.fetch_rows(DISTINCT)
        return states.fetch_request({**row, **top}, {**target, **message})
    if fault.form == "iggy.frame":
        row = {"code": 0x01020304, "body": b"", **top}
        return packed(wire.CLASSIC_FRAME, row), None
    fields = wire.DEFERRED if fault.form == "iggy.deferred-poll-request" else wire.REQUESTS[fault.revision]
    row = {**states.asked(fields, DISTINCT), **top}
    return packed(fields, row), wire.shown(fields, row)


def _none(_: str) -> Layout:
    return ()


BATCHED: Mapping[str, Any] = {
    "iggy.send": (lambda _: wire.DESTINATION, states.batched_send),
    "iggy.poll": (lambda revision: wire.PREFIXES[revision], lambda revision, rows: states.batched_poll(revision, [rows])),
    "iggy.log": (_none, states.batched_log),
    "iggy.fetch": (lambda _: wire.SECTION, lambda _, rows: states.fetched([rows])),
}
"""The top of each format with batches, and what puts its rows together."""


# --- frames ---


def _frames(writer: FixtureWriter) -> None:
    s, doc = CaseBuilder(writer, "iggy.frame", "0.11"), "iggy.md §2.1"
    evicted, size = states.vsr("0.11", 13, DISTINCT, reason=MAX8)[0], states.vsr("0.11", 5, DISTINCT, size=1)[0]
    s.rejects("states/reason-255", "An eviction for the reason 255", evicted, "bad-kind", also=("invalid-value", "not-permitted"), twin=f"states/eviction-{DISTINCT}", doc=doc, level="should", why=WHY["bad-kind"], rules=("iggy.frame.vsr.reason",))
    s.rejects("states/size-1", "A size of 1", size, "bad-length", also=LENGTH[:2] + LENGTH[3:], twin=f"states/request-{DISTINCT}", doc=doc, why=LENGTH_WHY, rules=("iggy.frame.vsr.size",))
    checked = states.vsr("0.11", 5, "greatest", request_checksum=MAX64)
    s.accepts("states/request-checksum-greatest", "A request checksum of 2^64 − 1", *checked, remarks=("iggy-request-checksum",), doc=doc, why="The server compares it with that of another request, and not with the body.", rules=("iggy.frame.vsr.checksum",))
    for revision in ("0.11", EDGE):
        for command, name, number in ((5, "operation", MAX8), (13, "reason", 0), (13, "reason", MAX8)):
            if revision == EDGE and command == 13:
                continue
            value = states.vsr(revision, command, DISTINCT, **{name: number})[1]
            _cases(writer, "iggy.frame", revision).refuses(f"states/{name}-{number}-written", f"{name} is {number}, to write", value, twin=f"states/{states.COMMANDS[command]}-{DISTINCT}-written", doc=doc, why="Every reader refuses it.", rules=("iggy.frame.encode",), also=("bad-kind", "bad-length", "type-mismatch"))


# --- accepted with a remark ---


def _remarked(writer: FixtureWriter) -> None:
    for form in states.forms():
        s = form.cases(writer)
        top, message = form.filled(DISTINCT)
        opaque = {**message, "headers": ONE_BYTE}
        if form.name == "iggy.send" and form.revision != "0.0.30":
            unset = {"checksum": 0x6162636465666768, "offset": 0x4142434445464748, "timestamp": 0x5152535455565758}
            rows = [opaque, {**message, **unset}, {**message, **dict.fromkeys(unset, MAX64)}]
            s.accepts("states/server-fields", "Fields that the server sets, with bytes that differ and with their greatest; headers of one byte", *form.made(top, rows), remarks=("iggy-opaque-headers", "iggy-unset-field"), doc=form.doc, why="The server overwrites them, and does not look at headers.", rules=("iggy.send.headed.unset", "iggy.send.headed.opaque"))
        elif form.name == "iggy.poll" and form.revision in ("0.7", "0.8", "0.9"):
            s.accepts("states/headers-of-one-byte", "Headers of one byte, which are no map", *form.made(top, [opaque]), remarks=("iggy-opaque-headers",), doc=form.doc, why="They may be encrypted: message and poll are delivered.", rules=("iggy.poll.headed.opaque",))
            if form.revision == "0.7":
                s.accepts("states/checksum-bytes", "A checksum of eight different bytes", *form.made(top, [{**message, "checksum": 0x6162636465666768}]), remarks=("iggy-message-checksum",), doc=form.doc, why="It is shown as it stands, though a CRC-32 has four bytes.", rules=("iggy.poll.headed.checksum",))
    for revision in ("0.11", EDGE):
        _sent_fields(_cases(writer, "iggy.send", revision), revision)
        _as_it_stands(_cases(writer, "iggy.poll", revision), "iggy.poll", revision)
    _as_it_stands(_cases(writer, "iggy.fetch", EDGE), "iggy.fetch", EDGE)
    rows_ = states.batched("0.11", (), DISTINCT)
    one = evolve(rows_, frames=[{**rows_.frames[0], "headers": ONE_BYTE}])
    CaseBuilder(writer, "iggy.log", "0.11").accepts("states/headers-of-one-byte", "Headers of one byte, which are no map", *states.batched_log("0.11", one), remarks=("iggy-opaque-headers",), doc="iggy.md §6, §7", why="The server stores what it cannot read.", rules=("iggy.log.batch.layout",))
    for revision, fields in wire.REQUESTS.items():
        flags = {"auto_commit": MAX8} | ({"partition_flag": MAX8, "partition_id": 0} if ("partition_flag", "present") in fields else {})
        row = states.asked(fields, DISTINCT) | flags
        value = wire.shown(fields, row) | {"auto_commit": revision in ("0.10", EDGE)} | ({"partition_id": None} if "partition_flag" in flags else {})
        rule = "iggy.poll-request.context.commit" if revision == EDGE else "iggy.poll-request.flag"
        _cases(writer, "iggy.poll-request", revision).accepts("states/flags-255", "Each flag is 255", packed(fields, row), value, remarks=("iggy-flag",), doc="iggy.md §3.2, §5", why="Whatever is not 1 is no; from 0.10.0 on an auto_commit that is not 0 is yes.", rules=(rule,))


def _sent_fields(s: CaseBuilder, revision: str) -> None:
    rows = states.batched(revision, wire.DESTINATION, DISTINCT, is_sent=True)
    fields = ("partition_id", "base_offset", "base_timestamp")
    for label, numbers, delta, headers in (("bytes", (0x4142434445464748, 0x5152535455565758, 0x6162636465666768), 0x71727374, ()), ("greatest", (MAX64,) * 3, MAX32, ONE_BYTE)):
        one = evolve(rows, head=rows.head | dict(zip(fields, numbers, strict=True)), frames=[{**rows.frames[0], "offset_delta": delta, "headers": headers}])
        remarks = ("iggy-offset-delta", "iggy-unset-field", *(("iggy-opaque-headers",) if headers else ()))
        s.accepts(f"states/server-fields-{label}", f"Fields that the server sets: {label}", *states.batched_send(revision, one), remarks=remarks, doc="iggy.md §6", why="The server overwrites them.", rules=("iggy.send.batch.unset",))
    if revision == "0.11":
        one = evolve(rows, frames=[{**rows.frames[0], "headers": ONE_BYTE}])
        data, value = states.batched_send(revision, one)
        s.writes("states/headers-of-one-byte-written", "An encrypted block of headers of one byte, written", value, data, doc="iggy.md §1, 4ca3cf2b3", why="Headers are encrypted together with the payload.", rules=("iggy.send.headed.opaque",))
    if revision == EDGE:
        one = evolve(rows, frames=[{**rows.frames[0], "id": 0}])
        s.accepts("states/id-0", "Id 0", *states.batched_send(revision, one), remarks=("iggy-unminted-id",), doc="iggy.md §2.5", why="The server does not look.", rules=("iggy.send.batch.id",))


def _as_it_stands(s: CaseBuilder, form: str, revision: str) -> None:
    """Add checksums and counts of batches that do not match, which are told as they stand."""
    layout, _ = BATCHED[form]
    rows = states.batched(revision, layout(revision), DISTINCT)
    frame = rows.frames[0]
    sums = [evolve(rows, head={**rows.head, "batch_checksum": number}, frames=[{**frame, "checksum": number}]) for number in (0, MAX64)]
    counts = [evolve(rows, head={**rows.head, "message_count": number}, frames=[frame]) for number in (0x01020304, MAX32, 0)]
    for label, title, many, remarks, rule in (
        ("checksums", "Checksums of 0 and of 2^64 − 1", sums, ("iggy-batch-checksum", "iggy-message-checksum"), "iggy.poll.batch.checksum"),
        ("counts", "Batches of one message that count others", counts, ("iggy-batch-count",), "iggy.poll.batch.count"),
    ):
        made = states.batched_poll(revision, many) if form == "iggy.poll" else states.fetched([Batched({**one.top, "status": 0}, one.head, one.frames) for one in many])
        s.accepts(f"states/{label}", title, *made, remarks=remarks, doc="iggy.md §6", why="No client compares them.", rules=(rule,))


# --- identifiers, partitionings, headers and replies ---


def _texts(writer: FixtureWriter) -> None:
    ids, doc = CaseBuilder(writer, "iggy.identifier", "0.0.30"), "iggy.md §2.2"
    rules: tuple[str, ...] = ("iggy.identifier.layout", "iggy.identifier.length")
    for label, part in (("name-1", b"N"), ("name-255", LONG_NAME)):
        ids.writes(f"states/{label}-written", f"A name of {len(part)} bytes, written", kind_value("string", part), tagged(2, part), doc=doc, why=states.WHY["greatest"], rules=rules)
    name = "identifier/string"
    ids.rejects("states/kind-255", "Kind 255", tagged(255, b"N"), "bad-kind", twin=name, doc=doc, why=WHY["bad-kind"], rules=("iggy.identifier.kind",))
    for revision in ("0.0.30", "0.9"):
        s = CaseBuilder(writer, "iggy.partitioning", revision)
        for part in (b"k", KEY):
            value, data = kind_value("messages_key", part), tagged(3, part)
            more: dict[str, Any] = {"doc": doc, "why": states.WHY["greatest"], "rules": ("iggy.partitioning.layout",)}
            if revision == "0.9":
                s.accepts(f"states/key-{len(part)}", f"A key of {len(part)} bytes", data, value, **more)
            s.writes(f"states/key-{len(part)}-written", f"A key of {len(part)} bytes, written", value, data, **more)
        s.rejects("states/kind-255", "Kind 255", tagged(255, b"k"), "bad-kind", twin="text/two-bytes", doc=doc, why=WHY["bad-kind"], rules=("iggy.partitioning.kind",))
    wide = (b"k" * 255, "raw", KEY)
    for revision, made, shown, rule in (("0.0.30", tlv(wide), map_value(wide), "iggy.headers.layout"), ("0.9", keyed("string", *wide), keyed_value(("string", *wide)), "iggy.headers.keyed.layout")):
        CaseBuilder(writer, "iggy.headers", revision).writes("states/wide-written", "A key and a value of 255 bytes, written", {"headers": shown}, made, doc="iggy.md §2.4", why=states.WHY["greatest"], rules=(rule,))
    CaseBuilder(writer, "iggy.headers", "0.9").rejects("states/val-len-greatest", "A value of 2^32 − 1 bytes", keyed("string", b"k", "raw", b"v", val_len=MAX32), "bad-length", also=("truncated", "length-past-end", "limit-exceeded", "negative-length"), twin="text/raw-key", doc="iggy.md §2.4", flags=["resource"], limits={"ms": 1000, "rss_mb": 512}, why=LENGTH_WHY, rules=("iggy.headers.value-length",))
    long = keyed_value(("string", b"k", "raw", b"v" * 256))
    CaseBuilder(writer, "iggy.headers", "0.9").refuses("states/value-256-written", "A value of 256 bytes, to write", {"headers": long}, twin="states/wide-written", doc="iggy.md §2.4", why="Every reader refuses it.", rules=("iggy.headers.encode",), also=("bad-length", "limit-exceeded"))
    CaseBuilder(writer, "iggy.reply", "0.0.30").writes("states/body-of-one-byte-written", "A body of one byte, written", {"status": "0", "body": "61"}, u32(0) + u32(1) + b"a", doc="iggy.md §2.1", why="Its length counts the byte, whatever a client makes of it.", rules=("iggy.reply.classic.layout",))
    data = little(256, 4) + states.confirmed(DISTINCT)[0][4:]
    answers = {"refused": {"reject": {"class": "truncated", "also": ["count-mismatch", "length-past-end", "trailing-data"]}}, "none": {"accept": {"value": {"confirmations": []}}}}
    CaseBuilder(writer, "iggy.reply", "0.11").either("states/count-256", "One confirmation, 256 counted", data, answers, doc="iggy.md §6 [RUN-R11]", why="Rust takes it for none, as a committed send must not be sent again; Java throws.", rules=("iggy.reply.confirmations.torn",))
