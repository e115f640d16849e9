"""Strategies for header values and header blocks of every revision: iggy.md §2.3, §2.4, §10."""

from functools import cache

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from wireproof.iggy.family.strategies.scalars import octets, texts
from wireproof.iggy.header_kinds import HEADER_KINDS, KINDS_BY_NAME, HeaderKind, HeaderValue
from wireproof.iggy.headers import HeaderMap


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
