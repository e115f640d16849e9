"""A partition that keeps what a producer sends, and appends it as Kafka does."""

from wireproof.kafka.family.loopback_broker.partition import Appended, Partition
from wireproof.kafka.family.loopback_broker.server import HangUp
from wireproof.kafka.family.loopback_broker.topic_settings import INT64_MAX, TopicSettings

LARGEST = (1 << 31) - 1


class ProducedLog(Partition):
    """A partition to which a program produces.

    Attributes:
        arrived: the record sets of its Produce requests.
        loses: how many of the next answers are lost: the batch is stored, and the connection is closed.
    """

    def __init__(self, loses: int = 0) -> None:
        """Begin with an empty log, of a topic without limits."""
        super().__init__(TopicSettings(max_bytes=LARGEST, after_ms=INT64_MAX))
        self.arrived: list[bytes] = []
        self.loses = loses

    def append(self, data: bytes, version: int, transactional_id: str | None, now: int) -> Appended:
        """Keep and append a record set; raise `Refused` as Kafka does, or `HangUp` for a lost answer."""
        self.arrived.append(data)
        answer = super().append(data, version, transactional_id, now)
        if self.loses:
            self.loses -= 1
            raise HangUp
        return answer
