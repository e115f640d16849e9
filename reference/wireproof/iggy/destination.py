"""Identifiers, partitionings, and the destination of a send, which they make: iggy.md §2.2, §3.1, §5."""

from typing import Final, Literal

from attrs import frozen

from wireproof.iggy.header_kinds import is_utf8
from wireproof.iggy.revision import REVISIONS
from wireproof.schema.layout import Length, Number, Octets, Part
from wireproof.schema.rules import Fault, remarked
from wireproof.schema.struct import Struct, inner


@frozen
class Identifier:
    """A kind and its bytes on the wire: four little-endian bytes, or UTF-8."""

    kind: Literal["numeric", "string"]
    value: bytes


@frozen
class Partitioning:
    """A kind and its bytes on the wire: none, four little-endian bytes, or a key."""

    kind: Literal["balanced", "partition_id", "messages_key"]
    value: bytes


def _tagged(codes: dict[int, str]) -> tuple[Part, ...]:
    """Return the fields of a value that begins with its kind and its length in bytes."""
    return (
        Number("kind", "uint8", codes=codes, error="InvalidCommand"),
        Length("length", "uint8", of="value"),
        Octets("value"),
    )


_DETAILS: Final = {"partition_id": "CannotParseSlice", "messages_key": "InvalidKeyValueLength"}
"""The server's error for a wrong length, by kind; for others it is InvalidCommand."""


def _wrong_length(kind: str, length: int) -> Fault:
    return Fault("bad-length", f"{length} bytes for {kind}", detail=_DETAILS.get(kind, "InvalidCommand"))


# --- identifiers ---

IDENTIFIER_KINDS: Final = {1: "numeric", 2: "string"}
_IDENTIFIER_LENGTHS: Final = {"numeric": range(4, 5), "string": range(1, 256)}

IDENTIFIER: Final = Struct(
    "Identifier", *_tagged(IDENTIFIER_KINDS), revisions=REVISIONS, cites="iggy.md §2.2", value=Identifier
)
"""The identifier of a stream, topic or consumer: a u32, or a name."""


@IDENTIFIER.rule("length", "iggy.identifier.length")
def _identifier_length(kind: str, length: int) -> Fault | None:
    return None if length in _IDENTIFIER_LENGTHS[kind] else _wrong_length(kind, length)


@IDENTIFIER.rule("value", "iggy.identifier.zero", until="0.8")
def _zero(kind: str, value: bytes) -> Fault | None:
    if kind == "numeric" and not any(value):
        return Fault("invalid-value", "0", detail="InvalidIdentifier")
    return None


@IDENTIFIER.rule("value", "iggy.identifier.utf8")
def _not_utf8(kind: str, value: bytes) -> Fault | None:
    if kind == "string" and not is_utf8(value):
        return Fault("bad-utf8", "not UTF-8", detail="InvalidCommand")
    return None


# --- partitionings: how the partition of a send is chosen ---

PARTITIONING_KINDS: Final = {1: "balanced", 2: "partition_id", 3: "messages_key"}

_LENGTHS: Final = {"balanced": range(1), "partition_id": range(4, 5), "messages_key": range(1, 256)}

_LENGTHS_OF_CHOSEN: Final = {**_LENGTHS, "balanced": range(256)}
"""Up to 8594d7d4c the server checks neither the length of a balanced value nor its bytes."""

PARTITIONING: Final = Struct(
    "Partitioning",
    *_tagged(PARTITIONING_KINDS),
    revisions=REVISIONS,
    cites="iggy.md §2.2",
    value=Partitioning,
)


@PARTITIONING.rule("length", "iggy.partitioning.length", until="0.9")
def _length_of_chosen(kind: str, length: int) -> Fault | None:
    return None if length in _LENGTHS_OF_CHOSEN[kind] else _wrong_length(kind, length)


@PARTITIONING.rule("length", "iggy.partitioning.balanced-length", since="0.9")
def _partitioning_length(kind: str, length: int) -> Fault | None:
    return None if length in _LENGTHS[kind] else _wrong_length(kind, length)


@PARTITIONING.rule("value", "iggy.partitioning.balanced")
def _balanced_value(kind: str, value: bytes) -> Fault | None:
    if kind == "balanced" and value:
        return remarked("iggy-balanced-value", text="a balanced partitioning has no value", written=False)
    return None


@PARTITIONING.rule("", "iggy.partitioning.balanced", alone=True)
def _bare(room: int) -> Fault | None:
    """Remark two bytes, which a balanced partitioning has, although the server's reader requires three."""
    return remarked("iggy-bare-balanced", path="kind") if room < 3 else None


# --- the destination of a send ---

DESTINATION: Final = Struct(
    "Destination",
    inner("stream", IDENTIFIER),
    inner("topic", IDENTIFIER),
    inner("partitioning", PARTITIONING),
    revisions=REVISIONS,
    cites="iggy.md §3.1",
)
