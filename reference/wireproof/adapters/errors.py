"""What can go wrong with an adapter itself, as opposed to its codec: each is one line for a person.

An adapter's own words may be in the text, so each error cuts and cleans it.
"""

from typing import Final

from wireproof.wire.safe_text import one_line

LONGEST: Final = 1000
"""Characters of an error's line."""


class AdapterError(Exception):
    """An adapter cannot be used; the command line ends with exit code 4."""

    def __init__(self, text: str) -> None:
        """Keep the text as one clean line."""
        super().__init__(one_line(text, LONGEST))


class AdapterStartError(AdapterError):
    """An adapter died, broke the contract or fell silent before its hello was complete."""


class UnknownAdapter(AdapterError, LookupError):  # noqa: N818 - it names what is unknown
    """No adapter has this name; the message names the nearest."""


class AdapterFileError(AdapterError):
    """An `adapter.toml` cannot be read; the message names the file and the field."""


class MessageError(ValueError):
    """A message breaks the contract; the text says which field, and what was wanted."""

    def __init__(self, text: str) -> None:
        """Keep the text as one clean line."""
        super().__init__(one_line(text, LONGEST))


class TooMuchError(MessageError):
    """An answer is larger than any answer to what was asked can be; it was not read."""
