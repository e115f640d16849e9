"""Encode cases of Heka: heka.md §1 (encoder forms), §2 (limits), §3, §7."""

# fmt: off

from typing import Any

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.heka.case_builder import HekaCaseBuilder
from tests.authoring.heka.frame_bytes import (
    GIVEN,
    KEYS,
    UUID,
    F,
    M,
    dbl,
    field,
    fld,
    frame,
    frame_value,
    frames,
    header_value,
    msg,
    num,
    signature,
    sub,
    value,
    vi,
)


def write(writer: FixtureWriter) -> None:
    message, stream = HekaCaseBuilder(writer, "heka.message", "0.10"), HekaCaseBuilder(writer, "heka.stream", "0.10")
    for chapter in (_message, _message_refused, _message_limits, _reported):
        chapter(message)
    for chapter in (_stream, _stream_refused, _header_limits):
        chapter(stream)


R = "heka.encode."


def _accepts(s: HekaCaseBuilder, name: str, title: str, given: Any, data: bytes | None, rules: tuple[str, ...], why: str, doc: str = "heka.md §1", **more: Any) -> None:
    s.encode(f"encode/{name}", title, given, data, doc=doc, why=why, rules=tuple(R + rule for rule in rules), **more)


def _rejects(s: HekaCaseBuilder, name: str, title: str, given: Any, twin: str, rules: tuple[str, ...], why: str, doc: str = "heka.md §1", **more: Any) -> None:
    s.unfit(f"encode/{name}", title, given, f"encode/{twin}", doc=doc, why=why, rules=tuple(R + rule for rule in rules), **more)


def _message(s: HekaCaseBuilder) -> None:
    _accepts(s, "minimal", "uuid and timestamp", value(), M, ("tags", "uuid"), "There is one way to write them.")
    texts = {"type": b"T", "logger": b"L", "payload": b"P", "env_version": b"E", "hostname": b"H"}
    _accepts(s, "texts", "Every text, severity and pid", value(severity=6, pid=1234, **texts), msg(sub(3, b"T"), sub(4, b"L"), num(5, 6), sub(6, b"P"), sub(7, b"E"), num(8, 1234), sub(9, b"H")), ("tags",), "Every encoder writes ascending tags.")
    _accepts(s, "severity-seven", "Severity 7, its default, written", value(severity=7), msg(num(5, 7)), ("tags",), "What is there is written, default or not.")
    ten = b"\xff" * 9 + b"\x01"
    _accepts(s, "minus-ones", "Timestamp, severity and pid of -1", value(timestamp=-1, severity=-1, pid=-1), sub(1, UUID) + b"\x10" + ten + b"\x28" + ten + b"\x40" + ten, ("negative",),
        "mozilla-services/heka #1269: a negative varint that never ended. Go's encoder writes five bytes, and Lua reads 4294967295.", doc="heka.md §7 bug 12")
    _accepts(s, "empty-text", "An empty payload", value(payload=b""), msg(sub(6, b"")), ("tags",), "Empty is not absent.")
    one = value(fields=[field(b"n", "INTEGER", b"count", integers=[1, 300])])
    packed = msg(fld(b"n", num(2, 2), sub(3, b"count"), sub(6, vi(1) + vi(300))))
    unpacked = msg(fld(b"n", num(2, 2), sub(3, b"count"), num(6, 1) + num(6, 300)))
    s.other("encode/integers", "1, 300 in an INTEGER Field", "encode", {"value": one}, {"accept": {"value": one, "bytes": [packed.hex(), unpacked.hex()]}}, doc="heka.md §8 W2", why="Packed or not: a decoder must take both.", rules=(R + "packed", R + "arrays"))
    doubles = value(fields=[field(b"d", "DOUBLE", doubles=[1.0, 2.0])])
    _accepts(s, "doubles", "1.0, 2.0", doubles, msg(fld(b"d", num(2, 3), sub(7, dbl(1.0) + dbl(2.0)))), ("packed", "double"), "Little-endian.", doc="heka.md §4 M70")
    _accepts(s, "bools", "true, false", value(fields=[field(b"t", "BOOL", bools=[True, False])]), msg(fld(b"t", num(2, 4), sub(8, b"\x01\x00"))), ("packed",), "A byte each.")
    _accepts(s, "strings-in-order", "Three strings", value(fields=[field(b"a", strings=[b"1", b"2", b"3"])]), msg(fld(b"a", sub(4, b"1"), sub(4, b"2"), sub(4, b"3"))), ("arrays",), "lua_sandbox #221 wrote them in the order of a hash table.", doc="heka.md §7 bug 14")
    _accepts(s, "empty-bytes", "One empty bytes value", value(fields=[field(b"a", "BYTES", octets=[b""])]), msg(fld(b"a", num(2, 1), sub(5, b""))), ("arrays",), "mozilla-services/heka #1284.", doc="heka.md §7 bug 17")
    _accepts(s, "snappy", "A message as a snappy block", value(), None, ("snappy",), "Compressed bytes are free; what they unpack to is not.", doc="heka.md §5", options={"compression": "snappy"}, needs=["codec:snappy"])


def _message_refused(s: HekaCaseBuilder) -> None:
    _rejects(s, "uuid-15", "A uuid of 15 bytes", value(uuid=UUID[:15]), "minimal", ("uuid",), "Go writes what it has; C writes another uuid, and refuses this one on reading.", level="should")
    _rejects(s, "uuid-empty", "An empty uuid", value(uuid=b""), "minimal", ("uuid",), "Go writes what it has.", level="should")
    _rejects(s, "timestamp-64-bits", "A timestamp of 2^63", value(timestamp=2**63), "minus-ones", ("range",), "It would come back negative.")
    _rejects(s, "pid-32-bits", "A pid of 2^31", value(pid=2**31), "minus-ones", ("range",), "It would come back negative.")
    _rejects(s, "two-arrays", "INTEGER with a string", value(fields=[field(b"a", "INTEGER", strings=[b"b"], integers=[5])]), "integers", ("arrays",), "Readers merge them, or take one for the other.", doc="heka.md §4 M61", level="should")
    _rejects(s, "double-of-seven-bytes", "A double of 7 bytes", {**value(), "fields": [{**field(b"d", "DOUBLE"), "value_double": ["3ff00000000000"]}]}, "doubles", ("double",), "No double.")


def _given(frame_: Any) -> Any:
    """A frame as a caller gives it: without what is computed."""
    header = {key: part for key, part in frame_["header"].items() if key != "message_length"}
    return {"header": header, "message": frame_["message"]}


def _stream(s: HekaCaseBuilder) -> None:
    one = frame_value()
    _accepts(s, "none", "No frames", frames(), b"", ("frame",), "mozilla-services/heka #1326 wrote an empty frame for nothing.", doc="heka.md §7 bug 3")
    s.other("encode/one", "One frame", "encode", {"value": frames(_given(one))}, {"accept": {"value": frames(one), "bytes": [F.hex()]}}, doc="heka.md §8 W1", why="There is one way to write it.", rules=(R + "frame", R + "limit"), origin="document")
    two = frame_value(value(timestamp=2))
    s.other("encode/two", "Two frames", "encode", {"value": frames(_given(one), _given(two))}, {"accept": {"value": frames(one, two), "bytes": [(F + frame(msg(timestamp=2))).hex()]}}, doc="heka.md §2", why="Nothing between them.", rules=(R + "frame",))
    for name, key, function, word in (("sign-md5", b"testkey", None, None), ("sign-sha1", b"testkey", 1, "SHA1")):
        extra = signature(M, key, b"test", 1, function)
        signed = frame_value(function=word, signer=b"test", version=1, digest=extra[-20 if function else -16:], signed_by=b"test")
        bare = frame_value(function=word, signer=b"test", version=1)
        s.other(f"encode/{name}", f"A frame signed with {word or 'MD5'}", "encode", {"value": frames(_given(bare))}, {"accept": {"value": frames(signed), "bytes": [frame(M, extra).hex()]}}, doc="heka.md §3 A01, A03",
                why="The digest of the message bytes, and nothing else.", rules=(R + "sign",), options={"keys": KEYS}, needs=["feature:hmac"])
    long_signer = b"s" * 110
    extra = signature(M, b"k", long_signer, 1)
    signed = frame_value(signer=long_signer, version=1, digest=extra[-16:], signed_by=long_signer)
    s.other("encode/header-136", "A signed header of 136 bytes", "encode", {"value": frames(_given(frame_value(signer=long_signer, version=1)))}, {"accept": {"value": frames(signed), "bytes": [frame(M, extra).hex()]}}, doc="heka.md §7 bug 58",
            why="heka-py packs the length as a signed byte and fails.", rules=(R + "sign", R + "limit"), options={"keys": {"s" * 110 + "_1": b"k".hex()}}, needs=["feature:hmac"])


def _stream_refused(s: HekaCaseBuilder) -> None:
    payload = b"p" * (65537 - 20 - 4)
    _rejects(s, "message-65537", "A message of 65537 bytes", frames(_given(frame_value(value(payload=payload)))), "one", ("limit",), "mozilla-services/heka #1204: every reader refuses it.", doc="heka.md §7 bug 2")
    _rejects(s, "header-280", "A signer of 255 bytes", frames({"header": {k: v for k, v in header_value(0, signer=b"x" * 255, version=1, digest=bytes(16)).items() if k != "message_length"}, "message": value()}), "header-136", ("limit",),
        "mozilla-services/heka #1204: the length byte wrapped to 24.", doc="heka.md §7 bug 2", needs=GIVEN)
    _rejects(s, "no-key", "A signer without key", frames(_given(frame_value(signer=b"nope", version=1))), "sign-md5", ("sign",), "An unsigned frame that names a signer is refused by every verifying reader.", doc="heka.md §3", options={"keys": KEYS}, needs=["feature:hmac", *GIVEN], level="should")


def _message_limits(s: HekaCaseBuilder) -> None:
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


def _header_limits(s: HekaCaseBuilder) -> None:
    """§1, §2: the length of a header and the version of a key, to the bit."""
    limit, sign, fit = ("heka.encode.limit",), ("heka.encode.frame", "heka.encode.sign"), ("heka.encode.range",)
    def accepts(name: str, title: str, why: str, rules: tuple[str, ...], head: bytes, level: str = "must", **header: Any) -> None:
        made = frame_value(**header)
        s.other(f"encode/{name}", title, "encode", {"value": frames(_given(made))}, {"accept": {"value": frames(made), "bytes": [frame(M, head).hex()]}}, doc="heka.md §1, §2", why=why, rules=rules, needs=GIVEN, level=level)
    def rejects(name: str, title: str, twin: str, rules: tuple[str, ...], **header: Any) -> None:
        s.unfit(f"encode/{name}", title, frames(_given(frame_value(**header))), f"encode/{twin}", doc="heka.md §1, §2", why="Written anyway it wraps.", rules=rules, needs=GIVEN)
    fits = "A writer that is too careful refuses what fits."
    for name, number in (("0", 0), ("largest", 2**32 - 1)):
        accepts(f"version-{name}", f"A key version of {number}", fits, fit, num(5, number), version=number)
    for name, number in (("minus-1", -1), ("2-32", 2**32), ("2-33", 2**33)):
        rejects(f"version-{name}", f"A key version of {number}", "version-largest", fit, version=number)
    accepts("header-255", "A header of 255 bytes", fits, limit, sub(4, b"s" * 250), signer=b"s" * 250)
    rejects("header-256", "A header of 256 bytes", "header-255", limit, signer=b"s" * 251)
    accepts("signer-without-keys", "A signer, and no keys at all", "Who has no keys cannot sign, and passes on what there is.", sign, sub(4, b"test") + num(5, 1), level="should", signer=b"test", version=1)


def _reported(s: HekaCaseBuilder) -> None:
    numbers = value(fields=[field(b"a", "INTEGER", integers=[1, 2, 3])])
    data = [msg(fld(b"a", num(2, 2), part)).hex() for part in (sub(6, bytes((1, 2, 3))), b"".join(num(6, n) for n in (1, 2, 3)))]
    s.other("encode/integers-in-order", "1, 2, 3 in an INTEGER Field", "encode", {"value": numbers}, {"accept": {"value": numbers, "bytes": data}}, doc="heka.md §7 bug 14", rules=("heka.encode.arrays", "heka.encode.packed"),
            why="mozilla-services/lua_sandbox #221: written in the order of a hash table.")
    exact = 1428523950123456789
    s.encode("encode/nanoseconds", "A timestamp that no double holds", value(timestamp=exact), msg(timestamp=exact), doc="heka.md §7 bug 44", rules=("heka.encode.range",), why="Lua's numbers are doubles: it comes back as …768.")
