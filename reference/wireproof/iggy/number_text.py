"""The decimal text of a float32 or float64: the shortest that reads back as the same number, no exponent."""

import struct
from decimal import Decimal
from math import isfinite, isnan
from typing import Final

DIGITS: Final = {4: 9, 8: 17}
"""Digits that tell any two numbers of a width in bytes apart: IEEE 754."""

FORMATS: Final = {4: "<f", 8: "<d"}


def float_text(data: bytes) -> str:
    """Return the text of a little-endian number: `1`, `123.45`, `-0`, `inf`, `-inf` or `NaN`."""
    layout = FORMATS[len(data)]
    (number,) = struct.unpack(layout, data)
    if not isfinite(number):
        return "NaN" if isnan(number) else "inf" if number > 0 else "-inf"
    for digits in range(1, DIGITS[len(data)]):
        text = f"{number:.{digits - 1}e}"
        if _is_same(layout, text, data):
            return _plain(text)
    return _plain(f"{number:.{DIGITS[len(data)] - 1}e}")


def _is_same(layout: str, text: str, data: bytes) -> bool:
    try:
        return struct.pack(layout, float(text)) == data
    except OverflowError:  # rounded up beyond the largest float32
        return False


def _plain(text: str) -> str:
    plain = f"{Decimal(text):f}"
    return plain.rstrip("0").rstrip(".") if "." in plain else plain
