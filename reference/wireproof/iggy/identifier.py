"""The identifier of a stream, topic or consumer: iggy.md, section 2.2."""

from typing import Final, Literal, cast

from attrs import frozen

from wireproof.iggy.header_kinds import is_utf8
from wireproof.iggy.revision import Revision
from wireproof.iggy.tagged_value import Tag, read_tag, read_value, tagged_layout, tags_by_code, write_tagged
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.writer import Writer

IdentifierKind = Literal["numeric", "string"]

TAGS: Final = tags_by_code(Tag(1, "numeric", range(4, 5)), Tag(2, "string", range(1, 256)))
"""A numeric identifier is a u32, a string identifier is UTF-8."""


@frozen
class Identifier:
    """A kind and its bytes on the wire: four little-endian bytes, or UTF-8."""

    kind: IdentifierKind
    value: bytes

    def as_uint32(self) -> int:
        """Return the number; raise `Rejected` (`type-mismatch`) if the identifier is a name."""
        if self.kind != "numeric":
            raise Rejected("type-mismatch", -1, "kind", f"{self.kind}, not numeric")
        return int.from_bytes(self.value, "little")

    def as_str(self) -> str:
        """Return the name; raise `Rejected` (`type-mismatch`) if the identifier is a number."""
        if self.kind != "string":
            raise Rejected("type-mismatch", -1, "kind", f"{self.kind}, not string")
        return self.value.decode()


LAYOUT: Final = tagged_layout("Identifier", TAGS, Identifier)


@frozen
class IdentifierRevision(Revision):
    """A revision of the identifier. `zero`: whether 0 is valid; since 0.8.0 the first stream has it."""

    zero: bool


REVISIONS: Final[dict[str, IdentifierRevision]] = {
    "0.0.30": IdentifierRevision(LAYOUT, zero=False),
    "0.8": IdentifierRevision(LAYOUT, zero=True),
}
"""Revision to its row."""


def decode(revision: IdentifierRevision, reader: Reader, _: Options) -> Identifier:
    """Read one identifier. Bytes after it are left unread."""
    tag = read_tag(reader, TAGS)
    value = read_value(reader, tag)
    fault = _fault(revision, tag.name, value)
    if fault == "zero":
        raise reader.reject("invalid-value", "value", "0", at=reader.pos - 4, detail="InvalidIdentifier")
    if fault == "utf8":
        raise reader.reject("bad-utf8", "value", at=reader.pos - len(value), detail="InvalidCommand")
    return Identifier(cast("IdentifierKind", tag.name), value)


def encode(revision: IdentifierRevision, writer: Writer, value: Identifier, _: Options) -> None:
    """Write one identifier."""
    if fault := _fault(revision, value.kind, value.value):
        raise writer.invalid("value", f"{value.kind}: {fault}")
    write_tagged(writer, TAGS, value.kind, value.value)


def _fault(revision: IdentifierRevision, kind: str, value: bytes) -> str | None:
    if kind == "numeric":
        return None if revision.zero or any(value) else "zero"
    return None if is_utf8(value) else "utf8"
