"""The bytes of heka.md §7 that no other chapter builds."""

# fmt: off


from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.heka.case_builder import HekaCaseBuilder
from tests.authoring.heka.frame_bytes import (
    FV,
    F,
    M,
    dbl,
    field,
    fld,
    frame,
    frame_value,
    frames,
    garbage,
    msg,
    num,
    sub,
    tail,
    value,
    vi,
    whole,
)

JUNK = bytes([0x78]) * 126
"""63 times field 15 with the value 120: bug 8 fills a header with it."""


def write(writer: FixtureWriter) -> None:
    message, stream = HekaCaseBuilder(writer, "heka.message", "0.10"), HekaCaseBuilder(writer, "heka.stream", "0.10")
    _read(message)
    _written(message)
    _frames(stream)
    _scans(stream)


def _read(s: HekaCaseBuilder) -> None:
    s.accepts("timestamp/above-32-bits", "A timestamp above 32 bits", msg(timestamp=1428523950000000000), value(timestamp=1428523950000000000), doc="heka.md §7 bug 11", rules=("heka.message.presence",),
         why="lua_sandbox shifted the bytes of a varint in 32 bits.")
    s.rejects("length/63-bits", "A length of 2^63 − 1", msg() + b"\x32" + b"\xff" * 8 + b"\x7f", "truncated", at=30, twin="message/minimal", doc="heka.md §7 bug 13", rules=("heka.message.length",), also=("length-past-end", "limit-exceeded"), flags=["security"],
         why="mozilla-services/lua_sandbox #226: position plus length wrapped around, and passed for less than the end.")
    for name, title, chunk in (("unpacked", "not packed", b"\x39" + dbl(1.0)), ("packed", "packed", sub(7, dbl(1.0)))):
        s.accepts(f"double/one-{name}", f"1.0, {title}", msg(fld(b"a", num(2, 3), chunk)), value(fields=[field(b"a", "DOUBLE", doubles=[1.0])]), doc="heka.md §7 bug 15", rules=("heka.message.field.packed", "heka.message.field.double"),
             why="A single number: lua_sandbox wrote it in one form, Heka's own decoder took the other alone.")


def _written(s: HekaCaseBuilder) -> None:
    numbers = value(fields=[field(b"a", "INTEGER", integers=[1, 2, 3])])
    data = [msg(fld(b"a", num(2, 2), part)).hex() for part in (sub(6, bytes((1, 2, 3))), b"".join(num(6, n) for n in (1, 2, 3)))]
    s.other("encode/integers-in-order", "1, 2, 3 in an INTEGER Field", "encode", {"value": numbers}, {"accept": {"value": numbers, "bytes": data}}, doc="heka.md §7 bug 14", rules=("heka.encode.arrays", "heka.encode.packed"),
            why="mozilla-services/lua_sandbox #221: written in the order of a hash table.")
    exact = 1428523950123456789
    s.encode("encode/nanoseconds", "A timestamp that no double holds", value(timestamp=exact), msg(timestamp=exact), doc="heka.md §7 bug 44", rules=("heka.encode.range",), why="Lua's numbers are doubles: it comes back as …768.")


def _frames(s: HekaCaseBuilder) -> None:
    s.accepts("header/128-bytes-unknown", "A header of 128 bytes, 63 of its fields unknown", frame(M, JUNK) + F, frames(FV, FV), doc="heka.md §7 bug 8", rules=("heka.stream.header-length", "heka.stream.header.unknown"), remarks=("header-unknown-field",),
         why="mozilla-services/lua_sandbox #113: the length byte read as signed.")
    body = msg(sub(3, b"WebLog"), sub(4, b"Apache"), num(5, 6), sub(6, b"hi"), sub(7, b"1"), num(8, 1234), sub(9, b"h1"), fld(b"n", num(2, 2), sub(3, b"count"), sub(6, vi(1) + vi(300))), timestamp=1428523950123456789)
    every = value(timestamp=1428523950123456789, type=b"WebLog", logger=b"Apache", severity=6, payload=b"hi", env_version=b"1", pid=1234, hostname=b"h1", fields=[field(b"n", "INTEGER", b"count", integers=[1, 300])])
    s.accepts("worked/w02-every-header", "Every field of a message, and a packed Field", frame(body), frames(frame_value(every, 79)), doc="heka.md §8 W2", rules=("heka.stream.frame",), why="What most frames of an archive look like.")
    many = [field(b"f", None, b"r", strings=[b"v"])] * 9
    rich = msg(*[fld(b"f", sub(3, b"r"), sub(4, b"v"))] * 9)
    poor = msg(fld(b"g", sub(4, b"w")))
    s.accepts("frames/fewer-fields-behind", "Nine Fields with a representation, then a message of one without", frame(rich) + frame(poor), frames(frame_value(value(fields=many), len(rich)), frame_value(value(fields=[field(b"g", strings=[b"w"])]), len(poor))),
         doc="heka.md §7 bug 16", rules=("heka.stream.frame",), why="mozilla-services/lua_sandbox #231: slots of Fields are used again, and what the message before left in them must not show.")


def _scans(s: HekaCaseBuilder) -> None:
    def scan(name: str, title: str, chunks: list[bytes], items: list[object], bug: int, why: str, *rules: str, **more: object) -> None:
        s.scan(f"scan/{name}", title, chunks, items, doc=f"heka.md §7 bug {bug}", why=why, rules=tuple(f"heka.scan.{rule}" for rule in rules), **more)

    def one(at: int) -> object:
        return whole(at, 25, FV)
    scan("read-on-behind-nothing", "A frame, a read that gives nothing, a frame", [F, b"", F], [one(0), one(25)], 4, "mozilla-services/heka #1355: what was appended to a file was never read.", "chunks")
    scan("garbage-over-a-record", "More garbage than a record may be long, then a frame", [b"w" * 1400 + F], [garbage(0, 1400), one(1400)], 5, "mozilla-services/heka #1367: a full buffer without a record was looked at for ever.", "account", "resync",
         options={"max_message": 1025})
    scan("garbage-then-header", "Five bytes, then a frame as far as its header", [bytes(5) + F[:5]], [garbage(0, 5), tail(5, 5)], 9, "C counted the bytes that it needs from the wrong place.", "end.tail", "account")
    scan("refused-message-between", "A refused message between two frames", [F + frame(b"hello") + F], [one(0), garbage(25, 10, "unknown-field"), one(35)], 47, "python_moztelemetry ends the file there without a word.", "resync", "account")
    scan("three-bytes-between", "Three bytes between two frames", [F + b"abc" + F], [one(0), garbage(25, 3), one(28)], 23, "telemetry-batch-view failed the job, and later dropped the rest of the file.", "resync", "account")
