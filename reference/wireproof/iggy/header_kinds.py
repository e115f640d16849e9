"""The fifteen kinds of a header value, which never changed: iggy.md, section 2.3.

A `HeaderValue` that was read may hold a number of the wrong size, because the binary and the JSON readers do
not check it (iggy.md, section 10.3, `int32_3bytes`). The accessors and the writers refuse such a value.
"""

import struct
from contextlib import suppress
from decimal import Decimal
from math import isfinite, isnan
from typing import Any, Final, Literal

from attrs import Attribute, field, frozen

from wireproof.wire.json_values import derived
from wireproof.wire.rejection import Rejected


def float_text(data: bytes) -> str:
    """Return the text of a little-endian number: `1`, `123.45`, `-0`, `inf`, `-inf` or `NaN`."""
    layout, most = ("<f", 9) if len(data) == 4 else ("<d", 17)  # digits that tell any two numbers apart
    (number,) = struct.unpack(layout, data)
    if not isfinite(number):
        return "NaN" if isnan(number) else "inf" if number > 0 else "-inf"
    for digits in range(1, most + 1):
        text = f"{number:.{digits - 1}e}"
        with suppress(OverflowError):  # rounded up beyond the largest float32
            if digits == most or struct.pack(layout, float(text)) == data:
                break
    plain = f"{Decimal(text):f}"
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


HeaderKindName = Literal[
    "raw", "string", "bool", "int8", "int16", "int32", "int64", "int128", "uint8", "uint16", "uint32",
    "uint64", "uint128", "float32", "float64",
]  # fmt: skip
"""The names of the kinds in JSON."""

WRONG_SIZE: Final = "iggy-header-size"
"""The remark class for a number of the wrong size."""

SIZES: Final = range(1, 256)
"""The valid sizes of a key or a value, in bytes: iggy.md, section 9."""


@frozen
class HeaderKind:
    """A kind: its code on the wire, its name in JSON, the size of a value in bytes (None: any of `SIZES`)."""

    code: int
    name: HeaderKindName
    size: int | None


HEADER_KINDS: Final[tuple[HeaderKind, ...]] = (
    HeaderKind(1, "raw", None),
    HeaderKind(2, "string", None),
    HeaderKind(3, "bool", 1),
    HeaderKind(4, "int8", 1),
    HeaderKind(5, "int16", 2),
    HeaderKind(6, "int32", 4),
    HeaderKind(7, "int64", 8),
    HeaderKind(8, "int128", 16),
    HeaderKind(9, "uint8", 1),
    HeaderKind(10, "uint16", 2),
    HeaderKind(11, "uint32", 4),
    HeaderKind(12, "uint64", 8),
    HeaderKind(13, "uint128", 16),
    HeaderKind(14, "float32", 4),
    HeaderKind(15, "float64", 8),
)
"""All kinds: iggy.md, section 2.3. The codes 0 and 16 to 255 are invalid."""

KINDS_BY_CODE: Final[dict[int, HeaderKind]] = {kind.code: kind for kind in HEADER_KINDS}
KINDS_BY_NAME: Final[dict[str, HeaderKind]] = {kind.name: kind for kind in HEADER_KINDS}


def _known(_: object, attribute: "Attribute[str]", name: str) -> None:
    if name not in KINDS_BY_NAME:
        raise Rejected("invalid-value", -1, attribute.name, f"unknown kind {name!r}")


def _sized(_: object, attribute: "Attribute[bytes]", value: bytes) -> None:
    if len(value) not in SIZES:
        raise Rejected("invalid-value", -1, attribute.name, f"{len(value)} bytes, not 1 to 255")


@derived(typed=Decimal | bool | None)
@frozen
class HeaderValue:
    """A kind and its bytes on the wire; raises `Rejected` (`invalid-value`) if they cannot be written.

    Derived: `typed`, the number or the boolean; None for raw bytes, for a text, and for a value with a fault.
    """

    kind: HeaderKindName = field(validator=_known)
    value: bytes = field(validator=_sized)

    def fault(self) -> str | None:
        """Return the remark class of a value that its kind does not allow; None for a valid value.

        Readers accept all three faults; the accessors of Iggy may fail later: iggy.md, section 10.3.
        """
        kind = KINDS_BY_NAME[self.kind]
        if kind.size not in (None, len(self.value)):
            return WRONG_SIZE
        if self.kind == "bool" and self.value[0] > 1:
            return "iggy-header-bool"
        if self.kind == "string" and not is_utf8(self.value):
            return "iggy-header-utf8"
        return None

    def add_derived(self, tree: dict[str, Any]) -> None:
        """Add the derived field to the JSON form."""
        if self.kind in ("raw", "string") or self.fault():
            tree["typed"] = None
        elif self.kind == "bool":
            tree["typed"] = self.value == b"\x01"
        elif self.kind.startswith("float"):
            tree["typed"] = float_text(self.value)
        else:
            tree["typed"] = str(int.from_bytes(self.value, "little", signed=self.kind.startswith("int")))


def is_utf8(data: bytes) -> bool:
    """Return whether `data` is valid UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
