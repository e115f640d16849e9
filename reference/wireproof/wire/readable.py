"""Values as a person reads them: instants as dates, bytes as text where they are text."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

NO_TIME: Final = "-"

WIDEST_TEXT: Final = 100
"""Characters of a value in a line; longer ones are cut, and their length is shown."""


_MILLISECONDS: Final = tuple(f".{rest:03}Z" for rest in range(1000))


@lru_cache(maxsize=4096)
def _second(seconds: int) -> str:
    try:
        return (EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S")
    except OverflowError:  # beyond the year 9999
        return f"{seconds} s"


def instant(value: int | None, per_second: int = 1000, digits: int = 3) -> str:
    """Return a timestamp as an ISO date in UTC; `-` for none, and for -1, which means none."""
    if value is None or value == -1:
        return NO_TIME
    if per_second == 1000 and digits == 3:
        return _second(value // 1000) + _MILLISECONDS[value % 1000]
    seconds, rest = divmod(value, per_second)
    return f"{_second(seconds)}.{rest * 10**digits // per_second:0{digits}}Z"


def as_text(data: bytes) -> str | None:
    """Return the text that the bytes are; None if they are not UTF-8, or have characters of no text."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if all(sign.isprintable() or sign in "\n\r\t" for sign in text) else None


def octets(data: bytes | None, widest: int = WIDEST_TEXT) -> str:
    """Return bytes in a few characters: as text in quotation marks, else as hex digits."""
    if data is None:
        return "null"
    text = as_text(data[: 4 * widest]) if len(data) <= 4 * widest else _cut_text(data[: 4 * widest])
    if text is None:
        shown = data[: widest // 2].hex()
        return shown if len(data) <= widest // 2 else f"{shown}… ({len(data)} bytes)"
    quoted = repr(text[:widest]) if "'" not in text else '"' + repr(text[:widest] + '"')[1:-2] + '"'
    return quoted if len(text) <= widest and len(data) <= 4 * widest else f"{quoted}… ({len(data)} bytes)"


def _cut_text(data: bytes) -> str | None:
    """Return the text of bytes whose last character may be cut."""
    return next((text for cut in range(4) if (text := as_text(data[: len(data) - cut])) is not None), None)
