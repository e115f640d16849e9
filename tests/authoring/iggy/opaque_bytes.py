"""Text and other bytes in every field of a message that holds them, read and written: iggy.md §2, §3, §5 to §8.

A payload, a value of kind raw and a key of a partitioning are bytes. A key of a header, a value of kind string and
a name are UTF-8. Every length counts bytes. A case has a message for each sort of bytes, with one header at most, so
that no order of headers is left open.
"""

# fmt: off

from collections.abc import Sequence

from tests.authoring.fixture_writer import FixtureWriter
from tests.authoring.iggy.case_builder import CaseBuilder
from tests.authoring.iggy.headers_from_0_9 import block, keyed_value
from tests.authoring.iggy.message_bodies import Body, Row, bodies
from tests.authoring.iggy.message_bytes import kind_value, map_value, name, tagged, tlv

TEXTS = (
    ("two-bytes", "é, a character of two bytes", "é".encode()),
    ("four-bytes", "a character beyond the BMP, of four bytes", "🐱".encode()),
    ("nul", "a zero byte between two letters", b"a\0b"),
)
OTHER = b"\xff\xfe\xc3"
"""Bytes that are no UTF-8, in three ways."""

WHY = {
    "two-bytes": "A length counted in characters is one too small (iggy.md §11.1, J2).",
    "four-bytes": "A language of 16-bit characters counts two of them, where there are four bytes.",
    "nul": "C strings end there.",
    "other": "Bytes that went through text come back as others (iggy.md §11.1, N2).",
}
PAYLOADS: tuple[Row, ...] = (*((part, ()) for _, _, part in TEXTS), (OTHER, ()))
FIRST = tuple((part, "string", part * 2) for _, _, part in TEXTS)
"""Headers to 0.8: the key, the kind and the bytes of the value."""
KEYED = tuple(("string", *header) for header in FIRST)
"""The same from 0.9 on, with the kind of the key."""
WITHOUT_KINDS = (*FIRST, (b"raw", "raw", OTHER))
WITH_KINDS = (*KEYED, ("string", b"raw", "raw", OTHER), ("raw", OTHER, "raw", b"\0"))


def write(writer: FixtureWriter) -> None:
    """Add the cases of every format that holds what a user wrote."""
    for body in bodies():
        _both(writer, body, "payloads", "Text and other bytes as payloads", PAYLOADS, "iggy.text.payload")
        rows = tuple((b"x", (header,)) for header in (WITH_KINDS if body.is_keyed else WITHOUT_KINDS))
        _both(writer, body, "headers", "Text and other bytes in headers", rows, "iggy.text.headers")
    _maps(writer)
    _names(writer)
    _keys(writer)


def _both(writer: FixtureWriter, body: Body, label: str, title: str, rows: Sequence[Row], rule: str) -> None:
    """Add the decoding and the encoding of the same messages."""
    s, rules, why = body.cases(writer), (rule, body.layout), " ".join(WHY.values())
    data, value = body.made(rows)
    s.accepts(f"text/{label}", title, data, value, doc=body.doc, why=why, rules=rules)
    s.writes(f"encode/text-{label}", title, value, *(() if body.is_json else (data,)), doc=body.doc, why=why, rules=rules)


def _maps(writer: FixtureWriter) -> None:
    """§2.4: blocks of headers by themselves."""
    for revision in ("0.0.30", "0.9", "0.10"):
        s, keyed = CaseBuilder(writer, "iggy.headers", revision), revision != "0.0.30"
        labels = (*(label for label, _, _ in TEXTS), "other", "raw-key")
        titles = (*(f"A key and a string: {title}" for _, title, _ in TEXTS), "A raw value that is no UTF-8", "A raw key that is no UTF-8")
        headers = WITH_KINDS if keyed else WITHOUT_KINDS
        for label, title, header in zip(labels, titles, headers, strict=False):
            data, value = (block(header), keyed_value(header)) if keyed else (tlv(header), map_value(header))
            why = WHY.get(label, WHY["other"])
            s.accepts(f"text/{label}", title, data, {"headers": value}, doc="iggy.md §2.4", why=why, rules=("iggy.text.headers",))
            s.writes(f"encode/text-{label}", title, {"headers": value}, data, doc="iggy.md §2.4", why=why, rules=("iggy.text.headers",))


def _names(writer: FixtureWriter) -> None:
    """§2.1: a name is UTF-8."""
    rules = ("iggy.identifier.layout", "iggy.identifier.length")
    for revision in ("0.0.30", "0.8"):
        s = CaseBuilder(writer, "iggy.identifier", revision)
        for label, title, part in TEXTS:
            value = kind_value("string", part)
            s.accepts(f"text/{label}", f"A name: {title}", name(part), value, doc="iggy.md §2.1", why=WHY[label], rules=rules)
            s.writes(f"encode/text-{label}", f"A name: {title}", value, name(part), doc="iggy.md §2.1", why=WHY[label], rules=rules)


def _keys(writer: FixtureWriter) -> None:
    """§2.2: a key of a partitioning is bytes."""
    for revision in ("0.0.30", "0.9"):
        s = CaseBuilder(writer, "iggy.partitioning", revision)
        for label, title, part in (*TEXTS, ("other", "bytes that are no UTF-8", OTHER)):
            value, data = kind_value("messages_key", part), tagged(3, part)
            s.accepts(f"text/{label}", f"A key: {title}", data, value, doc="iggy.md §2.2", why=WHY[label], rules=("iggy.partitioning.layout",))
            s.writes(f"encode/text-{label}", f"A key: {title}", value, data, doc="iggy.md §2.2", why=WHY[label], rules=("iggy.partitioning.layout",))
