"""Helpers of the Kafka mutants: the entries of a log, checksums, and the entries of a value with their bytes.

They share no code with the codec, which therefore cannot undo a fault that is planted with them.
"""

import zlib
from collections.abc import Callable, Iterator
from struct import Struct
from typing import Any, ClassVar, Final, TypeVar

from tests.mutants.base import JsonObject, Patch, Patched, ReferenceCodec, variant
from wireproof.adapters.contract import Request
from wireproof.wire.checksums import crc32c
from wireproof.wire.json_values import Json
from wireproof.wire.reader import Reader

SIZE: Final = Struct(">i")
CHECKSUM: Final = Struct(">I")

MAGIC: Final = 16
V2: Final = 2


def frames(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield start and end of each whole entry from the first byte on: kafka.md, section 1.4."""
    at = 0
    while len(data) - at >= 17:
        size = SIZE.unpack_from(data, at + 8)[0]
        if size < 14 or size > len(data) - at - 12:
            return
        yield at, at + 12 + size
        at += 12 + size


def codec_of(entry: bytes) -> int:
    """Return attribute bits 0 to 2: kafka.md, sections 1.2 and 2.1."""
    at = 22 if entry[MAGIC] == V2 else 17
    return entry[at] & 7 if len(entry) > at else 0


def checksum_position(entry: bytes) -> int | None:
    """Return the position of the checksum of an entry; None if the entry is too short to have one."""
    at, least = (17, 61) if entry[MAGIC] == V2 else (12, 18)
    return at if len(entry) >= least else None


def correct_checksum(entry: bytes) -> int:
    """Return the correct checksum of an entry: kafka.md, sections 1.1 and 2.1."""
    return crc32c(entry[21:]) if entry[MAGIC] == V2 else zlib.crc32(entry[16:])


def with_checksum(entry: bytes, checksum: int | None = None) -> bytes:
    """Return the entry with `checksum`, or with the correct one."""
    at = checksum_position(entry)
    if at is None:
        return entry
    return (
        entry[:at]
        + CHECKSUM.pack(correct_checksum(entry) if checksum is None else checksum)
        + entry[at + 4 :]
    )


class FieldByField(Reader):
    """Reads each number by its own primitive, as a reader that traces does."""

    __slots__ = ()

    tracing: ClassVar[bool] = True


def reading(**methods: Callable[..., object]) -> type[Reader]:
    """Return a reader with other methods; the right ones are those of `FieldByField`."""
    return type("Reading", (FieldByField,), {"__slots__": (), **methods})


class KafkaMutant(ReferenceCodec):
    """A Kafka codec with a fault in single entries, alone, in a log or in a scan."""

    system = "kafka"

    def patch_input(self, data: bytes, request: Request) -> bytes:
        out, done = [], 0
        for start, end in frames(data):
            out.append(self.patch_entry(data[start:end]))
            done = end
        return b"".join(out) + data[done:]

    def patch_entry(self, entry: bytes) -> bytes:
        """Return the bytes to decode in place of `entry`, of the same length."""
        return entry

    def patch_value(self, value: Json, request: Request, data: bytes) -> Json:
        for entry, raw in entries(value, data):
            self.spoil(entry, raw)
        return value

    def spoil(self, entry: JsonObject, raw: bytes) -> None:
        """Put the fault into an entry of a value; `raw` is its bytes."""


class PatchedKafka(Patched, KafkaMutant):
    """A Kafka codec with other parts; a base class, no mutant itself."""


Part = TypeVar("Part", bound=Callable[..., object])


def planted(
    name: str, *killed_by: str, patches: Callable[[Any], tuple[Patch, ...]], **parts: object
) -> Callable[[Part], Part]:
    """Make a mutant of a function or class that some patches put in; its docstring is the fault."""

    def decorate(part: Part) -> Part:
        variant(PatchedKafka, name, part.__doc__ or "", *killed_by, patches=patches(part), **parts)
        return part

    return decorate


def misreading(
    base: type[KafkaMutant], method: str, name: str, *killed_by: str, **parts: object
) -> Callable[[Part], Part]:
    """Make a mutant whose reader has a function for one of its methods; its docstring is the fault."""

    def decorate(part: Part) -> Part:
        variant(base, name, part.__doc__ or "", *killed_by, reader=reading(**{method: part}), **parts)
        return part

    return decorate


def replacing(
    module: object, attribute: str, name: str, *killed_by: str, **parts: object
) -> Callable[[Part], Part]:
    """Make a mutant of a function or class in the place of another; its docstring is the fault."""
    return planted(name, *killed_by, patches=lambda part: ((module, attribute, part),), **parts)


def entries(value: Json, data: bytes) -> Iterator[tuple[JsonObject, bytes]]:
    """Yield the entries of a value, each with its bytes."""
    if not isinstance(value, dict):
        return
    if "batches" not in value:
        yield value, data
        return
    batches = value["batches"]
    spans = frames(data)
    assert isinstance(batches, list)
    for entry, (start, end) in zip(batches, spans, strict=False):
        assert isinstance(entry, dict)
        yield entry, data[start:end]


def records(entry: JsonObject) -> list[JsonObject]:
    """Return the records of a batch; none for a message."""
    found: list[JsonObject] = entry.get("records", [])
    return found


def messages(entry: JsonObject) -> list[JsonObject]:
    """Return the inner messages of a wrapper; none for other entries."""
    found: list[JsonObject] | None = entry.get("messages")
    return found or []


def bit(entry: JsonObject, mask: int) -> bool:
    """Return True if an attribute bit is set."""
    return bool(int(entry["attributes"]) & mask)
