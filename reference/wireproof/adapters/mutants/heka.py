"""Heka codecs with one planted fault each: faults of real readers and writers, heka.md, sections 3, 4 and 7.

Most of them change a row of the reference's own tables while they answer, and nothing else.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from typing import Any, ClassVar, Final

from attrs import evolve

from wireproof import formats
from wireproof.adapters.contract import Request
from wireproof.adapters.mutants.base import ReferenceCodec, walk, with_options
from wireproof.adapters.objects import refused
from wireproof.cases.outcome import Accepted, Outcome, Refused
from wireproof.formats import Decoded, Format
from wireproof.heka.framing import FRAMINGS
from wireproof.heka.header import HEADER
from wireproof.heka.message import FIELD, MESSAGE
from wireproof.heka.schema import Slot, octets
from wireproof.wire.items import Item
from wireproof.wire.options import Options
from wireproof.wire.protobuf import FIXED64, LENGTH, VARINT, WireField
from wireproof.wire.reader import Reader
from wireproof.wire.rejected import Rejected
from wireproof.wire.values import Json

Table = MutableMapping[Any, Any]


@contextmanager
def _altered(table: Table, rows: Mapping[Any, Any]) -> Iterator[None]:
    """`table` with other `rows`, while it lasts; an adapter answers one request at a time."""
    before = {key: table[key] for key in rows}
    table.update(rows)
    try:
        yield
    finally:
        table.update(before)


class Altered(ReferenceCodec):
    """The reference with other rows in one of its tables; in itself no mutant."""

    system = "heka"
    table: ClassVar[Table] = FIELD

    def rows(self) -> Mapping[Any, Any]:
        """The rows that are wrong."""
        return {}

    def decode(self, request: Request) -> Outcome:
        """Decode by the altered table."""
        with _altered(self.table, self.rows()):
            return super().decode(request)

    def scan(self, request: Request) -> Outcome:
        """Scan by the altered table."""
        with _altered(self.table, self.rows()):
            return super().scan(request)


# --- messages ---


class UuidAnyLength(Altered):
    """Takes a uuid of any length, as Go and protobuf do."""

    name = "heka-uuid-any-length"
    table = MESSAGE

    def rows(self) -> Mapping[int, Slot]:
        """Any bytes are a uuid."""
        return {1: Slot("uuid", octets)}


class TimestampDouble(Altered):
    """Keeps a timestamp in a double, as Lua does."""

    name = "heka-timestamp-double"
    table = MESSAGE

    def rows(self) -> Mapping[int, Slot]:
        """53 bits of it."""
        return {2: _told(MESSAGE[2], lambda value: int(float(value)))}


class Int32FiveBytes(Altered):
    """Reads the five-byte -1 of Go's encoder as 4294967295, as Lua's table decoder does."""

    name = "heka-int32-five-bytes"
    table = MESSAGE

    def rows(self) -> Mapping[int, Slot]:
        """Severity and pid."""
        return {number: evolve(MESSAGE[number], read=_wide(MESSAGE[number])) for number in (5, 8)}


class PackedOnly(Altered):
    """Takes packed numbers only."""

    name = "heka-packed-only"

    def rows(self) -> Mapping[int, Slot]:
        """The three arrays of numbers."""
        return {number: evolve(FIELD[number], wires=(LENGTH,)) for number in (6, 7, 8)}


class UnpackedOnly(Altered):
    """Takes unpacked numbers only."""

    name = "heka-unpacked-only"

    def rows(self) -> Mapping[int, Slot]:
        """The three arrays of numbers."""
        return {number: evolve(FIELD[number], wires=(VARINT, FIXED64)) for number in (6, 7, 8)}


class BoolAsByte(Altered):
    """Reads the first byte of an unpacked bool and no more."""

    name = "heka-bool-as-byte"

    def rows(self) -> Mapping[int, Slot]:
        """80 00 is true to it."""
        return {8: evolve(FIELD[8], read=_first_byte)}


class BoolLow32(Altered):
    """Looks at the low 32 bits of a bool, as Lua does."""

    name = "heka-bool-low-32-bits"

    def rows(self) -> Mapping[int, Slot]:
        """2^32 is false to it."""
        return {8: evolve(FIELD[8], read=_low_32)}


class DoubleBigEndian(Altered):
    """Reads the bytes of a double in the wrong order."""

    name = "heka-double-big-endian"

    def rows(self) -> Mapping[int, Slot]:
        """Every double reversed."""
        return {7: _told(FIELD[7], lambda values: [bits[::-1] for bits in values])}


class FieldNameOptional(ReferenceCodec):
    """Answers a message that holds a Field without name, as Go does."""

    name = "heka-field-nameless"
    system = "heka"

    def refuses(self, rejected: Rejected, request: Request) -> Outcome:
        """Accept; of the message it tells nothing."""
        if rejected.detail != "field_missing_name":
            return refused(rejected)
        return Accepted(rejected.before, len(request.data))


class SeverityDefault(ReferenceCodec):
    """Fills in severity 7 where there is none."""

    name = "heka-severity-default"
    system = "heka"

    def told(self, value: Json, request: Request, data: bytes) -> Json:
        """The default of the schema in place of null."""
        del request, data
        for part in walk(value):
            if part.get("severity", "") is None:
                part["severity"] = "7"
        return value


class SniffsSnappy(ReferenceCodec):
    """Tries snappy on every message, and takes the bytes as they are if that fails."""

    name = "heka-sniffs-snappy"
    system = "heka"

    def read(self, row: Format, data: bytes, options: Options) -> Decoded:
        """Whatever inflates was compressed."""
        try:
            return super().read(row, data, evolve(options, compression="snappy"))
        except Rejected as rejected:
            if rejected.cls == "decompress-failed":
                return super().read(row, data, options)
            raise


# --- frames ---


class LastLengthWins(Altered):
    """Takes the last of two message_lengths, as Go does."""

    name = "heka-last-length-wins"
    table = HEADER

    def rows(self) -> Mapping[int, Slot]:
        """Two are allowed."""
        return {1: evolve(HEADER[1], once=False)}


class FirstLengthWins(Altered):
    """Takes the first of two message_lengths, as C does."""

    name = "heka-first-length-wins"
    table = HEADER

    def rows(self) -> Mapping[int, Slot]:
        """Later ones are told as the first."""
        seen: list[tuple[Reader, int]] = []

        def read(reader: Reader, wire: WireField, _name: str) -> int:
            if not seen or seen[-1][0] is not reader:
                seen.append((reader, wire.value))
            return seen[-1][1]

        return {1: Slot("message_length", read, HEADER[1].wires)}


class LengthModulo(Altered):
    """Takes message_length modulo 2^32, as Go and Python do."""

    name = "heka-length-modulo"
    table = HEADER

    def rows(self) -> Mapping[int, Slot]:
        """The low 32 bits."""
        return {1: _told(HEADER[1], lambda value: value & 0xFFFF_FFFF)}


class _SignedBytes(Reader):
    """A reader to which bytes of 128 and more are negative."""

    def uint8(self, name: str) -> int:
        return self.int8(name)


class HeaderSignedLength(ReferenceCodec):
    """Reads the header length as a signed byte, as C, Scala and heka-py did."""

    name = "heka-header-signed-length"
    system = "heka"
    reader = _SignedBytes


class LimitExclusive(ReferenceCodec):
    """Refuses a message of exactly the limit."""

    name = "heka-limit-exclusive"
    system = "heka"

    def options(self, request: Request) -> Options:
        """One byte less."""
        return with_options(request, max_message=(request.options.max_message or 65536) - 1)


class TailRefused(ReferenceCodec):
    """Refuses a stream that ends inside a frame."""

    name = "heka-tail-refused"
    system = "heka"

    def decode(self, request: Request) -> Outcome:
        """All bytes or none."""
        outcome = super().decode(request)
        if isinstance(outcome, Accepted) and outcome.consumed != len(request.data):
            return Refused("truncated", outcome.consumed)
        return outcome


class HeaderLengthZero(ReferenceCodec):
    """Delivers a frame of an empty header, as Go does, and steps over it."""

    name = "heka-header-length-zero"
    system = "heka"

    def decode(self, request: Request) -> Outcome:
        """Go on behind 1e 00 1f."""
        return super().decode(evolve(request, data=request.data.replace(b"\x1e\x00\x1f", b"")))

    def items(self, row: Format, chunks: Iterable[bytes], options: Options) -> Iterator[Item]:
        """Tell it as a frame without a message."""
        for item in super().items(row, chunks, options):
            empty = (item.cls, item.length) == ("bad-length", 3)
            yield evolve(item, kind="frame", cls=None) if empty else item


# --- signatures ---


class HmacSkip(ReferenceCodec):
    """Never verifies, as C, Lua, Python, Scala and Java do."""

    name = "heka-hmac-skip"
    system = "heka"

    def options(self, request: Request) -> Options:
        """No keys."""
        return with_options(request, keys=None)

    def told(self, value: Json, request: Request, data: bytes) -> Json:
        """And believes the header."""
        del data
        return _believed(value) if request.options.keys is not None else value


class SignerWithoutHmac(ReferenceCodec):
    """Takes a claimed name for the signer where there is no HMAC, as Go does."""

    name = "heka-signer-without-hmac"
    system = "heka"

    def read(self, row: Format, data: bytes, options: Options) -> Decoded:
        """Unsigned is good enough."""
        try:
            return super().read(row, data, options)
        except Rejected as rejected:
            if rejected.detail != "auth_missing_hmac":
                raise
            return super().read(row, data, evolve(options, keys=None))

    def told(self, value: Json, request: Request, data: bytes) -> Json:
        """The name is believed."""
        del data
        return _believed(value) if request.options.keys is not None else value


class ShortHeaderUnverified(ReferenceCodec):
    """Verifies no header of 13 bytes or less, as Go does."""

    name = "heka-short-header-unverified"
    system = "heka"

    def options(self, request: Request) -> Options:
        """No keys for short headers."""
        short = len(request.data) > 1 and request.data[1] <= 13
        return with_options(request, keys=None) if short else request.options


# --- scans ---


class ResyncLost(ReferenceCodec):
    """Finds no frame behind garbage."""

    name = "heka-resync-lost"
    system = "heka"

    def items(self, row: Format, chunks: Iterable[bytes], options: Options) -> Iterator[Item]:
        """The first garbage reaches to the end."""
        items = list(super().items(row, chunks, options))
        end = sum(item.length for item in items)
        for item in items:
            if item.kind == "garbage":
                yield evolve(item, length=end - item.at)
                return
            yield item


class NestedDelivered(ReferenceCodec):
    """Looks for frames inside a refused one, as C does."""

    name = "heka-nested-delivered"
    system = "heka"

    def options(self, request: Request) -> Options:
        """C's framing for everybody."""
        return with_options(request, resync="c")


class NoEndRescan(Altered):
    """Waits for a false separator at the end of a stream, as Go and C do."""

    name = "heka-no-end-rescan"
    table = FRAMINGS

    def rows(self) -> Mapping[str, Any]:
        """The end is the tail, whatever it holds."""
        return {"strict": evolve(FRAMINGS["strict"], rescans=False)}


class ChunksAlone(ReferenceCodec):
    """Scans every chunk as a stream of its own."""

    name = "heka-chunks-alone"
    system = "heka"

    def items(self, row: Format, chunks: Iterable[bytes], options: Options) -> Iterator[Item]:
        """Nothing is carried from one to the next."""
        base = 0
        for chunk in chunks:
            for item in formats.scan(row, [chunk], options):
                yield evolve(item, at=item.at + base)
            base += len(chunk)


# --- encoders ---


class ArrayReversed(ReferenceCodec):
    """Writes the values of a Field from the last to the first."""

    name = "heka-encode-array-order"
    system = "heka"

    def to_write(self, value: Json, request: Request) -> Json:
        """Every array of values reversed."""
        del request
        for part in walk(value):
            part.update(
                {
                    name: rows[::-1]
                    for name, rows in part.items()
                    if name.startswith("value_") and isinstance(rows, list)
                }
            )
        return value


class Oversized(ReferenceCodec):
    """Writes messages over the limit."""

    name = "heka-encode-oversized"
    system = "heka"

    def encode(self, request: Request) -> Outcome:
        """Any size."""
        return super().encode(evolve(request, options=with_options(request, max_message=1 << 31)))


# --- parts ---


def _told(slot: Slot, change: Callable[[Any], Any]) -> Slot:
    return evolve(slot, read=lambda reader, wire, name: change(slot.read(reader, wire, name)))


def _wide(slot: Slot) -> Callable[[Reader, WireField, str], int]:
    def read(reader: Reader, wire: WireField, name: str) -> int:
        value: int = slot.read(reader, wire, name)
        return wire.value if wire.value >> 32 == 0 else value

    return read


def _first_byte(reader: Reader, wire: WireField, name: str) -> list[bool]:
    if wire.wire == VARINT:
        return [reader.data[wire.start] != 0]
    return [byte != 0 for byte in reader.take(name, wire.length)]


def _low_32(reader: Reader, wire: WireField, name: str) -> list[bool]:
    if wire.wire == VARINT:
        return [wire.value & 0xFFFF_FFFF != 0]
    return [byte != 0 for byte in reader.take(name, wire.length)]


def _believed(value: Json) -> Json:
    for part in walk(value):
        header = part.get("header")
        if isinstance(header, dict):
            part["signer"] = header["hmac_signer"]
    return value


MUTANTS: Final[Mapping[str, type[ReferenceCodec]]] = {
    made.name: made
    for made in (
        UuidAnyLength,
        TimestampDouble,
        Int32FiveBytes,
        PackedOnly,
        UnpackedOnly,
        BoolAsByte,
        BoolLow32,
        DoubleBigEndian,
        FieldNameOptional,
        SeverityDefault,
        SniffsSnappy,
        LastLengthWins,
        FirstLengthWins,
        LengthModulo,
        HeaderSignedLength,
        LimitExclusive,
        TailRefused,
        HeaderLengthZero,
        HmacSkip,
        SignerWithoutHmac,
        ShortHeaderUnverified,
        ResyncLost,
        NestedDelivered,
        NoEndRescan,
        ChunksAlone,
        ArrayReversed,
        Oversized,
    )
}
"""Name to class."""
