"""The one fault that a reader reports of several, and the last bytes of a request: kafka.md §1.4, §1.5, §1.7."""

from typing import Any

from tests.authoring.case_builder import CaseBuilder
from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka import append as stored_by_topic
from tests.authoring.kafka.entry_bytes import batch, batch_value, message, record, record_value
from tests.authoring.kafka.log import log, old, one

RULE = ("kafka.v2.precedence",)


def write(writer: FixtureWriter) -> None:
    s, logs = CaseBuilder(writer, "kafka.batch", "v2"), CaseBuilder(writer, "kafka.log", "mixed")
    _precedence(s)
    _largest(logs)
    _trimmed(logs)
    _legacy(writer)


def _precedence(s: CaseBuilder) -> None:
    """§1.5: size, magic, CRC, codec, count, records; a fault behind another one is not looked at."""
    raw, why = record(b"k", b"v"), "Tools that count faults by their class, and readers that skip by it, go astray on the wrong one."
    def rejects(name: str, title: str, data: bytes, cls: str, at: int, rules: tuple[str, ...] = RULE) -> None:
        s.rejects(f"precedence/{name}", title, data, cls, at=at, twin="precedence/none", doc="kafka.md §1.5, order of precedence", rules=rules, why=why)
    s.accepts("precedence/none", "A batch without a fault, and a CRC of its own", batch(raw, 1, epoch=5), batch_value([record_value(b"k", b"v")], epoch=5), doc="kafka.md §1.5", rules=RULE, why="The accepted neighbour.")
    good = batch(raw, 1)
    rejects("size-before-magic", "Size 13 and magic 3", good[:11] + b"\x0d" + good[12:16] + b"\x03" + good[17:], "bad-length", 8)
    rejects("magic-before-crc", "Magic 3 and a wrong CRC", batch(raw, 1, magic=3, crc=0), "bad-magic", 16, ("kafka.v2.magic",))
    rejects("magic-before-whole-size", "Size 48 and magic 3", good[:11] + b"\x30" + good[12:16] + b"\x03" + good[17:], "bad-magic", 16)
    rejects("crc-before-codec", "Codec 5 and a wrong CRC", batch(raw, 1, attributes=5, crc=0), "crc-mismatch", 17)
    rejects("crc-before-count", "recordsCount −1 and a wrong CRC", batch(raw, -1, last=0, crc=0), "crc-mismatch", 17)
    rejects("codec-before-count", "Codec 5 and recordsCount −1", batch(raw, -1, last=0, attributes=5), "unknown-codec", 21)
    rejects("count-before-stream", "recordsCount −1 over what is no gzip", batch(raw, -1, last=0, attributes=1), "negative-length", 57)


def _largest(s: CaseBuilder) -> None:
    """§1.4 step 3: a configured maximum holds a size before the entry is waited for."""
    raw, value = one(0)
    need, rules, why = ["feature:max-message"], ("kafka.log.size.most",), "Without a maximum a fetch waits for the two gigabytes that a damaged size announces."
    def sized(name: str, title: str, data: bytes, most: int, **more: Any) -> None:
        s.accepts(f"entries/{name}", title, data, log(value), doc="kafka.md §1.4 step 3", rules=rules, needs=need, why=why, options={"max_message": most}, **more)
    sized("size-at-maximum", "A batch of size 58 where 58 is the most", raw, 58)
    sized("size-below-maximum", "A batch of size 58 where 59 is the most", raw, 59)
    for name, data, title in (("whole", raw, "A batch"), ("cut", raw[:12], "The first twelve bytes of a batch")):
        s.rejects(f"damaged/size-over-maximum-{name}", f"{title} of size 58 where 57 is the most", data, "limit-exceeded", at=8, twin="entries/size-at-maximum", doc="kafka.md §1.4 step 3", rules=rules, needs=need, also=("bad-length",), why=why,
             options={"max_message": 57})


def _trimmed(s: CaseBuilder) -> None:
    """§1.7: trailing partial bytes of a request are trimmed."""
    held = {"profile": "produce", "doc": "kafka.md §1.7, §1.12", "why": "What is trimmed was never acknowledged: the broker stores the whole entries."}
    stored = stored_by_topic.Sent((stored_by_topic.Row(),)).stored()
    for name, entry, size, topic in (("batch", one(0), 70, stored_by_topic.APPENDED), ("message", old(1, 0), 36, stored_by_topic.OLD)):
        raw, value = entry[0], stored
        held |= {**topic, "needs": [*topic["needs"], "feature:partial-tail"]}
        s.accepts(f"produce/{name}-then-cut", f"A whole {name}, then 20 bytes of another", raw + raw[:20], log(value), consumed=size, rules=("kafka.produce.trimmed",), **held)


def _legacy(writer: FixtureWriter) -> None:
    """§1.7, writer-side rules: a timestamp below 0 is -1 or none at all."""
    v1 = CaseBuilder(writer, "kafka.batch", "v1")
    good = message(1, b"k", b"v", ts=0)
    value: dict[str, Any] = {"offset": "0", "magic": "1", "attributes": "0", "timestamp": "0", "key": b"k".hex(), "value": b"v".hex(), "messages": None}
    common = {"op": "encode", "level": "must", "source": {"origin": "builder", "document": "kafka.md §1.7"}}
    why = "A time before 1970 was never given a meaning: KIP-228 was abandoned."
    writer.add({"id": f"{v1.prefix}encode/timestamp-zero", "title": "Timestamp 0", "why": "0 is a time.", "input": {"value": value}, "expect": {"accept": {"value": value, "bytes": [good.hex()]}}, "rules": ["kafka.legacy.encode"], **common})
    writer.add({"id": f"{v1.prefix}encode/timestamp-minus-2", "title": "Timestamp −2", "why": why, "input": {"value": {**value, "timestamp": "-2"}}, "expect": {"reject": {"class": "invalid-value"}}, "rules": ["kafka.legacy.encode.timestamp"],
              "twin": f"{v1.prefix}encode/timestamp-zero", **common})
