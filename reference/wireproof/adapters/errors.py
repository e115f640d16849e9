"""What can go wrong with an adapter itself, as opposed to its codec: each is one line for a person."""


class AdapterError(Exception):
    """An adapter cannot be used; the command line ends with exit code 4."""


class AdapterStartError(AdapterError):
    """An adapter died, broke the contract or fell silent before its hello was complete."""


class UnknownAdapter(AdapterError, LookupError):  # noqa: N818 - it names what is unknown
    """No adapter has this name; the message names the nearest."""


class MessageError(ValueError):
    """A message breaks the contract; the text says which field, and what was wanted."""
