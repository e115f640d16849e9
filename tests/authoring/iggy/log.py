"""`iggy.log` of 0.0.30 and 0.0.40: iggy.md §7."""

from typing import Any

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.iggy.case_builder import CaseBuilder
from tests.authoring.iggy.message_bytes import (
    HELLO,
    KEY1,
    WORLD,
    entry,
    polled40,
    polled40_value,
    stored30,
    stored30_value,
    tlv,
    unhex,
)
from tests.authoring.iggy.poll import W13

W15 = unhex(
    "00000000000000000060f09e340306000100000000000000000000000000000086a61036000000000500000068656c6c6f010000"
    "00000000000160f09e34030600020000000000000000000000000000004311773a15000000050000006b65792d310207000000"
    "56616c7565203105000000776f726c64"
)


def write(writer: FixtureWriter) -> None:
    first = CaseBuilder(writer, "iggy.log", "0.0.30")
    _worked(first)
    _records(first, stored30, stored30_value, "iggy.log.layout")
    second = CaseBuilder(writer, "iggy.log", "0.0.40")
    value = {"messages": [polled40_value(0, HELLO), polled40_value(1, WORLD, KEY1)]}
    second.accepts(
        "records/worked",
        "The messages of W13, as they lie on disk",
        W13[4:],
        value,
        doc="iggy.md §7, §13 W13",
        origin="document",
        rules=("iggy.log.polled-layout",),
        why="From 0.0.40 on the record is the message of a poll.",
    )
    _records(second, polled40, polled40_value, "iggy.log.polled-layout")


def _worked(s: CaseBuilder) -> None:
    value = {"messages": [stored30_value(0, HELLO), stored30_value(1, WORLD, KEY1)]}
    s.accepts(
        "records/worked",
        "Two records, the second with a header (W15)",
        W15,
        value,
        doc="iggy.md §13 W15",
        origin="document",
        rules=("iggy.log.layout", "iggy.log.checksum"),
        why="The worked example; the checksum is not on the wire of this edition.",
    )
    s.writes(
        "encode/worked",
        "Two records (W15)",
        value,
        W15,
        doc="iggy.md §13 W15",
        rules=("iggy.log.layout",),
        why="The worked example.",
    )


def _records(s: CaseBuilder, made: Any, shown: Any, layout: str) -> None:
    doc, tail, check = "iggy.md §7", ("iggy.log.tail",), ("iggy.log.checksum",)
    a, b, c = made(0, HELLO), made(1, WORLD, tlv(KEY1)), made(2, HELLO)
    both = {"messages": [shown(0, HELLO), shown(1, WORLD, KEY1)]}
    twin = "records/two"
    s.accepts(
        twin,
        "Two records",
        a + b,
        both,
        doc=doc,
        rules=(layout, *check),
        why="Back to back, no file header.",
    )
    s.accepts(
        "records/none",
        "An empty file",
        b"",
        {"messages": []},
        doc=doc,
        rules=tail,
        why="A segment that was opened and not written.",
    )
    s.accepts(
        "records/torn-last-byte",
        "The last byte is missing",
        (a + b)[:-1],
        {"messages": [shown(0, HELLO)]},
        consumed=len(a),
        doc=doc,
        rules=tail,
        why="The server died while it wrote; what is whole before it must not be lost.",
    )
    s.accepts(
        "records/torn-in-fixed-part",
        "Twenty bytes of the second record",
        a + b[:20],
        {"messages": [shown(0, HELLO)]},
        consumed=len(a),
        doc=doc,
        rules=tail,
        why="Not even its lengths are there.",
    )
    s.accepts(
        "records/torn-first",
        "Half of the first record",
        a[:30],
        {"messages": []},
        consumed=0,
        doc=doc,
        rules=tail,
        why="There is nothing whole.",
    )
    s.accepts(
        "records/length-huge",
        "payload_len 2^32 − 1 in the second record",
        a + made(1, WORLD, payload_len=0xFFFFFFFF),
        {"messages": [shown(0, HELLO)]},
        consumed=len(a),
        doc=doc,
        rules=tail,
        flags=["resource"],
        limits={"ms": 1000, "rss_mb": 512},
        why="A tail as far as anybody can tell; no allocation of that size.",
    )
    s.accepts(
        "records/empty-payload",
        "An empty payload",
        made(0, b"") + c,
        {"messages": [shown(0, b""), shown(2, HELLO)]},
        doc=doc,
        remarks=("iggy-empty-payload",),
        rules=(layout,),
        why="No server writes it, no reader may drop it.",
    )
    bad = made(1, WORLD, checksum=1)
    s.rejects(
        "records/checksum-wrong",
        "The second checksum does not match",
        a + bad + c,
        "crc-mismatch",
        before={"messages": [shown(0, HELLO)]},
        twin=twin,
        doc=doc,
        rules=check,
        why="InvalidMessageChecksum: on disk the payload is what the checksum was made of.",
    )
    s.rejects(
        "records/payload-flipped",
        "A bit of the first payload is flipped",
        a[:-1] + bytes([a[-1] ^ 1]) + b,
        "crc-mismatch",
        twin=twin,
        doc=doc,
        rules=check,
        why="A reader that skips the check hands a rotten payload to the application.",
    )
    s.rejects(
        "records/kind-16",
        "An unknown header kind in the second record",
        a + made(1, WORLD, entry(b"k", 16, b"v")),
        "bad-kind",
        before={"messages": [shown(0, HELLO)]},
        twin=twin,
        doc=doc,
        rules=("iggy.log.headers",),
        why="A block that cannot be read.",
    )
    frames = [_item("frame", 0, a, shown(0, HELLO)), _item("frame", len(a), b, shown(1, WORLD, KEY1))]
    scan = ("iggy.log.scan",)
    s.scans(
        "scan/two", "Two records", (a + b,), frames, doc=doc, rules=scan, why="Every byte is accounted for."
    )
    whole = a + b
    s.scans(
        "scan/two-cut",
        "Two records in three chunks",
        (whole[:41], whole[41:60], whole[60:]),
        frames,
        doc=doc,
        rules=scan,
        why="How bytes arrive changes nothing.",
    )
    s.scans(
        "scan/torn",
        "A record and a half",
        (a + b[:30],),
        [frames[0], _item("tail", len(a), b[:30])],
        doc=doc,
        rules=scan,
        why="The tail is told, not swallowed.",
    )
    garbage = {**_item("garbage", len(a), bad), "class": "crc-mismatch"}
    s.scans(
        "scan/garbage",
        "A rotten record between two sound ones",
        (a + bad + c,),
        [frames[0], garbage, _item("frame", len(a + bad), c, shown(2, HELLO))],
        doc=doc,
        rules=scan,
        why="One flipped bit must not cost the rest of the file.",
    )
    s.writes(
        "encode/two",
        "Two records",
        both,
        a + b,
        doc=doc,
        rules=(layout,),
        why="Lengths and checksums are computed.",
    )
    s.writes(
        "encode/none", "An empty file", {"messages": []}, b"", doc=doc, rules=(layout, *tail), why="Nothing."
    )


def _item(kind: str, at: int, data: bytes, value: Any = None) -> dict[str, Any]:
    item = {"kind": kind, "at": at, "length": len(data)}
    return item if value is None else {**item, "value": value}
