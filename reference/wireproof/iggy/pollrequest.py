"""The request of PollMessages (code 100): iggy.md, sections 3.2, 4 and 5.

`consumer kind u8 | consumer id | stream | topic | partition_id | strategy | count u32 | auto_commit u8`.
The id of a consumer is a u32, from 0.0.92 on an identifier; from 0.8.0 on a flag before the partition says
whether there is one. Bytes of flags other than 1 count as 0.
"""

from typing import Any, Final, Literal

from attrs import frozen

from wireproof.iggy import identifier
from wireproof.iggy.identifier import Identifier
from wireproof.iggy.layout import Fixed
from wireproof.iggy.message import read_fixed, write_fixed
from wireproof.iggy.place import read_named
from wireproof.wire.options import Options
from wireproof.wire.reader import Reader
from wireproof.wire.writer import Writer

ConsumerKind = Literal["consumer", "group"]
StrategyKind = Literal["offset", "timestamp", "first", "last", "next"]

_CONSUMER: Final = Fixed("kind", "uint8", {1: "consumer", 2: "group"})
_STRATEGY: Final = Fixed("kind", "uint8", {1: "offset", 2: "timestamp", 3: "first", 4: "last", 5: "next"})
"""iggy.md, section 2.2."""


@frozen
class Consumer30:
    """Who polls, by number: to 0.0.91."""

    kind: ConsumerKind
    id: int


@frozen
class Consumer:
    """Who polls, by number or by name."""

    kind: ConsumerKind
    id: Identifier


@frozen
class Strategy:
    """Where to poll from: `value` is an offset, or microseconds."""

    kind: StrategyKind
    value: int


@frozen(kw_only=True)
class PollRequest30:
    """The value of a request to 0.0.91."""

    consumer: Consumer30
    stream: Identifier
    topic: Identifier
    partition_id: int
    strategy: Strategy
    count: int
    auto_commit: bool


@frozen(kw_only=True)
class PollRequest92:
    """The value of a request to 0.7.x; partition 0 means none."""

    consumer: Consumer
    stream: Identifier
    topic: Identifier
    partition_id: int
    strategy: Strategy
    count: int
    auto_commit: bool


@frozen(kw_only=True)
class PollRequest80:
    """The value of a request from 0.8.0 on."""

    consumer: Consumer
    stream: Identifier
    topic: Identifier
    partition_id: int | None
    strategy: Strategy
    count: int
    auto_commit: bool


@frozen
class Edition:
    """A row: whether consumers have names and partitions a flag, the identifiers, the value's class."""

    named: bool
    flagged: bool
    identifier: identifier.Edition
    value: type[Any]


EDITIONS: Final[dict[str, Edition]] = {
    "0.0.30": Edition(
        named=False, flagged=False, identifier=identifier.EDITIONS["0.0.30"], value=PollRequest30
    ),
    "0.0.92": Edition(
        named=True, flagged=False, identifier=identifier.EDITIONS["0.0.30"], value=PollRequest92
    ),
    "0.8": Edition(named=True, flagged=True, identifier=identifier.EDITIONS["0.8"], value=PollRequest80),
}
"""By revision."""


def decode(edition: Edition, reader: Reader, options: Options) -> Any:  # noqa: ANN401 - the edition's value class
    """Read one request; what follows is not its own."""
    consumer = read_named(reader, "consumer", _read_consumer, edition, options)
    place = {
        name: read_named(reader, name, identifier.decode, edition.identifier, options)
        for name in ("stream", "topic")
    }
    partition = _read_partition(edition, reader)
    strategy = read_named(reader, "strategy", _read_strategy, edition, options)
    at, count = reader.pos, reader.uint32le("count")
    if not count:
        raise reader.reject("invalid-value", "count", "0", at=at, detail="InvalidMessagesCount")
    return edition.value(
        consumer=consumer,
        **place,
        partition_id=partition,
        strategy=strategy,
        count=count,
        auto_commit=_read_flag(reader, "auto_commit"),
    )


def _read_consumer(edition: Edition, reader: Reader, options: Options) -> Consumer | Consumer30:
    kind = read_fixed(reader, _CONSUMER)
    if not edition.named:
        return Consumer30(kind, reader.uint32le("id"))
    return Consumer(kind, read_named(reader, "id", identifier.decode, edition.identifier, options))


def _read_partition(edition: Edition, reader: Reader) -> int | None:
    given = _read_flag(reader, "partition_flag") if edition.flagged else True
    at, number = reader.pos, reader.uint32le("partition_id")
    if given:
        return number
    if number:
        reader.remark("iggy-unset-field", "partition_id", at=at)
    return None


def _read_strategy(_: Edition, reader: Reader, __: Options) -> Strategy:
    return Strategy(read_fixed(reader, _STRATEGY), reader.uint64le("value"))


def _read_flag(reader: Reader, name: str) -> bool:
    at, byte = reader.pos, reader.uint8(name)
    if byte > 1:
        reader.remark("iggy-flag", name, at=at)
    return byte == 1


def encode(edition: Edition, writer: Writer, value: Any, options: Options) -> None:  # noqa: ANN401 - see `decode`
    """Write one request."""
    if not value.count:
        raise writer.invalid("count", "0")
    _write_consumer(edition, writer, value.consumer, options)
    for name in ("stream", "topic"):
        writer.enter(name)
        identifier.encode(edition.identifier, writer, getattr(value, name), options)
        writer.leave()
    if edition.flagged:
        writer.uint8("partition_flag", int(value.partition_id is not None))
    writer.uint32le("partition_id", value.partition_id or 0)
    writer.enter("strategy")
    write_fixed(writer, _STRATEGY, value.strategy.kind)
    writer.uint64le("value", value.strategy.value)
    writer.leave()
    writer.uint32le("count", value.count)
    writer.uint8("auto_commit", int(value.auto_commit))


def _write_consumer(edition: Edition, writer: Writer, value: Consumer | Consumer30, options: Options) -> None:
    writer.enter("consumer")
    write_fixed(writer, _CONSUMER, value.kind)
    if isinstance(value, Consumer30):
        writer.uint32le("id", value.id)
    else:
        writer.enter("id")
        identifier.encode(edition.identifier, writer, value.id, options)
        writer.leave()
    writer.leave()
