"""Hypothesis strategies for messages of Iggy, their headers, and batches of them."""

from functools import cache
from typing import Any

from attrs import evolve
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from wireproof.iggy.batch import BATCHES, FRAME, FRAMES, PRODUCER, BatchMessage, Use
from wireproof.iggy.checksums import BATCH_CHECKSUM
from wireproof.iggy.destination import Identifier, Partitioning
from wireproof.iggy.header_kinds import HEADER_KINDS, KINDS_BY_NAME, HeaderKind, HeaderValue
from wireproof.iggy.headers import HeaderMap
from wireproof.iggy.message import HEADERS_V1
from wireproof.iggy.poll import POLL
from wireproof.schema.block import Block
from wireproof.schema.struct import StructLayout
from wireproof.wire.layout import REST, WIDTHS, Checksum, Layout, Number, bits_of
from wireproof.wire.writer import Writer

# --- scalars ---


@cache
def unsigned(bits: int) -> SearchStrategy[int]:
    """Return a strategy for unsigned integers of `bits` bits, often limits, the sign bit or 2^53 + 1."""
    top = (1 << bits) - 1
    edges = [0, 1, top, top >> 1, (top >> 1) + 1, min(top, (1 << 53) + 1)]
    return st.one_of(st.sampled_from(edges), st.integers(0, top))


def integers(layout: Layout, *names: str) -> dict[str, SearchStrategy[Any]]:
    """Return a strategy of the declared width for each number of a layout, or for those with these names."""
    numbers = {part.name: part for part in layout.parts if isinstance(part, Number)}
    return {name: _number(numbers[name]) for name in names or numbers}


def _number(part: Number) -> SearchStrategy[Any]:
    if part.known is not None:
        return st.sampled_from(sorted(part.known))
    if part.codes is not None:
        return st.sampled_from(list(part.codes.values()))
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
@st.composite
def messages(draw: DrawFn, layout: StructLayout) -> Any:  # noqa: ANN401 - the layout's value class
    """Draw a message of a send, a poll or a segment, with its checksum; one of a send is not empty (§3.1)."""
    block = layout.part("headers")
    assert isinstance(block, Block)
    plain = block.type in (HEADERS_V1, HEADERS_V1 | bytes)  # no client before 0.9.0 seals headers
    payloads = octets(300) if layout.name == "SentMessage" else st.one_of(st.just(b""), octets(300))
    value = layout.type(
        **{name: draw(one) for name, one in integers(layout).items()},
        headers=draw(header_maps() if plain else header_maps_or_blocks()),
        payload=draw(payloads),
    )
    return with_checksum(layout, value)


def with_checksum(layout: StructLayout, message: Any) -> Any:  # noqa: ANN401 - the layout's value class
    """Return a message with the checksum of its bytes, if its layout has one (§3.3, §5)."""
    checksums = (part for part in layout.parts if isinstance(part, Checksum))
    if (part := next(checksums, None)) is None:
        return message
    covered = message.payload
    if part.over == REST:
        writer = Writer()
        layout.inner_codec.write(writer, message)
        covered = bytes(writer.data[WIDTHS[part.kind] :])
    return evolve(message, checksum=part.algorithm.of(covered))


@cache
def lists(layout: StructLayout, least: int = 0) -> SearchStrategy[tuple[Any, ...]]:
    """Return a strategy for up to three messages."""
    return st.lists(messages(layout), min_size=least, max_size=3).map(tuple)


# --- batches ---


@cache
@st.composite
def batches(draw: DrawFn, use: Use, revision: str) -> Any:  # noqa: ANN401 - a batch, with its messages beside it if they are joined
    """Draw a batch of up to three messages, with its computed fields."""
    layout, frame = BATCHES[use].at(revision), FRAMES[use].at(revision)
    numbers = {name: draw(one) for name, one in integers(layout).items() if name in layout.attributes}
    if "producer" in layout.attributes:
        producer = PRODUCER.at(revision)
        numbers["producer"] = draw(st.none() | st.builds(producer.type, **integers(producer)))
    message: SearchStrategy[BatchMessage] = st.builds(
        BatchMessage,
        **integers(FRAME, "id"),
        offset_delta=st.one_of(st.integers(0, 3), *integers(FRAME, "offset_delta").values()),
        **integers(FRAME, "timestamp_delta"),
        headers=header_maps_or_blocks(),
        payload=st.one_of(st.just(b""), octets(300)),
    )
    messages = tuple(
        evolve(
            with_checksum(frame, drawn),
            offset=(numbers["base_offset"] + drawn.offset_delta) % (1 << 64),
            timestamp=numbers["base_timestamp"],
            origin_timestamp=(numbers["origin_timestamp"] + drawn.timestamp_delta) % (1 << 64),
        )
        for drawn in draw(st.lists(message, max_size=3))
    )
    writer, joined = Writer(), "message_count" in layout.attributes
    if joined:
        batch = layout.type(**numbers, message_count=len(messages))
        layout.inner_codec.write(writer, batch, None, messages)
    else:
        batch = layout.type(**numbers, messages=messages)
        layout.inner_codec.write(writer, batch)
    sealed = evolve(batch, batch_checksum=BATCH_CHECKSUM.of(bytes(writer.data)))
    return (sealed, messages) if joined else sealed


@cache
def batched_polls(revision: str) -> SearchStrategy[Any]:
    """Return a strategy for poll responses of batches."""
    layout = POLL.at(revision)

    def response(found: list[Any], **numbers: int) -> Any:  # noqa: ANN401 - a poll
        joined = tuple(message for _, messages in found for message in messages)
        return layout.type(**numbers, batches=tuple(batch for batch, _ in found), messages=joined)

    return st.builds(response, st.lists(batches("poll", revision), max_size=3), **integers(layout))
