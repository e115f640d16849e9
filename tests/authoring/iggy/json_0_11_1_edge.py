"""The JSON bodies of 0.11.1-edge, whose polls and sends have a context, at its readers and at those before: iggy.md §8."""

# fmt: off

from typing import Any

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.iggy.batches_0_11_1_edge import ProvisionalCases
from tests.authoring.iggy.case_builder import CaseBuilder
from tests.authoring.iggy.headers_from_0_9 import KEY1, OPAQUE, block, keyed_value
from tests.authoring.iggy.json_send import PID7, PID7_VALUE
from tests.authoring.iggy.message_bytes import HELLO, b64, text

SEND, POLL = "iggy.md §8.1", "iggy.md §8.2"
CONTEXT = {"incarnation": 7, "owner_generation": 3, "metadata_op": 11}
SHOWN = {name: str(number) for name, number in CONTEXT.items()}
NONE = (1 << 32) - 2
RESYNC = (1 << 32) - 1


def write(writer: FixtureWriter) -> None:
    sends, polls = (ProvisionalCases(writer, form) for form in ("iggy.json.send", "iggy.json.poll"))
    _sends(sends)
    _polls(polls)
    _at_0_11(CaseBuilder(writer, "iggy.json.send", "0.10"), CaseBuilder(writer, "iggy.json.poll", "0.10"))


def _send(**more: Any) -> bytes:
    return text({"partitioning": PID7, "messages": [{"id": 1, "payload": b64(HELLO), **more.pop("message", {})}], **more})


def _sent(context: Any = None, headers: Any = ()) -> dict[str, Any]:
    row = {"id": "1", "headers": list(headers) if isinstance(headers, tuple | list) else headers, "payload": HELLO.hex()}
    return {"partitioning": PID7_VALUE, "messages": [row], "context": context}


def _sends(s: CaseBuilder) -> None:
    rule = ("iggy.json.send.context", "iggy.json.send.shape")
    one = "context/send"
    s.accepts(one, "A send for the partition that the sender knows", _send(context=CONTEXT), _sent(SHOWN), doc=SEND, rules=rule, why="Sent again, it must not land in another life of the partition.")
    s.accepts("context/absent", "Without a context", _send(), _sent(), doc=SEND, rules=rule, why="The partition as it is when the send arrives.")
    s.accepts("context/null", "A context of null", _send(context=None), _sent(), doc=SEND, rules=rule, why="null is none.")
    s.accepts("context/unknown-member", "A member of the context that nobody knows", _send(context={**CONTEXT, "epoch": 1}), _sent(SHOWN), doc=SEND, remarks=("iggy-json-unknown-field",), rules=rule, why="The next pre-release may add one.")
    first = _send(context=CONTEXT)
    _faults(s, one, first, SEND, "iggy.json.send.context")
    s.rejects("context/twice", "Two contexts", first[:-1] + b',"context":null}', "duplicate-field", at=len(first) , also=("bad-json",), twin=one, doc=SEND, rules=("iggy.json.send.context",), why="Two readers may take another one each.")
    s.accepts("headers/packed", "A base64 text of a block that is a map", _send(message={"user_headers": b64(block(KEY1))}), _sent(headers=keyed_value(KEY1)), doc=SEND, rules=("iggy.json.headers.packed",), why="As in 0.10.")
    s.writes("encode/context", "A send for the partition that the sender knows", _sent(SHOWN), doc=SEND, rules=rule, why="Without it the send lands in another life of the partition.")
    s.writes("encode/no-context", "A send without a context", _sent(), doc=SEND, rules=rule, why="Written as null or as nothing; servers before it refuse the member.")


def _faults(s: CaseBuilder, twin: str, data: bytes, doc: str, rule: str) -> None:
    """A context without one of its members, of another type, and with a number that does not fit."""
    at = data.index(b'"context":') + 10
    for name, number in CONTEXT.items():
        lean = data.replace(b'"%s":%d' % (name.encode(), number), b"").replace(b"{,", b"{").replace(b",,", b",").replace(b",}", b"}")
        s.rejects(f"context/no-{name.replace('_', '-')}", f"A context without {name}", lean, "missing-field", at=at, also=("bad-json", "type-mismatch"), twin=twin, doc=doc, rules=(rule,), why="0 is another one.")
    whole = text(CONTEXT)
    said = data.replace(whole, text(whole.decode()))
    s.rejects("context/text", "The context as a text", said, "type-mismatch", at=at, also=("bad-json",), twin=twin, doc=doc, rules=(rule,), why="So it stands in the query of a poll alone.")
    for label, number in (("minus-1", -1),) if doc == POLL else (("65-bits", 1 << 64),):
        where = at + len(b'{"incarnation":')
        s.rejects(f"context/incarnation-{label}", f"An incarnation of {number}", data.replace(b'"incarnation":7', b'"incarnation":%d' % number), "type-mismatch" if number < 0 else "invalid-value", at=where, also=("type-mismatch", "invalid-value", "bad-json", "limit-exceeded"), twin=twin, doc=doc, rules=(rule,), why="Wrapped around, it is another life of the partition.")


def _page(*rows: Any, context: Any = CONTEXT, partition: int = 1, **more: Any) -> bytes:
    return text({"context": context, "partition_id": partition, "current_offset": 5, "count": len(rows), "messages": list(rows)} | more)


def _row(payload: bytes = HELLO, **more: Any) -> dict[str, Any]:
    header = {"checksum": 7, "id": 1, "offset": 4, "timestamp": 8, "origin_timestamp": 9, "user_headers_length": 0, "payload_length": len(payload), "reserved": 0}
    return {"header": header, "payload": b64(payload), "user_headers": [], **more}


def _polled(*rows: Any, context: Any = SHOWN, partition: int = 1) -> dict[str, Any]:
    return {"context": context, "partition_id": str(partition), "current_offset": "5", "messages": list(rows)}


def _told(payload: bytes = HELLO, headers: Any = ()) -> dict[str, Any]:
    return {"checksum": "7", "id": "1", "offset": "4", "timestamp": "8", "origin_timestamp": "9", "headers": list(headers) if isinstance(headers, tuple | list) else headers, "payload": payload.hex()}


def _polls(s: CaseBuilder) -> None:
    rule, shape = ("iggy.json.poll.context", "iggy.json.poll.headed.shape"), ("iggy.json.poll.headed.shape",)
    one = "context/poll"
    s.accepts(one, "A message, and the partition that it comes from", _page(_row()), _polled(_told()), doc=POLL, rules=rule, why="The next poll names it, so that it does not go on in another partition of the same number.")
    s.accepts("context/none", "No messages", _page(), _polled(), doc=POLL, rules=rule, why="A consumer that is up to date goes on from the same place.")
    _faults(s, one, _page(_row()), POLL, "iggy.json.poll.context")
    s.rejects("context/null", "A context of null", _page(_row(), context=None), "type-mismatch", at=len(b'{"context":'), also=("bad-json", "missing-field"), twin=one, doc=POLL, rules=("iggy.json.poll.context",), why="In a poll it is no option.")
    for label, partition in (("resync", RESYNC), ("unassigned", NONE)):
        zero = dict.fromkeys(CONTEXT, 0)
        s.accepts(f"sentinels/{label}", f"No messages, and the partition {partition}", _page(partition=partition, context=zero), _polled(partition=partition, context=dict.fromkeys(CONTEXT, "0")), doc=POLL, rules=("iggy.poll.batch.resync", *shape), why="No error: a member asks for its partitions again." if label == "resync" else "What Go and Swift fill in for a member without partitions.")
    old = _page(_row())
    old = b"{" + old[old.index(b'"partition_id"') :]
    s.rejects("editions/0-11", "A response of 0.11.0, without a context", old, "missing-field", at=0, also=("bad-json", "type-mismatch"), twin=one, doc=POLL, rules=("iggy.json.poll.context",), why="The client of the pre-release cannot read the server of the release.")
    for label, number in (("0", 0), ("greatest", RESYNC)):
        data = _page(_row(), count=number)
        s.rejects(f"messages/count-{label}", f"A message, and a count of {number}", data, "count-mismatch", at=data.index(b'"count":') + 8, also=("invalid-value", "limit-exceeded"), twin=one, doc=POLL, rules=("iggy.json.poll.count",), why="A message is missing, or one was not to be there.")
    s.accepts("messages/empty-payload", "An empty payload", _page(_row(b"")), _polled(_told(b"")), doc=POLL, rules=shape, why="Delivered as in the binary form.")
    s.accepts("headers/encrypted", "An encrypted block", _page(_row(user_headers=b64(OPAQUE))).replace(b'"user_headers_length":0', b'"user_headers_length":%d' % len(OPAQUE)), _polled(_told(HELLO, OPAQUE.hex())), doc=POLL, remarks=("iggy-opaque-headers",), rules=("iggy.json.poll.headed.forms",), why="As in 0.10.")
    s.writes("encode/none", "No messages", _polled(), doc=POLL, rules=rule, why="An empty array, and no null.")
    s.writes("encode/empty-payload", "An empty payload", _polled(_told(b"")), doc=POLL, rules=rule, why="An empty text, and no null.")


def _at_0_11(sends: CaseBuilder, polls: CaseBuilder) -> None:
    """A body with a context at readers of 0.10 and 0.11.0."""
    data = _send(context=CONTEXT)
    plain = {key: part for key, part in _sent().items() if key != "context"}
    refused = {"reject": {"class": "unknown-field", "also": ["bad-json", "type-mismatch"]}}
    sends.either("editions/0-11-1-edge", "A send with a context", data, {"ignored": {"accept": {"value": plain, "remarks": ["iggy-json-unknown-field"]}}, "refused": refused}, doc=SEND, rules=("iggy.json.fields",), why="The server of 0.11.0 refuses the member; taken without it, the send has lost its fence.")
    value = {key: part for key, part in _polled(_told()).items() if key != "context"}
    polls.accepts("editions/0-11-1-edge", "A response with a context", _page(_row()), value, doc=POLL, remarks=("iggy-json-unknown-field",), rules=("iggy.json.poll.fields",), why="The client of 0.11.0 reads the server of the pre-release.")
