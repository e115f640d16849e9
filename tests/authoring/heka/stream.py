"""`heka.stream/0.10`, decode: heka.md §2, §7, §8."""

# fmt: off

from typing import Any

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.heka.case_builder import HekaCaseBuilder
from tests.authoring.heka.documented_bytes import stream
from tests.authoring.heka.frame_bytes import (
    FV,
    F,
    M,
    field,
    fld,
    frame,
    frame_value,
    frames,
    msg,
    num,
    overlong,
    sub,
    value,
    vi,
)

GROUP, END = b"\x3b", b"\x3c"
"""The keys of field 7 as a group: beginning and end."""


JUNK = bytes([0x78]) * 126
"""63 times field 15 with the value 120: bug 8 fills a header with it."""


def write(writer: FixtureWriter) -> None:
    s = HekaCaseBuilder(writer, "heka.stream", "0.10")
    for chapter in (
        _frames, _header, _headers, _versions, _groups, _tail, _garbage, _refused_header, _content, _limits, _worked, _reported,
    ):  # fmt: skip
        chapter(s)


R = "heka.stream."


def accepts(s: HekaCaseBuilder, name: str, title: str, row: str | bytes, given: Any, rules: tuple[str, ...], why: str, **more: Any) -> None:
    """Accepted bytes: a row of §2.4, or bytes of the builder."""
    data = stream(row) if isinstance(row, str) else row
    origin = {"doc": more.pop("doc", f"heka.md §2.4 {row}"), "origin": "document"} if isinstance(row, str) else {"doc": more.pop("doc", "heka.md §2")}
    s.accepts(name, title, data, frames(*given), why=why, rules=tuple(R + rule for rule in rules), **origin, **more)


def rejects(s: HekaCaseBuilder, name: str, title: str, row: str | bytes, cls: str, at: int, rules: tuple[str, ...], why: str, before: tuple[Any, ...] = (), twin: str = "frames/two", **more: Any) -> None:
    data = stream(row) if isinstance(row, str) else row
    origin = {"doc": more.pop("doc", f"heka.md §2.4 {row}"), "origin": "document"} if isinstance(row, str) else {"doc": more.pop("doc", "heka.md §2")}
    s.rejects(name, title, data, cls, at=at, before=frames(*before), twin=twin, why=why, rules=tuple(R + rule for rule in rules), **origin, **more)


def _frames(s: HekaCaseBuilder) -> None:
    base = ("frame", "garbage", "unit-separator", "content", "header.empty", "length.required", "length.zero", "length.limit", "length.once", "header.undecodable")
    accepts(s, "frames/none", "No bytes", "S39", (), ("frame",), "An empty file holds no frame and no error.")
    accepts(s, "frames/one", "One frame", "S01", (FV,), base, "The least frame.")
    accepts(s, "frames/two", "Two frames", "S02", (FV, FV), (*base, "before"), "Nothing stands between them.")
    inner = value(payload=bytes.fromhex("1e0208051f7878"))
    accepts(s, "frames/separators-in-payload", "A payload that begins like a frame", "S11", (frame_value(inner, 29), FV), ("frame", "frame.opaque"), "Nothing is escaped: a reader that looks for 1E inside a message finds another stream.")
    for length, code, payload in ((30, "1e", b"x" * 8), (31, "1f", b"x" * 9)):
        data = frame(msg(sub(6, payload)))
        accepts(s, f"frames/length-{length}", f"A message length of 0x{code}", data, (frame_value(value(payload=payload), length),), ("frame.opaque",), "A separator inside the header.", doc="heka.md §8 W6")


def _header(s: HekaCaseBuilder) -> None:
    for size, count in ((128, 124), (255, 250)):
        signer = b"s" * count
        accepts(s, f"header/{size}-bytes", f"A header of {size} bytes", frame(M, sub(4, signer)) + F, (frame_value(signer=signer), FV), ("header-length",),
           "lua_sandbox #113, telemetry-batch-view, heka-py: the length byte read as signed.", doc=f"heka.md §2.4 S{22 if size == 128 else 23}")
    payload, signer = b"p" * 8073, b"s" * 194
    accepts(s, "header/200-bytes-message-8096", "A header of 200 bytes, a message of 8096, a frame", frame(msg(sub(6, payload)), sub(4, signer)) + F, (frame_value(value(payload=payload), 8096, signer=signer), FV), ("header-length",),
       "lsb_heka_cat asks for as many bytes as the signed length says and prints no message at all.", doc="heka.md §7 bug 42")
    accepts(s, "header/30-bytes", "A header length of 0x1e", frame(M, sub(4, b"s" * 26)), (frame_value(signer=b"s" * 26),), ("header-length", "frame.opaque"), "The length byte is a separator.", doc="heka.md §8 W7")
    late = frame_value(signer=b"a")
    accepts(s, "header/length-last", "message_length behind the signer", "S19", (late, FV), ("header.order",), "C wants message_length first and loses the frame.", remarks=("header-order",))
    accepts(s, "header/legacy-encoding", "The message_encoding of before September 2013", "S20", (FV, FV), ("header.unknown",), "Old archives hold it.", remarks=("legacy-encoding",))
    accepts(s, "header/legacy-json", "A header that once meant JSON", bytes.fromhex("1e04081410011f") + M, (FV,), ("header.unknown",), "Every reader of today ignores it.", remarks=("legacy-encoding-json",), doc="heka.md §8 W11")
    accepts(s, "header/unknown-field", "An unknown field 7", "S30", (FV, FV), ("header.unknown",), "A newer writer may add fields.", remarks=("header-unknown-field",))
    accepts(s, "header/overlong-length", "message_length in two bytes", "S21", (FV, FV), ("header.order",), "A writer that reserves room for it.", remarks=("varint-nonminimal",))
    accepts(s, "header/explicit-md5", "hmac_hash_function 0, nothing signed", frame(M, num(3, 0)), (frame_value(function="MD5"),), ("header.presence",), "Written as its default is not absent.")
    accepts(s, "header/every-field-absent", "Only message_length", F, (FV,), ("header.presence",), "Nothing absent is filled in.")


def _tail(s: HekaCaseBuilder) -> None:
    for row, size in (("S12", 10), ("S13", 1), ("S14", 2)):
        accepts(s, f"tail/{size:02d}-bytes", f"A frame and {size} bytes of the next", row, (FV,), ("tail",), "A file that is being written: its tail is neither an error nor a frame.", consumed=25)
    accepts(s, "tail/message-cut", "25 bytes promised, 20 there", bytes.fromhex("1e0208191f") + M, (), ("tail",), "python_moztelemetry delivers the short read as a message.", consumed=0, doc="heka.md §7 bug 46")
    accepts(s, "tail/false-separator", "A separator that claims more than there is", "S15", (), ("tail",), "A decode takes whole frames from byte 0; what it left shows in consumed. A scan finds the frame.", consumed=0)
    accepts(s, "tail/header-without-separator", "A header, its unit separator not yet there", F + bytes.fromhex("1e020814"), (FV,), ("tail",), "A header is judged when its separator is there.", consumed=25, doc="heka.md §2.1")


def _garbage(s: HekaCaseBuilder) -> None:
    why = "What stands between frames is loss or damage, and a strict reader says where."
    rejects(s, "garbage/leading", "Three bytes before a frame", "S03", "bad-separator", 0, ("garbage",), why, twin="frames/one", also=("bad-magic",), level="may")
    for name, row, title in (("between", "S04", "BOGUS between two frames"), ("trailing", "S05", "BOGUS behind a frame"), ("newline", "S06", "A newline behind each frame")):
        rejects(s, f"garbage/{name}", title, row, "bad-separator", 25, ("garbage", "before"), why, (FV,), also=("bad-magic", "trailing-data"), level="may")
    rejects(s, "garbage/only", "40 bytes without separator", "S38", "bad-separator", 0, ("garbage",), why, twin="frames/one", also=("bad-magic",), level="may")


def _refused_header(s: HekaCaseBuilder) -> None:
    def bad(name: str, title: str, row: str, cls: str, at: int, rule: str, why: str, *also: str, **more: Any) -> None:
        rejects(s, f"refused/{name}", title, row, cls, at, (rule,), why, also=("bad-length", "other", *also) if cls != "bad-length" else ("missing-field", "limit-exceeded", *also), **more)
    bad("zero-header", "A header of no bytes", "S07", "bad-length", 1, "header.empty", "Go delivers an empty record.")
    bad("zero-message", "A message_length of 0", "S08", "bad-length", 2, "length.zero", "Go delivers an empty record; C discards 5 bytes.", level="should")
    bad("no-unit-separator", "ff in place of 1f", "S09", "bad-separator", 4, "unit-separator", "python_moztelemetry yields a message of None.")
    rejects(s, "refused/second-datagram", "A datagram that Go frames by the header of the one before", bytes.fromhex("1e020305ee") + M, "bad-separator", 4, ("unit-separator",),
       "Go keeps the header of a cut datagram and delivers this one by its length.", flags=["security"], also=("type-mismatch", "missing-field"), doc="heka.md §2.4 P01")
    bad("header-one-too-long", "A header length one too large", "S10", "bad-separator", 5, "unit-separator", "One wrong byte must not cost the next frame.")
    bad("no-message-length", "A header without message_length", "S18", "missing-field", 4, "length.required", "Go and Python take it as 0 and deliver an empty record.")
    bad("too-big", "A message_length of 65537", "S24", "limit-exceeded", 2, "length.limit", "mozilla-services/heka #1221: the connection was never read again.")
    bad("33-bits", "A message_length of 2^32 + 20", "S25", "limit-exceeded", 2, "length.limit", "Go and Python take it modulo 2^32: two streams.", "bad-varint", "length-past-end", flags=["security"], level="should")
    bad("minus-one", "A message_length of -1", "S37", "limit-exceeded", 2, "length.limit", "Ten bytes; signed readers ask for a negative size.", "negative-length", "bad-varint")
    bad("length-twice-last-right", "message_length 5, then 20", "S26", "duplicate-field", 4, "length.once", "Go takes the last, C the first: two streams.", "unknown-field", flags=["security"], level="should")
    bad("length-twice-first-right", "message_length 20, then 5", "S27", "duplicate-field", 4, "length.once", "Go takes the last, C the first: two streams.", "length-past-end", flags=["security"], level="should")
    bad("stray-byte", "A stray ff behind message_length", "S28", "length-past-end", 4, "header.undecodable", "Go delivers although the header does not parse.", "truncated", "bad-varint")
    bad("wrong-wire-type", "message_length as bytes", "S29", "length-past-end", 4, "header.undecodable", "No header.", "type-mismatch", "truncated")
    bad("eleven-bytes", "A message_length of 11 bytes", "S36", "bad-varint", 3, "header.undecodable", "Go takes any length of number.", "length-past-end")
    bad("half-header", "A header of one byte", "S41", "length-past-end", 3, "header.undecodable", "No header.", "truncated", "missing-field")


def _content(s: HekaCaseBuilder) -> None:
    rejects(s, "content/bad-uuid-with-nested-frame", "A refused message that holds a whole frame", "S31", "bad-length", 7, ("content",), "C drops the outer and delivers the inner: whoever writes a payload writes messages.", flags=["security"], level="should")
    rejects(s, "content/not-protobuf", "A message that says hello", "S35", "unknown-field", 5, ("content",), "Go's splitter delivers whatever is framed.", also=("type-mismatch", "bad-kind", "length-past-end", "missing-field", "truncated"), level="may")
    rejects(s, "content/cut-in-front-of-frames", "A frame cut after 10 bytes of message", "S17", "length-past-end", 24, ("content",), "It takes the beginning of the next frame for its own.", also=("type-mismatch", "truncated", "unknown-field", "missing-field"), level="should")
    rejects(s, "content/second-frame", "The second frame is refused", F + frame(b"hello") + F, "unknown-field", 30, ("content", "before"), "The frame before it is good and must be delivered.", (FV,), also=("type-mismatch", "bad-kind", "length-past-end", "missing-field", "truncated"), doc="heka.md §7 bug 47", level="may")


def _limits(s: HekaCaseBuilder) -> None:
    payload = b"p" * (65536 - 20 - 4)
    body = msg(sub(6, payload))
    accepts(s, "limit/65536", "A message of 65536 bytes", frame(body), (frame_value(value(payload=payload), 65536),), ("length.limit",), "The limit is inclusive.", doc="heka.md §2, limits; §8 W12")
    longer = msg(sub(6, payload + b"p"))
    rejects(s, "limit/65537", "A message of 65537 bytes, all there", frame(longer), "limit-exceeded", 2, ("length.limit",), "The default of every daemon; a longer one is refused by its header.", twin="limit/65536", also=("bad-length",), doc="heka.md §2, limits; §8 W12")
    accepts(s, "limit/raised", "The same under a limit of 70000", frame(longer), (frame_value(value(payload=payload + b"p"), 65537),), ("length.limit",), "heka-cat reads up to 4 MiB.", options={"max_message": 70000}, doc="heka.md §2, config")
    for size in (127, 128):
        text = b"p" * (size - 22 - (1 if size - 22 > 127 else 0))
        accepts(s, f"limit/length-{size}", f"A message of {size} bytes", frame(msg(sub(6, text))), (frame_value(value(payload=text), size),), ("header-length",), "Where message_length takes one more byte.", doc="heka.md §8 W12")


W3 = bytes.fromhex(
    "1e030888011f0a10202122232425262728292a2b2c2d2e2f108094ebdc0328ffffffff0f40ffffffff0f520a0a016110001a0022016252180a016e10021a05636f756e74320affffffffffffffffff01"
    "52120a016410031a01733a08000000000000f83f520a0a017410041a00420101520b0a017910011a002a021e1f520f0a04696e747310021a00320301ac02"
)


W3_VALUE = value(uuid=bytes(range(0x20, 0x30)), timestamp=1_000_000_000, severity=-1, pid=-1, fields=[
    field(b"a", "STRING", b"", strings=[b"b"]), field(b"n", "INTEGER", b"count", integers=[-1]), field(b"d", "DOUBLE", b"s", doubles=[1.5]),
    field(b"t", "BOOL", b"", bools=[True]), field(b"y", "BYTES", b"", octets=[b"\x1e\x1f"]), field(b"ints", "INTEGER", b"", integers=[1, 300])])


def _worked(s: HekaCaseBuilder) -> None:
    accepts(s, "worked/w03-every-type", "Go's encoder, a value of each type", W3, (frame_value(W3_VALUE, 136),), ("frame",), "severity and pid -1 in five bytes, as the Go daemon writes them.",
       remarks=("int32-five-byte-negative", "severity-range"), doc="heka.md §8 W3")
    plain = bytes.fromhex("1e0208151f0a100a054142430301000000030100000008108001")
    accepts(s, "worked/w09-plain-that-inflates", "A plain frame whose message is a snappy block too", plain, (frame_value(value(uuid=bytes.fromhex("0a054142430301000000030100000008"), timestamp=128), 21),), ("snappy.declared",),
       "Readers that try snappy first read another message.", doc="heka.md §8 W9", flags=["security"])
    snappy = bytes.fromhex("1e0208161f144c") + M
    accepts(s, "worked/w10-snappy", "A frame of a snappy block, declared", snappy, (frame_value(length=22),), ("snappy.declared",), "message_length counts the compressed bytes.", doc="heka.md §8 W10", options={"compression": "snappy"}, needs=["codec:snappy"])


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
    s.accepts("header/unknown-largest", "The unknown field 536,870,911, which has the largest number", frame(M, num(2**29 - 1, 1)) + F, frames(FV, FV), doc="heka.md §2.4 S30; §4, keys", why="A newer writer may add fields.", rules=("heka.stream.header.unknown",),
         remarks=("header-unknown-field",))
    version, cut = 5 << 3, "One reader finds a key version, which names another key; another reader finds an unknown field."
    for name, title, key, rule in (("overlong-6-bytes", "The key of hmac_key_version in six bytes", overlong(version, 6), "size"), ("overlong-11-bytes", "The key of hmac_key_version in eleven bytes", overlong(version, 11), "size"),
                                   ("2-to-the-32", "A key of 2^32 and the key of hmac_key_version", vi(1 << 32 | version), "largest"), ("2-to-the-63", "A key of 2^63 and the key of hmac_key_version", vi(1 << 63 | version), "largest")):
        s.rejects(f"header/key-{name}", title, frame(M, key + b"\x01"), "bad-varint", at=4, before=frames(), twin="header/unknown-of-3-bytes", doc="heka.md §2.4; §4, keys", why=cut, rules=(f"heka.message.key.{rule}",), also=("bad-kind", "other"))
    s.accepts("header/unknown-before-length", "An unknown field 7 before message_length", b"\x1e\x04" + late + num(1, 20) + b"\x1f" + M, frames(FV), doc="heka.md §2.4 S19, S30", why="The order of fields is free.", rules=("heka.stream.header.unknown",),
         remarks=("header-order", "header-unknown-field"))


def _groups(s: HekaCaseBuilder) -> None:
    """§2.4, S30: a field that nobody knows is passed over, so a group must end as it began; §4, M23.

    protobuf 7.36.2 for Python, run on `08 14` and so many `3b` and `3c`: 100 of them it reads, 101 it does not;
    nor does it read a group that ends under another number.
    """
    known = {"rules": ("heka.stream.header.unknown",), "remarks": ("header-unknown-field",), "doc": "heka.md §2.4 S30; §4 M23"}
    why = "A newer writer may add fields."
    s.accepts("header/unknown-group", "An unknown group 7", frame(M, GROUP + num(1, 5) + END) + F, frames(FV, FV), why=why, **known)
    s.accepts("header/unknown-groups-100", "A hundred groups in one another", frame(M, GROUP * 100 + END * 100) + F, frames(FV, FV), why="As many as Google's own parsers take.", **known)
    refused = {"rules": ("heka.stream.header.undecodable",), "doc": "heka.md §2.4; §4 M23, and protobuf", "before": frames(), "twin": "header/unknown-group"}
    also = ("bad-kind", "bad-length", "other")
    for name, title, end in (("higher", "8", b"\x44"), ("lower", "6", b"\x34")):
        s.rejects(f"header/group-ends-{name}", f"A group 7 that ends as {title}", frame(M, GROUP + end), "bad-nesting", at=5, also=also, why="Who does not look at the number reads a group inside a group as its end.", **refused)
    inner = GROUP + b"\x43" + END + b"\x44"
    s.rejects("header/groups-crossed", "Groups 7 and 8, ended in the order of their beginnings", frame(M, inner), "bad-nesting", at=6, also=also, why="Groups lie in one another.", **refused)
    wide = vi(1 << 3) + b"\xff" * 9 + b"\x01"
    s.accepts("header/unknown-group-of-minus-one", "A group that holds a number of ten bytes", frame(M, GROUP + wide + END) + F, frames(FV, FV), why="−1 takes ten bytes, in a group as elsewhere.", **known)
    s.rejects("header/unknown-group-of-11-bytes", "A group that holds a number of eleven bytes", frame(M, GROUP + vi(1 << 3) + b"\x80" * 10 + b"\x00" + END), "bad-varint", at=6, also=("bad-length", "other"), why="No number of 64 bits is that long.", **refused)
    s.rejects("header/unknown-groups-101", "A hundred and one groups in one another", frame(M, GROUP * 101 + END * 101), "bad-nesting", at=104, level="may", also=(*also, "limit-exceeded"), why="A reader that calls itself for each needs a limit.", **refused)


def _reported(s: HekaCaseBuilder) -> None:
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
