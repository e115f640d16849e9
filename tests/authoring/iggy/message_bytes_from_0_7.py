"""Messages with a header of 56 or 64 bytes out of named parts, by revision: iggy.md §5. No code of the codec."""

# fmt: off

import zlib
from collections.abc import Callable
from typing import Any

import xxhash
from attrs import frozen

from tests.authoring.iggy.headers_from_0_9 import KEY1 as KEYED1
from tests.authoring.iggy.headers_from_0_9 import block, keyed_value
from tests.authoring.iggy.message_bytes import BALANCED, KEY1, PLACE, map_value, tlv, u32, u64, u128

OT, ST = 1745000000000000, 1745000000000100
"""Origin and server timestamp of the worked examples, in microseconds."""


@frozen
class Edition:
    """How the editions differ: the checksum, whether `reserved` is there, whether keys have kinds."""

    revision: str
    sum: Callable[[bytes], int]
    keyed: bool = False

    @property
    def size(self) -> int:
        return 64 if self.keyed else 56

    @property
    def one(self) -> Any:
        """Return the header `key-1`."""
        return KEYED1 if self.keyed else KEY1

    def text(self, key: bytes, value: bytes, kind: str = "string") -> Any:
        return ("string", key, kind, value) if self.keyed else (key, kind, value)

    def block(self, *headers: Any) -> bytes:
        return block(*headers) if self.keyed else tlv(*headers)

    def map(self, *headers: Any) -> list[Any]:
        return keyed_value(*headers) if self.keyed else map_value(*headers)

    def message(self, number: int, payload: bytes, headers: bytes = b"", *, offset: int = 0, timestamp: int = 0, origin: int = OT, checksum: int | None = None, reserved: int = 0,
                headers_length: int | None = None, payload_length: int | None = None) -> bytes:
        """A message; without a checksum given it has the right one."""
        sizes = (len(headers) if headers_length is None else headers_length, len(payload) if payload_length is None else payload_length)
        rest = u128(number) + u64(offset) + u64(timestamp) + u64(origin) + u32(sizes[0]) + u32(sizes[1])
        rest += (u64(reserved) if self.keyed else b"") + payload + headers
        return u64(self.sum(rest) if checksum is None else checksum) + rest

    def sent(self, number: int, payload: bytes, headers: bytes = b"", **more: int) -> bytes:
        """A message of a send: the client leaves its checksum at 0."""
        return self.message(number, payload, headers, **{"checksum": 0, **more})

    def polled(self, offset: int, payload: bytes, headers: bytes = b"", **more: int) -> bytes:
        return self.message(offset + 1, payload, headers, **{"offset": offset, "timestamp": ST, "origin": OT + 5 * offset, **more})

    def sent_value(self, number: int, payload: bytes, *headers: Any, origin: int = OT, kept: bytes | None = None) -> dict[str, Any]:
        return {"id": str(number), "origin_timestamp": str(origin), "headers": self.map(*headers) if kept is None else kept.hex(), "payload": payload.hex()}

    def polled_value(self, offset: int, payload: bytes, *headers: Any, kept: bytes | None = None, checksum: int | None = None) -> dict[str, Any]:
        data = self.polled(offset, payload, self.block(*headers) if kept is None else kept)
        found = int.from_bytes(data[:8], "little") if checksum is None else checksum
        return {"checksum": str(found), "id": str(offset + 1), "offset": str(offset), "timestamp": str(ST), "origin_timestamp": str(OT + 5 * offset),
                "headers": self.map(*headers) if kept is None else kept.hex(), "payload": payload.hex()}


E7 = Edition("0.7", zlib.crc32)
E8 = Edition("0.8", xxhash.xxh3_64_intdigest)
E9 = Edition("0.9", xxhash.xxh3_64_intdigest, keyed=True)
REVISIONS = (E7, E8, E9)


def index(*ends: int, offset: int = 0, timestamp: int = 0) -> bytes:
    return b"".join(u32(offset) + u32(end) + u64(timestamp) for end in ends)


def ends(messages: tuple[bytes, ...]) -> tuple[int, ...]:
    return tuple(sum(map(len, messages[: at + 1])) for at in range(len(messages)))


def metadata(count: int, *, place: bytes = PLACE, partitioning: bytes = BALANCED, length: int | None = None) -> bytes:
    inside = place + partitioning + u32(count)
    return u32(len(inside) if length is None else length) + inside


def send(*messages: bytes, count: int | None = None, entries: bytes | None = None, **place: Any) -> bytes:
    """A body with the count and the index that its messages have, where none is given."""
    made = index(*ends(messages)) if entries is None else entries
    return metadata(len(messages) if count is None else count, **place) + made + b"".join(messages)
