"""The layout of identifiers and partitionings: `kind u8 | len u8 | value[len]`. iggy.md, section 2.2."""

from collections.abc import Mapping
from typing import Any

from attrs import frozen

from wireproof.wire.layout import Layout, Length, Number, Octets
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer


@frozen
class Tag:
    """A kind: its code on the wire, its name, the valid lengths of its value, and the server's error."""

    code: int
    name: str
    lengths: range
    detail: str = "InvalidCommand"


def tags_by_code(*tags: Tag) -> Mapping[int, Tag]:
    """Return the tags by code."""
    return {tag.code: tag for tag in tags}


def tagged_layout(name: str, tags: Mapping[int, Tag], value: type[Any]) -> Layout:
    """Return the layout of a value whose kind is one of `tags`."""
    return Layout(
        name,
        (
            Number("kind", "uint8", codes={tag.code: tag.name for tag in tags.values()}),
            Length("length", "uint8", of="value"),
            Octets("value", structure=True),
        ),
        value=value,
        cites="iggy.md §2.2",
    )


def read_tag(reader: Reader, tags: Mapping[int, Tag]) -> Tag:
    """Read the kind byte; refuse an unknown kind as `bad-kind`."""
    code = reader.uint8("kind")
    if code not in tags:
        raise reader.reject("bad-kind", "kind", f"kind {code}", at=reader.pos - 1, detail="InvalidCommand")
    return tags[code]


def read_value(reader: Reader, tag: Tag) -> bytes:
    """Read the length and the value; refuse a length that the kind does not allow as `bad-length`."""
    length = reader.uint8("length")
    reader.cover_next("length", length)
    if length not in tag.lengths:
        text = f"{length} bytes for {tag.name}"
        raise reader.reject("bad-length", "length", text, at=reader.pos - 1, detail=tag.detail)
    return reader.take("value", length)


def write_tagged(writer: Writer, tags: Mapping[int, Tag], name: str, value: bytes) -> None:
    """Write the kind, the length and the value; refuse a length that the kind does not allow."""
    tag = next(tag for tag in tags.values() if tag.name == name)
    if len(value) not in tag.lengths:
        raise writer.invalid("value", f"{len(value)} bytes for {name}")
    writer.uint8("kind", tag.code)
    writer.uint8("length", len(value))
    writer.put("value", value)
