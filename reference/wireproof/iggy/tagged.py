"""What identifiers and partitionings share: `kind u8 | len u8 | value[len]`. iggy.md, section 2.2."""

from collections.abc import Mapping

from attrs import frozen

from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer


@frozen
class Tag:
    """A row: code on the wire, name, the lengths its value may have, and the rule book's error."""

    code: int
    name: str
    lengths: range
    detail: str = "InvalidCommand"


def rows(*tags: Tag) -> Mapping[int, Tag]:
    """A table of tags by their code."""
    return {tag.code: tag for tag in tags}


def read_tag(reader: Reader, tags: Mapping[int, Tag]) -> Tag:
    """The kind byte; refused as `bad-kind` if the table has no such row."""
    code = reader.uint8("kind")
    if code not in tags:
        raise reader.reject("bad-kind", "kind", f"kind {code}", at=reader.pos - 1, detail="InvalidCommand")
    return tags[code]


def read_value(reader: Reader, tag: Tag) -> bytes:
    """The length, which must be one of the tag's (`bad-length`), and the value."""
    length = reader.uint8("length")
    if length not in tag.lengths:
        text = f"{length} bytes for {tag.name}"
        raise reader.reject("bad-length", "length", text, at=reader.pos - 1, detail=tag.detail)
    reader.cover("length", "length", reader.pos, reader.pos + length)
    return reader.take("value", length)


def write(writer: Writer, tags: Mapping[int, Tag], name: str, value: bytes) -> None:
    """Write kind, length and value; a length that the kind does not allow is `invalid-value`."""
    tag = next(tag for tag in tags.values() if tag.name == name)
    if len(value) not in tag.lengths:
        raise writer.invalid("value", f"{len(value)} bytes for {name}")
    writer.uint8("kind", tag.code)
    writer.uint8("length", len(value))
    writer.put("value", value)
