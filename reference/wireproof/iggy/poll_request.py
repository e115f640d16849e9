"""The request of PollMessages (code 100): iggy.md, sections 3.2, 4 and 5.

The layout is
`consumer kind u8 | consumer id | stream | topic | partition_id | strategy | count u32 | auto_commit u8`.
The consumer id is a u32, since 0.0.92 an identifier. Since 0.8.0 a flag before the partition says whether the
request has one. A flag is true if its byte is 1, and false for any other byte. Since 0.10.0 auto_commit is
true for every byte but 0. Since 0.11.1-edge there is a third kind of consumer.
"""

from functools import cached_property
from typing import Any, Final, Literal

from attrs import frozen

from wireproof.iggy import identifier
from wireproof.iggy.destination import read_scoped
from wireproof.iggy.fixed_fields import iggy_runs
from wireproof.iggy.identifier import Identifier
from wireproof.iggy.revision import Revision
from wireproof.wire.layout import Layout, Nested, Number, Part
from wireproof.wire.layout_codec import FixedRun
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer

ConsumerKind = Literal["consumer", "group"]
ConsumerKind111 = Literal["consumer", "group", "external_group"]
PollingStrategyKind = Literal["offset", "timestamp", "first", "last", "next"]


@frozen
class Consumer30:
    """The consumer, identified by number: up to 0.0.91."""

    kind: ConsumerKind
    id: int


@frozen
class Consumer:
    """The consumer, identified by number or by name."""

    kind: ConsumerKind
    id: Identifier


@frozen
class Consumer111:
    """The consumer since 0.11.1-edge. An external group is one outside Iggy, such as one of Kafka."""

    kind: ConsumerKind111
    id: Identifier


@frozen
class PollingStrategy:
    """The polling strategy. `value` is an offset, or a timestamp in microseconds."""

    kind: PollingStrategyKind
    value: int


@frozen(kw_only=True)
class PollRequest30:
    """The value of a request up to 0.0.91."""

    consumer: Consumer30
    stream: Identifier
    topic: Identifier
    partition_id: int
    strategy: PollingStrategy
    count: int
    auto_commit: bool


@frozen(kw_only=True)
class PollRequest92:
    """The value of a request up to 0.7.x. Partition 0 means no partition."""

    consumer: Consumer
    stream: Identifier
    topic: Identifier
    partition_id: int
    strategy: PollingStrategy
    count: int
    auto_commit: bool


@frozen(kw_only=True)
class PollRequest80:
    """The value of a request since 0.8.0."""

    consumer: Consumer
    stream: Identifier
    topic: Identifier
    partition_id: int | None
    strategy: PollingStrategy
    count: int
    auto_commit: bool


@frozen(kw_only=True)
class PollRequest111:
    """The value of a request since 0.11.1-edge."""

    consumer: Consumer111
    stream: Identifier
    topic: Identifier
    partition_id: int | None
    strategy: PollingStrategy
    count: int
    auto_commit: bool


_CONSUMER_KINDS: Final = {1: "consumer", 2: "group"}

CONSUMER_30: Final = Layout(
    "Consumer",
    (Number("kind", "uint8", codes=_CONSUMER_KINDS), Number("id", "uint32le")),
    value=Consumer30,
    cites="iggy.md §2.2",
)
CONSUMER: Final = Layout(
    "Consumer",
    (Number("kind", "uint8", codes=_CONSUMER_KINDS), Nested("id", of=identifier.LAYOUT)),
    value=Consumer,
    cites="iggy.md §2.2",
)
CONSUMER_111: Final = Layout(
    "Consumer",
    (
        Number("kind", "uint8", codes={**_CONSUMER_KINDS, 3: "external_group"}),
        Nested("id", of=identifier.LAYOUT),
    ),
    value=Consumer111,
    cites="iggy.md §6.1",
)

STRATEGY: Final = Layout(
    "PollingStrategy",
    (
        Number("kind", "uint8", codes={1: "offset", 2: "timestamp", 3: "first", 4: "last", 5: "next"}),
        Number("value", "uint64le", meaning="an offset, or microseconds"),
    ),
    value=PollingStrategy,
    cites="iggy.md §2.2",
)

FLAG_CODES: Final = {0: "false", 1: "true"}

PARTITION_FLAG: Final = Number("partition_flag", "uint8", codes=FLAG_CODES)
"""Since 0.8.0: whether the request has a partition."""

AUTO_COMMIT: Final = Number("auto_commit", "uint8", codes=FLAG_CODES)


def place(consumer: Layout) -> tuple[Part, ...]:
    """Return the consumer, the stream and the topic."""
    names = (Nested(name, of=identifier.LAYOUT) for name in ("stream", "topic"))
    return Nested("consumer", of=consumer), *names


def _request(value: type[Any], consumer: Layout, *flag: Part, cites: str) -> Layout:
    parts = (
        *place(consumer),
        *flag,
        Number("partition_id", "uint32le"),
        Nested("strategy", of=STRATEGY),
        Number("count", "uint32le", asks_for="messages", meaning="the most messages"),
        AUTO_COMMIT,
    )
    return Layout("PollMessages", parts, value=value, cites=cites)


@frozen
class PollRequestRevision(Revision):
    """A revision of the request.

    Attributes:
        consumer: the layout of a consumer.
        identifier: the revision of the identifiers.
        any_commit: whether every byte but 0 means auto_commit.
    """

    consumer: Layout
    identifier: identifier.IdentifierRevision
    any_commit: bool = False

    @cached_property
    def flagged(self) -> bool:
        """Return whether a flag comes before the partition."""
        return PARTITION_FLAG in self.layout.parts

    @cached_property
    def kind(self) -> FixedRun:
        """Return the kind of a consumer, and a number that may follow it."""
        return iggy_runs(self.consumer)[0]


def _revision(
    value: type[Any], consumer: Layout, row: str, *flag: Part, cites: str, any_commit: bool = False
) -> PollRequestRevision:
    layout = _request(value, consumer, *flag, cites=cites)
    return PollRequestRevision(layout, consumer, identifier.REVISIONS[row], any_commit)


REVISIONS: Final[dict[str, PollRequestRevision]] = {
    "0.0.30": _revision(PollRequest30, CONSUMER_30, "0.0.30", cites="iggy.md §3.2"),
    "0.0.92": _revision(PollRequest92, CONSUMER, "0.0.30", cites="iggy.md §4"),
    "0.8": _revision(PollRequest80, CONSUMER, "0.8", PARTITION_FLAG, cites="iggy.md §5"),
    "0.10": _revision(PollRequest80, CONSUMER, "0.8", PARTITION_FLAG, cites="iggy.md §5", any_commit=True),
    "0.11.1-edge": _revision(
        PollRequest111, CONSUMER_111, "0.8", PARTITION_FLAG, cites="iggy.md §6.1", any_commit=True
    ),
}
"""Revision to its row."""

(_STRATEGY,) = iggy_runs(STRATEGY)


def decode(revision: PollRequestRevision, reader: Reader, options: Options) -> Any:  # noqa: ANN401 - the revision's value class
    """Read one request. Bytes after it are left unread."""
    place = read_place(revision, reader, options)
    partition = _read_partition(revision, reader)
    strategy = read_strategy(reader, options)
    at, count = reader.pos, reader.uint32le("count")
    if not count:
        raise reader.reject("invalid-value", "count", "0", at=at, detail="InvalidMessagesCount")
    return revision.value(
        **place,
        partition_id=partition,
        strategy=strategy,
        count=count,
        auto_commit=read_flag(reader, "auto_commit", any_byte=revision.any_commit),
    )


def read_place(revision: PollRequestRevision, reader: Reader, options: Options) -> dict[str, Any]:
    """Read the consumer, the stream and the topic, and return them by name."""
    consumer = read_scoped(reader, "consumer", _read_consumer, revision, options)
    names = {
        name: read_scoped(reader, name, identifier.decode, revision.identifier, options)
        for name in ("stream", "topic")
    }
    return {"consumer": consumer, **names}


def _read_consumer(revision: PollRequestRevision, reader: Reader, options: Options) -> Any:  # noqa: ANN401 - the revision's class
    fields = revision.kind.read_fields(reader)
    if "id" not in fields:
        fields["id"] = read_scoped(reader, "id", identifier.decode, revision.identifier, options)
    assert revision.consumer.value is not None
    return revision.consumer.value(**fields)


def _read_partition(revision: PollRequestRevision, reader: Reader) -> int | None:
    present = read_flag(reader, "partition_flag") if revision.flagged else True
    at, number = reader.pos, reader.uint32le("partition_id")
    if present:
        return number
    if number:
        reader.remark("iggy-unset-field", "partition_id", at=at)
    return None


def read_strategy(reader: Reader, options: Options) -> PollingStrategy:
    """Read where a poll starts."""
    strategy: PollingStrategy = read_scoped(reader, "strategy", _read_strategy, None, options)
    return strategy


def _read_strategy(_: None, reader: Reader, __: Options) -> PollingStrategy:
    return PollingStrategy(**_STRATEGY.read_fields(reader))


def read_flag(reader: Reader, name: str, *, any_byte: bool = False) -> bool:
    """Read a flag that is true for 1 only, or with `any_byte` for every byte but 0."""
    at, byte = reader.pos, reader.uint8(name)
    if byte > 1:
        reader.remark("iggy-flag", name, at=at)
    return bool(byte) if any_byte else byte == 1


def encode(revision: PollRequestRevision, writer: Writer, value: Any, options: Options) -> None:  # noqa: ANN401 - see `decode`
    """Write one request."""
    if not value.count:
        raise writer.invalid("count", "0")
    write_place(revision, writer, value, options)
    if revision.flagged:
        writer.uint8("partition_flag", int(value.partition_id is not None))
    writer.uint32le("partition_id", value.partition_id or 0)
    write_strategy(writer, value.strategy)
    writer.uint32le("count", value.count)
    writer.uint8("auto_commit", int(value.auto_commit))


def write_place(revision: PollRequestRevision, writer: Writer, value: Any, options: Options) -> None:  # noqa: ANN401 - see `decode`
    """Write the consumer, the stream and the topic."""
    _write_consumer(revision, writer, value.consumer, options)
    for name in ("stream", "topic"):
        writer.enter(name)
        identifier.encode(revision.identifier, writer, getattr(value, name), options)
        writer.leave()


def write_strategy(writer: Writer, strategy: PollingStrategy) -> None:
    """Write where a poll starts."""
    writer.enter("strategy")
    _STRATEGY.write_fields(writer, strategy)
    writer.leave()


def _write_consumer(
    revision: PollRequestRevision,
    writer: Writer,
    value: Consumer | Consumer30 | Consumer111,
    options: Options,
) -> None:
    writer.enter("consumer")
    revision.kind.write_fields(writer, value)
    if not isinstance(value, Consumer30):
        writer.enter("id")
        identifier.encode(revision.identifier, writer, value.id, options)
        writer.leave()
    writer.leave()
