"""A Kafka broker on the loopback, for clients that show no codec: design, section 4.

It has one topic of many partitions. A partition that was given a record set answers the first Fetch with
exactly these bytes and every later one with none, and remembers the offset that each asked for; one that
was given none takes what Produce brings, as the request carried it, and answers that all is well.
"""

from struct import Struct
from threading import Condition
from typing import TYPE_CHECKING, Final, Self

from attrs import Factory, define, frozen

from wireproof_peers.fake_iggy_tcp import Loopback
from wireproof_peers.fake_kafka_protocol import Fields, many, number, text

if TYPE_CHECKING:
    from collections.abc import Callable

TOPIC: Final = "t"
PARTITIONS: Final = 256

NODE: Final = 1
"""Its own id: it is the leader of all, and every coordinator."""

PATIENCE: Final = 0.2
"""Seconds for which a Fetch that finds nothing new is held back."""

UNSUPPORTED_VERSION: Final = 35

FAR: Final = 1 << 62
"""An offset behind every log's end."""

_HEAD: Final = 10
"""API key, version, correlation id and the length of the client's name."""

Versions = dict[int, tuple[int, int]]

PRODUCE, FETCH, LIST_OFFSETS, METADATA, FIND_COORDINATOR = 0, 1, 2, 3, 10
API_VERSIONS, INIT_PRODUCER_ID, ADD_PARTITIONS, END_TRANSACTION = 18, 22, 24, 26

VERSIONS: Final[Versions] = {
    PRODUCE: (0, 7),
    FETCH: (0, 11),
    LIST_OFFSETS: (0, 2),
    METADATA: (0, 4),
    FIND_COORDINATOR: (0, 1),
    API_VERSIONS: (0, 3),
    INIT_PRODUCER_ID: (0, 1),
    ADD_PARTITIONS: (0, 0),
    END_TRANSACTION: (0, 0),
}
"""The APIs it knows; the highest version of Produce tells a client which magic to write."""

MAGICS: Final = {"v0": (0, 1), "v1": (0, 2), "v2": (0, 7)}
"""The versions of Produce that a broker knows whose newest format is this one: kafka.md §2."""


@frozen
class RecordSet:
    """What a Fetch is answered with.

    Attributes:
        data: the record set.
        aborted: (producerId, firstOffset) of the aborted transactions in it.
    """

    data: bytes
    aborted: tuple[tuple[int, int], ...] = ()


@define
class Partition:
    """What was served of a partition, and what came to it.

    Attributes:
        serving: what the next Fetch is answered with; None once it was.
        fetched: the offset of each Fetch, the first one included.
        produced: the record sets that Produce brought.
    """

    serving: RecordSet | None = None
    fetched: list[int] = Factory(list)
    produced: list[bytes] = Factory(list)


@define
class Identity:
    """What a producer is told that it is: kafka.md §1.7, idempotence."""

    producer: int = 0
    epoch: int = 0


class Broker:
    """See the module.

    Attributes:
        identity: the answer to InitProducerId.
    """

    def __init__(self, produce: tuple[int, int] = VERSIONS[PRODUCE]) -> None:
        """Listen, and know the versions `produce` of Produce; raises `OSError` without a free port."""
        self.identity = Identity()
        self._versions = VERSIONS | {PRODUCE: produce}
        self._partitions: dict[int, Partition] = {}
        self._changed = Condition()
        self._server = Loopback(self._answer, Struct(">i"), _HEAD)

    @property
    def address(self) -> str:
        """Host and port, as `127.0.0.1:4711`."""
        return f"127.0.0.1:{self._server.port}"

    def serve(self, partition: int, given: RecordSet | None) -> Partition:
        """Begin with a partition anew; gives what will be known of it."""
        with self._changed:
            self._partitions[partition] = Partition(given)
            self._changed.notify_all()
            return self._partitions[partition]

    def forget(self, partition: int) -> None:
        """Let nothing be known of a partition: who still asks is answered with nothing."""
        with self._changed:
            self._partitions.pop(partition, None)

    def close(self) -> None:
        """Stop listening and close every connection."""
        with self._changed:
            self._partitions.clear()
            self._changed.notify_all()
        self._server.close()

    def __enter__(self) -> Self:
        """The broker itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    # --- requests ---

    def _answer(self, request: bytes) -> bytes:
        fields = Fields(request)
        api, version, correlation = fields.number(2), fields.number(2), fields.number(4)
        fields.text()
        body = self._body(api, version, fields)
        return number(4, len(body) + 4) + number(4, correlation) + body if body else b""

    def _body(self, api: int, version: int, fields: Fields) -> bytes:
        """The answer's body, empty for none; what it does not know ends the connection."""
        lowest, highest = self._versions.get(api, (0, -1))
        if api == API_VERSIONS:
            return self._api_versions(version)
        if not lowest <= version <= highest:
            raise ConnectionError(f"no API {api} in version {version}")
        answers: dict[int, Callable[[int, Fields], bytes]] = {
            PRODUCE: self._produce,
            FETCH: self._fetch,
            LIST_OFFSETS: self._offsets,
            METADATA: self._metadata,
            FIND_COORDINATOR: self._coordinator,
            INIT_PRODUCER_ID: self._identified,
            ADD_PARTITIONS: self._added,
            END_TRANSACTION: lambda *_: _NO_DELAY + _WELL,
        }
        try:
            return answers[api](version, fields)
        except EOFError as error:
            raise ConnectionError(f"API {api} in version {version}: {error}") from None

    def _api_versions(self, version: int) -> bytes:
        """Version 3 is in compact form; a version that it does not know is answered in that of 0."""
        known = [b"".join(number(2, part) for part in (api, *span)) for api, span in self._versions.items()]
        if version > self._versions[API_VERSIONS][1]:
            return number(2, UNSUPPORTED_VERSION) + many(known)
        if version == 3:
            return (
                _WELL + bytes([len(known) + 1]) + b"".join(one + b"\0" for one in known) + _NO_DELAY + b"\0"
            )
        return _WELL + many(known) + (_NO_DELAY if version else b"")

    def _metadata(self, version: int, _: Fields) -> bytes:
        node = number(4, NODE)
        partitions = [
            _WELL + number(4, index) + node + many([node]) + many([node]) for index in range(PARTITIONS)
        ]
        topic = _WELL + text(TOPIC) + b"\0" + many(partitions)
        head = _NO_DELAY if version >= 3 else b""
        cluster = text("loopback") if version >= 2 else b""
        return head + many([self._node() + text(None)]) + cluster + node + many([topic])

    def _node(self) -> bytes:
        return number(4, NODE) + text("127.0.0.1") + number(4, self._server.port)

    def _coordinator(self, version: int, _: Fields) -> bytes:
        return (_NO_DELAY + _WELL + text(None) if version else _WELL) + self._node()

    def _offsets(self, version: int, fields: Fields) -> bytes:
        """Whatever time is asked for: the log begins at 0."""
        fields.skip(4, *[1] * (version > 1))

        def partition() -> bytes:
            index = fields.number(4)
            fields.number(8)
            return number(4, index) + _WELL + number(8, -1) + number(8, 0)

        topics = fields.many(lambda: text(fields.text()) + many(fields.many(partition)))
        return (_NO_DELAY if version > 1 else b"") + many(topics)

    def _identified(self, *_: object) -> bytes:
        who = self.identity
        return _NO_DELAY + _WELL + number(8, who.producer) + number(2, who.epoch)

    def _added(self, _: int, fields: Fields) -> bytes:
        """AddPartitionsToTxn: each of them is added."""
        fields.text()
        fields.skip(8, 2)
        added = fields.many(
            lambda: text(fields.text()) + many(fields.many(lambda: number(4, fields.number(4)) + _WELL))
        )
        return _NO_DELAY + many(added)

    def _produce(self, version: int, fields: Fields) -> bytes:
        if version >= 3:
            fields.text()
        acks = fields.number(2)
        fields.number(4)
        times = (version >= 2) + (version >= 5)

        def partition() -> bytes:
            index, data = fields.number(4), fields.data()
            with self._changed:
                if (known := self._partitions.get(index)) is not None:
                    known.produced.append(data or b"")
            return number(4, index) + _WELL + number(8, 0) + number(8, -1) * times

        topics = fields.many(lambda: text(fields.text()) + many(fields.many(partition)))
        return many(topics) + (_NO_DELAY if version else b"") if acks else b""

    # --- fetching ---

    def _fetch(self, version: int, fields: Fields) -> bytes:
        """Answer with what is new of the partitions asked for; held back while there is nothing."""
        if version < 4:
            raise ConnectionError(f"Fetch in version {version}")
        fields.skip(4, 4, 4, 4, 1, *((4, 4) if version >= 7 else ()))
        epoch, start = version >= 9, version >= 5

        def partition() -> tuple[int, int]:
            index = fields.number(4)
            fields.skip(*[4] * epoch)
            offset = fields.number(8)
            fields.skip(*[8] * start, 4)
            return index, offset

        asked = [(fields.text(), fields.many(partition)) for _ in range(fields.number(4))]
        head = _NO_DELAY + (_WELL + number(4, 0) if version >= 7 else b"")
        return head + many(text(name) + many(self._found(version, wanted)) for name, wanted in asked)

    def _found(self, version: int, wanted: list[tuple[int, int]]) -> list[bytes]:
        with self._changed:
            self._changed.wait_for(lambda: self._is_due(wanted), PATIENCE)
            return [_part(version, index, offset, self._next(index, offset)) for index, offset in wanted]

    def _is_due(self, wanted: list[tuple[int, int]]) -> bool:
        """What is served anywhere lets every Fetch go: its client may have to ask for another partition."""
        served = any(known.serving is not None for known in self._partitions.values())
        return served or any(self._is_new(*one) for one in wanted)

    def _is_new(self, index: int, offset: int) -> bool:
        """A second Fetch is answered at once, so that the client sees that it stands at the end."""
        known = self._partitions.get(index)
        return known is not None and (known.fetched[-1:] != [offset] or len(known.fetched) < 2)

    def _next(self, index: int, offset: int) -> RecordSet:
        known = self._partitions.get(index)
        if known is None:
            return RecordSet(b"")
        known.fetched.append(offset)
        given, known.serving = known.serving or RecordSet(b""), None
        return given


_WELL: Final = number(2, 0)
"""An error code: none."""

_NO_DELAY: Final = number(4, 0)
"""Throttled for so many milliseconds."""


def _part(version: int, index: int, offset: int, given: RecordSet) -> bytes:
    """A partition's part of a Fetch answer: the end of the log is far off while there is data, else here."""
    end = number(8, FAR if given.data else offset)
    aborted = many(number(8, producer) + number(8, first) for producer, first in given.aborted)
    return b"".join(
        (
            number(4, index),
            _WELL,
            end,
            end,
            number(8, 0) if version >= 5 else b"",
            aborted,
            number(4, -1) if version >= 11 else b"",
            number(4, len(given.data)),
            given.data,
        )
    )
