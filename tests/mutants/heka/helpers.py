"""The base of the Heka mutants that replace parts of the reference, and parts for its compiled codecs."""

from collections.abc import Callable, Iterator
from typing import Any

from tests.mutants.base import Patch, Patched, in_codec
from wireproof.heka.message import FIELD
from wireproof.schema.protobuf import other_wire_type
from wireproof.schema.struct import Struct
from wireproof.wire.protobuf import LENGTH_DELIMITED, WireField
from wireproof.wire.reader import Reader

ReadArray = Callable[[Reader, str, WireField], list[Any]]
"""Reads the numbers of one payload of a repeated field."""


class PatchedHeka(Patched):
    """A Heka codec with other parts; a base class, no mutant itself."""

    system = "heka"


def in_arrays(change: Callable[[ReadArray], ReadArray]) -> tuple[Patch, ...]:
    """Return the patches of a codec that reads the arrays of numbers of a Field in another way."""
    return in_codec(FIELD, _read_numbers=change, _read_doubles=change)


def in_fields(message: Struct, change: Callable[[Reader, WireField], WireField]) -> tuple[Patch, ...]:
    """Return the patches of a codec of a message that meets other fields on the wire."""

    def changed(read_fields: Callable[..., Iterator[WireField]]) -> Callable[..., Iterator[WireField]]:
        return lambda reader, label: (change(reader, field) for field in read_fields(reader, label))

    return in_codec(message, _read_fields=changed)


def only(*, packed: bool) -> Callable[[ReadArray], ReadArray]:
    """Return a change that refuses the numbers that are packed, or those that are not."""

    def change(read_array: ReadArray) -> ReadArray:
        def read(reader: Reader, name: str, field: WireField) -> list[Any]:
            if (field.wire == LENGTH_DELIMITED) is not packed:
                raise other_wire_type(reader, name, field)
            return read_array(reader, name, field)

        return read

    return change


def no_rule(_: object) -> Callable[..., None]:
    """Return a rule that finds nothing wrong."""
    return lambda *_fields: None
