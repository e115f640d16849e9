"""The beginning and the names of files of Iggy."""

import re
from typing import Final

JSON_NAMES: Final = (b'"messages"', b'"partition', b'"confirmations"', b'"reason"')
"""Beginnings of members that a body of HTTP has: iggy.md §8."""


def begins_like_json(data: bytes) -> bool:
    """Return whether it is a JSON text with a key of a request or an answer: iggy.md §8."""
    return data.lstrip()[:1] == b"{" and any(name in data for name in JSON_NAMES)


MARKS: Final = {"iggy.json.": begins_like_json}

FILE_NAMES: Final = ((re.compile(r"\d{20}\.log"), "iggy.log"), (re.compile(r".*\.json"), "iggy.json."))
