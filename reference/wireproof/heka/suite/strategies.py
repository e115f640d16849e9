"""What Hypothesis strategies for Heka's values need beside types and layouts: heka.md, sections 1, 2 and 4.

Hypothesis is an optional dependency.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from wireproof.derive.strategies import Refinement
from wireproof.heka.message import HEKA_MESSAGE, HekaMessage
from wireproof.heka.stream import HEKA_HEADER, FrameStream
from wireproof.wire.options import DEFAULT_OPTIONS, Options

TRAPS: Final = (b"\x1e", b"\x1f", bytes.fromhex("1e0208051f"), b"\xc0\x80", b"\x1e" * 129)
"""Separators, a header, a NUL as some writers encode it: S11, W6."""

RECENT_TIMESTAMP: Final = 1_700_000_000_000_000_000
"""A recent timestamp, in nanoseconds."""


def _also(*others: Any) -> Refinement:  # noqa: ANN401 - values of the type
    return lambda _, drawn: st.one_of(drawn, st.sampled_from(others))


def _one_of(*others: Any) -> Refinement:  # noqa: ANN401 - values of the type
    return lambda _, __: st.sampled_from(others)


VALUES: Final[dict[Any, Refinement]] = {
    bytes: lambda _, drawn: st.one_of(
        drawn, st.sampled_from(TRAPS), st.text("aß漢🦀\0\x1e", max_size=20).map(str.encode)
    ),
    (HEKA_MESSAGE.type, "timestamp"): _also(RECENT_TIMESTAMP),
    (HEKA_MESSAGE.type, "severity"): _also(*range(8)),
    (HEKA_HEADER.type, "hmac_signer"): _one_of(None, b"", b"test", b"\x1e\x1f", b"s" * 128),
    (HEKA_HEADER.type, "hmac_key_version"): _one_of(None, 0, 1, 127, 128, (1 << 32) - 1),
    (HEKA_HEADER.type, "hmac"): lambda _, __: st.none() | st.binary(max_size=20),
}
"""Types and fields of classes to refinements of their strategies."""


def _message_options(_value: HekaMessage) -> SearchStrategy[Options]:
    """Return a strategy for options: sometimes a message is compressed as a whole."""
    return st.sampled_from([DEFAULT_OPTIONS, DEFAULT_OPTIONS, Options(compression="snappy")])


def _stream_options(value: FrameStream) -> SearchStrategy[Options]:
    """Return a strategy for options: keys or none, any resync, maybe a tight limit for the message size."""
    known = {"test_0": b"zero", "test_1": b"testkey", "_1": b"noname", "test_127": b""}
    keys = st.sampled_from([None, known])
    resync: SearchStrategy[Any] = st.sampled_from(["strict", "go", "c"])
    sizes: Sequence[int] = [frame.header.message_length for frame in value.frames]
    max_message = st.sampled_from(
        [None, None, None, *(size - excess for size in sizes[:1] for excess in (0, 1))]
    )
    return st.builds(Options, keys=keys, resync=resync, max_message=max_message)


OPTIONS: Final[dict[str, Callable[[Any], SearchStrategy[Options]]]] = {
    "heka.message": _message_options,
    "heka.stream": _stream_options,
}
"""Name of a format to the strategy for the options of a value."""
