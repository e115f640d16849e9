"""What the Kafka mutants are made of: entries of a log, seals, and the entries of a value beside their bytes.

It finds its way without the codec, so that a fault planted with it cannot be undone by the codec's own.
"""

import zlib
from collections.abc import Iterator
from struct import Struct
from typing import Final

from tests.mutants.base import JsonObject, ReferenceCodec
from wireproof.adapters.contract import Request
from wireproof.wire.checksums import crc32c
from wireproof.wire.values import Json

SIZE: Final = Struct(">i")
SEAL: Final = Struct(">I")

MAGIC: Final = 16
V2: Final = 2


def frames(data: bytes) -> Iterator[tuple[int, int]]:
    """Start and end of each whole entry from the first byte on: kafka.md, section 1.4."""
    at = 0
    while len(data) - at >= 17:
        size = SIZE.unpack_from(data, at + 8)[0]
        if size < 14 or size > len(data) - at - 12:
            return
        yield at, at + 12 + size
        at += 12 + size


def codec_of(entry: bytes) -> int:
    """Attribute bits 0 to 2: kafka.md, sections 1.2 and 2.1."""
    at = 22 if entry[MAGIC] == V2 else 17
    return entry[at] & 7 if len(entry) > at else 0


def seal_at(entry: bytes) -> int | None:
    """Where the checksum of an entry stands; None for an entry too short to have one."""
    at, least = (17, 61) if entry[MAGIC] == V2 else (12, 18)
    return at if len(entry) >= least else None


def right_seal(entry: bytes) -> int:
    """The checksum of an entry: kafka.md, sections 1.1 and 2.1."""
    return crc32c(entry[21:]) if entry[MAGIC] == V2 else zlib.crc32(entry[16:])


def sealed(entry: bytes, seal: int | None = None) -> bytes:
    """The entry with `seal` as its checksum, or with the right one."""
    at = seal_at(entry)
    if at is None:
        return entry
    return entry[:at] + SEAL.pack(right_seal(entry) if seal is None else seal) + entry[at + 4 :]


class KafkaMutant(ReferenceCodec):
    """A Kafka codec with a fault in single entries, wherever they stand: alone, in a log, in a scan."""

    system = "kafka"

    def patch_input(self, data: bytes, request: Request) -> bytes:
        """Show the reference each whole entry as `shown` makes it."""
        del request
        out, done = [], 0
        for start, end in frames(data):
            out.append(self.shown(data[start:end]))
            done = end
        return b"".join(out) + data[done:]

    def shown(self, entry: bytes) -> bytes:
        """The entry that the reference is shown in place of `entry`, as long."""
        return entry

    def patch_value(self, value: Json, request: Request, data: bytes) -> Json:
        """Tell each entry as `spoil` leaves it."""
        del request
        for entry, raw in entries(value, data):
            self.spoil(entry, raw)
        return value

    def spoil(self, entry: JsonObject, raw: bytes) -> None:
        """Put the fault into an entry of a value; `raw` is what it stands for."""


def entries(value: Json, data: bytes) -> Iterator[tuple[JsonObject, bytes]]:
    """The entries of a value, each with its bytes."""
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
    """The records of a batch; none of a message."""
    found: list[JsonObject] = entry.get("records", [])
    return found


def messages(entry: JsonObject) -> list[JsonObject]:
    """The inner messages of a wrapper; none of anything else."""
    found: list[JsonObject] | None = entry.get("messages")
    return found or []


def bit(entry: JsonObject, mask: int) -> bool:
    """Whether an attribute bit is set."""
    return bool(int(entry["attributes"]) & mask)
