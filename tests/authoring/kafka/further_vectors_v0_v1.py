"""The vectors of kafka.md §7 that no other chapter builds: v0 and v1."""

from tests.authoring.case_builder import CaseBuilder
from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka.batch_v2 import TWO
from tests.authoring.kafka.entry_bytes import T, batch, gzip, i32, message, message_value
from tests.authoring.kafka.message_sets import pair, pair_value

GZIP, APPEND = 1, 8
NEED = ["codec:gzip", "feature:wrapper"]


def write(writer: FixtureWriter) -> None:
    v0, v1 = CaseBuilder(writer, "kafka.batch", "v0"), CaseBuilder(writer, "kafka.batch", "v1")
    _v0(v0)
    _wrapper_v0(v0)
    _wrapper_v1(v1)
    _refused(v1)


def cksum(data: bytes) -> int:
    """POSIX `cksum`: CRC-32 not reflected, the length behind the data, the result inverted."""
    size, more = len(data), bytearray()
    while size:
        more.append(size & 0xFF)
        size >>= 8
    crc = 0
    for byte in data + bytes(more):
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ 0x04C11DB7 if crc & 0x80000000 else crc << 1) & 0xFFFFFFFF
    return crc ^ 0xFFFFFFFF


def _v0(s: CaseBuilder) -> None:
    good = message(0, b"k", b"v")
    s.rejects("message/crc-cksum", "The CRC of POSIX cksum", message(0, b"k", b"v", crc=cksum(good[16:])), "crc-mismatch", at=12, twin="message/key-and-value", doc="kafka.md §7 L03", rules=("kafka.legacy.crc",),
         why="It has the same polynomial and another order of bits: a library offers both under one name.")
    s.rejects("message/size-one-short", "Size 15 over fields of 16 bytes", good[:8] + i32(15) + good[12:27], "crc-mismatch", at=12, twin="message/key-and-value", doc="kafka.md §7 L39", rules=("kafka.legacy.crc",),
         also=("length-past-end", "truncated"), why="The last byte lies outside: the checksum tells it before the value is cut.")
    s.accepts("message/offset-minus-1", "Offset −1, key 09, value yolo", message(0, b"09", b"yolo", offset=-1), message_value(0, b"09", b"yolo", offset=-1), doc="kafka.md §7 L40", rules=("kafka.legacy.unchecked",),
         remarks=("offset-negative",), why="A producer of the 0.9 days left the offset to the broker and wrote −1.")


def _wrapper_v0(s: CaseBuilder) -> None:
    s.accepts("wrapper/inner-v1", "v1 messages in a v0 wrapper", message(0, None, gzip(pair(1, (10, 11), stamps=(T, T))[0]), offset=11, attributes=GZIP), message_value(0, None, None, offset=11, attributes=GZIP, messages=pair_value(1, stamps=(T, T))),
         doc="kafka.md §7 L21", rules=("kafka.wrapper.inner-magic",), needs=NEED, remarks=("inner-magic",), why="The inner magic tells how the inner message is read, the outer one how offsets count.")


def _wrapper_v1(s: CaseBuilder) -> None:
    inner = pair(1)[0]
    fields = {"offset": 11, "attributes": GZIP, "ts": T + 1}
    whole = message_value(1, None, None, messages=pair_value(1), **fields)
    good = message(1, None, gzip(inner), **fields)
    wrong = int.from_bytes(good[12:16], "big") ^ 1
    s.accepts("wrapper/crc-wrong", "The CRC of the wrapper is wrong, those of its messages right", message(1, None, gzip(inner), crc=wrong, **fields), whole, doc="kafka.md §7 L27", rules=("kafka.wrapper.crc",), needs=NEED,
         remarks=("wrapper-crc",), why="Kafka's consumer checks the messages alone; its broker, and six clients, check the wrapper too.")
    s.accepts("wrapper/inner-eight-bytes-behind", "Eight bytes behind the inner set", message(1, None, gzip(inner + bytes(8)), **fields), whole, doc="kafka.md §7 L25", rules=("kafka.wrapper.inner-truncated",), needs=NEED,
         remarks=("inner-truncated",), why="Fewer than twelve bytes are the beginning of a message that is cut.")
    s.accepts("wrapper/inner-offsets-zero", "Both inner offsets 0", message(1, None, gzip(pair(1, (0, 0), stamps=(T, T))[0]), **fields), message_value(1, None, None, messages=pair_value(1, (11, 11), stamps=(T, T)), **fields), doc="kafka.md §7 L30",
         rules=("kafka.legacy.unchecked", "kafka.wrapper.relative"), needs=NEED, remarks=("inner-offsets",), why="Producers that did not count made every broker pack the set again; read as they stand both are the wrapper's.")
    late = {"offset": 13, "attributes": GZIP | APPEND, "ts": T + 9000}
    s.accepts("wrapper/gzip-log-append-gap", "v1 wrapper under LogAppendTime, with a gap", message(1, None, gzip(pair(1, (0, 3), stamps=(T, T))[0]), **late),
         message_value(1, None, None, messages=pair_value(1, (10, 13), stamps=(T + 9000, T + 9000)), **late), doc="kafka.md §7 L37", rules=("kafka.wrapper.timestamp", "kafka.wrapper.relative"), needs=NEED,
         why="Compaction takes messages and leaves the append time: five clients give the inner time.")


def _refused(s: CaseBuilder) -> None:
    s.rejects("wrapper/inner-v2", "A v2 batch in a v1 wrapper", message(1, None, gzip(batch(TWO, 2)), offset=11, attributes=GZIP, ts=T + 1), "bad-nesting", twin="wrapper/gzip", doc="kafka.md §7 L22",
         rules=("kafka.wrapper.nesting",), also=("bad-magic", "crc-mismatch"), needs=NEED, why="Sarama and kafkajs deliver nothing and say nothing; librdkafka delivers the batch.")
