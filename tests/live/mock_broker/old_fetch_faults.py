"""Faults in what old versions of Fetch return. Each class overrides one step of a partition."""

from attrs import evolve

from tests.live.mock_broker.old_messages import ConvertingPartition, written
from wireproof.kafka.attribute_bits import CODEC_MASK, CONTROL, LOG_APPEND_TIME
from wireproof.kafka.values import Message, RecordBatch
from wireproof.live.loopback_broker.append_rules import batches_of


def with_inner(message: Message, **fields: object) -> Message:
    """Return a message, and those of a wrapper, with these fields."""
    inner = message.messages
    changed = None if inner is None else tuple(with_inner(one, **fields) for one in inner)
    return evolve(message, messages=changed, **fields)  # type: ignore[arg-type] # fields of a message


class ReturnsBatchesToOldFetch(ConvertingPartition):
    """Returns batches to consumers that know messages only."""

    def read_old(self, data: bytes, _: int, __: int) -> bytes:
        """Return the bytes as they are stored."""
        return data


class ReturnsOneOldFormat(ConvertingPartition):
    """Returns messages of v1 to consumers that know v0 only."""

    def messages(self, batch: RecordBatch, offset: int, _: int) -> list[Message]:
        """Take v1 for all."""
        return super().messages(batch, offset, 1)


class MarkersAreMessages(ConvertingPartition):
    """Returns the marker of a transaction as a message."""

    def messages(self, batch: RecordBatch, offset: int, magic: int) -> list[Message]:
        """Take a marker for data."""
        return super().messages(evolve(batch, attributes=batch.attributes & ~CONTROL), offset, magic)


class RepeatsAfterMarker(ConvertingPartition):
    """Returns the first record twice if a marker stands before it: LazyDownConversionRecords did."""

    def read_old(self, data: bytes, offset: int, magic: int) -> bytes:
        """Write the first record again."""
        found = super().read_old(data, offset, magic)
        first, *rest = (self.messages(one, offset, magic) for one in batches_of(data))
        follows = next(iter(rest), [])
        return written(follows) + found if not first and follows else found


class LosesTimestampType(ConvertingPartition):
    """Returns an append time as if it were the time of the producer."""

    def messages(self, batch: RecordBatch, offset: int, magic: int) -> list[Message]:
        """Clear the bit."""
        found = super().messages(batch, offset, magic)
        return [
            evolve(one, attributes=one.attributes & ~LOG_APPEND_TIME) if one.messages is None else one
            for one in found
        ]


class EmptiesTombstonesOfOldFetch(ConvertingPartition):
    """Returns an empty value for a null one."""

    def messages(self, batch: RecordBatch, offset: int, magic: int) -> list[Message]:
        """Take null for empty."""
        found = super().messages(batch, offset, magic)
        return [
            evolve(one, value=b"") if one.value is None and one.messages is None else one for one in found
        ]


class UnpacksForOldFetch(ConvertingPartition):
    """Returns the messages of a compressed batch without compression, and without its place."""

    def messages(self, batch: RecordBatch, offset: int, magic: int) -> list[Message]:
        """Leave the codec out."""
        return super().messages(evolve(batch, attributes=batch.attributes & ~CODEC_MASK), offset, magic)


class ConvertsAlthoughDisabled(ConvertingPartition):
    """Converts for a topic that forbids it."""

    def read_old(self, data: bytes, offset: int, magic: int) -> bytes:
        """Take it for allowed."""
        kept, self.settings = self.settings, evolve(self.settings, down_conversion=True)
        try:
            return super().read_old(data, offset, magic)
        finally:
            self.settings = kept


class BeginsBatchForOldFetch(ConvertingPartition):
    """Returns the messages of a batch from its beginning, also those before the offset that is asked for."""

    def messages(self, batch: RecordBatch, _: int, magic: int) -> list[Message]:
        """Begin at the first one."""
        return super().messages(batch, batch.base_offset, magic)
