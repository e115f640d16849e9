"""The user headers of a message: iggy.md, section 2.4.

An entry of TLV v1 (0.0.30 to 0.8.x) is `key_len u32 | key | kind u8 | val_len u32 | value`. There is no
count and no terminator: entries run to the end of the enclosing length. No headers are 0 bytes, so that
None and an empty map are one (section 2.4).

A header block is a map (section 10.1): equality does not see the order of its entries. A value
therefore shows them sorted by key, and entries of one key in the order of the wire.
"""

from typing import Final, TypeAlias

from attrs import frozen

from wireproof.iggy.kinds import BY_CODE, BY_NAME, SIZES, HeaderValue, is_utf8
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.values import to_json
from wireproof.wire.writer import Writer

Entry: TypeAlias = tuple[bytes, HeaderValue]
HeaderMap: TypeAlias = tuple[Entry, ...]

FIELD: Final = "headers"


@frozen
class Headers:
    """The value of a header block that stands alone."""

    headers: tuple[tuple[bytes, HeaderValue], ...]


def decode(reader: Reader, _: Options) -> Headers:
    """Read entries to the end of the reader's window."""
    return Headers(read_map(reader))


def encode(writer: Writer, value: Headers, _: Options) -> None:
    """Write the entries in the order of the value."""
    write_map(writer, value.headers)


def read_map(reader: Reader) -> HeaderMap:
    """The entries of the whole window of `reader`, as a map."""
    start, entries = reader.pos, list[Entry]()
    while reader.left:
        reader.enter(FIELD, len(entries))
        entries.append(_read_entry(reader))
        reader.leave()
    return as_map(reader, entries, start)


def as_map(reader: Reader, entries: list[Entry], start: int) -> HeaderMap:
    """The entries sorted by key; the second of a key is remarked at `start`: iggy.md, section 10.1.

    Rust, Java and C# keep the last of them, Go and Node both, and C# once raised: all are seen in the field.
    """
    ordered = tuple(sorted(entries, key=lambda entry: entry[0]))
    last = dict(ordered)
    if len(last) < len(ordered):
        first = dict(reversed(ordered))
        others = (
            reader.other("first-wins", FIELD, to_json(tuple((key, first[key]) for key in last))),
            reader.other("last-wins", FIELD, to_json(tuple(last.items()))),
        )
        reader.remark("iggy-duplicate-header", FIELD, at=start, others=others)
    return ordered


def _read_entry(reader: Reader) -> Entry:
    key = _read_sized(reader, "key_len", "key", "InvalidHeaderKey")
    start = reader.pos - len(key)
    if not is_utf8(key):
        raise reader.reject("bad-utf8", "key", at=start, detail="InvalidHeaderKey")
    code = reader.uint8("kind")
    if code not in BY_CODE:  # section 9: InvalidCommand until 0.10.0
        raise reader.reject("bad-kind", "kind", f"kind {code}", at=reader.pos - 1, detail="InvalidCommand")
    value = HeaderValue(BY_CODE[code].name, _read_sized(reader, "val_len", "value", "InvalidHeaderValue"))
    remark_fault(reader, value, reader.pos - len(value.value))
    return key, value


def _read_sized(reader: Reader, length_name: str, name: str, detail: str) -> bytes:
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


def write_map(writer: Writer, headers: HeaderMap) -> None:
    """Write the entries one after the other; every order is a right encoding of the map (section 2.4)."""
    check_map(writer, headers)
    for index, (key, value) in enumerate(headers):
        writer.enter(FIELD, index)
        writer.uint32le("key_len", len(key))
        writer.put("key", key)
        writer.uint8("kind", BY_NAME[value.kind].code)
        writer.uint32le("val_len", len(value.value))
        writer.put("value", value.value)
        writer.leave()


def check_map(writer: Writer, headers: HeaderMap) -> None:
    """What the constructors of keys and values refuse: sections 2.3 and 9. A map has each key once."""
    seen: set[bytes] = set()
    for index, (key, value) in enumerate(headers):
        writer.enter(FIELD, index)
        if len(key) not in SIZES:
            raise writer.invalid("key", f"{len(key)} bytes, not 1 to 255")
        if not is_utf8(key):
            raise writer.invalid("key", "not UTF-8")
        if key in seen:
            raise writer.invalid("key", "a second entry of this key")
        if fault := value.fault():
            raise writer.invalid("value", f"not a {value.kind}: {fault}")
        seen.add(key)
        writer.leave()
