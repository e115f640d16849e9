"""Strategies for batches and for poll responses of batches: iggy.md §6, §7."""

from functools import cache
from struct import pack

from attrs import evolve
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from wireproof.iggy.batch import (
    SEGMENT_RULES,
    SEGMENT_RULES_111,
    Batch,
    Batch111,
    BatchHeader,
    BatchHeader111,
    BatchMessage,
    Producer,
    write_frames,
    write_header,
    write_length_and_checksum,
)
from wireproof.iggy.family.strategies.headers import header_maps_or_blocks
from wireproof.iggy.family.strategies.scalars import octets, unsigned
from wireproof.iggy.message import write_message
from wireproof.iggy.poll import Poll110, Poll111
from wireproof.wire.checksums import iggy_batch_checksum
from wireproof.wire.writer import Writer


@cache
@st.composite
def batches(draw: DrawFn) -> Batch:
    """Draw a batch of up to three messages, with its computed fields."""
    message: SearchStrategy[BatchMessage] = st.builds(
        BatchMessage,
        id=unsigned(128),
        offset_delta=st.one_of(st.integers(0, 3), unsigned(32)),
        timestamp_delta=unsigned(32),
        headers=header_maps_or_blocks(),
        payload=st.one_of(st.just(b""), octets(300)),
    )
    drawn = Batch(
        partition_id=draw(unsigned(64)),
        base_offset=draw(unsigned(64)),
        base_timestamp=draw(unsigned(64)),
        origin_timestamp=draw(unsigned(64)),
        messages=tuple(draw(st.lists(message, max_size=3))),
    )
    return _with_computed_fields(drawn)


@cache
def producers() -> SearchStrategy[Producer]:
    """Return a strategy for idempotent producers."""
    return st.builds(Producer, producer_id=unsigned(63), epoch=unsigned(15), base_sequence=unsigned(31))


@cache
def batches_111() -> SearchStrategy[Batch111]:
    """Return a strategy for batches since 0.11.1-edge, with and without a producer."""

    def batch(old: Batch, producer: Producer | None) -> Batch111:
        fields = {name: getattr(old, name) for name in Batch.__annotations__ if name != "batch_checksum"}
        return _sealed(Batch111(**fields, producer=producer))

    return st.builds(batch, batches(), st.none() | producers())


def _sealed(batch: Batch111) -> Batch111:
    """Return the batch with its checksum."""
    writer = Writer()
    at = write_header(writer, batch, len(batch.messages), SEGMENT_RULES_111)
    write_frames(writer, batch.messages, SEGMENT_RULES_111)
    write_length_and_checksum(writer, "", at)
    return evolve(batch, batch_checksum=int.from_bytes(writer.data[40:48], "little"))


def _with_computed_fields(batch: Batch) -> Batch:
    """Return the batch with the fields that a decode computes: checksums, offsets and timestamps."""
    writer, checksums = Writer(), list[int]()
    for message in batch.messages:
        at = writer.pos
        write_message(writer, SEGMENT_RULES.frame, message)
        checksums.append(int.from_bytes(writer.data[at : at + 8], "little"))
    fields = (batch.partition_id, batch.base_offset, batch.base_timestamp, batch.origin_timestamp)
    data = pack("<QQQQQ", *fields, 256 + writer.pos) + bytes(8) + pack("<I", len(checksums)) + bytes(204)
    messages = tuple(
        evolve(
            drawn,
            checksum=checksum,
            offset=(batch.base_offset + drawn.offset_delta) % (1 << 64),
            timestamp=batch.base_timestamp,
            origin_timestamp=(batch.origin_timestamp + drawn.timestamp_delta) % (1 << 64),
        )
        for drawn, checksum in zip(batch.messages, checksums, strict=True)
    )
    return evolve(batch, batch_checksum=iggy_batch_checksum(data + bytes(writer.data)), messages=messages)


def _header_of(batch: Batch) -> BatchHeader:
    return BatchHeader(
        partition_id=batch.partition_id,
        base_offset=batch.base_offset,
        base_timestamp=batch.base_timestamp,
        origin_timestamp=batch.origin_timestamp,
        message_count=len(batch.messages),
        batch_checksum=batch.batch_checksum,
    )


@cache
def batched_polls() -> SearchStrategy[Poll110]:
    """Return a strategy for poll responses of batches."""

    def response(batches: list[Batch], partition: int, current: int) -> Poll110:
        return Poll110(
            partition_id=partition,
            current_offset=current,
            batches=tuple(map(_header_of, batches)),
            messages=tuple(message for batch in batches for message in batch.messages),
        )

    return st.builds(response, st.lists(batches(), max_size=3), unsigned(32), unsigned(64))


@cache
def batched_polls_111() -> SearchStrategy[Poll111]:
    """Return a strategy for poll responses since 0.11.1-edge."""

    def response(batches: list[Batch111], **fields: int) -> Poll111:
        return Poll111(
            **fields,
            batches=tuple(map(_header_111_of, batches)),
            messages=tuple(message for batch in batches for message in batch.messages),
        )

    wide = ("current_offset", "incarnation", "owner_generation", "metadata_op")
    return st.builds(
        response,
        st.lists(batches_111(), max_size=3),
        partition_id=unsigned(32),
        **{name: unsigned(64) for name in wide},
    )


def _header_111_of(batch: Batch111) -> BatchHeader111:
    names = (name for name in Batch111.__annotations__ if name != "messages")
    fields = {name: getattr(batch, name) for name in names}
    return BatchHeader111(**fields, message_count=len(batch.messages))
