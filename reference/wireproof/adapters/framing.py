"""The two framings of the adapter contract. Design, section 4.

    exec:    u32 big-endian length of the header | header, a JSON object | raw blobs
             `"blob": n` stands for `"hex"`, with n bytes after the header;
             `"blobs": [n, …]` stands for `"chunks"`, likewise in their order
    jsonl:   one JSON object a line, bytes as lower-case hex

Both decoders take bytes in any pieces, look at each byte a bounded number of times, and hold no more
than one message of `MAX_MESSAGE` bytes that is not complete.
"""

import json
from collections.abc import Callable, Iterator
from struct import Struct
from typing import Any, Final, NoReturn, Protocol, TypeAlias

from attrs import field, frozen

from wireproof.adapters.errors import MessageError, TooMuchError

MAX_MESSAGE: Final = 16 * 1024 * 1024
"""Bytes of a header and all its blobs; of a line, twice that for its hex and as much again for its JSON."""

LINE: Final = 3
"""A line may be so many times as long as a frame."""

MAX_LINE: Final = LINE * MAX_MESSAGE
DEEPEST: Final = 64
"""Levels of a message; the values of the formats need fewer than 20, and walks of a value may recurse."""

MOST_NODES: Final = 2 * 1024 * 1024
"""Values of a message at most, counted by the signs that begin or part them: each costs some 100 bytes."""

SHOWN: Final = 32
"""Bytes that a message about noise shows."""

_LENGTH: Final = Struct(">I")
_OBJECT: Final = ord("{")
_NO_BRACKETS: Final = bytes(byte for byte in range(256) if byte not in b"[]{}")
_TOO_DEEP: Final = f"JSON nested deeper than {DEEPEST} levels"

Head: TypeAlias = dict[str, Any]
"""A JSON object as it came; it goes no further than `messages` and `answers`."""


@frozen
class Most:
    """What a message may cost to read; larger ones are not parsed.

    Attributes:
        size: bytes of a header; of a line, three times as many.
        nodes: values in it.
    """

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
    """A message between its framing and its meaning: a JSON object without its bytes, and the bytes.

    Attributes:
        size, nodes: of its JSON as it came, as `Most` counts them; `nodes` is 0 where there cannot be many.
    """

    head: Head
    blob: bytes | None = None
    blobs: tuple[bytes, ...] | None = None
    size: int = field(default=0, eq=False)
    nodes: int = field(default=0, eq=False)


class Framing(Protocol):
    """One direction of a conversation, each way with its own instance.

    Attributes:
        most: the limit of each message that is fed.
    """

    most: Most

    def pack(self, packet: Packet) -> bytes:
        """The bytes of a message; raises `MessageError` where it is over the limit."""
        ...

    def feed(self, data: bytes) -> Iterator[Packet]:
        """The messages that `data` completes; then raises `MessageError` at bytes that are none."""
        ...

    def progress(self) -> str:
        """How far the message got that is not complete, for the text of a timeout."""
        ...


def hexdump(data: bytes) -> str:
    """The first bytes in hex and in ASCII, on one line."""
    head = data[:SHOWN]
    text = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in head)
    return f"{head.hex(' ')} |{text}|" + ("…" if len(data) > SHOWN else "")


def _no_float(text: str) -> NoReturn:
    raise MessageError(f"{text[:SHOWN]} is a float: a float travels as its IEEE bits in hex")


_dump: Final[Callable[[Any], str]] = json.JSONEncoder(separators=(",", ":")).encode
_load: Final = json.JSONDecoder(parse_float=_no_float, parse_constant=_no_float).raw_decode


FEW_NODES: Final = 64 * 1024
"""In a message of so many bytes nobody counts the values."""


def _packet(data: bytes, most: Most, times: int = 1) -> Packet:
    """Parse `data`, if it is within the limit; its bytes are still missing."""
    if len(data) <= FEW_NODES:
        return Packet(_object(data), size=len(data))
    nodes = sum(map(data.count, (b"[", b"{", b",")))
    most.refuse(len(data), nodes, times=times)
    return Packet(_object(data), size=len(data) // times, nodes=nodes)


def _object(data: bytes) -> Head:
    """The JSON object that `data` is: no float, no lone surrogate, and no deeper than `DEEPEST`."""
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
        _refuse_surrogates(head)
    return head


def _may_be_deep(data: bytes) -> bool:
    """Take pairs of brackets away from the inside out, at the speed of C: one or two levels a round.

    Brackets in texts may leave some over; then the exact walk decides.
    """
    if data.count(b"[") + data.count(b"{") <= DEEPEST:
        return False
    brackets = data.translate(None, delete=_NO_BRACKETS)
    for _ in range(DEEPEST // 2):
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
    return bool(brackets)


def _is_deep(head: Head) -> bool:
    """The same, exactly, a level at a time."""
    level: list[Any] = [head]
    for _ in range(DEEPEST):
        inner: list[Any] = []
        for node in level:
            parts = node.values() if isinstance(node, dict) else node
            inner.extend(part for part in parts if isinstance(part, dict | list))
        level = inner
    return bool(level)


def _refuse_surrogates(head: Head) -> None:
    """A lone surrogate is no character: no file and no terminal would take it."""
    try:
        json.dumps(head, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise MessageError("a text holds half a surrogate pair") from None


class Frames:
    """The framing of `exec:`."""

    def __init__(self) -> None:
        """Start before the first byte."""
        self.most = Most()
        self._buffer = bytearray()
        self._head: Packet | None = None
        self._sizes: list[int] = []
        self._total = 0
        self._done = 0

    def pack(self, packet: Packet) -> bytes:
        """See `Framing`."""
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
        """See `Framing`."""
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
        """Where the header, or the blobs after it, that begin at `pos` end; -1 if they are not all here."""
        have = len(self._buffer) - pos
        if self._head is not None:
            return pos + self._total if have >= self._total else -1
        if have < _LENGTH.size:
            return -1
        size: int = _LENGTH.unpack_from(self._buffer, pos)[0]
        start = pos + _LENGTH.size
        if size > MAX_MESSAGE or (have > _LENGTH.size and size and self._buffer[start] != _OBJECT):
            raise self._noise(pos, f"no frame (its length would be {size})")
        self.most.refuse(size)
        return start + size if have >= _LENGTH.size + size else -1

    def _take(self, pos: int, end: int) -> Packet | None:
        """The message that ends at `end`; None for a header whose blobs are still to come."""
        if self._head is not None:
            packet = self._with_blobs(self._head, pos)
            self._head = None
            return packet
        packet = _packet(bytes(self._buffer[pos + _LENGTH.size : end]), self.most)
        if "blob" not in packet.head and "blobs" not in packet.head:
            return packet
        self._sizes = self._announced(packet.head, MAX_MESSAGE - (end - pos))
        self._total = sum(self._sizes)
        self._head = packet
        return None

    def _announced(self, head: Head, room: int) -> list[int]:
        sizes = head["blobs"] if "blobs" in head else [head["blob"]]
        good = isinstance(sizes, list) and all(type(size) is int and size >= 0 for size in sizes)
        if not good or ("blob" in head and "blobs" in head):
            raise MessageError("blob wants a length, or blobs a list of lengths, not both")
        if sum(sizes) > room:
            raise MessageError(f"blobs of {sum(sizes)} bytes, over the limit of {MAX_MESSAGE} a message")
        return sizes

    def _with_blobs(self, packet: Packet, pos: int) -> Packet:
        blobs = []
        for size in self._sizes:
            blobs.append(bytes(self._buffer[pos : pos + size]))
            pos += size
        if packet.head.pop("blobs", None) is not None:
            return Packet(packet.head, None, tuple(blobs), packet.size, packet.nodes)
        del packet.head["blob"]
        return Packet(packet.head, blobs[0], None, packet.size, packet.nodes)

    def _noise(self, pos: int, what: str) -> MessageError:
        return MessageError(f"{what} at byte {self._done + pos}: {hexdump(bytes(self._buffer[pos:]))}")

    def progress(self) -> str:
        """See `Framing`."""
        have = len(self._buffer)
        if self._head is not None:
            return f"{have} of {self._total} bytes of the blobs"
        if have < _LENGTH.size:
            return f"{have} of {_LENGTH.size} bytes of a frame's length"
        return f"{have - _LENGTH.size} of {_LENGTH.unpack_from(self._buffer)[0]} bytes of a header"


class Lines:
    """The framing of `jsonl:`."""

    def __init__(self) -> None:
        """Start before the first byte."""
        self.most = Most()
        self._parts: list[bytes] = []
        self._have = 0

    def pack(self, packet: Packet) -> bytes:
        """See `Framing`."""
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
        """See `Framing`."""
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._parts.append(line)
            whole = b"".join(self._parts).strip()
            self._parts, self._have = [], 0
            if whole:
                yield self._packet(_packet(whole, self.most, LINE))
        self._parts.append(rest)
        self._have += len(rest)
        self.most.refuse(self._have, times=LINE)

    @staticmethod
    def _packet(packet: Packet) -> Packet:
        head = packet.head
        if "hex" in head:
            return Packet(head, unhex(head.pop("hex"), "hex"), None, packet.size, packet.nodes)
        if "chunks" in head:
            chunks = head.pop("chunks")
            if not isinstance(chunks, list):
                raise MessageError("chunks wants a list of bytes in hex")
            blobs = tuple(unhex(chunk, "chunks") for chunk in chunks)
            return Packet(head, None, blobs, packet.size, packet.nodes)
        return packet

    def progress(self) -> str:
        """See `Framing`."""
        return f"{self._have} bytes of a line"


def unhex(text: object, name: str) -> bytes:
    """The bytes of lower-case hex; raises `MessageError` naming the field `name`."""
    if isinstance(text, str):
        try:
            data = bytes.fromhex(text)
        except ValueError:
            data = None
        if data is not None and data.hex() == text:
            return data
    raise MessageError(f"{name} wants bytes in lower-case hex")
