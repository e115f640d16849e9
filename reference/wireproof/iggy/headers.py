"""The user headers of a message: iggy.md, section 2.4.

An entry of TLV v1 (0.0.30 to 0.8.x) is `key_len u32 | key | kind u8 | val_len u32 | value`; in TLV v2 a kind
stands before the key too, which may be of any kind. There is no count and no terminator: entries run to the
end of the enclosing length. No headers are 0 bytes, so that None and an empty map are one (section 2.4).

A header block is a map (section 10.1): equality does not see the order of its entries. A value
therefore shows them sorted by key, and entries of one key in the order of the wire.
"""

from typing import Any, Final, Literal, TypeAlias

from attrs import evolve, frozen

from wireproof.iggy.kinds import BY_CODE, BY_NAME, SIZE, SIZES, HeaderValue, KindName, is_utf8
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.rejected import Rejected
from wireproof.wire.values import to_json
from wireproof.wire.writer import Writer

Key: TypeAlias = bytes | HeaderValue
"""Text, or from TLV v2 on a kind and its bytes."""

Entry: TypeAlias = tuple[Any, HeaderValue]
HeaderMap: TypeAlias = tuple[Entry, ...]

FIELD: Final = "headers"


@frozen
class Tlv:
    """A row: how the entries of an edition lie, and what its readers look at.

    Attributes:
        keyed: whether a key bears a kind.
        sized: whether a number of the wrong size is remarked, or refused.
        ordered: whether writers sort by kind and bytes of the key: section 2.4.
        kind_detail, key_detail: the errors of a kind that there is none of, and of a bad key: section 9.
    """

    keyed: bool
    sized: Literal["remark", "reject"] = "remark"
    ordered: bool = False
    kind_detail: str = "InvalidCommand"
    key_detail: str = "InvalidHeaderKey"

    def size(self, headers: HeaderMap | bytes) -> int:
        """The bytes that a block takes: section 2.4."""
        if isinstance(headers, bytes):
            return len(headers)
        fixed = 10 if self.keyed else 9
        return sum(fixed + len(octets_of(key)) + len(value.value) for key, value in headers)


V1: Final = Tlv(keyed=False)
V2: Final = Tlv(keyed=True, key_detail="InvalidHeaderValue")
WIRE_10: Final = Tlv(keyed=True, ordered=True, kind_detail="InvalidHeaderKind")
"""What the validator of 0.10.0 passes inside a message: sections 10.2 and 11.1, R11."""
DOMAIN_10: Final = evolve(WIRE_10, sized="reject")
"""What becomes a map of headers there."""


@frozen
class Headers:
    """The value of a header block that stands alone, to 0.8.x."""

    headers: tuple[tuple[bytes, HeaderValue], ...]


@frozen
class Headers90:
    """The same from 0.9.0 on: a key is held as a value is."""

    headers: tuple[tuple[HeaderValue, HeaderValue], ...]


@frozen
class Edition:
    """A row: how entries lie, and the class of the value."""

    tlv: Tlv
    value: type[Any]


EDITIONS: Final[dict[str, Edition]] = {
    "0.0.30": Edition(V1, Headers),
    "0.9": Edition(V2, Headers90),
    "0.10": Edition(DOMAIN_10, Headers90),
}
"""By revision."""


def decode(edition: Edition, reader: Reader, _: Options) -> Any:  # noqa: ANN401 - the edition's value class
    """Read entries to the end of the reader's window."""
    return edition.value(read_map(reader, edition.tlv))


def encode(edition: Edition, writer: Writer, value: Any, _: Options) -> None:  # noqa: ANN401 - see `decode`
    """Write the entries, sorted where the edition's writers sort, else in the order of the value."""
    write_map(writer, value.headers, edition.tlv)


def octets_of(key: Key) -> bytes:
    """The bytes of a key, without its kind."""
    return key.value if isinstance(key, HeaderValue) else key


def _place(entry: Entry) -> tuple[int, bytes]:
    """Where an entry stands in a map: by kind code and bytes of its key (section 2.4)."""
    key: Key = entry[0]
    return (BY_NAME[key.kind].code, key.value) if isinstance(key, HeaderValue) else (0, key)


def read_map(reader: Reader, tlv: Tlv) -> HeaderMap:
    """The entries of the whole window of `reader`, as a map."""
    start, entries = reader.pos, list[Entry]()
    while reader.left:
        reader.enter(FIELD, len(entries))
        entries.append(_read_entry(reader, tlv))
        reader.leave()
    return as_map(reader, entries, start)


def as_map(reader: Reader, entries: list[Entry], start: int) -> HeaderMap:
    """The entries sorted by key; the second of a key is remarked at `start`: iggy.md, section 10.1.

    Rust, Java and C# keep the last of them, Go and Node both, and C# once raised: all are seen in the field.
    """
    ordered = tuple(sorted(entries, key=_place))
    last = dict(ordered)
    if len(last) < len(ordered):
        first = dict(reversed(ordered))
        others = (
            reader.other("first-wins", FIELD, to_json(tuple((key, first[key]) for key in last))),
            reader.other("last-wins", FIELD, to_json(tuple(last.items()))),
        )
        reader.remark("iggy-duplicate-header", FIELD, at=start, others=others)
    return ordered


def read_or_keep(reader: Reader, tlv: Tlv) -> HeaderMap | bytes:
    """The map in the window of `reader`; where there is none, its bytes, remarked: sections 5 and 10.2.

    From 0.7.0 on servers do not look inside a block, and clients deliver a message whose block they cannot
    read, without headers; from 0.10.0 on it may be encrypted. Shown as bytes, nothing is lost.
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


def _read_entry(reader: Reader, tlv: Tlv) -> Entry:
    key = _read_key(reader, tlv) if tlv.keyed else _read_text(reader)
    kind = _read_kind(reader, "val_kind" if tlv.keyed else "kind", tlv)
    return key, _read_sized(reader, kind, ("val_len", "value"), "InvalidHeaderValue", tlv)


def _read_text(reader: Reader) -> bytes:
    """The key of TLV v1."""
    key = _read_octets(reader, "key_len", "key", "InvalidHeaderKey")
    if not is_utf8(key):
        start = reader.pos - len(key)
        raise reader.reject("bad-utf8", "key", at=start, detail="InvalidHeaderKey")
    return key


def _read_key(reader: Reader, tlv: Tlv) -> HeaderValue:
    """The key of TLV v2."""
    kind = _read_kind(reader, "key_kind", tlv)
    return _read_sized(reader, kind, ("key_len", "key"), tlv.key_detail, tlv)


def _read_kind(reader: Reader, name: str, tlv: Tlv) -> KindName:
    code = reader.uint8(name)
    if code not in BY_CODE:
        raise reader.reject("bad-kind", name, f"kind {code}", at=reader.pos - 1, detail=tlv.kind_detail)
    return BY_CODE[code].name


def _read_sized(reader: Reader, kind: KindName, names: tuple[str, str], detail: str, tlv: Tlv) -> HeaderValue:
    """The length and the bytes of a value of `kind`; what the kind does not allow is remarked or refused."""
    at = reader.pos
    value = HeaderValue(kind, _read_octets(reader, *names, detail))
    fault = value.fault()
    if fault == SIZE and tlv.sized == "reject":
        text = f"{len(value.value)} bytes for {kind}"
        raise reader.reject("bad-length", names[0], text, at=at, detail=detail)
    if fault:  # section 10.3: the readers take it and fail, or not, in the accessor
        reader.remark(fault, names[1], at=reader.pos - len(value.value))
    return value


def _read_octets(reader: Reader, length_name: str, name: str, detail: str) -> bytes:
    """A u32 length of 1 to 255 (section 9, the decoder since `241e4efff`) and as many bytes."""
    length = reader.uint32le(length_name)
    if length not in SIZES:
        raise reader.reject("bad-length", length_name, f"{length} bytes", at=reader.pos - 4, detail=detail)
    reader.cover(length_name, "length", reader.pos, reader.pos + length)
    return reader.take(name, length)


def remark_fault(reader: Reader, value: HeaderValue, at: int) -> None:
    """Remark a value that its kind does not allow and that the readers take: section 10.3."""
    if fault := value.fault():
        reader.remark(fault, "value", at=at)


def write_map(writer: Writer, headers: HeaderMap, tlv: Tlv) -> None:
    """Write the entries one after the other; every order is a right encoding of the map (section 2.4)."""
    check_map(writer, headers)
    for index, (key, value) in enumerate(sorted(headers, key=_place) if tlv.ordered else headers):
        writer.enter(FIELD, index)
        if tlv.keyed:
            writer.uint8("key_kind", BY_NAME[key.kind].code)
        writer.uint32le("key_len", len(octets_of(key)))
        writer.put("key", octets_of(key))
        writer.uint8("val_kind" if tlv.keyed else "kind", BY_NAME[value.kind].code)
        writer.uint32le("val_len", len(value.value))
        writer.put("value", value.value)
        writer.leave()


def write_kept(writer: Writer, block: bytes, tlv: Tlv) -> None:
    """Write a block as it stands; one that reads as a map is refused, for it would come back as that."""
    try:
        read_map(Reader(block), tlv)
    except Rejected:
        writer.put(FIELD, block)
        return
    raise writer.invalid(FIELD, "bytes that read as a map: give the map")


def check_map(writer: Writer, headers: HeaderMap) -> None:
    """What the constructors of keys and values refuse: sections 2.3 and 9. A map has each key once."""
    seen: set[Key] = set()
    for index, (key, value) in enumerate(headers):
        writer.enter(FIELD, index)
        _check_key(writer, key)
        if key in seen:
            raise writer.invalid("key", "a second entry of this key")
        if fault := value.fault():
            raise writer.invalid("value", f"not a {value.kind}: {fault}")
        seen.add(key)
        writer.leave()


def _check_key(writer: Writer, key: Key) -> None:
    if isinstance(key, HeaderValue):
        if fault := key.fault():
            raise writer.invalid("key", f"not a {key.kind}: {fault}")
        return
    if len(key) not in SIZES:
        raise writer.invalid("key", f"{len(key)} bytes, not 1 to 255")
    if not is_utf8(key):
        raise writer.invalid("key", "not UTF-8")
