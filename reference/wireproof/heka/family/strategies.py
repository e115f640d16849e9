"""Hypothesis strategies for Heka values, with many boundary values of heka.md, sections 1, 2 and 4.

The computed fields of a value are those that a decode without keys returns, so that a round trip can be
compared for equality. Some values lead to remarks. Hypothesis is an optional dependency; only this package
imports it.
"""

import struct
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from attrs import evolve
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from wireproof.heka import message as codec
from wireproof.heka.frame import HekaFrame
from wireproof.heka.header import HASH_FUNCTIONS, HekaHeader
from wireproof.heka.message import VALUE_ARRAYS, VALUE_TYPES, DynamicField, HekaMessage
from wireproof.heka.stream import FrameStream
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
def optional_octets() -> SearchStrategy[bytes | None]:
    """Return a strategy for bytes or None; empty bytes are not the same as None."""
    return st.one_of(st.none(), octets())


@cache
def doubles() -> SearchStrategy[bytes]:
    """Return a strategy for the 8 bytes of a double, including NaNs with a payload."""
    plain = st.floats(width=64).map(lambda number: struct.pack(">d", number))
    return st.one_of(
        plain, st.sampled_from([bytes.fromhex("7ff8000000000001"), bytes.fromhex("fff0000000000000")])
    )


_ELEMENTS: Final[dict[str, SearchStrategy[bytes] | SearchStrategy[int] | SearchStrategy[bool]]] = {
    "value_string": octets(),
    "value_bytes": octets(),
    "value_integer": integers(64),
    "value_double": doubles(),
    "value_bool": st.booleans(),
}


@cache
@st.composite
def fields(draw: DrawFn) -> DynamicField:
    """Draw a Field whose values all have its own type: M59 to M61."""
    kind = draw(st.one_of(st.none(), st.sampled_from(VALUE_TYPES)))
    array = VALUE_ARRAYS[VALUE_TYPES.index(kind or "STRING")]
    empty = DynamicField(draw(octets()), kind, draw(optional_octets()), (), (), (), (), ())
    values = tuple(draw(st.lists(_ELEMENTS[array], max_size=3)))
    return evolve(empty, **{array: values})  # type: ignore[arg-type] # the array is named by the kind drawn


@cache
@st.composite
def messages(draw: DrawFn) -> HekaMessage:
    """Draw a message; each optional field is present in half of the messages."""
    return HekaMessage(
        uuid=draw(st.binary(min_size=codec.UUID_SIZE, max_size=codec.UUID_SIZE)),
        timestamp=draw(st.one_of(st.just(RECENT_TIMESTAMP), integers(64))),
        type=draw(optional_octets()),
        logger=draw(optional_octets()),
        severity=draw(st.one_of(st.none(), st.integers(0, 7), integers(32))),
        payload=draw(optional_octets()),
        env_version=draw(optional_octets()),
        pid=draw(st.one_of(st.none(), integers(32))),
        hostname=draw(optional_octets()),
        fields=tuple(draw(st.lists(fields(), max_size=2))),
    )


@cache
@st.composite
def frames(draw: DrawFn) -> HekaFrame:
    """Draw a frame whose header may name a signer and has at most 255 bytes. Its HMAC is not valid."""
    message = draw(messages())
    header = HekaHeader(
        message_length=_length(message),
        hmac_hash_function=draw(st.one_of(st.none(), st.sampled_from(HASH_FUNCTIONS))),
        hmac_signer=draw(st.one_of(st.none(), st.sampled_from([b"", b"test", b"\x1e\x1f", b"s" * 128]))),
        hmac_key_version=draw(st.one_of(st.none(), st.sampled_from([0, 1, 127, 128, (1 << 32) - 1]))),
        hmac=draw(st.one_of(st.none(), st.binary(max_size=20))),
    )
    return HekaFrame(header, message)


def _length(content: HekaMessage) -> int:
    writer = Writer()
    codec.encode(writer, content, DEFAULT_OPTIONS)
    return len(writer.data)


@cache
def streams() -> SearchStrategy[FrameStream]:
    """Return a strategy for streams of up to three frames."""
    return st.lists(frames(), max_size=3).map(lambda frame_list: FrameStream(tuple(frame_list)))


VALUES: Final[dict[str, Callable[[], SearchStrategy[HekaMessage] | SearchStrategy[FrameStream]]]] = {
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
