"""The edge values of each number of the JSON bodies, to read and to write, and numbers that are none: iggy.md §8.

No code of the codec.
"""

# fmt: off

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import frozen

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.iggy.batches_0_11_1_edge import ProvisionalCases
from tests.authoring.iggy.case_builder import CaseBuilder
from tests.authoring.iggy.message_bytes import HELLO, b64, kind_value, text, u32, unhex

EDGE = "0.11.1-edge"
CONTEXT = ("incarnation", "owner_generation", "metadata_op")
CONTEXT_BITS = {f"context.{name}": 64 for name in CONTEXT}

Numbers = Mapping[str, int]
ALL = ("every-byte-differs", "greatest", "zero")
TWIN = "states/every-byte-differs"


@frozen(kw_only=True)
class Body:
    """A body of one message, reply or error, by the numbers in it.

    Attributes:
        form, revision: its format.
        bits: the bits of each number that its value has, by name; one of the context is `context.<name>`.
        unsaid: the bits of each number that its value does not have: what arrays and texts tell.
        tree, value: the JSON tree and the value with these numbers.
        rules, lengths, encode, doc: what decides its cases: numbers, those unsaid, refused values.
        read, written: the states that have no other case.
        wrong: the numbers that are given as a text, a fraction, true or null, with the first of these kinds.
        beyond: the numbers that a value to write has beyond their bits.
    """

    form: str
    revision: str
    bits: Mapping[str, int]
    unsaid: Mapping[str, int] = {}
    tree: Callable[[Numbers], Any]
    value: Callable[[Numbers], Any]
    rules: tuple[str, ...]
    lengths: tuple[str, ...] = ()
    encode: str = "iggy.json.encode"
    doc: str = "iggy.md §8.2"
    read: Sequence[str] = ALL
    written: Sequence[str] = ALL
    wrong: Sequence[str] = ()
    first: int = 0
    beyond: Sequence[str] = ()


def counted(bits: Mapping[str, int]) -> dict[str, int]:
    """Return numbers in which no byte is 0 and none is there twice, each with other bytes."""
    firsts = range(0x11, 0x100, 0x10)
    return {name: int.from_bytes(range(first, first + size // 8), "big") for first, (name, size) in zip(firsts, bits.items(), strict=False)}


STATES: dict[str, tuple[str, str, Callable[[Mapping[str, int]], dict[str, int]]]] = {
    "every-byte-differs": ("Numbers of bytes that all differ", "Half of a number is another one, and so is that of another field.", counted),
    "greatest": ("Each number is the greatest of its width", "With a sign it is −1, as a double it is another.", lambda bits: {name: (1 << size) - 1 for name, size in bits.items()}),
    "zero": ("Each number is 0", "0 is a number, and not an absent one.", lambda bits: dict.fromkeys(bits, 0)),
}
"""The title, what breaks, and the numbers of a state."""

WRONG = (("text", '"{}"'), ("fraction", "{}.0"), ("true", "true"), ("null", "null"))


# --- polls ---


def _context(numbers: Numbers) -> dict[str, int]:
    return {name: numbers[f"context.{name}"] for name in CONTEXT}


def _shown(numbers: Numbers) -> dict[str, str]:
    return {name: str(number) for name, number in numbers.items()}


PAYLOADS = {0: "9d0ad96d", 0x11121314: "435aa459", 0xFFFFFFFF: "ffffffff"}
"""A payload by its CRC-32, which a writer computes to 0.6."""


def _old_poll(revision: str, beyond: Sequence[str], first: int) -> Body:
    """A poll to 0.6.x."""
    checked, headed = revision != "0.0.30", revision == "0.0.60"
    bits = {**({"checksum": 32} if checked else {}), "offset": 64, "timestamp": 64, "id": 128}
    prefix = {"partition_id": 32, "current_offset": 64} if headed else {}

    def payload(numbers: Numbers) -> bytes:
        return unhex(PAYLOADS[numbers["checksum"]]) if checked else HELLO

    def tree(numbers: Numbers) -> Any:
        row = {name: numbers[name] for name in bits} | ({"state": "available"} if checked else {})
        rows = [{**row, "headers": None, "payload": b64(payload(numbers))}]
        return {**{name: numbers[name] for name in prefix}, "messages": rows} if headed else rows

    def value(numbers: Numbers) -> Any:
        row = {name: str(numbers[name]) for name in bits} | ({"state": "available"} if checked else {})
        rows = [{**row, "headers": [], "payload": payload(numbers).hex()}]
        return {**{name: str(numbers[name]) for name in prefix}, "messages": rows}

    return Body(form="iggy.json.poll", revision=revision, bits={**bits, **prefix}, tree=tree, value=value, rules=("iggy.json.poll.shape", "iggy.json.types"), wrong=tuple({**bits, **prefix}), first=first, beyond=beyond)


def _poll(revision: str, wrong: slice, first: int, beyond: Sequence[str]) -> Body:
    """A poll from 0.7.0 on."""
    bits = {"checksum": 64, "id": 128, "offset": 64, "timestamp": 64, "origin_timestamp": 64}
    prefix, context = {"partition_id": 32, "current_offset": 64}, CONTEXT_BITS if revision == EDGE else {}
    reserved = {} if revision == "0.7" else {"reserved": 64}
    count = {"count": 32}
    unsaid = {**({} if context else count), "user_headers_length": 32, "payload_length": 32, **reserved}
    plain = {"count": 1, "user_headers_length": 0, "payload_length": len(HELLO), "reserved": 0}

    def tree(numbers: Numbers) -> Any:
        whole = {**plain, **numbers}
        header = {name: whole[name] for name in (*bits, *[name for name in unsaid if name != "count"])}
        row = {"header": header, "payload": b64(HELLO)} | ({"user_headers": []} if reserved else {})
        return {**({"context": _context(whole)} if context else {}), **{name: whole[name] for name in prefix}, "count": whole["count"], "messages": [row]}

    def value(numbers: Numbers) -> Any:
        shown = _shown(numbers)
        row = {**{name: shown[name] for name in bits}, "headers": [], "payload": HELLO.hex()}
        return {**({"context": _shown(_context(numbers))} if context else {}), **{name: shown[name] for name in prefix}, "messages": [row]}

    rules, lengths = ("iggy.json.poll.headed.shape", "iggy.json.poll.headed.id"), ("iggy.json.poll.headed.lengths",)
    return Body(
        form="iggy.json.poll", revision=revision, bits={**context, **bits, **prefix}, unsaid=unsaid, tree=tree, value=value,
        rules=(*rules, "iggy.json.poll.context") if context else rules,
        lengths=(*lengths, "iggy.json.poll.headed.reserved") if reserved else lengths,
        wrong=[*context, *bits, *prefix, *{**count, **unsaid}][wrong], first=first, beyond=beyond,
    )  # fmt: skip


# --- sends, replies and errors ---


def _send(revision: str, rule: str, bits: int = 128, *, read: Sequence[str] = ALL[:1], written: Sequence[str] = ALL[:1], wrong: Sequence[str] = ("id",), first: int = 2, beyond: Sequence[str] = ()) -> Body:
    context = CONTEXT_BITS if revision == EDGE else {}

    def tree(numbers: Numbers) -> Any:
        number = numbers["id"]
        row = {"id": str(number) if number >> 64 and revision != "0.0.30" else number, "payload": b64(HELLO)}
        return {"partitioning": {"kind": "partition_id", "value": b64(u32(0x81828384))}, "messages": [row], **({"context": _context(numbers)} if context else {})}

    def value(numbers: Numbers) -> Any:
        row = {"id": str(numbers["id"]), "headers": [], "payload": HELLO.hex()}
        return {"partitioning": kind_value("partition_id", u32(0x81828384)), "messages": [row], **({"context": _shown(_context(numbers))} if context else {})}

    rules = ("iggy.json.send.shape", rule, *["iggy.json.send.context"] * bool(context))
    return Body(form="iggy.json.send", revision=revision, bits={"id": bits, **context}, tree=tree, value=value, rules=rules, doc="iggy.md §8.1", read=read, written=written, wrong=wrong, first=first, beyond=beyond)


def _reply() -> Body:
    bits = {"stream_id": 32, "topic_id": 32, "partition_id": 32, "base_offset": 64}
    return Body(form="iggy.json.reply", revision="0.11", bits=bits, tree=lambda numbers: {"confirmations": [dict(numbers)]}, value=lambda numbers: {"confirmations": [_shown(numbers)]}, rules=("iggy.json.reply.shape", "iggy.json.reply.range"), encode="iggy.json.reply.encode", doc="iggy.md §8.1", wrong=tuple(bits), first=1, beyond=("topic_id", "partition_id", "base_offset"))


def _error(revision: str, first: int) -> Body:
    words = {"code": "stream_id_not_found", "reason": "Stream was not found."}
    field = {"field": None} if revision != "0.0.30" else {}
    value = {name: word.encode().hex() for name, word in words.items()} | field
    return Body(form="iggy.json.error", revision=revision, bits={"id": 32}, tree=lambda numbers: {**numbers, **words, **field}, value=lambda numbers: {**_shown(numbers), **value}, rules=("iggy.json.error.shape", "iggy.json.error.id"), encode="iggy.json.error.encode", doc="iggy.md §8.3", read=ALL[:2], wrong=("id",), first=first)


POLL_NUMBERS = ("partition_id", "current_offset", "checksum", "id", "offset", "timestamp", "origin_timestamp")
BODIES = (
    _old_poll("0.0.30", ("timestamp",), 0), _old_poll("0.0.40", ("id",), 1), _old_poll("0.0.60", ("partition_id", "current_offset"), 2),
    _poll("0.7", slice(0, None, 3), 0, ("partition_id", "checksum")),
    _poll("0.9", slice(1, None, 3), 1, ("current_offset", "timestamp")),
    _poll("0.10", slice(2, None, 3), 2, ("id", "origin_timestamp")),
    _poll(EDGE, slice(None), 3, (*CONTEXT_BITS, *POLL_NUMBERS)),
    _send("0.0.30", "iggy.json.id"),
    _send("0.7", "iggy.json.id.later", 64, written=ALL[:2], wrong=()),
    _send("0.8", "iggy.json.id.text", beyond=("id",)), _send("0.9", "iggy.json.id.text"), _send("0.10", "iggy.json.id.text"),
    _send(EDGE, "iggy.json.id.text", read=ALL, written=ALL, wrong=("id", *CONTEXT_BITS), first=1, beyond=("id", *CONTEXT_BITS)),
    _reply(), _error("0.0.30", 1), _error("0.0.40", 2),
)  # fmt: skip


# --- cases ---


def write(writer: FixtureWriter) -> None:
    """Add the states of each body."""
    for body in BODIES:
        s = (ProvisionalCases if body.revision == EDGE else CaseBuilder)(writer, body.form, body.revision)
        _read(s, body)
        _wrong(s, body)
        _written(s, body)


def _read(s: CaseBuilder, body: Body) -> None:
    plain = dict.fromkeys(body.bits, 7)
    for state, (title, why, made) in STATES.items():
        if state in body.read:
            numbers = made(body.bits)
            s.accepts(f"states/{state}", title, text(body.tree(numbers)), body.value(numbers), doc=body.doc, rules=body.rules, why=why)
        if body.unsaid and state != "zero":
            lengths = made(body.unsaid)
            remarks = (*["iggy-message-count"] * ("count" in lengths), "iggy-json-length", *["iggy-json-reserved"] * ("reserved" in lengths))
            s.accepts(f"states/lengths-{state}", f"What arrays and texts tell: {title[0].lower()}{title[1:]}", text(body.tree({**plain, **lengths})), body.value(plain), doc=body.doc, remarks=remarks, rules=body.lengths, why="They tell nothing that the arrays and texts do not, and must not be taken for sizes.")


def _wrong(s: CaseBuilder, body: Body) -> None:
    """A number as a text, with a fraction, or a word: of serde's derived readers each refuses it."""
    data = text(body.tree(counted(body.bits)))
    for place, name in enumerate(body.wrong, body.first):
        label, form = WRONG[place % len(WRONG)]
        leaf = name.rpartition(".")[2]
        found = re.search(rb'"%s":"?([0-9]+)"?' % leaf.encode(), data)
        assert found is not None
        at, end = found.start() + len(leaf) + 3, found.end()
        wrong = data[:at] + form.format(found[1].decode()).encode() + data[end:]
        s.rejects(f"states/{leaf.replace('_', '-')}-{label}", f"{leaf} as {'a ' * (label in ('text', 'fraction'))}{label}", wrong, "type-mismatch", at=at, also=("invalid-value", "bad-json", "missing-field"), twin=TWIN, doc=body.doc, level="should", rules=("iggy.json.types",), why="A reader that converts it takes another number, or 0, for it; Rust refuses it.")


def _written(s: CaseBuilder, body: Body) -> None:
    for state in body.written:
        title, why, made = STATES[state]
        s.writes(f"states/write-{state}", f"{title}, to write", body.value(made(body.bits)), doc=body.doc, rules=body.rules, why=why)
    for name in body.beyond:
        leaf = name.rpartition(".")[2]
        bad = counted(body.bits) | {name: 1 << body.bits[name]}
        s.refuses(f"states/write-{leaf.replace('_', '-')}-beyond", f"{leaf} of {body.bits[name] + 1} bits, to write", body.value(bad), twin=f"states/write-{ALL[0]}", doc=body.doc, rules=(body.encode,), why="Cut to its width it is 0.")
