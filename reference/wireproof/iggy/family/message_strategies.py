"""Hypothesis strategies for messages of Iggy, their headers, and batches of them."""

from collections.abc import Hashable
from functools import cache
from typing import Any, cast
from zlib import crc32

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
from wireproof.iggy.destination import Identifier, Partitioning
from wireproof.iggy.header_kinds import HEADER_KINDS, KINDS_BY_NAME, HeaderKind, HeaderValue
from wireproof.iggy.headers import HeaderMap
from wireproof.iggy.message import (
    MESSAGE_STATES,
    POLLED_30,
    SENT_30,
    SENT_70,
    MessageRules,
    PolledMessage30,
    PolledMessage40,
    SentMessage,
    SentMessage70,
    write_message,
)
from wireproof.iggy.poll import Poll110, Poll111
from wireproof.wire.layout import Layout, Number, bits_of
from wireproof.wire.writer import Writer

# --- scalars ---


@cache
def unsigned(bits: int) -> SearchStrategy[int]:
    """Return a strategy for unsigned integers of `bits` bits, often limits, the sign bit or 2^53 + 1."""
    top = (1 << bits) - 1
    edges = [0, 1, top, top >> 1, (top >> 1) + 1, min(top, (1 << 53) + 1)]
    return st.one_of(st.sampled_from(edges), st.integers(0, top))


def integers(layout: Layout, *names: str) -> dict[str, SearchStrategy[int]]:
    """Return a strategy of the declared width for each number of a layout, or for those with these names."""
    numbers = {part.name: part for part in layout.parts if isinstance(part, Number)}
    return {name: _number(numbers[name]) for name in names or numbers}


def _number(part: Number) -> SearchStrategy[int]:
    if part.known is not None:
        return st.sampled_from(sorted(part.known))
    return unsigned(bits_of(part.kind) if part.most is None else part.most.bit_length())


@cache
def texts() -> SearchStrategy[bytes]:
    """Return a strategy for 1 to 255 bytes of UTF-8, for names and keys."""
    edges = st.sampled_from(
        [
            b"k",
            b"K",
            b"key-1",
            b"n" * 63,
            b"n" * 64,
            b"n" * 128,
            b"n" * 255,
            "é".encode(),
            ("é" * 127).encode(),
        ]
    )
    plain = st.text(min_size=1, max_size=20).map(_encodable).filter(lambda text: 1 <= len(text) <= 255)
    return st.one_of(edges, plain)


def _encodable(text: str) -> bytes:
    return text.encode("utf-8", "ignore")


@cache
def octets(most: int = 255) -> SearchStrategy[bytes]:
    """Return a strategy for 1 to `most` bytes, for payloads and the keys of messages."""
    return st.one_of(
        st.sampled_from([b"\0", b"\xff" * 128, b"\xff" * most]), st.binary(min_size=1, max_size=40)
    )


# --- headers ---


@cache
def header_values() -> SearchStrategy[HeaderValue]:
    """Return a strategy for valid values of the fifteen kinds (§2.3)."""
    return st.sampled_from(HEADER_KINDS).flatmap(_of_kind)


@cache
def _of_kind(kind: HeaderKind) -> SearchStrategy[HeaderValue]:
    if kind.name == "bool":
        data = st.sampled_from([b"\0", b"\1"])
    elif kind.name == "string":
        data = texts()
    elif kind.size is None:
        data = octets()
    else:
        data = st.binary(min_size=kind.size, max_size=kind.size)
    return st.builds(HeaderValue, st.just(kind.name), data)


@cache
def header_maps() -> SearchStrategy[HeaderMap]:
    """Return a strategy for up to three headers of TLV v1, sorted by key, without duplicate keys (§10.1)."""
    maps = st.dictionaries(texts(), header_values(), max_size=3)
    return maps.map(lambda headers: tuple(sorted(headers.items(), key=lambda entry: entry[0])))


@cache
def header_maps_v2() -> SearchStrategy[HeaderMap]:
    """Return a strategy for up to three headers of TLV v2, sorted by kind and bytes of the key (§2.4)."""
    maps = st.dictionaries(header_values(), header_values(), max_size=3)
    return maps.map(
        lambda headers: tuple(
            sorted(headers.items(), key=lambda entry: (KINDS_BY_NAME[entry[0].kind].code, entry[0].value))
        )
    )


@cache
def header_maps_or_blocks() -> SearchStrategy[HeaderMap | bytes]:
    """Return a strategy for headers of TLV v2 or an encrypted block.

    A block that begins with kind 0 is never a map (§10.2).
    """
    blocks = st.one_of(st.just(b"user-header-bytes"), st.binary(max_size=40).map(b"\0".__add__))
    return st.one_of(header_maps_v2(), header_maps_v2(), blocks)


# --- destinations ---


@cache
def identifiers(least: int = 1) -> SearchStrategy[Identifier]:
    """Return a strategy for identifiers. `least` is the smallest number: 0 is valid since 0.8.0 (§2.2)."""
    numbers = unsigned(32).map(lambda number: max(number, least).to_bytes(4, "little"))
    return st.one_of(
        st.builds(Identifier, st.just("numeric"), numbers), st.builds(Identifier, st.just("string"), texts())
    )


@cache
def partitionings() -> SearchStrategy[Partitioning]:
    """Return a strategy for partitionings of the three kinds (§2.2)."""
    ids = unsigned(32).map(lambda number: number.to_bytes(4, "little"))
    return st.one_of(
        st.just(Partitioning("balanced", b"")),
        st.builds(Partitioning, st.just("partition_id"), ids),
        st.builds(Partitioning, st.just("messages_key"), octets()),
    )


# --- messages ---


@cache
def sent_messages() -> SearchStrategy[SentMessage]:
    """Return a strategy for messages of a send before 0.7.0; the payload is not empty (§3.1)."""
    return st.builds(SentMessage, **integers(SENT_30), headers=header_maps(), payload=octets(300))


@cache
@st.composite
def _stored(draw: DrawFn, value: Hashable) -> Any:  # noqa: ANN401 - one of three classes
    """Draw a stored message before 0.7.0: with offset and timestamp, and maybe a state and a checksum."""
    payload = draw(st.one_of(st.just(b""), octets(300)))
    fields: dict[str, Any] = {name: draw(one) for name, one in integers(POLLED_30).items()}
    fields |= {"headers": draw(header_maps()), "payload": payload}
    if value is not PolledMessage30:
        fields["checksum"] = crc32(payload)
    if value is PolledMessage40:
        fields["state"] = draw(st.sampled_from(list(MESSAGE_STATES.values())))
    return cast("type[Any]", value)(**fields)


@cache
@st.composite
def stored_messages_since_0_7(draw: DrawFn, rules: MessageRules) -> Any:  # noqa: ANN401 - the layout's value class
    """Draw a stored message since 0.7.0, with the checksum of its bytes (§5)."""
    message = rules.value(
        **{name: draw(one) for name, one in integers(rules.layout).items()},
        headers=draw(header_maps_or_blocks() if rules.sealed else header_maps()),
        payload=draw(st.one_of(st.just(b""), octets(300))),
    )
    writer = Writer()
    write_message(writer, rules, message)
    return evolve(message, checksum=int.from_bytes(writer.data[:8], "little"))


@cache
def sent_lists_since_0_7(value: Hashable) -> SearchStrategy[tuple[Any, ...]]:
    """Return a strategy for one to three messages of a send since 0.7.0."""
    headers = header_maps() if value is SentMessage70 else header_maps_or_blocks()
    numbers = integers(SENT_70)
    message: SearchStrategy[Any] = st.builds(
        cast("type[Any]", value), headers=headers, **numbers, payload=octets(300)
    )
    return st.lists(message, min_size=1, max_size=3).map(tuple)


@cache
def stored_lists(value: Hashable) -> SearchStrategy[tuple[Any, ...]]:
    """Return a strategy for up to three stored messages of a class before 0.7.0."""
    return st.lists(_stored(value), max_size=3).map(tuple)


@cache
def sent_lists() -> SearchStrategy[tuple[SentMessage, ...]]:
    """Return a strategy for one to three messages of a send before 0.7.0."""
    return st.lists(sent_messages(), min_size=1, max_size=3).map(tuple)


# --- batches ---


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
