"""Bytes whose value functions by hand read and write, such as a map of tagged values."""

from collections.abc import Callable
from typing import Any

from attrs import field, frozen

from wireproof.schema.layout import Octets
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer


@frozen(kw_only=True, eq=False)
class Block(Octets):
    """As many bytes as an earlier `Length` says, else all that are left.

    Attributes:
        type: of the value.
        read: reads a value from a reader whose window is the block. Raises `Rejected`.
        write: writes a value. Raises `Rejected`.
        measure: returns the size of a value, in bytes.
    """

    type: Any = field()
    read: Callable[[Reader], Any] = field()
    write: Callable[[Writer, Any], None] = field()
    measure: Callable[[Any], int] = field()
