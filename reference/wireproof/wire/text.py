"""Text for people: untrusted text made safe to print, and values as a person reads them.

Every name, text or path from an adapter passes through `one_line` where the adapter's answer is parsed,
before any other code uses it. `escape_unsafe` is for text of several lines that is printed later.
"""

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

UNSAFE: Final = "[^\t\n\x20-\x7e\xa0-\u2029\u202f-\u2065\u206a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
"""Control characters, characters that change the text direction, and those not valid in XML 1.0 or UTF-8.

It is compiled for the first text that has others than printable ASCII, which takes milliseconds.
"""

_COMMAND: Final = re.compile(
    r"::(?=(?:error|warning|notice|debug|group|endgroup|echo|add-mask|add-matcher|remove-matcher|set-output"
    r"|save-state|set-env|add-path|stop-commands)\b)|##(?=(?:vso)?\[)"
)
"""The start of a command to a build service; wrapping may move any word to the start of a line."""


def counted(number: int, noun: str, plural: str = "", *, grouped: bool = True) -> str:
    """Return `1 case`, `1,200 cases`; `plural` is needed where it is not the noun with an s."""
    digits = f"{number:,}" if grouped else str(number)
    return f"{digits} {noun if number == 1 else plural or f'{noun}s'}"


def escape_unsafe(text: str) -> str:
    r"""Return `text` with unsafe characters, and the start of commands, escaped as `\x..`."""
    if not (text.isascii() and text.isprintable()):  # what most text is
        text = re.sub(UNSAFE, lambda match: f"\\x{ord(match[0]):02x}", text)
    return _escape_commands(text)


def _escape_commands(text: str) -> str:
    return _COMMAND.sub(lambda match: f"\\x{ord(match[0][0]):02x}{match[0][1]}", text)


def one_line(text: str, max_chars: int) -> str:
    """Return `text` on one line of at most `max_chars` printable characters; `…` marks a cut."""
    line = " ".join(text[: 4 * max_chars].split())
    if not line.isprintable():
        line = "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in line)
    line = _escape_commands(line)
    cut = len(line) > max_chars or len(text) > 4 * max_chars
    return f"{line[: max_chars - 1]}…" if cut else line


NO_TIME: Final = "-"

WIDEST_TEXT: Final = 100
"""Characters of a value in a line; longer ones are cut, and their length is shown."""


_MILLISECONDS: Final = tuple(f".{rest:03}Z" for rest in range(1000))


@lru_cache(maxsize=4096)
def _second(seconds: int) -> str:
    try:
        epoch = datetime(1970, 1, 1, tzinfo=UTC)
        return (epoch + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S")
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
    cuts = range(1 if len(data) <= 4 * widest else 4)  # the last character of more bytes may be cut
    shown = data[: 4 * widest]
    texts = (as_text(shown[: len(shown) - cut]) for cut in cuts)
    text = next((one for one in texts if one is not None), None)
    if text is None:
        digits = data[: widest // 2].hex()
        return digits if len(data) <= widest // 2 else f"{digits}… ({len(data)} bytes)"
    quoted = repr(text[:widest]) if "'" not in text else '"' + repr(text[:widest] + '"')[1:-2] + '"'
    return quoted if len(text) <= widest and len(data) <= 4 * widest else f"{quoted}… ({len(data)} bytes)"
