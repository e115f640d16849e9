"""What a user of the sources is told: one line that says what, where, and what next."""


class SourceError(ValueError):
    """An option, a path or a schema that cannot be, or an object that changed while it was read."""


class JavaEndedError(RuntimeError):
    """Spark's Java process ended before the job did."""
