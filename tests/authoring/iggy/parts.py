"""Write the bytes and values of Iggy's binary formats from the fields of `layouts`, for new cases: iggy.md §2 to §7.

A row has the values of the fields by path. No code of the codec under test.
"""

import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import xxhash

from tests.independent.iggy.layouts import BATCHES, CHECKSUMS, FRAME, KINDS, NUMBERS, STATES, Layout

Row = Mapping[str, Any]
Keyed = tuple[str, bytes, str, bytes]
"""A header from 0.9 on: kind and bytes of the key, kind and bytes of the value. Before, a key has no kind."""

CODES = {
    name: code
    for code, name in enumerate(
        [
            "raw",
            "string",
            "bool",
            "int8",
            "int16",
            "int32",
            "int64",
            "int128",
            "uint8",
            "uint16",
            "uint32",
            "uint64",
            "uint128",
            "float32",
            "float64",
        ],
        1,
    )
}


def little(number: int, size: int) -> bytes:
    return number.to_bytes(size, "little")


def u32(number: int) -> bytes:
    return little(number, 4)


def _sized(code: bytes, data: bytes) -> bytes:
    return code + u32(len(data)) + data


def tlv(*headers: tuple[bytes, str, bytes]) -> bytes:
    """The entries of headers whose keys have no kind: §2.4."""
    return b"".join(_sized(b"", key) + _sized(little(CODES[kind], 1), value) for key, kind, value in headers)


def block(*headers: Keyed) -> bytes:
    """The entries of headers from 0.9 on."""
    codes = (
        (little(CODES[one], 1), little(CODES[other], 1), key, value) for one, key, other, value in headers
    )
    return b"".join(_sized(one, key) + _sized(other, value) for one, other, key, value in codes)


def kind_value(kind: str, value: bytes) -> dict[str, str]:
    return {"kind": kind, "value": value.hex()}


def map_value(*headers: tuple[bytes, str, bytes]) -> list[Any]:
    """The value of headers, sorted by key."""
    rows = sorted(headers, key=lambda header: header[0])
    return [[key.hex(), kind_value(kind, value)] for key, kind, value in rows]


def keyed_value(*headers: Keyed) -> list[Any]:
    """The value of headers from 0.9 on, sorted by the code of the key's kind and its bytes."""
    rows = sorted(headers, key=lambda header: (CODES[header[0]], header[1]))
    return [[kind_value(one, key), kind_value(other, value)] for one, key, other, value in rows]


# --- fields ---


def parts(fields: Layout, row: Row) -> dict[str, bytes]:
    """Return the bytes of each field; a length, a size and a checksum are computed where the row has none."""
    found = {path: _part(kind, row, path) for path, kind in fields}
    for path, kind in fields:
        if kind.startswith("len:") and path not in row:
            found[path] = little(len(found[kind[4:]]), 4)
    if fields[0][1] == "size" and fields[0][0] not in row:
        found[fields[0][0]] = little(sum(len(part) for part in found.values()) - 4, 4)
    for path, kind in fields:
        if path in row:
            continue
        behind = b"".join(part for name, part in found.items() if name != path)
        if kind == "crc":
            found[path] = little(zlib.crc32(found["payload"]), 4)
        elif kind == "wide-crc":
            found[path] = little(zlib.crc32(behind), 8)
        elif kind == "xxh3":
            found[path] = little(xxhash.xxh3_64_intdigest(behind), 8)
    return found


def packed(fields: Layout, row: Row) -> bytes:
    """Return the bytes of a row."""
    return b"".join(parts(fields, row).values())


SIZES = {**NUMBERS, **CHECKSUMS, "len": 4, "size": 4}


def _part(kind: str, row: Row, path: str) -> bytes:
    value = row.get(path)
    name, _, detail = kind.partition(":")
    if isinstance(value, bytes):
        return value
    if name == "gap" or name in SIZES:
        return little(value or 0, int(detail) if name == "gap" else SIZES[name])
    if kind == "present":
        return little(row.get(path, row.get("partition_id") is not None), 1)
    return _OTHERS[kind](value)


def _kind(kind: str, value: Any) -> bytes:
    """Return the code of a kind by name, the first one where there is none; a number stands for itself."""
    code = value if isinstance(value, int) else KINDS[kind].index(value or KINDS[kind][0]) + 1
    return little(code, 1)


def _named(kind: str, value: tuple[str, bytes]) -> bytes:
    return _kind(kind, value[0]) + little(len(value[1]), 1) + value[1]


_OTHERS: Mapping[str, Callable[[Any], bytes]] = {
    "flag": lambda value: little(int(value or 0), 1),
    "state": lambda value: little(value if isinstance(value, int) else STATES[value or "available"], 1),
    **{kind: partial(_kind, kind) for kind in ("consumer", "strategy")},
    **{kind: partial(_named, kind) for kind in ("id", "key")},
    "map": lambda value: tlv(*(value or ())),
    "keyed": lambda value: block(*(value or ())),
    "data": lambda _: b"",
}
"""The bytes of what is no number, by its type."""


def shown(fields: Layout, row: Row) -> dict[str, Any]:
    """Return the value of a row: nested by the dots of its paths, without lengths and gaps."""
    made = parts(fields, row)
    value: dict[str, Any] = {}
    for path, kind in fields:
        if kind.split(":")[0] in ("len", "size", "gap", "present"):
            continue
        at, *steps = (value, *path.split("."))
        for step in steps[:-1]:
            at = at.setdefault(step, {})
        at[steps[-1]] = _shown(kind, row.get(path), made[path])
    return value


def _shown(kind: str, value: Any, made: bytes) -> Any:
    if isinstance(value, bytes):
        return value.hex()
    if kind in SIZES:
        return None if value is None and kind == "u32" else str(int.from_bytes(made, "little"))
    return _VALUES[kind](value)


_VALUES: Mapping[str, Callable[[Any], Any]] = {
    "flag": bool,
    "state": lambda value: value or "available",
    "consumer": lambda value: value or "consumer",
    "strategy": lambda value: value or "offset",
    **{kind: lambda value: kind_value(*value) for kind in ("id", "key")},
    "map": lambda value: map_value(*(value or ())),
    "keyed": lambda value: keyed_value(*(value or ())),
    "data": lambda _: "",
}
"""The value of what is no number, by its type."""


def batch(revision: str, row: Row, frames: Sequence[bytes]) -> bytes:
    """Return a batch of frames; its length, its count and its checksum are computed where the row has none."""
    has_producer = row.get("producer.producer_id") is not None
    fixed: dict[str, Any] = {
        "batch_length": 256 + sum(map(len, frames)),
        "message_count": len(frames),
        **({"flags": int(has_producer)} if revision != "0.11" else {}),
        **row,
    }
    made = parts(BATCHES[revision], fixed)
    covered = [part for path, part in made.items() if path not in ("batch_checksum", "reserved")][:5]
    covered.append(made["message_count"])
    if has_producer:
        covered += [b"\1", *(made[f"producer.{name}"] for name in ("producer_id", "epoch", "base_sequence"))]
    seal = xxhash.xxh3_64_intdigest(b"".join((*covered, *(one[:8] for one in frames))))
    made["batch_checksum"] = little(row.get("batch_checksum", seal), 8)
    return b"".join((*made.values(), *frames))


def batch_shown(revision: str, row: Row, data: bytes) -> dict[str, Any]:
    """Return the value of the header of a batch, from its row and its bytes."""
    value = shown(BATCHES[revision], row)
    if revision != "0.11" and row.get("producer.producer_id") is None:
        value["producer"] = None
    seal, count = data[40:48], data[48:52]
    numbers = {"message_count": count, "batch_checksum": seal}
    return value | {name: str(int.from_bytes(part, "little")) for name, part in numbers.items()}


def frame_shown(head: Row, row: Row) -> dict[str, Any]:
    """Return the value of a frame, with what follows from the header of its batch."""
    top = 1 << 64
    return {
        **shown(FRAME, row),
        "offset": str((head.get("base_offset", 0) + row.get("offset_delta", 0)) % top),
        "timestamp": str(head.get("base_timestamp", 0)),
        "origin_timestamp": str((head.get("origin_timestamp", 0) + row.get("timestamp_delta", 0)) % top),
    }
