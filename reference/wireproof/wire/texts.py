"""Text from outside, made safe to show: nothing in it steers a terminal, breaks a line or commands a log.

A name, a text or a path that an adapter sends passes through `one_line` at the adapter contract, before any
other code sees it; `visible` is for texts of several lines that are shown later.
"""

import re
from typing import Final

_UNFIT: Final = re.compile(
    "[^\t\n\x20-\x7e\xa0-\u2029\u202f-\u2065\u206a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)
"""Control signs, signs that turn the direction of text, what XML 1.0, section 2.2, or UTF-8 cannot hold."""

_COMMAND: Final = re.compile(
    r"::(?=(?:error|warning|notice|debug|group|endgroup|echo|add-mask|add-matcher|remove-matcher|set-output"
    r"|save-state|set-env|add-path|stop-commands)\b)|##(?=(?:vso)?\[)"
)
"""How a line begins that a build service obeys; wrapping may put any word at the start of a line."""


def visible(text: str) -> str:
    """Return `text`, whole, with every such sign spelled out in hex, as Python spells it."""
    return _harmless(_UNFIT.sub(lambda sign: f"\\x{ord(sign[0]):02x}", text))


def _harmless(text: str) -> str:
    return _COMMAND.sub(lambda sign: f"\\x{ord(sign[0][0]):02x}{sign[0][1]}", text)


def one_line(text: str, most: int) -> str:
    """Return `text` on one line of at most `most` characters, all of which can be seen."""
    line = " ".join(text[: 4 * most].split())
    if not line.isprintable():
        line = "".join(sign if sign.isprintable() else f"\\x{ord(sign):02x}" for sign in line)
    line = _harmless(line)
    cut = len(line) > most or len(text) > 4 * most
    return f"{line[: most - 1]}…" if cut else line
