"""A codec of somebody else: it reads and writes `tally.stream/1` with the standard library alone."""

import gzip
import struct
import zlib
from typing import Any

from wireproof.cases.outcome import Accepted

HEAD = struct.Struct(">BBHI")


class TallyCodec:
    """An adapter in Python: an object with a name, a version and the operations."""

    name, version = "tally-codec", "1.0"
    checks_crc = True

    def decode(self, request: Any) -> Any:
        """Return the value of a request's bytes; any exception is a refusal."""
        data, entries = request.data, []
        while len(data) >= HEAD.size and 4 + int.from_bytes(data[2:4], "big") <= len(data):
            sync, flags, length, crc = HEAD.unpack_from(data)
            body, data = data[8 : 4 + length], data[4 + length :]
            if sync != 0x7A or length < 4 or flags > 1 or (self.checks_crc and zlib.crc32(body) != crc):
                raise ValueError("not an entry")
            entries.append(
                {"flags": str(flags), "amounts": amounts(gzip.decompress(body) if flags else body)}
            )
        if data and data[0] != 0x7A:
            raise ValueError("not an entry")
        return Accepted({"entries": entries}, consumed=len(request.data) - len(data))


def amounts(body: bytes) -> list[dict[str, str]]:
    """Return the amounts of an entry."""
    found = []
    while body:
        size, body = varint(body)
        name, body = body[:size], body[size:]
        amount, body = varint(body)
        found.append({"name": name.hex(), "amount": str(amount)})
    return found


def varint(data: bytes) -> tuple[int, bytes]:
    """Return the zigzag varint at the beginning, and the bytes after it."""
    raw = 0
    for at, byte in enumerate(data):
        raw |= (byte & 0x7F) << 7 * at
        if byte < 0x80:
            return (raw >> 1) ^ -(raw & 1), data[at + 1 :]
    raise ValueError("a varint without an end")


class CarelessTallyCodec(TallyCodec):
    """The same with a bug: it does not look at checksums."""

    name = "careless-tally-codec"
    checks_crc = False
