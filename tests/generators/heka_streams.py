"""A generator of Heka streams: `python -m tests.generators.heka_streams FOLDER`.

Frames are built from the tables of heka.md §1 and §2, not by the reference's encoder. A stream depends on the
seed and its number alone. The result of each damaged frame is certain: it contains no byte 1E where a scan
looks for one, and an intact frame follows. The generator writes a manifest of the expected results.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from struct import pack
from typing import Final

from attrs import frozen

from tests.generators.kafka_segments import MANIFEST, MIB, TAIL, Manifest, Verdict, command, rows_of
from wireproof.wire.writer import encode_uvarint as varint

STREAM: Final = 128 * MIB
"""Approximate bytes of a file."""

DRAWN: Final = 256
"""Different intact frames of a file, and different damaged ones."""

DAMAGED: Final = 100
"""One frame in this number has a fault."""

SHAPES: Final = ((0, 60, 4), (8, 400, 24), (30, 1_500, 40), (12, 20_000, 80))
"""Fields of a message, approximate bytes of its payload, bytes of the value of a field."""

FORMAT: Final = "heka.stream/0.10"


@frozen
class Piece:
    """Bytes of a stream, and the kind and class of refusal that a conforming reader reports for them."""

    data: bytes
    kind: str = "frame"
    cls: str = ""


# --- intact frames ---


def _number(tag: int, value: int) -> bytes:
    return varint(tag << 3) + varint(value)


def _bytes(tag: int, data: bytes) -> bytes:
    return varint(tag << 3 | 2) + varint(len(data)) + data


def _letters(rng: Random, count: int) -> bytes:
    """Return random ASCII text, which has no byte 1E."""
    return bytes(rng.choices(b"abcdefghijklmnopqrstuvwxyz 0123456789", k=count))


def _field(rng: Random, size: int) -> bytes:
    """Return a field with a value of one of the five types: heka.md §1."""
    kind = rng.randrange(5)
    value = (
        _bytes(4, _letters(rng, size)),
        _bytes(5, rng.randbytes(size)),
        _bytes(6, b"".join(varint(rng.getrandbits(40)) for _ in range(3))),
        _bytes(7, pack("<2d", rng.random(), rng.random())),
        _number(8, 1),
    )[kind]
    return _bytes(10, _bytes(1, _letters(rng, 8)) + (_number(2, kind) if kind else b"") + value)


def message(rng: Random) -> bytes:
    count, size, value = rng.choice(SHAPES)
    head = _bytes(1, rng.randbytes(16)) + _number(2, 1_428_523_950_000_000_000 + rng.getrandbits(50))
    middle = _bytes(3, b"telemetry") + _bytes(4, b"ops") + _number(5, rng.randrange(8))
    body = _bytes(6, _letters(rng, rng.randrange(size // 2, size * 3 // 2))) + _bytes(9, b"host")
    return head + middle + body + b"".join(_field(rng, value) for _ in range(count))


def framed(header: bytes, body: bytes) -> bytes:
    """Return a frame, heka.md §2: 1E, header length, header, 1F, message."""
    return b"\x1e" + bytes([len(header)]) + header + b"\x1f" + body


def _whole(body: bytes) -> bytes:
    return framed(_number(1, len(body)), body)


def intact_frame(rng: Random) -> Piece:
    """Return an intact frame; one in five has the header of a signed frame."""
    body = message(rng)
    signed = _bytes(4, b"ops") + _number(5, 1) + _bytes(6, rng.randbytes(16))
    return Piece(framed(_number(1, len(body)) + (signed if not rng.randrange(5) else b""), body))


# --- damaged frames ---


def _without_1e(rng: Random) -> bytes:
    """Return a message without a byte 1E, so that a scan finds no other frame inside its damaged frame."""
    while b"\x1e" in (body := message(rng)) or b"\x1e" in varint(len(body)):
        pass
    return body


def _no_separator(body: bytes) -> Piece:
    data = bytearray(_whole(body))
    data[2 + data[1]] = 0xFF
    return Piece(bytes(data), "garbage", "bad-separator")


def _header(cls: str, *parts: bytes) -> Callable[[bytes], Piece]:
    """Return a function that builds a frame whose header is refused."""
    return lambda body: Piece(framed(b"".join(parts) or _number(1, len(body)) * 2, body), "garbage", cls)


DAMAGES: Final[tuple[Callable[[bytes], Piece], ...]] = (
    lambda body: Piece(body, "garbage"),
    _no_separator,
    _header("missing-field", _number(3, 0)),
    _header("bad-length", _number(1, 0)),
    _header("limit-exceeded", _number(1, 1 << 30)),
    _header("duplicate-field"),
    lambda body: Piece(framed(_number(1, len(body)), b""), "garbage", "bad-kind"),
    lambda body: Piece(_whole(body + _number(11, 5)), "garbage", "unknown-field"),
    lambda body: Piece(_whole(body[18:]), "garbage", "missing-field"),
    lambda body: Piece(_whole(_bytes(1, b"x") + _bytes(6, _whole(body))), "garbage", "bad-length"),
)
"""heka.md §2.4: loose bytes (S04), no unit separator (S09), no length (S18), length 0 (S08), too big (S24),
two lengths (S26), a frame without its message (S17), an unknown tag (M20), no uuid (M03), a message that is
refused and contains a whole frame (S31)."""


def damaged_frame(rng: Random) -> Piece:
    return rng.choice(DAMAGES)(_without_1e(rng))


# --- files ---


def pieces(seed: int, number: int, size: int, every: int) -> Iterator[Piece]:
    """Yield the pieces of a file of about `size` bytes, one in `every` damaged, the first and last intact."""
    rng = Random(f"stream {seed} {number}")  # noqa: S311 - test data, not secrets
    frames, faults = ([make(rng) for _ in range(DRAWN)] for make in (intact_frame, damaged_frame))
    made, lost = 0, True
    while made < size or lost:
        lost = not lost and not rng.randrange(every)
        piece = rng.choice(faults if lost else frames)
        made += len(piece.data)
        yield piece


def generate(folder: Path, size: int, seed: int, *, stream: int = STREAM, every: int = DAMAGED) -> Manifest:
    """Write files of about `size` bytes together, and their manifest; the last ends in a truncated frame."""
    folder.mkdir(parents=True, exist_ok=True)
    manifest = Manifest()
    numbers = range(-(-size // stream))
    for number in numbers:
        with (folder / f"{number:05}.heka").open("wb") as file:
            for piece in pieces(seed, number, min(stream, size - number * stream), every):
                file.write(piece.data)
                manifest.add(Verdict(FORMAT, piece.kind, piece.cls), len(piece.data))
            if number == numbers[-1]:
                file.write(_whole(bytes(TAIL))[:TAIL])
                manifest.add(Verdict(FORMAT, "tail", ""), TAIL)
    (folder / MANIFEST).write_text(json.dumps({"seed": seed, "verdicts": rows_of(manifest)}, indent=2) + "\n")
    return manifest


if __name__ == "__main__":
    command(generate, DAMAGED, "Heka streams")()
