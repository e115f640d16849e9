"""Print what the strategies draw: sizes, nulls, codecs, flags and agreement of 2,000 values of each format.

    python -m tests.properties.distribution [--values N] [FORMAT…]

A size is that of a list or of bytes at any depth. Flags are those that the description of a number names, and
`unused` any other bit of it. A value agrees if the reference reads its encoding without a remark.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from attrs import fields, has

from wireproof import formats
from wireproof.derive.mutate.encodings import written
from wireproof.derive.strategies import seeded_drawer
from wireproof.formats import FORMATS, Format, matching_ids
from wireproof.schema.layout import Flag, Number, all_layouts, attribute_of, present
from wireproof.strategies import values

SIZES = (0, 1, 2, 3, 62, 63, 64, 65, 126, 127, 128, 129, 8191, 8192)
"""The first size of each column."""


def column(size: int) -> str:
    """Return the column of a size, such as `65-125`."""
    at = max(at for at, first in enumerate(SIZES) if first <= size)
    last = SIZES[at + 1] - 1 if at + 1 < len(SIZES) else None
    if last is None:
        return f"{SIZES[at]}+"
    return f"{SIZES[at]}" if last == SIZES[at] else f"{SIZES[at]}-{last}"


def flags_of(fmt: Format) -> dict[tuple[type, str], tuple[Flag, ...]]:
    """Return the flags of the numbers of a format, by the class and the attribute of the number."""
    layouts = all_layouts(fmt.layout) if fmt.layout is not None else ()
    return {
        (layout.value, attribute_of(part.name)): part.flags
        for layout in layouts
        if layout.value is not None
        for part in map(present, layout.parts)
        if isinstance(part, Number) and part.flags
    }


def features(value: Any, flags: dict[tuple[type, str], tuple[Flag, ...]]) -> Iterator[str]:
    """Yield a word for each property of a value and of its parts."""
    match value:
        case bytes():
            yield f"bytes {column(len(value))}"
        case tuple():
            yield f"list {column(len(value))}"
            for part in value:
                yield from features(part, flags)
        case None:
            yield "null"
    if not has(type(value)):
        return
    for one in fields(type(value)):
        part = getattr(value, one.name)
        yield from features(part, flags)
        named = flags.get((type(value), one.name))
        if named and isinstance(part, int):
            yield from words_of(part, named)


def words_of(number: int, named: tuple[Flag, ...]) -> Iterator[str]:
    """Yield the flags that a number has."""
    rest = number
    for flag in named:
        code = (number & flag.mask) // (flag.mask & -flag.mask)
        rest &= ~flag.mask
        if flag.codes and flag.name == "codec":
            yield f"codec {flag.codes.get(code, code)}"
        elif code:
            yield f"flag {flag.name}"
    if rest:
        yield "flag unused"


def distribution(fmt: Format, count: int) -> tuple[Counter[str], int, float]:
    """Return in how many values each word occurs, the number of values, and the seconds of the draws."""
    draw, flags = seeded_drawer(values(fmt.name, fmt.revision)), flags_of(fmt)
    found: Counter[str] = Counter()
    begin = time.process_time()
    drawn = [value for number in range(count) for value in draw(f"distribution {number}")]
    seconds = time.process_time() - begin
    for value in drawn:
        found.update(set(features(value, flags)))
        found["agrees"] += not formats.decode(fmt, written(fmt, value)).remarks
    return found, len(drawn), seconds


def main() -> None:
    parser = argparse.ArgumentParser(description="Print what the strategies draw.")
    parser.add_argument("formats", nargs="*", help="patterns of formats; all without one")
    parser.add_argument("--values", type=int, default=2000)
    options = parser.parse_args()
    for format_id in matching_ids(tuple(options.formats)) or FORMATS:
        found, drawn, seconds = distribution(FORMATS[format_id], options.values)
        sys.stdout.write(f"{format_id}: {drawn} of {options.values} values in {seconds:.0f} s\n")
        for kind in ("list", "bytes", "null", "codec", "flag", "agrees"):
            words = [word for word in sorted(found, key=_order) if word.split()[0] == kind]
            shown = (f"{word.removeprefix(kind)} {found[word] / drawn:.1%}".strip() for word in words)
            sys.stdout.write(f"  {kind:<7}{', '.join(shown)}\n" if words else "")


def _order(word: str) -> tuple[int, str]:
    digits = word.partition(" ")[2].split("-")[0].rstrip("+")
    return (int(digits) if digits.isdigit() else 0, word)


if __name__ == "__main__":
    main()
