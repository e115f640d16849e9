"""Cases of Heka on the brink, where a reader or writer that is off by one gives itself away: heka.md §1 to §4."""

# fmt: off


from typing import Any

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.heka.case_builder import HekaCaseBuilder
from tests.authoring.heka.encode import _given
from tests.authoring.heka.frame_bytes import (
    FV,
    GIVEN,
    UUID,
    F,
    M,
    field,
    fld,
    frame,
    frame_value,
    frames,
    garbage,
    msg,
    num,
    sub,
    value,
    vi,
    whole,
)


def write(writer: FixtureWriter) -> None:
    message, stream = HekaCaseBuilder(writer, "heka.message", "0.10"), HekaCaseBuilder(writer, "heka.stream", "0.10")
    for chapter in (_keys, _int32, _written):
        chapter(message)
    for chapter in (_versions, _headers, _framings, _written_headers):
        chapter(stream)


def _keys(s: HekaCaseBuilder) -> None:
    """§4, M31: a key is a varint of the shortest form."""
    why = "Readers that find fields by the bytes of their keys pass over such a field; others read it."
    for name, title, data, at in (("uuid", "The key of uuid in two bytes", b"\x8a\x00" + msg()[1:], 0), ("timestamp-three-bytes", "The key of timestamp in three bytes", sub(1, UUID) + b"\x90\x80\x00\x01", 18)):
        s.rejects(f"key/nonminimal-{name}", title, data, "bad-varint", at=at, twin="message/minimal", doc="heka.md §4 M31", why=why, rules=("heka.message.key.minimal",), also=("unknown-field", "bad-kind"), level="should")
    s.rejects("key/65-bits", "A key of 2^64", b"\x80" * 9 + b"\x02" + msg(), "bad-varint", at=0, twin="message/minimal", doc="heka.md §4 M29 to M31", why="Cut to 64 bits it is another field.", rules=("heka.message.key",),
         also=("bad-kind",), level="should")
    back = b"\x5b\x5a" + vi(2**64 - 11) + b"\x5c"
    s.rejects("length/back-in-a-group", "A group that holds bytes of a length of 2^64 - 11", msg(back), "truncated", at=32, twin="message/minimal", doc="heka.md §4 M23, M44", also=("length-past-end", "negative-length", "limit-exceeded", "unknown-field"), flags=["security"],
         why="As a signed number the length is -11, and leads back to the start of the field: gogo's Skip reads it for ever.", rules=("heka.message.unknown", "heka.message.length"))
    for size, number in ((2, 16), (3, 2048)):  # `may` as M20 to M24: Go and protobuf keep what C and Lua refuse; M21 has the very bytes of the first
        s.rejects(f"key/unknown-of-{size}-bytes", f"Field {number}, whose key takes {size} bytes", msg(num(number, 1)), "unknown-field", at=20, twin="message/minimal", doc="heka.md §4 M20", why="Its key is as short as it can be: what is wrong is the number.",
             rules=("heka.message.unknown",), level="may")


def _int32(s: HekaCaseBuilder) -> None:
    """§4, M14 to M19: which 64-bit varints are an int32."""
    why = "Readers cut what does not fit, each to another number."
    for name, number in (("2-32", 2**32), ("below-lowest", -(2**31) - 1), ("2-33", 2**33)):
        s.rejects(f"int32/{name}", f"A pid of {number}", msg(num(8, number)), "bad-varint", at=21, twin="int32/largest", doc="heka.md §4 M17", why=why, rules=("heka.message.int32.range",), level="may")
    five = vi(8 << 3) + vi(2**32 - 1)
    s.accepts("int32/pid-minus-one-five-bytes", "A pid of −1 in five bytes", msg(five), value(pid=-1), doc="heka.md §4 M15", why="The highest of the five-byte forms.", rules=("heka.message.int32.negative",), remarks=("int32-five-byte-negative",))


def _written(s: HekaCaseBuilder) -> None:
    """§1: what a field can hold, to the bit."""
    def accepts(name: str, title: str, given: Any, data: bytes) -> None:
        s.encode(f"encode/{name}", title, given, data, doc="heka.md §1", why="A writer that is too careful refuses what fits.", rules=("heka.encode.range", "heka.encode.negative"))
    def rejects(name: str, title: str, given: Any, twin: str) -> None:
        s.unfit(f"encode/{name}", title, given, f"encode/{twin}", doc="heka.md §1", why="It would come back as another number.", rules=("heka.encode.range",))
    low, high = -(2**63), 2**63 - 1
    small, large = -(2**31), 2**31 - 1
    accepts("lowest", "The lowest timestamp, severity and pid", value(timestamp=low, severity=small, pid=small), msg(num(5, small), num(8, small), timestamp=low))
    accepts("highest", "The highest timestamp, severity and pid", value(timestamp=high, severity=large, pid=large), msg(num(5, large), num(8, large), timestamp=high))
    rejects("timestamp-below-64-bits", "A timestamp of −2^63 − 1", value(timestamp=low - 1), "lowest")
    rejects("severity-below-32-bits", "A severity of −2^31 − 1", value(severity=small - 1), "lowest")
    rejects("severity-32-bits", "A severity of 2^31", value(severity=large + 1), "highest")
    ends = value(fields=[field(b"n", "INTEGER", integers=[low, high])])
    accepts("integers-widest", "The lowest and the highest value_integer", ends, msg(fld(b"n", num(2, 2), sub(6, vi(low) + vi(high)))))
    rejects("integer-64-bits", "A value_integer of 2^63", value(fields=[field(b"n", "INTEGER", integers=[high + 1])]), "integers-widest")


def _versions(s: HekaCaseBuilder) -> None:
    """§1: hmac_key_version is a uint32."""
    why = "The key of another version proves another signer."
    for name, number in (("2-31", 2**31), ("largest", 2**32 - 1)):
        head = sub(4, b"test") + num(5, number)
        s.accepts(f"header/version-{name}", f"hmac_key_version {number}", frame(M, head), frames(frame_value(signer=b"test", version=number)), doc="heka.md §1, Header", why=why, rules=("heka.stream.header.presence",))
    for name, number in (("2-32", 2**32), ("2-32-and-1", 2**32 + 1)):
        s.rejects(f"header/version-{name}", f"hmac_key_version {number}", frame(M, num(5, number)), "bad-varint", at=5, before=frames(), twin="header/version-largest", doc="heka.md §1, Header; §4 M17", why=why,
             rules=("heka.stream.header.undecodable",), also=("limit-exceeded", "other"), level="should")


def _headers(s: HekaCaseBuilder) -> None:
    """§4: keys in a header are held to the same forms."""
    late = b"\x3a\x00"
    s.accepts("header/unknown-of-3-bytes", "An unknown field 2048, whose key takes three bytes", frame(M, num(2048, 1)) + F, frames(FV, FV), doc="heka.md §2.4 S30", why="A newer writer may add fields.", rules=("heka.stream.header.unknown",),
         remarks=("header-unknown-field",))
    s.accepts("header/unknown-before-length", "An unknown field 7 before message_length", b"\x1e\x04" + late + num(1, 20) + b"\x1f" + M, frames(FV), doc="heka.md §2.4 S19, S30", why="The order of fields is free.", rules=("heka.stream.header.unknown",),
         remarks=("header-order", "header-unknown-field"))


def _framings(s: HekaCaseBuilder) -> None:
    """§2.1, §2.2: what Go's and C's readers take for a header."""
    why = "What Heka's own splitter does with these bytes, for those who must match it."
    length = num(1, 20)
    def scan(mode: str, name: str, title: str, head: bytes, item: Any) -> None:
        data = b"\x1e" + bytes([len(head)]) + head + b"\x1f" + M
        s.scan(f"scan/{mode}-{name}", title, [data + F], [item, whole(len(data), 25, FV)], doc="heka.md §2.1" if mode == "go" else "heka.md §2.2", why=why, rules=(f"heka.scan.{mode}",),
               options={"resync": mode}, needs=[f"feature:resync-{mode}"], level="may")
    def taken(name: str, title: str, head: bytes, **header: Any) -> None:
        scan("go", name, f"{title}, in Go's framing", head, whole(0, 3 + len(head) + 20, frame_value(**header)))
    def lost(name: str, title: str, head: bytes, cls: str) -> None:
        scan("go", name, f"{title}, in Go's framing", head, garbage(0, 3 + len(head) + 20, cls))
    taken("unknown-varint-first", "An unknown field 7 before the length", num(7, 1) + length)
    taken("unknown-fixed64-first", "An unknown field 7 of eight bytes before the length", b"\x39" + bytes(range(8)) + length)
    taken("unknown-fixed32-first", "An unknown field 7 of four bytes before the length", b"\x3d" + bytes(range(4)) + length)
    taken("legacy-encoding-first", "A message_encoding before the length", num(2, 0) + length)
    taken("encoding-as-bytes-first", "A message_encoding as bytes before the length", sub(2, b"") + length)
    lost("length-as-bytes-first", "A message_length as bytes before another one", sub(1, b"") + length, "type-mismatch")
    lost("signer-as-varint-first", "A signer as a number before the length", num(4, 1) + length, "type-mismatch")
    taken("group-first", "An unknown group before the length", b"\x3b" + num(7, 1) + b"\x44" + length)
    taken("group-end-first", "The end of no group before the length", b"\x3c" + length)
    taken("long-key-first", "An unknown fixed32, its key in two bytes and itself in one, before the length", b"\xbd\x00\x01" + length)
    taken("version", "A signer and a key version", length + sub(4, b"test") + num(5, 1), signer=b"test", version=1)
    taken("version-largest", "The largest key version", length + num(5, 2**32 - 1), version=2**32 - 1)
    taken("signer-torn", "A signer that claims one byte more than the header has", length + b"\x22\x02a")
    s.scan("scan/c-zero-message", "A message_length of 0 in C's framing", [bytes.fromhex("1e0208001f") + F], [garbage(0, 5, "limit-exceeded"), whole(5, 25, FV)], doc="heka.md §2.2, §2.4 S08", why=why, rules=("heka.scan.c",),
           options={"resync": "c"}, needs=["feature:resync-c"], level="may")


def _written_headers(s: HekaCaseBuilder) -> None:
    """§1, §2: the length of a header and the version of a key, to the bit."""
    limit, sign = ("heka.encode.limit",), ("heka.encode.frame", "heka.encode.sign")
    def accepts(name: str, title: str, why: str, rules: tuple[str, ...], head: bytes, **header: Any) -> None:
        made = frame_value(**header)
        s.other(f"encode/{name}", title, "encode", {"value": frames(_given(made))}, {"accept": {"value": frames(made), "bytes": [frame(M, head).hex()]}}, doc="heka.md §1, §2", why=why, rules=rules, needs=GIVEN)
    def rejects(name: str, title: str, twin: str, rules: tuple[str, ...], **header: Any) -> None:
        s.unfit(f"encode/{name}", title, frames(_given(frame_value(**header))), f"encode/{twin}", doc="heka.md §1, §2", why="Written anyway it wraps.", rules=rules, needs=GIVEN)
    fits = "A writer that is too careful refuses what fits."
    for name, number in (("0", 0), ("largest", 2**32 - 1)):
        accepts(f"version-{name}", f"A key version of {number}", fits, sign, num(5, number), version=number)
    for name, number in (("minus-1", -1), ("2-32", 2**32), ("2-33", 2**33)):
        rejects(f"version-{name}", f"A key version of {number}", "version-largest", limit, version=number)
    accepts("header-255", "A header of 255 bytes", fits, limit, sub(4, b"s" * 250), signer=b"s" * 250)
    rejects("header-256", "A header of 256 bytes", "header-255", limit, signer=b"s" * 251)
    accepts("signer-without-keys", "A signer, and no keys at all", "Who has no keys cannot sign, and passes on what there is.", sign, sub(4, b"test") + num(5, 1), signer=b"test", version=1)
