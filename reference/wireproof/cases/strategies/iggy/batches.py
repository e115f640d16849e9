"""Batches with the checksums of their bytes: iggy.md §6, §7."""

from functools import cache
from struct import pack

from attrs import evolve
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from wireproof.cases.strategies.iggy.headers import sealed_maps
from wireproof.cases.strategies.iggy.scalars import octets, unsigned
from wireproof.iggy.batch import STORED, Batch, Framed, Head
from wireproof.iggy.message import write_message
from wireproof.iggy.poll import Poll110
from wireproof.wire.checksums import iggy_batch
from wireproof.wire.writer import Writer


@cache
@st.composite
def batches(draw: DrawFn) -> Batch:
    """A batch of up to three messages, with the checksums of its bytes and what its deltas come to."""
    one: SearchStrategy[Framed] = st.builds(
        Framed,
        id=unsigned(128),
        offset_delta=st.one_of(st.integers(0, 3), unsigned(32)),
        timestamp_delta=unsigned(32),
        headers=sealed_maps(),
        payload=st.one_of(st.just(b""), octets(300)),
    )
    made = Batch(
        partition_id=draw(unsigned(64)),
        base_offset=draw(unsigned(64)),
        base_timestamp=draw(unsigned(64)),
        origin_timestamp=draw(unsigned(64)),
        messages=tuple(draw(st.lists(one, max_size=3))),
    )
    return _told(made)


def _told(made: Batch) -> Batch:
    """The batch with what a decode of it computes."""
    writer, sums = Writer(), list[int]()
    for message in made.messages:
        at = writer.pos
        write_message(writer, STORED.frame, message)
        sums.append(int.from_bytes(writer.data[at : at + 8], "little"))
    head = (made.partition_id, made.base_offset, made.base_timestamp, made.origin_timestamp)
    data = pack("<QQQQQ", *head, 256 + writer.pos) + bytes(8) + pack("<I", len(sums)) + bytes(204)
    messages = tuple(
        evolve(
            one,
            checksum=found,
            offset=(made.base_offset + one.offset_delta) % (1 << 64),
            timestamp=made.base_timestamp,
            origin_timestamp=(made.origin_timestamp + one.timestamp_delta) % (1 << 64),
        )
        for one, found in zip(made.messages, sums, strict=True)
    )
    return evolve(made, batch_checksum=iggy_batch(data + bytes(writer.data)), messages=messages)


def _headed(batch: Batch) -> Head:
    return Head(
        partition_id=batch.partition_id,
        base_offset=batch.base_offset,
        base_timestamp=batch.base_timestamp,
        origin_timestamp=batch.origin_timestamp,
        message_count=len(batch.messages),
        batch_checksum=batch.batch_checksum,
    )


@cache
def polls_110() -> SearchStrategy[Poll110]:
    """A poll response of batches."""

    def made(batches: list[Batch], partition: int, current: int) -> Poll110:
        return Poll110(
            partition_id=partition,
            current_offset=current,
            batches=tuple(map(_headed, batches)),
            messages=tuple(one for batch in batches for one in batch.messages),
        )

    return st.builds(made, st.lists(batches(), max_size=3), unsigned(32), unsigned(64))
