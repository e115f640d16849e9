"""`wireproof formats`: list the formats and revisions, and the words that an adapter can claim for each."""

import shutil
import sys
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from textwrap import wrap
from typing import Final, get_args

import click

from wireproof.adapters.reference import claim_of_row
from wireproof.cli.options import format_option, print_json
from wireproof.formats import FORMATS
from wireproof.installed_families import INSTALLED
from wireproof.wire.options import Profile

CLAIMS: Final = ("ops", "codecs", "features")
"""The parts of a claim whose words depend on the format."""

PROFILES: Final = get_args(Profile)

GAP: Final = "  "
"""The blanks between two columns."""

NARROW_GAP: Final = " "
"""The same if the words alone fill the screen."""

Claims = tuple[tuple[str, ...], ...]
"""The words of `CLAIMS`, in that order."""


@click.command("formats")
@format_option
def command(form: str) -> None:
    """List the formats and revisions with their operations, codecs and features.

    These are the words that an adapter can claim. The page adapter-contract.md explains them.
    """
    for fault in INSTALLED.faults:
        click.echo(f"wireproof: {fault}", err=True)
    claims = {format_id: _words(format_id) for format_id in FORMATS}
    if form == "json":
        print_json([_row(format_id, words) for format_id, words in claims.items()])
        return
    rows = [("format", "revisions", *CLAIMS), *_rows(claims)]
    for line in _lines(rows, _room()):
        click.echo(line)
    revisions = dict.fromkeys(row.revision for row in FORMATS.values() if row.provisional)
    click.echo()
    for revision in revisions:
        click.echo(f"{revision}: provisional, of a pre-release")
    click.echo(f"profiles of every format: {' '.join(PROFILES)}")


def _room() -> int | None:
    """Return the columns of the terminal; None if the output is piped: rows are not broken there."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _words(format_id: str) -> Claims:
    claim = claim_of_row(FORMATS[format_id])
    return tuple(getattr(claim, name) for name in CLAIMS)


def _row(format_id: str, words: Claims) -> dict[str, object]:
    row = FORMATS[format_id]
    claims = dict(zip(CLAIMS, words, strict=True))
    names = {"format": row.name, "revision": row.revision, "provisional": row.provisional}
    return {**names, **claims, "profiles": PROFILES}


def _rows(claims: dict[str, Claims]) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the table: the revisions of a format share one if they have the same words."""
    groups: dict[tuple[str, Claims], list[str]] = {}
    for format_id, words in claims.items():
        groups.setdefault((FORMATS[format_id].name, words), []).append(FORMATS[format_id].revision)
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
