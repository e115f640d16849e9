"""Strategies for batches and for poll responses of batches: iggy.md §6, §7."""

from functools import cache
from typing import Any

from attrs import evolve
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from wireproof.iggy.batch import (
    FRAME,
    PRODUCER,
    SEGMENT_RULES,
    SEGMENT_RULES_111,
    Batch,
    Batch111,
    BatchHeader,
    BatchHeader111,
    BatchMessage,
    BatchRules,
    Producer,
    write_frames,
    write_header,
    write_length_and_checksum,
)
from wireproof.iggy.family.strategies.headers import header_maps_or_blocks
from wireproof.iggy.family.strategies.scalars import integers, octets, unsigned
from wireproof.iggy.message import write_message
from wireproof.iggy.poll import Poll110, Poll111
from wireproof.wire.writer import Writer


@cache
@st.composite
def batches(draw: DrawFn) -> Batch:
    """Draw a batch of up to three messages, with its computed fields."""
    message: SearchStrategy[BatchMessage] = st.builds(
        BatchMessage,
        **integers(FRAME, "id"),
        offset_delta=st.one_of(st.integers(0, 3), *integers(FRAME, "offset_delta").values()),
        **integers(FRAME, "timestamp_delta"),
        headers=header_maps_or_blocks(),
        payload=st.one_of(st.just(b""), octets(300)),
    )
    drawn = Batch(
        **{name: draw(one) for name, one in integers(SEGMENT_RULES.layout).items()},
        messages=tuple(draw(st.lists(message, max_size=3))),
    )
    return _with_computed_fields(drawn)


@cache
def producers() -> SearchStrategy[Producer]:
    """Return a strategy for idempotent producers."""
    return st.builds(Producer, **integers(PRODUCER))


@cache
def batches_111() -> SearchStrategy[Batch111]:
    """Return a strategy for batches since 0.11.1-edge, with and without a producer."""

    def batch(old: Batch, producer: Producer | None) -> Batch111:
        fields = {name: getattr(old, name) for name in Batch.__annotations__ if name != "batch_checksum"}
        sealed: Batch111 = _sealed(Batch111(**fields, producer=producer), SEGMENT_RULES_111)
        return sealed

    return st.builds(batch, batches(), st.none() | producers())


def _sealed(batch: Any, rules: BatchRules) -> Any:  # noqa: ANN401 - a batch of either revision
    """Return the batch with its checksum."""
    writer = Writer()
    at = write_header(writer, batch, len(batch.messages), rules)
    write_frames(writer, batch.messages, rules)
    write_length_and_checksum(writer, "", at)
    first = rules.at("batch_checksum")
    return evolve(batch, batch_checksum=int.from_bytes(writer.data[first : first + 8], "little"))


def _with_computed_fields(batch: Batch) -> Batch:
    """Return the batch with the fields that a decode computes: checksums, offsets and timestamps."""
    writer, checksums = Writer(), list[int]()
    for message in batch.messages:
        at = writer.pos
        write_message(writer, SEGMENT_RULES.frame, message)
        checksums.append(int.from_bytes(writer.data[at : at + 8], "little"))
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
    sealed: Batch = _sealed(evolve(batch, messages=messages), SEGMENT_RULES)
    return sealed


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
