"""Iggy codecs whose accessors return another number than the bytes of a typed header: iggy.md §2.3."""

import struct
from typing import Final

from tests.mutants.base import ReferenceCodec, walk
from tests.mutants.iggy_helpers import IggyMutant
from wireproof.adapters.contract import Request
from wireproof.iggy.number_text import float_text
from wireproof.wire.json_values import Json


class NumberMutant(IggyMutant):
    """Replaces the numbers of typed headers, but no bool, and no bytes that the accessor refuses."""

    def patch_value(self, value: Json, request: Request, data: bytes) -> Json:
        """Read each number again."""
        del request, data
        for part in walk(value):
            if isinstance(part.get("typed"), str):
                part["typed"] = self.number(part["kind"], bytes.fromhex(part["value"]))
        return value

    def number(self, kind: str, data: bytes) -> str:
        """Return the number of a kind; this one has no fault."""
        if kind.startswith("float"):
            return float_text(data)
        return str(int.from_bytes(data, "little", signed=kind.startswith("int")))


class BigEndian(NumberMutant):
    """Reads the numbers of typed headers big-endian."""

    name = "iggy-typed-big-endian"

    def number(self, kind: str, data: bytes) -> str:
        """Reverse the bytes."""
        return super().number(kind, data[::-1])


class Unsigned(NumberMutant):
    """Reads signed numbers as unsigned ones."""

    name = "iggy-typed-unsigned"

    def number(self, kind: str, data: bytes) -> str:
        """Ignore the sign."""
        return super().number(f"u{kind}" if kind.startswith("int") else kind, data)


class Low64Bits(NumberMutant):
    """Reads 64 of 128 bits, as a language without wider integers does."""

    name = "iggy-typed-low-64-bits"

    def number(self, kind: str, data: bytes) -> str:
        """Cut the bytes."""
        return super().number(kind, data[:8])


class Widened(NumberMutant):
    """Shows a float32 with the digits of the float64 that it was widened to."""

    name = "iggy-typed-float-widened"

    def number(self, kind: str, data: bytes) -> str:
        """Write a float32 as a float64."""
        if kind == "float32":
            return float_text(struct.pack("<d", *struct.unpack("<f", data)))
        return super().number(kind, data)


class AsDouble(NumberMutant):
    """Reads integers as doubles, which hold 53 bits."""

    name = "iggy-typed-as-double"

    def number(self, kind: str, data: bytes) -> str:
        """Round to 53 bits."""
        found = super().number(kind, data)
        return found if kind.startswith("float") else str(int(float(found)))


NUMBERS: Final[tuple[type[ReferenceCodec], ...]] = (BigEndian, Unsigned, Low64Bits, Widened, AsDouble)
"""The mutants of this module."""
