"""`iggy.log` of 0.2.7, 0.7, 0.8 and 0.9: iggy.md §7."""

# fmt: off

from typing import Any

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.iggy.case_builder import CaseBuilder
from tests.authoring.iggy.documented_bytes import W16, W18, W19, W24
from tests.authoring.iggy.headers_from_0_9 import OPAQUE
from tests.authoring.iggy.message_bytes import HELLO, KEY1, TS, WORLD, polled40, polled40_value, tlv, u32, u64
from tests.authoring.iggy.message_bytes_from_0_7 import REVISIONS, Edition

DOC = "iggy.md §7"


def write(writer: FixtureWriter) -> None:
    _retained(CaseBuilder(writer, "iggy.log", "0.2.7"))
    for e in REVISIONS:
        _headed(CaseBuilder(writer, "iggy.log", e.revision), e)


# --- 0.2.7: batches ---


def kept(offset: int, payload: bytes, headers: bytes = b"", *, length: int | None = None, **more: Any) -> bytes:
    """A message of 0.0.40 without the length of its payload, behind the length of all of it."""
    whole = polled40(offset, payload, headers, **more)
    at = 41 + len(headers)
    rest = whole[:at] + whole[at + 4 :]
    return u32(len(rest) if length is None else length) + rest


def batch(*messages: bytes, base: int = 0, last: int = 0, latest: int = TS, length: int | None = None) -> bytes:
    inside = b"".join(messages)
    return u64(base) + u32(len(inside) if length is None else length) + u32(last) + u64(latest) + inside


def shown(*rows: Any, base: int = 0, last: int = 0, latest: int = TS) -> dict[str, Any]:
    return {"base_offset": str(base), "last_offset_delta": str(last), "max_timestamp": str(latest), "messages": list(rows)}


def file(*rows: Any) -> dict[str, Any]:
    return {"batches": list(rows)}


def _retained(s: CaseBuilder) -> None:
    layout, tail, check, lengths = ("iggy.log.retained.layout",), ("iggy.log.tail",), ("iggy.log.checksum",), ("iggy.log.retained.length",)
    pair = shown(polled40_value(0, HELLO), polled40_value(1, WORLD, KEY1), last=1, latest=TS + 1)
    s.accepts("records/worked", "A batch of two messages, the second with a header (W16)", W16, file(pair), doc="iggy.md §13 W16", origin="document", rules=(*layout, *check, *lengths), why="The payload has no length of its own.")
    a, b = batch(kept(0, HELLO), kept(1, WORLD, tlv(KEY1)), last=1, latest=TS + 1), batch(kept(2, HELLO), base=2, latest=TS + 2)
    second = shown(polled40_value(2, HELLO), base=2, latest=TS + 2)
    s.accepts("records/two", "Two batches", a + b, file(pair, second), doc=DOC, rules=(*layout, *check, *lengths), why="Back to back, no file header.")
    s.accepts("records/none", "An empty file", b"", file(), doc=DOC, rules=tail, why="A segment that was opened and not written.")
    s.accepts("records/batch-of-none", "A batch without messages", batch(), file(shown()), doc=DOC, rules=layout, why="24 bytes are a batch.")
    wide = batch(base=0x8102030405060708, last=0x81020304, latest=0x8112131415161718)
    s.accepts("records/header-bytes", "A batch header of different bytes", wide, file(shown(base=0x8102030405060708, last=0x81020304, latest=0x8112131415161718)), doc=DOC, rules=layout, why="Each field in its place, little-endian.")
    s.accepts("records/empty-payload", "An empty payload", batch(kept(0, b"", tlv(KEY1))), file(shown(polled40_value(0, b"", KEY1))), doc=DOC, remarks=("iggy-empty-payload",), rules=layout, why="The headers end where the message does.")
    for label, size in (("last-byte", 1), ("in-the-header", len(b) - 20), ("in-a-message", 30)):
        s.accepts(f"records/torn-{label}", f"The second batch is torn: {label}", (a + b)[:-size], file(pair), consumed=len(a), doc=DOC, rules=tail, why="What is whole before it must not be lost.")
    more: dict[str, Any] = {"before": file(pair), "twin": "records/two", "doc": DOC}
    start = len(a) + 24
    s.rejects("records/payload-flipped", "A payload with another bit", a + b[:-1] + b"p", "crc-mismatch", at=start + 4 + 33, rules=check, why="A disk that lost a bit.", **more)
    s.rejects("records/state-2", "State 2", a + batch(kept(2, HELLO, state=2), base=2), "bad-kind", at=start + 4 + 8, rules=("iggy.log.retained.state",), why="InvalidCommand.", **more)
    s.accepts("records/state-poisoned", "A poisoned message", batch(kept(0, HELLO, state=20)), file(shown(polled40_value(0, HELLO, state="poisoned"))), doc=DOC, rules=("iggy.log.retained.state",), why="It is stored as what it is.")
    size = len(kept(2, HELLO)) - 4
    for label, length, cls in (("one-less", size - 1, "crc-mismatch"), ("one-more", size + 1, "length-past-end"), ("zero", 0, "length-past-end"), ("40", 40, "length-past-end"), ("huge", 0xFFFFFFFF, "length-past-end"), ("with-itself", size + 4, "length-past-end")):
        s.rejects(f"records/length-{label}", f"A message length that is wrong: {label}", a + batch(kept(2, HELLO, length=length), base=2), cls, also=[one for one in ("truncated", "length-past-end", "bad-length", "crc-mismatch", "trailing-data", "negative-length") if one != cls], rules=lengths, why="It does not count itself, and tells where the payload ends.", **more)
    rotten = b[:-1] + b"p"
    rows = [{"kind": "frame", "at": 0, "length": len(a), "value": pair}]
    s.scans("scan/garbage", "A rotten batch between two", (a + rotten, b), [*rows, {"kind": "garbage", "at": len(a), "length": len(b), "class": "crc-mismatch"}, {"kind": "frame", "at": len(a) + len(b), "length": len(b), "value": second}], doc=DOC, rules=("iggy.log.scan",), why="Its length holds, so that the next one is found.")
    s.scans("scan/torn", "A cut tail, in three pieces", (a[:10], a[10:] + b[:5], b[5:40]), [*rows, {"kind": "tail", "at": len(a), "length": 40}], doc=DOC, rules=("iggy.log.scan",), why="Every byte is accounted for.")
    s.writes("encode/worked", "The batch of W16", file(pair), W16, doc="iggy.md §13 W16", rules=layout, why="The worked example.")
    s.writes("encode/none", "An empty file", file(), b"", doc=DOC, rules=tail, why="Nothing.")
    s.writes("encode/batch-of-none", "A batch without messages", file(shown()), batch(), doc=DOC, rules=layout, why="24 bytes are a batch.")
    s.refuses("encode/state-unknown", "A base offset of 65 bits", file(shown(base=1 << 64)), twin="encode/worked", doc=DOC, rules=("iggy.log.encode",), why="Cut, it is 0.")


# --- 0.7 to 0.9: the messages of a poll ---


def _headed(s: CaseBuilder, e: Edition) -> None:
    layout, tail, check = ("iggy.log.headed.layout",), ("iggy.log.tail",), ("iggy.log.headed.checksum",)
    a, b, c = e.polled(0, HELLO), e.polled(1, WORLD, e.block(e.one)), e.polled(2, HELLO)
    rows = [e.polled_value(0, HELLO), e.polled_value(1, WORLD, e.one), e.polled_value(2, HELLO)]
    worked = {"0.7": W18, "0.8": W19, "0.9": W24}[e.revision][16:]
    both = {"messages": rows[:2]}
    s.accepts("records/worked", "The messages of the worked poll, as they lie on disk", worked, both, doc="iggy.md §7, §13", origin="document", rules=(*layout, *check), why="The record is the message of a poll.")
    s.accepts("records/two", "Two records", a + b, both, doc=DOC, rules=(*layout, *check), why="Back to back, no file header.")
    s.accepts("records/none", "An empty file", b"", {"messages": []}, doc=DOC, rules=tail, why="A segment that was opened and not written.")
    for label, size in (("last-byte", 1), ("in-the-header", len(b) - 30), ("in-the-lengths", len(b) - 50)):
        s.accepts(f"records/torn-{label}", f"The second record is torn: {label}", (a + b)[:-size], {"messages": rows[:1]}, consumed=len(a), doc=DOC, rules=tail, why="What is whole before it must not be lost.")
    more: dict[str, Any] = {"before": {"messages": rows[:1]}, "twin": "records/two", "doc": DOC}
    for label, data in (("payload-flipped", e.polled(1, WORLD)[:-1] + b"e"), ("checksum-wrong", e.polled(1, WORLD, checksum=1)), ("checksum-zero", e.polled(1, WORLD, checksum=0))):
        s.rejects(f"records/{label}", f"A checksum that is not of its message: {label}", a + data, "crc-mismatch", at=len(a), rules=check, why="InvalidMessageChecksum 4027.", **more)
    flipped = bytearray(b)
    flipped[8] ^= 1
    s.rejects("records/id-flipped", "An id with another bit", a + bytes(flipped), "crc-mismatch", at=len(a), rules=check, why="To 0.6.x the checksum was over the payload only; now it is over all behind it.", **more)
    if not e.keyed:
        other = REVISIONS[1] if e is REVISIONS[0] else REVISIONS[0]
        s.rejects("records/other-edition", f"A record of {other.revision}", a + other.polled(1, WORLD), "crc-mismatch", at=len(a), rules=check, why="CRC-32 and XXH3-64 stand in one place, and tell the editions apart.", **more)
    s.accepts("records/opaque-headers", "Headers that are no map", e.polled(0, HELLO, OPAQUE), {"messages": [e.polled_value(0, HELLO, kept=OPAQUE)]}, doc=DOC, remarks=("iggy-opaque-headers",), rules=layout, why="The server stores what it cannot read.")
    s.accepts("records/empty-payload", "An empty payload", e.polled(0, b""), {"messages": [e.polled_value(0, b"")]}, doc=DOC, rules=layout, why="A record of its header alone.")
    if e.keyed:
        s.rejects("records/reserved-1", "reserved is 1", a + e.polled(1, WORLD, reserved=1), "reserved-nonzero", at=len(a) + 56, also=("crc-mismatch", "not-permitted"), rules=("iggy.log.headed.reserved",), why="InvalidReservedField.", **more)
        s.accepts("records/reserved-0", "reserved is 0", a, {"messages": rows[:1]}, doc=DOC, rules=("iggy.log.headed.reserved",), why="What every server writes.")
    rotten = bytes(flipped)
    first = {"kind": "frame", "at": 0, "length": len(a), "value": rows[0]}
    s.scans("scan/garbage", "A rotten record between two", (a + rotten, c), [first, {"kind": "garbage", "at": len(a), "length": len(b), "class": "crc-mismatch"}, {"kind": "frame", "at": len(a) + len(b), "length": len(c), "value": rows[2]}], doc=DOC, rules=("iggy.log.scan",), why="Its lengths hold, so that the next one is found.")
    s.scans("scan/torn", "A cut tail, in three pieces", (a[:10], a[10:] + b[:5], b[5:70]), [first, {"kind": "tail", "at": len(a), "length": 70}], doc=DOC, rules=("iggy.log.scan",), why="Every byte is accounted for.")
    s.writes("encode/worked", "The messages of the worked poll", both, worked, doc="iggy.md §7, §13", rules=(*layout, *check), why="The worked example.")
    s.writes("encode/none", "An empty file", {"messages": []}, b"", doc=DOC, rules=tail, why="Nothing.")
