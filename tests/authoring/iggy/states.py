"""Edge values of every number of Iggy's binary formats, read and written, and pairs of the parts of a message.

The forms are data: the layouts of `state_bytes`, the rows of `_numbers`, and what a format does not allow.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from itertools import count as counted
from typing import Any

from attrs import field, frozen

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.iggy import state_bytes as wire
from tests.authoring.iggy.batches_0_11_1_edge import REVISION as EDGE
from tests.authoring.iggy.batches_0_11_1_edge import ProvisionalCases
from tests.authoring.iggy.case_builder import CaseBuilder
from tests.authoring.iggy.state_bytes import Layout, Made, Row, little, packed

NAME = "Ünï Code 漢字".encode()
"""A name with upper case, a space, and bytes above 127."""
LONG_NAME = ("Ab é漢🐱 " * 19 + "Zz Zz Zz").encode()
"""A name of 255 bytes with all of them."""
KEY = bytes(range(1, 256))
"""A key of a partitioning with every byte but 0."""
LONG = bytes(range(256)) + b"end"
"""A payload whose length has two bytes."""
GREATEST_CRC = b"\xff" * 4
"""A payload whose CRC-32 is 2^32 − 1; that of an empty payload is 0."""

DISTINCT = "every-byte-differs"

NUMBER = ("numeric", bytes.fromhex("84838281"))
WHY = {
    DISTINCT: "A codec that keeps half of a number, or swaps two fields, gives another value.",
    "greatest": "A sign, or a type that is too narrow, gives another number. A length of 255 is no length of seven bits.",
    "pairs": "What one message has not must not be taken from the one before it.",
    "least": "A zero is a number, and no missing one.",
}
TITLES = {
    DISTINCT: "Every byte of every number differs; names have upper case, a space and bytes above 127",
    "greatest": "Every number is its greatest; names have 255 bytes",
    "pairs": "Messages in which any two values of two parts meet",
    "least": "Every number is its least; names have one byte",
}


def _numbers(fields: Layout, state: str, after: int = 0) -> dict[str, int]:
    """Return the number of each field in a state. Those whose bytes differ go on after so many others."""
    places = counted(after)
    found = {}
    for path, kind in fields:
        if kind in wire.NUMBERS:
            size, at = wire.NUMBERS[kind], next(places)
            first = 1 + 16 * (at % 8) + 8 * (at // 8 % 2)
            different = int.from_bytes(range(first, first + size), "big")
            found[path] = {DISTINCT: different, "greatest": (1 << 8 * size) - 1}.get(state, 0)
    return found


def _names(fields: Layout, state: str) -> dict[str, Any]:
    """Return the name, or the key, of each field in a state."""
    rows: dict[str, dict[str, Any]] = {
        DISTINCT: {"stream": NUMBER, "topic": ("string", NAME), "consumer.id": ("string", NAME)},
        "greatest": dict.fromkeys(("stream", "topic", "consumer.id"), ("string", LONG_NAME)),
    }
    names = rows.get(
        state, {"stream": ("string", b"S"), "topic": ("string", b"t"), "consumer.id": ("string", b"C")}
    )
    keys = {
        DISTINCT: ("partition_id", NUMBER[1]),
        "greatest": ("messages_key", KEY),
    }
    found = {path: names[path] for path, kind in fields if kind == "id"}
    return found | {path: keys.get(state, ("messages_key", b"k")) for path, kind in fields if kind == "key"}


@frozen
class Form:
    """A format and revision with messages.

    Attributes:
        name, revision, doc, rules: of its cases.
        top: the fields before the messages.
        message: the fields of a message.
        made: puts the rows of both together.
        most: the greatest number of a field, where it is not that of its type.
        is_filled: whether no payload is empty.
    """

    name: str
    revision: str
    doc: str
    rules: tuple[str, ...]
    top: Layout
    message: Layout
    made: Callable[[Row, Sequence[Row]], Made]
    most: Mapping[str, int] = field(factory=dict)
    is_filled: bool = False

    @property
    def is_keyed(self) -> bool:
        return ("headers", "keyed") in self.message

    def cases(self, writer: FixtureWriter) -> CaseBuilder:
        builder = ProvisionalCases if self.revision == EDGE else CaseBuilder
        return builder(writer, self.name, self.revision)

    def headers(self, *rows: tuple[bytes, str, bytes]) -> tuple[Any, ...]:
        return tuple(("string", *row) for row in rows) if self.is_keyed else rows

    def filled(self, state: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the row of the top and of a message in a state."""
        top: dict[str, Any] = _numbers(self.top, state) | _names(self.top, state)
        message: dict[str, Any] = _numbers(self.message, state, len(_numbers(self.top, state)))
        one = {
            DISTINCT: (b"Payload", self.headers((b"key", "uint64", little(0x0102030405060708, 8)))),
            "greatest": (LONG, self.headers((b"k" * 255, "raw", KEY))),
        }.get(state, (b"p", ()))
        message |= {"payload": one[0], "headers": one[1]}
        if state == "greatest":
            top |= {path: most for path, most in self.most.items() if path in top}
            message |= {path: most for path, most in self.most.items() if path in message}
        return top, message

    def pairs(self) -> list[dict[str, Any]]:
        """Return messages in which any two values of two parts meet, in the order of their offsets."""
        states = ("least", "greatest", DISTINCT)
        numbers = {
            path: [self.filled(state)[1][path] for state in states]
            for path, kind in self.message
            if kind in wire.NUMBERS
        }
        has_crc = ("checksum", "crc") in self.message
        payloads = [*([] if self.is_filled else [b""]), b"p", LONG, *([GREATEST_CRC] if has_crc else [])]
        headers = [(), self.headers((b"k", "bool", b"\1")), self.headers((b"k" * 255, "raw", KEY))]
        rows = covering({**numbers, "payload": payloads, "headers": headers})
        return sorted(rows, key=lambda row: row.get("offset", 0))


LOG_RULES = {
    "0.0.30": "iggy.log.layout",
    "0.0.40": "iggy.log.polled-layout",
    "0.2.7": "iggy.log.retained.layout",
}


def forms() -> Iterator[Form]:
    """Yield every format and revision whose messages have their own numbers."""
    for revision, section in (("0.0.30", "§3.1"), ("0.7", "§5"), ("0.8", "§5"), ("0.9", "§5")):
        rules = ("iggy.send.layout",) if revision == "0.0.30" else ("iggy.send.headed.layout",)
        made = _plain_send if revision == "0.0.30" else _indexed_send
        fields = wire.SENT[revision]
        yield Form("iggy.send", revision, f"iggy.md {section}", (*rules, "iggy.send.id"), wire.DESTINATION, fields, partial(made, fields), is_filled=True)  # fmt: skip
    for revision, fields in wire.POLLED.items():
        rule = "iggy.poll.layout" if revision in ("0.0.30", "0.0.40", "0.0.60") else "iggy.poll.headed.layout"
        section = "§3.3" if rule == "iggy.poll.layout" else "§5"
        top = wire.PREFIXES[revision]
        yield Form(
            "iggy.poll", revision, f"iggy.md {section}", (rule,), top, fields, partial(_poll, top, fields)
        )
    for revision, fields in wire.STORED.items():
        rule = LOG_RULES.get(revision, "iggy.log.headed.layout")
        top, put = (wire.RETAINED, _retained) if revision == "0.2.7" else ((), _records)
        yield Form("iggy.log", revision, "iggy.md §7", (rule,), top, fields, partial(put, fields))


def write(writer: FixtureWriter) -> None:
    """Add the cases."""
    for form in forms():
        s = form.cases(writer)
        for state in (DISTINCT, "greatest") if _numbers(form.top, "least") or form.is_filled else FILLED[:1]:
            top, message = form.filled(state)
            _both(s, form, state, form.made(top, [message]))
        top, rows = form.filled("least")[0], form.pairs()
        _both(s, form, "pairs", form.made(top, rows), _remarks(form))
    for single in singles():
        s = single.cases(writer)
        for state, made in single.states.items():
            _both(s, single, state, made)
    for revision, layouts in wire.VSR.items():
        for command in layouts if revision == "0.11" else (5, 8):  # an eviction stayed as it was
            _frame(writer, revision, command)


COMMANDS = {5: "request", 8: "reply", 13: "eviction"}


def _frame(writer: FixtureWriter, revision: str, command: int) -> None:
    """Add the frames of a command."""
    rule = "iggy.frame.vsr.layout" if revision == "0.11" else "iggy.frame.context.layout"
    s = (ProvisionalCases if revision == EDGE else CaseBuilder)(writer, "iggy.frame", revision)
    doc = "iggy.md §2.1" if revision == "0.11" else "iggy.md §6.1"
    for state in FILLED:
        title = f"A frame of command {command}. {TITLES[state]}"
        data, value = vsr(revision, command, state)
        more: dict[str, Any] = {"doc": doc, "why": WHY[state], "rules": (rule,)}
        s.accepts(f"states/{COMMANDS[command]}-{state}", title, data, value, **more)
        s.writes(f"states/{COMMANDS[command]}-{state}-written", f"{title}, written", value, data, **more)


def _remarks(form: Form) -> tuple[str, ...]:
    """Return the remarks on the pairs: on an empty payload, up to 0.6."""
    early = ("payload_len", "len:payload") in form.message or ("length", "size") in form.message
    return ("iggy-empty-payload",) if early and not form.is_filled else ()


def _both(
    s: CaseBuilder, form: "Form | Single", state: str, made: Made, remarks: tuple[str, ...] = ()
) -> None:
    data, value = made
    more: dict[str, Any] = {"doc": form.doc, "why": WHY[state], "rules": form.rules}
    s.accepts(f"states/{state}", TITLES[state], data, value, remarks=remarks, **more)
    s.writes(f"states/{state}-written", f"{TITLES[state]}, written", value, data, **more)


# --- bodies with messages ---


def _plain_send(fields: Layout, top: Row, rows: Sequence[Row]) -> Made:
    data = packed(wire.DESTINATION, top) + b"".join(packed(fields, row) for row in rows)
    return data, wire.shown(wire.DESTINATION, top) | {"messages": [wire.shown(fields, row) for row in rows]}


def metadata(top: Row, count: int) -> bytes:
    """Return the length of the destination and the count, and both."""
    inside = packed(wire.DESTINATION, top) + little(top.get("messages_count", count), 4)
    return little(top.get("metadata_length", len(inside)), 4) + inside


def _indexed_send(fields: Layout, top: Row, rows: Sequence[Row]) -> Made:
    data = [packed(fields, row) for row in rows]
    ends = [sum(map(len, data[: at + 1])) for at in range(len(data))]
    index = [
        little(row.get("index.offset", 0), 4) + little(row.get("index.position", end), 4) + little(row.get("index.timestamp", 0), 8)
        for row, end in zip(rows, ends, strict=True)
    ]  # fmt: skip
    value = wire.shown(wire.DESTINATION, top) | {"messages": [wire.shown(fields, row) for row in rows]}
    return metadata(top, len(rows)) + b"".join((*index, *data)), value


def _poll(top_fields: Layout, fields: Layout, top: Row, rows: Sequence[Row]) -> Made:
    data = packed(top_fields, {"count": len(rows), **top}) + b"".join(packed(fields, row) for row in rows)
    return data, wire.shown(top_fields, top) | {"messages": [wire.shown(fields, row) for row in rows]}


def _records(fields: Layout, _: Row, rows: Sequence[Row]) -> Made:
    return b"".join(packed(fields, row) for row in rows), {
        "messages": [wire.shown(fields, row) for row in rows]
    }


def _retained(fields: Layout, top: Row, rows: Sequence[Row]) -> Made:
    data = b"".join(packed(fields, row) for row in rows)
    value = wire.shown(wire.RETAINED, top) | {"messages": [wire.shown(fields, row) for row in rows]}
    return packed(wire.RETAINED, {"length": len(data), **top}) + data, {"batches": [value]}


# --- bodies with batches ---


@frozen
class Single:
    """A format and revision with the bytes and the value of each of its states."""

    name: str
    revision: str
    doc: str
    rules: tuple[str, ...]
    states: Mapping[str, Made]

    def cases(self, writer: FixtureWriter) -> CaseBuilder:
        builder = ProvisionalCases if self.revision == EDGE else CaseBuilder
        return builder(writer, self.name, self.revision)


MOST = {
    "producer.producer_id": (1 << 63) - 1,
    "producer.epoch": (1 << 15) - 1,
    "producer.base_sequence": (1 << 31) - 1,
}
BATCHED = (DISTINCT, "greatest", "pairs")


@frozen
class Batched:
    """The rows of a body with one batch in a state: the top, the header of the batch, and the frames."""

    top: dict[str, Any]
    head: dict[str, Any]
    frames: Sequence[dict[str, Any]]


def batched(revision: str, top: Layout, state: str, *, is_sent: bool = False) -> Batched:
    """Return the rows of a state. Sums of a base and a delta stay within 64 bits."""
    state = "least" if state == "pairs" else state
    before = _numbers(top, state)
    head = _numbers(wire.BATCHES[revision], state, len(before))
    if is_sent:
        head |= dict.fromkeys(("partition_id", "base_offset", "base_timestamp"), 0)
    form = Form("", revision, "", (), top, wire.FRAME, _no_body, most=MOST, is_filled=is_sent)
    frame = form.filled(state)[1] | _numbers(
        wire.FRAME, state, len(before) + len(_numbers(wire.BATCHES[revision], state))
    )
    rows = [frame]
    if state == "greatest":
        head |= {path: most for path, most in MOST.items() if path in head}
        rows = [frame | {"offset_delta": 0, "timestamp_delta": 0}]
    elif state == "least":
        rows = sorted(form.pairs(), key=lambda row: row["offset_delta"])
    if is_sent and state != "greatest":
        rows = _as_sent(rows)
    return Batched(before | _names(top, state), head, rows)


def _as_sent(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return frames as a producer makes them: an id, offsets from 0, and one message as old as the batch."""
    first = {**rows[0], "timestamp_delta": 0, "id": rows[0]["id"] or 7}
    rest = [{**row, "id": row["id"] or 7} for row in rows[len(rows) > 1 :]]
    return [{**row, "offset_delta": at} for at, row in enumerate((first, *rest))]


def _no_body(_: Row, __: Sequence[Row]) -> Made:
    raise NotImplementedError  # frames stand in a batch, which `batched_send` and its like make of them


def batched_send(revision: str, rows: Batched) -> Made:
    data = wire.batch(revision, rows.head, [packed(wire.FRAME, row) for row in rows.frames])
    shown = [wire.frame_shown(rows.head, row) for row in rows.frames]
    names = ("id", "origin_timestamp", "headers", "payload")
    value = wire.shown(wire.DESTINATION, rows.top) | {
        "messages": [{name: row[name] for name in names} for row in shown]
    }
    if revision == EDGE:
        value["producer"] = wire.batch_shown(revision, rows.head, data)["producer"]
    return metadata(rows.top, len(rows.frames)) + data, value


def batched_poll(revision: str, rows: Sequence[Batched]) -> Made:
    """Return a response with the top of the first rows, and the batches of all."""
    data = [wire.batch(revision, one.head, [packed(wire.FRAME, row) for row in one.frames]) for one in rows]
    heads = [wire.batch_shown(revision, one.head, part) for one, part in zip(rows, data, strict=True)]
    messages = [wire.frame_shown(one.head, row) for one in rows for row in one.frames]
    top = {"count": len(messages), **rows[0].top}
    fields = wire.PREFIXES[revision]
    value = wire.shown(fields, top) | {"batches": heads, "messages": messages}
    return packed(fields, top) + b"".join(data), value


def batched_log(revision: str, rows: Batched) -> Made:
    data = wire.batch(revision, rows.head, [packed(wire.FRAME, row) for row in rows.frames])
    head = wire.batch_shown(revision, rows.head, data)
    del head["message_count"]
    return data, {"batches": [head | {"messages": [wire.frame_shown(rows.head, row) for row in rows.frames]}]}


def fetched(sections: Sequence[Batched]) -> Made:
    table, data, values = b"", b"", []
    for one in sections:
        made, value = batched_poll(EDGE, [one]) if one.frames else (b"", {"batches": [], "messages": []})
        records = made[40:]
        table += packed(
            wire.SECTION, {"messages_count": len(one.frames), "records_len": len(records), **one.top}
        )
        data += records
        values.append(
            wire.shown(wire.SECTION, one.top) | {name: value[name] for name in ("batches", "messages")}
        )
    return little(len(sections), 4) + table + data, {"sections": values}


def _sections(state: str) -> Made:
    """Return a section with a batch, and one that failed, whose status is in the state."""
    rows = batched(EDGE, wire.SECTION, state)
    failed = Batched(rows.top, {}, [])
    read = Batched({**rows.top, "status": 0}, rows.head, rows.frames)
    return fetched([read, failed] if state != "pairs" else [read])


# --- requests, frames and replies ---

SECOND = 1_000_000
LIMITS: Mapping[str, Mapping[str, int]] = {
    DISTINCT: {
        "wait_us": 0x01020304,
        "request_timeout_us": 0x11121314,
        "min_count": 0x61626364,
        "count": 0x71727374,
    },
    "greatest": {"wait_us": 600 * SECOND, "request_timeout_us": 630 * SECOND},
    "least": {"request_timeout_us": SECOND, "min_count": 1, "count": 1, "max_bytes": 344},
}
"""Numbers of requests that their limits change: iggy.md §6.2. A count is never 0."""
KINDS = {
    DISTINCT: {"consumer.kind": "group", "strategy.kind": "timestamp", "auto_commit": True},
    "greatest": {"consumer.kind": "consumer", "strategy.kind": "offset", "auto_commit": True},
    "least": {"consumer.kind": "consumer", "strategy.kind": "next", "auto_commit": False},
}
FILLED = (DISTINCT, "greatest", "least")


def asked(fields: Layout, state: str) -> dict[str, Any]:
    """Return the row of a request in a state."""
    paths = {path for path, _ in fields}
    row = _numbers(fields, state) | _names(fields, state) | KINDS[state]
    row |= {path: number for path, number in LIMITS[state].items() if path in paths}
    if state == "least":
        row["stream"] = ("numeric", little(1, 4))  # servers to 0.9 refuse a body of less than 29 or 30 bytes
    if state == "least" and "partition_flag" in paths:
        row["partition_id"] = None
    return row


def _asked(fields: Layout, state: str) -> Made:
    row = asked(fields, state)
    return packed(fields, row), wire.shown(fields, row)


def fetch_rows(state: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the row of a request of code 109 and of its target in a state."""
    row = asked(wire.FETCH_REQUEST, state)
    target = _numbers(wire.TARGET, state, 5) | {"strategy.kind": "next" if state == "least" else "offset"}
    target["max_bytes"] = {"greatest": (1 << 32) - 1, "least": 344}.get(state, 0x31323334)
    return row | {"targets_count": 1}, target


def fetch_request(row: Row, *targets: Row) -> Made:
    data = packed(wire.FETCH_REQUEST, row) + b"".join(packed(wire.TARGET, one) for one in targets)
    return data, wire.shown(wire.FETCH_REQUEST, row) | {
        "targets": [wire.shown(wire.TARGET, one) for one in targets]
    }


def vsr(revision: str, command: int, state: str, **odd: Any) -> Made:
    """Return a frame in a state."""
    fields = wire.VSR[revision][command]
    row: dict[str, Any] = _numbers(fields, state)
    fixed: dict[str, Any] = {
        5: {"operation": 160, "request_checksum": 0, "client": row["client"] or 1},
        8: {"operation": 0 if state == "least" else 160},
        13: {"reason": 14, "client": row["client"] or 1},
    }[command]
    if command == 5 and revision == EDGE and state != "least":
        fixed |= {"operation": 150, "request_checksum": row["request_checksum"]}
    if command == 5 and state == "least":
        fixed["operation"] = 2
    row |= fixed | {"command": command, "body": LONG if state == DISTINCT and command == 5 else b""} | odd
    row["size"] = row.get("size", 256 + len(row["body"]))
    header = wire.shown(fields, row)
    body = header.pop("body", "")
    return packed(fields, row), {"header": header, "body": body}


def confirmed(*states: str) -> Made:
    rows = [_numbers(wire.CONFIRMATION, state) for state in states]
    data = little(len(rows), 4) + b"".join(packed(wire.CONFIRMATION, row) for row in rows)
    return data, {"confirmations": [wire.shown(wire.CONFIRMATION, row) for row in rows]}


def _flat(fields: Layout, body: bytes, state: str) -> Made:
    row = _numbers(fields, state) | {"body": body}
    return packed(fields, row), wire.shown(fields, row)


def singles() -> Iterator[Single]:
    """Yield the other formats and revisions."""
    for revision, made in (("0.11", "batch"), (EDGE, "producer")):
        doc = "iggy.md §6" if revision == "0.11" else "iggy.md §6.1"
        sent = {
            state: batched_send(revision, batched(revision, wire.DESTINATION, state, is_sent=True))
            for state in BATCHED
        }
        yield Single(
            "iggy.send",
            revision,
            doc,
            (f"iggy.send.{made}.layout", "iggy.send.batch.id", "iggy.send.batch.origin"),
            sent,
        )
        polled = {
            state: batched_poll(revision, [batched(revision, wire.PREFIXES[revision], state)])
            for state in BATCHED
        }
        yield Single(
            "iggy.poll", revision, doc, (f"iggy.poll.{made}.layout", "iggy.poll.batch.offsets"), polled
        )
        logged = {state: batched_log(revision, batched(revision, (), state)) for state in BATCHED}
        yield Single("iggy.log", revision, f"{doc}, §7", (f"iggy.log.{made}.layout",), logged)
    fetched = {state: _sections(state) for state in BATCHED}
    yield Single(
        "iggy.fetch",
        EDGE,
        "iggy.md §6.2",
        ("iggy.fetch.layout", "iggy.fetch.records", "iggy.fetch.status"),
        fetched,
    )
    sections = {"0.0.30": "§3.2", "0.0.92": "§4", "0.8": "§5", "0.10": "§5", EDGE: "§6.1"}
    for revision, section in sections.items():
        requests = {state: _asked(wire.REQUESTS[revision], state) for state in FILLED}
        yield Single(
            "iggy.poll-request",
            revision,
            f"iggy.md {section}",
            ("iggy.poll-request.layout", "iggy.poll-request.place"),
            requests,
        )
    deferred = {state: _asked(wire.DEFERRED, state) for state in FILLED}
    yield Single(
        "iggy.deferred-poll-request", EDGE, "iggy.md §6.2", ("iggy.deferred-poll-request.layout",), deferred
    )
    wanted = {state: fetch_request(*fetch_rows(state)) for state in FILLED}
    yield Single(
        "iggy.fetch-request",
        EDGE,
        "iggy.md §6.2",
        ("iggy.fetch-request.layout", "iggy.fetch-request.targets"),
        wanted,
    )
    classic = {
        state: _flat(wire.CLASSIC_FRAME, LONG if state == "greatest" else b"", state) for state in FILLED
    }
    yield Single("iggy.frame", "0.0.30", "iggy.md §2.1", ("iggy.frame.classic.layout",), classic)
    replies = {
        state: _flat(wire.CLASSIC_REPLY, LONG if state == "greatest" else b"", state) for state in FILLED
    }
    yield Single("iggy.reply", "0.0.30", "iggy.md §2.1", ("iggy.reply.classic.layout",), replies)
    confirmations = {state: confirmed(state) for state in FILLED}
    yield Single("iggy.reply", "0.11", "iggy.md §6", ("iggy.reply.confirmations.layout",), confirmations)


# --- pairs: the rows of these cases are those of this function ---

Choice = tuple[str, int]
"""A factor, and the place of one of its values."""


def covering(factors: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return rows, each with a value for every factor, so that any two values of two factors share a row."""
    open_pairs = {
        frozenset(((one, first), (other, second)))
        for one, other in combinations(factors, 2)
        for first in range(len(factors[one]))
        for second in range(len(factors[other]))
    }
    rows: list[dict[str, Any]] = []
    while open_pairs:
        row = dict(min(tuple(sorted(pair)) for pair in open_pairs))
        for name in factors:
            if name not in row:
                row[name] = _best(name, len(factors[name]), row, open_pairs)
        open_pairs -= {frozenset(pair) for pair in combinations(row.items(), 2)}
        rows.append({name: factors[name][row[name]] for name in factors})
    return rows


def _best(name: str, size: int, row: Mapping[str, int], open_pairs: set[frozenset[Choice]]) -> int:
    """Return the value of a factor that closes the most pairs with what a row has; the first of equals."""

    def closed(value: int) -> int:
        return sum(frozenset(((name, value), choice)) in open_pairs for choice in row.items())

    return max(range(size), key=closed)
