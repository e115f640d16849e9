"""Strategies for messages as they are sent, stored and polled: iggy.md §3 and §5."""

from collections.abc import Hashable
from functools import cache
from typing import Any, cast
from zlib import crc32

from attrs import evolve
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from wireproof.iggy.family.strategies.headers import header_maps, header_maps_or_blocks
from wireproof.iggy.family.strategies.scalars import integers, octets
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
from wireproof.wire.writer import Writer


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
