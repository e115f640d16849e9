"""Header values and blocks of every edition: iggy.md §2.3, §2.4, §10."""

from functools import cache

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from wireproof.cases.strategies.iggy.scalars import octets, texts
from wireproof.iggy.headers import HeaderMap
from wireproof.iggy.kinds import BY_NAME, KINDS, HeaderValue, Kind


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
