"""The survey of an input as lines of text: the verdict, the counts, what is damaged, the remarks."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from wireproof.inspect.detect_format import StreamFit
from wireproof.inspect.file_survey import FileSurvey
from wireproof.wire.rejection import Remark
from wireproof.wire.remark_classes import REMARK_CLASSES
from wireproof.wire.text import escape_unsafe
from wireproof.wire.walk import DamagedRange

# A survey of a log as lines of text: the sound part, the damaged places, and what can be read after them.


MAX_PLACES: Final = 50
"""Number of places that are listed; the others are counted."""


LARGER: Final = "what to do: --max-message BYTES raises the greatest size of an entry"

SIZES: Final = ("message_length", "size", "batchLength")
"""The fields that give the size of an entry."""


def size_lines(refused: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield the option that raises the limit of sizes, if one of the refusals (class and path) is for it."""
    if any(cls == "limit-exceeded" and path.endswith(SIZES) for cls, path in refused):
        yield LARGER


def damaged_place_lines(found: FileSurvey) -> Iterator[str]:
    """Return one line for each damaged place."""
    shown = found.damages[:MAX_PLACES]
    ends = [one.at for one in found.damages[1 : len(shown) + 1]] + [found.size - found.tail]
    for one, until in zip(shown, ends, strict=False):
        yield escape_unsafe(
            f"wrong: bytes {one.at} to {one.end}, entry {one.number}: {one}; {_after(one, until, found)}"
        )
    if found.damage_count > MAX_PLACES:
        yield f"… {found.damage_count - MAX_PLACES} more places"
    if found.tail:
        at = found.size - found.tail
        whole = f" of {found.wanted}" if found.wanted else ""
        there = f"{found.tail}{whole} bytes of it"
        yield f"wrong: bytes {at} to {found.size}: the file ends within an entry, {there}"


def _after(one: DamagedRange, until: int, found: FileSurvey) -> str:
    if until > one.end:
        return f"reading continues at {one.end}"
    return "nothing valid follows" if one.end >= found.size - found.tail else "another damaged place follows"


# --- the survey ---


MAX_FITS: Final = 4
"""Number of formats that are named in addition to the best one."""


def summary_lines(found: FileSurvey) -> Iterator[str]:
    """Yield the lines of a summary."""
    yield verdict_line(found)
    if found.headers_only:
        yield "headers and checksums were checked; the records were not read"
    if found.begin:
        yield f"read from position {found.begin} on; the bytes before it were passed over and not checked"
    if found.message and found.format_id:
        yield escape_unsafe(f"wrong: {found.message}")
    yield from map(escape_unsafe, found.lines)
    for note, count in found.notes.items():
        yield f"{count} of them {note}"
    yield from damaged_place_lines(found)
    yield from found.losses.lines()
    yield from size_lines((one.cls, one.path) for one in found.damages)
    if found.zeros:
        yield f"bytes {found.size - found.zeros} to {found.size} are allocated and not written yet"
    if found.remarks:
        yield "remarks: no damage, but places where the format leaves the answer open"
        yield from (remark_line(one.first, one.count) for one in found.remarks.values())


def verdict_line(found: FileSurvey) -> str:
    """Return the size, the format and the verdict in one line."""
    packed = f" (unpacked from {found.packed})" if found.packed else ""
    if not found.format_id:
        return escape_unsafe(found.message)
    text = f"accepted, {found.sound} bytes"
    if places := found.damage_count + bool(found.tail):
        sound = f"{found.entries} entries are sound, {found.sound} of {found.size} bytes"
        text = f"damaged at {places} {'place' if places == 1 else 'places'}: {sound}"
    return f"{found.size} bytes{packed} as {found.format_id}: {text}"


def other_fit_lines(fits: Sequence[StreamFit]) -> Iterator[str]:
    """Yield the revisions of a stream that fit the beginning of an input as well as the best one."""
    if not fits:
        return
    best, *others = fits
    if same := [fit for fit in others if fit.survey.proven == best.survey.proven]:
        yield f"also fits: {', '.join(fit.row.format_id for fit in same[:MAX_FITS])}"


def remark_text_lines(remarks: Sequence[Remark]) -> Iterator[str]:
    """Return one line for each remark class that occurs: its meaning, its count, and its first position."""
    by_class: dict[str, list[Remark]] = {}
    for remark in remarks:
        by_class.setdefault(remark.cls, []).append(remark)
    for found in by_class.values():
        yield remark_line(found[0], len(found))


def remark_line(first: Remark, count: int) -> str:
    """Return the line of a class of remarks: its first one, and how many there are."""
    often = f"{count} times, first at" if count > 1 else "at"
    meaning = REMARK_CLASSES[first.cls].meaning
    return f"remark {first.cls}, {often} {first.at} ({first.path}): {meaning}; {_allowed(first)}"


def misfit_lines(remarks: Sequence[Remark]) -> Iterator[str]:
    """Return one line for each remark on damaged bytes, however readers may treat them."""
    for one in remarks:
        yield f"wrong: {one.cls} at {one.at} ({one.path}): {REMARK_CLASSES[one.cls].meaning}"


def _allowed(remark: Remark) -> str:
    """Return the other answers that a reader may give."""
    others = [f"another value ({other.name}: {other.value})" for other in remark.others]
    also = [*["a refusal"] * remark.rejectable, *others]
    return f"allowed, and so is {' or '.join(also)}" if also else "allowed"
