"""`wireproof account`: account for every byte of Heka streams, in up to three resynchronisation modes."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast, get_args

import click

from wireproof.heka.mode_comparison import ModeCounts, ModeDifference, compare_modes
from wireproof.wire.options import DEFAULT_OPTIONS, Options, ResyncMode

BLOCK: Final = 1 << 20
"""Bytes that are read at a time."""

MODES: Final = get_args(ResyncMode)


@click.command("account")
@click.argument("files", nargs=-1, required=True, metavar="FILE…",
                type=click.Path(exists=True, dir_okay=False, path_type=Path))  # fmt: skip
@click.option("--resync", "modes", multiple=True, type=click.Choice(MODES),
              show_default="all",
              help="only this framing; repeatable: the last two are compared")  # fmt: skip
@click.option(
    "--max-message",
    type=click.IntRange(min=1),
    metavar="BYTES",
    help="maximum size of a frame  [default: 65536]",
)
@click.option("--most", default=10, type=click.IntRange(min=0), help="maximum differences to show")
def command(files: tuple[Path, ...], modes: tuple[str, ...], max_message: int | None, most: int) -> int:
    """Account for every byte of Heka streams: frames, garbage, tail; exit code 1 if one is missing.

    Each file is one stream. `strict` is the framing of this project. `go` is that of Heka, which accepts a
    whole frame with any content. `c` is that of Hindsight, which searches for frames inside a refused frame.
    """
    asked = cast("tuple[ResyncMode, ...]", tuple(dict.fromkeys(modes or MODES)))
    accounts = [ModeCounts() for _ in asked]
    parted: Counter[str] = Counter()
    for path in files:
        for number, found in enumerate(_read(path, asked, accounts, max_message), parted["places"]):
            if number < most:
                click.echo(f"{path}: {_told(found, asked)}")
            parted.update(places=1, bytes=found.end - found.at)
    size = sum(path.stat().st_size for path in files)
    for mode, one in zip(asked, accounts, strict=True):
        click.echo("\n".join(_lines(mode, one, size)))
    if len(asked) > 1:
        where = f"{parted['places']} places, {parted['bytes']} bytes"
        click.echo(f"{asked[-2]} and {asked[-1]} differ at {where}")
    return int(any(one.total != size for one in accounts))


def _read(
    path: Path, modes: tuple[ResyncMode, ...], accounts: list[ModeCounts], most: int | None
) -> Iterator[ModeDifference]:
    options = DEFAULT_OPTIONS if most is None else Options(max_message=most)
    with path.open("rb") as file:
        yield from compare_modes(iter(lambda: file.read(BLOCK), b""), modes, accounts, options)


def _told(found: ModeDifference, modes: tuple[ResyncMode, ...]) -> str:
    return f"{found.at} to {found.end}: {modes[-2]} {found.left}; {modes[-1]} {found.right}"


def _lines(mode: str, one: ModeCounts, size: int) -> Iterator[str]:
    balance = "all there is" if one.total == size else f"BUT THERE ARE {size}"
    yield f"{mode}: {one.items.total()} items, {one.total} bytes, {balance}"
    for row in sorted(one.items, key=lambda row: (row[0], row[1] or "")):
        kind, cls = row
        yield f"  {kind} {cls or '-'}: {one.items[row]} items, {one.bytes[row]} bytes"
