"""A survey of a log as lines of text: the sound part, the damaged places, and what can be read after them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Protocol

from wireproof.cases.log_survey import DamagedRange
from wireproof.report.sanitize import escape_unsafe

MAX_PLACES: Final = 50
"""Number of places that are listed; the others are counted."""


class Survey(Protocol):
    """The contents of a log: how much of it is sound, and where it is not."""

    @property
    def size(self) -> int:
        """Return its bytes."""

    @property
    def entries(self) -> int:
        """Return the number of sound entries."""

    @property
    def sound(self) -> int:
        """Return their bytes."""

    @property
    def damages(self) -> Sequence[DamagedRange]:
        """Return the first damaged ranges."""

    @property
    def damage_count(self) -> int:
        """Return the number of all damaged ranges."""

    @property
    def tail(self) -> int:
        """Return the bytes of a cut entry at the end."""

    @property
    def wanted(self) -> int:
        """Return the bytes that this entry needs; 0 if that is unknown."""


LARGER: Final = "what to do: --max-message BYTES raises the greatest size of an entry"

SIZES: Final = ("message_length", "size", "batchLength")
"""The fields that give the size of an entry."""


def size_lines(refused: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the option that raises the limit of sizes, if one of the refusals (class and path) is for it."""
    if any(cls == "limit-exceeded" and path.endswith(SIZES) for cls, path in refused):
        yield LARGER


def survey_verdict(found: Survey) -> str:
    """Return how much of a log is sound, in one line."""
    places = found.damage_count + bool(found.tail)
    sound = f"{found.entries} entries are sound, {found.sound} of {found.size} bytes"
    return f"damaged at {places} {'place' if places == 1 else 'places'}: {sound}"


def damaged_place_lines(found: Survey) -> Iterator[str]:
    """Return one line for each damaged place."""
    shown = found.damages[:MAX_PLACES]
    ends = [one.at for one in found.damages[1 : len(shown) + 1]] + [found.size - found.tail]
    for one, until in zip(shown, ends, strict=False):
        yield escape_unsafe(f"wrong: {_place(one)}; {_after(one, until, found)}")
    if found.damage_count > MAX_PLACES:
        yield f"… {found.damage_count - MAX_PLACES} more places"
    if found.tail:
        at = found.size - found.tail
        whole = f" of {found.wanted}" if found.wanted else ""
        there = f"{found.tail}{whole} bytes of it"
        yield f"wrong: bytes {at} to {found.size}: the file ends within an entry, {there}"


def _place(one: DamagedRange) -> str:
    text = f": {one.text}" if one.text else ""
    path = f" ({one.path})" if one.path else ""
    return f"bytes {one.at} to {one.end}, entry {one.number}: {one.cls} at {one.where}{path}{text}"


def _after(one: DamagedRange, until: int, found: Survey) -> str:
    if until > one.end:
        return f"reading continues at {one.end}"
    return "nothing valid follows" if one.end >= found.size - found.tail else "another damaged place follows"
