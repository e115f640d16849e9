"""The errors that a user of sources and jobs sees; each is one line: what happened, where, and what next."""


class SourceError(ValueError):
    """An invalid option, path or schema, or an object that changed while it was read."""


class JavaEndedError(RuntimeError):
    """Spark's Java process ended before the job did."""
