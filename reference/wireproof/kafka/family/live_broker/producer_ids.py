"""The producer ids of a case: the broker gives others than those in the bytes of a fixture.

A batch of a fixture has the id that `init-producer` names. On the wire the broker's own id takes its place,
and the checksum is computed again; in answers it is replaced back. Nothing else of a batch is touched.
"""

from collections.abc import Iterator
from struct import Struct
from typing import Final

from wireproof.kafka.family.live_broker.entry_bytes import BATCH_HEADER, V2, entries_of
from wireproof.kafka.layouts import BATCH
from wireproof.kafka.size_and_magic import MAGIC_AT
from wireproof.wire.checksums import crc32c

_PRODUCER: Final = Struct(">q")
_CRC: Final = Struct(">I")
_PRODUCER_AT: Final = BATCH.offset("producerId")
_CRC_AT: Final = BATCH.offset("crc")
_CHECKED_FROM: Final = BATCH.offset("attributes")


class ProducerIds:
    """The ids of one case, each way."""

    def __init__(self) -> None:
        """Begin without any."""
        self._of_broker: dict[int, int] = {}

    def learn(self, own: int, of_broker: int) -> None:
        """Note the id that the broker gave for one of the case."""
        self._of_broker[own] = of_broker

    def on_wire(self, own: int) -> int:
        """Return the broker's id; an id that it did not give is sent as it is."""
        return self._of_broker.get(own, own)

    def in_case(self, of_broker: int) -> int:
        """Return the id in the case of an id of the broker: the latest of several."""
        found = [own for own, other in self._of_broker.items() if other == of_broker]
        return found[-1] if found else of_broker

    def in_bytes(self, data: bytes) -> bytes:
        """Return batches with the broker's ids; bytes that are no whole batch stay as they are."""
        entries = [entry for _, entry in entries_of(data)]
        rest = data[sum(map(len, entries)) :]
        return b"".join(self._replaced(entries)) + rest

    @staticmethod
    def named_in(data: bytes) -> frozenset[int]:
        """Return the producer ids of the batches in some bytes."""
        entries = (entry for _, entry in entries_of(data))
        whole = (entry for entry in entries if len(entry) >= BATCH_HEADER and entry[MAGIC_AT] == V2)
        return frozenset(_PRODUCER.unpack_from(entry, _PRODUCER_AT)[0] for entry in whole)

    def _replaced(self, entries: list[bytes]) -> Iterator[bytes]:
        for entry in entries:
            if len(entry) < BATCH_HEADER or entry[MAGIC_AT] != V2:
                yield entry
                continue
            (own,) = _PRODUCER.unpack_from(entry, _PRODUCER_AT)
            yield _with_producer(entry, self._of_broker[own]) if own in self._of_broker else entry


def _with_producer(entry: bytes, number: int) -> bytes:
    """Return a batch with another producer id; a wrong checksum stays as wrong as it was."""
    (crc,) = _CRC.unpack_from(entry, _CRC_AT)
    changed = bytearray(entry)
    _PRODUCER.pack_into(changed, _PRODUCER_AT, number)
    fault = crc ^ crc32c(entry[_CHECKED_FROM:])
    _CRC.pack_into(changed, _CRC_AT, crc32c(bytes(changed[_CHECKED_FROM:])) ^ fault)
    return bytes(changed)
