"""Read `state/info`, where an Iggy server keeps its version: iggy.md §7.1. It raises nothing.

The file is a value of the Rust crate bincode, which has no checksum. Its strings and lists begin with their
length. Servers from 0.4.300 on write lengths and integers as bincode 2 does: a byte, or a mark and then two,
four or eight bytes; earlier ones write every length in eight bytes.
"""

from collections.abc import Callable, Mapping
from typing import Final

from wireproof.data_files import FileFinding
from wireproof.iggy.server_files import ServerFile
from wireproof.wire.json_values import Json
from wireproof.wire.reader import Reader
from wireproof.wire.rejection import Rejected

MARKS: Final[Mapping[int, int]] = {251: 2, 252: 4, 253: 8}
"""The bytes of an integer after its mark; a smaller byte is the integer itself."""

ReadNumber = Callable[[Reader, str, int], int]
"""Reads an integer of a name and of a size in bytes."""


def _fixed(reader: Reader, name: str, size: int) -> int:
    return int.from_bytes(reader.take(name, size), "little")


def _marked(reader: Reader, name: str, _: int) -> int:
    first = reader.take(name, 1)[0]
    return _fixed(reader, name, MARKS[first]) if first in MARKS else first


def read_server_info(data: bytes) -> ServerFile:
    """Read the version of the server that started last, and the migrations of its data."""
    for number in (_marked, _fixed):
        try:
            values, left = _read(Reader(data), number)
        except (Rejected, UnicodeDecodeError):
            continue
        if not left:
            return ServerFile(f"server {values['version']}", values)
    text = "no version and list of migrations, in neither of the layouts that servers write"
    return ServerFile("damaged", {}, (FileFinding(0, text),), unsound=len(data))


def _read(reader: Reader, number: ReadNumber) -> tuple[dict[str, Json], int]:
    """Return the values, and the bytes after them."""
    version, digest = _text(reader, "version", number), _text(reader, "hash", number)
    migrations: list[Json] = [_migration(reader, number) for _ in range(_count(reader, number))]
    return {"version": version, "hash": digest, "migrations": migrations}, reader.left


def _count(reader: Reader, number: ReadNumber) -> int:
    """Return the number of migrations; each of them has bytes."""
    count = number(reader, "migrations", 8)
    return count if count <= reader.left else reader.left + 1


def _migration(reader: Reader, number: ReadNumber) -> dict[str, Json]:
    return {
        "id": number(reader, "id", 4),
        "name": _text(reader, "name", number),
        "hash": _text(reader, "hash", number),
        "appliedAt": number(reader, "appliedAt", 8),
    }


def _text(reader: Reader, name: str, number: ReadNumber) -> str:
    return bytes(reader.take(name, number(reader, f"{name}Length", 8))).decode()
