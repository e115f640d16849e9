"""The destination of a send: its stream, topic and partitioning. iggy.md, sections 2.2, 3.1 and 5."""

from collections.abc import Callable
from typing import Any, Final

from attrs import frozen

from wireproof.iggy import identifier, partitioning
from wireproof.wire.layout import Nested
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer

ReadFunction = Callable[[Any, Reader, Options], Any]


@frozen
class DestinationRevision:
    """The revisions of the identifiers and of the partitioning in a send."""

    identifier: identifier.IdentifierRevision
    partitioning: partitioning.PartitioningRevision


PARTS: Final = (
    Nested("stream", of=identifier.LAYOUT),
    Nested("topic", of=identifier.LAYOUT),
    Nested("partitioning", of=partitioning.LAYOUT),
)
"""The destination in the layout of a send."""

DESTINATION_30: Final = DestinationRevision(identifier.REVISIONS["0.0.30"], partitioning.REVISIONS["0.0.30"])
DESTINATION_80: Final = DestinationRevision(identifier.REVISIONS["0.8"], partitioning.REVISIONS["0.0.30"])
DESTINATION_90: Final = DestinationRevision(identifier.REVISIONS["0.8"], partitioning.REVISIONS["0.9"])


def read_destination(destination: DestinationRevision, reader: Reader, options: Options) -> dict[str, Any]:
    """Read the stream, topic and partitioning, and return them by name."""
    parts = {
        name: read_scoped(reader, name, identifier.decode, destination.identifier, options)
        for name in ("stream", "topic")
    }
    value = read_scoped(
        reader, "partitioning", partitioning.read_partitioning, destination.partitioning, options
    )
    return {**parts, "partitioning": value}


def read_scoped(reader: Reader, name: str, read: ReadFunction, revision: Any, options: Options) -> Any:  # noqa: ANN401 - any codec's
    """Call `read` with `name` as the scope of its fields in the trace, and return the result."""
    reader.enter(name)
    value = read(revision, reader, options)
    reader.leave()
    return value


def write_destination(destination: DestinationRevision, writer: Writer, value: Any, options: Options) -> None:  # noqa: ANN401 - a send
    """Write the stream, topic and partitioning of a send."""
    for name in ("stream", "topic"):
        writer.enter(name)
        identifier.encode(destination.identifier, writer, getattr(value, name), options)
        writer.leave()
    writer.enter("partitioning")
    partitioning.encode(destination.partitioning, writer, value.partitioning, options)
    writer.leave()
