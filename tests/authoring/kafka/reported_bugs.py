"""Cases that a field report of kafka.md §9 asked for and no vector of §7 gives."""

import struct
from typing import Any

from tests.authoring.case_builder import CaseBuilder
from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka.batch_v2 import DAY, TWO, two_values
from tests.authoring.kafka.control_bytes import control_value
from tests.authoring.kafka.entry_bytes import T, batch, batch_value, i16, i32, lz4, record, record_value
from tests.authoring.kafka.log import log, one

GIB = 1 << 30
BLOCK = 1 << 17


def write(writer: FixtureWriter) -> None:
    s, logs = CaseBuilder(writer, "kafka.batch", "v2"), CaseBuilder(writer, "kafka.log", "mixed")
    _blocks(s)
    _sequences(s)
    _rewritten(s)
    _leftover(logs)


def _blocks(s: CaseBuilder) -> None:
    """No. 18, 24 and 138: what a fuzzer finds in the readers of compressed blocks."""
    runs = b"".join((last | 1 << 1 | BLOCK << 3).to_bytes(3, "little") + b"\x00" for last in [0] * (GIB // BLOCK - 1) + [1])
    bomb = b"\x28\xb5\x2f\xfd\x00" + bytes(((17 - 10) << 3,)) + runs
    s.rejects("zstd/bomb-of-zeros", "32 KB of zstd that unpack to 1 GiB of zeros", batch(bomb, 1, attributes=4), "bad-length", twin="zstd/content-size", doc="kafka.md §9 no. 18, 24", needs=["codec:zstd"], rules=("kafka.zstd.limit", "kafka.v2.record.length"),
         also=("limit-exceeded", "decompress-failed", "truncated", "length-past-end", "count-mismatch"), limits={"ms": 3000, "rss_mb": 512}, flags=["resource", "security"],
         why="The first byte is a record length of 0: who unpacks all of it before a look at that spends 1 GiB.")
    block = bytes(6) + b"ybatch-codec-fuzz-seed"  # the report, but for its first byte, which is no part of the frame
    frame = lz4(b"")[:7] + struct.pack("<I", 28) + block + bytes(4)
    s.rejects("lz4/match-offset-zero", "A block whose first match lies 0 bytes back", batch(frame, 1, attributes=3), "decompress-failed", twin="lz4/one-block", doc="kafka.md §9 no. 138", needs=["codec:lz4"], rules=("kafka.lz4.frame",),
         also=("truncated", "limit-exceeded"), why="A fuzzer's find: the reader crashed where it should have refused.")


def _sequences(s: CaseBuilder) -> None:
    s.rejects("produce/sequence-overflowed", "baseSequence −2^31, one more than 2^31 − 1 in 32 bits", batch(record(b"k", b"v"), 1, pid=1000, pepoch=0, seq=-(1 << 31)), "not-permitted", at=53, twin="produce/good",
         doc="kafka.md §1.7, §1.10", rules=("kafka.produce.sequence",), profile="produce", why="Behind 2^31 − 1 comes 0: a producer that counts on is refused for good.")


def _rewritten(s: CaseBuilder) -> None:
    """No. 132 and 149: what a broker or a cleaner writes again keeps what it is not about to change."""
    def accepts(name: str, title: str, data: bytes, value: Any, why: str, needs: tuple[str, ...] = ()) -> None:
        s.writer.add({"id": f"{s.prefix}encode/{name}", "title": title, "why": why, "op": "encode", "level": "must", "rules": ["kafka.v2.encode", "kafka.v2.encode.times"], "input": {"value": value},
                    "expect": {"accept": {"value": value, "bytes": [data.hex()]}}, "needs": list(needs), "source": {"origin": "builder", "document": "kafka.md §1.8, §9 no. 132, 149"}})
    horizon = T + DAY
    accepts("delete-horizon", "A batch with a delete horizon: deltas relative to it", batch(record(b"k", None, ts=-DAY), 1, attributes=0x40, base_ts=horizon),
       batch_value([record_value(b"k", None, ts=-DAY, base_ts=horizon)], attributes=0x40, base_ts=horizon), "A cleaner that moves the base moves every record's time.", ("feature:delete-horizon",))
    accepts("log-append-time", "LogAppendTime: the base stays the create time", batch(TWO, 2, attributes=8, max_ts=T + 5000), batch_value(two_values(append=T + 5000), attributes=8, max_ts=T + 5000),
       "Deltas that count from the append time are other bytes, and wrong ones once the bit is cleared.", ("feature:log-append-time",))
    rows = record(b"a", b"1", off=1) + record(b"b", b"2", ts=5, off=3)
    accepts("compacted-gaps", "Offsets 11 and 13 of a batch of 10 to 15", batch(rows, 2, base=10, last=5, max_ts=T + 5),
       batch_value([record_value(b"a", b"1", off=1, base=10), record_value(b"b", b"2", ts=5, off=3, base=10)], base=10, last=5, max_ts=T + 5), "A cleaner that counts anew moves every record.")


def _leftover(s: CaseBuilder) -> None:
    """No. 38: a marker with more bytes than are known, and data behind it."""
    key, value = i16(0) + i16(1) + i16(0), i16(1) + i32(5) + i16(0)
    fields = {"attributes": 0x30, "pid": 1000, "pepoch": 0}
    marker = batch(record(key, value), 1, **fields)
    shown = batch_value([record_value(key, value, control=control_value(key, value))], **fields)
    s.accepts("entries/longer-control-then-data", "A marker with longer key and value, then data", marker + one(1)[0], log(shown, one(1)[1]), doc="kafka.md §9 no. 38; §7 K05, K08", rules=("kafka.log.join", "kafka.control.key"),
         needs=["feature:control-batch"], why="What is left of the marker is stepped over: else the next batch begins in the middle of it.")
