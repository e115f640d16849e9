"""A fake Kafka broker, for clients whose codec cannot be called directly.

It has one topic with many partitions. A partition with a record set answers the first Fetch with exactly
these bytes and every later Fetch with none, and keeps the offset of each Fetch. A partition without one
keeps the record sets of Produce requests as they arrive, and answers without an error.
"""

from struct import Struct
from threading import Condition
from typing import TYPE_CHECKING, Final, Self

from attrs import Factory, define, frozen

from wireproof_peers.fake_kafka_protocol import Fields, many, number, text
from wireproof_peers.loopback_server import LoopbackServer

if TYPE_CHECKING:
    from collections.abc import Callable

TOPIC: Final = "t"
PARTITIONS: Final = 256

NODE: Final = 1
"""The broker's id: it leads every partition and is every coordinator."""

FETCH_WAIT: Final = 0.2
"""Seconds that a Fetch waits for something new."""

UNSUPPORTED_VERSION: Final = 35

FAR: Final = 1 << 62
"""An offset after the end of every log."""

_HEAD: Final = 10
"""Bytes of API key, version, correlation id and the length of the client's name."""

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
"""The versions of each API; clients choose the magic by the highest version of Produce."""

MAGICS: Final = {"v0": (0, 1), "v1": (0, 2), "v2": (0, 7)}
"""The versions of Produce of a broker whose newest format is v0, v1 or v2: kafka.md §2."""


@frozen
class RecordSet:
    """The answer to a Fetch.

    Attributes:
        data: the record set.
        aborted: (producerId, firstOffset) of the aborted transactions in it.
    """

    data: bytes
    aborted: tuple[tuple[int, int], ...] = ()


@define
class Partition:
    """The state of a partition.

    Attributes:
        serving: the answer to the next Fetch; None after it was sent.
        fetched: the offset of each Fetch.
        produced: the record sets of the Produce requests.
    """

    serving: RecordSet | None = None
    fetched: list[int] = Factory(list)
    produced: list[bytes] = Factory(list)


@define
class Identity:
    """Producer id and epoch that the broker assigns: kafka.md §1.7, idempotence."""

    producer: int = 0
    epoch: int = 0


class FakeBroker:
    """A broker on a free port of 127.0.0.1.

    Attributes:
        identity: the answer to InitProducerId.
    """

    def __init__(self, produce: tuple[int, int] = VERSIONS[PRODUCE]) -> None:
        """Listen, and support the versions `produce` of Produce; raises `OSError` if no port is free."""
        self.identity = Identity()
        self._versions = VERSIONS | {PRODUCE: produce}
        self._partitions: dict[int, Partition] = {}
        self._changed = Condition()
        self._server = LoopbackServer(self._answer, Struct(">i"), _HEAD)

    @property
    def address(self) -> str:
        """Return host and port, such as `127.0.0.1:4711`."""
        return f"127.0.0.1:{self._server.port}"

    def serve(self, partition: int, given: RecordSet | None) -> Partition:
        """Give an emptied partition a record set or None; return its state, which later requests change."""
        with self._changed:
            self._partitions[partition] = Partition(given)
            self._changed.notify_all()
            return self._partitions[partition]

    def forget(self, partition: int) -> None:
        """Drop the state of a partition; a later Fetch of it is answered with no records."""
        with self._changed:
            self._partitions.pop(partition, None)

    def close(self) -> None:
        """Stop listening and close every connection."""
        with self._changed:
            self._partitions.clear()
            self._changed.notify_all()
        self._server.close()

    def __enter__(self) -> Self:
        """Return the broker itself."""
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
        """Return the body of the reply, empty for none; raises `ConnectionError` for an unknown API."""
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
            INIT_PRODUCER_ID: self._producer_identity,
            ADD_PARTITIONS: self._partitions_added,
            END_TRANSACTION: lambda *_: _NO_DELAY + _NO_ERROR,
        }
        try:
            return answers[api](version, fields)
        except EOFError as error:
            raise ConnectionError(f"API {api} in version {version}: {error}") from None

    def _api_versions(self, version: int) -> bytes:
        """Return the supported versions, in the form of version 0 if the request has an unknown version."""
        known = [b"".join(number(2, part) for part in (api, *span)) for api, span in self._versions.items()]
        if version > self._versions[API_VERSIONS][1]:
            return number(2, UNSUPPORTED_VERSION) + many(known)
        if version == 3:
            return (
                _NO_ERROR
                + bytes([len(known) + 1])
                + b"".join(one + b"\0" for one in known)
                + _NO_DELAY
                + b"\0"
            )
        return _NO_ERROR + many(known) + (_NO_DELAY if version else b"")

    def _metadata(self, version: int, _: Fields) -> bytes:
        node = number(4, NODE)
        partitions = [
            _NO_ERROR + number(4, index) + node + many([node]) + many([node]) for index in range(PARTITIONS)
        ]
        topic = _NO_ERROR + text(TOPIC) + b"\0" + many(partitions)
        head = _NO_DELAY if version >= 3 else b""
        cluster = text("loopback") if version >= 2 else b""
        return head + many([self._node() + text(None)]) + cluster + node + many([topic])

    def _node(self) -> bytes:
        return number(4, NODE) + text("127.0.0.1") + number(4, self._server.port)

    def _coordinator(self, version: int, _: Fields) -> bytes:
        return (_NO_DELAY + _NO_ERROR + text(None) if version else _NO_ERROR) + self._node()

    def _offsets(self, version: int, fields: Fields) -> bytes:
        """Return offset 0 for whatever time: the log begins there."""
        fields.skip(4, *[1] * (version > 1))

        def partition() -> bytes:
            index = fields.number(4)
            fields.number(8)
            return number(4, index) + _NO_ERROR + number(8, -1) + number(8, 0)

        topics = fields.many(lambda: text(fields.text()) + many(fields.many(partition)))
        return (_NO_DELAY if version > 1 else b"") + many(topics)

    def _producer_identity(self, *_: object) -> bytes:
        who = self.identity
        return _NO_DELAY + _NO_ERROR + number(8, who.producer) + number(2, who.epoch)

    def _partitions_added(self, _: int, fields: Fields) -> bytes:
        """Confirm every partition of an AddPartitionsToTxn."""
        fields.text()
        fields.skip(8, 2)
        added = fields.many(
            lambda: text(fields.text()) + many(fields.many(lambda: number(4, fields.number(4)) + _NO_ERROR))
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
            return number(4, index) + _NO_ERROR + number(8, 0) + number(8, -1) * times

        topics = fields.many(lambda: text(fields.text()) + many(fields.many(partition)))
        return many(topics) + (_NO_DELAY if version else b"") if acks else b""

    # --- fetching ---

    def _fetch(self, version: int, fields: Fields) -> bytes:
        """Return the new record sets of the partitions, after a short wait if there are none."""
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
        head = _NO_DELAY + (_NO_ERROR + number(4, 0) if version >= 7 else b"")
        return head + many(text(name) + many(self._found(version, wanted)) for name, wanted in asked)

    def _found(self, version: int, wanted: list[tuple[int, int]]) -> list[bytes]:
        with self._changed:
            self._changed.wait_for(lambda: self._is_due(wanted), FETCH_WAIT)
            return [_part(version, index, offset, self._next(index, offset)) for index, offset in wanted]

    def _is_due(self, wanted: list[tuple[int, int]]) -> bool:
        """Report whether a Fetch is answered now: also if only another partition has data to be asked for."""
        served = any(known.serving is not None for known in self._partitions.values())
        return served or any(self._is_new(*one) for one in wanted)

    def _is_new(self, index: int, offset: int) -> bool:
        """Report whether an offset was not answered twice; the second answer shows the end of the log."""
        known = self._partitions.get(index)
        return known is not None and (known.fetched[-1:] != [offset] or len(known.fetched) < 2)

    def _next(self, index: int, offset: int) -> RecordSet:
        known = self._partitions.get(index)
        if known is None:
            return RecordSet(b"")
        known.fetched.append(offset)
        given, known.serving = known.serving or RecordSet(b""), None
        return given


_NO_ERROR: Final = number(2, 0)
"""The error code for success."""

_NO_DELAY: Final = number(4, 0)
"""The throttle time in milliseconds."""


def _part(version: int, index: int, offset: int, given: RecordSet) -> bytes:
    """Return a partition's part of a Fetch reply; the log ends at `offset`, or far away if there is data."""
    end = number(8, FAR if given.data else offset)
    aborted = many(number(8, producer) + number(8, first) for producer, first in given.aborted)
    return b"".join(
        (
            number(4, index),
            _NO_ERROR,
            end,
            end,
            number(8, 0) if version >= 5 else b"",
            aborted,
            number(4, -1) if version >= 11 else b"",
            number(4, len(given.data)),
            given.data,
        )
    )
