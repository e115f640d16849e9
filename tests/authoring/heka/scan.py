"""`heka.stream/0.10`, scan: heka.md §2.1 to §2.4, §7, §9."""

# fmt: off

from typing import Any

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.heka.case_builder import HekaCaseBuilder
from tests.authoring.heka.documented_bytes import frame_of, stream
from tests.authoring.heka.frame_bytes import (
    FV,
    KEYS,
    F,
    M,
    frame,
    frame_value,
    frames,
    garbage,
    msg,
    num,
    sub,
    tail,
    value,
    whole,
)


def write(writer: FixtureWriter) -> None:
    s = HekaCaseBuilder(writer, "heka.stream", "0.10")
    for chapter in (_account, _split, _resync, _end, _content, _chunks, _modes, _framings, _places, _reported):
        chapter(s)


R = "heka.scan."


def one(at: int) -> Any:
    return whole(at, 25, FV)


def _scan(s: HekaCaseBuilder, name: str, title: str, row: str | bytes, items: list[Any], rules: tuple[str, ...], why: str, **more: Any) -> None:
    """A row of §2.4, or bytes of the builder, in one piece unless `chunks` cuts them."""
    data = stream(row) if isinstance(row, str) else row
    doc = more.pop("doc", f"heka.md §2.4 {row}" if isinstance(row, str) else "heka.md §2")
    chunks = more.pop("chunks", [data])
    s.scan(f"scan/{name}", title, chunks, items, doc=doc, why=why, rules=tuple(R + rule for rule in rules), **more)


def _account(s: HekaCaseBuilder) -> None:
    lost = "A byte that is neither delivered nor reported is silent loss."
    _scan(s, "nothing", "No bytes", "S39", [], ("account",), lost)
    _scan(s, "two-frames", "Two frames", "S02", [one(0), one(25)], ("account", "chunks"), lost)
    _scan(s, "leading", "Three bytes before a frame", "S03", [garbage(0, 3), one(3)], ("account", "resync"), lost)
    _scan(s, "between", "BOGUS between two frames", "S04", [one(0), garbage(25, 5), one(30)], ("account", "resync"), lost)
    _scan(s, "trailing", "BOGUS behind a frame", "S05", [one(0), garbage(25, 5)], ("account",), lost)
    _scan(s, "newlines", "A newline behind each frame", "S06", [one(0), garbage(25, 1), one(26), garbage(51, 1)], ("account",), "One of Mozilla's own test files has it; the Scala reader fails on it.")
    _scan(s, "only-garbage", "40 bytes without separator", "S38", [garbage(0, 40)], ("account",), lost)
    inner = value(payload=bytes.fromhex("1e0208051f7878"))
    _scan(s, "separators-in-payload", "A payload that begins like a frame", "S11", [whole(0, 34, frame_value(inner, 29)), one(34)], ("account", "nested"), "Framing is not looked for inside a frame.")


def _split(s: HekaCaseBuilder) -> None:
    """The three files on which Mozilla's split readers lost or doubled records: §9, "Why chunking failed"."""
    def scan(name: str, title: str, payload: bytes, stamps: tuple[int, ...], why: str, **more: Any) -> None:
        bodies = [msg(sub(6, payload) if stamp == 2 else b"", timestamp=stamp) for stamp in stamps]
        items, at = [], 0
        for stamp, body in zip(stamps, bodies, strict=True):
            items.append(whole(at, len(frame(body)), frame_value(value(timestamp=stamp, payload=payload if stamp == 2 else None), len(body))))
            at += len(frame(body))
        _scan(s, f"split-{name}", title, b"".join(map(frame, bodies)), items, ("account", "nested"), why, doc="heka.md §9", **more)
    scan("backtrack", "A payload of four false separators among six frames", bytes.fromhex("1e05ffffffffff") * 4, (1, 2, 3, 4, 5, 6), "The split reader gave record 4 twice.", remarks=("bad-utf8",))
    scan("false-header", "A payload that begins with a header of the wrong separator", bytes.fromhex("1e0208052f") + b"p" * 20, (1, 2, 3, 4), "The split reader lost record 3.")
    scan("phantom", "A payload that holds a whole frame", frame(msg(timestamp=99)) + b"p" * 8, (1, 2, 3, 4), "The split reader gave a record that is none.")


def _resync(s: HekaCaseBuilder) -> None:
    why = "One bad frame must not cost the frames behind it."
    rows = (
        ("zero-header", "S07", 3, "bad-length", "Go delivers an empty record."),
        ("zero-message", "S08", 5, "bad-length", "Go delivers an empty record."),
        ("no-unit-separator", "S09", 5, "bad-separator", "heka-rs never gets past it."),
        ("header-one-too-long", "S10", 25, "bad-separator", why),
        ("no-message-length", "S18", 5, "missing-field", "Go delivers an empty record."),
        ("too-big", "S24", 7, "limit-exceeded", "mozilla-services/heka #1221: the connection was never read again."),
        ("33-bits", "S25", 29, "limit-exceeded", "Go takes it modulo 2^32."),
        ("length-twice", "S26", 27, "duplicate-field", "Go and C read different frames."),
        ("stray-byte", "S28", 26, "length-past-end", "Go delivers it."),
        ("eleven-bytes", "S36", 35, "bad-varint", "Go delivers it."),
        ("minus-one", "S37", 34, "limit-exceeded", why),
        ("half-header", "S41", 4, "length-past-end", why),
    )
    for name, row, size, cls, reason in rows:
        _scan(s, f"refused-{name}", f"A refused header ({name}), then a frame", row, [garbage(0, size, cls), one(size)], ("resync",), reason)
    _scan(s, "doubled-separator", "1E twice, then two frames", "S32", [garbage(0, 1, "bad-separator"), one(1), one(26)], ("resync",), "The second 1E is a header length of 30 to a reader that does not look on.")
    _scan(s, "text-9000", "9000 bytes of text, then a frame", b"x" * 9000 + F, [garbage(0, 9000), one(9000)], ("resync", "account"), "mozilla-services/heka #1561: a read without a record ended the stream.", doc="heka.md §7 bug 6")
    _scan(s, "false-headers-1000", "1000 times 1e 00 00, then a frame", bytes.fromhex("1e0000") * 1000 + F, [garbage(0, 3000, "bad-separator"), one(3000)], ("linear", "resync"),
          "C calls itself for each of them: 100000 end the process.", doc="heka.md §7 bug 38", flags=["security", "resource"], limits={"ms": 2000, "rss_mb": 256})


def _end(s: HekaCaseBuilder) -> None:
    for row, size in (("S12", 10), ("S13", 1), ("S14", 2)):
        _scan(s, f"tail-{size:02d}", f"A frame and {size} bytes of the next", row, [one(0), tail(25, size)], ("end.tail", "account"), "What the next read completes is no garbage.")
    hidden = "Go and C wait for ever: the frames behind a false separator are lost at the end of the file."
    _scan(s, "false-separator", "1e ff before the last frame", "S15", [garbage(0, 2, "truncated"), one(2)], ("end.rescan",), hidden)
    _scan(s, "false-header", "A header that claims 127 bytes, then two frames", "S16", [garbage(0, 5, "truncated"), one(5), one(30)], ("end.rescan",), hidden)
    _scan(s, "separators-64", "64 separators, then a frame", b"\x1e" * 64 + F, [garbage(0, 64, "bad-separator"), one(64)], ("end.rescan",), hidden, doc="heka.md §2.4 S33")
    _scan(s, "separators-300", "300 separators, then a frame", b"\x1e" * 300 + F, [garbage(0, 300, "bad-separator"), one(300)], ("end.rescan",), hidden, doc="heka.md §2.4 S34")
    _scan(s, "garbage-then-false-separator", "BOGUS, then a separator that claims 255 bytes", b"BOGUS\x1e\xffab", [garbage(0, 5), tail(5, 4)], ("end.tail", "account"), "Nothing whole is behind it: it may yet become a frame.")


def _content(s: HekaCaseBuilder) -> None:
    _scan(s, "nested-in-refused", "A refused message that holds a whole frame", "S31", [garbage(0, 37, "bad-length"), one(37)], ("nested",), "C delivers the inner frame: whoever writes a payload writes messages.", flags=["security"])
    _scan(s, "not-protobuf", "A message that says hello, then a frame", "S35", [garbage(0, 10, "unknown-field"), one(10)], ("resync", "nested"), "python_moztelemetry stops for good.", level="should")
    _scan(s, "cut-frame", "A frame cut after 10 bytes of message, then two frames", "S17", [garbage(0, 15, "length-past-end"), one(15), one(40)], ("resync",), "Go takes a good frame's bytes for the cut one's: one of two is lost.")
    two = [one(0), garbage(25, 10, "unknown-field"), garbage(35, 10, "unknown-field"), one(45)]
    _scan(s, "two-refused-messages", "Two refused messages between frames", F + frame(b"hello") * 2 + F, two, ("account",), "Each is a frame of its own that was refused.", level="should")
    signed = frame_of("A01", M)
    proved = frame_value(signer=b"test", version=1, digest=signed[14:30], signed_by=b"test")
    keys = {"options": {"keys": KEYS}, "needs": ["feature:hmac"], "flags": ["security"]}
    _scan(s, "wrong-key-between", "A frame signed with another key between two signed ones", signed + frame_of("A04", M) + signed, [whole(0, 51, proved), garbage(51, 51, "auth-failed"), whole(102, 51, proved)], ("resync", "account"),
          "A frame that nobody vouches for is not delivered, those around it are.", doc="heka.md §3 A01, A04", **keys)
    _scan(s, "claimed-signer", "A signer without HMAC, then a frame", frame_of("A11", M) + F, [garbage(0, 43, "auth-failed"), one(43)], ("resync",), "Go delivers it under the claimed name.", doc="heka.md §3 A11", **keys)
    swallowed = stream("1e02087f1f F F") + b"w" * 90 + F
    _scan(s, "false-header-swallows", "A false header over two frames, whole", swallowed, [garbage(0, 5, "bad-kind"), one(5), one(30), garbage(55, 90), one(145)], ("resync",), "Go delivers the swallowed block as one bad record.", doc="heka.md §2.4 S16, note")


def _chunks(s: HekaCaseBuilder) -> None:
    bytewise, data = "How a stream arrives changes nothing.", stream("S04") + F[:9]
    items = [one(0), garbage(25, 5), one(30), tail(55, 9)]
    _scan(s, "byte-by-byte", "Frames, garbage and a tail, byte by byte", data, items, ("chunks",), bytewise, chunks=[data[i : i + 1] for i in range(len(data))], doc="heka.md §2.4 S40")
    for cut in (1, 2, 5, 24, 26, 31, 33):
        _scan(s, f"cut-at-{cut:02d}", f"The same, cut at {cut}", data, items, ("chunks",), bytewise, chunks=[data[:cut], data[cut:]], doc="heka.md §2.4 S40")
    _scan(s, "empty-chunks", "The same, with empty pieces", data, items, ("chunks",), bytewise, chunks=[b"", data[:7], b"", data[7:], b""], doc="heka.md §2.4 S40")
    marked = stream("S19")
    _scan(s, "remarks", "A frame whose header is out of order, then a frame", marked, [whole(0, 28, frame_value(signer=b"a")), one(28)], ("account",), "A warning of a frame is a warning of the stream.", remarks=("header-order",), doc="heka.md §2.4 S19")


def _modes(s: HekaCaseBuilder) -> None:
    go = {"options": {"resync": "go"}, "needs": ["feature:resync-go"], "level": "may"}
    c = {"options": {"resync": "c"}, "needs": ["feature:resync-c"], "level": "may"}
    why = "What Heka's own splitter does with these bytes, for those who must match it."
    late = whole(0, 28, frame_value(signer=b"a"))
    rows = (
        ("zero-header", "S07", [whole(0, 3, None, "missing-field"), one(3)], [garbage(0, 3, "truncated"), one(3)]),
        ("false-separator", "S15", [tail(0, 27)], [tail(0, 27)]),
        ("cut-frame", "S17", [whole(0, 25, None, "length-past-end"), garbage(25, 15), one(40)], [garbage(0, 15, "length-past-end"), one(15), one(40)]),
        ("length-last", "S19", [late, one(28)], [garbage(0, 28, "missing-field"), one(28)]),
        ("33-bits", "S25", [whole(0, 29, FV), one(29)], [garbage(0, 29, "limit-exceeded"), one(29)]),
        ("length-twice", "S26", [whole(0, 27, FV), one(27)], [garbage(0, 27, "length-past-end"), one(27)]),
        ("length-twice-first", "S27", [whole(0, 12, None, "length-past-end"), garbage(12, 15), one(27)], [whole(0, 27, FV), one(27)]),
        ("stray-byte", "S28", [whole(0, 26, FV), one(26)], [whole(0, 26, FV), one(26)]),
        ("nested", "S31", [whole(0, 37, None, "bad-length"), one(37)], [garbage(0, 12, "bad-length"), one(12), one(37)]),
        ("eleven-bytes", "S36", [whole(0, 35, FV), one(35)], [garbage(0, 35, "bad-varint"), one(35)]),
    )
    for name, row, by_go, by_c in rows:
        _scan(s, f"go-{name}", f"{row} in Go's framing", row, by_go, ("go",), why, **go)
        _scan(s, f"c-{name}", f"{row} in C's framing", row, by_c, ("c",), why, **c)


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


def _places(s: HekaCaseBuilder) -> None:
    """§2.1, §2.4: refusals that are not at the beginning, and at the very end."""
    s.rejects("refused/zero-header-second", "A frame, then a header of no bytes", F + b"\x1e\x00\x1f", "bad-length", at=26, before=frames(FV), twin="frames/one", doc="heka.md §2.4 S07", rules=("heka.stream.header.empty",),
         also=("missing-field", "limit-exceeded"), why="Go delivers an empty record.")
    hello = frame(b"hello")
    s.scan("scan/refused-message-last", "A frame, and a refused message at the end of the stream", [F + hello], [whole(0, 25, FV), garbage(25, 10, "unknown-field")], doc="heka.md §2.4 S35", rules=("heka.scan.account",),
           why="Behind the last frame there is nothing to look at.", level="should")
    s.scan("scan/refused-message-alone", "A refused message, and nothing else", [hello], [garbage(0, 10, "unknown-field")], doc="heka.md §2.4 S35", rules=("heka.scan.account",), why="Behind it there is nothing to look at.", level="should")


def _reported(s: HekaCaseBuilder) -> None:
    def scan(name: str, title: str, chunks: list[bytes], items: list[object], bug: int, why: str, *rules: str, **more: object) -> None:
        s.scan(f"scan/{name}", title, chunks, items, doc=f"heka.md §7 bug {bug}", why=why, rules=tuple(f"heka.scan.{rule}" for rule in rules), **more)

    def one(at: int) -> object:
        return whole(at, 25, FV)
    scan("read-on-behind-nothing", "A frame, a read that gives nothing, a frame", [F, b"", F], [one(0), one(25)], 4, "mozilla-services/heka #1355: what was appended to a file was never read.", "chunks")
    scan("garbage-over-a-record", "More garbage than a record may be long, then a frame", [b"w" * 1400 + F], [garbage(0, 1400), one(1400)], 5, "mozilla-services/heka #1367: a full buffer without a record was looked at for ever.", "account", "resync",
         options={"max_message": 1025})
    scan("garbage-then-header", "Five bytes, then a frame as far as its header", [bytes(5) + F[:5]], [garbage(0, 5), tail(5, 5)], 9, "C counted the bytes that it needs from the wrong place.", "end.tail", "account")
    scan("refused-message-between", "A refused message between two frames", [F + frame(b"hello") + F], [one(0), garbage(25, 10, "unknown-field"), one(35)], 47, "python_moztelemetry ends the file there without a word.", "resync", "account", level="should")
    scan("three-bytes-between", "Three bytes between two frames", [F + b"abc" + F], [one(0), garbage(25, 3), one(28)], 23, "telemetry-batch-view failed the job, and later dropped the rest of the file.", "resync", "account")
