"""Sets of v0 and v1 that are least in some way: a wrapper of one message, and sets in front of which no count stands.

kafka.md §2, §2.2, §2.4.
"""

from typing import Any

from tests.authoring.case_builder import CaseBuilder
from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka.entry_bytes import (
    batch,
    gzip,
    i32,
    lz4,
    message,
    message_value,
    record,
    snappy_block,
    xerial,
)
from tests.authoring.kafka.log import log, old, one
from tests.authoring.kafka.message_sets import pair

GZIP, SNAPPY, LZ4 = 1, 2, 3

CODECS = ((GZIP, "gzip"), (SNAPPY, "snappy"), (LZ4, "lz4"))

OLD = ["feature:mixed-magic"]
"""What a reader of logs must have that reads entries of v0 and v1 at all."""

ALONE = "A batch of one is how a single message is compressed: a reader that expects more loses it, one that counts from the first moves it."


def write(writer: FixtureWriter) -> None:
    builders = {magic: CaseBuilder(writer, "kafka.batch", f"v{magic}") for magic in (0, 1)}
    logs = CaseBuilder(writer, "kafka.log", "mixed")
    for magic, builder in builders.items():
        _wrapper_of_one(builder, magic)
        _encoded_of_one(builder, magic)
    _left_of_many(builders[1])
    _counted(logs)
    _counted_inside(builders[1])
    _written_without_count(logs)


def packed(codec: int, data: bytes, magic: int) -> bytes:
    match codec:
        case 1:
            return gzip(data)
        case 2:
            return xerial(snappy_block(data))
        case _:
            return lz4(data, kip57=magic == 0)


def wrapper_of_one(magic: int, codec: int, *, offset: int, stored: int, text: bytes = b"v") -> tuple[bytes, Any]:
    """A wrapper at `offset` around one message with the offset `stored`, and its value."""
    fields = {"offset": offset, "attributes": codec}
    inner = message(magic, b"k", text, offset=stored)
    return message(magic, None, packed(codec, inner, magic), **fields), message_value(magic, None, None, messages=[message_value(magic, b"k", text, offset=offset)], **fields)


def _wrapper_of_one(s: CaseBuilder, magic: int) -> None:
    for codec, name in CODECS:
        raw, value = wrapper_of_one(magic, codec, offset=10, stored=0 if magic else 10)
        header_byte = ["kafka.lz4.kip57"] * (codec == LZ4)
        s.accepts(f"wrapper/one-{name}", f"A v{magic} {name} wrapper of one message", raw, value, doc="kafka.md §2.2", why=ALONE, rules=("kafka.wrapper.one", *header_byte), needs=[f"codec:{name}", "feature:wrapper"])
    raw, value = wrapper_of_one(magic, GZIP, offset=0, stored=0)
    s.accepts("wrapper/one-at-zero", f"A v{magic} wrapper of one message, both at offset 0", raw, value, doc="kafka.md §2.2", why="The first message of a log, compressed on its own.", rules=("kafka.wrapper.one",), needs=["codec:gzip", "feature:wrapper"])
    s.accepts("produce/wrapper-of-one", "A producer's wrapper of one message", raw, value, doc="kafka.md §1.7, §2.2", why="What a producer sends that compresses each message on its own.", rules=("kafka.wrapper.one", "kafka.produce.inner-offsets"),
              needs=["codec:gzip", "feature:wrapper"], profile="produce")


def _encoded_of_one(s: CaseBuilder, magic: int) -> None:
    for codec, name in CODECS:
        _, value = wrapper_of_one(magic, codec, offset=10, stored=10, text=b"v" * 300)
        s.writer.add({"id": f"{s.prefix}encode/wrapper-of-one-{name}", "title": f"One message that {name} makes smaller, in a v{magic} wrapper", "why": ALONE, "op": "encode", "level": "must", "rules": ["kafka.legacy.encode.codec", "kafka.wrapper.one"],
                      "input": {"value": value}, "expect": {"accept": {"value": value}}, "needs": [f"codec:{name}", "feature:wrapper"], "source": {"origin": "builder", "document": "kafka.md §2.2"}})


def _left_of_many(s: CaseBuilder) -> None:
    raw, value = wrapper_of_one(1, GZIP, offset=10, stored=7)
    s.accepts("wrapper/one-left", "The last of eight messages, which compaction left alone in its wrapper", raw, value, doc="kafka.md §2.2", why="The inner offset stays 7: added to the wrapper's it is one that nobody wrote.",
              rules=("kafka.wrapper.one", "kafka.wrapper.relative"), needs=["codec:gzip", "feature:wrapper"])


def _counted(s: CaseBuilder) -> None:
    """§2.4: a set is not an array of the protocol, which has its count in front."""
    why = "Every other array of the protocol is preceded by its count: whoever writes one here moves each field by four bytes."
    for name, title, entries in (
        ("v0", "Two v0 messages", [old(0, 0), old(0, 1)]),
        ("v1", "Two v1 messages", [old(1, 0), old(1, 1)]),
        ("v2", "Two v2 batches", [one(0), one(1, b"l")]),
    ):
        raw = b"".join(data for data, _ in entries)
        needs = [] if name == "v2" else OLD
        s.accepts(f"sets/{name}", title, raw, log(*(value for _, value in entries)), doc="kafka.md §2, §2.4", why="A set begins with its first entry.", rules=("kafka.log.no-count",), needs=needs)
        s.rejects(f"sets/{name}-counted", f"{title} behind an int32 that counts them", i32(2) + raw, "bad-length", at=8, twin=f"sets/{name}", doc="kafka.md §2, §2.4, §1.4 step 2", why=why, rules=("kafka.log.no-count",), also=("bad-magic", "crc-mismatch", "negative-length"), needs=needs)
    raw = b"".join(data for data, _ in (old(1, 0), old(1, 1)))
    s.rejects("sets/v1-sized", "Two v1 messages behind an int32 of their size in bytes", i32(len(raw)) + raw, "bad-length", at=8, twin="sets/v1", doc="kafka.md §2, §2.4, §1.4 step 2", why="The size of a set stands in the request or response around it.", rules=("kafka.log.no-count",),
              also=("bad-magic", "crc-mismatch", "negative-length"), needs=OLD)


def _counted_inside(s: CaseBuilder) -> None:
    inner = pair(1)[0]
    s.rejects("wrapper/inner-counted", "The set in a wrapper stands behind an int32 that counts it", message(1, None, gzip(i32(2) + inner), offset=11, attributes=GZIP, ts=1700000000001), "bad-length", twin="wrapper/gzip", doc="kafka.md §2, §2.2",
              why="A set is preceded by no count, whether it is packed or not.", rules=("kafka.log.no-count",), also=("bad-magic", "crc-mismatch", "negative-length"), needs=["codec:gzip", "feature:wrapper"])


def _written_without_count(s: CaseBuilder) -> None:
    entries = {
        "v1": [old(1, 0), old(1, 1)],
        "v2": [(batch(record(b"k", b"v"), 1, epoch=-1), {**one(0)[1], "partitionLeaderEpoch": "-1"})],
    }
    for name, rows in entries.items():
        value = log(*(value for _, value in rows))
        raw = b"".join(data for data, _ in rows)
        s.writer.add({"id": f"{s.prefix}encode/set-{name}", "title": f"A set of {'two v1 messages' if name == 'v1' else 'one v2 batch'}", "why": "What is written begins with the first entry, not with a count.", "op": "encode", "level": "must", "rules": ["kafka.log.no-count"],
                      "input": {"value": value}, "expect": {"accept": {"value": value, "bytes": [raw.hex()]}}, "needs": OLD if name == "v1" else [], "source": {"origin": "builder", "document": "kafka.md §2, §2.4"}})
