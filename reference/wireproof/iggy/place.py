"""The destination of a send: its stream, topic and partitioning. iggy.md, sections 2.2, 3.1 and 5."""

from collections.abc import Callable
from typing import Any, Final

from attrs import frozen

from wireproof.iggy import identifier, partitioning
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer

Read = Callable[[Any, Reader, Options], Any]


@frozen
class Place:
    """The revisions of the identifiers and of the partitioning in a send."""

    identifier: identifier.Edition
    partitioning: partitioning.Edition


PLACE_30: Final = Place(identifier.EDITIONS["0.0.30"], partitioning.EDITIONS["0.0.30"])
PLACE_80: Final = Place(identifier.EDITIONS["0.8"], partitioning.EDITIONS["0.0.30"])
PLACE_90: Final = Place(identifier.EDITIONS["0.8"], partitioning.EDITIONS["0.9"])


def read_place(destination: Place, reader: Reader, options: Options) -> dict[str, Any]:
    """Read the stream, topic and partitioning, and return them by name."""
    parts = {
        name: read_named(reader, name, identifier.decode, destination.identifier, options)
        for name in ("stream", "topic")
    }
    value = read_named(reader, "partitioning", partitioning.read, destination.partitioning, options)
    return {**parts, "partitioning": value}


def read_named(reader: Reader, name: str, read: Read, revision: Any, options: Options) -> Any:  # noqa: ANN401 - any codec's
    """Call `read` with `name` as the scope of its fields in the trace, and return the result."""
    reader.enter(name)
    value = read(revision, reader, options)
    reader.leave()
    return value


def write_place(destination: Place, writer: Writer, value: Any, options: Options) -> None:  # noqa: ANN401 - a send
    """Write the stream, topic and partitioning of a send."""
    for name in ("stream", "topic"):
        writer.enter(name)
        identifier.encode(destination.identifier, writer, getattr(value, name), options)
        writer.leave()
    writer.enter("partitioning")
    partitioning.encode(destination.partitioning, writer, value.partitioning, options)
    writer.leave()
