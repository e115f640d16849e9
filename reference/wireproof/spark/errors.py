"""The errors that a user of sources and jobs sees; each is one line: what happened, where, and what next."""


class SourceError(ValueError):
    """An invalid option, path or schema, or an object that changed while it was read."""


class LostObjectError(SourceError):
    """An object that was listed cannot be read to the end that it had: it is gone, shorter, or unreadable.

    Attributes:
        reason: without the name of the object.
    """

    def __init__(self, message: str, reason: str) -> None:
        """Store the reason beside the whole message."""
        super().__init__(message)
        self.reason = reason


class JavaEndedError(RuntimeError):
    """Spark's Java process ended before the job did."""
