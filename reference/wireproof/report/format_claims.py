"""The table of formats and revisions, with the words that an adapter can claim for each."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from textwrap import wrap
from typing import Final, get_args

from wireproof.adapters.reference import claim_of_row
from wireproof.formats import FORMATS
from wireproof.wire.options import Profile

CLAIMS: Final = ("ops", "codecs", "features")
"""The parts of a claim whose words depend on the format."""

GAP: Final = "  "
"""The blanks between two columns."""

NARROW_GAP: Final = " "
"""The same if the words alone fill the screen."""


def claim_lines(format_ids: Sequence[str], room: int | None) -> Iterator[str]:
    """Yield the lines of the table of some formats.

    Args:
        format_ids: such as `kafka.batch/v2`.
        room: the columns of the terminal; None if the output is piped: rows are not broken there.
    """
    yield from _lines([("format", "revisions", *CLAIMS), *_rows(format_ids)], room)
    provisional = dict.fromkeys(FORMATS[one].revision for one in format_ids if FORMATS[one].provisional)
    yield ""
    for revision in provisional:
        yield f"{revision}: provisional, of a pre-release"
    yield f"profiles of every format: {' '.join(get_args(Profile))}"


def _rows(format_ids: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the table: the revisions of a format share one if they have the same words."""
    groups: dict[tuple[str, tuple[tuple[str, ...], ...]], list[str]] = {}
    for row in map(FORMATS.__getitem__, format_ids):
        claim = claim_of_row(row)
        words = tuple(getattr(claim, name) for name in CLAIMS)
        groups.setdefault((row.name, words), []).append(row.revision)
    for (name, words), revisions in groups.items():
        yield name, " ".join(revisions), *map(" ".join, words)


def _lines(rows: Sequence[Sequence[str]], room: int | None) -> Iterator[str]:
    """Yield the lines of a table; cells are broken into several lines if `room` columns are too few."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    words = [max(len(word) for cell in column for word in cell.split()) for column in zip(*rows, strict=True)]
    narrow = room is not None and sum(words) + len(GAP) * (len(words) - 1) > room
    gap = NARROW_GAP if narrow else GAP
    while room is not None and sum(widths) + len(gap) * (len(widths) - 1) > room and widths != words:
        widest = max(range(len(widths)), key=lambda place: widths[place] - words[place])
        widths[widest] -= 1
    for row in rows:
        cells = (
            wrap(cell, width, break_long_words=False, break_on_hyphens=False)
            for cell, width in zip(row, widths, strict=True)
        )
        for parts in zip_longest(*cells, fillvalue=""):
            yield gap.join(map(str.ljust, parts, widths)).rstrip()
