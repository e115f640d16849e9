"""Hypothesis strategies for Heka values, with many boundary values of heka.md, sections 1, 2 and 4.

The computed fields of a value are those that a decode without keys returns, so that a round trip can be
compared for equality. Some values lead to remarks. Hypothesis is an optional dependency; only this package
imports it.
"""

import struct
from collections.abc import Callable
from functools import cache, partial
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from wireproof.heka import message as codec
from wireproof.heka.message import HEKA_FIELD, HEKA_MESSAGE, DynamicField, HekaMessage, array_of
from wireproof.heka.stream import HEKA_HEADER, FrameStream, HekaFrame
from wireproof.wire.layout import Layout, ProtoField, proto_fields
from wireproof.wire.options import DEFAULT_OPTIONS, Options
from wireproof.wire.writer import Writer

RECENT_TIMESTAMP: Final = 1_700_000_000_000_000_000
"""A recent timestamp, in nanoseconds."""


@cache
def integers(bits: int) -> SearchStrategy[int]:
    """Return a strategy for signed integers, half of them varint boundaries or limits (M09 to M19)."""
    top = 1 << (bits - 1)
    steps = [1 << power for power in range(7, bits - 1, 7)]
    edges = [0, 1, -1, top - 1, -top, *steps, *(step - 1 for step in steps)]
    return st.one_of(st.sampled_from(edges), st.integers(-top, top - 1))


@cache
def octets() -> SearchStrategy[bytes]:
    """Return a strategy for bytes: separators, a header, 126 to 129 equal bytes, any bytes (S11, W6)."""
    traps = [b"", b"\0", b"\x1e", b"\x1f", bytes.fromhex("1e0208051f"), b"\xff", b"\xc0\x80"]
    long = st.builds(bytes.__mul__, st.sampled_from([b"a", b"\x1e"]), st.sampled_from([126, 127, 128, 129]))
    return st.one_of(
        st.sampled_from(traps),
        st.text("aß漢🦀\0\x1e", max_size=20).map(str.encode),
        st.binary(max_size=24),
        long,
    )


@cache
def doubles() -> SearchStrategy[bytes]:
    """Return a strategy for the 8 bytes of a double, including NaNs with a payload."""
    plain = st.floats(width=64).map(lambda number: struct.pack(">d", number))
    return st.one_of(
        plain, st.sampled_from([bytes.fromhex("7ff8000000000001"), bytes.fromhex("fff0000000000000")])
    )


OF_TYPE: Final[dict[str, Callable[[], SearchStrategy[Any]]]] = {
    "bool": st.booleans,
    "bytes": octets,
    "double": doubles,
    "int32": partial(integers, 32),
    "int64": partial(integers, 64),
    "string": octets,
    "uint32": lambda: st.sampled_from([0, 1, 127, 128, (1 << 32) - 1]),
}
"""The strategy for a value of each type of protobuf that is neither an enum nor a message."""

OF_FIELD: Final[dict[str, SearchStrategy[Any]]] = {
    "timestamp": st.one_of(st.just(RECENT_TIMESTAMP), integers(64)),
    "severity": st.one_of(st.integers(0, 7), integers(32)),
    "hmac_signer": st.sampled_from([b"", b"test", b"\x1e\x1f", b"s" * 128]),
    "hmac": st.binary(max_size=20),
}
"""The strategies for values of fields that have other likely values than their type."""


def values_of(part: ProtoField) -> SearchStrategy[Any]:
    """Return a strategy for one value of a field."""
    if part.name in OF_FIELD:
        return OF_FIELD[part.name]
    if part.size:
        return st.binary(min_size=part.size, max_size=part.size)
    if part.codes is not None:
        return st.sampled_from(list(part.codes.values()))
    return OF_TYPE[str(part.of)]()


@cache
def scalars(layout: Layout) -> SearchStrategy[dict[str, Any]]:
    """Return a strategy for the fields that are not repeated; an optional one is absent in half of them."""
    parts = (part for part in proto_fields(layout) if not part.repeated and not part.deprecated)
    return st.fixed_dictionaries(
        {p.name: values_of(p) if p.required else st.one_of(st.none(), values_of(p)) for p in parts}
    )


@cache
def arrays(layout: Layout) -> dict[str, SearchStrategy[tuple[Any, ...]]]:
    """Return a strategy for up to three values of each repeated field."""
    parts = (part for part in proto_fields(layout) if part.repeated)
    return {part.name: st.lists(values_of(part), max_size=3).map(tuple) for part in parts}


@cache
@st.composite
def fields(draw: DrawFn) -> DynamicField:
    """Draw a Field whose values all have its own type: M59 to M61."""
    values = draw(scalars(HEKA_FIELD))
    filled = array_of(values["value_type"])
    empty: dict[str, Any] = dict.fromkeys(arrays(HEKA_FIELD), ())
    return DynamicField(**values, **{**empty, filled: draw(arrays(HEKA_FIELD)[filled])})


@cache
@st.composite
def messages(draw: DrawFn) -> HekaMessage:
    """Draw a message with up to two fields."""
    some_fields = draw(st.lists(fields(), max_size=2))
    return HekaMessage(**draw(scalars(HEKA_MESSAGE)), fields=tuple(some_fields))


@cache
@st.composite
def frames(draw: DrawFn) -> HekaFrame:
    """Draw a frame whose header may name a signer and has at most 255 bytes. Its HMAC is not valid."""
    message = draw(messages())
    values = {**draw(scalars(HEKA_HEADER)), "message_length": _length(message)}
    return HekaFrame(HEKA_HEADER.type(**values), message)


def _length(content: HekaMessage) -> int:
    writer = Writer()
    codec.encode(writer, content, DEFAULT_OPTIONS)
    return len(writer.data)


@cache
def streams() -> SearchStrategy[FrameStream]:
    """Return a strategy for streams of up to three frames."""
    return st.lists(frames(), max_size=3).map(lambda frame_list: FrameStream(tuple(frame_list)))


VALUES: Final[dict[str, Callable[[], SearchStrategy[Any]]]] = {
    "heka.message/0.10": messages,
    "heka.stream/0.10": streams,
}
"""Format id to the strategy for its values."""


HMAC_KEYS: Final = {"test_0": b"zero", "test_1": b"testkey", "_1": b"noname", "test_127": b""}
"""The HMAC keys of the signers that the strategy for frames uses: heka.md, section 4."""


def _message_options(_value: HekaMessage) -> SearchStrategy[Options]:
    """Return a strategy for options: sometimes a message is compressed as a whole."""
    return st.sampled_from([DEFAULT_OPTIONS, DEFAULT_OPTIONS, Options(compression="snappy")])


def _stream_options(value: FrameStream) -> SearchStrategy[Options]:
    """Return a strategy for options: keys or none, any resync, maybe a tight limit for the message size."""
    keys = st.sampled_from([None, HMAC_KEYS])
    resync: SearchStrategy[Any] = st.sampled_from(["strict", "go", "c"])
    sizes = [frame.header.message_length for frame in value.frames]
    max_message = st.sampled_from(
        [None, None, None, *(size - excess for size in sizes[:1] for excess in (0, 1))]
    )
    return st.builds(Options, keys=keys, resync=resync, max_message=max_message)


OPTIONS: Final[dict[str, Callable[[Any], SearchStrategy[Options]]]] = {
    "heka.message": _message_options,
    "heka.stream": _stream_options,
}
"""Name of a format to the strategy for the options of a value."""
