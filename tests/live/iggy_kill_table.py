"""The case that kills each faulty server of Iggy: the right server passes it."""

from collections.abc import Mapping
from typing import Final

from attrs import frozen

SEND: Final = "iggy.send/0.7"


@frozen
class Kill:
    """A case, and its verdict on the faulty server."""

    case: str
    verdict: str


KILLED_BY: Final[Mapping[str, Kill]] = {
    "dies-of-cut-packet": Kill(f"{SEND}/torn/payload-missing", "crash"),
    "drops-headers": Kill(f"{SEND}/headers/each", "fail"),
    "leaves-gap": Kill(f"{SEND}/messages/one", "fail"),
    "loses-earlier": Kill(f"{SEND}/messages/two", "fail"),
    "out-of-step": Kill(f"{SEND}/torn/one-byte-more", "undocumented"),
    "overwrites-origin-timestamp": Kill(f"{SEND}/messages/origin-timestamp", "fail"),
    "refuses-large-sends": Kill(f"{SEND}/limits/headers-100000", "fail"),
    "reorders-messages": Kill(f"{SEND}/index/three", "fail"),
    "shortens-ids": Kill(f"{SEND}/messages/id-max", "fail"),
    "stores-nothing": Kill(f"{SEND}/messages/id-bytes", "fail"),
    "stores-other-payload": Kill(f"{SEND}/text/payloads", "fail"),
    "stores-refused": Kill(f"{SEND}/index/zero", "lenient"),
    "waits-for-more": Kill(f"{SEND}/torn/in-the-index", "stalled"),
    "wrong-checksum": Kill(f"{SEND}/place/messages-key", "fail"),
}
