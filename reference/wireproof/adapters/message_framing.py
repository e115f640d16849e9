"""The two framings of the adapter contract. See `adapter-contract.md`.

    exec:    u32 big-endian length of the header | header, a JSON object | raw blobs
             `"blob": n` stands for `"hex"`, with n bytes after the header;
             `"blobs": [n, …]` stands for `"chunks"`, likewise in their order
    jsonl:   one JSON object a line, bytes as lower-case hex

Both decoders accept bytes in pieces of any size, read each byte a bounded number of times, and buffer at most
one incomplete message of `MAX_MESSAGE` bytes.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from struct import Struct
from typing import Any, Final, NoReturn, TypeAlias

from attrs import evolve, field, frozen

from wireproof.adapters.errors import MessageError, TooMuchError
from wireproof.strict_parsing import octets, shorten_value

MAX_MESSAGE: Final = 32 * 1024 * 1024
"""Most bytes of a header and all its blobs; a line may have three times as many, for its hex and its JSON."""

LINE: Final = 3
"""Limit of a line as a multiple of the limit of a frame."""

MAX_LINE: Final = LINE * MAX_MESSAGE
DEEPEST: Final = 64
"""Most levels of a message; values need fewer than 20, and functions that walk a value may recurse."""

MOST_NODES: Final = 2 * 1024 * 1024
"""Most values of a message, counted by the signs that begin or separate them: each costs about 100 bytes."""

SHOWN: Final = 32
"""Bytes that an error about unreadable input shows."""

_LENGTH: Final = Struct(">I")
_OBJECT: Final = ord("{")
_NO_BRACKETS: Final = bytes(byte for byte in range(256) if byte not in b"[]{}")
_TOO_DEEP: Final = f"JSON nested deeper than {DEEPEST} levels"

Head: TypeAlias = dict[str, Any]
"""A JSON object before its checks; only `contract_json` uses it."""


@frozen
class Most:
    """Limits of a message: bytes of a header, three times as many of a line; and values in it."""

    size: int = MAX_MESSAGE
    nodes: int = MOST_NODES

    def refuse(self, size: int, nodes: int = 0, *, times: int = 1) -> None:
        """Raise `TooMuchError` for a message of this size, with so many values, if it is over the limit."""
        if size > times * self.size:
            limit = times * self.size
            raise TooMuchError(f"a message of {size} bytes or more, over the limit of {limit}")
        if nodes > self.nodes:
            raise TooMuchError(f"a message of {nodes} values, over the limit of {self.nodes}")


@frozen
class Packet:
    """A JSON object, and its raw bytes; `size` and `nodes` (0 if few) are those of the received JSON."""

    head: Head
    blob: bytes | None = None
    blobs: tuple[bytes, ...] | None = None
    size: int = field(default=0, eq=False)
    nodes: int = field(default=0, eq=False)


class Framing(ABC):
    """Framing of one direction of a conversation, with its own instance; `most` limits what is received."""

    def __init__(self) -> None:
        self.most = Most()

    @abstractmethod
    def pack(self, packet: Packet) -> bytes:
        """Return the bytes of a message; raise `MessageError` if it is over the limit."""

    @abstractmethod
    def feed(self, data: bytes) -> Iterator[Packet]:
        """Yield the messages that `data` completes; raise `MessageError` at bytes that are no message."""

    @abstractmethod
    def progress(self) -> str:
        """Describe how much of an incomplete message has arrived, for the text of a timeout."""


def hexdump(data: bytes) -> str:
    """Return the first bytes in hex and in ASCII, on one line."""
    head = data[:SHOWN]
    text = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in head)
    return f"{head.hex(' ')} |{text}|" + ("…" if len(data) > SHOWN else "")


def _no_float(text: str) -> NoReturn:
    raise MessageError(f"{text[:SHOWN]} is a float: a float travels as its IEEE bits in hex")


def _unique(pairs: list[tuple[str, Any]]) -> Head:
    """Return an object; refuse one with a key twice: the value that counts would depend on the parser."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in found if names.count(name) > 1)
        raise MessageError(f"the key {shorten_value(twice)} is there twice")
    return found


_dump: Final[Callable[[Any], str]] = json.JSONEncoder(separators=(",", ":")).encode
_load: Final = json.JSONDecoder(
    parse_float=_no_float, parse_constant=_no_float, object_pairs_hook=_unique
).raw_decode


def _packet(data: bytes, most: Most, times: int = 1) -> Packet:
    """Parse `data` if it is within the limits; the caller adds the raw bytes."""
    if len(data) <= 64 * 1024:  # so few values need no count
        return Packet(_object(data), size=len(data))
    nodes = sum(map(data.count, (b"[", b"{", b",")))
    most.refuse(len(data), nodes, times=times)
    return Packet(_object(data), size=len(data) // times, nodes=nodes)


def _object(data: bytes) -> Head:
    """Return the JSON object in `data`; refuse a float, a lone surrogate, and more levels than `DEEPEST`."""
    try:
        text = data.decode()
        head, end = _load(text)
    except RecursionError:
        raise MessageError(_TOO_DEEP) from None
    except MessageError:
        raise
    except ValueError as error:
        raise MessageError(f"no JSON ({error}): {hexdump(data)}") from None
    if not isinstance(head, dict) or (end < len(text) and text[end:].strip()):
        raise MessageError(f"no JSON object: {hexdump(data)}")
    if _may_be_deep(data) and _is_deep(head):
        raise MessageError(_TOO_DEEP)
    if b"\\u" in data:
        # Refuse a lone surrogate: it is no character, and no file or terminal accepts it.
        try:
            json.dumps(head, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise MessageError("a text holds half a surrogate pair") from None
    return head


def _may_be_deep(data: bytes) -> bool:
    """Remove pairs of brackets from the inside out; one or two levels in each pass, which is fast.

    Brackets inside texts may remain; then the exact check decides.
    """
    if data.count(b"[") + data.count(b"{") <= DEEPEST:
        return False
    brackets = data.translate(None, delete=_NO_BRACKETS)
    for _ in range(DEEPEST // 2):
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
    return bool(brackets)


def _is_deep(head: Head) -> bool:
    """Return True if the object has more than `DEEPEST` levels; visit one level at a time."""
    level: list[Any] = [head]
    for _ in range(DEEPEST):
        inner: list[Any] = []
        for node in level:
            parts = node.values() if isinstance(node, dict) else node
            inner.extend(part for part in parts if isinstance(part, dict | list))
        level = inner
    return bool(level)


class Frames(Framing):
    """The framing of `exec:`."""

    def __init__(self) -> None:
        super().__init__()
        self._buffer = bytearray()
        self._head: Packet | None = None
        self._sizes: list[int] = []
        self._total = 0
        self._done = 0

    def pack(self, packet: Packet) -> bytes:
        blobs: tuple[bytes, ...] = ()
        head = packet.head
        if packet.blob is not None:
            head = {**head, "blob": len(packet.blob)}
            blobs = (packet.blob,)
        elif packet.blobs is not None:
            blobs = packet.blobs
            head = {**head, "blobs": [len(blob) for blob in blobs]}
        header = _dump(head).encode()
        frame = b"".join((_LENGTH.pack(len(header)), header, *blobs))
        if len(frame) > MAX_MESSAGE:
            raise MessageError(f"a message of {len(frame)} bytes, over the limit of {MAX_MESSAGE}")
        return frame

    def feed(self, data: bytes) -> Iterator[Packet]:
        self._buffer += data
        pos = 0
        try:
            while (end := self._end(pos)) >= 0:
                packet = self._take(pos, end)
                pos = end
                if packet is not None:
                    yield packet
        finally:
            del self._buffer[:pos]
            self._done += pos

    def _end(self, pos: int) -> int:
        """Return the end of the header or of the blobs that begin at `pos`; -1 if bytes are missing."""
        have = len(self._buffer) - pos
        if self._head is not None:
            return pos + self._total if have >= self._total else -1
        if have < _LENGTH.size:
            return -1
        size: int = _LENGTH.unpack_from(self._buffer, pos)[0]
        start = pos + _LENGTH.size
        if size > MAX_MESSAGE or (have > _LENGTH.size and size and self._buffer[start] != _OBJECT):
            shown = hexdump(bytes(self._buffer[pos:]))
            raise MessageError(f"no frame (its length would be {size}) at byte {self._done + pos}: {shown}")
        self.most.refuse(size)
        return start + size if have >= _LENGTH.size + size else -1

    def _take(self, pos: int, end: int) -> Packet | None:
        """Return the message that ends at `end`; None for a header whose blobs are still missing."""
        if self._head is not None:
            packet, self._head = self._head, None
            blobs = []
            for size in self._sizes:
                blobs.append(bytes(self._buffer[pos : pos + size]))
                pos += size
            if packet.head.pop("blobs", None) is not None:
                return evolve(packet, blobs=tuple(blobs))
            del packet.head["blob"]
            return evolve(packet, blob=blobs[0])
        packet = _packet(bytes(self._buffer[pos + _LENGTH.size : end]), self.most)
        if "blob" not in packet.head and "blobs" not in packet.head:
            return packet
        self._sizes = _announced(packet.head, MAX_MESSAGE - (end - pos))
        self._total = sum(self._sizes)
        self._head = packet
        return None

    def progress(self) -> str:
        have = len(self._buffer)
        if self._head is not None:
            return f"{have} of {self._total} bytes of the blobs"
        if have < _LENGTH.size:
            return f"{have} of {_LENGTH.size} bytes of a frame's length"
        return f"{have - _LENGTH.size} of {_LENGTH.unpack_from(self._buffer)[0]} bytes of a header"


def _announced(head: Head, room: int) -> list[int]:
    sizes = head["blobs"] if "blobs" in head else [head["blob"]]
    good = isinstance(sizes, list) and all(type(size) is int and size >= 0 for size in sizes)
    if not good or ("blob" in head and "blobs" in head):
        raise MessageError("blob must be a length, or blobs a list of lengths, not both")
    if sum(sizes) > room:
        raise MessageError(f"blobs of {sum(sizes)} bytes, over the limit of {MAX_MESSAGE} a message")
    return sizes


class Lines(Framing):
    """The framing of `jsonl:`."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = []
        self._have = 0

    def pack(self, packet: Packet) -> bytes:
        head = packet.head
        if packet.blob is not None:
            head = {**head, "hex": packet.blob.hex()}
        elif packet.blobs is not None:
            head = {**head, "chunks": [blob.hex() for blob in packet.blobs]}
        line = _dump(head).encode() + b"\n"
        if len(line) > MAX_LINE:
            raise MessageError(f"a line of {len(line)} bytes, over the limit of {MAX_LINE}")
        return line

    def feed(self, data: bytes) -> Iterator[Packet]:
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._parts.append(line)
            whole = b"".join(self._parts).strip()
            self._parts, self._have = [], 0
            if whole:
                packet = _packet(whole, self.most, LINE)
                if "hex" in packet.head:
                    packet = evolve(packet, blob=unhex(packet.head.pop("hex"), "hex"))
                elif "chunks" in packet.head:
                    chunks = packet.head.pop("chunks")
                    if not isinstance(chunks, list):
                        text = f"chunks must be a list of bytes in hex, got {shorten_value(chunks)}"
                        raise MessageError(text)
                    packet = evolve(packet, blobs=tuple(unhex(chunk, "chunks") for chunk in chunks))
                yield packet
        self._parts.append(rest)
        self._have += len(rest)
        self.most.refuse(self._have, times=LINE)

    def progress(self) -> str:
        return f"{self._have} bytes of a line"


def unhex(text: object, name: str) -> bytes:
    """Return the bytes of lower-case hex; raise `MessageError` that names the field `name`."""
    try:
        return octets(text)
    except ValueError as error:
        raise MessageError(f"{name} {error}") from None
