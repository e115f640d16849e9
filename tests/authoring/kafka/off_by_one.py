"""Cases on the brink, where a reader that is off by one gives itself away: kafka.md §1.1 to §1.9, §3, §4."""

from typing import Any

from tests.authoring.case_builder import CaseBuilder
from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka.boundary_values import data
from tests.authoring.kafka.entry_bytes import (
    XERIAL,
    T,
    batch,
    batch_value,
    framed,
    gzip,
    i8,
    i32,
    i64,
    lz4,
    message_value,
    nullable,
    record,
    record_value,
    varint,
)  # fmt: skip
from tests.authoring.kafka.log import ctl, log, one


def write(writer: FixtureWriter) -> None:
    s, logs = CaseBuilder(writer, "kafka.batch", "v2"), CaseBuilder(writer, "kafka.log", "mixed")
    for chapter in (_header, _records, _frames, _blocks, _produce, _encode):
        chapter(s)
    _delivered(logs)
    _scanned(logs)
    _legacy(writer)


KV = (record_value(b"k", b"v"),)


def _header(s: CaseBuilder) -> None:
    """§1.1, columns "who checks": what no consumer looks at, and no writer makes."""
    why = "Clients that check what Kafka's consumer does not refuse batches that lie in logs."
    def accepts(name: str, title: str, remark: str, **fields: int) -> None:
        s.accepts(f"unchecked/{name}", title, batch(record(b"k", b"v"), 1, **fields), batch_value([*KV], **fields), doc="kafka.md §1.5; §7 C20 to C25", rules=("kafka.v2.producer",), remarks=(remark,), why=why)
    accepts("no-producer-epoch-0", "producerEpoch 0 without a producer", "producer-fields", pepoch=0)
    accepts("no-producer-epoch-minus-2", "producerEpoch −2 without a producer", "producer-fields", pepoch=-2)
    accepts("producer-minus-2-epoch-0", "producerId −2 with epoch and sequence 0", "producer-fields", pid=-2, pepoch=0, seq=0)
    three = b"".join(record(b"k", b"v", off=n) for n in range(3))
    rows = [record_value(b"k", b"v", off=n) for n in range(3)]
    s.accepts("unchecked/last-offset-delta-1-of-3", "lastOffsetDelta 1 over three records", batch(three, 3, last=1), batch_value(rows, last=1), doc="kafka.md §1.5", rules=("kafka.v2.last-offset",),
         remarks=("last-offset-delta",), why="The next fetch begins behind lastOffsetDelta: it is the header that is wrong here, not the records.")
    low = -(1 << 63)
    s.accepts("offsets/underflow", "baseOffset −2^63 and offsetDelta −1", batch(record(b"k", b"v", off=-1), 1, base=low, last=0),
         batch_value([record_value(b"k", b"v", off=-1, base=low)], base=low, last=0), doc="kafka.md §1.10; §7 R31", rules=("kafka.v2.offset",),
         remarks=("offset-delta", "offset-negative", "offset-overflow"), why="64 bits wrap at the lower end as at the upper one.")


def _records(s: CaseBuilder) -> None:
    """§1.3, §1.5: integers and counts at the very end of the batch."""
    def rejects(name: str, title: str, body: bytes, count: int, cls: str, at: int, rules: tuple[str, ...], before: Any = None, also: tuple[str, ...] = ()) -> None:
        s.rejects(f"brink/{name}", title, batch(body, count), cls, twin="batch/one-record", doc="kafka.md §1.5; §5 FIELD_PAST_END", rules=rules, also=("truncated", *also), at=at, before=before,
             why="A reader that looks for the next byte of a varint beyond the batch crashes, or reads the next batch.")
    head = i8(0) + varint(0) * 2 + nullable(None) * 2
    rejects("header-count-torn", "The last byte of the batch continues headerCount", framed(head + b"\x80"), 1, "length-past-end", 61 + 6, ("kafka.v2.field.bounds",), also=("bad-varint", "length-mismatch", "count-mismatch"))
    two = batch_value([*KV], last=1)
    rejects("record-length-torn", "The last byte of the batch continues the length of a second record", record(b"k", b"v") + b"\x80", 2, "length-past-end", 61 + 9, ("kafka.v2.field.bounds",), two,
       ("bad-varint", "count-mismatch"))
    rejects("one-header-one-byte", "One header, of which there is one byte", framed(head + varint(1) + b"\x00"), 1, "length-past-end", 61 + 8, ("kafka.v2.headers.count",), also=("count-mismatch",))


def _frames(s: CaseBuilder) -> None:
    """§3, column snappy: a xerial header alone is a stream of nothing; gzip: what one step of the inflater gave."""
    s.rejects("compression/snappy-header-alone", "The 16 bytes of a xerial header, and no block", batch(XERIAL + i32(1) * 2, 2, attributes=2, max_ts=T + 1), "count-mismatch", at="61>0", twin="compression/snappy-xerial", doc="kafka.md §3, column snappy",
         needs=["codec:snappy"], rules=("kafka.snappy.frame",), also=("decompress-failed", "truncated"), why="16 bytes are enough to tell the framing; what follows is missing.")
    s.rejects("compression/snappy-header-cut", "The first 15 bytes of a xerial header", batch((XERIAL + i32(1) * 2)[:15], 2, attributes=2, max_ts=T + 1), "decompress-failed", at=61, twin="compression/snappy-xerial", doc="kafka.md §3, column snappy",
         needs=["codec:snappy"], rules=("kafka.snappy.frame",), also=("truncated",), why="Fewer than 16 bytes are taken for a raw block, which these are not.")


def sized(size: int) -> tuple[bytes, Any]:
    """One record that takes `size` bytes, 200 to 2^20 of them, and its value."""
    bare = len(record(b"k", b"v" * 8192)) - 8192
    text = b"v" * (size - bare - (size > 1 << 14))
    raw = record(b"k", text)
    while len(raw) != size:
        text = b"v" * (len(text) + size - len(raw))
        raw = record(b"k", text)
    return raw, record_value(b"k", text)


def _lz4_run(data_: bytes, bd: int) -> bytes:
    """An LZ4 frame of one block: 32 bytes as they are, a match of the byte before, 8 bytes as they are."""
    run = len(data_) - 40
    length = run - 4 - 15
    block = bytes([0xFF, 32 - 15]) + data_[:32] + b"\x01\x00" + b"\xff" * (length // 255) + bytes([length % 255]) + bytes([0x80]) + data_[-8:]
    whole = lz4(b"", bd=bd)
    return whole[:7] + len(block).to_bytes(4, "little") + block + bytes(4)


def _blocks(s: CaseBuilder) -> None:
    """§3: blocks of exactly the size that their frame allows, and one byte over it."""
    why = "The limit of a block is the frame's own: who allows less refuses good frames, who allows more gives room to bombs."
    def lz4_block(size: int, bd: int) -> tuple[bytes, Any]:
        raw, row = sized(size)
        return batch(_lz4_run(raw, bd), 1, attributes=3), batch_value([row], attributes=3)
    for size, bd, name in ((65536, 0x40, "64k"), (65537, 0x50, "64k-and-1-of-256k")):
        raw, value = lz4_block(size, bd)
        s.accepts(f"lz4/block-of-{name}", f"A block that gives {size:,} bytes under BD {bd:02x}", raw, value, doc="kafka.md §3, column lz4; §7 X14", needs=["codec:lz4"], rules=("kafka.lz4.frame",), why=why)
    s.rejects("lz4/block-of-64k-and-1", "A block that gives 65,537 bytes under BD 40", lz4_block(65537, 0x40)[0], "decompress-failed", at=72, twin="lz4/block-of-64k", doc="kafka.md §7 X14", needs=["codec:lz4"],
         rules=("kafka.lz4.frame",), also=("limit-exceeded",), why=why)
    def zstd_raw(size: int) -> bytes:
        raw, _ = sized(size)
        return batch(b"\x28\xb5\x2f\xfd\x00\x00" + (len(raw) << 3 | 1).to_bytes(3, "little") + raw, 1, attributes=4)
    s.accepts("zstd/block-of-the-window", "A raw block of 1,024 bytes in a window of 1 KiB", zstd_raw(1024), batch_value([sized(1024)[1]], attributes=4), doc="kafka.md §3; RFC 8878 §3.1.1.2.4", needs=["codec:zstd"],
         rules=("kafka.zstd.frame",), why=why)
    s.rejects("zstd/block-over-the-window", "A raw block of 1,025 bytes in a window of 1 KiB", zstd_raw(1025), "decompress-failed", at=67, twin="zstd/block-of-the-window", doc="kafka.md §3; RFC 8878 §3.1.1.2.4", needs=["codec:zstd"],
         rules=("kafka.zstd.frame",), why=why)
    one_record = record(b"k", b"v")
    frame = b"\x28\xb5\x2f\xfd\x01\x00\x00" + (len(one_record) << 3 | 1).to_bytes(3, "little") + one_record
    s.accepts("zstd/dictionary-id-0", "A dictionary id of 0, written", batch(frame, 1, attributes=4), batch_value([*KV], attributes=4), doc="kafka.md §3; RFC 8878 §3.1.1.1.3", needs=["codec:zstd"],
         rules=("kafka.zstd.frame",), why="0 is no dictionary, in whatever room it is written.")


def _produce(s: CaseBuilder) -> None:
    s.accepts("produce/transactional-no-time", "A transactional batch without times", batch(record(b"k", b"v"), 1, attributes=0x10, base_ts=-1, max_ts=-1, pid=7, pepoch=0, seq=0),
         batch_value([record_value(b"k", b"v", base_ts=-1)], attributes=0x10, base_ts=-1, max_ts=-1, pid=7, pepoch=0, seq=0), doc="kafka.md §1.7", profile="produce", needs=["feature:transactional"],
         rules=("kafka.produce.append-time",), why="Only LogAppendTime wants a time.")


def _encode(s: CaseBuilder) -> None:
    """§1.3, §4: the widest integers of a record."""
    low, high = -(1 << 31), (1 << 31) - 1
    rows = [record_value(b"k", b"v", off=low, ts=-(1 << 63), base_ts=0), record_value(b"k", b"v", off=high, ts=(1 << 63) - 1, base_ts=0)]
    raw = batch(record(b"k", b"v", off=low, ts=-(1 << 63)) + record(b"k", b"v", off=high, ts=(1 << 63) - 1), 2, base_ts=0, max_ts=(1 << 63) - 1, last=high)
    value = batch_value(rows, base_ts=0, max_ts=(1 << 63) - 1, last=high)
    s.writer.add({"id": s.prefix + "encode/deltas-widest", "title": "The lowest and the highest deltas", "why": "A writer that is too careful refuses what fits.", "op": "encode", "level": "must",
                "rules": ["kafka.v2.encode.varint", "kafka.v2.encode.range"], "input": {"value": value}, "expect": {"accept": {"value": value, "bytes": [raw.hex()]}},
                "source": {"origin": "builder", "document": "kafka.md §1.3, §4"}})


def _delivered(s: CaseBuilder) -> None:
    """§1.9: lastOffset is a sum, and the transactional bit is one of several."""
    def accepts(name: str, title: str, entries: list[Any], left: list[Any], aborted: list[list[str]], why: str, *needs: str) -> None:
        s.accepts(f"delivered/{name}", title, b"".join(raw for raw, _ in entries), log(*left), doc="kafka.md §1.9", why=why, rules=("kafka.log.committed",),
             needs=["feature:control-batch", "feature:read-committed", *needs], options={"isolation": "read_committed", "aborted": aborted})
    accepts("aborted-at-carry", "A batch of offsets 1 and 2, aborted from 2 on", [data(1, (b"a", b"b"), 1000), ctl(3, 0, 1000)], [], [["1000", "2"]], "Base offset and delta are added.")
    open_ = data(0, (b"a",), 1000)
    for name, title, plain, needs in (
        ("horizon", "with a delete horizon", data(1, (b"b",), 1000, 0x40), ("feature:delete-horizon",)),
        ("gzip", "in gzip", (batch(gzip(record(b"b", b"v")), 1, base=1, attributes=1, pid=1000, pepoch=0, seq=0), batch_value([record_value(b"b", b"v", base=1)], base=1, attributes=1, pid=1000, pepoch=0, seq=0)), ("codec:gzip",)),
    ):
        accepts(f"not-transactional-{name}", f"A plain batch {title} of a producer whose transaction is aborted", [open_, plain, ctl(2, 0, 1000)], [plain[1]], [["1000", "0"]],
           "Only transactional batches are skipped, whatever else the attributes say.", *needs)
    below = data(-200, (b"a",), 1000, 0)
    s.accepts("delivered/committed-below-zero", "A batch at offset −200, and no fetch offset", below[0], log(below[1]), doc="kafka.md §1.9; §7 C28", rules=("kafka.log.committed",), remarks=("offset-negative",), level="should",
         needs=["feature:read-committed"], options={"isolation": "read_committed"}, why="Without a fetch offset nothing lies below it.")


def _scanned(s: CaseBuilder) -> None:
    """§2.4: what looks like an entry where none is, at the places where a search may go astray."""
    def scan(name: str, title: str, chunks: list[bytes], items: list[Any]) -> None:
        s.writer.add({"id": f"{s.prefix}scan/{name}", "title": title, "why": "A search that goes back never ends; one that goes too far loses the entry behind the damage.", "op": "scan", "level": "must", "rules": ["kafka.log.scan"],
                    "input": {"chunks": [c.hex() for c in chunks]}, "expect": {"accept": {"value": {"items": items}}}, "source": {"origin": "builder", "document": "kafka.md §2.4"}})
    raw, value = one(0)
    junk = b"\x7f" * 8 + i32(-1) + b"\x7f" * 24 + b"\x02" + b"\x7f" * 20
    scan("size-too-large-at-20", "A chance magic 20 bytes into garbage, of a size beyond reason", [junk + raw],
         [{"kind": "garbage", "at": 0, "length": 57, "class": "bad-length"}, {"kind": "frame", "at": 57, "length": 70, "value": value}])
    head = i64(0) + i32(-1) + bytes(4) + b"\x02"
    scan("head-of-17-bytes", "A head of size −1 in a piece of its own, then a batch", [head, raw],
         [{"kind": "garbage", "at": 0, "length": 17, "class": "bad-length"}, {"kind": "frame", "at": 17, "length": 70, "value": value}])


def _legacy(writer: FixtureWriter) -> None:
    """§2.2: the codec of a message and its inner messages go together."""
    p = "kafka.batch/v1/encode/"
    whole = message_value(1, b"k", b"v")
    for name, title, given in (
        ("codec-without-messages", "A codec, and a value in place of messages", {**whole, "attributes": "1"}),
        ("messages-without-codec", "Messages, and no codec", {**whole, "value": None, "messages": [message_value(1, b"a", b"1")]}),
    ):
        writer.add({"id": p + name, "title": title, "why": "Every reader would unpack what is not packed, or hand on a packed set as a value.", "op": "encode", "level": "must", "rules": ["kafka.legacy.encode.codec"],
                  "input": {"value": given}, "expect": {"reject": {"class": "invalid-value"}}, "twin": p + "key-and-value", "source": {"origin": "builder", "document": "kafka.md §2.2"}})
