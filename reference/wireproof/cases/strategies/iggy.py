"""Hypothesis strategies of Iggy values, heavy on the boundaries of iggy.md §2, §3 and §9.

Every value is whole and sound: its checksums are those of its payloads and its headers a map sorted by key,
so that a round trip can be compared for equality. Hypothesis is an extra.
"""

from collections.abc import Callable, Hashable
from functools import cache
from struct import pack
from typing import Any, Final, cast
from zlib import crc32

from attrs import evolve
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from wireproof.iggy.batch import STORED, Batch, Framed, Head
from wireproof.iggy.frame import Eviction, Frame30, Frame110, Reply, Request
from wireproof.iggy.headers import HeaderMap, Headers, Headers90
from wireproof.iggy.identifier import Identifier
from wireproof.iggy.jsonpoll import (
    JsonPoll70,
    JsonPoll90,
    JsonPoll100,
    JsonPolled70,
    JsonPolled90,
    JsonPolled100,
)
from wireproof.iggy.jsonsend import (
    JsonSend,
    JsonSend70,
    JsonSend90,
    JsonSend100,
    JsonSent70,
    JsonSent90,
    JsonSent100,
)
from wireproof.iggy.kinds import BY_NAME, KINDS, HeaderValue, Kind
from wireproof.iggy.layout import Layout
from wireproof.iggy.log import Log27, Log30, Log40, Log70, Log90, Log110
from wireproof.iggy.message import (
    POLLED_70,
    POLLED_80,
    POLLED_90,
    Polled30,
    Polled40,
    Sent,
    Sent70,
    Sent90,
    Stored30,
    write_message,
)
from wireproof.iggy.partitioning import Partitioning
from wireproof.iggy.poll import Poll30, Poll40, Poll60, Poll70, Poll90, Poll110
from wireproof.iggy.pollrequest import (
    Consumer,
    Consumer30,
    PollRequest30,
    PollRequest80,
    PollRequest92,
    Strategy,
)
from wireproof.iggy.reply import Confirmation, Reply30, Reply110
from wireproof.iggy.retained import Retained
from wireproof.iggy.send import Send, Send70, Send90
from wireproof.wire.checksums import iggy_batch, xxh3_64
from wireproof.wire.writer import Writer

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
def keyed_maps() -> SearchStrategy[HeaderMap]:
    """The same of TLV v2: keys of any kind, sorted by kind and bytes (§2.4)."""
    maps = st.dictionaries(header_values(), header_values(), max_size=3)
    return maps.map(
        lambda found: tuple(
            sorted(found.items(), key=lambda entry: (BY_NAME[entry[0].kind].code, entry[0].value))
        )
    )


@cache
def sealed_maps() -> SearchStrategy[HeaderMap | bytes]:
    """The same, or an encrypted block: one of kind 0 is no map, whatever follows (§10.2)."""
    blocks = st.one_of(st.just(b"user-header-bytes"), st.binary(max_size=40).map(b"\0".__add__))
    return st.one_of(keyed_maps(), keyed_maps(), blocks)


@cache
def identifiers(least: int = 1) -> SearchStrategy[Identifier]:
    """A number, which is 0 from 0.8.0 on only, or a name (§2.2)."""
    numbers = unsigned(32).map(lambda number: max(number, least).to_bytes(4, "little"))
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
@st.composite
def _sealed(draw: DrawFn, row: Layout) -> Any:  # noqa: ANN401 - the row's value class
    """A message from 0.7.0 on, with the checksum that its bytes have (§5)."""
    message = row.value(
        id=draw(unsigned(128)),
        offset=draw(unsigned(64)),
        timestamp=draw(unsigned(64)),
        origin_timestamp=draw(unsigned(64)),
        headers=draw(sealed_maps() if row.sealed else header_maps()),
        payload=draw(st.one_of(st.just(b""), octets(300))),
    )
    writer = Writer()
    write_message(writer, row, message)
    return evolve(message, checksum=int.from_bytes(writer.data[:8], "little"))


@cache
def _sent_later(value: Hashable) -> SearchStrategy[tuple[Any, ...]]:
    headers = header_maps() if value is Sent70 else sealed_maps()
    fields = {"id": unsigned(128), "origin_timestamp": unsigned(64), "payload": octets(300)}
    one: SearchStrategy[Any] = st.builds(cast("type[Any]", value), headers=headers, **fields)
    return st.lists(one, min_size=1, max_size=3).map(tuple)


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


@cache
def _sends_later(value: Hashable, message: Hashable, least: int) -> SearchStrategy[Any]:
    """A body of SendMessages from 0.7.0 on."""
    return st.builds(
        cast("type[Any]", value),
        stream=identifiers(least),
        topic=identifiers(least),
        partitioning=partitionings(),
        messages=_sent_later(message),
    )


@cache
def _polls_later(value: Hashable, row: Layout) -> SearchStrategy[Any]:
    """A poll response from 0.7.0 on."""
    return st.builds(
        cast("type[Any]", value),
        partition_id=unsigned(32),
        current_offset=unsigned(64),
        messages=st.lists(_sealed(row), max_size=3).map(tuple),
    )


# --- requests and what answers them: §2.1, §3.2, §6 ---

_CODES: Final = st.one_of(st.sampled_from([1, 38, 100, 101]), unsigned(32))
_STATUSES: Final = st.one_of(st.sampled_from([0, 0, 3, 4009, 4022]), unsigned(32))
_CONSUMERS: Final = st.sampled_from(["consumer", "group"])
_STRATEGIES: Final = st.sampled_from(["offset", "timestamp", "first", "last", "next"])


@cache
def _requests(value: Hashable, least: int = 1) -> SearchStrategy[Any]:
    """A request of PollMessages."""
    ids: SearchStrategy[Any] = unsigned(32) if value is PollRequest30 else identifiers(least)
    partitions: SearchStrategy[Any] = unsigned(32)
    return st.builds(
        cast("type[Any]", value),
        consumer=st.builds(cast("Any", Consumer30 if value is PollRequest30 else Consumer), _CONSUMERS, ids),
        stream=identifiers(least),
        topic=identifiers(least),
        partition_id=st.one_of(st.none(), partitions) if value is PollRequest80 else partitions,
        strategy=st.builds(Strategy, cast("Any", _STRATEGIES), unsigned(64)),
        count=unsigned(32).map(lambda number: max(number, 1)),
        auto_commit=st.booleans(),
    )


@cache
def _bodies() -> SearchStrategy[bytes]:
    return st.one_of(st.just(b""), st.just(b"b" * 300), st.binary(max_size=40))


@cache
def _requests_110() -> SearchStrategy[Any]:
    """A header of a request; the checksum is that of no body until one is there."""
    operations = st.one_of(st.sampled_from([1, 2, 160, 160]), unsigned(8))
    wide = {name: unsigned(64) for name in ("timestamp", "request", "session")}
    return st.builds(
        Request, client=unsigned(128), operation=operations, user_id=unsigned(32), code=unsigned(32), **wide
    )


@cache
def _frames_110() -> SearchStrategy[Frame110]:
    """A VSR frame of any command."""
    replies = st.builds(
        Reply,
        **{name: unsigned(128) for name in ("request_checksum", "context", "client")},
        **{name: unsigned(64) for name in ("op", "commit", "timestamp", "request")},
        operation=unsigned(8),
        status=unsigned(32),
    )
    evictions = st.builds(
        Eviction,
        client=unsigned(128),
        server_protocol_version=unsigned(32),
        server_protocol_version_min=unsigned(32),
        reason=unsigned(8),
    )
    headers = st.one_of(_requests_110(), replies, evictions)
    return st.builds(Frame110, header=headers, body=_bodies()).map(_summed)


def _summed(frame: Frame110) -> Frame110:
    """§2.1: XXH3-64 of the body, but for what is not replicated and for sends."""
    if not isinstance(frame.header, Request) or frame.header.operation in (2, 160):
        return frame
    return evolve(frame, header=evolve(frame.header, request_checksum=xxh3_64(frame.body)))


@cache
def _confirmations() -> SearchStrategy[Reply110]:
    one = st.builds(
        Confirmation,
        **{name: unsigned(32) for name in ("stream_id", "topic_id", "partition_id")},
        base_offset=unsigned(64),
    )
    return st.lists(one, max_size=3).map(lambda found: Reply110(confirmations=tuple(found)))


# --- batches: §6, §7 ---


@cache
@st.composite
def _batches(draw: DrawFn) -> Batch:
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
def _polls_110() -> SearchStrategy[Poll110]:
    """A poll response of batches."""

    def made(batches: list[Batch], partition: int, current: int) -> Poll110:
        return Poll110(
            partition_id=partition,
            current_offset=current,
            batches=tuple(map(_headed, batches)),
            messages=tuple(one for batch in batches for one in batch.messages),
        )

    return st.builds(made, st.lists(_batches(), max_size=3), unsigned(32), unsigned(64))


@cache
@st.composite
def _sends_110(draw: DrawFn) -> Send90:
    """A body of SendMessages; its messages are at most 2^32 - 1 microseconds apart."""
    value: Send90 = draw(_sends_later(Send90, Sent90, 0))
    origin = draw(unsigned(64).map(lambda number: min(number, (1 << 64) - (1 << 32))))
    messages = tuple(
        evolve(one, id=one.id or 1, origin_timestamp=origin + draw(unsigned(32))) for one in value.messages
    )
    changed: Send90 = evolve(value, messages=messages)
    return changed


@cache
def _retained() -> SearchStrategy[Retained]:
    return st.builds(
        Retained,
        base_offset=unsigned(64),
        last_offset_delta=unsigned(32),
        max_timestamp=unsigned(64),
        messages=_lists(Polled40),
    )


@cache
def _later_logs(value: Hashable, row: Layout) -> SearchStrategy[Any]:
    return st.builds(cast("type[Any]", value), messages=st.lists(_sealed(row), max_size=3).map(tuple))


# --- later JSON: §8 ---


@cache
def _json_sends(value: Hashable, message: Hashable, bits: int = 128) -> SearchStrategy[Any]:
    """A body of an HTTP send from 0.7.0 on."""
    headers = {JsonSent70: header_maps, JsonSent90: keyed_maps, JsonSent100: sealed_maps, Sent: header_maps}
    one: SearchStrategy[Any] = st.builds(
        cast("type[Any]", message),
        id=unsigned(bits),
        headers=cast("Any", headers)[message](),
        payload=octets(300),
    )
    messages = st.lists(one, min_size=1, max_size=3).map(tuple)
    return st.builds(cast("type[Any]", value), partitioning=partitionings(), messages=messages)


@cache
def _json_polls(value: Hashable, message: Hashable) -> SearchStrategy[Any]:
    """A body of an HTTP poll from 0.7.0 on."""
    headers = {JsonPolled70: header_maps, JsonPolled90: keyed_maps, JsonPolled100: sealed_maps}
    one: SearchStrategy[Any] = st.builds(
        cast("type[Any]", message),
        id=unsigned(128),
        **{name: unsigned(64) for name in ("checksum", "offset", "timestamp", "origin_timestamp")},
        headers=cast("Any", headers)[message](),
        payload=st.one_of(st.just(b""), octets(300)),
    )
    return st.builds(
        cast("type[Any]", value),
        partition_id=unsigned(32),
        current_offset=unsigned(64),
        messages=st.lists(one, max_size=3).map(tuple),
    )


VALUES: Final[dict[str, Callable[[], SearchStrategy[Any]]]] = {
    "iggy.poll-request/0.0.30": lambda: _requests(PollRequest30),
    "iggy.poll-request/0.0.92": lambda: _requests(PollRequest92),
    "iggy.poll-request/0.8": lambda: _requests(PollRequest80, 0),
    "iggy.frame/0.0.30": lambda: st.builds(Frame30, code=_CODES, body=_bodies()),
    "iggy.frame/0.11": _frames_110,
    "iggy.reply/0.0.30": lambda: st.builds(Reply30, status=_STATUSES, body=_bodies()),
    "iggy.reply/0.11": _confirmations,
    "iggy.identifier/0.0.30": identifiers,
    "iggy.identifier/0.8": lambda: identifiers(0),
    "iggy.partitioning/0.0.30": partitionings,
    "iggy.partitioning/0.9": partitionings,
    "iggy.headers/0.0.30": lambda: header_maps().map(Headers),
    "iggy.headers/0.9": lambda: keyed_maps().map(Headers90),
    "iggy.headers/0.10": lambda: keyed_maps().map(Headers90),
    "iggy.send/0.0.30": sends,
    "iggy.send/0.7": lambda: _sends_later(Send70, Sent70, 1),
    "iggy.send/0.8": lambda: _sends_later(Send70, Sent70, 0),
    "iggy.send/0.9": lambda: _sends_later(Send90, Sent90, 0),
    "iggy.json.send/0.0.30": json_sends,
    "iggy.json.send/0.7": lambda: _json_sends(JsonSend70, JsonSent70, 64),
    "iggy.json.send/0.8": lambda: _json_sends(JsonSend, Sent),
    "iggy.json.send/0.9": lambda: _json_sends(JsonSend90, JsonSent90),
    "iggy.json.send/0.10": lambda: _json_sends(JsonSend100, JsonSent100),
    "iggy.json.poll/0.7": lambda: _json_polls(JsonPoll70, JsonPolled70),
    "iggy.json.poll/0.9": lambda: _json_polls(JsonPoll90, JsonPolled90),
    "iggy.json.poll/0.10": lambda: _json_polls(JsonPoll100, JsonPolled100),
    "iggy.poll/0.0.30": lambda: _polls("0.0.30"),
    "iggy.poll/0.0.40": lambda: _polls("0.0.40"),
    "iggy.poll/0.0.60": lambda: _polls("0.0.60"),
    "iggy.send/0.11": _sends_110,
    "iggy.poll/0.11": _polls_110,
    "iggy.poll/0.7": lambda: _polls_later(Poll70, POLLED_70),
    "iggy.poll/0.8": lambda: _polls_later(Poll70, POLLED_80),
    "iggy.poll/0.9": lambda: _polls_later(Poll90, POLLED_90),
    "iggy.json.poll/0.0.30": lambda: _polls("0.0.30"),
    "iggy.json.poll/0.0.40": lambda: _polls("0.0.40"),
    "iggy.json.poll/0.0.60": lambda: _polls("0.0.60"),
    "iggy.log/0.0.30": lambda: st.builds(Log30, messages=_lists(Stored30)),
    "iggy.log/0.0.40": lambda: st.builds(Log40, messages=_lists(Polled40)),
    "iggy.log/0.2.7": lambda: st.builds(Log27, batches=st.lists(_retained(), max_size=3).map(tuple)),
    "iggy.log/0.7": lambda: _later_logs(Log70, POLLED_70),
    "iggy.log/0.8": lambda: _later_logs(Log70, POLLED_80),
    "iggy.log/0.9": lambda: _later_logs(Log90, POLLED_90),
    "iggy.log/0.11": lambda: st.builds(Log110, batches=st.lists(_batches(), max_size=3).map(tuple)),
}
"""Format and revision to the strategy of its values."""
