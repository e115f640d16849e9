"""Errors of an adapter itself, not of its codec; each text is one line for the user.

The text may contain text from the adapter, so each error cuts and cleans it.
"""

from typing import Final

from wireproof.wire.text import one_line

LONGEST: Final = 1000
"""Characters of an error's line."""


class AdapterError(Exception):
    """An adapter cannot be used; the command line ends with exit code 4."""

    def __init__(self, text: str) -> None:
        super().__init__(one_line(text, LONGEST))


class AdapterStartError(AdapterError):
    """An adapter ended, broke the contract or stopped answering before its hello was complete."""


class AdapterBreachError(AdapterError):
    """An adapter broke the contract in a way that is about no case; nothing that it answered counts."""


class UnknownAdapter(AdapterError, LookupError):  # noqa: N818 - it names what is unknown
    """No adapter has this name; the message names the nearest."""


class AdapterFileError(AdapterError):
    """An `adapter.toml` cannot be read; the message names the file and the field."""


class MessageError(ValueError):
    """A message breaks the contract; the text names the field and the valid values."""

    def __init__(self, text: str) -> None:
        super().__init__(one_line(text, LONGEST))


class TooMuchError(MessageError):
    """An answer is larger than any answer to its request can be; it was not read."""
