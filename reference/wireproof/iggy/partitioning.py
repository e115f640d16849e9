"""The partitioning: how the partition of a send is chosen. iggy.md, section 2.2."""

from collections.abc import Mapping
from typing import Final, Literal, cast

from attrs import frozen

from wireproof.iggy.revision import Revision
from wireproof.iggy.tagged_value import Tag, read_tag, read_value, tagged_layout, tags_by_code, write_tagged
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.writer import Writer

PartitioningKind = Literal["balanced", "partition_id", "messages_key"]

_CHOSEN: Final = (
    Tag(2, "partition_id", range(4, 5), "CannotParseSlice"),
    Tag(3, "messages_key", range(1, 256), "InvalidKeyValueLength"),
)

# Up to 8594d7d4c the server checks neither the length nor the bytes of a balanced value.
TAGS_30: Final = tags_by_code(Tag(1, "balanced", range(256)), *_CHOSEN)
TAGS_90: Final = tags_by_code(Tag(1, "balanced", range(1), "InvalidCommand"), *_CHOSEN)

SHORTEST: Final = 3
"""The number of bytes that the server's reader requires, although a balanced partitioning has only two."""


@frozen
class Partitioning:
    """A kind and its bytes on the wire: none, four little-endian bytes, or a key."""

    kind: PartitioningKind
    value: bytes

    def as_uint32(self) -> int:
        """Return the partition; raise `Rejected` (`type-mismatch`) for the other kinds."""
        if self.kind != "partition_id":
            raise Rejected("type-mismatch", -1, "kind", f"{self.kind}, not partition_id")
        return int.from_bytes(self.value, "little")


LAYOUT: Final = tagged_layout("Partitioning", TAGS_30, Partitioning)


@frozen
class PartitioningRevision(Revision):
    """A revision of the partitioning: its kinds and the valid lengths of their values."""

    tags: Mapping[int, Tag]


REVISIONS: Final[dict[str, PartitioningRevision]] = {
    "0.0.30": PartitioningRevision(LAYOUT, TAGS_30),
    "0.9": PartitioningRevision(LAYOUT, TAGS_90),
}
"""Revision to its row."""


def decode(revision: PartitioningRevision, reader: Reader, options: Options) -> Partitioning:
    """Read one partitioning on its own. Bytes after it are left unread."""
    start = reader.pos
    value = read_partitioning(revision, reader, options)
    if reader.end - start < SHORTEST:
        reader.remark("iggy-bare-balanced", "kind", at=start)
    return value


def read_partitioning(revision: PartitioningRevision, reader: Reader, _: Options) -> Partitioning:
    """Read one partitioning inside a body."""
    tag = read_tag(reader, revision.tags)
    value = read_value(reader, tag)
    if tag.name == "balanced" and value:
        reader.remark("iggy-balanced-value", "value", at=reader.pos - len(value))
    return Partitioning(cast("PartitioningKind", tag.name), value)


def encode(revision: PartitioningRevision, writer: Writer, value: Partitioning, _: Options) -> None:
    """Write one partitioning. A balanced one has no value."""
    if value.kind == "balanced" and value.value:
        raise writer.invalid("value", "a balanced partitioning has no value")
    write_tagged(writer, revision.tags, value.kind, value.value)
