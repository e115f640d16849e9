"""Hypothesis strategies of Iggy values, heavy on the boundaries of iggy.md §2, §3 and §9.

Every value is whole and sound: its checksums are those of its payloads and its headers a map sorted by key,
so that a round trip can be compared for equality. Hypothesis is an extra.
"""

from collections.abc import Callable, Hashable
from functools import cache
from typing import Any, Final, cast
from zlib import crc32

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from wireproof.iggy.headers import HeaderMap, Headers
from wireproof.iggy.identifier import Identifier
from wireproof.iggy.jsonsend import JsonSend
from wireproof.iggy.kinds import KINDS, HeaderValue, Kind
from wireproof.iggy.log import Log30, Log40
from wireproof.iggy.message import Polled30, Polled40, Sent, Stored30
from wireproof.iggy.partitioning import Partitioning
from wireproof.iggy.poll import Poll30, Poll40, Poll60
from wireproof.iggy.send import Send

STATES: Final = ("available", "unavailable", "poisoned", "marked_for_deletion")


@cache
def unsigned(bits: int) -> SearchStrategy[int]:
    """Integers of `bits` bits; both ends, the sign bit and where a double loses them (2^53) often."""
    top = (1 << bits) - 1
    edges = [0, 1, top, top >> 1, (top >> 1) + 1, min(top, (1 << 53) + 1)]
    return st.one_of(st.sampled_from(edges), st.integers(0, top))


@cache
def texts() -> SearchStrategy[bytes]:
    """1 to 255 bytes of UTF-8, for names and keys."""
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
    """1 to `most` bytes, for keys of messages and payloads."""
    return st.one_of(
        st.sampled_from([b"\0", b"\xff" * 128, b"\xff" * most]), st.binary(min_size=1, max_size=40)
    )


@cache
def header_values() -> SearchStrategy[HeaderValue]:
    """A sound value of any of the fifteen kinds (§2.3)."""
    return st.sampled_from(KINDS).flatmap(_of_kind)


@cache
def _of_kind(kind: Kind) -> SearchStrategy[HeaderValue]:
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
    """Up to three headers, sorted by key, each key once (§10.1)."""
    maps = st.dictionaries(texts(), header_values(), max_size=3)
    return maps.map(lambda found: tuple(sorted(found.items(), key=lambda entry: entry[0])))


@cache
def identifiers() -> SearchStrategy[Identifier]:
    """A number that is not 0, or a name (§2.2)."""
    numbers = unsigned(32).filter(bool).map(lambda number: number.to_bytes(4, "little"))
    return st.one_of(
        st.builds(Identifier, st.just("numeric"), numbers), st.builds(Identifier, st.just("string"), texts())
    )


@cache
def partitionings() -> SearchStrategy[Partitioning]:
    """Any of the three kinds (§2.2)."""
    ids = unsigned(32).map(lambda number: number.to_bytes(4, "little"))
    return st.one_of(
        st.just(Partitioning("balanced", b"")),
        st.builds(Partitioning, st.just("partition_id"), ids),
        st.builds(Partitioning, st.just("messages_key"), octets()),
    )


# --- messages ---


@cache
def sent() -> SearchStrategy[Sent]:
    """A message of a send; its payload is not empty (§3.1)."""
    return st.builds(Sent, id=unsigned(128), headers=header_maps(), payload=octets(300))


@cache
@st.composite
def _kept(draw: DrawFn, value: Hashable) -> Any:  # noqa: ANN401 - one of three classes
    """A message that the server gave an offset and a timestamp, and perhaps a state and a checksum."""
    payload = draw(st.one_of(st.just(b""), octets(300)))
    fields: dict[str, Any] = {
        "offset": draw(unsigned(64)),
        "timestamp": draw(unsigned(64)),
        "id": draw(unsigned(128)),
        "headers": draw(header_maps()),
        "payload": payload,
    }
    if value is not Polled30:
        fields["checksum"] = crc32(payload)
    if value is Polled40:
        fields["state"] = draw(st.sampled_from(STATES))
    return cast("type[Any]", value)(**fields)


@cache
def _lists(value: Hashable) -> SearchStrategy[tuple[Any, ...]]:
    return st.lists(_kept(value), max_size=3).map(tuple)


@cache
def _some_sent() -> SearchStrategy[tuple[Sent, ...]]:
    return st.lists(sent(), min_size=1, max_size=3).map(tuple)


# --- formats ---


@cache
def sends() -> SearchStrategy[Send]:
    """A body of SendMessages."""
    return st.builds(
        Send,
        stream=identifiers(),
        topic=identifiers(),
        partitioning=partitionings(),
        messages=_some_sent(),
    )


@cache
def json_sends() -> SearchStrategy[JsonSend]:
    """A body of an HTTP send."""
    return st.builds(JsonSend, partitioning=partitionings(), messages=_some_sent())


@cache
def _polls(revision: str) -> SearchStrategy[Any]:
    if revision == "0.0.30":
        return st.builds(Poll30, messages=_lists(Polled30))
    if revision == "0.0.40":
        return st.builds(Poll40, messages=_lists(Polled40))
    return st.builds(
        Poll60, partition_id=unsigned(32), current_offset=unsigned(64), messages=_lists(Polled40)
    )


VALUES: Final[dict[str, Callable[[], SearchStrategy[Any]]]] = {
    "iggy.identifier/0.0.30": identifiers,
    "iggy.partitioning/0.0.30": partitionings,
    "iggy.headers/0.0.30": lambda: header_maps().map(Headers),
    "iggy.send/0.0.30": sends,
    "iggy.json.send/0.0.30": json_sends,
    "iggy.poll/0.0.30": lambda: _polls("0.0.30"),
    "iggy.poll/0.0.40": lambda: _polls("0.0.40"),
    "iggy.poll/0.0.60": lambda: _polls("0.0.60"),
    "iggy.json.poll/0.0.30": lambda: _polls("0.0.30"),
    "iggy.json.poll/0.0.40": lambda: _polls("0.0.40"),
    "iggy.json.poll/0.0.60": lambda: _polls("0.0.60"),
    "iggy.log/0.0.30": lambda: st.builds(Log30, messages=_lists(Stored30)),
    "iggy.log/0.0.40": lambda: st.builds(Log40, messages=_lists(Polled40)),
}
"""Format and revision to the strategy of its values."""
