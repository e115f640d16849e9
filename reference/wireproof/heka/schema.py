"""How a protobuf message of Heka is read: a table of its fields, and the scalars of heka.md, section 4.

A `Slot` is a row of a schema: name, wire types, how its payload is read. `collect` walks a window by
such a table; which fields must be there, and what goes with what, stands with each message.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from attrs import field, frozen

from wireproof.wire.protobuf import LENGTH, VARINT, WireField, fields, int32, numbered
from wireproof.wire.reader import Reader

Read = Callable[[Reader, WireField, str], Any]


@frozen
class Slot:
    """A row of a schema: `read` gives the value of a scalar, or the tuple that a repeated field adds.

    `single` says of a repeated field that each occurrence is one value: it is read under its index, so
    that another answer which a remark allows names the place where that answer stands.
    """

    name: str
    read: Read
    wires: tuple[int, ...] = (LENGTH,)
    repeated: bool = False
    once: bool = False
    single: bool = False


@frozen
class Collected:
    """The fields of one message by name; `at`: where each stood first; `order`: all numbers as they stood."""

    values: dict[str, Any] = field(factory=dict)
    at: dict[str, int] = field(factory=dict)
    order: list[int] = field(factory=list)


def collect(reader: Reader, schema: Mapping[int, Slot], *, unknown_kept: bool = False) -> Collected:
    """Read the whole window by `schema`; the order of fields is free: M53, M54, M55, M91.

    Args:
        reader: the window.
        schema: field number to row.
        unknown_kept: whether fields of other numbers are stepped over with a remark (S30) or refused (M20).

    Raises:
        Rejected: `unknown-field`, `type-mismatch` (wire type), `duplicate-field`, and those of the rows.
    """
    got = Collected()
    for wire in fields(reader, lambda number: schema[number].name if number in schema else numbered(number)):
        got.order.append(wire.number)
        if wire.number in schema:
            _keep(reader, schema[wire.number], wire, got)
        elif not unknown_kept:  # M20 to M24, M79, M80
            raise reader.reject(
                "unknown-field",
                numbered(wire.number),
                "no field of the schema",
                at=wire.at,
                detail="unknown_field",
            )
        else:
            reader.remark("header-unknown-field", numbered(wire.number), at=wire.at)
    return got


def _keep(reader: Reader, slot: Slot, wire: WireField, got: Collected) -> None:
    if wire.wire not in slot.wires:  # M25 to M28, M74, M81, M82, S29
        raise reader.reject(
            "type-mismatch", slot.name, f"wire type {wire.wire}", at=wire.at, detail="wrong_wiretype"
        )
    name = f"{slot.name}[{len(got.values.get(slot.name, ()))}]" if slot.single else slot.name
    value = slot.read(reader, wire, name)
    if slot.repeated:
        got.values.setdefault(slot.name, []).extend(value)
    elif slot.name in got.values and slot.once:  # S26, S27: readers differ on which of two lengths counts
        raise reader.reject(
            "duplicate-field", slot.name, "a second one", at=wire.at, detail=f"duplicate_{slot.name}"
        )
    else:
        if slot.name in got.values:  # M32 to M35, M88: the last one counts
            reader.remark("duplicate-scalar", slot.name, at=wire.at)
        got.values[slot.name] = value
    got.at.setdefault(slot.name, wire.at)


# --- scalars ---


def octets(reader: Reader, wire: WireField, name: str) -> bytes:
    """Bytes, as they stand."""
    return reader.take(name, wire.length)


def text(reader: Reader, wire: WireField, name: str) -> bytes:
    """A string; what is no UTF-8 is kept, as Go and C do, where Java replaces: M36 to M38, M85, M86."""
    raw = reader.take(name, wire.length)
    try:
        raw.decode()
    except UnicodeDecodeError:
        replaced = raw.decode(errors="replace").encode().hex()
        reader.remark("bad-utf8", name, at=wire.start, others=(reader.other("replaced", name, replaced),))
    return raw


NEGATIVE64: Final = (1 << 64) - (1 << 31)


def integer32(reader: Reader, wire: WireField, name: str) -> int:
    """An int32: negative in 10 bytes, or in Go's 5 (M15, M19); wider ones are refused (M17)."""
    value = wire.value
    if 1 << 31 <= value < 1 << 32:
        reader.remark("int32-five-byte-negative", name, at=wire.start)
    elif 1 << 32 <= value < NEGATIVE64:
        raise reader.reject(
            "bad-varint", name, f"{value} is no int32", at=wire.start, detail="int32_overflow"
        )
    return int32(value)


def unsigned32(reader: Reader, wire: WireField, name: str) -> int:
    """A uint32; wider ones are refused: S25."""
    if wire.value >> 32:
        raise reader.reject(
            "bad-varint", name, f"{wire.value} is no uint32", at=wire.start, detail="int32_overflow"
        )
    return wire.value


INT: Final = (VARINT,)
