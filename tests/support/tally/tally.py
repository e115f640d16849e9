"""The family `tally`: a stream of entries with a checksum, each with a list of amounts, packed or not.

An entry is `0x7a | flags u8 | length u16 | crc u32 | amounts`, big-endian. Bits 0 to 2 of the flags are the
codec of the amounts, 0 for none and 1 for gzip. An amount is a name, with a zigzag varint as its length, and
a zigzag varint.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from attrs import frozen

from wireproof.family import Family, Format
from wireproof.wire.checksums import crc32
from wireproof.wire.compression import compress, decompress_prefix
from wireproof.wire.layout import (
    REST,
    Checksum,
    ChecksumAlgorithm,
    Flag,
    Layout,
    Length,
    Number,
    Octets,
    Packed,
    Repeated,
)  # fmt: skip
from wireproof.wire.options import Options
from wireproof.wire.reader import Budget, Reader
from wireproof.wire.rejection import Rejected
from wireproof.wire.scan_items import Item
from wireproof.wire.writer import Writer

SYNC: Final = 0x7A
CODEC: Final = 0x07
CODECS: Final = {0: "none", 1: "gzip"}


@frozen
class Amount:
    """A name and a number."""

    name: bytes
    amount: int


@frozen
class Entry:
    """An entry; its length and its checksum are computed."""

    flags: int
    amounts: tuple[Amount, ...]


@frozen
class Stream:
    """Entries one after another."""

    entries: tuple[Entry, ...]


AMOUNT: Final = Layout(
    "Amount",
    (Length("nameLength", "varint", of="name"), Octets("name"), Number("amount", "varint")),
    value=Amount,
)

ENTRY: Final = Layout(
    "Entry",
    (
        Number("sync", "uint8", const=SYNC),
        Number("flags", "uint8", flags=(Flag("codec", CODEC, CODECS),)),
        Length("length", "uint16", of=REST, meaning="number of bytes after it"),
        Checksum("crc", "uint32", algorithm=ChecksumAlgorithm("crc32", crc32), over=REST),
        Packed("amounts", codec_of="flags", mask=CODEC, of=Repeated("amounts", of=AMOUNT)),
    ),
    value=Entry,
)  # fmt: skip

STREAM: Final = Layout("Stream", (Repeated("entries", of=ENTRY),), value=Stream)

LENGTH_AT: Final = ENTRY.offset("length")
LEAST: Final = 4
"""The smallest length: the checksum alone."""


def read_entry(reader: Reader) -> Entry:
    """Read the next entry; raise `Rejected`."""
    start = reader.pos
    if reader.left and reader.data[start] != SYNC:
        raise reader.reject("bad-magic", "sync", f"0x{reader.data[start]:02x}")
    head = Reader.window(reader, "", ENTRY.fixed_size, reader.short)
    length = int.from_bytes(reader.data[start + LENGTH_AT : start + LENGTH_AT + 2], "big")
    if length < LEAST:
        raise reader.reject("bad-length", "length", f"{length}", at=start + LENGTH_AT)
    reader.pos = head.pos
    entry = reader.window("", LENGTH_AT + 2 + length, reader.short)
    entry.short = "length-past-end"
    entry.uint8("sync")
    flags = entry.uint8("flags")
    entry.uint16("length")
    entry.cover("length", "length", entry.pos, entry.end)
    crc = entry.uint32("crc")
    entry.cover("crc", "crc32", entry.pos, entry.end)
    if crc != crc32(entry.data[entry.pos : entry.end]):
        raise entry.reject("crc-mismatch", "crc", at=start + ENTRY.offset("crc"))
    if flags not in CODECS:
        raise entry.reject("unknown-codec", "flags", f"{flags}", at=start + 1)
    return Entry(flags, tuple(_amounts(entry, flags)))


def _amounts(entry: Reader, codec: int) -> Iterator[Amount]:
    inner, defect = decompress_prefix(entry, "amounts", codec) if codec else (entry, None)
    scope, number = inner.scope, 0
    while inner.left:
        inner.scope = (scope, "amounts", number)
        yield Amount(inner.take("name", inner.varint("nameLength")), inner.varint("amount"))
        number += 1
    if defect is not None:
        raise defect


def decode(reader: Reader, _: Options) -> Stream:
    """Decode the whole entries of a stream, as of a file that is still written; raise `Rejected`."""
    entries: list[Entry] = []
    while reader.left:
        start = reader.pos
        reader.enter("entries", len(entries))
        try:
            entries.append(read_entry(reader))
        except Rejected as rejected:
            if rejected.cls != "truncated":
                raise rejected.with_before(Stream(tuple(entries))) from None
            reader.pos = start
            break
        reader.leave()
    return Stream(tuple(entries))


def encode(writer: Writer, value: Stream, _: Options) -> None:
    """Encode the entries; raise `Rejected` (`invalid-value`)."""
    for number, entry in enumerate(value.entries):
        writer.enter("entries", number)
        if entry.flags not in CODECS:
            raise writer.invalid("flags", f"{entry.flags}")
        start = len(writer.data)
        writer.put("head", bytes((SYNC, entry.flags, 0, 0, 0, 0, 0, 0)))
        inner = Writer(scope=writer.scope)
        for index, one in enumerate(entry.amounts):
            inner.enter("amounts", index)
            inner.varint("nameLength", len(one.name))
            inner.put("name", one.name)
            inner.varint("amount", one.amount)
            inner.leave()
        data = bytes(inner.data)
        writer.put("amounts", compress(entry.flags, data) if entry.flags else data)
        first = start + ENTRY.fixed_size
        writer.patch("length", "uint16", start + LENGTH_AT, writer.pos - first + LEAST)
        writer.patch("crc", "uint32", first - LEAST, crc32(bytes(writer.data[first:])))
        writer.leave()


def scan(chunks: Iterable[bytes], options: Options) -> Iterator[Item]:
    """Yield entries, garbage up to the next sound entry, and a tail."""
    data = b"".join(chunks)  # a real family keeps one entry and one chunk
    at = begun = 0
    cls = None  # of an entry that begins where the garbage begins
    while at < len(data):
        reader = Reader(data, pos=at, budget=Budget(options.max_output))
        try:
            entry = read_entry(reader)
        except Rejected as rejected:
            if at == begun:
                cls = None if rejected.cls == "bad-magic" else rejected.cls
            at += 1
            continue
        if begun < at:
            yield Item("garbage", begun, at - begun, cls=cls)
        yield Item("frame", at, reader.pos - at, entry, remarks=tuple(reader.remarks))
        begun = at = reader.pos
    if begun < len(data):
        cut = data[begun] == SYNC
        yield Item("tail" if cut else "garbage", begun, len(data) - begun, cls=None if cut else cls)


FAMILY: Final = Family(
    "tally",
    (Format("tally.stream", "1", Stream, decode, encode, scan, capabilities=("codec:gzip",), layout=STREAM),),
    sources={"tally_stream": "tally_spark:STREAM"},
    fixtures=Path(__file__).with_name("tally_fixtures"),
)
