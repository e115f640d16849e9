"""Text and uuids of `heka.message/0.10`, read and written: heka.md §1 and §4, M36 to M39.

protobuf.js #123, bytebuffer.js #19, #20 and #24: characters beyond the basic plane, and lengths counted in characters.
"""

# fmt: off

from typing import Any

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.heka.case_builder import HekaCaseBuilder
from tests.authoring.heka.frame_bytes import field, fld, msg, num, sub, value

TEXTS = ("type", "logger", "payload", "env_version", "hostname")
TAGS = {"type": 3, "logger": 4, "payload": 6, "env_version": 7, "hostname": 9}
DOC = "heka.md §1, §4 M36 to M39"


def write(writer: FixtureWriter) -> None:
    s = HekaCaseBuilder(writer, "heka.message", "0.10")
    for chapter in (_everywhere, _lengths, _uuids):
        chapter(s)


def _filled(part: bytes) -> tuple[Any, bytes]:
    """A message with `part` in each of its texts, each behind another letter, and its bytes."""
    texts = {name: name[:1].encode() + part for name in TEXTS}
    named = field(b"n" + part, "STRING", b"r" + part, strings=[b"v" + part, part])
    octets = field(b"b", "BYTES", octets=[part])
    data = msg(*(sub(TAGS[name], texts[name]) for name in TEXTS),
               fld(b"n" + part, num(2, 0), sub(3, b"r" + part), sub(4, b"v" + part), sub(4, part)), fld(b"b", num(2, 1), sub(5, part)))
    return value(**texts, fields=[named, octets]), data


def _both(s: HekaCaseBuilder, name: str, title: str, given: Any, data: bytes, rules: tuple[str, ...], why: str, **more: Any) -> None:
    """The same message, read and written."""
    remarks = more.pop("remarks", ())
    s.accepts(name, title, data, given, doc=more.get("doc", DOC), why=why, rules=rules, remarks=remarks, **{key: part for key, part in more.items() if key != "doc"})
    s.encode(f"encode/{name.replace('/', '-')}", title, given, data, doc=more.get("doc", DOC), why=why, rules=(*rules, "heka.encode.tags"), **{key: part for key, part in more.items() if key != "doc"})


def _everywhere(s: HekaCaseBuilder) -> None:
    wide = ("heka.message.text.unicode",)
    _both(s, "text/two-bytes-everywhere", "é in every text", *_filled("é".encode()), wide, "A length counted in characters is one too small.")
    _both(s, "text/beyond-the-basic-plane", "U+1F431 in every text", *_filled("\U0001f431".encode()), wide, "protobuf.js #123, bytebuffer.js #19: a character of two UTF-16 units came back as other bytes.")
    _both(s, "text/nul-everywhere", "A NUL inside every text", *_filled(b"a\0b"), wide, "C strings end there.")
    _both(s, "text/not-utf8-everywhere", "ff fe in every text", *_filled(b"\xff\xfe"), ("heka.message.text.utf8",), "Log lines hold what programs wrote.", level="should", remarks=("bad-utf8",))
    octets = _with_bytes(b"\xff\xfe\x00\xc3")
    _both(s, "text/bytes-are-no-text", "ff fe 00 c3 as value_bytes", *octets, ("heka.message.field.octets",), "Bytes are no text: nothing is looked at, cut or replaced.")


def _with_bytes(part: bytes) -> tuple[Any, bytes]:
    return value(fields=[field(b"b", "BYTES", octets=[part])]), msg(fld(b"b", num(2, 1), sub(5, part)))


def _lengths(s: HekaCaseBuilder) -> None:
    """Where the length takes a second byte: 127 and 128; and 64 characters of 128 bytes."""
    why = "bytebuffer.js #20: a text of more than 127 bytes was written with a wrong length."
    for size in (127, 128):
        part = (b"0123456789" * 13)[:size]
        _both(s, f"text/{size}-bytes", f"A payload of {size} bytes", value(payload=part), msg(sub(6, part)), ("heka.message.text.unicode",), why)
        _both(s, f"text/{size}-bytes-of-value", f"value_bytes of {size} bytes", *_with_bytes(part), ("heka.message.field.octets",), why)
    part = "é".encode() * 64
    _both(s, "text/64-characters-of-128-bytes", "A payload of 64 characters in 128 bytes", value(payload=part), msg(sub(6, part)), ("heka.message.text.unicode",), "A length counted in characters fits one byte, the right one needs two.")


def _uuids(s: HekaCaseBuilder) -> None:
    """The documentation asks for type 4; heka.md §1: no reader looks."""
    four, one = bytes.fromhex("f47ac10b58cc4372a5670e02b2c3d479"), bytes.fromhex("6ba7b8109dad11d180b400c04fd430c8")
    rules, why = ("heka.message.uuid.version",), "What the documentation asks writers for: random, with its version and variant."
    data = sub(1, four) + num(2, 1)
    s.accepts("uuid/type-4", "A uuid of type 4", data, value(uuid=four), doc="heka.md §1", why=why, rules=rules)
    s.encode("encode/uuid-type-4", "A uuid of type 4", value(uuid=four), data, doc="heka.md §1", why=why, rules=(*rules, "heka.encode.uuid"))
    s.accepts("uuid/type-1", "A uuid of type 1", sub(1, one) + num(2, 1), value(uuid=one), doc="heka.md §1", rules=rules, level="should", why="No reader looks at the type: a message is not lost for it.")
