"""Hypothesis strategies of Heka values, heavy on the boundaries of heka.md, sections 1, 2 and 4.

Every value is whole: its computed fields are what a decode of its bytes gives without keys, so that a
round trip can be compared for equality. Values that a reader remarks on are among them. Hypothesis is an
extra, and is imported nowhere else but in this folder.
"""

import struct
from collections.abc import Callable
from functools import cache
from typing import Final

from attrs import evolve
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from wireproof.heka import message as codec
from wireproof.heka.frame import Frame
from wireproof.heka.header import FUNCTIONS, Header
from wireproof.heka.message import ARRAYS, TYPES, Field, Message
from wireproof.heka.stream import Stream
from wireproof.wire.options import DEFAULT
from wireproof.wire.writer import Writer

NOW: Final = 1_700_000_000_000_000_000
"""A timestamp of our days, in nanoseconds."""


@cache
def integers(bits: int) -> SearchStrategy[int]:
    """Signed integers; half of them stand where a varint takes one more byte, or at an end (M09 to M19)."""
    top = 1 << (bits - 1)
    steps = [1 << power for power in range(7, bits - 1, 7)]
    edges = [0, 1, -1, top - 1, -top, *steps, *(step - 1 for step in steps)]
    return st.one_of(st.sampled_from(edges), st.integers(-top, top - 1))


@cache
def octets() -> SearchStrategy[bytes]:
    """Bytes: separators, a whole header, 126 to 129 of one kind, any others (S11, W6)."""
    traps = [b"", b"\0", b"\x1e", b"\x1f", bytes.fromhex("1e0208051f"), b"\xff", b"\xc0\x80"]
    long = st.builds(bytes.__mul__, st.sampled_from([b"a", b"\x1e"]), st.sampled_from([126, 127, 128, 129]))
    return st.one_of(
        st.sampled_from(traps),
        st.text("aß漢🦀\0\x1e", max_size=20).map(str.encode),
        st.binary(max_size=24),
        long,
    )


@cache
def optional() -> SearchStrategy[bytes | None]:
    """Bytes or absent, which empty is not."""
    return st.one_of(st.none(), octets())


@cache
def doubles() -> SearchStrategy[bytes]:
    """The 8 bytes of a double, NaNs with a payload among them."""
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
def fields(draw: DrawFn) -> Field:
    """A Field with values of its own type alone: M59 to M61."""
    kind = draw(st.one_of(st.none(), st.sampled_from(TYPES)))
    own = ARRAYS[TYPES.index(kind or "STRING")]
    bare = Field(draw(octets()), kind, draw(optional()), (), (), (), (), ())
    values = tuple(draw(st.lists(_ELEMENTS[own], max_size=3)))
    return evolve(bare, **{own: values})  # type: ignore[arg-type] # the array is named by the kind drawn


@cache
@st.composite
def messages(draw: DrawFn) -> Message:
    """A message; each of its optional parts is there in half of them."""
    return Message(
        uuid=draw(st.binary(min_size=codec.UUID, max_size=codec.UUID)),
        timestamp=draw(st.one_of(st.just(NOW), integers(64))),
        type=draw(optional()),
        logger=draw(optional()),
        severity=draw(st.one_of(st.none(), st.integers(0, 7), integers(32))),
        payload=draw(optional()),
        env_version=draw(optional()),
        pid=draw(st.one_of(st.none(), integers(32))),
        hostname=draw(optional()),
        fields=tuple(draw(st.lists(fields(), max_size=2))),
    )


@cache
@st.composite
def frames(draw: DrawFn) -> Frame:
    """A frame; its header may claim a signer, whom nobody verifies, and stays within 255 bytes."""
    content = draw(messages())
    header = Header(
        message_length=_length(content),
        hmac_hash_function=draw(st.one_of(st.none(), st.sampled_from(FUNCTIONS))),
        hmac_signer=draw(st.one_of(st.none(), st.sampled_from([b"", b"test", b"\x1e\x1f", b"s" * 128]))),
        hmac_key_version=draw(st.one_of(st.none(), st.sampled_from([0, 1, 127, 128, (1 << 32) - 1]))),
        hmac=draw(st.one_of(st.none(), st.binary(max_size=20))),
    )
    return Frame(header, content)


def _length(content: Message) -> int:
    writer = Writer()
    codec.encode(writer, content, DEFAULT)
    return len(writer.data)


@cache
def streams() -> SearchStrategy[Stream]:
    """Up to three frames."""
    return st.lists(frames(), max_size=3).map(lambda rows: Stream(tuple(rows)))


VALUES: Final[dict[str, Callable[[], SearchStrategy[Message] | SearchStrategy[Stream]]]] = {
    "heka.message/0.10": messages,
    "heka.stream/0.10": streams,
}
"""Format and revision to the strategy of its values."""
