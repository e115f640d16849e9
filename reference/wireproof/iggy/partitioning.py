"""Who chooses the partition of a send: iggy.md, section 2.2."""

from typing import Final, Literal, cast

from attrs import frozen

from wireproof.iggy.tagged import Tag, read_tag, read_value, rows, write
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejected import Rejected
from wireproof.wire.writer import Writer

PartitioningKind = Literal["balanced", "partition_id", "messages_key"]

TAGS: Final = rows(
    # Up to 8594d7d4c the server looks at the length of a balanced value as little as at its bytes.
    Tag(1, "balanced", range(256)),
    Tag(2, "partition_id", range(4, 5), "CannotParseSlice"),
    Tag(3, "messages_key", range(1, 256), "InvalidKeyValueLength"),
)

SHORTEST: Final = 3
"""Bytes that the server's own reader wants to see, though a balanced partitioning has but two."""


@frozen
class Partitioning:
    """A kind and its bytes as they stand on the wire: none, four little-endian ones, or a key."""

    kind: PartitioningKind
    value: bytes

    def as_uint32(self) -> int:
        """The partition; `Rejected` (`type-mismatch`) for the other kinds."""
        if self.kind != "partition_id":
            raise Rejected("type-mismatch", -1, "kind", f"{self.kind} asked for as partition_id")
        return int.from_bytes(self.value, "little")


def decode(reader: Reader, options: Options) -> Partitioning:
    """Read one partitioning that stands alone; bytes may follow it."""
    start = reader.pos
    value = read(reader, options)
    if reader.end - start < SHORTEST:
        reader.remark("iggy-bare-balanced", "kind", at=start)
    return value


def read(reader: Reader, _: Options) -> Partitioning:
    """Read one partitioning inside a body."""
    tag = read_tag(reader, TAGS)
    value = read_value(reader, tag)
    if tag.name == "balanced" and value:
        reader.remark("iggy-balanced-value", "value", at=reader.pos - len(value))
    return Partitioning(cast("PartitioningKind", tag.name), value)


def encode(writer: Writer, value: Partitioning, _: Options) -> None:
    """Write one partitioning; a balanced one has no value."""
    if value.kind == "balanced" and value.value:
        raise writer.invalid("value", "a balanced partitioning has none")
    write(writer, TAGS, value.kind, value.value)
