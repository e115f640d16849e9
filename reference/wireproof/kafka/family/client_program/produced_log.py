"""A partition that keeps what a producer sends, and appends it as Kafka does."""

from wireproof.kafka.family.loopback_broker.partition import Appended, ServedPartition, StoredEntry
from wireproof.kafka.family.loopback_broker.server import HangUp
from wireproof.kafka.family.loopback_broker.topic_settings import INT64_MAX, TopicSettings

LARGEST = (1 << 31) - 1


class ProducedLog(ServedPartition):
    """A partition to which a program produces.

    Attributes:
        before: how many records are sent before those of the case.
        loses: whether the next answer about the case is lost: the batch is stored, the connection closed.
        arrived: the record sets of the case, as they came.
    """

    def __init__(self, before: int = 0, *, loses: bool = False) -> None:
        """Begin with an empty log, of a topic without limits."""
        super().__init__(TopicSettings(max_bytes=LARGEST, after_ms=INT64_MAX))
        self.before = before
        self.loses = loses
        self.arrived: list[bytes] = []

    def append(self, data: bytes, version: int, transactional_id: str | None, now: int) -> Appended:
        """Keep and append a record set; raise `Refused` as Kafka does, or `HangUp` for a lost answer."""
        about_case = self.end >= self.before
        if about_case:
            self.arrived.append(data)
        answer = super().append(data, version, transactional_id, now)
        if about_case and self.loses:
            self.loses = False
            raise HangUp
        return answer

    def stored_of_case(self) -> list[StoredEntry]:
        """Return the batches of the case, without the marker of their transaction."""
        return [one for one in self.stored if one.base_offset >= self.before and not one.is_marker]
