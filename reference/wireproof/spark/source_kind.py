"""A source for Spark: its tables, and how to split the objects that it reads."""

from collections.abc import Callable, Mapping
from typing import Final

from attrs import frozen

from wireproof.spark.columns import SourceTable
from wireproof.spark.split_points import StreamFraming

PREFIX: Final = "wireproof."
"""The beginning of the names in Spark."""


@frozen
class SourceKind:
    """A source.

    Attributes:
        name: its name in Spark.
        framings: by revision; the last one is the default.
        frames, records: its two tables.
        suffixes: the endings of the names of such logs; empty if any name may be one.
        revision_of: returns the revision of an object that begins with these bytes; None if they do not prove
            that it is such a log.
        index_files: whether index files may be beside the logs.
        stream_max_message: the `max_message` of a stream if none is given; None is the limit of the format.
    """

    name: str
    framings: Mapping[str, StreamFraming]
    frames: SourceTable
    records: SourceTable
    suffixes: tuple[str, ...] = ()
    revision_of: Callable[[bytes], str | None] = lambda _: None
    index_files: bool = False
    stream_max_message: int | None = None

    @property
    def short_name(self) -> str:
        """Return the name of the source in `wireproof scan`."""
        return self.name.removeprefix(PREFIX)
