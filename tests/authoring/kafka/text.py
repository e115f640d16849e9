"""Text and opaque bytes in keys, values and headers: kafka.md §1.3, §2.1.

Keys, values and header values are bytes. A header key is UTF-8. Every length counts bytes, not characters.
"""

from typing import Any, Final

from tests.authoring.case_builder import CaseBuilder
from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.kafka.entry_bytes import (
    batch,
    batch_value,
    gzip,
    message,
    message_value,
    record,
    record_value,
)

UTF8: Final = (
    ("two-bytes", "é, a character of two bytes", "é".encode()),
    ("four-bytes", "a character beyond the BMP, of four bytes", "🐱".encode()),
    ("nul", "a zero byte between two letters", b"a\x00b"),
    ("byte-order-mark", "EF BB BF and a letter", b"\xef\xbb\xbfa"),
    ("decomposed", "e and a combining accent", b"e\xcc\x81"),
    ("eighty-bytes", "é forty times, 80 bytes", "é".encode() * 40),
)
"""Valid UTF-8 of which the bytes, the characters or the UTF-16 units are not as many as each other, or that is easily changed."""

NOT_UTF8: Final = (
    ("ff-fe", "FF FE, which occurs in no UTF-8", b"\xff\xfe"),
    ("cut", "the first byte of é", b"\xc3"),
    ("surrogates", "a character beyond the BMP as two surrogates of three bytes each", b"\xed\xa0\xbd\xed\xb0\xb1"),
    ("overlong-nul", "C0 80, as Java's modified UTF-8 has for a zero byte", b"\xc0\x80"),
)

OPAQUE: Final = (*UTF8, *NOT_UTF8)

REPORTS: Final = {
    "two-bytes": "SOHU-Co/kafka-node #35, bpot/poseidon #18, spring-xd #1871: a length was counted in characters.",
    "four-bytes": "A language of 16-bit characters counts two of them, where there are four bytes.",
    "nul": "Blizzard/node-rdkafka PR 970: a header value was cut at its zero byte.",
    "byte-order-mark": "Some decoders of text leave it out without a word.",
    "decomposed": "A library that normalises text writes two bytes in place of three.",
    "eighty-bytes": "Counted in characters the length takes one byte, and takes two.",
}
BINARY: Final = "Blizzard/node-rdkafka PR 970: bytes that went through text came back as others."


def write(writer: FixtureWriter) -> None:
    v0, v1, v2 = (CaseBuilder(writer, "kafka.batch", f"v{magic}") for magic in (0, 1, 2))
    for magic, builder in ((0, v0), (1, v1)):
        _messages(builder, magic)
        _inner(builder, magic)
    _records(v2)
    _headers(v2)
    _packed(v2)


def why_of(name: str) -> str:
    return REPORTS.get(name, BINARY)


def _both(s: CaseBuilder, name: str, title: str, data: bytes, value: Any, why: str, rules: tuple[str, str], doc: str, **more: Any) -> None:
    """Add the decoding and the encoding of the same bytes; `rules` has a rule for each."""
    s.accepts(f"text/{name}", title, data, value, doc=doc, why=why, rules=rules[:1], **more)
    s.writer.add({"id": f"{s.prefix}encode/text-{name}", "title": title, "why": why, "op": "encode", "level": "must", "rules": list(rules[1:]), "input": {"value": value},
                  "expect": {"accept": {"value": value, "bytes": [data.hex()]}}, "source": {"origin": "builder", "document": doc}, **more})


def _messages(s: CaseBuilder, magic: int) -> None:
    """§2.1: key and value of v0 and v1 are bytes."""
    for name, title, text in OPAQUE:
        _both(s, name, f"Key and value: {title}", message(magic, text, text * 2), message_value(magic, text, text * 2), why_of(name),
              ("kafka.legacy.opaque", "kafka.legacy.encode.opaque"), "kafka.md §2.1")


def _inner(s: CaseBuilder, magic: int) -> None:
    """§2.2: the messages of a wrapper hold the same bytes as others."""
    texts = [text for _, _, text in OPAQUE]
    rows = [(text, texts[number - 1], number) for number, text in enumerate(texts)]
    raw = b"".join(message(magic, key, value, offset=offset) for key, value, offset in rows)
    held = {"offset": len(rows) - 1, "attributes": 1}
    s.accepts("text/wrapper", "Text and other bytes in the messages of a gzip wrapper", message(magic, None, gzip(raw), **held),
              message_value(magic, None, None, messages=[message_value(magic, key, value, offset=offset) for key, value, offset in rows], **held),
              doc="kafka.md §2.1, §2.2", why="Unpacked bytes take another path than plain ones, and some turn into text on it.", rules=("kafka.legacy.opaque",), needs=["codec:gzip", "feature:wrapper"])


def _records(s: CaseBuilder) -> None:
    """§1.3: key and value of v2 are bytes."""
    for name, title, text in OPAQUE:
        _both(s, name, f"Key and value: {title}", batch(record(text, text * 2), 1), batch_value([record_value(text, text * 2)]), why_of(name), ("kafka.v2.opaque", "kafka.v2.encode.opaque"), "kafka.md §1.3")


def _headers(s: CaseBuilder) -> None:
    """§1.3: a header key is UTF-8, a header value is bytes."""
    def both(name: str, title: str, pairs: tuple[tuple[bytes, bytes], ...], why: str, rules: tuple[str, str]) -> None:
        _both(s, name, title, batch(record(b"k", b"v", pairs), 1), batch_value([record_value(b"k", b"v", pairs)]), why, rules, "kafka.md §1.3", needs=["feature:headers"])
    key = ("kafka.v2.headers.text", "kafka.v2.encode.headers.text")
    for name, title, text in UTF8:
        both(f"header-key-{name}", f"A header key: {title}", ((text, b"1"),), why_of(name), key)
    both("header-keys-alike", "Two header keys that look alike: é composed, and e with a combining accent", (("é".encode(), b"1"), (b"e\xcc\x81", b"2")), "They are two keys: normalised they are one, and a header is lost.", key)
    for name, title, text in OPAQUE:
        both(f"header-value-{name}", f"A header value: {title}", ((b"h", text),), why_of(name), ("kafka.v2.opaque", "kafka.v2.encode.opaque"))


def _packed(s: CaseBuilder) -> None:
    """§3: the same bytes, unpacked."""
    pairs = tuple((text, other) for (_, _, text), (_, _, other) in zip(UTF8, OPAQUE[2:], strict=False))
    rows = [(text, OPAQUE[number - 1][2], number) for number, (_, _, text) in enumerate(OPAQUE)]
    raw = b"".join(record(key, value, pairs, off=offset) for key, value, offset in rows)
    s.accepts("text/gzip", "Text and other bytes in keys, values and headers of a gzip batch", batch(gzip(raw), len(rows), attributes=1),
              batch_value([record_value(key, value, pairs, off=offset) for key, value, offset in rows], attributes=1), doc="kafka.md §1.3, §3",
              why="Unpacked bytes take another path than plain ones, and some turn into text on it.", rules=("kafka.v2.opaque", "kafka.v2.headers.text"), needs=["codec:gzip", "feature:headers"])
