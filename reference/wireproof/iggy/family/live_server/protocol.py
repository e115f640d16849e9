"""What differs between the servers that are judged: iggy.md, sections 1, 3.2, 5 and 8."""

from collections.abc import Mapping
from typing import Final

from attrs import frozen

from wireproof import formats
from wireproof.formats import Format


@frozen
class Protocol:
    """The formats of a server, by the revision of its sends.

    Attributes:
        send: the revision of a send and of a poll over TCP.
        requests: the revision of the request of a poll.
        identifiers: the revision of identifiers.
        json_send, json_poll, json_error: the revisions of the bodies over HTTP.
        first: the first number of a stream, of a topic and of a partition.
        chosen: True if a creation names the number of what is created.
        optional: True if a flag precedes the number of a partition in a request.
        consumer: the name of the consumer in the query of a poll over HTTP.
    """

    send: str
    requests: str
    identifiers: str
    json_send: str
    json_poll: str
    json_error: str = "0.0.40"
    first: int = 0
    chosen: bool = False
    optional: bool = True
    consumer: str = "consumer_id"

    @property
    def send_format(self) -> Format:
        """Return the format of a send."""
        return formats.get("iggy.send", self.send)

    @property
    def poll_format(self) -> Format:
        """Return the format of polled messages."""
        return formats.get("iggy.poll", self.send)

    @property
    def request_format(self) -> Format:
        """Return the format of the request of a poll."""
        return formats.get("iggy.poll-request", self.requests)

    @property
    def identifier_format(self) -> Format:
        """Return the format of an identifier."""
        return formats.get("iggy.identifier", self.identifiers)

    @property
    def most_partitions(self) -> int:
        """Return the number of the last partition that a topic can have: `CreateTopic::validate`."""
        return MOST_PARTITIONS - 1 + self.first


MOST_PARTITIONS: Final = 1000

_OF_0_5: Final = Protocol(
    "0.7", "0.0.92", "0.0.30", "0.7", "0.7", first=1, chosen=True, optional=False, consumer="id"
)
_OF_0_6: Final = Protocol("0.8", "0.8", "0.8", "0.8", "0.7")
_OF_0_7: Final = Protocol("0.9", "0.8", "0.8", "0.9", "0.9")
_OF_0_8: Final = Protocol("0.9", "0.10", "0.8", "0.10", "0.10")

BY_VERSION: Final[Mapping[str, Protocol]] = {
    "0.5": _OF_0_5,
    "0.6": _OF_0_6,
    "0.7": _OF_0_7,
    "0.8": _OF_0_8,
}
"""The protocol by the first two numbers of a server's version."""

BY_REVISION: Final[Mapping[str, Protocol]] = {"0.7": _OF_0_5, "0.8": _OF_0_6, "0.9": _OF_0_8}
"""The protocol by the revision of a send that a properties file names."""
