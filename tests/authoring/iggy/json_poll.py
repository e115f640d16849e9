"""`iggy.json.poll` of 0.0.30, 0.0.40 and 0.0.60: iggy.md §8.2. The input is JSON text in hex."""

from typing import Any

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.iggy.case_builder import CaseBuilder
from tests.authoring.iggy.message_bytes import (
    HELLO,
    KEY1,
    STATES,
    TS,
    WORLD,
    b64,
    json_headers,
    polled30_value,
    polled40_value,
    text,
)


def write(writer: FixtureWriter) -> None:
    for revision in ("0.0.30", "0.0.40", "0.0.60"):
        _poll(CaseBuilder(writer, "iggy.json.poll", revision), revision)


def _poll(s: CaseBuilder, revision: str) -> None:
    shown = polled30_value if revision == "0.0.30" else polled40_value
    wide = revision == "0.0.60"
    top, head = (
        ({"partition_id": "1", "current_offset": "1"}, {"partition_id": 1, "current_offset": 1})
        if wide
        else ({}, {})
    )
    doc, shape, fields = "iggy.md §8.2", ("iggy.json.poll.shape",), ("iggy.json.poll.fields",)

    def row(offset: int, payload: bytes, /, **more: Any) -> dict[str, Any]:
        tree = {
            "offset": offset,
            "timestamp": TS + offset,
            "id": offset + 1,
            "headers": None,
            "payload": b64(payload),
        }
        if revision != "0.0.30":
            tree |= {"state": "available", "checksum": int(polled40_value(offset, payload)["checksum"])}
        return {**tree, **more}

    def page(*rows: Any) -> bytes:
        return text({**head, "messages": list(rows)} if wide else list(rows))

    def held(*rows: Any) -> dict[str, Any]:
        return {**top, "messages": list(rows)}

    one, plain = held(shown(0, HELLO)), "messages/one"
    two = held(shown(0, HELLO), shown(1, WORLD, KEY1))
    s.accepts(
        "messages/two",
        "Two messages, the second with a header",
        page(row(0, HELLO), row(1, WORLD, headers=json_headers(KEY1))),
        two,
        doc=doc,
        rules=(*shape, "iggy.json.headers"),
        why="The messages of the worked example.",
    )
    s.accepts(
        plain,
        "One message",
        page(row(0, HELLO)),
        one,
        doc=doc,
        rules=(*shape, *fields),
        why="headers: null is none.",
    )
    absent = {key: part for key, part in row(0, HELLO).items() if key != "headers"}
    s.accepts(
        "messages/headers-absent",
        "No headers field",
        page(absent),
        one,
        doc=doc,
        rules=("iggy.json.headers",),
        why="Absent is none, too.",
    )
    s.accepts(
        "messages/none",
        "No messages",
        page(),
        held(),
        doc=doc,
        rules=shape,
        why="The consumer is up to date.",
    )
    big = (1 << 64) + 1
    s.accepts(
        "messages/id-above-2-64",
        f"Id {big}",
        page(row(0, HELLO, id=big)),
        held({**shown(0, HELLO), "id": str(big)}),
        doc=doc,
        rules=("iggy.json.id",),
        why="Ids are bare numbers of 128 bits; a double loses them.",
    )
    s.accepts(
        "messages/offset-max",
        "Offset 2^64 − 1",
        page(row(0, HELLO, offset=(1 << 64) - 1)),
        held({**shown(0, HELLO), "offset": str((1 << 64) - 1)}),
        doc=doc,
        rules=("iggy.json.types",),
        why="Offsets are unsigned 64 bits; a double loses them.",
    )
    s.accepts(
        "messages/unordered",
        "Offset 1 before offset 0",
        page(row(1, WORLD), row(0, HELLO)),
        held(shown(1, WORLD), shown(0, HELLO)),
        doc="iggy.md §3.3",
        remarks=("iggy-message-order",),
        rules=("iggy.json.poll.shape",),
        why="The order of the text, or of the offsets.",
    )
    s.accepts(
        "messages/empty-payload",
        "An empty payload",
        page(row(0, b"")),
        held(shown(0, b"")),
        doc="iggy.md §3.3",
        remarks=("iggy-empty-payload",),
        rules=("iggy.json.poll.shape",),
        why="No server writes it, no reader may drop it.",
    )
    s.rejects(
        "messages/offset-missing",
        "The offset is missing",
        page({key: part for key, part in row(0, HELLO).items() if key != "offset"}),
        "missing-field",
        twin=plain,
        doc=doc,
        rules=fields,
        why="An offset of 0 in its place is another message.",
    )
    s.rejects(
        "messages/offset-text",
        "The offset as text",
        page(row(0, HELLO, offset="0")),
        "type-mismatch",
        also=("bad-json",),
        twin=plain,
        doc=doc,
        rules=("iggy.json.types",),
        why="Numbers are bare.",
    )
    s.rejects(
        "messages/offset-65-bits",
        "Offset 2^64",
        page(row(0, HELLO, offset=1 << 64)),
        "invalid-value",
        also=("type-mismatch", "bad-json"),
        twin=plain,
        doc=doc,
        rules=("iggy.json.types",),
        why="Cut to 64 bits it is offset 0.",
    )
    other = text([row(0, HELLO)]) if wide else text({"messages": [row(0, HELLO)]})
    s.rejects(
        "messages/other-envelope",
        "The envelope of another edition",
        other,
        "type-mismatch",
        also=("missing-field", "bad-json", "unknown-field"),
        twin=plain,
        doc=doc,
        rules=shape,
        why="An array up to 0.0.5x, an object from 0.0.60 on.",
    )
    s.writes("encode/two", "Two messages", two, doc=doc, rules=shape, why="Judged by decoding back.")
    s.writes("encode/none", "No messages", held(), doc=doc, rules=shape, why="An empty array, and no null.")
    s.writes(
        "encode/empty-payload",
        "An empty payload",
        held(shown(0, b"")),
        doc=doc,
        rules=shape,
        why="An empty text, and no null.",
    )
    s.refuses(
        "encode/offset-65-bits",
        "Offset 2^64",
        held({**shown(0, HELLO), "offset": str(1 << 64)}),
        twin="encode/two",
        doc=doc,
        rules=("iggy.json.encode",),
        why="A reader cannot hold it.",
    )
    if revision == "0.0.30":
        return
    for name in STATES:
        s.accepts(
            f"state/{name.replace('_', '-')}",
            f"State {name}",
            page(row(0, HELLO, state=name)),
            held(polled40_value(0, HELLO, state=name)),
            doc=doc,
            rules=("iggy.json.poll.state",),
            why="A state is its name here, its code in the binary form.",
        )
    s.rejects(
        "state/unknown",
        "State lost",
        page(row(0, HELLO, state="lost")),
        "bad-kind",
        also=("bad-json", "type-mismatch"),
        twin="state/available",
        doc=doc,
        rules=("iggy.json.poll.state",),
        why="There is none.",
    )
    s.rejects(
        "state/code",
        "State 1",
        page(row(0, HELLO, state=1)),
        "type-mismatch",
        also=("bad-kind", "bad-json"),
        twin="state/available",
        doc=doc,
        rules=("iggy.json.poll.state",),
        why="The code belongs to the binary form.",
    )
    s.accepts(
        "checksum/wrong",
        "A checksum that does not match",
        page(row(0, HELLO, checksum=1)),
        held(polled40_value(0, HELLO, checksum=1)),
        doc="iggy.md §3.3",
        remarks=("iggy-payload-checksum",),
        rules=("iggy.json.poll.shape",),
        why="No client verifies it.",
    )
    if wide:
        s.rejects(
            "messages/current-offset-missing",
            "current_offset is missing",
            text({"partition_id": 1, "messages": []}),
            "missing-field",
            twin="messages/none",
            doc=doc,
            rules=fields,
            why="A consumer that takes 0 for it believes that it lags.",
        )
