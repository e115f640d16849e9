"""Texts from adapters and fixtures made safe to show: nothing in them steers a terminal or breaks a file."""

import re
from typing import Final

_UNFIT: Final = re.compile(
    "[^\t\n\x20-\x7e\xa0-\u2029\u202f-\u2065\u206a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)
"""Control signs, signs that turn the direction of text, what XML 1.0, section 2.2, or UTF-8 cannot hold."""


def visible(text: str) -> str:
    """`text` with every such sign spelled out in hex, as Python spells it."""
    return _UNFIT.sub(lambda sign: f"\\x{ord(sign[0]):02x}", text)
