"""Functions that make untrusted text safe to print in a terminal, a report or the log of a build service.

Every name, text or path from an adapter passes through `one_line` where the adapter's answer is parsed,
before any other code uses it. `escape_unsafe` is for text of several lines that is printed later.
"""

import re
from typing import Final

_UNSAFE: Final = re.compile(
    "[^\t\n\x20-\x7e\xa0-\u2029\u202f-\u2065\u206a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)
"""Control characters, characters that change the text direction, and those not valid in XML 1.0 or UTF-8."""

_COMMAND: Final = re.compile(
    r"::(?=(?:error|warning|notice|debug|group|endgroup|echo|add-mask|add-matcher|remove-matcher|set-output"
    r"|save-state|set-env|add-path|stop-commands)\b)|##(?=(?:vso)?\[)"
)
"""The start of a command to a build service; wrapping may move any word to the start of a line."""


def escape_unsafe(text: str) -> str:
    r"""Return `text` with unsafe characters, and the start of commands, escaped as `\x..`."""
    return _escape_commands(_UNSAFE.sub(lambda match: f"\\x{ord(match[0]):02x}", text))


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
