"""`heka.stream/0.10`, frames whose content is returned as bytes: heka.md §2, §2.4 S17, S31, S35."""

# fmt: off

from typing import Any

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.heka.case_builder import HekaCaseBuilder
from tests.authoring.heka.documented_bytes import stream
from tests.authoring.heka.frame_bytes import (
    KEYS,
    F,
    M,
    frame,
    frames,
    garbage,
    header_value,
    signature,
    tail,
    whole,
)

OPTIONS = {"content": "opaque"}
NEEDS = ["feature:opaque-content"]
SIGNED = {"options": {"keys": KEYS, **OPTIONS}, "needs": ["feature:hmac", *NEEDS]}

CONTENT, FRAME = "heka.stream.content.opaque", "heka.encode.content"
HELLO = b"hello"
EVERY_BYTE = bytes(range(256))
SEPARATORS = bytes.fromhex("1e0208051f7878")
BAD_UUID = stream("S31")[5:37]
"""A message with a uuid of one byte whose payload is a whole frame."""


def write(writer: FixtureWriter) -> None:
    s = HekaCaseBuilder(writer, "heka.stream", "0.10")
    for chapter in (_read, _checked, _signed, _scanned, _written):
        chapter(s)


def _value(content: bytes, signed_by: bytes | None = None, **header: Any) -> Any:
    """A frame with the bytes of its content."""
    return {"header": header_value(len(content), **header), "message": content.hex(), "signer": signed_by and signed_by.hex()}


def _accepts(s: HekaCaseBuilder, name: str, title: str, data: bytes, given: tuple[Any, ...], why: str, **more: Any) -> None:
    rules, doc = more.pop("rules", (CONTENT,)), more.pop("doc", "heka.md §2")
    s.accepts(f"opaque/{name}", title, data, frames(*given), doc=doc, why=why, rules=rules, **{"options": OPTIONS, "needs": NEEDS, **more})


def _rejects(s: HekaCaseBuilder, name: str, title: str, data: bytes, cls: str, at: int, before: tuple[Any, ...], twin: str, why: str, **more: Any) -> None:
    rules, doc = (CONTENT, more.pop("rule")), more.pop("doc", "heka.md §2")
    s.rejects(f"opaque/{name}", title, data, cls, at=at, before=frames(*before), twin=f"opaque/{twin}", doc=doc, why=why, rules=rules, **{"options": OPTIONS, "needs": NEEDS, **more})


def _read(s: HekaCaseBuilder) -> None:
    any_bytes = "The content is usually a message, and may be anything: the frame does not depend on it."
    _accepts(s, "hello", "A frame that says hello, then one of a message", frame(HELLO) + F, (_value(HELLO), _value(M)), any_bytes, doc="heka.md §2.4 S35")
    _accepts(s, "message", "A message that nobody decodes", F, (_value(M),), "What is asked for is its bytes.", doc="heka.md §2.4 S01")
    _accepts(s, "bad-uuid-with-nested-frame", "A message with a bad uuid that holds a whole frame", stream("S31"), (_value(BAD_UUID), _value(M)), "Without decoding there is no bad message, and no frame inside one.", doc="heka.md §2.4 S31", flags=["security"])
    _accepts(s, "separators", "Content that begins like a frame", frame(SEPARATORS) + F, (_value(SEPARATORS), _value(M)), "Nothing is escaped, and content is not looked through.", rules=(CONTENT, "heka.stream.frame.opaque"))
    _accepts(s, "every-byte", "The bytes 00 to ff", frame(EVERY_BYTE), (_value(EVERY_BYTE),), "Content is not text.")
    _accepts(s, "one-byte", "One byte of content", frame(b"\0"), (_value(b"\0"),), "The least content.")
    _accepts(s, "cut", "hello, and a frame that the bytes end in", frame(HELLO) + frame(HELLO)[:-1], (_value(HELLO),), "The length in the header counts, whatever the content is.", rules=(CONTENT, "heka.stream.tail"), consumed=10)


def _checked(s: HekaCaseBuilder) -> None:
    """The header is checked as with any content."""
    limit = {"max_message": 5, **OPTIONS}
    _accepts(s, "of-the-limit", "5 bytes where 5 are allowed", frame(HELLO), (_value(HELLO),), "The limit is inclusive.", rules=(CONTENT, "heka.stream.length.limit"), options=limit)
    _rejects(s, "over-the-limit", "6 bytes where 5 are allowed", frame(b"hello!"), "limit-exceeded", 2, (), "of-the-limit", "The limit is one of bytes, not of messages.", rule="heka.stream.length.limit", also=("bad-length",), options=limit)
    _rejects(s, "no-message-length", "hello, and a header without message_length", frame(HELLO) + bytes.fromhex("1e0218001f"), "missing-field", 14, (_value(HELLO),), "hello", "Without a length there is no content to return.", rule="heka.stream.length.required", also=("bad-length", "other"))
    _rejects(s, "no-unit-separator", "hello, and ff in place of 1f", frame(HELLO) + bytes.fromhex("1e020805ff") + HELLO, "bad-separator", 14, (_value(HELLO),), "hello", "What is no frame has no content.", rule="heka.stream.unit-separator", also=("bad-length", "other"))


def _header(key: bytes) -> bytes:
    return signature(HELLO, key, b"test")


def _proved() -> Any:
    return _value(HELLO, b"test", signer=b"test", version=1, digest=_header(b"testkey")[-16:])


def _signed(s: HekaCaseBuilder) -> None:
    doc = "heka.md §3"
    _accepts(s, "signed", "A signed frame that says hello", frame(HELLO, _header(b"testkey")), (_proved(),), "The digest is one of bytes: it needs no message.", rules=(CONTENT, "heka.stream.hmac.digest"), doc=doc, **SIGNED)
    wrong = frame(HELLO, _header(b"zero"))
    _rejects(s, "signed-with-another-key", "hello, signed with another key", wrong, "auth-failed", len(wrong) - len(HELLO), (), "signed", "Who returns content undecoded returns none that is forged.", rule="heka.stream.hmac.digest", doc=doc, flags=["security"], **SIGNED)


def _scan(s: HekaCaseBuilder, name: str, title: str, data: bytes, items: list[Any], why: str, **more: Any) -> None:
    doc = more.pop("doc", "heka.md §2")
    s.scan(f"scan/opaque-{name}", title, [data], items, doc=doc, why=why, rules=(CONTENT, *more.pop("rules", ())), **{"options": OPTIONS, "needs": NEEDS, **more})


def _scanned(s: HekaCaseBuilder) -> None:
    hello, message = _value(HELLO), _value(M)
    _scan(s, "hello", "A frame that says hello, then one of a message", frame(HELLO) + F, [whole(0, 10, hello), whole(10, 25, message)], "A frame is found by its header alone.", doc="heka.md §2.4 S35")
    _scan(s, "nested", "A message with a bad uuid that holds a whole frame", stream("S31"), [whole(0, 37, _value(BAD_UUID)), whole(37, 25, message)], "Frames are not looked for inside a frame.", doc="heka.md §2.4 S31", flags=["security"], rules=("heka.scan.nested",))
    _scan(s, "garbage", "hello, garbage, hello and the beginning of a frame", frame(HELLO) + b"BOGUS" + frame(HELLO) + F[:9], [whole(0, 10, hello), garbage(10, 5), whole(15, 10, hello), tail(25, 9)], "Garbage is what is between frames, not what is inside.", rules=("heka.scan.account",))
    cut = stream("S17")
    _scan(s, "cut-frame", "A frame cut after 10 bytes of content, then two frames", cut, [whole(0, 25, _value(cut[5:25])), garbage(25, 15), whole(40, 25, message)], "Without a message to decode, nobody can see that bytes of the next frame are taken.", doc="heka.md §2.4 S17, §2.1", level="should")
    signed, wrong = frame(HELLO, _header(b"testkey")), frame(HELLO, _header(b"zero"))
    size = len(signed)
    items = [whole(0, size, _proved()), garbage(size, size, "auth-failed"), whole(2 * size, size, _proved())]
    _scan(s, "wrong-key-between", "hello signed with another key between two that are signed rightly", signed + wrong + signed, items, "A frame with a wrong signature is dropped, and the next ones are read.", rules=("heka.scan.resync",), doc="heka.md §3", flags=["security"], **SIGNED)


def _given(*contents: bytes, **header: Any) -> Any:
    """Frames as a caller gives them: without what is computed."""
    return frames(*({"header": {key: part for key, part in _value(one, **header)["header"].items() if key != "message_length"}, "message": one.hex()} for one in contents))


def _written(s: HekaCaseBuilder) -> None:
    def accepts(name: str, title: str, contents: tuple[bytes, ...], why: str, **more: Any) -> None:
        accept = {"value": frames(*map(_value, contents)), "bytes": [b"".join(map(frame, contents)).hex()]}
        s.other(f"encode/opaque-{name}", title, "encode", {"value": _given(*contents)}, {"accept": accept}, doc="heka.md §2", why=why, rules=(FRAME, *more.pop("rules", ())), **{"options": OPTIONS, "needs": NEEDS, **more})
    limit = {"max_message": 5, **OPTIONS}
    accepts("hello", "A frame that says hello", (HELLO,), "Content that is no message is framed as any other.")
    accepts("two", "Two frames of other content", (HELLO, EVERY_BYTE), "Nothing stands between them.")
    accepts("separators", "Content that begins like a frame", (SEPARATORS,), "Nothing is escaped.")
    accepts("of-the-limit", "5 bytes where 5 are allowed", (HELLO,), "The limit is inclusive.", options=limit, rules=("heka.encode.limit",))
    s.unfit("encode/opaque-over-the-limit", "6 bytes where 5 are allowed", _given(b"hello!"), "encode/opaque-of-the-limit", doc="heka.md §2", why="Every reader of that limit refuses it.", rules=(FRAME, "heka.encode.limit"), options=limit, needs=NEEDS)
    for name, title, contents in (("empty", "A frame without content", (b"",)), ("empty-second", "hello, then a frame without content", (HELLO, b""))):
        s.unfit(f"encode/opaque-{name}", title, _given(*contents), "encode/opaque-hello", doc="heka.md §7 bug 3", why="hekad writes no frame for nothing, and readers of C refuse one.", rules=(FRAME, "heka.encode.frame"), options=OPTIONS, needs=NEEDS, level="should")
    digest = _header(b"testkey")
    accept = {"value": frames(_proved()), "bytes": [frame(HELLO, digest).hex()]}
    s.other("encode/opaque-signed", "hello, signed with MD5", "encode", {"value": _given(HELLO, signer=b"test", version=1)}, {"accept": accept}, doc="heka.md §3", why="The digest of the content, and nothing else.", rules=(FRAME, "heka.encode.sign"), **SIGNED)
