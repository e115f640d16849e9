"""The user headers of a message: iggy.md, section 2.4.

An entry of TLV v1 (0.0.30 to 0.8.x) is `key_len u32 | key | kind u8 | val_len u32 | value`. In TLV v2 the key
has a kind as well. There is no count and no terminator: the entries fill the enclosing length. A message
without headers has a block of 0 bytes, so no headers and an empty map are the same (section 2.4).

A header block is a map (section 10.1), so the order of its entries has no meaning. Decoded entries are sorted
by key; entries with the same key keep the order of the wire.
"""

from functools import cached_property
from typing import Any, Final, Literal, TypeAlias

from attrs import evolve, frozen

from wireproof.iggy.header_kinds import (
    HEADER_KINDS,
    KINDS_BY_CODE,
    KINDS_BY_NAME,
    SIZES,
    WRONG_SIZE,
    HeaderKindName,
    HeaderValue,
    is_utf8,
)
from wireproof.iggy.revision import Revision
from wireproof.schema.layout import Layout, Length, Number, Octets, Repeated
from wireproof.wire.json_values import to_json
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.writer import Writer

HeaderKey: TypeAlias = bytes | HeaderValue
"""The key of an entry: UTF-8 in TLV v1, a kind and its bytes in TLV v2."""

HeaderEntry: TypeAlias = tuple[Any, HeaderValue]
HeaderMap: TypeAlias = tuple[HeaderEntry, ...]

FIELD: Final = "headers"


_KINDS: Final = {kind.code: kind.name for kind in HEADER_KINDS}

_KEY: Final = (Length("key_len", "uint32le", of="key"), Octets("key"))

_VALUE: Final = (Length("val_len", "uint32le", of="value"), Octets("value"))

ENTRY_V1: Final = Layout(
    "Header", (*_KEY, Number("kind", "uint8", codes=_KINDS), *_VALUE), cites="iggy.md §2.4"
)
ENTRY_V2: Final = Layout(
    "Header",
    (Number("key_kind", "uint8", codes=_KINDS), *_KEY, Number("val_kind", "uint8", codes=_KINDS), *_VALUE),
    cites="iggy.md §2.4",
)


@frozen
class TlvRules:
    """The layout of header entries, and the checks that readers make.

    Attributes:
        entry: the layout of an entry.
        sized: how to treat a number whose size does not fit its kind.
        ordered: whether writers sort entries by kind and bytes of the key: section 2.4.
        kind_detail: the server's error for an unknown kind: section 9.
        key_detail: the server's error for a bad key: section 9.
    """

    entry: Layout
    sized: Literal["remark", "reject"] = "remark"
    ordered: bool = False
    kind_detail: str = "InvalidCommand"
    key_detail: str = "InvalidHeaderKey"

    @cached_property
    def keyed(self) -> bool:
        """Return whether a key has a kind."""
        return self.entry is ENTRY_V2


def block_size(headers: HeaderMap | bytes) -> int:
    """Return the size of a header block in bytes; a key that is no bytes has a kind: section 2.4."""
    if isinstance(headers, bytes):
        return len(headers)
    fixed = (ENTRY_V1.least_size, ENTRY_V2.least_size)
    return sum(
        fixed[isinstance(key, HeaderValue)] + len(key_bytes(key)) + len(value.value) for key, value in headers
    )


TLV_V1: Final = TlvRules(ENTRY_V1)
TLV_V2: Final = TlvRules(ENTRY_V2, key_detail="InvalidHeaderValue")
TLV_WIRE_10: Final = TlvRules(ENTRY_V2, ordered=True, kind_detail="InvalidHeaderKind")
"""Header blocks that the validator of 0.10.0 accepts inside a message: sections 10.2 and 11.1, R11."""
TLV_DOMAIN_10: Final = evolve(TLV_WIRE_10, sized="reject")
"""Header blocks that 0.10.0 converts into a map."""


@frozen
class HeaderBlock:
    """The value of a header block on its own, up to 0.8.x."""

    headers: tuple[tuple[bytes, HeaderValue], ...]


@frozen
class KeyedHeaderBlock:
    """The value of a header block on its own, since 0.9.0: a key has a kind, as a value has."""

    headers: tuple[tuple[HeaderValue, HeaderValue], ...]


@frozen
class HeadersRevision(Revision):
    """A revision of the header block: the rules of its entries."""

    tlv: TlvRules


def _revision(tlv: TlvRules, value: type[Any]) -> HeadersRevision:
    parts = (Repeated(FIELD, of=tlv.entry),)
    return HeadersRevision(Layout("Headers", parts, value=value, cites="iggy.md §2.4"), tlv)


REVISIONS: Final[dict[str, HeadersRevision]] = {
    "0.0.30": _revision(TLV_V1, HeaderBlock),
    "0.9": _revision(TLV_V2, KeyedHeaderBlock),
    "0.10": _revision(TLV_DOMAIN_10, KeyedHeaderBlock),
}
"""Revision to its row."""


def decode(revision: HeadersRevision, reader: Reader, _: Options) -> Any:  # noqa: ANN401 - the revision's value class
    """Read entries to the end of the reader's window."""
    return revision.value(read_map(reader, revision.tlv))


def encode(revision: HeadersRevision, writer: Writer, value: Any, _: Options) -> None:  # noqa: ANN401 - see `decode`
    """Write the entries, sorted if writers of the revision sort them, else in the order of the value."""
    write_map(writer, value.headers, revision.tlv)


def key_bytes(key: HeaderKey) -> bytes:
    """Return the bytes of a key without its kind."""
    return key.value if isinstance(key, HeaderValue) else key


def sort_key(entry: HeaderEntry) -> tuple[int, bytes]:
    """Return the sort key of an entry: the kind code and the bytes of its key (section 2.4)."""
    key: HeaderKey = entry[0]
    return (KINDS_BY_NAME[key.kind].code, key.value) if isinstance(key, HeaderValue) else (0, key)


def read_map(reader: Reader, tlv: TlvRules) -> HeaderMap:
    """Read the entries that fill the window of `reader`, as a map."""
    start, entries = reader.pos, list[HeaderEntry]()
    while reader.left:
        reader.enter(FIELD, len(entries))
        entries.append(_read_entry(reader, tlv))
        reader.leave()
    return map_of_entries(reader, entries, start)


def map_of_entries(reader: Reader, entries: list[HeaderEntry], start: int) -> HeaderMap:
    """Return the entries sorted by key, and remark at `start` a key that occurs twice: iggy.md, section 10.1.

    Rust, Java and C# keep the last entry of a key, Go and Node keep both, and C# once raised an exception.
    """
    ordered = tuple(sorted(entries, key=sort_key))
    last = dict(ordered)
    if len(last) < len(ordered):
        first = dict(reversed(ordered))
        others = (
            reader.other(
                "first-wins", FIELD, to_json(tuple((key, first[key]) for key in last), with_derived=True)
            ),
            reader.other("last-wins", FIELD, to_json(tuple(last.items()), with_derived=True)),
        )
        reader.remark("iggy-duplicate-header", FIELD, at=start, others=others)
    return ordered


def read_map_or_bytes(reader: Reader, tlv: TlvRules) -> HeaderMap | bytes:
    """Read the map in the window of `reader`, or return its bytes if it is not a map: sections 5 and 10.2.

    Since 0.7.0 servers do not read header blocks, and clients deliver a message with an unreadable block
    without its headers; since 0.10.0 a block may be encrypted. Returning the bytes loses nothing.
    """
    trial = Reader(reader.data, pos=reader.pos, end=reader.end)
    try:
        headers = read_map(trial, tlv)
    except Rejected:
        start, block = reader.pos, reader.rest(FIELD)
        reader.region(FIELD, "bytes", start, reader.end, block)
        others = (reader.other("no-headers", FIELD, []),)
        reader.remark("iggy-opaque-headers", FIELD, at=start, others=others)
        return block
    return read_map(reader, tlv) if reader.tracing or trial.remarks else headers


def _read_entry(reader: Reader, tlv: TlvRules) -> HeaderEntry:
    key: HeaderKey
    if tlv.keyed:
        key_kind = _read_kind(reader, "key_kind", tlv)
        key = _read_sized(reader, key_kind, ("key_len", "key"), tlv.key_detail, tlv)
    else:
        key = _read_octets(reader, "key_len", "key", "InvalidHeaderKey")
        if not is_utf8(key):
            at = reader.pos - len(key)
            raise reader.reject("bad-utf8", "key", at=at, detail="InvalidHeaderKey")
    kind = _read_kind(reader, "val_kind" if tlv.keyed else "kind", tlv)
    return key, _read_sized(reader, kind, ("val_len", "value"), "InvalidHeaderValue", tlv)


def _read_kind(reader: Reader, name: str, tlv: TlvRules) -> HeaderKindName:
    code = reader.uint8(name)
    if code not in KINDS_BY_CODE:
        raise reader.reject("bad-kind", name, f"kind {code}", at=reader.pos - 1, detail=tlv.kind_detail)
    return KINDS_BY_CODE[code].name


def _read_sized(
    reader: Reader, kind: HeaderKindName, names: tuple[str, str], detail: str, tlv: TlvRules
) -> HeaderValue:
    """Read the length and the bytes of a value, and remark or refuse bytes that its kind does not allow."""
    at = reader.pos
    value = HeaderValue(kind, _read_octets(reader, *names, detail))
    fault = value.fault()
    if fault == WRONG_SIZE and tlv.sized == "reject":
        text = f"{len(value.value)} bytes for {kind}"
        raise reader.reject("bad-length", names[0], text, at=at, detail=detail)
    if fault:  # section 10.3: readers accept the value; the accessor may fail later
        reader.remark(fault, names[1], at=reader.pos - len(value.value))
    return value


def _read_octets(reader: Reader, length_name: str, name: str, detail: str) -> bytes:
    """Read a u32 length of 1 to 255 (section 9, the decoder since `241e4efff`) and that many bytes."""
    length = reader.uint32le(length_name)
    if length not in SIZES:
        raise reader.reject("bad-length", length_name, f"{length} bytes", at=reader.pos - 4, detail=detail)
    reader.cover(length_name, "length", reader.pos, reader.pos + length)
    return reader.take(name, length)


def write_map(writer: Writer, headers: HeaderMap, tlv: TlvRules) -> None:
    """Write the entries one after the other. Every order is a valid encoding of the map (section 2.4)."""
    check_map(writer, headers)
    for index, (key, value) in enumerate(sorted(headers, key=sort_key) if tlv.ordered else headers):
        writer.enter(FIELD, index)
        if tlv.keyed:
            writer.uint8("key_kind", KINDS_BY_NAME[key.kind].code)
        writer.uint32le("key_len", len(key_bytes(key)))
        writer.put("key", key_bytes(key))
        writer.uint8("val_kind" if tlv.keyed else "kind", KINDS_BY_NAME[value.kind].code)
        writer.uint32le("val_len", len(value.value))
        writer.put("value", value.value)
        writer.leave()


def write_map_or_block(tlv: TlvRules, writer: Writer, headers: HeaderMap | bytes) -> None:
    """Write a map, or a block that is not a map unchanged.

    Raises:
        Rejected: the block can be read as a map (`invalid-value`), so a decode would not return these bytes.
    """
    if not isinstance(headers, bytes):
        write_map(writer, headers, tlv)
        return
    try:
        read_map(Reader(headers), tlv)
    except Rejected:
        writer.put(FIELD, headers)
        return
    raise writer.invalid(FIELD, "the bytes can be read as a map: pass the map instead")


def check_map(writer: Writer, headers: HeaderMap) -> None:
    """Refuse duplicate keys, and keys and values that Iggy's constructors refuse: sections 2.3 and 9."""
    seen: set[HeaderKey] = set()
    for index, (key, value) in enumerate(headers):
        writer.enter(FIELD, index)
        if isinstance(key, HeaderValue):
            if fault := key.fault():
                raise writer.invalid("key", f"not a {key.kind}: {fault}")
        elif len(key) not in SIZES:
            raise writer.invalid("key", f"{len(key)} bytes, not 1 to 255")
        elif not is_utf8(key):
            raise writer.invalid("key", "not UTF-8")
        if key in seen:
            raise writer.invalid("key", "this key occurs twice")
        if fault := value.fault():
            raise writer.invalid("value", f"not a {value.kind}: {fault}")
        seen.add(key)
        writer.leave()
