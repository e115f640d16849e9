"""Which format unknown bytes are: every row of `FORMATS` is tried, the best fit first.

A row that accepts all the bytes comes first, of several the one with the fewest remarks. Behind it come the
rows by whose mark the bytes begin: what stands at their start whatever is damaged later. A few bytes that
happen to parse as a small value, and refusals without a mark, say least; among them the row that understood
most fields is nearest.
"""

from collections.abc import Callable, Sequence
from typing import Final

from attrs import frozen

from wireproof.cases.autopsy import autopsy
from wireproof.formats import FORMATS, Format, Layout
from wireproof.wire.options import DEFAULT, Options

PLAUSIBLE: Final = 1 << 24
"""Bytes of an entry that nobody wonders at."""


def _json(data: bytes) -> bool:
    """A JSON text of an object or a list."""
    return data.lstrip()[:1] in (b"{", b"[")


def _framed(data: bytes) -> bool:
    """A record separator, and the tag of a message_length behind the header's length: heka.md §2."""
    return len(data) > 2 and data[0] == 0x1E and data[2] == 0x08


def _uuid(data: bytes) -> bool:
    """The tag of a uuid with a length near its own: heka.md §1."""
    return len(data) > 2 and data[0] == 0x0A and data[1] in range(15, 18)


def _entry(data: bytes) -> bool:
    """A magic of 0 to 2, a size and an offset of a plausible order: kafka.md §1.4."""
    if len(data) < 17 or data[16] > 2 or data[:2] not in (b"\x00\x00", b"\xff\xff"):
        return False
    return int.from_bytes(data[8:12], "big") < PLAUSIBLE


MARKS: Final[dict[str, Callable[[bytes], bool]]] = {
    "iggy.json.": _json,
    "heka.stream": _framed,
    "heka.message": _uuid,
    "kafka.": _entry,
}
"""By the beginning of a format's name: whether bytes begin as it does."""


@frozen
class Fit:
    """A row and what it made of the bytes; `marked` if they begin as its format does."""

    row: Format
    layout: Layout
    marked: bool
    size: int

    @property
    def rank(self) -> tuple[int, int, int, int]:
        """Higher is better: how sure, bytes consumed, remarks left (the fewer), fields read."""
        decoded = self.layout.decoded
        consumed = decoded.consumed if decoded is not None else 0
        whole = decoded is not None and consumed == self.size > 0
        sure = 3 if whole else 2 if self.marked else 1 if consumed else 0
        remarks = len(decoded.remarks) if decoded is not None else 0
        return (sure, consumed, -remarks, len(self.layout.spans))


def fits(data: bytes, rows: Sequence[Format] = (), options: Options = DEFAULT) -> list[Fit]:
    """Every row (or those given) with its layout of `data`, the best fit first."""
    found = [
        Fit(row, autopsy(row, data, options), _marked(row.name, data), len(data))
        for row in rows or FORMATS.values()
    ]
    return sorted(found, key=lambda fit: fit.rank, reverse=True)


def _marked(name: str, data: bytes) -> bool:
    return any(mark(data) for start, mark in MARKS.items() if name.startswith(start))
